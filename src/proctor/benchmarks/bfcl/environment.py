"""The official classes as an environment: one set of instances for each attempt, in a worker.

A reply that is no call, or whose calls cannot be decoded, ends the turn, and none of its calls is run. All others are run in their
order, and what one raises is a result that the model sees.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/base_handler.py` and `api_inference/openai_completion.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from proctor.benchmarks.bfcl import prompt
from proctor.benchmarks.bfcl.calls import Undecodable
from proctor.benchmarks.bfcl.executable import Executable, executable, executable_or_none
from proctor.core.errors import MissingExtra
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.isolation import Instance, Workers, find_packages

PROGRAM = Path(__file__).with_name("worker_program.py")
FAILED = "Error during execution:"


def workers_for(folder: Path, classes: Iterable[str]) -> Workers:
    """Return workers that can import official classes, of the package that a data folder is part of.

    Raises:
        MissingExtra: one of them needs a package that is not installed.
    """
    packages: tuple[str, ...] = ()
    if "MathAPI" in classes:
        if find_spec("mpmath") is None:
            raise MissingExtra("math", "MathAPI, one of BFCL's official classes,")
        packages = ("mpmath",)
    return Workers(PROGRAM, paths=(prompt.package(folder).parent, *find_packages(*packages)))


class Environments:
    """Makes the environment of each attempt, none for samples of one turn; entered with the run, so that the workers end with it."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def __aenter__(self) -> Self:
        await self._workers.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._workers.__aexit__(kind, error, trace)

    def __call__(self, sample: Sample) -> "OfficialClasses | None":
        return OfficialClasses(self._workers, sample) if "classes" in sample.meta else None


class OfficialClasses:
    """The instances of one attempt.

    Attributes:
        wording: how calls and results are worded for a model that has no native tool calls.
    """

    def __init__(self, workers: Workers, sample: Sample) -> None:
        self.wording = Wording()
        self._workers = workers
        self._sample = sample
        self._instance: Instance | None = None

    async def __aenter__(self) -> Self:
        self._instance = await self._workers.open("begin", sample=described(self._sample))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened().close()

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call."""
        results = await self.call_all([call])
        return (
            results[0]
            if results
            else ToolResult(name=call.name, id=call.id, content=f"{FAILED} no call", is_error=True)
        )

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        """Run the calls of one reply; None if they cannot be decoded."""
        texts = self.wording.written(calls)
        if texts is None:
            texts = list(map(str, executable_or_none([{call.name: call.arguments_text()} for call in calls], "native")))
        if not texts:
            return None
        results = await self._opened().call("run", calls=texts)
        return [
            ToolResult(name=call.name, content=result, id=call.id, is_error=result.startswith(FAILED))
            for call, result in zip(calls, results, strict=True)
        ]

    async def state(self) -> Mapping[str, object]:
        """Return the public attributes of the instances, long texts cut."""
        state: Mapping[str, object] = await self._opened().call("state")
        return state

    def _opened(self) -> Instance:
        assert self._instance is not None
        return self._instance


class Wording:
    """Calls and results in the official words: a list of Python calls, and the list of results as Python prints it."""

    def __init__(self) -> None:
        self._text_by_id: dict[str, str] = {}

    def read_calls(self, message: Message) -> Message:
        """Return the message with the calls that its text makes; the text stays, as it is what is scored."""
        try:
            calls = executable(message.text, "prompt")
        except Undecodable:
            return message
        made = []
        for call in calls:
            made.append(ToolCall(name=call.name, arguments=_plain(call), id=f"text_{len(self._text_by_id)}"))
            self._text_by_id[made[-1].id] = str(call)
        return Message(role=message.role, parts=(*message.parts, *made)) if made else message

    def results(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> Sequence[Message]:
        """Return one message of the user."""
        texts = self.written(calls) or ()
        shown = [
            {"role": "tool", "name": text, "content": result.content}
            for text, result in zip(texts, results, strict=True)
        ]
        return [Message.of("user", repr(shown))]

    def written(self, calls: Sequence[ToolCall]) -> list[str] | None:
        """Return calls as they are run, of those that were read from text; else None."""
        texts = [self._text_by_id[call.id] for call in calls if call.id in self._text_by_id]
        return texts if len(texts) == len(calls) else None


def described(sample: Sample) -> dict[str, Any]:
    """Return what a worker has to know of a sample."""
    meta = sample.meta
    return {"id": sample.id, "classes": meta["classes"], "config": meta["config"], "answers": sample.target}


def _plain(call: Executable) -> dict[str, Any]:
    """Return arguments that can be kept as JSON; what cannot be, such as a complex number, is as Python prints it."""
    return {str(name): _json(value) for name, value in call.arguments.items()}


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
