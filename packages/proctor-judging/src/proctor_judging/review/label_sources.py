"""Read labels with what is known of how the labelled answers were chosen: only a random draw speaks for the others."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_judging.judges.ratings import AnswerKey
from proctor_judging.review import labels, plan
from proctor_judging.review.labels import LabelRecord
from proctor_judging.review.plan import ReviewPlan, order_at_random

NOT_KNOWN = say("it is not known how the labelled items were chosen")
LABELS_END = "_verifications"


class LabelDraw(msgspec.Struct, frozen=True, kw_only=True):
    """A random draw of answers to label.

    Attributes:
        answers: what was drawn.
        done: those of them that everybody who was asked has labelled.
        seed: of the order whose first ones were drawn; None where whoever drew has checked them.
    """

    answers: frozenset[AnswerKey]
    done: frozenset[AnswerKey]
    seed: int | None = None


class LabelSource(msgspec.Struct, frozen=True, kw_only=True):
    """Labels of people.

    Attributes:
        name: of a reviewer who has none; `path` tells apart two of one name.
        records: by the sample, and the attempt at it where that is known.
        draw: None where the labelled answers are no random draw, and `not_drawn` says why.
    """

    name: str
    path: str
    records: Mapping[AnswerKey, LabelRecord]
    draw: LabelDraw | None = None
    not_drawn: Sentence = NOT_KNOWN


def read_label_source(path: Path) -> LabelSource:
    """Return the labels in a verification file; the plan next to it says what was drawn.

    Raises:
        BadInput: one of the files cannot be read.
    """
    records: dict[AnswerKey, LabelRecord] = {(item, None): record for item, record in labels.records(path).items()}
    stem = path.stem.removesuffix(LABELS_END)
    planned = plan.file_of(path.with_name(f"{stem}{path.suffix}"))
    review = plan.read(planned) if stem != path.stem and planned.is_file() else ReviewPlan()
    draw = None
    if review.draw is not None:
        drawn: frozenset[AnswerKey] = frozenset((item, None) for item in review.draw.items)
        draw = LabelDraw(answers=drawn, done=labelled_by_all(drawn, records, review), seed=review.draw.seed)
    return LabelSource(name=path.stem, path=str(path), records=records, draw=draw)


def labelled_by_all(
    keys: Iterable[AnswerKey],
    records: Mapping[AnswerKey, LabelRecord],
    review: ReviewPlan,
    item_of: Callable[[AnswerKey], str] = lambda key: key[0],
) -> frozenset[AnswerKey]:
    """Return the answers that everybody whom the plan asks has labelled, or that an adjudicator decided.

    Args:
        item_of: the item of an answer in the plan.
    """
    return frozenset(key for key in keys if key in records and _is_done(records[key], item_of(key), review))


def _is_done(record: LabelRecord, item: str, review: ReviewPlan) -> bool:
    said = {entry.reviewer for entry in record.current}
    asked = {name for name in review.reviewers if review.asks(item, name)}
    return bool(said) and (record.decision is not None or asked <= said)


def why_not_corrected(
    sources: Collection[LabelSource], labelled: Collection[AnswerKey], judged: Collection[AnswerKey]
) -> Sentence | None:
    """Return why labels say nothing of the answers without one; None if they were drawn, and the draw is labelled whole.

    People stop when they like, and an interval of a fixed number of labels holds only where what they saw does not decide that.

    Args:
        labelled: of the answers that a scorer `judged`, those with a label that counts.
    """
    if {*labelled} >= {*judged}:
        return None  # nothing was chosen
    if (reason := next((source.not_drawn for source in sources if source.draw is None), None)) is not None:
        return reason
    draws = [source.draw for source in sources if source.draw is not None]
    if not draws:
        return NOT_KNOWN
    if any(draw.answers != draws[0].answers or draw.seed != draws[0].seed for draw in draws):
        return say("the files hold labels of different draws")
    drawn = among(judged, draws[0].answers)
    if draws[0].seed is not None:
        order = order_at_random({item for item, _ in judged}, draws[0].seed)
        items = {item for item, _ in drawn}
        if not items or {*order[: len(items)]} != items:
            return say("the judged items are others than those that were drawn from")
    done = frozenset.intersection(*(among(labelled, draw.done) for draw in draws))
    if left := len(drawn - done):
        return say("{count} of the {all} drawn items are not labelled yet", count=left, all=len(drawn))
    return None


def among(answers: Iterable[AnswerKey], drawn: Collection[AnswerKey]) -> frozenset[AnswerKey]:
    """Return the answers that were drawn, by the attempt or, where a draw does not name one, by the sample."""
    return frozenset(key for key in answers if key in drawn or (key[0], None) in drawn)
