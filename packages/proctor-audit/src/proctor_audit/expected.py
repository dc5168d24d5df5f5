"""Play the right answers of samples in their environments, and gather the calls that they make."""

from collections.abc import Sequence

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AnswerVerdicts
from proctor_audit.audit import Audit
from proctor_audit.calls import gold_calls
from proctor_audit.playing import PlayedCall, counters


class ExpectedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The names of the calls that a right answer makes; `writes` is true if one was seen to change the state."""

    names: tuple[str, ...]
    writes: bool


def has_oracle(audit: Audit) -> bool:
    """True if the task says how its samples are done right."""
    return audit.task.oracle is not None or audit.task.oracle_agent is not None


def played_golds(audit: Audit) -> Sequence[tuple[Sample, AnswerVerdicts]]:
    """Return the samples with what their right answers did in the environment; those that say none are counted as left out."""
    if audit.task.environment is None:
        return ()
    if not has_oracle(audit):
        audit.leave_out(say("{count} samples do not say how they are done right", count=len(audit.drawn)))
        return ()
    return [(sample, audit.oracle(sample)) for sample in audit.drawn]


def expected_calls(audit: Audit, sample: Sample) -> ExpectedCalls | None:
    """Return the calls that the right answer to a sample makes; None if nobody says."""
    if not has_oracle(audit):
        names = tuple(call.name for call in gold_calls(sample))
        return ExpectedCalls(names=names, writes=False) if names else None
    played = audit.oracle(sample)
    if played.fault or not played.verdicts:
        return None
    everything = calls_of(played_golds(audit))
    counting = counters(everything)
    can_tell = len({call.name for call in everything}) > 1  # else an entry that counts calls looks like an effect
    writes = can_tell and any(not call.is_error and set(call.changed) - counting for call in played.calls)
    return ExpectedCalls(names=tuple(call.name for call in played.calls), writes=writes)


def expected_arguments(audit: Audit, sample: Sample) -> Sequence[PlayedCall]:
    """Return the calls that a sample expects as it says them, not played."""
    said = [PlayedCall(name=call.name, arguments=call.first) for call in gold_calls(sample)]
    if said or audit.task.oracle is None:
        return said
    return audit.oracle_calls(sample)


def calls_of(played: Sequence[tuple[Sample, AnswerVerdicts]]) -> Sequence[PlayedCall]:
    """Return the calls of right answers that were played."""
    return [call for _, verdicts in played for call in verdicts.calls]
