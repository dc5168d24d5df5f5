"""Measure what agents that know nothing earn: the floor that the score of a real one stands on."""

from collections.abc import Callable, Sequence

import msgspec

from proctor.core.sample import Sample
from proctor.stats.rate import wilson
from proctor_audit.answers import IDLE, AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.unearned import always
from proctor_audit.wording import REFUSALS, constants, question_of

DRAWN = 100  # samples at most that a floor is measured on


class AuditFloor(msgspec.Struct, frozen=True, kw_only=True):
    """What one such agent earns: the share of the points by the first scorer, with a Wilson interval.

    Attributes:
        unscored: how many samples are left out, as the answer got no score.
        answer: the constant that it says, if it is one.
    """

    agent: str
    value: float
    low: float
    high: float
    count: int
    unscored: int = 0
    answer: str = ""


def measure_floor(audit: Audit) -> tuple[AuditFloor, ...]:
    """Return the floors of agents that say nothing, decline, repeat, and of the best constant; where calls are expected, of one without any."""
    floors = [_floor(audit, "idle", always(IDLE.text))] if audit.is_played else _of_texts(audit)
    audit.report_faults("floor", "look")
    return tuple(each for each in floors if each is not None)


def _of_texts(audit: Audit) -> Sequence[AuditFloor | None]:
    best = max(
        (_floor(audit, "constant", always(text), text) for text in constants(audit.drawn)),
        key=lambda each: -1.0 if each is None else each.value,
        default=None,
    )
    return [
        _floor(audit, "null", lambda _: ""),
        _floor(audit, "refusal", lambda _: REFUSALS[0]),
        _floor(audit, "echo", question_of),
        best,
    ]


def _floor(audit: Audit, agent: str, say: Callable[[Sample], str], answer: str = "") -> AuditFloor | None:
    samples = audit.drawn if len(audit.drawn) <= DRAWN else audit.draw("floor").sample([*audit.drawn], DRAWN)
    values = [
        value
        for sample in samples
        for verdict in audit.score(sample, AuditAnswer(text=say(sample))).verdicts[:1]
        if (value := verdict.value) is not None
    ]
    if not values:
        return None
    mean = sum(values) / len(values)
    between = wilson(mean, len(values))
    return AuditFloor(
        agent=agent,
        value=mean,
        low=between.low,
        high=between.high,
        count=len(values),
        unscored=len(samples) - len(values),
        answer=answer,
    )
