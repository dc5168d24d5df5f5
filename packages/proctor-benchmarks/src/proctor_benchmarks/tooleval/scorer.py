"""Score an answer by a judge: pass rate, correctness of the final answer, and preference over a reference.

One answer is judged several times, and the mean of its judgements is its score; what each said is kept in the details.
"""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import msgspec

from proctor.chat.messages import to_tools
from proctor.core.errors import PartFailed
from proctor.core.judge import JudgeChoice
from proctor.core.sample import Message, Sample, Tool
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor.models import cache, ledger
from proctor_benchmarks.tooleval import dataset, judging, rates
from proctor_benchmarks.tooleval.answers import ToolEvalExample, answer_of, costs
from proctor_benchmarks.tooleval.conversion import Edition
from proctor_benchmarks.tooleval.dataset import Clone
from proctor_benchmarks.tooleval.judging import Asking, ComparedAnswers, Evaluator, UnusableReply
from proctor_judging.judges.asking import AsksModel
from proctor_judging.replies import loose_json

VERSION = f"StableToolBench {dataset.COMMIT[:12]} / 1"
Measure = Literal["pass_rate", "fac", "preference"]


class ToolEvalRules(msgspec.Struct, frozen=True, kw_only=True):
    """How answers are judged.

    Attributes:
        times: judgements of each answer; a comparison is made in both orders in turn.
        reference: answers to compare with, by sample.
    """

    edition: Edition = "stable"
    times: int = 3
    evaluator: Evaluator = "default"
    reference: Mapping[str, ToolEvalExample] = {}


class ToolEvalScorer(AsksModel):
    """Scores by one measure.

    Attributes:
        judge: what is recorded of the model that judges, once the run named one.
    """

    version = VERSION
    is_async = True

    def __init__(self, name: Measure, clone: Clone, rules: ToolEvalRules) -> None:
        self.name = name
        super().__init__()
        self._clone = clone
        self._rules = rules
        self._wording = clone.wording(rules.evaluator if name == "preference" else "default")

    def with_judge(self, judge: JudgeChoice) -> Self:
        """Return the same scorer with the model that the run names as judge; it has to call a function, where there is one."""
        forced = {"extra_body": {"tool_choice": "required"}} if self.name != "fac" else {"temperature": 0.0}
        return self.with_model(judge, f"tooleval {self.name}", {**self._wording.defaults, **forced})

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        """Score one trajectory of a sample of this benchmark."""
        if "apis" not in sample.meta:
            return Unscored(why="not_applicable", reason=say("The sample is none of ToolEval."))
        tools = [tool["function"] for tool in to_tools(sample.turns[0].tools, {})]
        example = ToolEvalExample(query=sample.meta["query"], available_tools=tools, answer=answer_of(trajectory))
        measure = {"pass_rate": self._pass, "fac": self._correct, "preference": self._win}[self.name]
        try:
            return await measure(sample, example)
        except PartFailed as error:
            kind = error.kind
            if kind == "no_judge":
                return Unscored(why="not_applicable", reason=error.sentence, details={"kind": kind})
            return Unscored(why="judge_failed", reason=error.sentence, details={"kind": kind})
        except UnusableReply as error:
            reason = say("The judge's reply cannot be read: {error}", error=str(error))
            return Unscored(why="judge_failed", reason=reason, details={"kind": "unreadable"})

    async def _pass(self, sample: Sample, example: ToolEvalExample) -> Score:
        edition = self._rules.edition
        spent = costs(example.answer, example.offered)
        details: dict[str, Any] = {"costs": msgspec.to_builtins(spent)}
        if edition == "toolbench":
            details["not_hallucinate"] = rates.check_names(example)
        tosses = random.Random(sample.id)  # noqa: S311 - no secret; the same coins in every run
        votes = [await _again(lambda: rates.vote(Asking(self._wording, self._ask), example, edition, lambda: tosses.random() < 0.5)) for _ in range(self._rules.times)]  # fmt: skip
        details["votes"] = [msgspec.to_builtins(vote) for vote in votes]
        points = float(rates.passes(votes)) if edition == "toolbench" else rates.solvable_pass_rate([[vote.status for vote in votes]], len(votes)).mean  # fmt: skip
        if points < 1:
            details["error_class"] = "unfinished" if votes[0].reason == rates.UNFINISHED else "not sure" if points else "unsolved"  # fmt: skip
        return Score(points=points, answer=example.answer["final_answer"], reason=_votes_in_words(votes), details=details)  # fmt: skip

    async def _correct(self, sample: Sample, example: ToolEvalExample) -> Score:
        request = judging.ask_correctness(self._clone.correctness_prompt(), example.query, example.answer["final_answer"])  # fmt: skip
        if request is None:
            return Score(points=0, reason=say("There is no final answer."))
        if self._model is None:
            raise _no_judge()
        step = await self._model.complete([Message.of("user", request)])
        ledger.spend(step.usage, model=self._model.name)
        text = step.message.text
        return Score(points=int(judging.is_correct(text)), answer=example.answer["final_answer"], reason=text)

    async def _win(self, sample: Sample, example: ToolEvalExample) -> Score:
        reference = self._rules.reference.get(sample.id)
        if reference is None:
            return Score(points=1, reason=say("The reference has no answer to this query."), details={"label": "2"})
        pair = [judging.shown(each.answer) for each in (reference, example)]
        rule = judging.prefer if self._rules.evaluator == "default" else judging.prefer_normalized
        lots = random.Random(sample.id)  # noqa: S311 - no secret
        wins = [0, 0]
        for number in range(self._rules.times):
            order = [0, 1] if number % 2 == 0 else [1, 0]
            given = ComparedAnswers(
                query=example.query,
                tools=judging.shown_tools(example.available_tools),
                answers=[pair[index] for index in order],
            )
            wins[order[await _again(lambda given=given: rule(Asking(self._wording, self._ask), given, lots.choice))]] += 1  # fmt: skip
        label = rates.label(*wins)
        return Score(
            points={"1": 0.0, "2": 1.0, "3": 0.5}[label],
            answer=example.answer["final_answer"],
            reason=say("It won {wins} of {times} comparisons with the reference.", wins=wins[1], times=sum(wins)),
            details={"label": label, "wins": wins},
        )

    async def _ask(self, function: str, prompt: str, tool: Tool) -> str:
        """Return the arguments of the judge's call, or the JSON in its text where it calls nothing; a reply without any leaves the reply cache."""
        if self._model is None:
            raise _no_judge()
        with cache.used() as places:
            step = await self._model.complete([Message.of("user", prompt)], [tool])
        ledger.spend(step.usage, model=self._model.name)
        called = [call.arguments_text() for call in step.message.calls if call.name == function]
        try:
            return called[0] if called else json.dumps(loose_json.read(step.message.text))
        except loose_json.Unreadable as error:
            for entry in places:
                entry.forget()
            return str(error)


def _no_judge() -> PartFailed:
    return PartFailed("A model has to judge this answer: --judge openai:MODEL.", kind="no_judge")


async def _again(judge: Any) -> Any:
    """Return a judgement; one that says nothing the rule knows is made again."""
    for left in range(judging.TRIES - 1, -1, -1):
        try:
            return await judge()
        except UnusableReply:
            if not left:
                raise
    raise AssertionError


def _votes_in_words(votes: Sequence[rates.PassVote]) -> Sentence:
    counts = {status: sum(vote.status == status for vote in votes) for status in judging.ANSWER_STATUSES}
    said = ", ".join(f"{status} {count}" for status, count in counts.items() if count)
    return say("Judged {times} times: {counts}. {reason}", times=len(votes), counts=said, reason=votes[0].reason)
