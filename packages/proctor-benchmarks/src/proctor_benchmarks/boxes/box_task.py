"""Describe a task that is done in a box and judged in another one."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from proctor.core.digest import digest
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.boxes.archives import FileSet, folder_digest
from proctor_benchmarks.boxes.contract import BoxLimits, Seconds

META = "box_task"
SETUP = "setup.sh"  # in the files of the environment: run before the agent begins, and not shown to it
TESTS, SOLUTION, LOGS = "/tests", "/solution", "/logs/verifier"
PUBLISHED = "/logs/artifacts"  # where tasks and their collecting commands put what goes to the verifier
PLANTED = "AUDIT_HIDDEN"  # the name of a file, and of a variable
Verdict = Literal["exit code", "rewards", "log"]


class BoxTask(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is asked for, the box that it is given, and how its work is judged.

    Attributes:
        image: the image of both boxes, or the folder of a Dockerfile (`build`); without either the box is made of the
            programs of this machine.
        build_leaves_out: names in that folder that no image is to have, such as tests and solution.
        files: what is in the working folder at the beginning.
        artefacts: the absolute paths that are taken to the verifier; nothing else the agent did is.
        tests: the files of the verifier, with `test.sh`; `solution` those of a right solution, with `solve.sh`.
        verdict: that of `test.sh` is its exit code, the reward files that it writes, or a log that the benchmark grades.
        collect: a command that is run in the agent's box when the agent is done, before its files are taken.
        watched: absolute paths that Proctor looks at twice when the agent is done, before its processes are ended: the tests
            read in `PROCTOR_CHANGING` which of them still change: all, while a process of the task itself has not ended.
        agent_user, verifier_user: names or numbers of users in the box.
        hosts: what the agent's box may reach where the user allows what tasks list (`network=task`).
        seconds: for the agent; the others for one command and for the verifier.
    """

    instruction: str
    image: str | None = None
    build: str | None = None
    build_leaves_out: tuple[str, ...] = ()
    folder: str = "/app"
    files: FileSet = FileSet()
    variables: Mapping[str, str] = {}
    artefacts: tuple[str, ...] = ("/app",)
    tests: FileSet = FileSet()
    solution: FileSet = FileSet()
    test_script: str = "test.sh"
    solution_script: str = "solve.sh"
    verdict: Verdict = "exit code"
    collect: str | None = None
    watched: tuple[str, ...] = ()
    verifier_variables: Mapping[str, str] = {}
    solution_variables: Mapping[str, str] = {}
    agent_user: str | None = None
    verifier_user: str | None = None
    limits: BoxLimits = BoxLimits()
    seconds: Seconds = 900.0
    command_seconds: Seconds = 120.0
    verifier_seconds: Seconds = 600.0
    healthcheck: str | None = None
    hosts: tuple[str, ...] = ()

    def digest(self) -> str:
        """Return a fingerprint of the task, with the content of its files."""
        files = {name: getattr(self, name).digest() for name in ("files", "tests", "solution")}
        build = None if self.build is None else folder_digest(Path(self.build), self.build_leaves_out)
        others = replace(self, files=FileSet(), tests=FileSet(), solution=FileSet(), build=build)
        written = msgspec.to_builtins(others)
        if not self.hosts:
            del written["hosts"]  # so that other tasks have the fingerprints of earlier releases
        return digest([written, files])


def sample_of(id: str, task: BoxTask, tags: Mapping[str, str] = {}) -> Sample:
    """Return the sample of a task; the agent is shown its instruction alone."""
    return Sample.ask(id, task.instruction, tags=tags, meta={META: msgspec.to_builtins(task)})


def task_of(sample: Sample) -> BoxTask | None:
    """Return the task of a sample; None if it has none."""
    written: Any = sample.meta.get(META)
    return None if written is None else msgspec.convert(written, BoxTask)


def plant(sample: Sample, text: str) -> Sample:
    """Return a sample with a text where its tests and solution are kept: files, variables, and copies of the solution elsewhere."""
    task = task_of(sample)
    if task is None:
        return sample
    solution = task.solution.contents().get(task.solution_script)
    copies = [
        name for name, content in task.files.contents().items() if solution is not None and content[0] == solution[0]
    ]
    planted = replace(
        task,
        tests=_with_texts(task.tests, [PLANTED], text),
        solution=_with_texts(task.solution, [PLANTED], text),
        files=_with_texts(task.files, [f"{name}.{PLANTED}" for name in copies], text),
        verifier_variables={**task.verifier_variables, PLANTED: text},
        solution_variables={**task.solution_variables, PLANTED: text},
    )
    return replace(sample, meta={**sample.meta, META: msgspec.to_builtins(planted)})


def _with_texts(files: FileSet, names: Sequence[str], text: str) -> FileSet:
    return replace(files, texts={**files.texts, **dict.fromkeys(names, text)})


def oracle(sample: Sample) -> Trajectory:
    """Return the calls by which the solution of a task is put into the box and run."""
    task = task_of(sample)
    if task is None or not task.solution:
        return Trajectory.of("")
    calls = [_writing(f"{SOLUTION}/{name}", data) for name, (data, _) in task.solution.contents().items()]
    exports = "".join(f"export {name}={_quoted(value)}; " for name, value in task.solution_variables.items())
    script = f"{SOLUTION}/{task.solution_script}"
    command = f"chmod +x {script}; {exports}{script}"
    calls.append(ToolCall(name="run", arguments={"command": command, "seconds": task.seconds}))
    steps = [Step(message=Message(role="assistant", parts=(replace(call, id=f"call_{number}"),))) for number, call in enumerate(calls)]  # fmt: skip
    return Trajectory(steps=(*steps, Step(message=Message.of("assistant", "Done."))), tools="native")


def _writing(path: str, data: bytes) -> ToolCall:
    try:
        arguments = {"path": path, "content": data.decode()}
    except UnicodeDecodeError:
        arguments = {"path": path, "content": base64.b64encode(data).decode("ascii"), "encoding": "base64"}
    return ToolCall(name="write_file", arguments=arguments)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
