"""The trials of a run with their verdicts, and files that appear only once they are whole."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from proctor.core.sentence import Sentence
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.i18n import speak
from proctor.runtime.files import draft_of

Options = Mapping[str, Any]


def judged(store: Store, run_id: str) -> Iterator[tuple[Trial, Sequence[Verdict]]]:
    """Every trial with the verdicts that count, reading both once.

    Trials and verdicts come in the order of the plan; where that does not hold, the verdicts are asked for.
    """
    groups = groupby(store.verdicts(run_id), key=lambda verdict: (verdict.sample_id, verdict.attempt))
    key, verdicts = _next(groups)
    for trial in store.trials(run_id):
        if key == (trial.sample_id, trial.attempt):
            yield trial, verdicts
            key, verdicts = _next(groups)
        elif trial.outcome == "scored":
            asked = store.verdicts(run_id, sample_id=trial.sample_id)
            yield trial, [verdict for verdict in asked if verdict.attempt == trial.attempt]
        else:
            yield trial, []


@contextmanager
def writing(target: Path | TextIO, *, newline: str | None = None) -> Iterator[TextIO]:
    """A text file to write to: the one given, or a new one that takes its place once everything is written.

    Raises:
        BadInput: the file cannot be written.
    """
    if not isinstance(target, Path):
        yield target
        return
    with (
        draft_of(target) as draft,
        draft.open("w", encoding="utf-8", errors="backslashreplace", newline=newline) as file,
    ):
        yield file


def said(text: str | Sentence, lang: str) -> str:
    """A reason as one text; never raises for a stored sentence whose places have no values."""
    try:
        return speak(text, lang)
    except (KeyError, IndexError, ValueError, AttributeError):
        return text if isinstance(text, str) else text.text


def _next(groups: Iterator[tuple[tuple[str, int], Iterator[Verdict]]]) -> tuple[tuple[str, int] | None, list[Verdict]]:
    key, verdicts = next(groups, (None, iter(())))
    return key, list(verdicts)
