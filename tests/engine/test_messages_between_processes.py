"""Messages between the processes of a run arrive whole and in order, however the connection cuts them."""

import asyncio
import random
import socket
from contextlib import closing
from importlib import import_module

import pytest

from proctor.core.sentence import Sentence
from proctor.engine import wire


async def test_messages_of_any_size_arrive_in_order_however_they_are_cut() -> None:
    ours, theirs = socket.socketpair()
    _, writer = await asyncio.open_connection(sock=ours)
    outbox, drawn = wire.Outbox(writer), random.Random(1)
    lengths = [drawn.choice((0, 1, 100, 70_000)) for _ in range(200)] + [3_000_000]
    sent = [wire.Keep(key=str(number), data=bytes(length)) for number, length in enumerate(lengths)]
    reader = asyncio.StreamReader()

    async def cut() -> None:
        theirs.setblocking(False)
        while data := await asyncio.get_running_loop().sock_recv(theirs, drawn.choice((1, 3, 5_000, 200_000))):
            reader.feed_data(data)
        reader.feed_eof()

    cutting = asyncio.create_task(cut())
    for message in sent:
        outbox.send(message)
    outbox.send(wire.Warned(sentence=Sentence("The last.", {})))
    outbox.flush()
    writer.close()
    received = [message async for message in wire.of_worker(reader)]
    await cutting
    theirs.close()
    assert received == [*sent, wire.Warned(sentence=Sentence("The last.", {}))]


async def test_half_a_message_is_the_end() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"\0\0\0\x09half")
    reader.feed_eof()
    assert [message async for message in wire.of_worker(reader)] == []


async def test_what_is_flushed_and_many_messages_leave_within_the_turn() -> None:
    ours, theirs = socket.socketpair()
    _, writer = await asyncio.open_connection(sock=ours)
    with theirs, closing(writer):
        theirs.setblocking(False)
        outbox = wire.Outbox(writer)
        outbox.send(wire.NeverLeft())
        with pytest.raises(BlockingIOError):
            theirs.recv(1)
        outbox.flush()
        assert theirs.recv(1_000)
        for _ in range(wire.AT_ONCE):
            outbox.send(wire.NeverLeft())
        assert theirs.recv(1_000)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_messages_to_a_worker_that_is_gone_are_dropped_without_a_trace(loop: str) -> None:
    reported: list[dict[str, object]] = []

    async def send_to_nobody() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        for end in ("closed there", "aborted", "closed here"):
            ours, theirs = socket.socketpair()
            _, writer = await asyncio.open_connection(sock=ours)
            outbox = wire.Outbox(writer)
            theirs.close()
            if end == "aborted":
                writer.transport.abort()
            elif end == "closed here":
                writer.close()
            for turn in range(6):
                outbox.send(wire.NeverLeft())
                await asyncio.sleep(0.001 * turn)
            outbox.send(wire.NeverLeft())
            outbox.flush()
            writer.close()

    with asyncio.Runner(loop_factory=import_module(loop).new_event_loop) as runner:
        runner.run(send_to_nobody())
    assert reported == []
