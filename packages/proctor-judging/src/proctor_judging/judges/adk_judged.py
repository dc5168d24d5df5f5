"""Criteria of ADK that need a judge, for the cases of an eval set whose `test_config.json` names them.

    {"criteria": {"final_response_match_v2": {"threshold": 0.8, "judge_model_options": {"num_samples": 3}}}}

Every turn is judged as often as the criterion says (5 times), and what most of the judgements say counts; the case gets the
mean of its turns. The judge is that of the run, `--judge`. What it is shown: `_adk_items.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.judge import NOT_CHOSEN, JudgeChoice, JudgeInfo
from proctor.core.parts import JudgePart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.models.named import OpenedModels
from proctor.registry import unknown
from proctor_judging.judges._adk_items import METRICS, RESPONSE, SAME, TASKS, TOOLS, TYPES, AdkItem, Criterion, items_of
from proctor_judging.judges.judge_options import make_asker, resolve_judge
from proctor_judging.judges.rubric import RubricJudge, RubricOptions, made
from proctor_judging.matching.adk_rules import mean

__all__ = ["KEY", "METRICS", "AdkJudged", "Criterion", "make"]

KEY = "adk_judged"  # where a sample has the criteria of its set
TRIES = 3
WORDS: Mapping[str, Sequence[str]] = {"hallucinations_v1": ("does not hold", "holds")}
FIRST_VERSIONS = (
    "final_response_match_v2",
    "rubric_based_final_response_quality_v1",
    "rubric_based_tool_use_quality_v1",
)


def make(argument: str, options: Mapping[str, Any], chosen: JudgeChoice = NOT_CHOSEN) -> "AdkJudged":
    """Return the scorer `adk_judged:METRIC`; options are those of the judge's model.

    Raises:
        BadInput: no such metric, or no judge is named.
    """
    if argument not in METRICS:
        raise unknown("criterion", argument, [*METRICS], paths=False)
    name, rest = resolve_judge(options, chosen)
    return AdkJudged(argument, name, rest)


class JudgedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The score of a turn, the reason, and the vote on each property."""

    value: float
    reason: str = ""
    votes: Mapping[str, float] = {}


class AdkJudged(OpenedModels):
    """Scores the turns of a case; a set that does not name the metric is left out. `async with` it, for the length of a run."""

    inline = True

    def __init__(self, metric: str, judge: str, model_options: Mapping[str, Any]) -> None:
        self.metric = metric
        self.name = f"{KEY}:{metric}"
        self._asker = make_asker(judge, model_options, TRIES)
        super().__init__([self._asker])
        self._judges: dict[str, RubricJudge] = {}
        texts = [SAME, RESPONSE, TOOLS] if metric in FIRST_VERSIONS else [TASKS[metric]]  # their versions stay
        self.version = digest([metric, judge, model_options, *texts])[:12]
        self.judge = JudgeInfo(model=judge, unpriced=self._asker.unpriced)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        given = sample.meta.get(KEY, {}).get(self.metric)
        if given is None:
            return Unscored(why="not_applicable", reason=say("The criteria of the set do not name this metric."))
        criterion = msgspec.convert(given, Criterion)
        turns: list[JudgedTurn | None] = []
        for items in items_of(self.metric, criterion, sample, trajectory):
            found = await self._of_turn(criterion, sample, items)
            if isinstance(found, Unscored):
                return found
            turns.append(found)
        known = [turn for turn in turns if turn is not None]
        if not known:
            return Unscored(why="not_applicable", reason=say("The case has no turn that could be evaluated."))
        average = mean([turn.value for turn in known])
        by_turn = {str(number): turn.value for number, turn in enumerate(turns, start=1) if turn is not None}
        details: dict[str, object] = {
            "turns": by_turn if len(known) < len(turns) else [*by_turn.values()],
            "reasons": ["" if turn is None else turn.reason for turn in turns],
            "threshold": criterion.threshold,
            "passed": average >= criterion.threshold,
        }
        if self.metric in TYPES:
            details["rubrics"] = [dict(turn.votes) for turn in known]
        return Score(
            points=min(average, 1.0), reason="\n".join(turn.reason for turn in known if turn.reason), details=details
        )

    async def _of_turn(
        self, criterion: Criterion, sample: Sample, items: Sequence[AdkItem]
    ) -> JudgedTurn | Unscored | None:
        """Judge one turn: the mean of its parts; None where it says nothing to judge."""
        parts: dict[int, dict[str, float]] = {}
        known: list[float] = []
        reasons: list[str] = []
        votes: dict[str, float] = {}
        for item in items:
            if item.known is not None:
                known.append(item.known)
                continue
            judged = await self._of_item(criterion, sample, item)
            if isinstance(judged, Unscored):
                return judged
            parts.setdefault(item.part, {}).update(judged.votes)
            votes.update(judged.votes)
            reasons.append(judged.reason)
        values = [*known, *(mean([*part.values()]) for part in parts.values())]
        if not values:
            return None
        worth = min(values) if self.metric == "per_turn_user_simulator_quality_v1" else mean(values)
        return JudgedTurn(value=worth, reason="\n".join(reasons), votes=votes)

    async def _of_item(self, criterion: Criterion, sample: Sample, item: AdkItem) -> JudgedTurn | Unscored:
        if not item.properties:
            return Unscored(why="not_applicable", reason=say("No rubric of the set or the case is for this metric."))
        if not item.shown:
            return Unscored(why="not_applicable", reason=say("No turn of the sample has a reference."))
        asked = Turn(messages=(Message.of("user", item.shown["question"]),))
        shown = replace(sample, turns=(asked,), meta={"item": item.shown})
        judge = self._judge_of(item.properties, criterion.num_samples)
        judged = await judge(shown, Trajectory.of(item.shown["answer"]))
        if isinstance(judged, Unscored):
            return judged
        points = judged.details["dimensions"]
        votes = {
            name: float(share > 0.5)  # what most of the judgements say
            for number, name in enumerate(item.properties, start=1)
            if (share := points.get(f"p{number}")) is not None
        }
        if not votes:
            names = ", ".join(item.properties)
            return Unscored(why="no_evidence", reason=say("The judge could not tell: {names}.", names=names))
        told = ", ".join(f"{name} {vote:g}" for name, vote in votes.items())
        return JudgedTurn(value=mean([*votes.values()]), reason=f"{told}. {judged.reason}", votes=votes)

    def _judge_of(self, properties: Mapping[str, str], samples: int) -> RubricJudge:
        key = digest([properties, samples])
        if key not in self._judges:
            no, yes = WORDS.get(self.metric, ("no", "yes"))
            rubric = made(
                name=self.metric,
                scale=(0, 1),
                judges="item",
                unknown="left_out",
                en={"task": TASKS[self.metric]},
                dimensions=[
                    {"name": f"p{number}", "en": {"text": text, "anchors": {"0": no, "1": yes}}}
                    for number, text in enumerate(properties.values(), start=1)
                ],
            )
            self._judges[key] = RubricJudge(rubric, self._asker, RubricOptions(repeats=samples))
        return self._judges[key]


PART = JudgePart(make=make)
