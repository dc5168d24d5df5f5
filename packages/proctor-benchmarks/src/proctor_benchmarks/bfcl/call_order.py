"""Score what the official rule of several turns leaves free: the order of the calls, and how many there were.

Calls there depend on each other (`cd` before `mv`, an id before a booking), and each turn has recorded right ones. `order`
is 1 if all of them were made in their order, whatever else was; `efficiency` is their number over that of the calls made.
"""

from collections.abc import Callable

from msgspec.structs import replace

from proctor.core.declared import scorer
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Step, Trajectory
from proctor.scorers import trajectory as by_calls
from proctor_benchmarks.bfcl.dataset import MULTI_TURN
from proctor_benchmarks.bfcl.decode import Mode
from proctor_benchmarks.bfcl.executable import executable_or_none
from proctor_benchmarks.bfcl.turn_scorer import result_of

VERSION = "1"


def scorers(oracle: Callable[[Sample], Trajectory]) -> tuple[Scorer, ...]:
    """Return the two scorers; `oracle` gives the right calls of a sample, natively."""

    @scorer(name="order", version=VERSION)
    def order(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _compared(by_calls.in_order, sample, trajectory, oracle)

    @scorer(name="efficiency", version=VERSION)
    def efficiency(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _compared(by_calls.efficiency, sample, trajectory, oracle)

    return order, efficiency


def _compared(
    compare: Callable[[Sample, Trajectory], Score | Unscored],
    sample: Sample,
    trajectory: Trajectory,
    oracle: Callable[[Sample], Trajectory],
) -> Score | Unscored:
    if sample.meta.get("category") not in MULTI_TURN:
        return Unscored(why="not_applicable", reason=say("Only conversations of several turns have calls in an order."))
    right = oracle(sample)
    turns = tuple(
        replace(
            turn, reference=[{"name": call.name, "arguments": dict(call.arguments)} for call in right.calls(number)]
        )
        for number, turn in enumerate(sample.turns)
    )
    return compare(replace(sample, turns=turns), _with_calls(trajectory))


def _with_calls(trajectory: Trajectory) -> Trajectory:
    """Return the calls as they were run, out of text too."""
    mode: Mode = "native" if trajectory.tools == "native" else "prompt"
    turns = result_of(trajectory)
    steps = [
        Step(
            message=Message(
                role="assistant",
                parts=(ToolCall(name=call.name, arguments={str(key): value for key, value in call.arguments.items()}),),
            ),
            turn=number,
        )
        for number, turn in enumerate(turns if isinstance(turns, list) else ())
        for step in (turn if isinstance(turn, list | str | dict) else ())
        for call in executable_or_none(step, mode) or ()
    ]
    return Trajectory(steps=tuple(steps), tools="native")
