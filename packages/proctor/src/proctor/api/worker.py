"""Serve as a worker process: `python -m proctor.api.worker FD`. It plays and scores what the parent sends."""

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator

from msgspec.structs import replace

from proctor.api import resolve
from proctor.api.loop import fast_loop
from proctor.core.errors import BudgetSpent, EndpointRefused, ProctorError
from proctor.core.judge import JudgeChoice
from proctor.core.sentence import Sentence
from proctor.core.task import AgentChoice
from proctor.engine import wire
from proctor.engine.trial import Work, run_trial
from proctor.engine.watchdog import watched_loop
from proctor.models import cache
from proctor.models.named import OpenedModels
from proctor.runtime.garbage import gc_relaxed
from proctor.transport.pace import PaceBounds
from proctor.transport.permits import RemoteClient
from proctor.transport.retry import Wait

PARENT_SECONDS = 0.5
SWITCH_SECONDS = 0.0005  # while agents compute in threads, the event loop waits so long for each of them, not 5 ms


def main() -> None:
    """Run trials for the parent process at the other end of a socket, until it closes the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    sys.setswitchinterval(SWITCH_SECONDS)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), name="proctor-parent", daemon=True).start()
    os.dup2(2, 1)  # an agent may print; standard output is for the results of the parent
    with asyncio.Runner(loop_factory=fast_loop()) as runner:
        runner.run(_serve(socket.socket(fileno=int(sys.argv[1]))))


def _end_with_parent(parent: int) -> None:
    """End this process and what it started once the parent is gone, also while an agent blocks the event loop."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os.killpg(0, signal.SIGKILL)  # the parent gave us a group of our own


class ToParent:
    """Sends messages to the parent, and waits for the slots at endpoints that it grants, and for what its reply cache has."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._outbox = wire.Outbox(writer)
        self.send = self._outbox.send
        self.flush = self._outbox.flush
        self._asked: dict[int, tuple[str, asyncio.Future[None]]] = {}
        self._sought: dict[int, asyncio.Future[bytes | None]] = {}
        self._count = 0

    async def find(self, key: str) -> bytes | None:
        """Return what the parent's reply cache has under a key."""
        self._count += 1
        number = self._count
        found: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._sought[number] = found
        self.send(wire.Find(number=number, key=key))
        return await found

    def found(self, number: int, data: bytes | None) -> None:
        """Give an entry of the parent's reply cache to the request that waits for it."""
        sought = self._sought.pop(number)
        if not sought.done():
            sought.set_result(data)

    def keep(self, key: str, data: bytes | None) -> None:
        """Keep an entry in the parent's reply cache, unless it is too large; None removes it."""
        if data is None or len(data) <= wire.MOST_KEPT_BYTES:
            self.send(wire.Keep(key=key, data=data))

    async def ask(self, origin: str, bounds: PaceBounds | None) -> None:
        """Wait for a slot at an endpoint."""
        self._count += 1
        number = self._count
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked[number] = origin, granted
        self.send(wire.Ask(number=number, origin=origin, bounds=bounds))
        await granted

    def granted(self, number: int, spent: Sentence | None) -> None:
        """Give a permit to the request that waits for it; return it to the parent if that request was cancelled. Once
        `spent`, there are no more permits.
        """
        origin, future = self._asked.pop(number)
        if spent is not None:
            if not future.done():
                future.set_exception(BudgetSpent(spent))
        elif future.cancelled():
            self.send(wire.GiveBack(origin=origin))
            self.never_left()
        else:
            future.set_result(None)

    def give_back(self, origin: str, *, seconds: float | None, refused: bool, asked: float | None) -> None:
        """Return a slot, and report how the request went."""
        self.send(wire.GiveBack(origin=origin, seconds=seconds, refused=refused, asked=asked))

    def tell(self, origin: str, *, pause: float = 0.0, tokens: int = 0) -> None:
        """Report to the parent that an endpoint asked for a pause, or how many tokens it used."""
        self.send(wire.Told(origin=origin, pause=pause, tokens=tokens))

    def waits(self, number: int, wait: Wait | None) -> None:
        """Report to the parent that a request starts or stops waiting to be sent again."""
        left = wait and replace(wait, until=wait.until - time.monotonic())
        self.send(wire.Waits(number=number, wait=left))

    def never_left(self) -> None:
        """Report to the parent that a request with a permit reached no server."""
        self.send(wire.NeverLeft())


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    line = ToParent(writer)
    messages = wire.of_parent(reader)
    start = await anext(messages)
    assert isinstance(start, wire.Start)
    try:
        work = _work(start)
    except ProctorError as error:
        line.send(wire.Stuck(sentence=_sentence(error)))
        line.flush()
        await writer.drain()
        return
    loop = asyncio.get_running_loop()

    def warn(sentence: Sentence) -> None:  # from the thread that watches
        loop.call_soon_threadsafe(line.send, wire.Warned(sentence=Sentence(sentence.text, wire.plain(sentence.values))))

    replies = cache.Cache(warn=warn) if start.shares_folders else cache.RemoteCache(line)
    with gc_relaxed(), watched_loop(warn), cache.opened(replies, agents=start.cache):
        await _work_off(messages, line, work)


async def _work_off(messages: AsyncIterator[wire.FromParent], line: ToParent, work: Work) -> None:
    async with RemoteClient(line), OpenedModels(work.opened), asyncio.TaskGroup() as group:
        line.send(wire.WorkerReady(clock=time.time()))
        tasks = set()
        async for message in messages:
            match message:
                case wire.Granted(number=number, spent=spent):
                    line.granted(number, spent)
                case wire.FoundReply(number=number, data=data):
                    line.found(number, data)
                case wire.Do():
                    task = group.create_task(_do(work, message, line))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                case _:
                    pass
        for task in tasks:  # the parent is gone
            task.cancel()


def _work(start: wire.Start) -> Work:
    sys.path[:] = [*dict.fromkeys([*start.paths, *sys.path])]
    spec = start.spec
    task, _, _ = resolve.task_with_user(spec.task, spec.task_options, spec.user, spec.user_options, seed=spec.seed)
    task, _ = resolve.environment(task, spec.environment, spec.environment_options)
    agent, _ = resolve.agent(spec.agent, spec.agent_options)
    scorers = resolve.scorers_of(task, start.scorers, JudgeChoice(model=spec.judge, options=spec.judge_options))
    return Work(
        run_id=start.run_id,
        created=start.created,
        task=task,
        agent=resolve.played(agent, task, AgentChoice(name=spec.agent, options=spec.agent_options)),
        scorers=scorers,
        limits=spec.limits,
        price=start.price,
        seed=spec.seed,
        perturb=spec.perturb,
        approve=spec.approve,
        on_agent_error=spec.on_agent_error,
    )


async def _do(work: Work, asked: wire.Do, line: ToParent) -> None:
    try:
        trial, verdicts = await run_trial(work, asked.sample, asked.attempt)
    except ProctorError as error:
        line.send(
            wire.Stuck(sentence=_sentence(error), number=asked.number, is_refused=isinstance(error, EndpointRefused))
        )
    else:
        line.send(wire.Done(number=asked.number, trial=trial, verdicts=tuple(verdicts)))
        line.flush()  # what has ended is not repeated when this process dies


def _sentence(error: ProctorError) -> Sentence:
    return Sentence(error.sentence.text, wire.plain(error.sentence.values))


if __name__ == "__main__":
    main()
