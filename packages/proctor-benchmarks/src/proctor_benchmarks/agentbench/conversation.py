"""Play a sample by an official loop, and send the agent the window of the conversation that it gets officially.

A loop is an asynchronous generator that is written as the official `start_sample` is read: it adds to `history`, yields None
to have the agent speak, and is sent its reply; None is sent for a reply that did not fit into the model's context. The reply
is in the history already. The last thing that it yields is how the sample ended:

    async def play(sample: Sample, history: History) -> Loop:
        history.append(Message.of("user", "Which year?"))
        reply = yield None
        yield Ended(status="completed", result={"answer": reply})

What it does before its first `yield` is done before the agent is asked anything.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/task.py` (`Session`).
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Self

import msgspec

from proctor.core.declared import MakerInfo
from proctor.core.errors import BadInput, EnvironmentFailed, ProctorError
from proctor.core.sample import FreshTurn, JsonObject, Message, Sample, ToolCall, ToolResult, Turn
from proctor.core.task import Environment
from proctor.core.trajectory import Trajectory
from proctor.engine.acting import Acting
from proctor.transport.redact import quoted
from proctor_benchmarks.agentbench.official import PARTS, Part, Status

MOST_SEGMENTS = 3_500
_SEGMENT_LETTERS = 7
EMPTY = "normal"  # what an empty reply is in the history: officially its status takes its place


class EndedSample(msgspec.Struct, frozen=True, kw_only=True):
    """How a sample ended, and what the official code keeps of it."""

    status: Status
    result: JsonObject | None = None


History = list[Message]  # roles `user` and `assistant`; the latter is called `agent` officially
Loop = AsyncGenerator[EndedSample | None, str | None]
Play = Callable[[Sample, History], Loop]


class Stages:
    """Makes the environment of each sample of some parts; what their loops hold, such as a server, is there for the run.

    Attributes:
        plant, typed: for audits; see `core.declared.MakerInfo`.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        play_by_part: Mapping[Part, Play],
        searched: MakerInfo = MakerInfo(),  # noqa: B008 (frozen)
    ) -> None:
        self.plant, self.typed = searched.plant, searched.typed
        self._parts = parts
        self._play_by_part = play_by_part
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if missing := [part for part in self._parts if part not in self._play_by_part]:
            raise BadInput("{parts} cannot be played here, only scored from result files (--replies DIR). Name the others: agentbench/PART,PART", parts=", ".join(missing))  # fmt: skip
        async with AsyncExitStack() as stack:
            for play in self._play_by_part.values():
                if isinstance(play, AbstractAsyncContextManager):
                    await stack.enter_async_context(play)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def __call__(self, sample: Sample) -> "AttemptStage":
        return AttemptStage(self._play_by_part[next(part for part in PARTS if part == sample.tags["part"])], sample)


class AttemptStage:
    """The environment of one attempt: the loop that plays it, without tools that an agent could call by itself."""

    def __init__(self, play: Play, sample: Sample) -> None:
        self.history: History = [message for turn in sample.turns for message in turn.messages]
        self.ended: EndedSample | None = None
        self._loop = play(sample, self.history)

    async def __aenter__(self) -> Self:
        self.ended = await anext(self._loop)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loop.aclose()

    async def hear(self, reply: str) -> None:
        """Take a reply of the agent, and do what the loop does with it."""
        if self.ended is None:
            self.history.append(Message.of("assistant", reply or EMPTY))
            try:
                self.ended = await self._loop.asend(reply)
            except ProctorError:
                raise
            except Exception as error:
                raise EnvironmentFailed("The environment broke: {type}: {error}", type=type(error).__name__, error=quoted(error)) from error  # fmt: skip

    async def call(self, call: ToolCall) -> ToolResult:
        """Refuse the call: agents act with words here."""
        return ToolResult(name=call.name, content="There are no tools here; act in words.", is_error=True)

    def state(self) -> Mapping[str, object]:
        """Return the official status and result, as in `runs.jsonl`."""
        if self.ended is None:
            return {"status": "running", "result": None}
        return {"status": self.ended.status, "result": self.ended.result}


class ConversationHost:
    """The other side of the conversation: hands each reply to the loop of the sample, and says what the loop says.

    Attributes:
        unpriced: the models that loops ask whose price is not known.
    """

    def __init__(self, unpriced: Sequence[str] = ()) -> None:
        self.unpriced = unpriced

    def open(self, sample: Sample, environment: Environment | None) -> "Hosting":
        """Return the host of one attempt."""
        stage = environment.environment if isinstance(environment, Acting) else environment
        assert isinstance(stage, AttemptStage)
        return Hosting(stage, [message for turn in sample.turns for message in turn.messages])

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        raise AssertionError("the host of a sample is opened first")


class Hosting:
    """The host of one attempt."""

    def __init__(self, stage: AttemptStage, shown: Sequence[Message]) -> None:
        self._stage = stage
        self._shown = list(shown)  # what the agent's session holds

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return what is new for the agent, or all that it may see where its session holds something else."""
        if self._shown:
            said = next(
                (step.message.text for step in reversed(trajectory.steps) if step.message.role == "assistant"), ""
            )
            await self._stage.hear(said)
            self._shown.append(Message.of("assistant", said or EMPTY))
        if self._stage.ended is not None:
            return None
        seen, self._shown = self._shown, window(self._stage.history)
        if seen and self._shown[: len(seen)] == seen:
            return Turn(messages=tuple(self._shown[len(seen) :]))
        return FreshTurn(messages=tuple(self._shown))


def window(messages: Sequence[Message]) -> list[Message]:
    """Return the part of a history that the agent sees: the first message, and as many of the last as fit.

    Raises:
        EnvironmentFailed: the history does not end with a message for the agent; officially an assertion error.
    """
    if len(messages) % 2 == 0:
        raise EnvironmentFailed("The history of {count} messages does not end with one for the agent.", kind="history", count=len(messages))  # fmt: skip
    first, *rest = messages
    size = segments(first.text)
    kept: list[Message] = []
    for message in reversed(rest):
        size += segments(message.text)
        if size >= MOST_SEGMENTS:
            break
        kept.append(message)
    if kept and kept[-1].role == "user":
        kept.pop()
    if omitted := len(rest) - len(kept):
        first = Message.of("user", f"{first.text}\n\n[NOTICE] {omitted} messages are omitted.")
    return [first, *reversed(kept)]


def segments(text: str) -> int:
    """Count the segments of a text: runs of at most seven letters, and every other character but space and line feed.

    >>> segments("evaluate it, 42"), segments("é 字")
    (6, 2)
    """
    count = letters = 0
    for character in text:
        if character.isalpha():
            letters += 1
            count += letters % _SEGMENT_LETTERS == 1
        else:
            letters = 0
            count += character not in " \n"
    return count
