"""Score how several agents reached a goal together: completion, balance, novelty, hand-offs, recovery.

Goals, the team and further hand-off tools come with the sample, in `meta["collaboration"]`:

    {"goals": [{"name": "price", "answer": ["49"]}], "team": ["planner", "analyst"], "handoffs": ["pass_on"]}

Definitions are in `teamwork`; who acts is the author of each step.
"""

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.collaboration.goals import Goal, is_reached
from proctor_benchmarks.collaboration.teamwork import Teamwork, count_repeats, measure

VERSION = "1"
KEY = "collaboration"  # of the options in the `meta` of a sample, and of the measures in the details of a score


class CollaborationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to reach, and who does it.

    goals: what has to be reached. team: the names of the agents; those that act, when there are none. handoffs: tools that
    hand over, besides those of AutoGen, CrewAI, LangGraph, ADK and the OpenAI Agents SDK.
    """

    goals: tuple[Goal, ...] = ()
    team: tuple[str, ...] = ()
    handoffs: tuple[str, ...] = ()


@scorer(version=VERSION)
def collaboration(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Give a point for each goal that was reached; all measures are in the details."""
    options, work = _of(sample, trajectory)
    reached = {goal.name: is_reached(goal, trajectory) for goal in options.goals}
    repeated = count_repeats(trajectory, options.team, options.handoffs)
    details: dict[str, object] = {KEY: {**work.details(), "repeated": repeated}, "goals": reached}
    if not reached:
        return Unscored(why="not_applicable", reason=say("The sample names no goals."), details=details)
    missed = [name for name, done in reached.items() if not done]
    if not missed:
        return Score(
            points=len(reached),
            out_of=len(reached),
            reason=say("All {all} goals were reached.", all=len(reached)),
            details=details,
        )
    return Score(
        points=len(reached) - len(missed),
        out_of=len(reached),
        reason=say(
            "{count} of {all} goals were reached. Missing: {missing}.",
            count=len(reached) - len(missed),
            all=len(reached),
            missing=", ".join(missed),
        ),
        details={**details, "error_class": missed[0]},
    )


@scorer(version=VERSION)
def balance(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The evenness of the turns: 1 if all agents had as many, 0 if one had all; of two agents or more."""
    _, work = _of(sample, trajectory)
    if work.balance is None:
        return Unscored(why="no_evidence", reason=say("Fewer than two agents took part."))
    turns = ", ".join(f"{name} {share.turns}" for name, share in work.agents.items())
    return Score(points=work.balance, reason=say("Turns: {turns}.", turns=turns))


@scorer(version=VERSION)
def novelty(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The share of messages and calls that repeat no earlier one."""
    options, work = _of(sample, trajectory)
    every = work.messages + work.calls
    if not every:
        return Unscored(why="no_evidence", reason=say("Nothing was said or called."))
    repeated = count_repeats(trajectory, options.team, options.handoffs)
    reason = say("{count} of {all} messages and calls repeat earlier ones.", count=repeated, all=every)
    return Score(points=1 - repeated / every, reason=reason)


@scorer(version=VERSION)
def handoffs(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The share of hand-offs that their receiver took."""
    _, work = _of(sample, trajectory)
    if not work.handoffs:
        return Unscored(why="no_evidence", reason=say("Nothing was handed over."))
    failed = [handoff for handoff in work.handoffs if handoff.ending != "taken"]
    taken = len(work.handoffs) - len(failed)
    if not failed:
        return Score(points=1, reason=say("All {all} hand-offs were taken.", all=taken))
    shown = ", ".join(f"{one.giver} → {one.receiver} ({one.ending})" for one in failed[:5])
    return Score(
        points=taken,
        out_of=len(work.handoffs),
        reason=say(
            "{count} of {all} hand-offs were taken; not: {failed}.", count=taken, all=len(work.handoffs), failed=shown
        ),
        details={"error_class": failed[0].ending},
    )


@scorer(version=VERSION)
def recovery(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The share of failures, of tools and of hand-offs, that were made good."""
    _, work = _of(sample, trajectory)
    if not work.failures:
        return Unscored(why="no_evidence", reason=say("Nothing failed."))
    reason = say("{count} of {all} failures were made good.", count=work.recovered, all=work.failures)
    return Score(points=work.recovered, out_of=work.failures, reason=reason)


def _of(sample: Sample, trajectory: Trajectory) -> tuple[CollaborationOptions, Teamwork]:
    options = converted(sample.meta.get(KEY) or {}, CollaborationOptions, KEY)
    return options, measure(trajectory, options.team, options.handoffs)


PART = ScorerPart(scorer=collaboration, others=(balance, novelty, handoffs, recovery), options=CollaborationOptions)
