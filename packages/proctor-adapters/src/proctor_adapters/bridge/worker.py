"""Talk with the worker in which another program plays samples: feed them, answer what they ask, and take what they became."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput, EnvironmentFailed, ProctorError
from proctor.core.sample import JsonObject
from proctor.isolation import TalkingWorker, WorkerProgram, WorkerRaised
from proctor.transport.retry import clock_stopped
from proctor_adapters.bridge.asked import GuestAsk

Ready = Callable[[Mapping[str, object]], None]
Refuse = Callable[["GuestRaised"], BadInput]
ANOTHER_EPOCH = 1_000_000  # where a worker plays the same attempt once more
HUNG = "worker_hung"
TOO_SLOW = "TooSlow"  # the type of a `GuestRaised` of ours
MOMENT_SECONDS = 0.3  # a wait below that is not worth a line
PATIENCE_SECONDS = 20.0  # for a sample to end once one of its requests could not be answered


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the worker."""

    of: tuple[str, int] | None = None
    ask: int | None = None
    request: GuestAsk | None = None
    cancel: int | None = None
    scoring: bool = False
    trial: dict[str, object] | None = None


class Player(Protocol):
    """Who plays a sample with the other program."""

    def begin(self) -> None:
        """Is called when the sample begins."""

    async def answer(self, ask: GuestAsk, waits: Callable[[bool], None]) -> JsonObject:
        """Return the reply to a request as JSON; `waits` is to be told when it waits for an endpoint, and when it goes on."""

    def end(self) -> None:
        """Is called when scoring begins."""


class ReportedWaits:
    """Reports to the worker when one of its requests waits for an endpoint, and when it goes on."""

    def __init__(self, worker: TalkingWorker, number: int) -> None:
        self._worker = worker
        self._number = number
        self._timer: asyncio.TimerHandle | None = None
        self._is_reported = False

    def __call__(self, begins: bool) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if begins:
            self._timer = asyncio.get_running_loop().call_later(MOMENT_SECONDS, self._report, True)
        elif self._is_reported:
            self._report(False)

    def _report(self, begins: bool) -> None:
        self._is_reported = begins
        self._worker.say({"reply": self._number, "waits": begins})


class GuestError(msgspec.Struct, frozen=True):
    """What the other program raised, outside of any sample."""

    type: str
    text: str


class GuestEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What a line says of the end of the worker; nothing in most lines."""

    failed: GuestError | None = None
    broken: str | None = None

    @property
    def text(self) -> str | None:
        return self.broken if self.failed is None else f"{self.failed.type}: {self.failed.text}"


class Guest:
    """The worker of a run, which starts with the first sample and again after it died.

    Args:
        about: the first message to the worker.
        check: is given what the worker says each time it has loaded the task, and may raise `BadInput`; without it nothing is rehearsed.
        refuse: returns the error for a task that the worker cannot load.

    Attributes:
        seconds: how long loading may take, and a sample may compute without asking.
    """

    def __init__(
        self, program: WorkerProgram, about: Mapping[str, object], check: Ready | None, refuse: Refuse, seconds: float
    ) -> None:
        self._program = program
        self._about = about
        self._check = check
        self._refuse = refuse
        self.seconds = seconds
        self._worker: TalkingWorker | None = None
        self._listening: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._is_rehearsed = check is None
        self._heard_at = 0.0
        self._seats: dict[tuple[str, int], asyncio.Queue[Heard | Exception]] = {}
        self._fed: dict[tuple[str, int], int] = {}

    async def start(self) -> None:
        """Start the worker, so that no sample waits for that.

        Raises:
            BadInput: the task cannot be loaded, or lacks what `check` asks for.
            EnvironmentFailed: the worker died.
        """
        await self._started()

    async def close(self) -> None:
        """End the worker."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})
        if self._worker is not None:
            await self._worker.__aexit__()

    async def play(self, id: str, attempt: int, player: Player) -> Mapping[str, object]:
        """Return what the other program made of a sample, as JSON.

        Raises:
            ProctorError: a request of it could not be answered, and why.
            EnvironmentFailed: the worker died, or computed for too long.
        """
        with clock_stopped():
            worker = await self._started()
        times = self._fed[id, attempt] = self._fed.get((id, attempt), -1) + 1
        key = (id, attempt + 1 + ANOTHER_EPOCH * times)
        seat = self._seats[key] = asyncio.Queue()
        worker.say({"feed": key})
        player.begin()
        answering: dict[int, asyncio.Task[None]] = {}
        faults: list[Exception] = []

        async def reply(number: int, line: GuestAsk) -> None:
            try:
                output = await player.answer(line, ReportedWaits(worker, number))
                worker.say({"reply": number, "output": output})
            except Exception as error:  # noqa: BLE001 - raised once the sample has ended
                faults.append(error)
                worker.say({"reply": number, "fault": type(error).__name__})
            finally:
                answering.pop(number, None)
                seat.put_nowait(Heard())  # from now on the other program computes, or a fault is known

        try:
            while True:
                heard = await self._heard(seat, answering, faults, id)
                if isinstance(heard, Exception):
                    if answering and not faults:  # what is being paid for reaches the cache, though the worker died
                        await asyncio.wait([*answering.values()])
                    raise heard
                if heard.trial is not None:
                    if faults:
                        raise faults[0]
                    return heard.trial
                if heard.ask is not None and heard.request is not None:
                    answering[heard.ask] = asyncio.create_task(reply(heard.ask, heard.request))
                elif heard.cancel is not None and heard.cancel in answering:
                    answering[heard.cancel].cancel()
                elif heard.scoring:
                    player.end()
        finally:
            del self._seats[key]
            for number, task in [*answering.items()]:
                task.cancel()
                worker.say({"reply": number, "fault": "Cancelled"})

    async def _heard(
        self,
        seat: "asyncio.Queue[Heard | Exception]",
        answering: Mapping[int, object],
        faults: list[Exception],
        id: str,
    ) -> Heard | Exception:
        """Return the next line of a sample; where it waits for us, without a limit."""
        while True:
            seconds = PATIENCE_SECONDS if faults else None if answering else self.seconds
            try:
                async with asyncio.timeout(seconds):
                    return await seat.get()
            except TimeoutError:
                if faults:
                    return faults[0]
                if not answering:
                    await self._end_if_silent()
                    return EnvironmentFailed(
                        "The other program computed for {seconds:g} seconds without asking a model (sample {id}). A longer limit: --set bridge.seconds=N",
                        kind=HUNG,
                        seconds=self.seconds,
                        id=id,
                    )

    async def _end_if_silent(self) -> None:
        """End a worker that says nothing of other samples either, and wait until all of them know."""
        listening = self._listening
        if time.monotonic() - self._heard_at >= self.seconds and self._worker is not None and listening is not None:
            self._worker.kill()
            await asyncio.wait({listening})

    async def _started(self) -> TalkingWorker:
        async with self._starting:
            if self._worker is not None and self._worker.fault is None and self._listening is not None:
                return self._worker
            if self._worker is not None:
                await self._worker.__aexit__()
            self._worker, self._fed = TalkingWorker(self._program), {}
            request = {"run": {**self._about, "rehearse": not self._is_rehearsed}}
            try:
                heard = await first_line(self._worker, request, self.seconds)
            except GuestRaised as error:
                raise self._refuse(error) from None
            if self._check is not None:
                self._check(heard["ready"])
                self._is_rehearsed = True
            self._listening = asyncio.create_task(self._listen(self._worker))
            return self._worker

    async def _listen(self, worker: TalkingWorker) -> None:
        fault: EnvironmentFailed
        try:
            async for raw in worker.heard():
                self._heard_at = time.monotonic()
                self._take(worker, raw)
        except EnvironmentFailed as error:
            fault = error
        self._listening = None
        worker.kill()
        for seat in self._seats.values():
            seat.put_nowait(fault)

    def _take(self, worker: TalkingWorker, raw: object) -> None:
        """Hand a line of the worker to the sample that it is of.

        Raises:
            EnvironmentFailed: it says that the worker has ended, or is none that a worker writes.
        """
        try:
            ended = msgspec.convert(raw, GuestEnd)
            heard = msgspec.convert(raw, Heard)
            if heard.ask is not None:
                heard = replace(heard, request=msgspec.convert(raw, GuestAsk))
        except msgspec.ValidationError as error:
            raise EnvironmentFailed("The other program wrote a line that nobody expects: {error}", kind="worker_output", error=error) from None  # fmt: skip
        if (text := ended.text) is not None:
            raise EnvironmentFailed(
                "Inspect stopped the evaluation in its worker, with all samples that it was playing: {text}",
                kind="worker_killed",
                text=text,
            )
        if heard.of in self._seats:
            self._seats[heard.of].put_nowait(heard)
        elif heard.ask is not None:
            worker.say({"reply": heard.ask, "fault": "Gone"})


async def first_line(worker: TalkingWorker, request: Mapping[str, object], seconds: float) -> JsonObject:
    """Start a worker, give it what it is to do, and return its first line.

    Raises:
        BadInput: the program cannot be imported.
        GuestRaised: the task cannot be made, or not in these seconds.
        EnvironmentFailed: the worker died, or wrote something else.
    """
    try:
        await worker.__aenter__()
    except WorkerRaised as error:
        raise BadInput("Inspect cannot be imported: {error}", error=error) from None
    worker.say(request)
    try:
        async with asyncio.timeout(seconds):
            raw = await anext(worker.heard())
    except TimeoutError:
        raise GuestRaised(TOO_SLOW, f"{seconds:g}") from None
    try:
        failed = msgspec.convert(raw, GuestEnd).failed
    except msgspec.ValidationError as error:
        raise EnvironmentFailed("The other program wrote a line that nobody expects: {error}", kind="worker_output", error=error) from None  # fmt: skip
    if failed is not None:
        raise GuestRaised(failed.type, failed.text)
    heard: Mapping[str, object] = raw
    return heard


class GuestRaised(ProctorError):
    """The other program raised before it played anything."""

    def __init__(self, type: str, text: str) -> None:
        super().__init__("{type}: {text}", type=type, text=text)
        self.type = type
        self.text = text
