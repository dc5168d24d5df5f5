"""`openai_agents:./agent.py:agent`: an agent of the OpenAI Agents SDK.

Hooks of the run tell of every reply and tool as they happen; after a hand-off the next turn goes to the agent that has
the conversation. Agents that are tools of others are one call each; what their models use is counted at the last
step. Tracing, which would send every run to OpenAI, is off.
"""

import dataclasses
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.agents.agent_errors import map_agent_errors
from proctor.agents.environment_tools import EnvironmentTools, schema_of_parameters
from proctor.chat.agent_replies import call_of
from proctor.chat.message_text import text_of
from proctor.core.parts import AgentPart
from proctor.core.sample import JsonObject, Message, ToolCall, ToolResult, Turn
from proctor.core.trajectory import Approval, Step, Stop, Usage
from proctor_adapters.agents._library_agents import (
    LibraryOptions,
    denial_of,
    make_and_wrap,
    reply_message,
    result_message,
    with_answer,
    with_stop,
    with_usage,
)

FAILED = "An error occurred while running the tool"  # how the SDK's default handler begins
REFUSALS = ("InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered", "ModelRefusalError")


class RunnerSession:
    """A conversation: all items so far, and the agent that has it.

    Attributes:
        waiting: the calls of the turn that wait for approval, also those inside agents that are tools.
    """

    def __init__(self, agent: object, options: LibraryOptions, tools: EnvironmentTools) -> None:
        self.tools = tools.style
        self.received: list[Step] = []
        self.waiting: Sequence[Approval] = ()
        self._agent = agent
        self._options = options
        self._tools = tools
        self._items: list[Any] = []
        self._equipped: dict[int, tuple[Any, object]] = {}
        self._asked: Any = None  # the agent that the turn began with
        self._stopped: Any = None  # the run that waits for approval
        self._before: list[Step] = []  # its steps

    async def send(self, turn: Turn) -> Sequence[Step]:
        given = [*self._items, *map(_item, turn.messages)]
        self._tools.offer(turn)
        self._before, self._equipped = [], {}
        self._asked = _equip(self._agent, self._tools, self._equipped) if self._tools.tools else self._agent
        return await self._run(given)

    async def decide(self, approvals: Sequence[Approval]) -> Sequence[Step]:
        state = self._stopped.to_state()
        for item, approval in zip(self._stopped.interruptions, approvals, strict=True):
            if approval.approved:
                state.approve(item)
            else:
                state.reject(item, rejection_message=denial_of(approval))
        return await self._run(state)

    async def _run(self, given: Any) -> Sequence[Step]:
        from agents import Runner

        received: list[Step] = []
        self.received, self.waiting = received, ()
        with self._tools.ended(), map_agent_errors():
            try:
                run = await Runner.run(
                    self._asked,
                    given,
                    max_turns=self._options.steps(),
                    hooks=_hooks(received),
                    run_config=_run_config(),
                )
            except Exception as error:
                stop = _stop_of(error)
                if stop is None:
                    raise
                return self._tools.with_errors(_stop_steps(received, stop))
        steps = self._tools.with_errors(_with_results(received, run.new_items, self._before))
        if run.interruptions:
            self._stopped, self.waiting = run, tuple(map(_approval_of, run.interruptions))
        else:
            self._items = run.to_input_list()
            agents = self._equipped.values()
            self._agent = next((own for own, mine in agents if mine is run.last_agent), run.last_agent)
            steps = with_answer(steps, run.final_output, run.last_agent.name)
        steps = with_usage([*self._before, *steps], usage_of(run.context_wrapper.usage))[len(self._before) :]
        self._before += steps
        return steps


def _equip(agent: object, tools: EnvironmentTools, equipped: dict[int, tuple[object, object]]) -> Any:
    """Return a copy of an agent that has the environment's tools too, as have those it hands over to."""
    from agents import Agent, FunctionTool, Handoff

    if not isinstance(agent, Agent):
        return agent
    if id(agent) in equipped:
        return equipped[id(agent)][1]

    async def invoke(context: Any, arguments: str) -> str:
        return (await tools.call(context.tool_name, arguments or "{}", context.tool_call_id)).content

    def handing_over(handoff: Any) -> Any:
        original = handoff.on_invoke_handoff

        async def hand_over(context: object, arguments: str) -> object:
            return _equip(await original(context, arguments), tools, equipped)

        return dataclasses.replace(handoff, on_invoke_handoff=hand_over)

    own = [tool for tool in agent.tools if not tools.has(getattr(tool, "name", ""))]
    given = [
        FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=schema_of_parameters(tool),
            on_invoke_tool=invoke,
            strict_json_schema=False,
        )
        for tool in tools.tools
    ]
    mine = agent.clone(tools=[*own, *given])
    equipped[id(agent)] = agent, mine
    mine.handoffs = [
        handing_over(one) if isinstance(one, Handoff) else _equip(one, tools, equipped) for one in agent.handoffs
    ]
    return mine


def _approval_of(item: Any) -> Approval:
    """Return the call of an item that waits for approval; hosted tools have items of other kinds."""
    raw = item.raw_item if isinstance(item.raw_item, Mapping) else item.raw_item.model_dump()
    id = raw.get("call_id") or raw.get("id") or ""
    given = raw.get("arguments", raw.get("action", raw.get("operation")))
    return Approval(call=call_of(item.name or str(raw.get("type") or ""), given, id))


def usage_of(used: Any) -> Usage:
    return Usage(
        input_tokens=used.input_tokens or 0,
        output_tokens=used.output_tokens or 0,
        cached_tokens=getattr(used.input_tokens_details, "cached_tokens", 0) or 0,
        reasoning_tokens=getattr(used.output_tokens_details, "reasoning_tokens", 0) or 0,
        requests=used.requests or 0,
    )


def _run_config() -> Any:
    from agents import RunConfig

    return RunConfig(tracing_disabled=True)


def _item(message: Message) -> dict[str, object]:
    role = message.role if message.role != "tool" else "user"
    return {"role": role, "content": text_of([message])}


def _stop_of(error: Exception) -> Stop | None:
    names = [kind.__name__ for kind in type(error).__mro__]
    if "MaxTurnsExceeded" in names:
        return "step_limit"
    return "refused" if any(name in REFUSALS for name in names) else None


def _stop_steps(received: Sequence[Step], stop: Stop) -> list[Step]:
    if stop == "refused":  # a guardrail of the agent's: nothing it said before counts
        return [*received, Step(message=Message(role="assistant"), stop=stop)]
    return with_stop(received, stop)


def _hooks(received: list[Step]) -> Any:
    """Hooks that add a step for every reply and every tool."""
    from agents import RunHooks

    class Hooks(RunHooks[Any]):
        def __init__(self) -> None:
            self.began: dict[object, tuple[float, float]] = {}

        def begin(self, what: object) -> None:
            self.began[what] = time.time(), time.perf_counter()

        def end(self, what: object) -> tuple[float, float]:
            started, clock = self.began.pop(what, (time.time(), time.perf_counter()))
            return started, time.perf_counter() - clock

        async def on_llm_start(
            self, context: object, agent: object, system_prompt: object, input_items: object
        ) -> None:
            self.begin(id(agent))

        async def on_llm_end(self, context: object, agent: Any, response: Any) -> None:
            started, seconds = self.end(id(agent))
            usage = usage_of(response.usage)
            if not usage.requests:
                usage += Usage(requests=1)
            message = _message(response.output)
            step = Step(message=message, author=agent.name, started=started, seconds=seconds, usage=usage)
            received.append(step)

        async def on_tool_start(self, context: object, agent: object, tool: object) -> None:
            self.begin(getattr(context, "tool_call_id", None) or id(tool))

        async def on_tool_end(self, context: object, agent: object, tool: Any, result: object) -> None:
            call_id = getattr(context, "tool_call_id", None)
            started, seconds = self.end(call_id or id(tool))
            if call_id:  # others are told of when the run is over
                received.append(_result_step(tool.name, call_id, result, started, seconds))

    return Hooks()


def _message(output: Sequence[Any]) -> Message:
    """Return the parts of a reply: text, refusals, thoughts, calls of functions and of tools that the provider runs."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for raw in output:
        item = raw if isinstance(raw, Mapping) else raw.model_dump()
        match item.get("type"):
            case "message":
                texts += [part.get("text") or part.get("refusal") or "" for part in item.get("content") or ()]
            case "reasoning":
                pieces = [*(item.get("summary") or ()), *(item.get("content") or ())]
                thoughts += [piece.get("text") or "" for piece in pieces]
            case "function_call":
                calls.append(call_of(item["name"], item.get("arguments"), item.get("call_id") or ""))
            case str() as kind if kind.endswith("_call"):
                calls.append(_hosted(kind, item))
    return reply_message("".join(texts), thoughts=thoughts, calls=calls)


def _hosted(kind: str, item: JsonObject) -> ToolCall:
    """Return a call of a tool that the provider runs, such as `web_search_call`."""
    id = item.get("call_id") or item.get("id") or ""
    if kind == "mcp_call":
        return call_of(item.get("name") or kind, item.get("arguments"), id)
    beside = ("id", "call_id", "type", "status", "output", "results", "outputs")
    given = {key: value for key, value in item.items() if key not in beside and value is not None}
    action = given.get("action")
    return call_of(kind.removesuffix("_call"), action if isinstance(action, Mapping) else given, id)


def _result_step(name: str, call_id: str, output: object, started: float, seconds: float) -> Step:
    is_error = isinstance(output, str) and output.startswith(FAILED)
    message = result_message(name, output, id=call_id, is_error=is_error)
    return Step(message=message, author="tool", started=started, seconds=seconds)


def _with_results(steps: Sequence[Step], items: Sequence[object], before: Sequence[Step]) -> list[Step]:
    """Return the steps with the results that no hook told of (hand-offs, tools of the provider, denials) behind their calls.

    Those of calls that steps `before` made come first.
    """
    known = {part.id for step in (*before, *steps) for part in step.message.parts if isinstance(part, ToolResult)}
    output_by_call = {id: output for id, output in map(_output, items) if id and id not in known}
    earlier = [step for step in _fill_in(before, output_by_call) if step not in before]
    return [*earlier, *_fill_in(steps, output_by_call)]


def _fill_in(steps: Sequence[Step], output_by_call: Mapping[str, object]) -> Iterator[Step]:
    for step in steps:
        yield step
        for call in step.message.calls:
            if call.id in output_by_call:
                yield _result_step(call.name, call.id, output_by_call[call.id], step.started + step.seconds, 0.0)


def _output(item: Any) -> tuple[str, object]:
    """Return the id of a call and what was given back to it; '' where an item is no result."""
    raw = item.raw_item if isinstance(item.raw_item, Mapping) else item.raw_item.model_dump()
    if raw.get("type") in ("mcp_call", "code_interpreter_call", "file_search_call"):
        return raw.get("id") or "", next((raw[key] for key in ("output", "outputs", "results") if raw.get(key)), None)
    if not str(raw.get("type")).endswith("_output"):
        return "", None
    return raw.get("call_id") or "", getattr(item, "output", None) or raw.get("output")


make, wrap = make_and_wrap("openai_agents", RunnerSession, package="agents")
PART = AgentPart(make=make, options=LibraryOptions, wrap=wrap)
