"""`hello_agents:./agent.py:agent`: an agent of HelloAgents (`SimpleAgent`, `ReActAgent` and the others).

Such an agent keeps its history in itself, so each sample gets a copy with a history of its own; the model and the tools are
shared. Its steps are what passes between the copy and its model. A failure of the model that the agent swallowed is still
one. Its own traces, which would be files in the working folder, are off.
"""

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from proctor.agents.agent_errors import map_agent_errors
from proctor.agents.environment_tools import EnvironmentTools, cannot_be_given
from proctor.chat.agent_replies import call_of
from proctor.chat.message_text import text_of
from proctor.chat.messages import to_tools
from proctor.core.parts import AgentPart
from proctor.core.sample import Reasoning, ToolCall, Turn
from proctor.core.trajectory import Step, Usage
from proctor.runtime.threads import in_thread
from proctor_adapters.agents._library_agents import (
    LibraryOptions,
    make_and_wrap,
    reply_message,
    result_message,
    with_answer,
    with_stop,
)

THOUGHT, FINISH = "Thought", "Finish"  # tools of ReActAgent that are none
FAILED = ("❌", "错误")  # how the framework begins the result of a tool that failed
SHARED = ("tool_registry", "token_counter", "skill_loader", "session_store")


class HelloAgentsSession:
    """A conversation with a copy of the agent."""

    def __init__(self, agent: Any, options: LibraryOptions, tools: EnvironmentTools) -> None:
        self.tools = tools.style
        self._options = options
        self._tools = tools
        self._model = _Model(agent.llm, getattr(agent, "name", "agent"))
        self._agent = _copy_agent(agent, self._model, tools)

    @property
    def received(self) -> Sequence[Step]:
        return self._tools.with_errors(self._model.steps)

    async def send(self, turn: Turn) -> Sequence[Step]:
        model = self._model
        model.begin(self._options.steps())
        if self._tools.offer(turn):
            _equip(self._agent, self._model.author)
        with self._tools.ended(), map_agent_errors():
            try:
                answer = await in_thread(partial(self._agent.run, text_of(turn.messages)))
            except _StepLimit:
                return with_stop(self.received, "step_limit")
            if model.over:
                return with_stop(self.received, "step_limit")
            if model.error is not None:
                raise model.error
        if model.asked == getattr(self._agent, "max_steps", None) and model.wants_more:  # says so in its own words
            return with_stop(self.received, "step_limit")
        return with_answer(self.received, answer, model.author)


class _StepLimit(Exception):
    """Raised in place of one reply too many."""


class _Model:
    """Stands before the model of an agent and notes what passes; all else goes through to it.

    Attributes:
        steps: those of the turn under way.
        asked: how often the model was asked in it; `over` when it would have been once too often.
        error: what the model raised last, if it has not replied since.
    """

    def __init__(self, model: Any, author: str) -> None:
        self._model = model
        self.author = author
        self.begin(0)

    def begin(self, most: int) -> None:
        """A new turn, with at most so many replies."""
        self.steps: list[Step] = []
        self._tool_by_call: dict[str, str] = {}  # calls that wait for their results, by id
        self.most, self.asked, self.over = most, 0, False
        self.error: BaseException | None = None

    @property
    def wants_more(self) -> bool:
        """Whether the last reply made calls, and was the last."""
        return bool(self._tool_by_call) or (bool(self.steps) and self.steps[-1].message.role == "tool")

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def invoke(self, messages: object, **given: object) -> object:
        return self._asked(self._model.invoke, messages, given, _text_step)

    def invoke_with_tools(self, messages: object, *args: object, **given: object) -> object:
        return self._asked(self._model.invoke_with_tools, messages, given, _choice_step, args)

    def think(self, messages: object, *args: object, **given: object) -> Iterator[str]:
        return self._streamed(self._model.think, messages, given, args)

    def stream_invoke(self, messages: object, **given: object) -> Iterator[str]:
        return self._streamed(self._model.stream_invoke, messages, given)

    def tool_ran(self, name: str, arguments: object, output: object, started: float) -> None:
        """A tool was called: by the last reply, or in its text alone."""
        id = next((id for id, waiting in self._tool_by_call.items() if waiting == name), "")
        if self._tool_by_call.pop(id, None) is None:
            call = call_of(name, arguments if isinstance(arguments, Mapping) else {"input": arguments})
            self.steps.append(Step(message=reply_message("", calls=[call]), author=self.author, started=started))
        self._keep_result(name, id, output, started)

    def _asked(
        self, ask: Callable[..., object], messages: object, given: Any, read: Callable[[object], Step], args: Any = ()
    ) -> object:
        started = self._before(messages)
        try:
            reply = ask(messages, *args, **given)
        except BaseException as error:
            self.error = error
            raise
        self._after(read(reply), started)
        return reply

    def _streamed(self, ask: Callable[..., Any], messages: object, given: Any, args: Any = ()) -> Iterator[str]:
        started, pieces = self._before(messages), list[str]()
        try:
            for piece in ask(messages, *args, **given):
                pieces.append(piece)
                yield piece
        except Exception as error:
            self.error = error
            raise
        self._after(Step(message=reply_message("".join(pieces)), usage=Usage(requests=1)), started)

    def _before(self, messages: object) -> float:
        """Note the results that only the messages to the model tell of, and that it is asked."""
        given = [message for message in messages if isinstance(message, Mapping)] if isinstance(messages, list) else []
        content_by_call = {
            message["tool_call_id"]: message.get("content") for message in given if "tool_call_id" in message
        }
        for id, name in self._tool_by_call.items():
            if id in content_by_call:
                self._keep_result(name, id, content_by_call[id], time.time())
        self._tool_by_call = {}
        if self.asked >= self.most:
            self.over = True
            raise _StepLimit(f"more than {self.most} replies")
        self.asked += 1
        return time.time()

    def _after(self, step: Step, started: float) -> None:
        self.error = None
        calls = step.message.calls
        thoughts = [str(call.arguments.get("reasoning", "")) for call in calls if call.name == THOUGHT]
        real = [call for call in calls if call.name not in (THOUGHT, FINISH)]
        self._tool_by_call = {call.id: call.name for call in real}
        message = step.message
        if thoughts or len(real) < len(calls):
            earlier = [part.text for part in message.parts if isinstance(part, Reasoning)]
            message = reply_message(message.text, thoughts=[*earlier, *thoughts], calls=real)
        self.steps.append(
            Step(
                message=message,
                author=self.author,
                started=started,
                seconds=max(time.time() - started, 0.0),
                usage=step.usage,
            )
        )

    def _keep_result(self, name: str, id: str, output: object, started: float) -> None:
        is_error = isinstance(output, str) and output.startswith(FAILED)
        message = result_message(name, output, id=id, is_error=is_error)
        self.steps.append(Step(message=message, author="tool", started=started))


def _equip(agent: Any, name: str) -> None:
    """Have a copy of an agent offer its model tools, which a registry switches on.

    Raises:
        BadInput: its models call tools in their text, by rules of its own.
    """
    if not callable(getattr(agent, "_build_tool_schemas", None)):
        raise cannot_be_given(name, "hello_agents")
    if agent.tool_registry is None:
        from hello_agents.tools.registry import ToolRegistry

        agent.tool_registry = ToolRegistry()
    agent.enable_tool_calling = True  # of those that have such a switch


def _build_schemas(original: Callable[[], list[Any]], tools: EnvironmentTools) -> list[Any]:
    own = [schema for schema in original() if not tools.has(schema["function"]["name"])]
    return [*own, *to_tools(tools.now(), {})]


def _copy_agent(agent: Any, model: _Model, tools: EnvironmentTools) -> Any:
    """Return a copy with a history of its own, and with what passes between it and its model noted."""
    known: dict[int, Any] = {id(agent.llm): model, id(getattr(agent, "trace_logger", model)): None}
    known |= {id(part): part for name in SHARED if (part := getattr(agent, name, None)) is not None}
    try:
        mine = copy.deepcopy(agent, known)
    except Exception:  # noqa: BLE001 - something in it cannot be copied: all but the history is shared
        mine = copy.copy(agent)
        mine.llm, mine.trace_logger = model, None
        for name in ("history_manager", "_history"):
            if name in vars(agent):
                setattr(mine, name, copy.deepcopy(vars(agent)[name]))
    with suppress(AttributeError, ValueError):
        mine.config = mine.config.model_copy(update={"trace_enabled": False})
    original = getattr(mine, "_execute_tool_call", None)
    if callable(original):
        mine._execute_tool_call = partial(_run_tool, mine, original, model, tools)
    build = getattr(mine, "_build_tool_schemas", None)
    if callable(build):
        mine._build_tool_schemas = partial(_build_schemas, build, tools)
    return mine


def _run_tool(
    agent: object, original: Callable[..., Any], model: _Model, tools: EnvironmentTools, name: str, arguments: Any
) -> Any:
    started = time.time()
    if tools.has(name):
        result = tools.call_in_thread(name, arguments)
        model.tool_ran(name, arguments, result.content, started)
        return result.content
    output = original(name, arguments)
    parse = getattr(agent, "_parse_tool_parameters", None)  # of versions whose models call tools in their text
    model.tool_ran(name, parse(name, arguments) if isinstance(arguments, str) and parse else arguments, output, started)
    return output


def _text_step(reply: object) -> Step:
    thought = getattr(reply, "reasoning_content", None)
    text = getattr(reply, "content", reply)
    message = reply_message("" if text is None else str(text), thoughts=[thought] if isinstance(thought, str) else [])
    return Step(message=message, usage=_usage(getattr(reply, "usage", None)))


def _choice_step(reply: Any) -> Step:
    message = reply.choices[0].message
    thought = getattr(message, "reasoning_content", None)
    calls: list[ToolCall] = [
        call_of(call.function.name, call.function.arguments, call.id or "") for call in message.tool_calls or ()
    ]
    chat_message = reply_message(
        message.content or "", thoughts=[thought] if isinstance(thought, str) else [], calls=calls
    )
    return Step(message=chat_message, usage=_usage(reply.usage))


def _usage(used: object) -> Usage:
    def tokens(name: str) -> int:
        value = used.get(name) if isinstance(used, Mapping) else getattr(used, name, 0)
        return value if isinstance(value, int) else 0

    if not used:
        return Usage(requests=1)
    return Usage(input_tokens=tokens("prompt_tokens"), output_tokens=tokens("completion_tokens"), requests=1)


make, wrap = make_and_wrap("hello_agents", HelloAgentsSession, package="hello_agents", parts=("run", "llm"))
PART = AgentPart(make=make, options=LibraryOptions, wrap=wrap)
