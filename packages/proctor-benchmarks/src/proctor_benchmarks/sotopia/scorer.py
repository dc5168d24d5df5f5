"""Score the agent of an episode by what a judge says of it in seven dimensions."""

from collections.abc import Mapping, Sequence
from typing import Self

from proctor.core.errors import PartFailed
from proctor.core.judge import JudgeChoice
from proctor.core.sample import Message, Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.models import ledger
from proctor_benchmarks.sotopia.actions import UnreadAction
from proctor_benchmarks.sotopia.dataset import scene_of
from proctor_benchmarks.sotopia.episode import Said, history_for_judge
from proctor_benchmarks.sotopia.partner import replayed
from proctor_benchmarks.sotopia.ratings import ENVIRONMENT, OVERALL, RANGES, aggregate, read_ratings, responses_of
from proctor_benchmarks.sotopia.scene import Scene
from proctor_benchmarks.sotopia.wording import ask_again, ask_judge, official
from proctor_judging.judges.asking import AsksModel

KEPT_CHARACTERS = 2_000  # of each reason of the judge, and of a reply that cannot be read
GOAL = RANGES["goal"][1]
Rated = Mapping[str, tuple[str, float]]


class SotopiaScorer(AsksModel):
    """Scores with the points for the goal, 0 to 10; all dimensions are among the details.

    Attributes:
        judge: what is recorded of the model that judges, once the run named one.
    """

    name = "sotopia"
    version = "sotopia 0.1.5 / 1"
    is_async = True

    def with_judge(self, judge: JudgeChoice) -> Self:
        """Return the same scorer with the model that the run names as judge."""
        return self.with_model(judge, "sotopia", {"temperature": 0.0})

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        scene, seat, rules = scene_of(sample)
        state = trajectory.state or {}
        details = {name: state[name] for name in ("ended", "asked", "unread") if name in state}
        if "messages" not in state and not state.get("ended"):
            reason = say("The episode was cut off before its end.")
            return Score(points=0, out_of=GOAL, reason=reason, details={**details, "error_class": "cut_off"})
        if self._model is None:
            recorded = [_recorded(reward) for reward in state.get("rewards", ())]
            if seat < len(recorded) and (rated := recorded[seat]):
                return _score(rated, [one for index, one in enumerate(recorded) if one and index != seat], details)
            reason = say("A model has to judge the episode: --judge openai:MODEL.")
            return Unscored(why="not_applicable", reason=reason, details={**details, "kind": "no_judge"})
        inbox = inbox_of(scene, state["messages"]) if "messages" in state else replayed(sample, state).inbox
        prompt = ask_judge(history_for_judge(inbox), len(scene.profiles), rules.edition)
        text = ""
        for _ in range(2):
            try:
                text = await self._ask(prompt)
                read = read_ratings(text, rules.edition)
            except PartFailed as error:
                return Unscored(why="judge_failed", reason=error.sentence, details={**details, "kind": error.kind})
            except UnreadAction as error:
                why = str(error)
                prompt = ask_again(text, official().ratings[rules.edition])
                continue
            if seat < len(read):
                return _score(read[seat], [one for index, one in enumerate(read) if index != seat], details)
            why = f"{len(read)} of {len(scene.profiles)} players"
            break
        details |= {"kind": "unreadable", "replies": [text[:KEPT_CHARACTERS]]}
        return Unscored(
            why="judge_failed", reason=say("The judge's reply cannot be read: {error}", error=why), details=details
        )

    async def _ask(self, prompt: str) -> str:
        assert self._model is not None
        step = await self._model.complete([Message.of("user", prompt)])
        ledger.spend(step.usage, model=self._model.name)
        return step.message.text


def inbox_of(scene: Scene, messages: Sequence[Sequence[Sequence[str]]]) -> list[Said]:
    """Return what the judge reads of a recorded episode."""
    inbox: list[Said] = [(ENVIRONMENT, scene.background())]
    for number, turn in enumerate(messages, 1):
        said = [(sender, text) for sender, receiver, text in turn if sender != ENVIRONMENT and receiver == ENVIRONMENT]
        inbox += [(ENVIRONMENT, f"Turn #{number}"), *said] if said else []
    return inbox


def _recorded(reward: object) -> Rated:
    """Return the points in the reward of a recorded episode; none where it holds the 0 of the official code."""
    values = reward[1] if isinstance(reward, list | tuple) and len(reward) == 2 else None
    if not isinstance(values, Mapping):
        return {}
    found = {name: ("", values[name]) for name in RANGES if isinstance(values.get(name), int | float)}
    fits = all(RANGES[name][0] <= value <= RANGES[name][1] for name, (_, value) in found.items())
    return found if fits and found.keys() == RANGES.keys() else {}


def _score(rated: Rated, others: Sequence[Rated], details: Mapping[str, object]) -> Score:
    points = points_of(rated)
    return Score(
        points=points["goal"],
        out_of=GOAL,
        reason=say(
            "Goal {goal} of 10, overall {overall}. {why}",
            goal=f"{points['goal']:g}",
            overall=f"{points[OVERALL]:.2f}",
            why=rated["goal"][0][:KEPT_CHARACTERS],
        ),
        details={
            **details,
            "ratings": points,
            "reasons": {name: why[:KEPT_CHARACTERS] for name, (why, _) in rated.items()},
            "others": [points_of(one) for one in others],
        },
    )


def points_of(rated: Rated) -> dict[str, float]:
    """Return the points by dimension, with the official overall score."""
    rate = aggregate(responses_of([rated])).p1_rate
    assert rate is not None
    return rate[1]
