"""Hold a connection to an MCP server by the official SDK, in a task of its own; import it only when one is needed."""

import asyncio
import binascii
import json
import logging
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Self

import anyio
import httpx2
import msgspec
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from proctor.core.errors import EnvironmentFailed, ProctorError
from proctor.core.media_type import OCTETS
from proctor.core.sample import File, Tool
from proctor.environments import call_failures
from proctor.isolation import Confinement
from proctor.runtime.program import LineTooLong, RunningProgram
from proctor.transport.redact import quoted
from proctor_adapters.environments import programs

MOST_PAGES = 100  # of the list of tools
MOST_TOOLS = 5_000
MOST_ASKED = 1_000  # requests of the server that wait for our refusal; no more are read until it reads those
END_SECONDS = 5.0
UNREAD = -32900  # the error code of a result that was not read, which is none of the protocol's
BROKEN = (types.INTERNAL_ERROR, types.PARSE_ERROR, types.CONNECTION_CLOSED)  # other codes are about the call alone
TOO_LONG_TEXT = f"The result has more than {programs.LINE_BYTES} bytes."
UNREADABLE_TEXT = "The result cannot be read: it is no message of the protocol, is nested too deep, or holds half of a character or a number of thousands of digits."
FOR_NOBODY = ("notifications/message", "notifications/progress")
LONG_EVENT = "SSE stream failed: Server-sent event exceeded"  # in the SDK's words, as are the next ones
GONE = ("Session terminated", "server answered a request with 202 Accepted", "Redirect to ")

for _name in ("mcp", "client"):  # the SDK's loggers: what goes wrong is reported as a failure, not printed
    logging.getLogger(_name).addHandler(logging.NullHandler())


class McpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a call, whose text names its files, or why the server did not run it."""

    text: str
    is_error: bool = False
    files: tuple[File, ...] = ()


class McpConnection:
    """A connection to a server.

    The SDK wants to be entered and left by the same task, and a sample may be cancelled at any time; so a task of its own holds
    the connection, and ends it by itself.

    Attributes:
        tools: those that it lists now.
        broken: nothing more can be asked of it.
    """

    def __init__(
        self,
        server: Sequence[str] | str,
        variables: Sequence[str],
        headers: Mapping[str, str],
        *,
        confined: Confinement | None = None,
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.broken = False
        self._server = server
        self._variables = variables
        self._confined = confined
        self._headers = headers
        self._program: RunningProgram | None = None
        self._client: Client | None = None
        self._changed = False
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._turn = asyncio.Lock()  # calls are run in the order in which they are made
        self._task = asyncio.create_task(self._hold())

    async def open(self, seconds: float) -> Self:
        """Wait until the server has listed its tools.

        Raises:
            EnvironmentFailed: it does not, within this time.
        """
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({ready, self._task}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._task.done():
                raise await self._failure(self._task.exception())
            if not ready.done():
                raise call_failures.too_late("initialize", seconds)
        except BaseException:
            await self.close(at_once=True)
            raise
        finally:
            ready.cancel()
        return self

    async def call(self, name: str, arguments: Mapping[str, object], seconds: float) -> McpAnswer:
        """Return the result of a call, or why the server did not run it.

        Raises:
            EnvironmentFailed: it ended, is late, or answered something else than a result.
        """
        async with self._turn:
            if self.broken or self._client is None:
                raise EnvironmentFailed("The environment failed earlier in this sample.")
            self.broken = True  # until there is a result
            try:
                async with asyncio.timeout(seconds):
                    result = await self._client.call_tool(name, dict(arguments))
                    if self._changed:
                        await self._list(self._client)
            except TimeoutError:
                raise call_failures.too_late(name, seconds) from None
            except MCPError as error:
                if error.message.startswith(LONG_EVENT):
                    self.broken = False
                    return McpAnswer(text=TOO_LONG_TEXT, is_error=True)
                if error.code in BROKEN or error.message.startswith(GONE):
                    raise await self._failure(error) from error
                self.broken = False
                return McpAnswer(text=error.message, is_error=True)
            except (ValueError, RuntimeError, ExceptionGroup, OSError) as error:
                raise await self._failure(error) from error
            self.broken = False
        return McpAnswer(text=_text_of(result), is_error=bool(result.is_error), files=tuple(_files_of(result)))

    async def answers_again(self) -> bool:
        """True if the server still answers after a call that took too long."""
        assert self._client is not None
        async with self._turn:
            with suppress(TimeoutError, MCPError, ValueError, RuntimeError, ExceptionGroup, OSError):
                async with asyncio.timeout(call_failures.HEALTH_SECONDS):
                    await self._list(self._client)
                    self.broken = False
        return not self.broken

    async def close(self, *, at_once: bool = False) -> None:
        """End the connection and, if it is ours, the server."""
        self.broken = True
        self._leave.set()
        if at_once:
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=END_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=END_SECONDS)
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # it was reported when it was met

    async def _hold(self) -> None:
        async with self._transport() as transport:
            try:
                async with Client(transport, message_handler=self._note) as client:
                    # The schema of a result is the server's: it may hold a pattern that never comes to an end.
                    vars(client.session).update(validate_tool_result=_as_it_came)
                    await self._list(client)
                    self._client = client
                    self._ready.set()
                    await self._leave.wait()
            except Exception as error:  # noqa: BLE001 - whatever the library raises, the server has failed
                failure = await self._failure(error)  # while it can be seen whether the server still runs
                has_ended = isinstance(failure, EnvironmentFailed) and failure.kind == "exited"
                raise failure from (None if has_ended else error)  # its own words say more than a trace of ours

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[AbstractAsyncContextManager[Any]]:
        if isinstance(self._server, str):
            timeout = httpx2.Timeout(30.0, read=None)  # a call has a time limit of its own
            async with httpx2.AsyncClient(headers=dict(self._headers), timeout=timeout, transport=_Bounded()) as http:
                yield streamable_http_client(self._server, http_client=http, max_sse_event_size=programs.LINE_BYTES)
        else:
            async with programs.started(self._server, self._variables, confined=self._confined) as program:
                self._program = program
                yield _lines(program)

    async def _list(self, client: Client) -> None:
        self._changed = False
        tools: list[Tool] = []
        cursor = None
        for _ in range(MOST_PAGES):
            if len(tools) > MOST_TOOLS:
                break
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            tools += [
                Tool(name=tool.name, description=tool.description or tool.title or "", parameters=tool.input_schema)
                for tool in page.tools
            ]
            cursor = page.next_cursor
            if cursor is None and len(tools) <= MOST_TOOLS:
                self.tools = tuple(tools)
                return
        raise EnvironmentFailed(
            "The MCP server lists more than {pages} pages or {tools} tools.",
            kind="too_large",
            pages=MOST_PAGES,
            tools=f"{MOST_TOOLS:,}",
        )

    async def _note(self, message: object) -> None:
        self._changed |= isinstance(message, types.ToolListChangedNotification)

    async def _failure(self, error: BaseException | None) -> ProctorError:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ProctorError):
            return error
        if self._program is not None and not (isinstance(error, MCPError | ValueError) and await self._answers()):
            return await programs.failure_of(self._program)
        return EnvironmentFailed(
            "The MCP server failed: {type}: {error}",
            kind="mcp",
            type=type(error).__name__,
            error=quoted(error or Exception()),
        )

    async def _answers(self) -> bool:
        return self._program is not None and not await self._program.ends(0.1)


@asynccontextmanager
async def _lines(program: RunningProgram) -> AsyncIterator[tuple[object, object]]:
    """Carry messages over a program's input and output, one a line; other than the SDK's own transport, lines are bounded."""
    arriving, received = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    sending, sent = anyio.create_memory_object_stream[SessionMessage](64)
    asked: list[types.RequestId] = []  # the request that was sent last
    unanswered = asyncio.Semaphore(MOST_ASKED)

    async def read() -> None:
        async with arriving:
            while True:
                try:
                    line = await program.read()
                except LineTooLong:
                    await arriving.send(SessionMessage(_unread(asked[-1] if asked else None)))
                    continue
                if not line:
                    return
                message = _message_in(line, asked[-1] if asked else None)
                if message is None:
                    await asyncio.sleep(0)  # there may be no end of them
                    continue
                if isinstance(message, types.JSONRPCRequest):
                    await unanswered.acquire()
                await arriving.send(SessionMessage(message))

    async def write() -> None:
        async for item in sent:
            if isinstance(item.message, types.JSONRPCRequest):
                asked[:] = [item.message.id]
            await program.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                unanswered.release()

    async with arriving, received, sending, sent:
        tasks = [asyncio.create_task(read()), asyncio.create_task(write())]
        try:
            yield received, sending
        finally:
            for task in tasks:
                task.cancel()
            for task in (await asyncio.wait(tasks))[0]:
                if not task.cancelled():
                    task.exception()  # what they wrote to may be closed already


def _message_in(line: bytes, asked: types.RequestId | None) -> types.JSONRPCMessage | None:
    """Return the message of a line; None for what nobody needs, such as a line for a log. A reply that cannot be read is an error."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        is_reply = asked is not None and b'"jsonrpc"' in line and b'"method"' not in line and line.endswith(b"\n")
        return _unread(asked, UNREADABLE_TEXT) if is_reply else None
    return None if isinstance(message, types.JSONRPCNotification) and message.method in FOR_NOBODY else message


async def _as_it_came(name: str, result: types.CallToolResult) -> None:
    """Leave a result unchecked."""


class _Bounded(httpx2.AsyncHTTPTransport):
    """Reads the body of a reply to its end, if it is not too long; that of a stream of events is bounded by event."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return response
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > programs.LINE_BYTES:
                await response.aclose()
                return httpx2.Response(200, json=_unread(json.loads(request.content)["id"]).model_dump(by_alias=True))
        return httpx2.Response(response.status_code, headers=response.headers, stream=httpx2.ByteStream(bytes(body)))


def _text_of(result: types.CallToolResult) -> str:
    """Return the content of a result as text; what is no text is described."""
    if not result.content and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(map(_words_of, result.content))


def _words_of(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent(text=text):
            return text
        case types.ImageContent() | types.AudioContent():
            return f"[{block.type}: {block.mime_type}, {len(block.data) * 3 // 4} bytes]"
        case types.ResourceLink(uri=uri):
            return f"[resource: {uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
    return f"[resource: {block.resource.uri}, {block.resource.mime_type or 'bytes'}]"


def _files_of(result: types.CallToolResult) -> Iterator[File]:
    """Yield the images, sound and other bytes of a result; a file has none where they are no base64."""
    for block in result.content:
        match block:
            case (
                types.ImageContent(data=data, mime_type=media_type)
                | types.AudioContent(data=data, mime_type=media_type)
            ):
                name: str = block.type
            case types.EmbeddedResource(resource=types.BlobResourceContents(blob=data, mime_type=media_type, uri=uri)):
                name = str(uri)
            case _:
                continue
        try:
            decoded = b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            decoded = None
        yield File(name=name, media_type=media_type or OCTETS, data=decoded)


def _unread(id: types.RequestId | None, text: str = TOO_LONG_TEXT) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=UNREAD, message=text))
