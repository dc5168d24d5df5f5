"""Send answers through a task: in this process for scorers of Proctor, in confined workers for those of users."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec.structs import replace

from proctor.agents.baseline import BaselineAgent
from proctor.core.declared import MakerInfo, declared
from proctor.core.run import Limits
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.task import Agent, Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import IN_THE_MEAN, Trial, Verdict
from proctor.engine.scoring import BoundScorer, score_trial
from proctor.engine.trial import Work, run_trial
from proctor.models.named import OpenedModels
from proctor_audit.answers import AnswerVerdicts, AuditAnswer, ScorerVerdict, ScriptedAgent, step_of
from proctor_audit.declarations import DeclaredAnswers, read_declared
from proctor_audit.playing import PlayedCall, WatchedAgent, without_model
from proctor_audit.searching import SearchingAgent, plant

VARIABLE = "AUDIT_CANARY"  # of this process, while an agent searches
NOT_PLANTED = "not_planted"
KEPT_DETAILS = ("error_type", "error_class", "function", "parameter", "kind")


class AnswerScorer(Protocol):
    """What scores an answer to a sample."""

    def score(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts: ...

    def score_elsewhere(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        """Score an answer in another process, with another order of sets, where the scorers are those of users."""
        ...

    def declared(self, sample: Sample) -> DeclaredAnswers | str:
        """Return the answers that scorers declare, or the kind of what kept them from it."""
        ...

    def oracle_calls(self, sample: Sample) -> Sequence[PlayedCall] | str:
        """Return the calls that the task says are right, or the kind of what kept it from that."""
        ...

    def close(self) -> None: ...


class LocalScorer:
    """Scores in this process."""

    def __init__(self, task: Task, scorers: Sequence[BoundScorer], samples: Mapping[str, Sample]) -> None:
        self._task = without_model(task)
        self._samples = samples
        self._scorers = [replace(scorer, inline=scorer.inline or not scorer.is_async) for scorer in scorers]
        self._is_plain = task.environment is None and task.user is None
        self._can_step = self._is_plain and all(not scorer.is_async for scorer in scorers)
        self._opened: OpenedModels | None = None
        self._runner = asyncio.Runner()

    def score(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        if answer.canary:
            return self._search(sample, answer.text)
        if self._can_step and not answer.oracle and not answer.oracle_of:
            trial = Trial(run_id="audit", sample_id=sample.id, outcome="scored", trajectory=_said(sample, answer))
            return read_verdicts(trial, _finish(score_trial(trial, sample, self._scorers)))
        calls: list[PlayedCall] = []
        agent = self._agent(answer)
        if self._task.environment is not None:
            agent = WatchedAgent(agent, calls, answer.gone)
        trial, verdicts = self._run(sample, agent)
        return replace(read_verdicts(trial, verdicts), calls=tuple(calls))

    def score_elsewhere(self, sample: Sample, answer: AuditAnswer) -> AnswerVerdicts:
        return self.score(sample, answer)

    def _search(self, sample: Sample, canary: str) -> AnswerVerdicts:
        maker = self._task.environment
        planted = plant(sample, canary, maker)
        if planted == sample:
            return AnswerVerdicts(fault=NOT_PLANTED)
        typed = declared(MakerInfo, maker).typed
        variable = f"variable{canary}"[::-1]
        agent = SearchingAgent(canary, variable, None if typed is None else partial(typed, sample))
        os.environ[VARIABLE] = variable
        try:
            trial, verdicts = self._run(planted, agent)
        finally:
            del os.environ[VARIABLE]
        fault = "" if agent.saw else read_verdicts(trial, verdicts).fault
        saw = agent.saw or (VARIABLE if agent.saw_variable else "")
        return AnswerVerdicts(saw=saw, fault=fault, searched=tuple(sorted(agent.searched)))

    def _run(self, sample: Sample, agent: Agent) -> tuple[Trial, Sequence[Verdict]]:
        work = Work(run_id="audit", task=self._task, agent=agent, scorers=self._scorers, limits=Limits())
        if self._opened is None:
            self._opened = OpenedModels(work.opened)
            self._runner.run(self._opened.__aenter__())
        return self._runner.run(run_trial(work, sample, 0))

    def declared(self, sample: Sample) -> DeclaredAnswers | str:
        return read_declared(self._scorers, sample)

    def oracle_calls(self, sample: Sample) -> Sequence[PlayedCall] | str:
        calls = () if self._task.oracle is None else self._task.oracle(sample).calls()
        known = [(call.name, call.arguments) for call in calls if isinstance(call.arguments, dict)]
        return [PlayedCall(name=name, arguments=arguments) for name, arguments in known]

    def close(self) -> None:
        if self._opened is not None:
            self._runner.run(self._opened.__aexit__(None, None, None))
        self._runner.close()

    def _agent(self, answer: AuditAnswer) -> Agent:
        own = self._task.oracle_agent or self._task.oracle
        if answer.oracle_of and self._task.oracle is not None:
            said = self._task.oracle(self._samples[answer.oracle_of])
            return BaselineAgent("oracle").with_oracle(lambda _: said)
        return BaselineAgent("oracle").with_oracle(own) if answer.oracle else ScriptedAgent(answer)


def _said(sample: Sample, answer: AuditAnswer) -> Trajectory:
    last = max(0, len(sample.turns) - 1)
    steps = tuple(replace(step_of(answer, with_calls=turn == last), turn=turn) for turn in range(last + 1))
    return Trajectory(steps=steps, tools="native" if answer.calls else "text")


def _finish(scoring: Any) -> Sequence[Verdict]:
    """Return what a coroutine that never waits returns."""
    try:
        scoring.send(None)
    except StopIteration as stop:
        verdicts: Sequence[Verdict] = stop.value
        return verdicts
    scoring.close()
    raise RuntimeError("a scorer that is not async waited for something")


def read_verdicts(trial: Trial, verdicts: Sequence[Verdict]) -> AnswerVerdicts:
    """Return what the scorers said of a trial, or what kept them from it."""
    failure = trial.failure
    if trial.trajectory.stop == "time_limit" or (failure is not None and failure.kind == "time_limit"):
        return AnswerVerdicts(fault="time_limit")
    if trial.outcome not in IN_THE_MEAN:
        return AnswerVerdicts(fault=trial.outcome)
    if any(isinstance(verdict.result, Unscored) and verdict.result.why == "judge_failed" for verdict in verdicts):
        return AnswerVerdicts(fault="judge_failed")
    if trial.outcome != "scored":
        reason = "" if failure is None else failure.reason
        return AnswerVerdicts(verdicts=(ScorerVerdict(scorer="", why=trial.outcome, reason=reason),))
    return AnswerVerdicts(verdicts=tuple(map(_verdict, verdicts)))


def _verdict(verdict: Verdict) -> ScorerVerdict:
    match verdict.result:
        case Score() as score:
            kept: Mapping[str, Any] = {key: score.details[key] for key in KEPT_DETAILS if key in score.details}
            return ScorerVerdict(
                scorer=verdict.scorer, value=score.value, passed=score.passed, reason=score.reason, details=kept
            )
        case Unscored(why=why, reason=reason, without_calls=without):
            if without is not None:  # as it counts for an agent that makes calls elsewhere
                return ScorerVerdict(
                    scorer=verdict.scorer, value=without.value, passed=without.passed, reason=without.reason
                )
            return ScorerVerdict(scorer=verdict.scorer, why=why, reason=reason)
