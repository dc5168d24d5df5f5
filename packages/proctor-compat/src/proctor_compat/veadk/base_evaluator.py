"""`BaseEvaluator`: load cases, let the agent answer them, score as you like; what other evaluators are built on.

    class MyEvaluator(BaseEvaluator):
        async def evaluate(self, eval_set=None, eval_set_file_path=None):
            self.build_eval_set(eval_set, eval_set_file_path)
            await self.generate_actual_outputs()
            for case in self.invocation_list: ...                       # append EvalResultData to self.result_list

Source: volcengine/veadk-python, veadk/evaluation/base_evaluator.py, release 1.1.19.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from proctor.api import Run, evaluate_async
from proctor.api.resolve import AgentLike
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import Scorer, Task
from proctor.i18n import speak
from proctor_adapters.evalsets.criteria import EvalCriteria
from proctor_adapters.evalsets.outcomes import CaseOutcome, outcomes
from proctor_adapters.evalsets.schema import EvalSet
from proctor_adapters.evalsets.task import EvalSetSource, task_from
from proctor_compat.veadk import sets
from proctor_compat.veadk.types import EvalResultData, EvalTestCase, Invocation


class BaseEvaluator:
    """Loads cases and runs the agent on them, each in a session of its own.

    Attributes:
        invocation_list: the cases of the last `build_eval_set`, with what the agent did after `generate_actual_outputs`.
        result_list: the results of the metrics for each case; a subclass fills it. Emptied by `build_eval_set`.
        agent_information_list: for each case `app_name`, `user_id`, `session_id` and `state` of its session; what is
            empty is chosen when the session begins.
        concurrency: how many cases at once; agents that share something that changes want 1.
    """

    concurrency = 1

    def __init__(self, agent: AgentLike, name: str = "") -> None:
        self.name = name
        self.agent = agent
        self.invocation_list: list[EvalTestCase] = []
        self.result_list: list[EvalResultData] = []
        self.agent_information_list: list[dict[str, object]] = []
        self._samples: list[Sample] = []

    def build_eval_set(self, eval_set: EvalSet | object | None = None, file_path: str | Path | None = None) -> None:
        """Load the cases of a set (ours, ADK's, or plain data), or of a file in any layout; earlier results are dropped.

        Raises:
            UnusableEvalSet: a ValueError: neither is given, the file cannot be read, or a case has nothing to ask.
        """
        self._load([self._source(eval_set, file_path, EvalCriteria())])

    async def generate_actual_outputs(self) -> None:
        """Let the agent answer every case once; if it fails, its turn has the `error`, and the other cases continue."""
        run = await self._run(())
        fill(self.invocation_list, list(outcomes(run.record, run.store)))

    async def evaluate(self, *args: Any, **kwargs: Any) -> object:
        """Score the cases; every subclass has its own way."""
        raise NotImplementedError(f"{type(self).__name__} has to say how it evaluates")

    def get_eval_set_information(self) -> list[list[dict[str, Any]]]:
        """Return the turns of each case: input, expected and actual output and tools, score and reason of the case, latency."""
        return [
            [
                {
                    "input": turn.input,
                    "expected_output": turn.expected_output,
                    "actual_output": turn.actual_output,
                    "expected_tool": turn.expected_tool,
                    "actual_tool": turn.actual_tool,
                    "score": result.average_score,
                    "reason": result.total_reason,
                    "latency": turn.latency,
                }
                for turn in case.invocations
            ]
            for case, result in zip(self.invocation_list, self._results(), strict=True)
        ]

    def _source(
        self, eval_set: object, file_path: str | Path | None, criteria: EvalCriteria, *, several: bool = False
    ) -> EvalSetSource:
        loaded_set = sets.loaded(eval_set, file_path)
        where = Path(file_path) if file_path is not None else Path(loaded_set.eval_set.eval_set_id)
        prefix = f"{where}/" if several else ""  # the same id may be in several files
        return EvalSetSource(
            path=where, loaded=loaded_set, chosen=loaded_set.eval_set.eval_cases, criteria=criteria, prefix=prefix
        )

    def _load(self, sources: Sequence[EvalSetSource]) -> None:
        try:
            task = task_from(self.name or "veadk", sources)
        except BadInput as error:
            raise sets.UnusableEvalSet(error.sentence) from error
        assert isinstance(task.samples, list)
        self._samples = task.samples
        self.invocation_list = [_case(sample) for sample in task.samples]
        self.agent_information_list = [_session(sample) for sample in task.samples]
        self.result_list = []

    async def _run(self, scorers: Sequence[str | Scorer], attempts: int = 1) -> Run:
        """Return the cases as they are now, which a subclass may have changed, through the engine."""
        samples = [self._sample(index) for index in range(len(self.invocation_list))]
        task = Task(name=self.name or "veadk", samples=samples, scorers=scorers, planned=len(samples))
        return await evaluate_async(
            task,
            agent=self.agent,
            attempts=attempts,
            order="official",
            concurrency=self.concurrency,
            max_failed=1.0,
            store=":memory:",
        )

    def _sample(self, place: int) -> Sample:
        case = self.invocation_list[place]
        known = self._samples[place] if place < len(self._samples) else Sample(id=f"case {place + 1}", turns=())
        turns = [
            _turn(turn, known.turns[number] if number < len(known.turns) else None)
            for number, turn in enumerate(case.invocations)
        ]
        if place < len(self.agent_information_list):
            session = self.agent_information_list[place]
            known = replace(known, meta={**known.meta, "session": {**known.known.session, **session}})
        return replace(known, turns=tuple(turns))

    def _results(self) -> Iterator[EvalResultData]:
        for index in range(len(self.invocation_list)):
            yield self.result_list[index] if index < len(self.result_list) else EvalResultData(metric_results=[])


def english(sentence: Any) -> str:
    """Return a sentence or text as English text."""
    return speak(sentence, "en")


def _case(sample: Sample) -> EvalTestCase:
    known = sample.known.invocations
    return EvalTestCase(
        invocations=[
            Invocation(
                invocation_id=known[index].invocation_id if index < len(known) else "",
                input=_question_text(turn),
                actual_output="",
                expected_output=turn.reference["response"] or "",
                expected_tool=[
                    {"name": call["name"], "args": call.get("arguments")} for call in turn.reference["calls"] or ()
                ],
            )
            for index, turn in enumerate(sample.turns)
        ]
    )


def _session(sample: Sample) -> dict[str, object]:
    given = sample.known.session
    return {
        "app_name": given.get("app_name") or "",
        "user_id": given.get("user_id") or "",
        "session_id": given.get("session_id") or "",
        "state": given.get("state") or {},
    }


def _turn(turn: Invocation, known: Turn | None) -> Turn:
    """Return the turn of the file, but for what was changed since."""
    if known is not None and _question_text(known) == turn.input:
        return known
    return Turn(messages=(Message.of("user", turn.input),), reference=known.reference if known is not None else None)


def _question_text(turn: Turn) -> str:
    return "\n".join(message.text for message in turn.messages if message.text)


def fill(cases: Sequence[EvalTestCase], found: Sequence[CaseOutcome], attempt: int = 0) -> None:
    """Add what the agent did in one attempt to the cases."""
    for case, outcome in zip(cases, found, strict=True):
        turns = [turn for turn in outcome.turns if turn.attempt == attempt]
        for turn, turn_outcome in zip(case.invocations, turns, strict=False):
            turn.actual_output = turn_outcome.response
            turn.actual_tool = [dict(call) for call in turn_outcome.calls]
            turn.latency = str(turn_outcome.seconds * 1000)
            turn.error = english(turn_outcome.failure)
