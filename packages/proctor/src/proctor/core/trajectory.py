"""Define a trajectory: what an agent did, in order."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal, Self

import msgspec
from msgspec.structs import replace

from proctor.core.sample import Message, Part, Sample, ToolCall, ToolResult, Turn

Stop = Literal["done", "length", "filtered", "refused", "empty", "step_limit", "time_limit", "task_limit", "waiting"]
ToolStyle = Literal["native", "text"]
ASKING = "approval"  # the author of a question to approve a call, in a conversation as a simulated user sees it


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and money; `cost` is in the currency of the price table, None without a price.

    Input counts all that was sent: also what a prompt cache held (`cached_tokens`) or was given to keep (`cache_write_tokens`;
    of those, `cache_write_1h_tokens` for an hour). Totals of stored runs have the cost of what was written, and not its number.

    >>> (Usage(input_tokens=3) + Usage(input_tokens=2, output_tokens=1)).input_tokens
    5
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    cost: float | None = None
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            requests=self.requests + other.requests,
            cost=other.cost if self.cost is None else self.cost + (other.cost or 0.0),
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cache_write_1h_tokens=self.cache_write_1h_tokens + other.cache_write_1h_tokens,
        )


NOTHING = Usage()


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One message or tool result; `started` is Unix time, the other times are lengths in seconds."""

    message: Message
    turn: int = 0
    author: str = "agent"
    started: float = 0.0
    seconds: float = 0.0
    first_token_seconds: float | None = None
    usage: Usage | None = None
    stop: Stop = "done"


class StateChange(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the environment's state that a turn changed; None if it did not exist before, or does not after.

    >>> StateChange(turn=0, path="$.cart[1]", after="apple").before is None
    True
    """

    turn: int
    path: str
    before: Any = None
    after: Any = None


FaultKind = Literal["error", "lost", "delay", "cut"]


class InjectedFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was put into a call on purpose; `call` is the number of the call among those to the environment, from 0."""

    call: int
    tool: str
    kind: FaultKind


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waited for approval, and what was decided.

    Attributes:
        hint: what the agent itself says about the call, if anything.
        approved: None if nobody decided.
        by: "policy" is the option `approve` of the run.
        words: what the user said.
        awaits: a yes or no ("consent"); a result that only words can give ("words"); or an answer that the next turn gives,
            as graphs ask for one, else yes or no ("turn").
        turn: the turn in which it waited.
        step: the number of steps before the decision.
    """

    call: ToolCall
    hint: str = ""
    approved: bool | None = None
    by: Literal["policy", "user", ""] = ""
    words: str = ""
    awaits: Literal["consent", "words", "turn"] = "consent"
    turn: int = 0
    step: int = 0


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """What was done in one attempt.

    Attributes:
        steps: every message and tool result, in order.
        stop: why it ended; "task_limit" is a rule of the task itself, "step_limit" one of the agent or of the run;
            "waiting" means that a call waits for approval and nobody decided.
        tools: how tools were offered.
        state: the last state of the environment, or of the agent's own; of a large one only the entries that changed.
        changes: what each turn changed in the environment.
        faults: what was put into its calls on purpose.
        approvals: the calls that waited for approval, in the order of the decisions.
        max_steps: replies at most in one turn by the rules of the task; None without such a rule, or of an earlier version.
    """

    steps: tuple[Step, ...] = ()
    stop: Stop = "done"
    tools: ToolStyle = "text"
    state: Mapping[str, Any] | None = None
    changes: tuple[StateChange, ...] = ()
    faults: tuple[InjectedFault, ...] = ()
    approvals: tuple[Approval, ...] = ()
    max_steps: int | None = None

    @classmethod
    def of(cls, answer: str) -> Self:
        """Make a trajectory of one answer.

        >>> Trajectory.of("Paris").answer
        'Paris'
        """
        return cls(steps=(Step(message=Message.of("assistant", answer)),))

    @property
    def answer(self) -> str:
        """Return the text of the last assistant message that has text; '' without one."""
        for step in reversed(self.steps):
            if step.message.role == "assistant" and (text := step.message.text):
                return text
        return ""

    def calls(self, turn: int | None = None) -> tuple[ToolCall, ...]:
        """Return the tool calls made, in order; of one turn, or of all."""
        return tuple(
            call
            for step in self.steps
            if step.message.role == "assistant" and turn in (None, step.turn)
            for call in step.message.calls
        )

    @property
    def shows_calls(self) -> bool:
        """True if calls can be seen, made or not: tools were offered natively, or a call or its result was reported."""
        return self.tools == "native" or any(step.message.calls or step.message.role == "tool" for step in self.steps)

    @property
    def unanswered(self) -> tuple[ToolCall, ...]:
        """Return the agent's calls without a result, where others have one or the agent spoke again in the same turn.

        None where a rule of the task ended the conversation, as a last call may do; and none of an agent that only names calls.
        """
        if self.stop == "task_limit" or not self.steps[1:] or not any(step.message.calls for step in self.steps):
            return ()
        agents = [step for step in self.steps if step.author != "user"]  # a simulated user may have tools too
        results = [part for step in agents for part in step.message.parts if isinstance(part, ToolResult)]
        left = Counter((result.id or result.name) for result in results)
        last_words = {step.turn: number for number, step in enumerate(agents) if step.message.role == "assistant"}
        calls: list[ToolCall] = []
        for number, step in enumerate(agents):
            for call in step.message.calls if step.message.role == "assistant" else ():
                key = call.id or call.name
                left[key] -= 1
                if left[key] < 0 and (results or number < last_words[step.turn]):
                    calls.append(call)
        return tuple(calls)

    @property
    def usage(self) -> Usage:
        """Return the sum over all steps."""
        used = [step.usage for step in self.steps if step.usage is not None]
        return sum(used[1:], used[0]) if used else Usage()


def carried_out(trajectory: Trajectory) -> Trajectory:
    """Return the trajectory without the calls that a fault kept from being carried out, for who makes its calls again."""
    never = {fault.call for fault in trajectory.faults if fault.kind == "error"}
    if not never:
        return trajectory
    agents = (step for step in trajectory.steps if step.author != "user")  # a simulated user may have tools too
    results = [part for step in agents for part in step.message.parts if isinstance(part, ToolResult)]
    gone = {result.id for number, result in enumerate(results) if number in never}

    def is_kept(part: Part) -> bool:
        return not (isinstance(part, ToolCall | ToolResult) and part.id in gone)

    kept = [
        replace(step, message=replace(step.message, parts=tuple(filter(is_kept, step.message.parts))))
        for step in trajectory.steps
    ]
    return replace(trajectory, steps=tuple(step for step in kept if step.message.parts or step.message.role != "tool"))


def turns_of(sample: Sample, trajectory: Trajectory) -> tuple[Turn, ...]:
    """Return the turns of a sample as they were played: its own, then those of a simulated user."""
    added: dict[int, list[Message]] = {}
    for step in trajectory.steps:
        if step.turn >= len(sample.turns) and step.message.role == "user":
            added.setdefault(step.turn, []).append(step.message)
    return (*sample.turns, *(Turn(messages=tuple(said)) for said in added.values()))
