"""Measure what agents that know nothing earn: what the score of a real one has to be compared with."""

from collections.abc import Callable, Sequence

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.stats.rate import wilson
from proctor_audit.answers import IDLE, AnswerVerdicts, AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.findings import NotChecked
from proctor_audit.wording import REFUSALS, constants, question_of

DRAWN = 100  # samples at most that a floor is measured on


class AuditFloor(msgspec.Struct, frozen=True, kw_only=True):
    """What one such agent earns: the share of the points by the main scorer, with a Wilson interval.

    Attributes:
        count: how many samples it was measured on; an agent that makes no call is one for samples whose environment is
            judged, the others are for those to which a text is an answer.
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
    scorer: str = ""


def measure_floor(audit: Audit) -> tuple[AuditFloor, ...]:
    """Return the floors of agents that say nothing, decline, repeat, and of the best constant; where calls are expected, of one without any."""
    if audit.main not in {scorer.name for scorer in audit.scorers}:
        reason = say("the main scorer {scorer} asks a model", scorer=audit.main)
        audit.not_checked.append(NotChecked(check="floor", cls="look", reason=reason))
        return ()
    audit.check = None
    played = [sample for sample in audit.drawn if audit.is_played(sample)]
    floors = [
        *([_floor(audit, played, "idle", _always(IDLE.text))] if played else []),
        *(_of_texts(audit) if audit.by_text else []),
    ]
    audit.report_faults("floor", "look")
    return tuple(each for each in floors if each is not None)


def _of_texts(audit: Audit) -> Sequence[AuditFloor | None]:
    samples = audit.by_text
    best = max(
        (_floor(audit, samples, "constant", _always(text), text) for text in constants(samples)),
        key=lambda each: -1.0 if each is None else each.value,
        default=None,
    )
    return [
        _floor(audit, samples, "null", lambda _: ""),
        _floor(audit, samples, "refusal", lambda _: REFUSALS[0]),
        _floor(audit, samples, "echo", question_of),
        best,
    ]


def _always(text: str) -> Callable[[Sample], str]:
    return lambda _: text


def _floor(
    audit: Audit, samples: Sequence[Sample], agent: str, text: Callable[[Sample], str], answer: str = ""
) -> AuditFloor | None:
    samples = audit.some(samples, DRAWN)
    scored = [_value(audit.main, audit.score(sample, AuditAnswer(text=text(sample)))) for sample in samples]
    values = [value for value in scored if value is not None]
    if not values:
        for sample in samples:
            audit.note_fault("unscored", (agent, answer, sample.id))
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
        scorer=audit.main,
    )


def _value(main: str, verdicts: AnswerVerdicts) -> float | None:
    """Return the share of the points that an answer counts for in the main number; None if it does not count."""
    if any(verdict.why == "agent_failed" for verdict in verdicts.verdicts):
        return 0.0
    return next((verdict.value for verdict in verdicts.verdicts if verdict.scorer == main), None)
