"""`smolagents:./agent.py:agent`: a `ToolCallingAgent` or `CodeAgent` of smolagents.

Such an agent keeps its memory and the state of its Python in itself, so each sample gets a copy with a memory, a state
and an executor of its own, as do the agents it manages; models, tools and remote executors are shared. What a `CodeAgent` writes is the
text of its reply; the tools that its code calls are its calls, and what the code printed is their last result.
`final_answer` is the answer and no call. Runs print nothing.
"""

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from proctor.agents.agent_errors import map_agent_errors
from proctor.agents.environment_tools import EnvironmentTools, schema_of_parameters
from proctor.chat.agent_replies import call_of
from proctor.chat.message_text import text_of
from proctor.core.parts import AgentPart
from proctor.core.sample import Tool as OfferedTool
from proctor.core.sample import ToolCall, Turn
from proctor.core.trajectory import Step, Usage
from proctor.runtime.threads import in_thread
from proctor_adapters.agents._library_agents import (
    LibraryOptions,
    as_text,
    make_and_wrap,
    reply_message,
    result_message,
    with_answer,
    with_stop,
)

FINAL_ANSWER = "final_answer"
INTERPRETER = "python_interpreter"
NO_REPLY = "Error in generating final LLM output"  # how smolagents begins when even the last model call fails


class SmolagentsSession:
    """A conversation with a copy of the agent."""

    def __init__(self, agent: object, options: LibraryOptions, tools: EnvironmentTools) -> None:
        self.tools = tools.style
        self.received: list[Step] = []
        self._options = options
        self._tools = tools
        self._agent = _copy_agent(agent, self._keep, "agent")
        self._is_new = True

    async def send(self, turn: Turn) -> Sequence[Step]:
        self.received = []
        agent = self._agent
        ask = partial(
            agent.run,
            text_of(turn.messages),
            reset=self._is_new,
            max_steps=self._options.steps(agent.max_steps),
            return_full_result=False,
        )
        if self._tools.offer(turn):
            _equip(agent, self._tools, self._keep)
        with self._tools.ended(), map_agent_errors():
            output = await in_thread(ask)
        self._is_new = False
        last = agent.memory.steps[-1]
        if type(getattr(last, "error", None)).__name__ != "AgentMaxStepsError":
            return with_answer(self.received, output)
        if _text(output).startswith(NO_REPLY):
            return with_stop(self.received, "step_limit")
        steps = [*self.received, Step(message=reply_message(_text(output)), usage=_usage(last.token_usage))]
        return with_stop(steps, "step_limit")

    def _keep(self, step: Step) -> None:
        self.received.extend(self._tools.with_errors([step]))


def _equip(agent: Any, tools: EnvironmentTools, keep: Callable[[Step], None]) -> None:
    """Give a copy of an agent the environment's tools."""
    from smolagents import CodeAgent, Tool
    from smolagents.tools import AUTHORIZED_TYPES

    class Given(Tool):  # type: ignore[misc]  # the library has no types
        skip_forward_signature_validation = True
        output_type = "string"

        def __init__(self, tool: OfferedTool) -> None:
            schema = schema_of_parameters(tool)
            required = schema.get("required", ())
            self.name, self.description = tool.name, tool.description
            self.inputs = {
                key: {
                    "description": "",
                    **about,
                    "type": about.get("type") if about.get("type") in AUTHORIZED_TYPES else "any",
                    **({} if key in required else {"nullable": True}),
                }
                for key, about in schema["properties"].items()
            }
            super().__init__()

        def forward(self, *args: object, **kwargs: object) -> str:
            given = dict(zip(self.inputs, args, strict=False)) | kwargs
            return tools.call_in_thread(self.name, given).content

    given = {tool.name: Given(tool) for tool in tools.tools}
    if isinstance(agent, CodeAgent):
        given = {name: _traced_tool(tool, keep) for name, tool in given.items()}
    else:
        agent.max_tool_threads = 1  # a state needs its calls in order
    agent.tools = {**agent.tools, **given}


def _copy_agent(agent: Any, keep: Callable[[Step], None], author: str) -> Any:
    """Return a copy without memory or output that reports its steps as they happen."""
    from smolagents import AgentMemory, CodeAgent, Monitor, PlanningStep
    from smolagents.local_python_executor import LocalPythonExecutor
    from smolagents.memory import CallbackRegistry

    mine = copy.copy(agent)
    mine.logger = _silent()
    mine.monitor = Monitor(mine.model, mine.logger)
    mine.state = dict(agent.state)
    mine.managed_agents = {name: _copy_agent(other, keep, name) for name, other in agent.managed_agents.items()}
    mine.memory = AgentMemory(agent.memory.system_prompt.system_prompt)  # each run makes it again
    mine.step_callbacks = callbacks = CallbackRegistry()
    for kind, several in agent.step_callbacks._callbacks.items():
        for callback in several:
            is_monitor = getattr(callback, "__self__", None) is agent.monitor
            callbacks.register(kind, mine.monitor.update_metrics if is_monitor else callback)
    callbacks.register(PlanningStep, lambda step: keep(_plan_step(step, author)))
    if isinstance(agent, CodeAgent):
        if isinstance(agent.python_executor, LocalPythonExecutor):
            mine.python_executor = mine.create_python_executor()
        mine.tools = {
            name: tool if name == FINAL_ANSWER else _traced_tool(tool, keep) for name, tool in agent.tools.items()
        }
        mine.managed_agents = {name: _TracedAgent(other, keep) for name, other in mine.managed_agents.items()}
        mine._step_stream = partial(_code_step, mine._step_stream, keep, author)
    else:
        mine._step_stream = partial(_calling_step, mine._step_stream, keep, author)
    return mine


@cache
def _silent() -> object:
    from smolagents import AgentLogger, LogLevel

    return AgentLogger(level=LogLevel.OFF)


def _calling_step(
    original: Callable[..., Iterator[object]], keep: Callable[[Step], None], author: str, step: Any
) -> object:
    """One step of a tool-calling agent: a reply with calls, then what they gave."""
    from smolagents.agents import ToolOutput
    from smolagents.utils import AgentError

    waiting: dict[str, ToolCall] = {}
    started = last = time.time()
    is_recorded = False

    def record_reply() -> None:
        nonlocal is_recorded, last
        if is_recorded or step.model_output_message is None:
            return
        is_recorded, last = True, time.time()
        calls = _calls(step.model_output_message)
        waiting.update({call.id: call for call in calls})
        keep(_reply_step(step, author, calls, started))

    try:
        for event in original(step):
            if step.model_output_message is not None:
                record_reply()
            if isinstance(event, ToolOutput) and (call := waiting.pop(event.id, None)) is not None:
                keep(_result_step(call, event.observation, last))
            yield event
    except AgentError as error:
        record_reply()
        for call in waiting.values():
            keep(_result_step(call, str(error), last, is_error=True))
        raise


def _code_step(original: Callable[..., Iterator[object]], keep: Callable[[Step], None], author: str, step: Any) -> Any:
    """One step of an agent that writes code: its reply, and what the code printed; its tools tell of themselves."""
    from smolagents.utils import AgentError

    started = time.time()
    replied = 0.0
    output = None
    try:
        for event in original(step):
            if not replied and step.model_output_message is not None:
                replied = time.time()
                keep(_reply_step(step, author, (), started))
            output = event
            yield event
    except AgentError as error:
        if not replied and step.model_output_message is not None:
            keep(_reply_step(step, author, (), started))
        if step.model_output_message is not None:
            keep(_result_step(ToolCall(name=INTERPRETER), str(error), replied or time.time(), is_error=True))
        raise
    if not getattr(output, "is_final_answer", False):
        keep(_result_step(ToolCall(name=INTERPRETER), step.observations or "", replied))


class _TracedAgent:
    """An agent that code calls, telling of the call; for all else it is that agent."""

    def __init__(self, agent: Any, keep: Callable[[Step], None]) -> None:
        self._agent = agent
        self._keep = keep

    def __getattr__(self, name: str) -> object:
        return getattr(self._agent, name)

    def __call__(self, *args: object, **kwargs: object) -> object:
        given = dict(zip(self._agent.inputs, args, strict=False)) | kwargs
        return _trace_call(self._agent.name, given, partial(self._agent, *args, **kwargs), self._keep)


def _traced_tool(tool: Any, keep: Callable[[Step], None]) -> Any:
    """Return the tool, reporting every call that code makes of it."""
    mine = copy.copy(tool)
    original = mine.forward

    def forward(*args: object, **kwargs: object) -> Any:
        given = dict(zip(tool.inputs, args, strict=False)) | kwargs
        return _trace_call(tool.name, given, partial(original, *args, **kwargs), keep)

    mine.forward = forward
    return mine


def _trace_call(name: str, given: Mapping[str, object], work: Callable[[], Any], keep: Callable[[Step], None]) -> Any:
    """Return the result of the work; its call is reported before, the result after it."""
    call, started = call_of(name, given), time.time()
    keep(Step(message=reply_message("", calls=[call]), author=INTERPRETER, started=started))
    try:
        output = work()
    except BaseException as error:
        keep(_result_step(call, f"{type(error).__name__}: {error}", started, is_error=True))
        raise
    keep(_result_step(call, output, started))
    return output


def _reply_step(step: Any, author: str, calls: Sequence[ToolCall], started: float) -> Step:
    message = step.model_output_message
    text = _text(message.content) or _final_answer(message)
    return Step(
        message=reply_message(text, thoughts=_thoughts(message), calls=calls),
        author=author,
        started=started,
        seconds=time.time() - started,
        usage=_usage(message.token_usage),
    )


def _plan_step(step: Any, author: str) -> Step:
    message = reply_message("", thoughts=[step.plan])
    seconds = step.timing.duration or 0.0
    return Step(
        message=message,
        author=author,
        started=step.timing.start_time,
        seconds=seconds,
        usage=_usage(step.token_usage),
    )


def _result_step(call: ToolCall, output: object, started: float, *, is_error: bool = False) -> Step:
    message = result_message(call.name, output, id=call.id, is_error=is_error)
    return Step(message=message, author="tool", started=started, seconds=max(time.time() - started, 0.0))


def _calls(message: Any) -> list[ToolCall]:
    calls = message.tool_calls or ()
    return [
        call_of(call.function.name, call.function.arguments, str(call.id or ""))
        for call in calls
        if call.function.name != FINAL_ANSWER
    ]


def _final_answer(message: Any) -> str:
    """Return what a reply that says nothing gives as its final answer."""
    for call in message.tool_calls or ():
        if call.function.name == FINAL_ANSWER and isinstance(call.function.arguments, Mapping):
            return as_text(call.function.arguments.get("answer"))
    return ""


def _usage(used: Any) -> Usage:
    if used is None:
        return Usage(requests=1)
    return Usage(input_tokens=used.input_tokens or 0, output_tokens=used.output_tokens or 0, requests=1)


def _thoughts(message: Any) -> list[str]:
    """Return what a reasoning model thought, where the endpoint says so."""
    choices = getattr(message.raw, "choices", None)
    thought = getattr(getattr(choices[0], "message", None), "reasoning_content", None) if choices else None
    return [thought] if isinstance(thought, str) else []


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return "" if content is None else str(content)


make, wrap = make_and_wrap("smolagents", SmolagentsSession, package="smolagents", parts=("run", "memory"))
PART = AgentPart(make=make, options=LibraryOptions, wrap=wrap)
