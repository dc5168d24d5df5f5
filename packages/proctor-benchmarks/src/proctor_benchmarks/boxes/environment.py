"""Give an agent a box: a shell and files, which are taken to the verifier when its turn is over."""

import base64
import binascii
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec

from proctor.core.around import around
from proctor.core.declared import Blame
from proctor.core.digest import digest_bytes
from proctor.core.errors import BadInput, EnvironmentDied, EnvironmentFailed, EpisodeOver
from proctor.core.sample import Tool, ToolCall, ToolResult
from proctor_benchmarks.boxes.archives import archive_of, check_archive, read_files
from proctor_benchmarks.boxes.blobs import keep_blob
from proctor_benchmarks.boxes.box_task import BoxTask
from proctor_benchmarks.boxes.contract import ARTEFACT_BYTES, Box, CommandResult, TooMuch
from proctor_benchmarks.boxes.opening import AgentBox, BoxOptions, open_agent_box
from proctor_benchmarks.boxes.verifying import (
    VerifierMode,
    collect,
    find_changing,
    list_background,
    refuse_large_image,
    verify_in_place,
)

SHARE_OF_TIME = 0.9  # of the time limit of a sample, so that what is there by then can still be judged
TEXT_BYTES, STATE_BYTES = 64 << 10, 512 << 10  # of one file, and of all, that are texts in the state
PROGRAM_MISSING = ("agent_install", "forwarder")
SHELL = 'if command -v bash >/dev/null; then exec bash -c "$0"; else exec sh -c "$0"; fi'


class RunArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `run`."""

    command: str
    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None


class ReadArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `read_file`."""

    path: str


class WriteArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of `write_file`; `encoding` is `utf-8` or `base64`."""

    path: str
    content: str
    encoding: str = "utf-8"


_PATH = {"type": "string", "description": "an absolute path, or one in the working folder"}
TOOLS = (
    Tool(
        name="run",
        description="Run a shell command in the working folder and return what it prints. Each command begins a new shell; files and background processes stay.",
        parameters={
            "type": "object",
            "properties": {"command": {"type": "string"}, "seconds": {"type": "number", "description": "time limit"}},
            "required": ["command"],
        },
    ),
    Tool(name="read_file", description="Return the text of a file.", parameters={"type": "object", "properties": {"path": _PATH}, "required": ["path"]}),
    Tool(
        name="write_file",
        description="Write a file; missing folders are made.",
        parameters={
            "type": "object",
            "properties": {"path": _PATH, "content": {"type": "string"}, "encoding": {"enum": ["utf-8", "base64"]}},
            "required": ["path", "content"],
        },
    ),
)  # fmt: skip


class BoxEnvironment:
    """The box of one attempt.

    Args:
        mode: how a verifier judges what was done; None where none does: then the files below the artefacts are in the state.
        blame: whose failure it is when the box dies after a call, while a fresh one is sound.

    Attributes:
        task, box: for agents that live in the box.
        notes: what an agent in the box reports, for the state.
        end_time: the agent's wall-clock limit, by `time.monotonic`.
        is_probe: True for the first box of a run whose boxes all have the same programs.
    """

    tools: Sequence[Tool] = TOOLS

    def __init__(
        self, task: BoxTask, options: BoxOptions, mode: VerifierMode | None = "guarded", blame: Blame = "agent"
    ) -> None:
        self.task = task
        self._blame = blame
        self._options = options
        self._mode = mode
        self._stack = AsyncExitStack()
        self._opened: AgentBox | None = None
        self._was_looked_at = False
        self._background: frozenset[str] = frozenset()
        self._commands = 0
        self.notes: dict[str, Any] = {}
        self.end_time = 0.0
        self.is_probe = False

    async def __aenter__(self) -> Self:
        mounted = {self.programs: self.programs} if self.programs is not None else {}
        try:
            with self.blaming_programs():
                opened = await self._stack.enter_async_context(open_agent_box(self.task, self._options, mounted))
            self._opened = opened
            if self._mode not in ("shared", None):
                await refuse_large_image(opened.box, self.task)
            self._background = await list_background(opened.box, self.task)
        except BaseException:
            await self._stack.aclose()
            raise
        self.end_time = time.monotonic() + min(self.task.seconds, around.get().limits.seconds * SHARE_OF_TIME)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._stack.__aexit__(*raised)

    @property
    def opened(self) -> AgentBox:
        """Return the box with what leads out of it."""
        assert self._opened is not None, "the environment was not entered"
        return self._opened

    @property
    def box(self) -> Box:
        return self.opened.box

    @property
    def door(self) -> Path:
        return self.opened.door

    @property
    def programs(self) -> str | None:
        """Return the folder with the programs of a coding agent, as the box sees it."""
        return None if self._options.programs is None else str(Path(self._options.programs).expanduser().absolute())

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the variables of commands in the box."""
        return {**self.opened.variables, **self.task.variables}

    @property
    def seconds_left(self) -> float:
        """Return what is left of the agent's time."""
        return max(self.end_time - time.monotonic(), 0.1)

    async def call(self, call: ToolCall) -> ToolResult:
        """Run a tool in the box.

        Raises:
            EpisodeOver: the agent's time is over.
        """
        left = self.end_time - time.monotonic()
        if left <= 0:
            raise EpisodeOver("time")
        with self._blamed():
            return await self._call(call, left)

    @contextmanager
    def blaming_programs(self) -> Iterator[None]:
        """End the run for a program that is missing in the first box, where it would be missing in all."""
        try:
            yield
        except EnvironmentFailed as failure:
            if self.is_probe and failure.kind in PROGRAM_MISSING:
                raise BadInput(failure.sentence) from failure
            raise

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """Turn the death of the box into a failure of the environment where the agent is not to blame for it."""
        try:
            yield
        except EnvironmentDied as failure:
            if self._blame == "agent":
                raise
            raise EnvironmentFailed(failure.sentence, kind=failure.kind) from failure

    async def _call(self, call: ToolCall, left: float) -> ToolResult:
        if call.raw is not None:
            return _result(call, "The arguments are no JSON object.", is_error=True)
        try:
            match call.name:
                case "run":
                    return _result(call, show(await self._run(msgspec.convert(call.arguments, RunArguments), left)))
                case "read_file":
                    return await self._read(call, msgspec.convert(call.arguments, ReadArguments).path)
                case "write_file":
                    return await self._write(call, msgspec.convert(call.arguments, WriteArguments))
        except msgspec.ValidationError as error:
            return _result(call, str(error), is_error=True)
        return _result(call, f"There is no tool {call.name}.", is_error=True)

    async def state(self) -> Mapping[str, object]:
        """Return how the box is run; after a turn also what was taken out of it, when all its processes have ended."""
        box = self.box
        state: dict[str, object] = {
            "backend": box.backend,
            "not_held": list(box.not_held),
            **({"image": box.image} if box.image else {}),
            "commands": self._commands,
            **({"network": hosts.counts()} if (hosts := self.opened.hosts) is not None else {}),
            **self.notes,
        }
        if self._mode is None:
            with self._blamed():
                return {**state, "files": await self._files()}
        if not self._was_looked_at:
            self._was_looked_at = True
            return state
        changing = await find_changing(box, self.task, self._background)
        if self.task.watched:
            state["changing"] = changing
        if self._mode == "shared":
            return {**state, "verification": msgspec.to_builtins(await verify_in_place(box, self.task, changing))}
        await box.stop_processes()
        collected = await collect(box, self.task)
        if collected is not None and collected.code != 0:
            return {**state, "collect_failed": show(collected)[-2_000:]}
        try:
            archive = await box.take(self.task.artefacts)
        except TooMuch:
            return {**state, "too_much": True}
        checked = check_archive(archive, self.task.artefacts)
        state["artefacts"] = keep_blob(checked.archive)
        if checked.left_out:
            state["left_out"] = {path: str(reason) for path, reason in checked.left_out.items()}
        return state

    async def _files(self) -> Mapping[str, object] | str:
        """Return the files below the artefacts by path: short texts, and of others the size and a digest."""
        try:
            archive = await self.box.take(self.task.artefacts)
        except TooMuch:
            return "too much"
        left, files = STATE_BYTES, dict[str, object]()
        for path, data in sorted(read_files(archive, ARTEFACT_BYTES).items()):
            text = _text_of(data) if len(data) <= min(left, TEXT_BYTES) else None
            left -= 0 if text is None else len(data)
            files[path] = {"bytes": len(data), "digest": digest_bytes(data)} if text is None else text
        return files

    async def _run(self, wanted: RunArguments, left: float) -> CommandResult:
        self._commands += 1
        seconds = min(wanted.seconds or self.task.command_seconds, left)
        task = self.task
        return await self.box.run(["sh", "-c", SHELL, wanted.command], seconds, folder=task.folder, user=task.agent_user, variables=self.variables)  # fmt: skip

    async def _read(self, call: ToolCall, path: str) -> ToolResult:
        where = self._absolute(path)
        command = ["sh", "-c", 'cat -- "$0"', where]
        result = await self.box.run(
            command, self.task.command_seconds, folder=self.task.folder, user=self.task.agent_user
        )
        return _result(call, show(result), is_error=result.code != 0)

    async def _write(self, call: ToolCall, wanted: WriteArguments) -> ToolResult:
        try:
            data = base64.b64decode(wanted.content, validate=True) if wanted.encoding == "base64" else wanted.content.encode("utf-8", "replace")  # fmt: skip
        except binascii.Error as error:
            return _result(call, f"content: {error}", is_error=True)
        where = self._absolute(wanted.path)
        await self.box.put(archive_of({f"{_INBOX[1:]}/content": (data, 0o644)}, [_INBOX]))
        script = f'mkdir -p -- "$(dirname -- "$0")" && cat {_INBOX}/content > "$0"'
        result = await self.box.run(["sh", "-c", script, where], self.task.command_seconds, folder=self.task.folder, user=self.task.agent_user)  # fmt: skip
        return _result(call, show(result) or f"wrote {len(data)} bytes", is_error=result.code != 0)

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.task.folder}/{path}"


_INBOX = "/run/proctor"


def _text_of(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def show(result: CommandResult) -> str:
    """Return what an agent reads of a command: its output, and how it ended if not well."""
    notes = []
    if result.was_late:
        notes.append(f"[timed out after {result.seconds:.0f} s and was killed]")
    elif result.code != 0:
        notes.append(f"[exit code {result.code}]")
    if result.was_out_of_memory:
        notes.append("[processes were killed: out of memory]")
    return "\n".join(filter(None, [result.output, *notes]))


def _result(call: ToolCall, text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult(name=call.name, content=text, id=call.id, is_error=is_error)
