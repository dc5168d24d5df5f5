"""The verdict on a conversation, and what is wrong with it: the turn that failed, what differs in the state, which results were missing."""

from collections.abc import Mapping

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_benchmarks.bfcl.calls import clipped, show

_MOST_SHOWN = 3


class TurnsResult(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a conversation; see `worker_program.check`. `turn` is the first that failed."""

    error_type: str | None
    turn: int | None = None
    turns: int = 0
    differences: tuple[Mapping[str, object], ...] = ()
    missing: tuple[str, ...] = ()
    made: tuple[tuple[str, str], ...] = ()
    expected: tuple[tuple[str, str], ...] = ()

    @property
    def reason(self) -> Sentence | str:
        """What is wrong; '' when nothing is."""
        return explain(self) if self.error_type else ""


def explain(result: TurnsResult) -> Sentence:
    """Return the sentence for a conversation that failed."""
    kind = (result.error_type or "").partition(":")[2]
    turn = (result.turn or 0) + 1
    calls = ", ".join(clipped(call) for call, _ in result.expected) or "-"
    match kind:
        case "inference_error":
            return say("There is no list of turns, but an error from when the replies were made.")
        case "force_terminated":
            return say("The conversation ended after {made} of {count} turns.", made=turn - 1, count=result.turns)
        case "empty_turn_model_response":
            return say("Turn {turn}: no call was made; expected: {calls}.", turn=turn, calls=calls)
        case "instance_state_mismatch":
            differing = "; ".join(
                f"{difference['path']}: {show(difference['got'])} ≠ {show(difference['expected'])}"
                for difference in result.differences[:_MOST_SHOWN]
            )
            return say(
                "Turn {turn}: the state is not that after the expected calls {calls}. Got and expected: {differing}.",
                turn=turn,
                calls=calls,
                differing=differing + _more(len(result.differences)),
            )
    missing = "; ".join(show(each) for each in result.missing[:_MOST_SHOWN]) + _more(len(result.missing))
    return say(
        "Turn {turn}: results of the expected calls {calls} were never seen: {missing}.",
        turn=turn,
        calls=calls,
        missing=missing,
    )


def _more(count: int) -> str:
    return "; …" if count > _MOST_SHOWN else ""
