"""Criteria of ADK that need a judge, for the cases of an eval set whose `test_config.json` names them.

    {"criteria": {"final_response_match_v2": {"threshold": 0.8, "judge_model_options": {"num_samples": 3}}}}

Every turn is judged as often as the criterion says (5 times), and what most of the judgements say counts; the case gets the
mean of its turns. The judge is that of the run, `--judge`; names and counting are ADK's, the words for the judge ours.
Source: google/adk-python, src/google/adk/evaluation, final_response_match_v2.py and rubric_based_evaluator.py, release 2.7.1.
"""

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.judges._choice import asker, choice
from proctor.judges._figures import About
from proctor.judges.deepeval import Played, played
from proctor.judges.rubric import Options, RubricJudge, made
from proctor.registry import unknown
from proctor.scorers._adk import mean

KEY = "adk_judged"  # where a sample has the criteria of its set
TRIES = 3
SAME = (
    "Does the answer say the same as the reference answer? Wording, order and politeness are free; facts, figures and units "
    "are not, and nothing that the reference says may be missing or contradicted."
)
RESPONSE = (
    "Judge the agent's answer to the user by each property. The solution shows the tools that were called for it."
)
TOOLS = "Judge how the agent used its tools for what the user asked, by each property. The answer is the calls it made."
TYPES = {  # the rubrics of a case that a criterion looks at; those without a type are for all
    "rubric_based_final_response_quality_v1": "FINAL_RESPONSE_QUALITY",
    "rubric_based_tool_use_quality_v1": "TOOL_USE_QUALITY",
}
METRICS = ("final_response_match_v2", *TYPES)


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion of a set; `rubrics` are properties by id, for every case."""

    threshold: float
    num_samples: int = 5
    rubrics: Mapping[str, str] = {}


def make(argument: str, options: Mapping[str, Any]) -> "AdkJudged":
    """The scorer `adk_judged:METRIC`; options are those of the judge's model.

    Raises:
        BadInput: no such metric, or no judge is named.
    """
    if argument not in METRICS:
        raise unknown("criterion", argument, [*METRICS], paths=False)
    name, rest = choice(options)
    return AdkJudged(argument, name, rest)


class AdkJudged:
    """Scores the turns of a case; a set that does not name the metric is left out. `async with` it, for the length of a run."""

    inline = True

    def __init__(self, metric: str, judge: str, model_options: Mapping[str, Any]) -> None:
        self.metric = metric
        self.name = f"{KEY}:{metric}"
        self._asker = asker(judge, model_options, TRIES)
        self._judges: dict[str, RubricJudge] = {}
        self.version = digest([metric, judge, model_options, SAME, RESPONSE, TOOLS])[:12]
        self.judge = About(model=judge, unpriced=self._asker.unpriced)

    async def __aenter__(self) -> Self:
        await self._asker.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._asker.__aexit__(kind, error, trace)

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        given = sample.meta.get(KEY, {}).get(self.metric)
        if given is None:
            return Unscored(why="not_applicable", reason=say("The criteria of the set do not name this metric."))
        criterion = msgspec.convert(given, Criterion)
        values, reasons = [], []
        for place, turn in enumerate(played(sample, trajectory)):
            found = await self._of_turn(criterion, sample, place, turn)
            if isinstance(found, Unscored):
                return found
            values.append(found[0])
            reasons.append(found[1])
        average = mean(values)
        return Score(
            points=min(average, 1.0),
            reason="\n".join(reasons),
            details={
                "turns": values,
                "reasons": reasons,
                "threshold": criterion.threshold,
                "passed": average >= criterion.threshold,
            },
        )

    async def _of_turn(
        self, criterion: Criterion, sample: Sample, place: int, turn: Played
    ) -> tuple[float, str] | Unscored:
        properties = self._properties(criterion, sample, place)
        if not properties:
            return Unscored(why="not_applicable", reason=say("No rubric of the set or the case is for this metric."))
        item = self._item(turn)
        if item is None:
            return Unscored(why="not_applicable", reason=say("No turn of the sample has a reference."))
        shown = replace(sample, turns=(Turn(messages=(Message.of("user", turn.asked),)),), meta={"item": item})
        judged = await self._judge_of(properties, criterion.num_samples)(shown, Trajectory.of(item["answer"]))
        if isinstance(judged, Unscored):
            return judged
        points = judged.details["dimensions"]
        votes = {
            name: float(share > 0.5)  # what most of the judgements say
            for number, name in enumerate(properties, start=1)
            if (share := points.get(f"p{number}")) is not None
        }
        if not votes:
            return Unscored(
                why="not_applicable", reason=say("The judge could not tell: {names}.", names=", ".join(properties))
            )
        told = ", ".join(f"{name} {vote:g}" for name, vote in votes.items())
        return mean(list(votes.values())), f"{told}. {judged.reason}"

    def _properties(self, criterion: Criterion, sample: Sample, place: int) -> dict[str, str]:
        """What is judged, by id: of the criterion, the case and the turn."""
        if self.metric not in TYPES:
            return {"same": SAME}
        turns = sample.meta.get("invocations", ())
        given = [*sample.meta.get("rubrics", ()), *(turns[place].get("rubrics", ()) if place < len(turns) else ())]
        found = dict(criterion.rubrics)
        for rubric in given:
            kind, text = rubric.get("type"), rubric.get("rubric_content", {}).get("text_property")
            if text and (not kind or str(kind).upper() == TYPES[self.metric]):
                found[str(rubric.get("rubric_id", ""))] = str(text)
        return found

    def _item(self, turn: Played) -> dict[str, str] | None:
        """What the judge is shown; None where there is nothing to compare with."""
        calls = "\n".join(
            f"{name}({json.dumps(arguments, ensure_ascii=False, default=str)}) -> {result or ''}"
            for name, arguments, result in turn.calls
        )
        if self.metric == "rubric_based_tool_use_quality_v1":
            return {"question": turn.asked, "answer": calls or "no tool was called"}
        item = {"question": turn.asked, "answer": turn.answer}
        if self.metric == "final_response_match_v2":
            return None if turn.expected_answer is None else {**item, "reference": turn.expected_answer}
        return {**item, "solution": calls} if calls else item

    def _judge_of(self, properties: Mapping[str, str], samples: int) -> RubricJudge:
        key = digest([properties, samples])
        if key not in self._judges:
            task = SAME if self.metric not in TYPES else TOOLS if "tool_use" in self.metric else RESPONSE
            rubric = made(
                name=self.metric,
                scale=(0, 1),
                judges="item",
                unknown="left_out",
                en={"task": task},
                dimensions=[
                    {"name": f"p{number}", "en": {"text": text, "anchors": {"0": "no", "1": "yes"}}}
                    for number, text in enumerate(properties.values(), start=1)
                ],
            )
            self._judges[key] = RubricJudge(rubric, self._asker, Options(repeats=samples))
        return self._judges[key]
