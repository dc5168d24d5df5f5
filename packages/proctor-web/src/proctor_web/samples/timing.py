"""Lay out in time what a trial waited for: the model, its tools, the simulated user, and then the judges."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, get_args

import msgspec

from proctor.core.sample import ToolCall, ToolResult
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial, Verdict

Lane = Literal["model", "tool", "user", "judge"]
LANES: tuple[Lane, ...] = get_args(Lane)
MOST_SECONDS = 1e8  # longer is no time that was measured
LAST = 1e11
MOST_BARS = 120  # in one lane; more are drawn together where they lie in the same 120th of the time


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A bar of the waterfall: `steps` waits drawn as one, in seconds from the start. `number` is the entry of the first step, -1 for a judge."""

    lane: Lane
    start: float
    seconds: float
    number: int = -1
    steps: int = 1
    name: str = ""


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """The waterfall of a trial; `untimed` steps have no time of their own.

    Attributes:
        seconds: from the start of the trial to the end of its last bar.
        spent: the seconds of each lane.
    """

    seconds: float
    bars: tuple[Bar, ...] = ()
    spent: dict[Lane, float] = {}
    untimed: int = 0


def timing(trial: Trial, number_of_step: Sequence[int], verdicts: Sequence[Verdict]) -> Timing:
    """Return the waterfall of a trial, with the judges that were asked after it.

    Args:
        number_of_step: the entry of each step on the page.
    """
    timed = [*_timed(trial.trajectory, number_of_step)]
    origin = min((bar.start for bar in timed), default=0.0)
    if 0 < trial.started <= origin < trial.started + trial.seconds:  # a replayed conversation is older than its trial
        origin = trial.started
    bars = [msgspec.structs.replace(bar, start=bar.start - origin) for bar in timed]
    end = max(trial.seconds, *(bar.start + bar.seconds for bar in bars), 0.0)
    for verdict in verdicts:
        if verdict.seconds > 0:
            bars.append(Bar(lane="judge", start=end, seconds=verdict.seconds, name=verdict.scorer))
            end += verdict.seconds
    spent = {lane: sum(bar.seconds for bar in bars if bar.lane == lane) for lane in LANES}
    return Timing(
        seconds=end,
        bars=tuple(bar for lane in LANES for bar in _drawn([one for one in bars if one.lane == lane], end)),
        spent={lane: seconds for lane, seconds in spent.items() if seconds},
        untimed=len(trial.trajectory.steps) - len(timed),
    )


def _timed(trajectory: Trajectory, number_of_step: Sequence[int]) -> Iterator[Bar]:
    """Yield the steps that have a time; one without a start begins where the last one ended."""
    steps = sorted(trajectory.steps, key=lambda step: step.turn)  # stable, and as the entries are numbered
    end = 0.0
    for step, number in zip(steps, number_of_step, strict=True):
        if not (0 < step.seconds < MOST_SECONDS and 0 <= step.started < LAST):
            continue
        start, role = step.started or end, step.message.role
        lane: Lane = "tool" if role == "tool" else "user" if "user" in (role, step.author) else "model"
        name = next((part.name for part in step.message.parts if isinstance(part, ToolCall | ToolResult)), "")
        yield Bar(lane=lane, start=start, seconds=step.seconds, number=number, name=name)
        end = start + step.seconds


def _drawn(bars: Sequence[Bar], total: float) -> Iterable[Bar]:
    """Return the bars of a lane, together where there are more than can be seen apart."""
    if len(bars) <= MOST_BARS:
        return bars
    ordered = sorted(bars, key=lambda bar: bar.start)
    groups = (list(group) for _, group in groupby(ordered, lambda bar: int(MOST_BARS * bar.start / total)))
    return [
        msgspec.structs.replace(
            group[0],
            seconds=max(bar.start + bar.seconds for bar in group) - group[0].start,
            steps=len(group),
            name=group[0].name if len({bar.name for bar in group}) == 1 else "",
        )
        for group in groups
    ]
