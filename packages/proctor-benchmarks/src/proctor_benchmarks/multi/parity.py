"""Our verdicts against recorded ones of the official functions.

A line: {"id": "multi-dev-0041", "type": "多选", "prediction": "A、C", "label": "AC", "args": {"answer_position": "start"},
         "score": 1, "total_score": 2}
or with `error` instead of the score; `args` may be left out. A line with `reply` instead of `prediction` holds the verdict
of the whole original: the reply is cleaned first, and one that says an image is missing is worth 0. Lines of type 解答 may carry `prediction_tokens` and `label_tokens`, what the
official segmenter cut: both the segmentation and the score of those very tokens must agree then.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.parity import Checked
from proctor.core.sentence import say
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.multi import official
from proctor_judging.matching import chinese_words

_TOLERANCE = 1e-9
_KNOWN = ("start", "end")


class RecordedMarks(msgspec.Struct, frozen=True):
    """One recorded verdict."""

    id: str
    type: str
    label: str
    prediction: object = None
    reply: str | None = None
    args: dict[str, Any] = {}
    score: float | None = None
    total_score: float | None = None
    error: object = None
    prediction_tokens: list[str] | None = None
    label_tokens: list[str] | None = None


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - the rules need no data
    """Check every line; lines of types that have no official function score 0 of 0.

    Raises:
        BadInput: a file or line that cannot be read; names the line.
        MissingExtra: a line needs Chinese words, and the extra `zh` is not installed.
    """
    return (_check_line(line) for _, line in read_json_lines(path, RecordedMarks))


def _check_line(line: RecordedMarks) -> Checked:
    wrong_cut = _cut_differently(line)
    if wrong_cut is not None:
        cut_here, recorded = (" ".join(cut) for cut in wrong_cut)
        return Checked(
            id=line.id, agrees=False, ours=cut_here, official=recorded, rule=say("The words are cut otherwise.")
        )
    ours = _verdict(line)
    if isinstance(ours, str) or line.error is not None:
        agrees = isinstance(ours, str) and line.error is not None
    else:
        agrees = _near(ours.score, line.score) and _near(ours.total, line.total_score)
    theirs = str(line.error) if line.error is not None else f"{line.score} / {line.total_score}"
    shown = ours if isinstance(ours, str) else f"{ours.score} / {ours.total}"
    return Checked(
        id=line.id, agrees=agrees, ours=shown, official=theirs, rule=say("The rule of {type}.", type=line.type)
    )


def _cut_differently(line: RecordedMarks) -> tuple[Sequence[str], Sequence[str]] | None:
    for text, recorded in ((line.prediction, line.prediction_tokens), (line.label, line.label_tokens)):
        if recorded is not None and isinstance(text, str) and (cut := chinese_words.words(text)) != recorded:
            return cut, recorded
    return None


def _verdict(line: RecordedMarks) -> official.Marks | str:
    """Return what the official function gives, or the kind of error it raises."""
    prediction = line.prediction if line.reply is None else official.clean(line.reply)
    rule = official.RULES.get(line.type)
    if rule is None:
        return official.Marks(0, 0)
    if not isinstance(prediction, str):
        return "TypeError"
    position = line.args.get("answer_position", "start")
    if rule in (official.single, official.multiple) and position not in _KNOWN and any(map(_is_letter, prediction)):
        return "UnboundLocalError"  # the positions that we know beyond these are no part of the original
    try:
        marks = rule(prediction, line.label, position if position in _KNOWN else "start")
        rejected = line.reply is not None and official.is_rejection(prediction)
        return official.Marks(0, marks.total) if rejected else marks
    except ValueError as error:
        return f"ValueError: {error}"


def _is_letter(sign: str) -> bool:
    return sign.isascii() and sign.isalpha()


def _near(ours: float, theirs: float | None) -> bool:
    return theirs is not None and abs(ours - theirs) <= _TOLERANCE
