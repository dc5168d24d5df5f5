"""Judge what an agent left, in a fresh box that it never saw.

All that the agent's box gives are the declared artefacts. They are unpacked in a fresh box of the same kind; then the tests
arrive and run, and the result is read by us. `separate` is that alone. `guarded`, the default, withholds files that steer
test runners, and believes a verdict only where the task's own solution has full marks, and a reward only where the tests are
shown that it showed.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.core.errors import EnvironmentDied, EnvironmentFailed
from proctor.core.sentence import say
from proctor_benchmarks.boxes.archives import check_archive, names_of, read_files
from proctor_benchmarks.boxes.box_task import LOGS, SOLUTION, TESTS, BoxTask, Verdict
from proctor_benchmarks.boxes.contract import ARTEFACT_BYTES, Box, CommandResult, TooMuch
from proctor_benchmarks.boxes.opening import BoxOptions, open_agent_box, open_box
from proctor_benchmarks.boxes.rewards import RewardFault, read_rewards
from proctor_benchmarks.boxes.shown_tests import find_shown_tests
from proctor_benchmarks.boxes.steering import find_steering

VerifierMode = Literal["guarded", "separate", "shared"]
REPORT_BYTES = 16 << 20
OUTPUT_BYTES = 1 << 20  # of the beginning, and again of the end, of what tests print
MODE, CHANGING = "PROCTOR_VERIFIER", "PROCTOR_CHANGING"  # tell a test script how it is run, and what still changed
WATCH_SECONDS = 1.0
_JSON, _TEXT, _LOG = (f"{LOGS}/{name}" for name in ("reward.json", "reward.txt", "log.txt"))
_REPORTS: Mapping[Verdict, Sequence[str]] = {"exit code": (), "rewards": (_JSON, _TEXT), "log": (_LOG,)}


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What the verifier said.

    Attributes:
        rewards: by name; None where there are none to read, then `fault` says why.
        shown: the tests that its output shows as passed.
        log: what the tests wrote, where the benchmark grades that.
        withheld: what was not given to it, with the reason.
        has_died: True if the box did not survive the submitted code.
        seconds: how long the tests took.
        was_cut: True if they printed more than is read, so that `shown` may lack some.
    """

    rewards: Mapping[str, float] | None = None
    fault: str = ""
    shown: tuple[str, ...] = ()
    withheld: Mapping[str, str] = {}
    output: str = ""
    log: str = ""
    was_late: bool = False
    has_died: bool = False
    seconds: float = 0.0
    was_cut: bool = False


async def verify(task: BoxTask, artefacts: bytes, options: BoxOptions, mode: VerifierMode, changing: Sequence[str] = ()) -> Verification:  # fmt: skip
    """Run the tests of a task on artefacts in a fresh box; in another one where that does not survive the submitted code.

    Args:
        changing: which of the watched files still changed when the agent was done.

    Raises:
        EnvironmentFailed: a box could not be opened or filled, or the task's own files are too large.
    """
    task = _tell_changing(task, changing)
    verification = await _verify_once(task, artefacts, options, mode)
    return await _verify_once(task, artefacts, options, mode) if verification.has_died else verification


def _tell_changing(task: BoxTask, changing: Sequence[str]) -> BoxTask:
    return replace(task, verifier_variables={**task.verifier_variables, CHANGING: "\n".join(changing)})


async def _verify_once(task: BoxTask, artefacts: bytes, options: BoxOptions, mode: VerifierMode) -> Verification:
    limits = replace(task.limits, output_bytes=max(task.limits.output_bytes, OUTPUT_BYTES))
    async with open_box(replace(task, limits=limits), options) as box:
        pristine = await take_pristine(box, task)
        unwanted = find_steering(pristine, artefacts, list(task.tests.contents())) if mode == "guarded" else {}
        checked = check_archive(artefacts, task.artefacts, unwanted)
        await _replace_artefacts(box, task, pristine, checked.archive, keep=list(unwanted))
        await box.put(task.tests.archive(TESTS))
        try:
            await _prepare_tests(box, task)
            result = await _run_tests(box, task, mode)
            await box.stop_processes()
            files = await _take_reports(box, task)
        except EnvironmentDied as error:
            return Verification(has_died=True, fault=str(error))
    withheld = {path: str(reason) for path, reason in checked.left_out.items()}
    return _conclude(task, result, files, withheld)


async def refuse_large_image(box: Box, task: BoxTask) -> None:
    """Find out before an agent begins that no work could be taken to the verifier.

    Raises:
        EnvironmentFailed: what a fresh box has at the paths of the artefacts is already more than may be taken.
    """
    measured = await box.run(["du", "-scb", *task.artefacts], task.command_seconds)
    words = measured.output.split("\n")[-2].split() if measured.output.count("\n") else []
    if words and words[0].isdigit() and int(words[0]) > ARTEFACT_BYTES:  # a guess, as folders count too
        await take_pristine(box, task)


async def take_pristine(box: Box, task: BoxTask) -> bytes:
    """Return what a fresh box has at the paths of the artefacts.

    Raises:
        EnvironmentFailed: that is already more than may be taken, so that no work can be.
    """
    try:
        return await box.take(task.artefacts)
    except TooMuch:
        raise EnvironmentFailed("The task's own files at {paths} are more than the {megabytes} MB that may be taken to the verifier. Declare less of them (artifacts in task.toml).", kind="image_too_large", paths=", ".join(task.artefacts), megabytes=ARTEFACT_BYTES >> 20) from None  # fmt: skip


async def verify_in_place(box: Box, task: BoxTask, changing: Sequence[str] = ()) -> Verification:
    """Run the tests of a task in the box that the agent had, its processes alive: only to compare with the official harness."""
    task = _tell_changing(task, changing)
    await box.put(task.tests.archive(TESTS))
    await box.run(["sh", "-c", _PREPARE.format(script=task.test_script)], 60)
    result = await _run_tests(box, task, "shared")
    return _conclude(task, result, await _take_reports(box, task), {})


async def run_solution(task: BoxTask, options: BoxOptions) -> tuple[Verification, bytes]:
    """Return what the verifier says of the task's own solution, and the artefacts of that.

    Raises:
        EnvironmentFailed: a box could not be opened, or did not survive it.
    """
    async with open_agent_box(task, options) as opened:
        box = opened.box
        background = await list_background(box, task)
        await box.put(task.solution.archive(SOLUTION))
        script = f"{SOLUTION}/{task.solution_script}"
        variables = {**opened.variables, **task.variables, **task.solution_variables}
        await box.run(["sh", "-c", f"chmod +x {script}; exec {script}"], task.seconds, folder=task.folder, user=task.agent_user, variables=variables)  # fmt: skip
        changing = await find_changing(box, task, background)
        await box.stop_processes()
        collected = await collect(box, task)
        if collected is not None and collected.code != 0:
            return Verification(fault="collect_failed", output=collected.output), b""
        artefacts = await box.take(task.artefacts)
    return await verify(task, artefacts, options, "separate", changing), artefacts


async def survives_as_it_is(task: BoxTask, options: BoxOptions) -> bool:
    """True if a box survives the tests where nobody worked on the task."""
    async with open_box(task, options) as box:
        pristine = await take_pristine(box, task)
    return not (await verify(task, pristine, options, "separate")).has_died


async def list_background(box: Box, task: BoxTask) -> frozenset[str]:
    """Return the processes that a task with watched files has left running for the agent to end."""
    return await box.list_processes() if task.watched else frozenset()


async def find_changing(box: Box, task: BoxTask, background: frozenset[str]) -> list[str]:
    """Return which of the watched files still change, or are too large to tell, although the agent is done.

    All of them do while a process of the task itself has not ended: one that is stopped or hindered would write again.
    """
    if not task.watched:
        return []
    before = [await _look_at(box, path) for path in task.watched]
    await asyncio.sleep(WATCH_SECONDS)
    after = [await _look_at(box, path) for path in task.watched]
    if background & await box.list_processes():  # a little later, as children end after their parent
        return list(task.watched)
    return [path for path, first, then in zip(task.watched, before, after, strict=True) if first is None or first != then]  # fmt: skip


async def _look_at(box: Box, path: str) -> bytes | None:
    try:
        return await box.take([path])
    except TooMuch:
        return None


async def collect(box: Box, task: BoxTask) -> CommandResult | None:
    """Run the command that puts what was done where it is taken from; None if the task has none."""
    if task.collect is None:
        return None
    return await box.run(["sh", "-c", task.collect], task.command_seconds, folder=task.folder)


async def _take_reports(box: Box, task: BoxTask) -> dict[str, bytes] | None:
    """Return the files that the tests wrote; None if they are more than is read."""
    try:
        return read_files(await box.take(_REPORTS[task.verdict], 2 * REPORT_BYTES), REPORT_BYTES)
    except TooMuch:
        return None


_PREPARE = f"mkdir -p {LOGS} && chmod 777 {LOGS} && chmod +x {TESTS}/{{script}}"


async def _prepare_tests(box: Box, task: BoxTask) -> None:
    """Make the folder of the reports, without what an image or an artefact has there.

    Raises:
        EnvironmentDied: it cannot be made.
    """
    command = f'mkdir -p "$0"; rm -rf {LOGS} && {_PREPARE.format(script=task.test_script)}'
    prepared = await box.run(["sh", "-c", command, task.folder], 60)
    if prepared.code != 0:
        raise EnvironmentDied("The box failed: {error}", kind="verifier_folder", error=prepared.output[-800:] or "-")


async def _run_tests(box: Box, task: BoxTask, mode: VerifierMode) -> CommandResult:
    """Run the tests.

    Raises:
        EnvironmentDied: they did not begin, whatever the exit code, or the box did not survive them.
    """
    begun = f"{secrets.token_hex(16)}\n"
    command = ["sh", "-c", 'echo "$0"; exec "$@"', begun.strip(), f"{TESTS}/{task.test_script}"]
    variables = {**task.variables, **task.verifier_variables, MODE: mode}
    result = await box.run(command, task.verifier_seconds, folder=task.folder, user=task.verifier_user, variables=variables)  # fmt: skip
    if not result.was_late and not result.head.startswith(begun):  # of late ones an engine may have lost the output
        raise EnvironmentDied("The box failed: {error}", kind="verifier_start", error=result.output[-800:] or "-")
    return replace(result, head=result.head.removeprefix(begun))


async def _replace_artefacts(box: Box, task: BoxTask, pristine: bytes, archive: bytes, keep: Sequence[str]) -> None:
    """Put the agent's artefacts into the place of the box's own; of those that are withheld the box keeps its own."""
    removed = await box.run(["sh", "-c", 'rm -rf -- "$@"; true', "sh", *task.artefacts], 60)
    if removed.code != 0:  # nothing of the agent's is in the box yet
        raise EnvironmentFailed("The box failed: {error}", kind="engine", error=removed.output[-800:] or "-")
    await box.put(archive)
    if keep:
        own = check_archive(pristine, task.artefacts)
        kept = frozenset(keep)
        others = {path: say("the agent's own counts") for path in names_of(own.archive) if kept.isdisjoint((path, *map(str, PurePosixPath(path).parents)))}  # fmt: skip
        await box.put(check_archive(own.archive, task.artefacts, others).archive)


def _conclude(task: BoxTask, result: CommandResult, files: Mapping[str, bytes] | None, withheld: Mapping[str, str]) -> Verification:  # fmt: skip
    verification = Verification(
        shown=find_shown_tests(result.output),
        withheld=withheld,
        output=result.output[-4_000:],
        was_late=result.was_late,
        seconds=result.seconds,
        was_cut=result.dropped_bytes > 0,
    )
    if result.was_late:
        return verification
    if task.verdict == "exit code":
        return replace(verification, rewards={"reward": float(result.code == 0)})
    if files is None:
        return replace(verification, fault="too_much")
    if task.verdict == "log":
        log = files.get(_LOG)
        return replace(verification, fault="no_log") if log is None else replace(verification, log=log.decode("utf-8", "replace"))  # fmt: skip
    try:
        rewards = read_rewards(files.get(_JSON), files.get(_TEXT))
    except RewardFault as fault:
        return replace(verification, fault=fault.kind)
    return replace(verification, rewards=rewards)
