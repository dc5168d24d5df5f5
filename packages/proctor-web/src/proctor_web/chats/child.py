"""Hold an agent in a process of its own: commands come as lines on standard input, reports go out as lines.

What the agent prints goes to standard error, which the server keeps the end of. The process ends with its standard input,
and so with the server, also if the agent keeps it busy.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress

from proctor.agents.agent_errors import agent_error, map_agent_errors
from proctor.core.errors import ProctorError
from proctor_web.chats import wire
from proctor_web.chats.hosts import ChatHost, Talk, host_of

END_SECONDS = 2.0  # for an agent to close what it holds, when the server is gone or has had enough


def main() -> None:
    """Serve until standard input ends."""
    out = os.dup(1)
    os.dup2(2, 1)
    reader = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # an agent that asks the terminal gets an end of file

    def tell(report: wire.Report) -> None:
        data = memoryview(wire.line_of(report))
        while data:
            data = data[os.write(out, data) :]

    try:
        asyncio.run(_serve(reader.readline(), reader.readline, tell))
    finally:
        os._exit(0)  # threads of an agent that never return hold nothing up


async def _serve(first: bytes, next_line: Callable[[], bytes], tell: wire.Tell) -> None:
    from proctor.transport.client import Client

    load = wire.COMMANDS.decode(first)
    assert isinstance(load, wire.Load)
    async with AsyncExitStack() as held:
        await held.enter_async_context(Client())
        try:
            with map_agent_errors():
                host = host_of(load.agent, load.options)
                if isinstance(host.agent, AbstractAsyncContextManager):
                    await held.enter_async_context(host.agent)
        except ProctorError as error:
            tell(wire.Unusable(why=error.sentence))
            return
        tell(wire.Ready())
        lines: asyncio.Queue[bytes] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=_read, args=(next_line, loop, lines), daemon=True).start()
        chats = HostedChats(host, tell)
        while line := await lines.get():
            chats.take(wire.COMMANDS.decode(line))
        await chats.close()


def _read(next_line: Callable[[], bytes], loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[bytes]") -> None:
    """Pass on every line; at the end of input the process ends, whatever the event loop is busy with."""
    while line := next_line():
        loop.call_soon_threadsafe(lines.put_nowait, line)
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(lines.put_nowait, b"")
    threading.Event().wait(END_SECONDS)
    os._exit(0)


class HostedChats:
    """The sessions of this process, each a task of its own, so that one which waits holds up no other."""

    def __init__(self, host: ChatHost, tell: wire.Tell) -> None:
        self._host = host
        self._tell = tell
        self._queues: dict[str, asyncio.Queue[wire.Send | None]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._replies: dict[str, asyncio.Task[Mapping[str, object] | None]] = {}

    def take(self, command: wire.Command) -> None:
        """Carry out a command, or queue it for its session."""
        match command:
            case wire.Open():
                self._end(command.chat)
                self._queues[command.chat] = asyncio.Queue()
                self._tasks[command.chat] = asyncio.create_task(self._live(command, self._queues[command.chat]))
            case wire.Send() if command.chat in self._queues:
                self._queues[command.chat].put_nowait(command)
            case wire.Stop() if (reply := self._replies.get(command.chat)) is not None:
                reply.cancel()
            case wire.Forget():
                self._end(command.chat)
            case _:
                pass

    async def close(self) -> None:
        for chat in list(self._queues):
            self._end(chat)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=END_SECONDS)

    def _end(self, chat: str) -> None:
        if (reply := self._replies.get(chat)) is not None:
            reply.cancel()
        if (queue := self._queues.pop(chat, None)) is not None:
            queue.put_nowait(None)

    async def _live(self, begin: wire.Open, queue: "asyncio.Queue[wire.Send | None]") -> None:
        """Keep a session open and answer what is sent to it; a library may want to close it in the task that opened it."""
        async with AsyncExitStack() as held:
            talk: Talk | None = None
            while (command := await queue.get()) is not None:
                if talk is None:
                    try:
                        with map_agent_errors():
                            talk = await held.enter_async_context(self._host.open(begin))
                    except ProctorError as error:
                        self._tell(wire.Over(chat=begin.chat, how="failed", why=error.sentence))
                        continue
                    self._tell(wire.ChatOpened(chat=begin.chat, remembers=talk.remembers))
                reply = asyncio.create_task(talk.send(command, self._tell))
                self._replies[begin.chat] = reply
                await asyncio.wait({reply})
                self._tell(_outcome(begin.chat, reply))


def _outcome(chat: str, reply: "asyncio.Task[Mapping[str, object] | None]") -> wire.Over:
    if reply.cancelled():
        return wire.Over(chat=chat, how="stopped")
    error = reply.exception()
    if error is None:
        return wire.Over(chat=chat, state=reply.result())
    failed = error if isinstance(error, ProctorError) else agent_error(error)
    cause = error.__cause__ or error
    return wire.Over(chat=chat, how="failed", why=failed.sentence, error_type=type(cause).__name__)


if __name__ == "__main__":
    main()
