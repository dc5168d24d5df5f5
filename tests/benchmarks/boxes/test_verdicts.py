"""What becomes of a verifier's run: a failure that the task's own solution does not show is the agent's, others are nobody's."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.boxes import blobs, verifier_scorer
from proctor_benchmarks.boxes.archives import FileSet, archive_of
from proctor_benchmarks.boxes.box_task import BoxTask, sample_of
from proctor_benchmarks.boxes.opening import BoxOptions
from proctor_benchmarks.boxes.verifier_scorer import VerifierScorer
from proctor_benchmarks.boxes.verifying import Verification, VerifierMode

TASK = BoxTask(instruction="Do it.", tests=FileSet(texts={"test.sh": "#!/bin/sh\n"}), solution=FileSet(texts={"solve.sh": "#!/bin/sh\n"}), verdict="rewards")  # fmt: skip
LOG_TASK = BoxTask(instruction="Do it.", tests=TASK.tests, solution=TASK.solution, verdict="log")
UNSOLVED = BoxTask(instruction="Do it.", tests=TASK.tests, verdict="rewards")
RIGHT = Verification(rewards={"reward": 1.0}, shown=("adds",), seconds=1.0, log="all passed")


@pytest.fixture(autouse=True)
def own_blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "data_folder", lambda: tmp_path)


def grade(sample: Sample, log: str) -> Score | Unscored:
    if log == "all passed":
        return Score(points=1)
    if log == "some failed":
        return Score(points=0)
    return Unscored(why="scorer_failed", reason=say("The tests could not run: {reason}.", reason=log), details={"kind": log})  # fmt: skip


async def judge(
    monkeypatch: pytest.MonkeyPatch, verification: Verification, task: BoxTask = TASK, *, solution: Verification = RIGHT, mode: VerifierMode = "guarded", left: Mapping[str, object] = {}
) -> Score | Unscored:  # fmt: skip
    """Return the verdict where the verifier says one thing of the agent's work and another of the task's own solution."""

    async def verify(*_: object) -> Verification:
        return verification

    async def run_solution(*_: object) -> tuple[Verification, bytes]:
        return solution, b""

    async def survives_as_it_is(*_: object) -> bool:
        return not solution.has_died

    monkeypatch.setattr(verifier_scorer, "verify", verify)
    monkeypatch.setattr(verifier_scorer, "survives_as_it_is", survives_as_it_is)
    monkeypatch.setattr(verifier_scorer, "run_solution", run_solution)
    monkeypatch.setattr(verifier_scorer, "choose_backend", lambda *_, **__: "bubblewrap")
    scorer = VerifierScorer(BoxOptions(), mode, grade if task.verdict == "log" else None)
    state = {"artefacts": blobs.keep_blob(archive_of({})), **left}
    return await scorer(sample_of("task", task), Trajectory(state=state))


FAULTS = {
    "killed before the reward": (TASK, Verification(fault="RewardFileNotFoundError"), "no_reward"),
    "no share of full marks": (TASK, Verification(rewards={"reward": 2.0}), "no_reward"),
    "reports without an end": (TASK, Verification(fault="too_much"), "no_reward"),
    "an endless loop": (TASK, Verification(was_late=True), "slow_solution"),
    "an endless loop in a patch": (LOG_TASK, Verification(was_late=True), "slow_solution"),
    "a patch that prints Killed": (LOG_TASK, Verification(log="out_of_memory"), "no_reward"),
    "a patch that removes the log": (LOG_TASK, Verification(fault="no_log"), "no_reward"),
    "the end of two boxes": (TASK, Verification(has_died=True), "killed_verifier"),
    "more output than is read": (TASK, Verification(rewards={"reward": 1.0}, was_cut=True), "output_too_long"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_failure_that_the_solution_does_not_show_is_the_agents(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, verification, error_class = FAULTS[name]
    verdict = await judge(monkeypatch, verification, task)
    assert isinstance(verdict, Score), verdict
    assert (verdict.points, verdict.details["error_class"]) == (0, error_class)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_failure_that_the_solution_shows_too_gives_no_verdict(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, verification, _ = FAULTS[name]
    solution = replace(verification, shown=RIGHT.shown)
    assert isinstance(await judge(monkeypatch, verification, task, solution=solution), Unscored)


@pytest.mark.parametrize("name", [name for name in FAULTS if name != "more output than is read"])
async def test_a_failure_is_the_agents_only_if_the_solution_does_not_show_it_now(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, verification, _ = FAULTS[name]
    right = replace(RIGHT, shown=())
    assert isinstance(await judge(monkeypatch, right, task, mode="guarded"), Score)  # its solution is recorded
    broken = Verification(has_died=True)
    assert isinstance(await judge(monkeypatch, verification, task, solution=broken), Unscored)
    slow = replace(RIGHT, seconds=task.verifier_seconds / 2)
    if verification.was_late:
        assert isinstance(await judge(monkeypatch, verification, task, solution=slow), Unscored)


async def test_the_end_of_two_boxes_of_a_task_without_solution_is_the_agents_if_one_without_its_work_survives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dead = Verification(has_died=True)
    verdict = await judge(monkeypatch, dead, UNSOLVED)
    assert isinstance(verdict, Score)
    assert (verdict.points, verdict.details["error_class"]) == (0, "killed_verifier")
    assert isinstance(await judge(monkeypatch, dead, UNSOLVED, solution=dead), Unscored)


@pytest.mark.parametrize(
    ("reward", "shown", "points"),
    [(0.5, ("a", "b"), 0.5), (0.504, ("a", "b"), 0.504), (0.25, ("a", "b"), 0.25), (0.75, ("a", "b"), 0.5), (0.9, (), 0.0), (0.9, ("x",), 0.0), (0.7, ("a", "b", "c", "d"), 0.7), (1.0, ("a", "b", "c"), 0.0), (1.0, ("a", "b", "c", "d", "e"), 1.0)],
)  # fmt: skip
async def test_a_part_of_the_points_counts_as_far_as_tests_are_shown(
    reward: float, shown: tuple[str, ...], points: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    solution = replace(RIGHT, shown=("a", "b", "c", "d"))
    part = Verification(rewards={"reward": reward}, shown=shown)
    verdict = await judge(monkeypatch, part, solution=solution)
    assert isinstance(verdict, Score)
    assert (verdict.points, verdict.details.get("error_class")) == (points, None if points == reward else "tests_not_shown")  # fmt: skip
    cut = await judge(monkeypatch, replace(part, was_cut=True), solution=solution)
    assert isinstance(cut, Score)
    assert (cut.points, cut.details.get("error_class")) == (points, None if points == reward else "output_too_long")


async def test_a_failure_without_a_solution_to_compare_with_gives_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    for verification in (Verification(fault="RewardFileNotFoundError"), Verification(was_late=True)):
        assert isinstance(await judge(monkeypatch, verification, UNSOLVED), Unscored)


@pytest.mark.parametrize("task", [TASK, LOG_TASK])
async def test_a_zero_is_compared_with_the_solution_too(task: BoxTask, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Verification(rewards={"reward": 0.0}, log="some failed")
    zero = await judge(monkeypatch, wrong, task, solution=wrong, mode="separate")
    assert isinstance(zero, Score)
    broken = await judge(monkeypatch, wrong, task, solution=wrong)
    assert isinstance(broken, Unscored)
    assert broken.details["kind"] == "solution_fails"
    verdict = await judge(monkeypatch, wrong, task)
    assert isinstance(verdict, Score)
    assert (verdict.points, "error_class" in verdict.details) == (0, False)


@pytest.mark.parametrize("solution", [RIGHT, Verification(fault="collect_failed")])
async def test_work_that_cannot_be_collected_is_a_zero_where_that_of_the_solution_can(
    solution: Verification, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {"collect_failed": "fatal: not a git repository"}
    verdict = await judge(monkeypatch, RIGHT, LOG_TASK, solution=solution, left=left)
    if solution is RIGHT:
        assert isinstance(verdict, Score)
        assert (verdict.points, verdict.details["error_class"]) == (0, "collect_failed")
    else:
        assert isinstance(verdict, Unscored)
        assert verdict.details["kind"] == "collect_failed"


async def test_the_solution_is_run_again_for_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier_scorer, "choose_backend", lambda *_, **__: "docker")
    (tmp_path / "Dockerfile").write_text("FROM debian\n", "utf-8")
    built = replace(TASK, build=str(tmp_path))
    keys = [VerifierScorer(BoxOptions(image=image))._witness_key(TASK) for image in ("a", "b")]
    keys.append(VerifierScorer(BoxOptions())._witness_key(built))
    (tmp_path / "Dockerfile").write_text("FROM alpine\n", "utf-8")
    keys.append(VerifierScorer(BoxOptions())._witness_key(built))
    assert len(set(keys)) == 4
