"""Read the samples of a run from the store one by one: answer, reference answer and scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from proctor.core.run import RunRecord
from proctor.core.sample import ToolCall
from proctor.core.task import Store
from proctor.core.trial import Outcome, Trial, Verdict
from proctor.reports.both import expected_text, made_text
from proctor.reports.story import Story, story
from proctor.reports.tables import styled
from proctor.reports.words import ReportWords
from proctor.runtime.visible import one_line, visible
from proctor.stores.reading import trials_with_verdicts, verdicts_of

if TYPE_CHECKING:
    from rich.console import Console

CHARACTERS = 20_000  # of one text
LINE_CHARACTERS = 160  # of a question or an answer on a terminal


class ReportFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples of a run to show; None does not filter."""

    outcome: Outcome | None = None
    scorer: str | None = None
    max_score: float | None = None
    tags: Mapping[str, str] = {}
    search: str | None = None
    limit: int | None = None

    @property
    def is_narrow(self) -> bool:
        """True if the store itself leaves trials out."""
        return self.outcome is not None or self.max_score is not None or self.scorer is not None


def select_samples(record: RunRecord, store: Store, wanted: ReportFilter) -> Iterator[Story]:
    """Yield the trials that the filter selects, in the order of the plan; one at a time is in memory."""
    pairs: Iterable[tuple[Trial, Sequence[Verdict]]] = trials_with_verdicts(store, record.id)
    if wanted.is_narrow:  # few are left, and their verdicts are looked up
        trials = store.trials(record.id, outcome=wanted.outcome, scorer=wanted.scorer, max_value=wanted.max_score)
        pairs = ((trial, verdicts_of(store, record.id, trial.sample_id, trial.attempt)) for trial in trials)
    count = 0
    for trial, verdicts in pairs:
        if wanted.limit is not None and count >= wanted.limit:
            return
        shown = story(trial, store.sample(record.id, trial.sample_id), verdicts, characters=CHARACTERS)
        if _passes(shown, wanted):
            count += 1
            yield shown


def _passes(one: Story, wanted: ReportFilter) -> bool:
    if any(one.tags.get(key) != value for key, value in wanted.tags.items()):
        return False
    if wanted.search is None:
        return True
    texts = (one.sample_id, one.question, expected_text(one), made_text(one))
    return any(wanted.search.casefold() in text.casefold() for text in texts)


def as_object(one: Story) -> dict[str, object]:
    """Return a sample for programs; the attempt counts from 1, as in `explain`."""
    scores = {
        finding.scorer: {"points": finding.points, "out_of": finding.out_of, "passed": finding.passed}
        if finding.value is not None
        else {"unscored": finding.why}
        for finding in one.findings
    }
    reasons = {finding.scorer: str(finding.reason) for finding in one.findings if finding.reason}
    return {
        "sample": one.sample_id,
        "attempt": one.attempt + 1,
        "outcome": one.outcome,
        "tags": dict(one.tags),
        "question": one.question,
        "target": msgspec.to_builtins(one.target, enc_hook=str),
        "answer": one.answer,
        "calls": [_call(call) for call in one.calls],
        "scores": scores,
        "reasons": reasons,
        "failure": None if one.failure is None else str(one.failure.reason),
        "seconds": one.seconds,
    }


def _call(call: ToolCall) -> dict[str, object]:
    """Return a call for programs; arguments that are no JSON stay the text that the model wrote."""
    arguments = call.raw if call.raw is not None else msgspec.to_builtins(call.arguments, enc_hook=str)
    return {"name": call.name, "arguments": arguments}


def print_sample(one: Story, lang: str, console: "Console", *, with_attempt: bool, with_question: bool = True) -> None:
    """Print a sample in a few lines: its id and scores, the question, the reference answer and the answer."""
    words = ReportWords(lang)
    title = styled(one.sample_id, "bold")
    if with_attempt:
        title.append(f" · {words.t('attempt {number}', number=one.attempt + 1)}")
    for finding in one.findings:
        if finding.value is None:
            title.append(f"  {visible(finding.scorer)}: {words.unscored(finding.why)}", "yellow")
        else:
            style = "green" if finding.passed else "red"
            title.append(f"  {visible(finding.scorer)}: {finding.points:g} / {finding.out_of:g}", style)
    if one.outcome != "scored":
        title.append(f"  {words.outcome(one.outcome)}", "red")
    console.print(title)
    if with_question and one.question:
        console.print(styled("  " + one_line(one.question, LINE_CHARACTERS), "dim"))
    if one.failure is not None:
        console.print(styled("  " + one_line(words.t(one.failure.reason), LINE_CHARACTERS)))
    actual = made_text(one)
    words_of_it = "" if one.answer in actual else one.answer
    for name, side in (("Expected", expected_text(one)), ("Made", actual), ("Answer", words_of_it)):
        if side:
            console.print(styled(f"  {words.t(name)}: {one_line(side, LINE_CHARACTERS)}"))
