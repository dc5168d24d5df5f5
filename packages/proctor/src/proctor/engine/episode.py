"""Play the turns of one sample with an agent."""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.declared import OpenTurn, SessionInfo, UserInfo, declared, refuse_misspelt
from proctor.core.errors import AgentFailed, EpisodeOver, ProctorError, UserFailed
from proctor.core.sample import FreshTurn, Sample, Turn
from proctor.core.task import Agent, Session, TakesSample, User, WaitsForApproval
from proctor.core.trajectory import Approval, StateChange, Step, Stop, ToolStyle, Trajectory
from proctor.engine.acting import Acting, State, changes, kept
from proctor.engine.approving import as_conversation, decide_by_policy, decide_by_user
from proctor.engine.blame import from_outside
from proctor.transport.redact import quoted

MOST_TURNS = 1_000  # of a user who may have no limit of its own
ENDS = ("step_limit", "time_limit", "task_limit", "waiting")

# Whether calls of a session may wait, by its class: the question costs what a sample does.
_CAN_WAIT: dict[type, bool] = {}


class Episode:
    """Plays a sample and keeps the steps made so far, so that a time limit does not lose an answer already given.

    Args:
        under_way: is set when the conversation goes on after its first turn.
        approve: the policy for calls that wait for approval.

    Attributes:
        user_seconds: how long the simulated user took for all it said.
        files_left_out: how many files of its messages the agent was not given, where its session knows.
    """

    def __init__(
        self, agent: Agent, user: User | None = None, under_way: asyncio.Event | None = None, approve: str | None = None
    ) -> None:
        self.user_seconds = 0.0
        self.files_left_out = 0
        self._agent = agent
        self._under_way = under_way
        self._approve = approve
        self._approvals: list[Approval] = []
        self._user = user
        self._environment: Acting | None = None
        self._session: Session | None = None
        self._waits: Any = None  # the session, if calls of it may wait for approval
        self._turn = 0
        self._sending = False
        self._in_words = False
        self._steps: list[Step] = []
        self._start: State | None = None
        self._state: State | None = None
        self._changes: list[StateChange] = []

    async def play(self, sample: Sample, environment: Acting | None = None) -> Trajectory:
        """Play all turns of the sample, then those of the simulated user; end early at a limit."""
        self._environment = environment
        self._start = self._state = await environment.state() if environment is not None else None
        if self._user is not None and isinstance(self._user, TakesSample):
            self._user = self._user.open(sample, environment)
        try:
            turn = sample.turns[0] if sample.turns else await self._next(sample)
        except EpisodeOver:
            return await self._ended_by_rule()
        if turn is None and self._user is not None and not self._steps:  # one that stops at once has said so
            raise UserFailed("The simulated user said nothing.", kind="empty")
        while True:
            async with self._agent.open(sample, environment) as session:
                self._session = session
                if session.__class__ not in _CAN_WAIT:
                    _CAN_WAIT[session.__class__] = isinstance(session, WaitsForApproval)
                self._waits = session if _CAN_WAIT[session.__class__] else None
                refuse_misspelt(OpenTurn, session, self._agent.name)
                try:
                    while turn is not None and await self._send(session, turn, sample):
                        turn = await self._next(sample)
                        if turn is None:
                            if self._waits is not None:
                                await self._answer_questions(self._waits, sample)
                        elif self._under_way is not None:
                            self._under_way.set()
                        if isinstance(turn, FreshTurn):
                            break  # to open another session
                    else:
                        if turn is None and self._user is not None and environment is not None:
                            await self._look(environment)  # the user may have acted before it ended the conversation
                        return self._made(self._steps)
                except EpisodeOver:
                    return await self._ended_by_rule()

    async def _ended_by_rule(self) -> Trajectory:
        if self._environment is not None:
            await self._look(self._environment)
        return self._made(self._received(), "task_limit")

    def so_far(self, stop: Stop | None = None) -> Trajectory:
        """Return the trajectory so far; `stop` is the reason if something other than the agent ended it."""
        return self._made(self._received(), stop)

    def _received(self) -> Sequence[Step]:
        if not self._sending:
            return self._steps
        received = declared(OpenTurn, self._session).received  # cut short: what the session had already received counts
        return [*self._steps, *_numbered(received, self._turn)]

    def _made(self, steps: Sequence[Step], stop: Stop | None = None) -> Trajectory:
        about = declared(SessionInfo, self._session)
        left_out = about.files_left_out  # of an agent that has something else under that name, nothing
        self.files_left_out = left_out if type(left_out) is int else 0
        # Recorded sessions have the style of their record; tools that were only told in words can only be called in words.
        tools = "text" if self._in_words else about.tools or self._agent.tools
        state: Mapping[str, Any] | None
        if self._state is not None:
            state = kept(self._start, self._state)
        else:  # an agent may have a state of its own
            state = about.state if isinstance(about.state, Mapping) else None
        return Trajectory(
            steps=tuple(steps),
            stop=stop or ("waiting" if self._approvals and self._is_waiting else _stop(steps)),
            tools=tools,
            state=state,
            changes=tuple(self._changes),
            faults=tuple(self._environment.faults) if self._environment is not None else (),
            approvals=(*about.approvals, *self._approvals),
            max_steps=self._environment.max_steps if self._environment is not None else None,
        )

    @property
    def _is_waiting(self) -> bool:
        """True if a call waits for approval, and nobody decided."""
        return bool(self._approvals) and self._approvals[-1].approved is None

    async def _next(self, sample: Sample) -> Turn | None:
        """Return the next turn of the sample, then those of the simulated user."""
        if self._turn < len(sample.turns):
            return sample.turns[self._turn]
        if self._user is None:
            return None
        turn = await self._ask_user(self._user, sample)
        said = turn.messages if turn is not None else ()
        self._steps.extend(Step(message=message, author="user", turn=self._turn) for message in said)
        return turn

    async def _ask_user(self, user: User, sample: Sample, waiting: Approval | None = None) -> Turn | None:
        """Return what the simulated user says next, or about a call that waits for its approval."""
        if self._turn >= MOST_TURNS:
            raise UserFailed("The simulated user came to no end in {count} turns.", kind="endless", count=self._turn)
        await asyncio.sleep(
            0
        )  # where agent and user both answer at once, nothing else would run, not even a time limit
        clock = time.perf_counter()
        try:
            return await self._reply(user, sample, waiting)
        finally:
            self.user_seconds += time.perf_counter() - clock
            self._steps.extend(_numbered(declared(UserInfo, user).steps, self._turn))

    async def _reply(self, user: User, sample: Sample, waiting: Approval | None) -> Turn | None:
        try:
            turn = await user.reply(sample, as_conversation(sample, self.so_far(), waiting))
        except BaseException as error:
            if isinstance(error, ProctorError | EpisodeOver) or from_outside(error):
                raise
            raise UserFailed(
                "The simulated user broke: {type}: {error}", type=type(error).__name__, error=quoted(error)
            ) from error
        if turn is not None and not isinstance(turn, Turn):
            raise UserFailed("The simulated user returned {type} instead of words.", type=type(turn).__name__)
        return turn

    async def _send(self, session: Session, turn: Turn, sample: Sample) -> bool:
        self._in_words |= turn.as_text is not None and not turn.tools
        environment = self._environment
        if environment is not None and not turn.tools and environment.tools:
            turn = replace(turn, tools=tuple(environment.tools))
        style = self._agent.tools
        if environment is not None:  # with one, agents of other libraries have tools that they call natively
            style = declared(SessionInfo, session).tools or style
        turn = turn_for_agent(turn, style)
        steps = await self._add_steps(session.send(turn))
        waits: WaitsForApproval | None = self._waits
        if waits is not None and not all(approval.awaits == "turn" for approval in waits.waiting):
            steps = await self._settle(waits, sample, self._user) or steps
        if environment is not None:
            await self._look(environment)
        self._turn += 1
        return not (self._approvals and self._is_waiting) and (not steps or steps[-1].stop not in ENDS)

    async def _answer_questions(self, session: WaitsForApproval, sample: Sample) -> None:
        """Decide about questions of the agent that no further turn answered."""
        if session.waiting:
            self._turn -= 1  # they are of the turn that was played last
            await self._settle(session, sample, None)
            self._turn += 1

    async def _settle(self, session: WaitsForApproval, sample: Sample, user: User | None) -> Sequence[Step]:
        """Decide about the calls that wait for approval until none does, or nobody decides; return the last steps."""
        steps: Sequence[Step] = ()
        most = around.get().limits.steps
        for _ in range(most):
            if not session.waiting:
                return steps
            waiting = [replace(approval, turn=self._turn, step=len(self._steps)) for approval in session.waiting]
            for number, approval in enumerate(waiting):
                waiting[number] = await self._decide(approval, sample, user)
                self._approvals.append(waiting[number])
                if waiting[number].approved is None:
                    self._approvals.extend(waiting[number + 1 :])
                    return steps
            steps = await self._add_steps(session.decide(waiting))
        raise AgentFailed("The agent asked for approval {count} times in one turn.", kind="step_limit", count=most)

    async def _decide(self, waiting: Approval, sample: Sample, user: User | None) -> Approval:
        """Return what waits for approval with the decision of the policy, else of the user; without one if neither decides."""
        decided = decide_by_policy(self._approve, waiting)
        if decided is not None or user is None:
            return decided or waiting
        turn = await self._ask_user(user, sample, waiting)
        words = turn.messages[-1].text.strip() if turn is not None and turn.messages else ""
        return decide_by_user(waiting, words) if words else waiting

    async def _add_steps(self, playing: Awaitable[Sequence[Step]]) -> Sequence[Step]:
        """Let the session play, and keep the steps that it made."""
        self._sending = True
        steps = await (playing if self._environment is None else _acted(playing, self._environment))
        if type(steps) is not list and not isinstance(steps, Sequence):  # the first is far cheaper
            raise AgentFailed("The agent gave {type} instead of steps.", type=type(steps).__name__)
        for step in steps:
            if not isinstance(step, Step):
                raise AgentFailed("The agent gave {type} instead of steps.", type=type(step).__name__)
            self._steps.append(step if step.turn == self._turn else replace(step, turn=self._turn))
        self._sending = False
        return steps

    async def _look(self, environment: Acting) -> None:
        """Note what the turn changed in the environment."""
        state = await environment.state()
        self._changes.extend(changes(self._turn, self._state, state))
        self._state = state


async def _acted(playing: Awaitable[Sequence[Step]], environment: Acting) -> Sequence[Step]:
    """Return the steps of a session; what ended the sample inside a tool is raised, whatever the agent's library made of it."""
    try:
        steps = await playing
    except Exception as error:
        if environment.ended is not None and environment.ended is not error:
            raise environment.ended from error
        raise
    if environment.ended is not None:
        raise environment.ended
    return steps


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
