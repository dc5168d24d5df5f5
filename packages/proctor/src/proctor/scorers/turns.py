"""Score each turn of a conversation by itself: the reply of a turn with its reference, by any scorer.

A bonus for what holds together with the turns before it may be added from the second turn on; it never lifts the
points above the maximum.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import Find, ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import listed, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.composite import Result, together
from proctor.scorers.lookup import find_scorer, is_inline


class TurnsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The scorer of a turn; one of how it holds together with the turns before, and what full marks there add."""

    scorer: Any = "exact"
    consistency: Any = None
    bonus: float = 0.1


def make(options: Mapping[str, Any], find: Find = find_scorer) -> Scorer:
    """Make a scorer with `TurnsOptions`. The one for consistency is given the conversation up to its turn."""
    chosen = converted(options, TurnsOptions, "turns")
    by_turn, consistency = (
        find(value) if isinstance(value, str) else value for value in (chosen.scorer, chosen.consistency)
    )

    @scorer(inline=is_inline(by_turn) and (consistency is None or is_inline(consistency)))
    def turns(sample: Sample, trajectory: Trajectory) -> Result | Awaitable[Result]:
        places = [index for index, turn in enumerate(sample.turns) if turn.reference is not None]
        if not places:
            return Unscored(why="not_applicable", reason=say("No turn of the sample has a reference."))
        results = [by_turn(*_turn(sample, trajectory, index, index)) for index in places]
        later = [index for index in places if index > 0] if consistency is not None else []
        results += [consistency(*_turn(sample, trajectory, 0, index)) for index in later]
        return together(
            results, lambda found: _put(places, found[: len(places)], found[len(places) :], trajectory, chosen)
        )

    return turns


def _turn(sample: Sample, trajectory: Trajectory, first: int, last: int) -> tuple[Sample, Trajectory]:
    """Return the sample and the steps of some turns; the target is the reference of the last one."""
    steps = tuple(step for step in trajectory.steps if first <= step.turn <= last)
    target = sample.turns[last].reference
    tools = "native" if trajectory.shows_calls else trajectory.tools  # what other turns report is known of this one too
    part = replace(trajectory, steps=steps, tools=tools)
    return replace(sample, turns=sample.turns[first : last + 1], target=target), part


def _put(
    places: Sequence[int],
    results: Sequence[Result],
    consistent: Sequence[Result],
    trajectory: Trajectory,
    options: TurnsOptions,
) -> Result:
    for index, result in zip(places, results, strict=True):
        if isinstance(result, Unscored):
            reason = say("Turn {turn} gave no score: {reason}", turn=index + 1, reason=result.reason)
            return Unscored(why=result.why, reason=reason)
    scores = [result for result in results if isinstance(result, Score)]
    bonus = sum(result.value for result in consistent if isinstance(result, Score)) * options.bonus
    out_of = len(scores)
    points = min(sum(score.value for score in scores) + bonus, out_of)
    told = [
        say("turn {turn}: {value} ({reason})", turn=index + 1, value=f"{score.value:.2f}", reason=score.reason or "-")
        for index, score in zip(places, scores, strict=True)
    ]
    reason = say("{turns}; bonus {bonus}", turns=listed(told), bonus=f"{bonus:g}")
    details = {
        "turns": {str(index + 1): score.value for index, score in zip(places, scores, strict=True)},
        "bonus": bonus,
    }
    return Score(points=points, out_of=out_of, answer=trajectory.answer, reason=reason, details=details)


PART = ScorerPart(combine=make, options=TurnsOptions)
