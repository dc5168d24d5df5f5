"""Sessions that several agents share: the tool loop of a conversation that keeps its messages, and a recorded one."""

import time
from collections.abc import Awaitable, Callable, Collection, Sequence

from msgspec.structs import replace

from proctor.chat.message_text import result_with_text
from proctor.chat.prompted_tools import describe_tools, read_calls, results_message
from proctor.core.around import around
from proctor.core.declared import EnvironmentInfo, ModelInfo, declared
from proctor.core.errors import EpisodeOver
from proctor.core.media_type import PICTURES, result_media
from proctor.core.run import most_replies
from proctor.core.sample import File, Message, Tool, ToolCall, ToolResult, Turn
from proctor.core.task import CallsTogether, Environment, Session
from proctor.core.trajectory import Step, Stop, Trajectory

Ask = Callable[[Sequence[Message], Sequence[Tool]], Awaitable[Sequence[Step]]]


NO_ENVIRONMENT = EnvironmentInfo()


class Clock:
    """Measures the time since it was made."""

    def __init__(self) -> None:
        self.started = time.time()
        self._clock = time.perf_counter()

    def timed(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Return the steps; a single one without a start gets that of this clock, and the time until now."""
        if len(steps) == 1 and not steps[0].started:
            return [replace(steps[0], started=self.started, seconds=time.perf_counter() - self._clock)]
        return steps

    def split(self, steps: Sequence[Step]) -> Sequence[Step]:
        """Return the steps with the time until now in equal parts, as what was done together is not measured apart."""
        seconds = (time.perf_counter() - self._clock) / max(1, len(steps))
        return [
            replace(step, started=self.started + index * seconds, seconds=seconds) for index, step in enumerate(steps)
        ]


class AgentConversation:
    """Asks with all messages so far, lets the environment answer tool calls, and asks again until none is made.

    Without an environment calls are what the agent answers: nobody could answer them.

    Args:
        max_steps: replies at most in one turn, the limit of steps of the run if None; a turn that needs more stops
            as "step_limit", or as "task_limit" where the task has a lower limit.
        prompted: describe the tools in a system message, and read calls from the text of the replies.
        about: what the agent declares of a model; it says which files of results and messages are sent, pictures of results without.

    Attributes:
        received: the steps of the turn that is under way, for a time limit that ends it.
        files_left_out: how many files of the messages so far were not sent.
    """

    def __init__(
        self,
        ask: Ask,
        environment: Environment | None,
        *,
        max_steps: int | None = None,
        prompted: bool = False,
        about: ModelInfo | None = None,
    ) -> None:
        self.received: list[Step] = []
        self.files_left_out = 0
        self._ask = ask
        self._environment = environment
        self._about = declared(EnvironmentInfo, environment) if environment is not None else NO_ENVIRONMENT
        self._max_steps = max_steps
        self._prompted = prompted
        self._media = PICTURES
        self._takes = None
        if about is not None:
            self._media = result_media(pictures=about.pictures, pdf=about.pdf, sound=about.sound)
            self._takes = about.takes
        self._messages: list[Message] = []
        self._tools: Sequence[Tool] = ()

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Return the agent's reply, or with an environment all steps until it answers."""
        self.received = []
        self._messages.extend(turn.messages)
        if self._takes is not None:
            for message in turn.messages:
                for part in message.parts:
                    if type(part) is File and not self._takes(part):
                        self.files_left_out += 1
        self._tools = turn.tools or self._tools  # those of an earlier turn stay, as a simulated user brings none
        of_task, limits = self._about.max_steps, around.get().limits
        most = self._max_steps or limits.steps if of_task is None else most_replies(limits, self._max_steps, of_task)
        for _ in range(most):
            steps = await self._reply()
            self.received.extend(steps)
            if self._environment is None:
                break
            calls = [call for step in steps for call in step.message.calls]
            last = steps[-1]
            if not calls or last.message.role == "tool" or last.stop != "done":
                break
            if self._about.check is not None:
                self._about.check(last.message)
            is_offered_all = self._tools == tuple(self._environment_tools())
            if not await self._run(self._environment, calls):
                break
            if is_offered_all:  # a call may add tools, or take some away
                self._tools = tuple(self._environment_tools())
        else:
            stop: Stop = "step_limit" if of_task is None or most < of_task else "task_limit"
            self.received[-1] = replace(self.received[-1], stop=stop)
        steps, self.received = self.received, []
        return steps

    def _environment_tools(self) -> Sequence[Tool]:
        return declared(EnvironmentInfo, self._environment).tools

    async def _reply(self) -> Sequence[Step]:
        in_words = self._prompted and self._tools
        asked = [describe_tools(self._tools), *self._messages] if in_words else self._messages
        if not self._media:
            asked = list(map(_without_files, asked))
        steps = await self._ask(asked, () if in_words else self._tools)
        for step in steps:
            self._messages.append(step.message)  # its own words; only we see the calls in them
        if in_words:
            return [replace(step, message=read_calls(step.message, self._tools)) for step in steps]
        if self._about.wording is not None and not self._tools:
            return [replace(step, message=self._about.wording.read_calls(step.message)) for step in steps]
        return steps

    async def _run(self, environment: Environment, calls: Sequence[ToolCall]) -> bool:
        """Run the calls of one reply; False if the environment does not run them, which ends the turn."""
        results: list[ToolResult] = []
        wording = None if self._tools else self._about.wording
        media = self._media if wording is None else ()
        batches = [calls] if isinstance(environment, CallsTogether) else [[call] for call in calls]
        for batch in batches:
            clock = Clock()
            try:
                given = await _call(environment, batch)
            except EpisodeOver as over:
                self.received.extend(clock.split(_steps(over.results)))
                raise
            if given is None:
                return False
            worded = [result_with_text(result, self._sent(result) if media else ()) for result in given]
            results.extend(worded)
            self.received.extend(clock.split(_steps(worded)))
        if wording is not None:
            self._messages.extend(wording.results(calls, results))
        else:
            self._messages.append(results_message(results, media) if self._prompted else _of_tool(results))
        return True

    def _sent(self, result: ToolResult) -> Collection[str]:
        """Return the media types of the files of a result that the model takes."""
        files = (file for file in result.files if file.media_type in self._media)
        return {file.media_type for file in files if self._takes is None or self._takes(file)}


class RecordedConversation:
    """Replays a recorded trajectory turn by turn, whatever the messages of the turns are.

    Attributes:
        tools: how its tools were offered, which need not be how the agent would be offered them.
        state: that at its end.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self.tools = trajectory.tools
        self.state = trajectory.state
        self._trajectory = trajectory
        self._turn = 0

    async def send(self, turn: Turn) -> Sequence[Step]:
        steps = [step for step in self._trajectory.steps if step.turn == self._turn]
        self._turn += 1
        if steps and self._trajectory.stop != "done" and steps[-1] is self._trajectory.steps[-1]:
            steps[-1] = replace(steps[-1], stop=self._trajectory.stop)
        return steps


def newest(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages since the agent's last one."""
    replies = [index for index, message in enumerate(messages) if message.role in ("assistant", "tool")]
    return messages[replies[-1] + 1 :] if replies else messages


class Performed:
    """Makes the calls that another session only names, and adds what they return."""

    def __init__(self, session: Session, environment: Environment) -> None:
        self.received: list[Step] = []
        self._session = session
        self._environment = environment

    async def send(self, turn: Turn) -> Sequence[Step]:
        self.received = []
        for step in await self._session.send(turn):
            self.received.append(step)
            if not step.message.calls:
                continue
            try:
                results = await _call(self._environment, step.message.calls)
            except EpisodeOver as over:
                self.received.extend(_steps(over.results))
                raise
            if results is None:
                break
            self.received.extend(_steps(results))
        return self.received


def _steps(results: Sequence[ToolResult]) -> list[Step]:
    return [Step(message=_of_tool([result]), author="tool") for result in results]


def _without_files(message: Message) -> Message:
    if message.role != "tool":
        return message
    return replace(
        message, parts=tuple(replace(p, files=()) if isinstance(p, ToolResult) else p for p in message.parts)
    )


def _of_tool(results: Sequence[ToolResult]) -> Message:
    return Message(role="tool", parts=tuple(results))


async def _call(environment: Environment, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
    if isinstance(environment, CallsTogether):
        return await environment.call_all(calls)
    return [await environment.call(call) for call in calls]
