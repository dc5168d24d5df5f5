"""Score what an agent left in its box by the verifier of its task.

The verdict can be made again at any time, as the artefacts are kept: `proctor score --run RUN` runs the verifier alone.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.boxes.blobs import find_blob, find_record, keep_record
from proctor_benchmarks.boxes.box_task import BoxTask, task_of
from proctor_benchmarks.boxes.contract import TooMuch
from proctor_benchmarks.boxes.opening import BoxOptions, choose_backend, open_box
from proctor_benchmarks.boxes.verifying import (
    Verification,
    VerifierMode,
    run_solution,
    survives_as_it_is,
    take_pristine,
    verify,
)

VERSION = "3"
SLOW_SHARE = 3  # how many times faster the solution has to be for a late run to be the agent's fault
FULL = 1.0
ROUNDING = 0.005  # of a reward that is a share of tests


class Witness(msgspec.Struct, frozen=True, kw_only=True):
    """What the verifier showed of a task's own solution."""

    reward: float | None
    shown: tuple[str, ...] = ()
    seconds: float = 0.0
    fault: str = ""
    was_cut: bool = False


Grade = Callable[[Sample, str], Score | Unscored]


class VerifierScorer:
    """Runs the verifier of a task in a fresh box.

    Args:
        grade: the verdict of a benchmark on the log of its tests.
    """

    name = "verifier"
    version = VERSION

    def __init__(self, options: BoxOptions, mode: VerifierMode = "guarded", grade: Grade | None = None) -> None:
        self._options = options
        self._mode: VerifierMode = mode
        self._grade = grade
        self._locks: dict[str, asyncio.Lock] = {}

    async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        task, state = task_of(sample), trajectory.state or {}
        if task is None or not task.tests:
            return Unscored(why="not_applicable", reason=say("The sample has no verifier."))
        try:
            if state.get("too_much"):
                return await self._judge_too_much(task)
            if "collect_failed" in state:
                unscored = _not_verified(say("The command that collects the agent's work failed: {output}", output=str(state["collect_failed"])), "collect_failed")  # fmt: skip
                return await self._charge(sample, task, unscored, "collect_failed")
            if self._mode == "shared" and "verification" in state:
                return await self._judge(sample, task, msgspec.convert(state["verification"], Verification))
            return await self._verify(sample, task, state)
        except EnvironmentFailed as error:
            return _not_verified(error.sentence, error.kind)

    async def _verify(self, sample: Sample, task: BoxTask, state: Mapping[str, Any]) -> Score | Unscored:
        if "artefacts" not in state:
            return Unscored(why="no_evidence", reason=say("Nothing was taken out of a box in this trial."))
        artefacts = await asyncio.to_thread(find_blob, str(state["artefacts"]))
        if artefacts is None:
            return Unscored(
                why="no_evidence", reason=say("What was taken out of the box is not on this machine any more.")
            )
        if task.watched and "changing" not in state:
            return Unscored(why="no_evidence", reason=say("It was not looked at whether files still changed when the agent was done."))  # fmt: skip
        changing = state.get("changing", ())
        return await self._judge(sample, task, await verify(task, artefacts, self._options, self._mode, changing))

    async def _judge(self, sample: Sample, task: BoxTask, verification: Verification) -> Score | Unscored:
        details = _details(verification)
        if verification.has_died:
            return await self._judge_dead(sample, task, details)
        if verification.was_late:
            return await self._judge_late(sample, task, details)
        verdict = await asyncio.to_thread(self._read, sample, task, verification)
        if isinstance(verdict, Unscored):
            return await self._charge(sample, task, verdict, "no_reward")
        if self._mode == "guarded" and task.solution:
            return await self._believe(sample, task, verification, verdict)
        return verdict

    async def _judge_too_much(self, task: BoxTask) -> Score:
        """Return 0, as a fresh box has less than may be taken.

        Raises:
            EnvironmentFailed: it has not.
        """
        async with open_box(task, self._options) as box:
            await take_pristine(box, task)
        return Score(points=0, reason=say("What the agent left is more than may be taken to the verifier."), details={"error_class": "too_much"})  # fmt: skip

    async def _judge_dead(self, sample: Sample, task: BoxTask, details: Mapping[str, object]) -> Score | Unscored:
        """Return 0 for what two fresh boxes did not survive, if another one now survives without the agent's work."""
        reason = say("The verifier's box did not survive what the agent left.")
        if task.solution:
            is_sound = (await self.find_witness(sample, task, is_fresh=True)).reward == FULL
        else:
            is_sound = await survives_as_it_is(task, self._options)
        if not is_sound:
            return _not_verified(reason, "killed_verifier", details)
        return Score(points=0, reason=reason, details={**details, "error_class": "killed_verifier"})

    def _read(self, sample: Sample, task: BoxTask, verification: Verification) -> Score | Unscored:
        """Return what a run of the tests says by itself."""
        details = _details(verification)
        if self._grade is not None and task.verdict == "log" and not verification.fault:
            return self._grade(sample, verification.log)
        if verification.rewards is None:
            return _not_verified(say("The verifier left no reward that can be read ({fault}).", fault=verification.fault), verification.fault, details)  # fmt: skip
        reward = reward_of(verification.rewards)
        if reward is None:
            return _not_verified(say("The verifier gave {rewards}, of which none is a share of full marks.", rewards=str(dict(verification.rewards))), "reward", details)  # fmt: skip
        return Score(points=reward, reason=_reason(verification), details=details)

    async def _believe(self, sample: Sample, task: BoxTask, verification: Verification, verdict: Score) -> Score | Unscored:  # fmt: skip
        """Return the verdict if the task's own solution has full marks, with points as far as tests are shown that it showed.

        Full marks need all of them; a part of the points is at most the share of them.
        """
        witness, details = await self.find_witness(sample, task), dict(verdict.details)
        if witness.reward != FULL:
            return _not_verified(say("The task's own solution gets {reward} instead of full marks, so that its verifier cannot be trusted.", reward=witness.fault or str(witness.reward)), "solution_fails", details)  # fmt: skip
        details["witness"] = "tests" if witness.shown else "none"
        missing = [test for test in witness.shown if test not in verification.shown]
        share = 1 - len(missing) / max(len(witness.shown), 1)
        is_shown = not missing or (verdict.points < FULL and verdict.points <= share + ROUNDING)
        believed = verdict.points if is_shown else share if verdict.points < FULL else 0.0
        if believed == verdict.points:
            return replace(verdict, details=details)
        if verification.was_cut:
            reason = say("The verifier gave {reward}, but its tests printed more than is read, so that {test} is not shown.", reward=f"{verdict.points:g}", test=missing[0])  # fmt: skip
            return _not_verified(reason, "output_too_long", details) if witness.was_cut else Score(points=believed, reason=reason, details={**details, "error_class": "output_too_long"})  # fmt: skip
        reason = say("The verifier gave {reward}, but does not show {count} of the {total} tests that passed for the task's own solution, such as {test}.", reward=f"{verdict.points:g}", count=len(missing), total=len(witness.shown), test=missing[0])  # fmt: skip
        return Score(points=believed, reason=reason, details={**details, "error_class": "tests_not_shown"})

    async def _judge_late(self, sample: Sample, task: BoxTask, details: Mapping[str, object]) -> Score | Unscored:
        if task.solution:
            witness = await self.find_witness(sample, task, is_fresh=True)
            if witness.reward == FULL and witness.seconds * SLOW_SHARE < task.verifier_seconds:
                reason = say("The tests came to no end in {seconds} seconds; with the task's own solution they take {usual}.", seconds=f"{task.verifier_seconds:g}", usual=f"{witness.seconds:.1f}")  # fmt: skip
                return Score(points=0, reason=reason, details={**details, "error_class": "slow_solution"})
        return _not_verified(say("The tests came to no end in {seconds} seconds.", seconds=f"{task.verifier_seconds:g}"), "verifier_late", details)  # fmt: skip

    async def _charge(self, sample: Sample, task: BoxTask, unscored: Unscored, error_class: str) -> Score | Unscored:
        """Return 0 for what gave no verdict, if the task's own solution gets full marks now: else it may be nobody's fault."""
        if not task.solution or (await self.find_witness(sample, task, is_fresh=True)).reward != FULL:
            return unscored
        reason = say("With the task's own solution the verifier gives full marks, with the agent's: {reason}", reason=unscored.reason)  # fmt: skip
        return Score(points=0, reason=reason, details={**unscored.details, "error_class": error_class})

    async def find_witness(self, sample: Sample, task: BoxTask, *, is_fresh: bool = False) -> Witness:
        """Return what the verifier showed of the task's own solution, which is run once for a task as it is.

        Args:
            is_fresh: run it now, as a record of it does not tell whether this machine still can.
        """
        key = await asyncio.to_thread(self._witness_key, task)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if not is_fresh and (kept := find_record(key, Witness)) is not None:
                return kept
            try:
                verification, _ = await run_solution(task, self._options)
            except TooMuch:
                return Witness(reward=None, fault="too_much")
            verdict = await asyncio.to_thread(self._read, sample, task, verification)
            is_read = isinstance(verdict, Score) and not verification.was_late and not verification.has_died
            witness = Witness(
                reward=verdict.points if isinstance(verdict, Score) and is_read else None,
                shown=verification.shown,
                seconds=verification.seconds,
                fault=verification.fault or ("" if is_read else str(verdict.details.get("kind", ""))),
                was_cut=verification.was_cut,
            )
            if witness.reward == FULL:
                keep_record(key, witness)
            return witness

    def _witness_key(self, task: BoxTask) -> str:
        """Return a fingerprint of a task and of the box that it is run in."""
        image = task.image or self._options.image
        backend = choose_backend(self._options, needs_image=bool(image or task.build))
        return digest([task.digest(), image, self._options.network, backend])


def reward_of(rewards: Mapping[str, float]) -> float | None:
    """Return the reward that counts: `reward`, or the only one; None if there is none, or it is no share of full marks.

    >>> reward_of({"reward": 0.5, "speed": 3}), reward_of({"score": 1}), reward_of({"a": 1, "b": 0}), reward_of({"reward": 2})
    (0.5, 1, None, None)
    """
    value = rewards.get("reward", next(iter(rewards.values())) if len(rewards) == 1 else None)
    return value if value is not None and 0 <= value <= FULL else None


def _details(verification: Verification) -> dict[str, object]:
    details: dict[str, Any] = {"rewards": dict(verification.rewards or {}), "output": verification.output, "shown": len(verification.shown)}  # fmt: skip
    if verification.withheld:
        details["withheld"] = dict(verification.withheld)
    return details


def _reason(verification: Verification) -> Sentence:
    if verification.withheld:
        return say("{shown} tests passed; {count} files of the agent were withheld, such as {file}.", shown=len(verification.shown), count=len(verification.withheld), file=next(iter(verification.withheld)))  # fmt: skip
    return say("{shown} tests passed.", shown=len(verification.shown))


def _not_verified(reason: Sentence, kind: str, details: Mapping[str, object] = {}) -> Unscored:
    return Unscored(why="scorer_failed", reason=reason, details={**details, "kind": kind})
