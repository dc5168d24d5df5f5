"""Shared parts of the agents of other libraries: options, and their replies as our messages."""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Annotated

import msgspec
from msgspec.structs import replace

from proctor import registry
from proctor.agents.environment_tools import EnvironmentTools
from proctor.agents.libraries import wrapper_of
from proctor.chat.agent_replies import clean
from proctor.chat.message_text import as_json
from proctor.chat.thinking import parted
from proctor.config import converted
from proctor.core.around import around
from proctor.core.errors import AgentFailed, BadInput, MissingExtra
from proctor.core.installing import is_installed
from proctor.core.sample import Message, Part, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.task import Agent, Environment, Session
from proctor.core.trajectory import Approval, Step, Stop, ToolStyle, Usage


class LibraryOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an agent of a library.

    Attributes:
        max_steps: replies of its models at most in one turn, `steps` of the run's limits when None; a turn that
            needs more stops as "step_limit".
    """

    max_steps: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def steps(self, own: int | None = None) -> int:
        """Return the most replies of the turn under way; `own` is the bound of the agent itself."""
        if self.max_steps is not None:
            return self.max_steps
        return around.get().limits.steps if own is None else min(own, around.get().limits.steps)


class FrameworkAgent:
    """An agent of a library, with a session of its own for each sample, its own tools and those of the environment."""

    tools: ToolStyle = "text"

    def __init__(self, name: str, start: Callable[[EnvironmentTools], Session]) -> None:
        self.name = name
        self._start = start

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        return nullcontext(self._start(EnvironmentTools(environment)))


def load_agent(
    kind: str,
    argument: str,
    options: Mapping[str, object],
    *,
    package: str,
    can_be_made: Callable[[object], bool] = lambda _: False,
) -> Agent:
    """Return the agent `KIND:./file.py:object` or `KIND:package.module:object`.

    Args:
        can_be_made: True for an object that makes agents of the library.

    Raises:
        MissingExtra: the library is not installed.
        BadInput: no such object, one of another library, or an unknown option.
    """
    name = f"{kind}:{argument}"
    chosen = converted(options, LibraryOptions, name)
    require_library(kind, package)
    target = registry.load_object(argument, "agent")
    part = registry.AGENTS.find(kind)
    wrap = part.wrap if can_be_made(target) else wrapper_of(target)
    if wrap is None or wrap is not part.wrap:
        raise _no_agent(target, name, package)
    return wrap(target, name=name, options=chosen)


def make_and_wrap(
    kind: str, session: Callable[..., Session], *, package: str, parts: Sequence[str] = ()
) -> tuple[Callable[[str, Mapping[str, object]], Agent], Callable[..., Agent]]:
    """Return two functions: one makes the agent of `KIND:./file.py:object` or `KIND:package.module:object`, the other wraps an existing object.

    Args:
        session: makes a conversation from the agent, its `LibraryOptions` and the environment's tools.
        parts: methods and attributes that an agent of the library has.
    """

    def make(argument: str, options: Mapping[str, object]) -> Agent:
        return load_agent(kind, argument, options, package=package)

    def wrap(target: object, *, name: str, options: LibraryOptions = LibraryOptions()) -> Agent:  # noqa: B008 - frozen
        require_parts(target, name, package, *parts)
        return FrameworkAgent(name, partial(session, target, options))

    return make, wrap


def require_parts(target: object, name: str, package: str, *parts: str) -> None:
    """Check that an object of a library is an agent: it has these methods and attributes.

    Raises:
        BadInput: one is missing.
    """
    if any(not hasattr(target, part) for part in parts):
        raise _no_agent(target, name, package)


def require_library(kind: str, package: str) -> None:
    """Check that a library is there.

    Raises:
        MissingExtra: it is not.
    """
    if not is_installed(package):
        raise MissingExtra(kind.replace("_", "-"), f"{kind}:")


def reply_message(text: str, *, thoughts: Sequence[str] = (), calls: Sequence[ToolCall] = ()) -> Message:
    """Return a model's reply as a message; `<think>` blocks in the text are thoughts too.

    >>> reply_message("<think>2 + 2</think>4").parts
    (Reasoning(text='2 + 2', opaque=None), Text(text='4'))
    """
    thought, rest = parted(clean(text))
    parts: list[Part] = [Reasoning(text=clean(one)) for one in (*thoughts, thought) if one]
    if rest:
        parts.append(Text(text=rest))
    return Message(role="assistant", parts=(*parts, *calls))


def result_message(name: str, value: object, *, id: str = "", is_error: bool = False) -> Message:
    content = ToolResult(name=name, content=clean(as_text(value)), id=id, is_error=is_error)
    return Message(role="tool", parts=(content,))


def as_text(value: object) -> str:
    """Return an answer or result of any type as text: JSON where it is no text.

    >>> as_text("Paris"), as_text({"city": "Köln"}), as_text(None)
    ('Paris', '{"city": "Köln"}', '')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        value = dump(mode="json")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    return as_json(value)


def with_answer(steps: Sequence[Step], output: object, author: str = "agent") -> list[Step]:
    """Return the steps of a turn, with its answer appended unless it is the last text already."""
    text, played = as_text(output), list(steps)
    spoken = next((step for step in reversed(played) if step.message.role == "assistant"), None)
    words = spoken.message.text if spoken is not None else None
    if words is not None and _same(words, clean(text)):
        return played
    message = reply_message(text)
    if played and spoken is played[-1] and not words and not spoken.message.calls:
        played[-1] = replace(spoken, message=replace(spoken.message, parts=(*spoken.message.parts, *message.parts)))
    else:
        started = played[-1].started + played[-1].seconds if played else time.time()
        played.append(Step(message=message, author=author, started=started))
    return played


def with_usage(steps: Sequence[Step], total: Usage) -> list[Step]:
    """Return the steps; usage beyond theirs (of agents that are tools of others) counts at the last one."""
    theirs = sum((step.usage for step in steps if step.usage is not None), Usage())
    more = Usage(
        input_tokens=max(total.input_tokens - theirs.input_tokens, 0),
        output_tokens=max(total.output_tokens - theirs.output_tokens, 0),
        cached_tokens=max(total.cached_tokens - theirs.cached_tokens, 0),
        reasoning_tokens=max(total.reasoning_tokens - theirs.reasoning_tokens, 0),
        requests=max(total.requests - theirs.requests, 0),
        cache_write_tokens=max(total.cache_write_tokens - theirs.cache_write_tokens, 0),
    )
    if not steps or more == Usage():
        return list(steps)
    return [*steps[:-1], replace(steps[-1], usage=(steps[-1].usage or Usage()) + more)]


def denial_of(approval: Approval) -> str:
    """Return the result that the agent's model sees for a denied call."""
    return f"The user denied this call: {approval.words}" if approval.words else "This call was denied."


def with_stop(steps: Sequence[Step], stop: Stop) -> list[Step]:
    """Return the steps, with the reason for the stop in the last one.

    Raises:
        AgentFailed: it does not exist.
    """
    if not steps:
        raise AgentFailed("The agent stopped ({stop}) before its first reply.", kind=stop, stop=stop)
    return [*steps[:-1], replace(steps[-1], stop=stop)]


def _no_agent(target: object, name: str, package: str) -> BadInput:
    kind = type(target).__name__
    return BadInput("'{name}' is no agent of {package}: it is {type}.", name=name, package=package, type=kind)


def _same(words: str, answer: str) -> bool:
    if words == answer or parted(answer)[1] == words:
        return True
    try:
        data, other = json.loads(words), json.loads(answer)
    except (ValueError, RecursionError):
        return False
    return bool(data == other)
