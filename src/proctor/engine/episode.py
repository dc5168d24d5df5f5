"""Play the turns of one sample with an agent."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from proctor.core.declared import SessionInfo, Underway, declared, refuse_misspelt
from proctor.core.errors import AgentFailed, EnvironmentFailed, ProctorError, UserFailed
from proctor.core.sample import Sample, Turn
from proctor.core.task import Agent, Environment, Session, User
from proctor.core.trajectory import Step, Stop, ToolStyle, Trajectory
from proctor.transport.redact import quoted


class Episode:
    """Plays a sample and keeps the steps made so far, so that a time limit does not lose an answer already given."""

    def __init__(self, agent: Agent, environment: Environment | None = None, user: User | None = None) -> None:
        self._agent = agent
        self.environment = environment
        self._user = user
        self._session: Session | None = None
        self._turn = 0
        self._sending = False
        self._in_words = False
        self._steps: list[Step] = []

    async def play(self, sample: Sample) -> Trajectory:
        """Play all turns of the sample, then those of the simulated user; end early at a step limit."""
        async with self._agent.open(sample, self.environment) as session:
            self._session = session
            refuse_misspelt(Underway, session, self._agent.name)
            for turn in sample.turns:
                if not await self._send(session, turn):
                    return self._whole()
            while (reply := await self._reply(sample)) is not None:
                said = [Step(message=message, author="user", turn=self._turn) for message in reply.messages]
                self._steps.extend(said)  # the sample does not hold them
                if not await self._send(session, reply):
                    break
            return self._whole()

    def so_far(self, stop: Stop | None = None) -> Trajectory:
        """Return the trajectory up to now; `stop` says why, when something outside ended it."""
        steps = self._steps
        if self._sending:  # cut short: what the session had already received counts
            steps = [*steps, *_numbered(declared(Underway, self._session).received, self._turn)]
        about, state = declared(SessionInfo, self._session), None
        with suppress(EnvironmentFailed):
            state = self._state(about)
        return self._made(steps, about, state, stop)

    def _whole(self) -> Trajectory:
        about = declared(SessionInfo, self._session)
        return self._made(self._steps, about, self._state(about))

    def _made(
        self, steps: Sequence[Step], about: SessionInfo, state: Mapping[str, Any] | None, stop: Stop | None = None
    ) -> Trajectory:
        # Recorded sessions have the style of their record; tools that were only told in words can only be called in words.
        tools = "text" if self._in_words else about.tools or self._agent.tools
        return Trajectory(steps=tuple(steps), stop=stop or _stop(steps), tools=tools, state=state)

    def _state(self, about: SessionInfo) -> Mapping[str, Any] | None:
        if self.environment is None:  # an agent may have a state of its own
            return about.state if isinstance(about.state, Mapping) else None
        try:
            return self.environment.state()
        except Exception as error:
            raise EnvironmentFailed(
                "The environment broke: {type}: {error}", type=type(error).__name__, error=quoted(error)
            ) from error

    async def _reply(self, sample: Sample) -> Turn | None:
        if self._user is None:
            return None
        try:
            return await self._user.reply(sample, self.so_far())
        except ProctorError:
            raise
        except Exception as error:
            raise UserFailed(
                "The simulated user broke: {type}: {error}", type=type(error).__name__, error=quoted(error)
            ) from error

    async def _send(self, session: Session, turn: Turn) -> bool:
        self._sending = True
        self._in_words |= turn.as_text is not None and not turn.tools
        steps = await session.send(turn_for_agent(turn, self._agent.tools))
        if type(steps) is not list and not isinstance(steps, Sequence):  # the first is far cheaper
            raise AgentFailed("The agent gave {type} instead of steps.", type=type(steps).__name__)
        for step in steps:
            if not isinstance(step, Step):
                raise AgentFailed("The agent gave {type} instead of steps.", type=type(step).__name__)
        self._steps.extend(_numbered(steps, self._turn))
        self._sending = False
        self._turn += 1
        return not steps or steps[-1].stop not in ("step_limit", "time_limit")


def turn_for_agent(turn: Turn, tools: ToolStyle) -> Turn:
    """Return the turn as an agent of that kind sees it: only here do native tools become text."""
    if tools == "native" or turn.as_text is None:
        return turn
    return replace(turn, messages=turn.as_text, tools=(), as_text=None)


def _numbered(steps: Sequence[Step], turn: int) -> list[Step]:
    return [step if step.turn == turn else replace(step, turn=turn) for step in steps]


def _stop(steps: Sequence[Step]) -> Stop:
    steps = [step for step in steps if step.message.role != "user"]
    if not steps:
        return "empty"
    last = steps[-1]
    if last.stop != "done":
        return last.stop
    for step in steps:
        if step.message.text or step.message.calls:
            return "done"
    return "empty"
