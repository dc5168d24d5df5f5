"""The official reward of a trajectory, as a scorer; assertions in natural language are put to the judge of the run."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import msgspec

from proctor.core.errors import PartFailed
from proctor.core.judge import JudgeChoice
from proctor.core.sample import Message, Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory, carried_out
from proctor.models import ledger
from proctor_benchmarks.tau2.dataset import Tau2Task, parsed
from proctor_benchmarks.tau2.messages import OfficialMessage, official
from proctor_benchmarks.tau2.progress import EndRules, read_progress, rules_of
from proctor_benchmarks.tau2.rewards import ENDS, Replayed, Rewards, judged, rewards, transcript
from proctor_benchmarks.tau2.upstream import Upstream
from proctor_benchmarks.tau2.user import is_for_agent
from proctor_benchmarks.tau2.wording import DONE
from proctor_judging.judges.asking import AsksModel

Replay = Literal["strict", "lenient"]
KEPT_CHARACTERS = 8_000  # of the judge's reply
NO_JUDGE = "This task is rewarded by assertions in natural language, and no model judges them: --judge openai:MODEL."


class EndedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that is over, in the official form, and why it ended."""

    messages: Sequence[OfficialMessage]
    reason: str


class RewardScorer(AsksModel):
    """Scores with the reward, 0 to 1; the official code replays the conversation in a worker.

    Attributes:
        judge: what is recorded of the model that judges assertions, once the run named one.
    """

    name = "tau2"
    version = "tau2-bench a2c024725189 / 1"
    is_async = True

    def __init__(self, upstream: Upstream, replay: Replay = "strict") -> None:
        super().__init__(upstream)
        self._upstream = upstream
        self._replay = replay

    def with_judge(self, judge: JudgeChoice) -> Self:
        """Return the same scorer with the model that the run names as judge."""
        return self.with_model(judge, "tau2 nl_assertions", {"temperature": 0.0})

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        raw, rules, recorded = sample.meta["task"], rules_of(sample), trajectory.state or {}
        task = parsed(raw)
        ended = ended_of(task, carried_out(trajectory), rules, self._upstream.words.greeting)
        details: dict[str, Any] = {"termination_reason": ended.reason}
        if "reward" in recorded:
            details["official_reward"] = recorded["reward"]
        if ended.reason not in ENDS:
            reason = say("The conversation ended early: {reason}.", reason=ended.reason)
            return Score(points=0, reason=reason, details=details)
        replay = await self._upstream.replay(
            sample.meta["domain"],
            raw,
            ended.messages,
            solo=rules.solo,
            strict=self._replay == "strict" and not trajectory.faults,
        )
        if replay.raised is not None:
            return _raised(replay, details)
        met: Sequence[bool] | None = recorded.get("met")
        assertions = task.judged_assertions
        if assertions and (self._model is not None or met is None):
            answered = await self._judged(ended.messages, assertions, details)
            if isinstance(answered, Unscored):
                return answered
            met = answered
        result = rewards(task, ended.messages, ended.reason, replay, met)
        details |= _details(result, replay)
        return Score(points=result.reward, reason=_reason(task, result, replay, met), details=details)

    async def _judged(
        self, messages: Sequence[OfficialMessage], assertions: Sequence[str], details: dict[str, object]
    ) -> list[bool] | Unscored:
        """Return what the judge of the run says of each assertion; it is asked once, as officially."""
        if self._model is None:
            return Unscored(why="not_applicable", reason=say(NO_JUDGE), details={**details, "kind": "no_judge"})
        system, request = self._upstream.words.judge_messages(transcript(messages), assertions)
        try:
            step = await self._model.complete([Message.of("system", system), Message.of("user", request)])
        except PartFailed as error:
            return Unscored(why="judge_failed", reason=error.sentence, details={**details, "kind": error.kind})
        ledger.spend(step.usage, model=self._model.name)
        details["replies"] = [step.message.text[:KEPT_CHARACTERS]]
        try:
            met = judged(step.message.text)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = say("The judge's reply cannot be read: {error}", error=f"{type(error).__name__}: {error}")
            return Unscored(why="judge_failed", reason=why, details={**details, "kind": "unreadable"})
        details["met"] = met
        return met


def ended_of(task: Tau2Task, trajectory: Trajectory, rules: EndRules, greeting: str = "") -> EndedConversation:
    """Return a trajectory in the official form; one that was recorded elsewhere says itself why it ended."""
    messages = [step.message for step in trajectory.steps]
    ends_with = DONE if rules.solo else ""
    if trajectory.state is not None and "termination_reason" in trajectory.state:
        return EndedConversation(messages=official(messages), reason=trajectory.state["termination_reason"])
    # The agent's first turn begins with the policy and what was said before, which the user's own first calls precede.
    before: Sequence[OfficialMessage] = task.history
    shown = sum(map(is_for_agent, before)) if before else int(not rules.solo)
    begins = next((index for index, message in enumerate(messages) if message.role == "system"), None)
    if not before and not rules.solo:
        before = (
            official(messages[begins + 1 : begins + 2])
            if begins is not None
            else [{"role": "assistant", "content": greeting}]
        )
    if begins is not None:
        del messages[begins : begins + 1 + shown]
    played = official(messages, ends_with=ends_with)
    return EndedConversation(messages=[*before, *played], reason=read_progress(played, rules).reason or "")


def _raised(found: Replayed, details: dict[str, object]) -> Score | Unscored:
    """An assertion about what the agent never made counts as not met; a replay that differs is no verdict at all."""
    kind, text = found.raised or ("", "")
    details |= {"kind": "official_raises", "raised": kind}
    if found.hashes is not None:
        reason = say("An assertion on the end state cannot be checked, so it is not met: {error}", error=text)
        return Score(points=0, reason=reason, details=details)
    reason = say("The official evaluation breaks off with {kind}: {error}", kind=kind, error=text)
    return Unscored(why="scorer_failed", reason=reason, details=details)


def _details(result: Rewards, found: Replayed) -> dict[str, object]:
    return {
        "parts": dict(result.parts),
        "db_match": found.db_match if found.hashes is not None else None,
        "assertions": found.assertions,
        "actions": result.actions,
        "communicated": result.communicated,
    }


def _reason(task: Tau2Task, result: Rewards, found: Replayed, met: Sequence[bool] | None) -> Sentence:
    failed = [name for name, value in result.parts.items() if not value]
    if not failed:
        return say("Everything is as expected: {parts}.", parts=", ".join(result.parts) or "-")
    criteria = task.evaluation_criteria
    missing: list[str] = []
    if criteria is not None:
        for name, texts, flags in (
            (
                "ENV_ASSERTION",
                [str(assertion.get("func_name")) for assertion in criteria.env_assertions or ()],
                found.assertions,
            ),
            ("ACTION", [action.name for action in task.actions], result.actions),
            ("COMMUNICATE", list(criteria.communicate_info or ()), result.communicated),
            ("NL_ASSERTION", list(criteria.nl_assertions or ()), met),
        ):
            if name in failed:
                missing += [text for text, flag in zip(texts, flags or (), strict=False) if not flag]
    return say(
        "Not as expected: {parts}. Missing: {missing}", parts=", ".join(failed), missing="; ".join(missing) or "-"
    )
