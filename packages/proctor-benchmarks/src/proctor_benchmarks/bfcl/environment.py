"""The official classes as an environment: one set of instances for each attempt, in a worker.

A reply that is no call, or whose calls cannot be decoded, ends the turn, and none of its calls is run. All others are run in their
order, and what one raises is a result that the model sees.

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/base_handler.py` and `api_inference/openai_completion.py`.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from proctor.core.errors import BadInput, EnvironmentFailed, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.sample import Message, Sample, ToolCall, ToolResult
from proctor.core.sentence import say
from proctor.core.task import Environment
from proctor.isolation import Instance, WorkerLimits, WorkerRaised, Workers, find_packages
from proctor.isolation.limits import MEGABYTE
from proctor_benchmarks.bfcl import prompt
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.executable import Executable, executable, executable_or_none
from proctor_benchmarks.bfcl.web import WEB_CLASS, Web
from proctor_benchmarks.bfcl.web_environment import WebSearch

PROGRAM = Path(__file__).with_name("worker_program.py")
FAILED = "Error during execution:"


NEEDS = {
    "MathAPI": ("mpmath",),
    "MemoryAPI_kv": ("filelock", "numpy", "overrides", "rank_bm25"),
    "MemoryAPI_rec_sum": ("filelock", "overrides"),
    "MemoryAPI_vector": ("faiss", "filelock", "numpy", "overrides", "sentence_transformers"),
}
"""The modules that official classes import besides their own package."""
_OF_VECTOR = ("faiss", "sentence_transformers")  # gigabytes, so they are in no extra
_FETCH = "python -c \"from sentence_transformers import SentenceTransformer as S; S('all-MiniLM-L6-v2')\""
_EMBEDDING = WorkerLimits(seconds=120, start_seconds=300, memory_bytes=4096 * MEGABYTE)  # loading its model takes both


def workers_for(folder: Path, classes: Collection[str]) -> Workers:
    """Return workers that can import official classes, of the package that a data folder is part of.

    Raises:
        MissingExtra: `MathAPI` lacks what it needs, without which its conversations cannot be scored either.
    """
    if "MathAPI" in classes and _missing("MathAPI"):
        raise _lack("MathAPI")
    modules = {module for name in classes for module in NEEDS.get(name, ())}
    installed = sorted(module for module in modules if is_installed(module))
    with_model = "MemoryAPI_vector" in classes
    return Workers(
        PROGRAM,
        paths=(prompt.package(folder).parent, *find_packages(*installed)),
        limits=_EMBEDDING if with_model else WorkerLimits(),
        variables=_of_embedding() if with_model else {},
    )


def _of_embedding() -> dict[str, str]:
    """Return what lets the worker find the embedding model that the user fetched before: it has no network."""
    home = os.environ.get("HF_HOME") or str(Path.home() / ".cache" / "huggingface")
    return {"HF_HOME": home, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


class Environments:
    """Makes the environment of each attempt, none for samples of one turn; entered with the run, so that the workers end with it.

    Args:
        classes: the official classes that samples act on.
        web: searches and reads the web, for those that do.
    """

    def __init__(self, workers: Workers, classes: frozenset[str], web: Web) -> None:
        self._workers = workers
        self._classes = classes
        self._web = web
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> Self:
        memories = sorted(name for name in self._classes if name.startswith("MemoryAPI_"))
        for name in memories:
            if _missing(name):
                raise _lack(name)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._workers)
            for name in memories:
                await self._load(name)
            if WEB_CLASS in self._classes:
                await stack.enter_async_context(self._web)
            self._entered = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._entered.__aexit__(kind, error, trace)

    def __call__(self, sample: Sample) -> Environment | None:
        classes = sample.meta.get("classes", ())
        if WEB_CLASS in classes:
            return WebSearch(
                self._web, EnvironmentWording(), shows_snippets=sample.meta["config"][WEB_CLASS]["show_snippet"]
            )
        return OfficialClasses(self._workers, sample) if classes else None

    async def _load(self, name: str) -> None:
        """Import a class before any model is asked, as one of them loads a model of its own."""
        try:
            await self._workers.run("load", name=name)
        except WorkerRaised as error:
            fetch = say(" Its embedding model has to be there: {command}", command=_FETCH) if "vector" in name else ""
            raise BadInput(
                "{name}, an official class of BFCL, cannot be loaded: {error}.{fetch}",
                name=name,
                error=str(error)[:300],
                fetch=fetch,
            ) from error


def _missing(name: str) -> list[str]:
    return [module for module in NEEDS[name] if not is_installed(module)]


def _lack(name: str) -> BadInput:
    if not any(module in _OF_VECTOR for module in _missing(name)):
        return MissingExtra("bfcl", f"{name}, an official class of BFCL,")
    return BadInput(
        "{name}, an official class of BFCL, needs {missing}. Install: pip install 'proctor[bfcl]' sentence-transformers faiss-cpu. Or leave memory_vector out: another embedding would be another benchmark.",
        name=name,
        missing=", ".join(_missing(name)),
    )


class OfficialClasses:
    """The instances of one attempt.

    Attributes:
        wording: how calls and results are worded for a model that has no native tool calls.
    """

    def __init__(self, workers: Workers, sample: Sample) -> None:
        self.wording = EnvironmentWording()
        self._workers = workers
        self._sample = sample
        self._instance: Instance | None = None

    async def __aenter__(self) -> Self:
        self._instance = await self._workers.open("begin", sample=described(self._sample))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened().close()

    async def call(self, call: ToolCall) -> ToolResult:
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
        """Return the public attributes of the instances, with long texts shortened."""
        state: Mapping[str, object] = await self._opened().call("state")
        return state

    def _opened(self) -> Instance:
        assert self._instance is not None
        return self._instance


class EnvironmentWording:
    """Calls and results in the official words: a list of Python calls, and the list of results as Python prints it."""

    def __init__(self) -> None:
        self._text_by_id: dict[str, str] = {}

    def read_calls(self, message: Message) -> Message:
        """Return the message with the calls that its text makes; the text stays, as it is what is scored."""
        try:
            calls = executable(message.text, "prompt")
        except Undecodable:
            return message
        tool_calls = []
        for call in calls:
            tool_calls.append(ToolCall(name=call.name, arguments=_plain(call), id=f"text_{len(self._text_by_id)}"))
            self._text_by_id[tool_calls[-1].id] = str(call)
        return Message(role=message.role, parts=(*message.parts, *tool_calls)) if tool_calls else message

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
    config = msgspec.json.encode(meta["config"]).decode()
    about = {"id": sample.id, "classes": meta["classes"], "config": config, "answers": sample.target}
    return {**about, "memory": _memory(sample)} if "scenario" in meta else about


def _memory(sample: Sample) -> dict[str, object]:
    start, [name] = sample.known.start, sample.meta["classes"]
    if start is not None and name not in start:
        raise EnvironmentFailed("The memory that '{id}' left is not stored.", id=sample.known.after)
    return {"scenario": sample.meta["scenario"], "start": None if start is None else start[name]}


def _plain(call: Executable) -> dict[str, object]:
    """Return arguments that can be kept as JSON; what cannot be, such as a complex number, is as Python prints it."""
    return {str(name): _json(value) for name, value in call.arguments.items()}


def _json(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
