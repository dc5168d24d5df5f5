"""Judge what an agent left, in a fresh box that it never saw.

All that the agent's box gives are the declared artefacts. They are unpacked in a fresh box of the same kind; then the tests
arrive and run, and the result is read by us. `separate` is that alone. `guarded`, the default, withholds files that steer
test runners, and believes a verdict only where the task's own solution has full marks, and a reward only where the tests are
shown that it showed.
"""

import hashlib
import io
import re
import tarfile
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.errors import EnvironmentDied
from proctor.core.sentence import Sentence, say
from proctor_benchmarks.boxes.archives import check_archive, read_files
from proctor_benchmarks.boxes.box_task import LOGS, SOLUTION, TESTS, BoxTask
from proctor_benchmarks.boxes.contract import Box, CommandResult, TooMuch
from proctor_benchmarks.boxes.opening import BoxOptions, open_box
from proctor_benchmarks.boxes.rewards import RewardFault, read_rewards

VerifierMode = Literal["guarded", "separate", "shared"]
REPORT_BYTES = 16 << 20
MODE = "PROCTOR_VERIFIER"  # tells a test script how it is run
_JSON, _TEXT, _LOG = _REPORTS = tuple(f"{LOGS}/{name}" for name in ("reward.json", "reward.txt", "log.txt"))
STEERING = re.compile(
    r"(^|/)(conftest\.py|pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|sitecustomize\.py|usercustomize\.py|[^/]*\.pth|[^/]*\.pyc"
    r"|__pycache__(/.*)?|\.git/hooks(/.*)?|\.git/config|\.npmrc|(jest|vitest|karma)\.config\.[^/]*|karma\.conf\.[^/]*|\.bashrc|\.profile|\.bash_profile)$"
)
_PYTEST_TABLE = re.compile(rb"^\s*\[tool\.pytest", re.MULTILINE)
_SHOWN = re.compile(
    r"^(?:(?:PASSED|XFAIL) (?P<pytest>\S.*)|ok \d+ (?:- )?(?P<tap>\S.*)|--- PASS: (?P<go>\S+).*|test (?P<cargo>\S+) \.\.\. ok)$",
    re.MULTILINE,
)


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What the verifier said.

    Attributes:
        rewards: by name; None where there are none to read, then `fault` says why.
        shown: the tests that its output shows as passed.
        log: what the tests wrote, where the benchmark grades that.
        withheld: what was not given to it, with the reason.
        has_died: True if the box did not survive the submitted code.
        seconds: how long the tests took.
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


async def verify(task: BoxTask, artefacts: bytes, options: BoxOptions, mode: VerifierMode) -> Verification:
    """Run the tests of a task on artefacts in a fresh box.

    Raises:
        EnvironmentFailed: the box could not be opened.
    """
    async with open_box(task, options) as box:
        unwanted = await _find_steering(box, task, artefacts) if mode == "guarded" else {}
        checked = check_archive(artefacts, task.artefacts, unwanted)
        pristine = await box.take(task.artefacts)
        try:
            await _replace_artefacts(box, task, pristine, checked.archive, keep=list(unwanted))
            await box.put(task.tests.archive(TESTS))
            result = await _run_tests(box, task, mode)
            await box.stop_processes()
            files = await _take_reports(box)
        except EnvironmentDied as error:
            return Verification(has_died=True, fault=str(error))
    withheld = {path: str(reason) for path, reason in checked.left_out.items()}
    return _conclude(task, result, files, withheld)


async def verify_in_place(box: Box, task: BoxTask) -> Verification:
    """Run the tests of a task in the box that the agent had, its processes alive: only to compare with the official harness."""
    await box.put(task.tests.archive(TESTS))
    result = await _run_tests(box, task, "shared")
    return _conclude(task, result, await _take_reports(box), {})


async def run_solution(task: BoxTask, options: BoxOptions) -> tuple[Verification, bytes]:
    """Return what the verifier says of the task's own solution, and the artefacts of that.

    Raises:
        EnvironmentFailed: a box could not be opened, or did not survive it.
    """
    async with open_box(task, options) as box:
        await box.put(task.solution.archive(SOLUTION))
        script = f"{SOLUTION}/{task.solution_script}"
        variables = {**task.variables, **task.solution_variables}
        await box.run(["sh", "-c", f"chmod +x {script}; exec {script}"], task.seconds, folder=task.folder, user=task.agent_user, variables=variables)  # fmt: skip
        await box.stop_processes()
        await collect(box, task)
        artefacts = await box.take(task.artefacts)
    return await verify(task, artefacts, options, "separate"), artefacts


async def collect(box: Box, task: BoxTask) -> CommandResult | None:
    """Run the command that puts what was done where it is taken from; None if the task has none."""
    if task.collect is None:
        return None
    return await box.run(["sh", "-c", task.collect], task.command_seconds, folder=task.folder)


async def _take_reports(box: Box) -> dict[str, bytes] | None:
    """Return the files that the tests wrote; None if they are more than is read."""
    try:
        return read_files(await box.take(_REPORTS, 2 * REPORT_BYTES), REPORT_BYTES)
    except TooMuch:
        return None


async def _run_tests(box: Box, task: BoxTask, mode: VerifierMode) -> CommandResult:
    script = f"{TESTS}/{task.test_script}"
    await box.run(["sh", "-c", f"mkdir -p {LOGS} && chmod 777 {LOGS} && chmod +x {script}"], 60)
    variables = {**task.variables, **task.verifier_variables, MODE: mode}
    return await box.run(
        [script], task.verifier_seconds, folder=task.folder, user=task.verifier_user, variables=variables
    )


async def _replace_artefacts(box: Box, task: BoxTask, pristine: bytes, archive: bytes, keep: Sequence[str]) -> None:
    """Put the agent's artefacts into the place of the box's own; of those that are withheld the box keeps its own."""
    await box.run(["rm", "-rf", "--", *task.artefacts], 60)
    await box.put(archive)
    if keep:
        own = check_archive(pristine, task.artefacts)
        others = [path for path in _hashes(own.archive) if path not in keep]
        await box.put(check_archive(own.archive, task.artefacts, {path: say("the agent's own counts") for path in others}).archive)  # fmt: skip


async def _find_steering(box: Box, task: BoxTask, artefacts: bytes) -> dict[str, Sentence]:
    """Return what of the artefacts steers test runners and is not the same in a fresh box."""
    own = _hashes(await box.take(task.artefacts))
    unwanted: dict[str, Sentence] = {}
    for path, (content_hash, has_table) in _hashes(artefacts).items():
        if (STEERING.search(path) or has_table) and own.get(path, ("", False))[0] != content_hash:
            unwanted[path] = say("it steers test runners")
    return unwanted


def _hashes(archive: bytes) -> dict[str, tuple[str, bool]]:
    """Return of each entry a fingerprint, and whether it is a project file with settings of pytest."""
    found: dict[str, tuple[str, bool]] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as source:
        for entry in source:
            if entry.isdir():
                continue
            content = source.extractfile(entry) if entry.isreg() else None
            data = content.read() if content is not None else b"\0" + entry.linkname.encode("utf-8", "replace")
            has_table = entry.name.endswith("pyproject.toml") and _PYTEST_TABLE.search(data) is not None
            found["/" + entry.name.lstrip("/")] = (hashlib.sha256(data).hexdigest(), has_table)
    return found


def _conclude(task: BoxTask, result: CommandResult, files: Mapping[str, bytes] | None, withheld: Mapping[str, str]) -> Verification:  # fmt: skip
    shown = tuple(dict.fromkeys(next(filter(None, match.groups())) for match in _SHOWN.finditer(result.output)))
    verification = Verification(
        shown=shown,
        withheld=withheld,
        output=result.output[-4_000:],
        was_late=result.was_late,
        seconds=result.seconds,
    )
    if result.was_late:
        return verification
    if task.verdict == "exit code":
        return msgspec.structs.replace(verification, rewards={"reward": float(result.code == 0)})
    if files is None:
        return msgspec.structs.replace(verification, fault="too_much")
    if task.verdict == "log":
        return msgspec.structs.replace(verification, log=files.get(_LOG, b"").decode("utf-8", "replace"))
    try:
        rewards = read_rewards(files.get(_JSON), files.get(_TEXT))
    except RewardFault as fault:
        return msgspec.structs.replace(verification, fault=fault.kind)
    return msgspec.structs.replace(verification, rewards=rewards)
