"""Play the right answers of samples in their environments, and gather the calls that they make."""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.core.sample import Sample
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


def played_golds(audit: Audit) -> Iterator[tuple[Sample, AnswerVerdicts]]:
    """Yield the samples with what their right answers did in the environment."""
    if audit.task.environment is not None and has_oracle(audit):
        for sample in audit.drawn:
            yield sample, audit.oracle(sample)


def expected_calls(audit: Audit, sample: Sample) -> ExpectedCalls | None:
    """Return the calls that the right answer to a sample makes; None if nobody says."""
    if not has_oracle(audit):
        names = tuple(call.name for call in gold_calls(sample))
        return ExpectedCalls(names=names, writes=False) if names else None
    played = audit.oracle(sample)
    if played.fault or not played.verdicts:
        return None
    everything = all_played(audit)
    counting = counters(everything)
    can_tell = len({call.name for call in everything}) > 1  # else an entry that counts calls looks like an effect
    writes = can_tell and any(not call.is_error and set(call.changed) - counting for call in played.calls)
    return ExpectedCalls(names=tuple(call.name for call in played.calls), writes=writes)


def expected_arguments(audit: Audit, sample: Sample) -> Sequence[PlayedCall]:
    """Return the calls that a sample expects as it says them, not played."""
    said = [PlayedCall(name=call.name, arguments=call.first) for call in gold_calls(sample)]
    if said or audit.task.oracle is None:
        return said
    calls = audit.task.oracle(sample).calls()
    return [PlayedCall(name=call.name, arguments=call.arguments) for call in calls if isinstance(call.arguments, dict)]


def all_played(audit: Audit) -> Sequence[PlayedCall]:
    """Return the calls of all right answers."""
    return [call for _, played in played_golds(audit) for call in played.calls]
