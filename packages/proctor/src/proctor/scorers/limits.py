"""Did the agent keep within limits: length of the answer, steps, tool calls, tokens, seconds. One point each.

The limits are options, or those of the sample in `meta["limits"]`. What was not measured (tokens and seconds of
recorded replies) is never counted as kept: where a limit is set on it, there is no score.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory


class LimitsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The most that is allowed of each; `least_characters` is the other way round.

    characters, words: of the answer (a text without spaces is one word). steps: messages of the agent. calls:
    tool calls. tokens: input and output together. output_tokens. seconds: from the first step to the last.
    """

    characters: int | None = None
    least_characters: int | None = None
    words: int | None = None
    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    output_tokens: int | None = None
    seconds: float | None = None


def limits(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each limit of the sample that was kept.

    >>> sample = Sample.ask("a", "?", meta={"limits": {"characters": 5}})
    >>> limits(sample, Trajectory.of("Far too long")).reason.values["broken"]
    'characters 12 > 5'
    """
    try:
        options = converted(sample.meta.get("limits") or {}, LimitsOptions, "limits")
    except (BadInput, TypeError, ValueError) as error:
        return Unscored(why="scorer_failed", reason=str(error))
    return _score(trajectory, options)


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `LimitsOptions` for all samples; without options those of each sample.

    Raises:
        BadInput: an unknown limit, or one of the wrong type.
    """
    if not options:
        return limits
    chosen = converted(options, LimitsOptions, "limits")

    def scorer(_: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(trajectory, chosen)

    return scorer


def _score(trajectory: Trajectory, options: LimitsOptions) -> Score | Unscored:
    bounds = {name: bound for name in MEASURES if (bound := getattr(options, name)) is not None}
    if not bounds:
        return Unscored(why="not_applicable", reason=say("There is no limit."))
    found_by_name = {name: MEASURES[name](trajectory) for name in bounds}
    measured = {name: (value, bounds[name]) for name, value in found_by_name.items() if value is not None}
    if len(measured) < len(bounds):
        names = ", ".join(name for name in bounds if name not in measured)
        details = {name: value for name, (value, _) in measured.items()}
        return Unscored(why="no_evidence", reason=say("Not measured: {names}.", names=names), details=details)
    broken = [_told(name, value, bound) for name, (value, bound) in measured.items() if not _kept(name, value, bound)]
    kept = [_told(name, value, bound) for name, (value, bound) in measured.items() if _kept(name, value, bound)]
    details = {name: value for name, (value, _) in measured.items()}
    if broken:
        reason = say("Outside the limits: {broken}.", broken=", ".join(broken))
    else:
        reason = say("Within the limits: {kept}.", kept=", ".join(kept))
    return Score(points=len(kept), out_of=len(measured), answer=trajectory.answer, reason=reason, details=details)


def _kept(name: str, found: float, bound: float) -> bool:
    return found >= bound if name.startswith("least") else found <= bound


def _told(name: str, found: float, bound: float) -> str:
    sign = "=" if found == bound else "<" if found < bound else ">"
    return f"{name} {found:g} {sign} {bound:g}"


def _seconds(trajectory: Trajectory) -> float | None:
    started = [step.started for step in trajectory.steps if step.started]
    if not started:
        total = sum(step.seconds for step in trajectory.steps)
        return round(total, 3) if total else None
    return round(max(step.started + step.seconds for step in trajectory.steps) - min(started), 3)


def _tokens(trajectory: Trajectory) -> float | None:
    usage = trajectory.usage
    return (usage.input_tokens + usage.output_tokens) or None


MEASURES: Mapping[str, Callable[[Trajectory], float | None]] = {
    "characters": lambda made: len(made.answer),
    "least_characters": lambda made: len(made.answer),
    "words": lambda made: len(made.answer.split()),
    "steps": lambda made: sum(step.message.role == "assistant" for step in made.steps),
    "calls": lambda made: len(made.calls()),
    "tokens": _tokens,
    "output_tokens": lambda made: made.usage.output_tokens or None,
    "seconds": _seconds,
}


PART = ScorerPart(scorer=limits, make=make, options=LimitsOptions)
