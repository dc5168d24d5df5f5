"""`pydantic_ai:./agent.py:agent`: an agent of Pydantic AI.

The messages of a run are its steps. A call of an output tool is the answer, in JSON, and no call. What models of other
agents used on its behalf is counted at the last step, if they were given its usage, as that library advises.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from proctor.agents.agent_errors import map_agent_errors
from proctor.agents.environment_tools import EnvironmentTools, schema_of_parameters
from proctor.chat.agent_replies import call_of
from proctor.chat.message_text import text_of
from proctor.core.parts import AgentPart
from proctor.core.sample import ToolCall, Turn
from proctor.core.trajectory import Approval, Step, Stop, Usage
from proctor_adapters.agents._library_agents import (
    LibraryOptions,
    as_text,
    denial_of,
    make_and_wrap,
    reply_message,
    result_message,
    with_answer,
    with_stop,
    with_usage,
)

STOP_BY_REASON: Mapping[str, Stop] = {"length": "length", "content_filter": "filtered"}
OUTPUT_TOOL = "final_result"


class RunSession:
    """A conversation: all messages so far.

    Attributes:
        waiting: the calls of the turn that wait for approval, or for a result from outside.
    """

    def __init__(self, agent: Any, options: LibraryOptions, tools: EnvironmentTools) -> None:
        self.tools = tools.style
        self._tools = tools
        self._agent = agent
        self._options = options
        self._history: list[object] = []
        self._captured: Sequence[object] = ()
        self.waiting: Sequence[Approval] = ()
        self._deferred: Any = None  # what waits

    @property
    def received(self) -> Sequence[Step]:
        return self._tools.with_errors(list(_steps(self._agent, self._captured[len(self._history) :])))

    async def send(self, turn: Turn) -> Sequence[Step]:
        asked = [message for message in turn.messages if message.role != "system"]
        self._tools.offer(turn)
        return await self._run(
            user_prompt=text_of(asked) if asked else None,
            instructions="\n\n".join(message.text for message in turn.messages if message.role == "system") or None,
        )

    async def decide(self, approvals: Sequence[Approval]) -> Sequence[Step]:
        from pydantic_ai import DeferredToolResults

        return await self._run(
            deferred_tool_results=DeferredToolResults(
                approvals={
                    approval.call.id: _consent_of(approval) for approval in approvals if approval.awaits == "consent"
                },
                calls={
                    approval.call.id: approval.words if approval.approved else denial_of(approval)
                    for approval in approvals
                    if approval.awaits != "consent"
                },
            )
        )

    async def _run(self, **given: object) -> Sequence[Step]:
        from pydantic_ai import DeferredToolRequests, UsageLimitExceeded, UsageLimits, capture_run_messages

        self.waiting = ()
        more = {"toolsets": [_toolset(self._tools)]} if self._tools.tools else {}
        with self._tools.ended(), map_agent_errors(), capture_run_messages() as captured:
            self._captured = captured
            try:
                run = await self._agent.run(
                    message_history=self._history or None,
                    usage_limits=UsageLimits(request_limit=self._options.steps()),
                    **given,
                    **more,
                )
            except UsageLimitExceeded:
                return with_stop(self.received, "step_limit")
        steps = self._tools.with_errors(list(_steps(self._agent, run.new_messages())))
        if isinstance(run.output, DeferredToolRequests):
            self.waiting = (
                *(_approval_of(part, run.output, "consent") for part in run.output.approvals),
                *(_approval_of(part, run.output, "words") for part in run.output.calls),
            )
        else:
            steps = with_answer(steps, run.output, _author(self._agent))
        self._history = run.all_messages()
        return with_usage(steps, _usage(run.usage, run.usage.requests))


def _approval_of(part: Any, requests: Any, awaits: Literal["consent", "words"]) -> Approval:
    about = requests.metadata.get(part.tool_call_id)
    return Approval(
        call=call_of(part.tool_name, part.args, part.tool_call_id), hint=as_text(about) if about else "", awaits=awaits
    )


def _consent_of(approval: Approval) -> Any:
    from pydantic_ai import ToolDenied

    return True if approval.approved else ToolDenied(denial_of(approval))


def _toolset(tools: EnvironmentTools) -> object:
    from pydantic_ai import RunContext, Tool
    from pydantic_ai.toolsets import FunctionToolset

    async def invoke(context: RunContext[Any], /, **arguments: object) -> str:
        return (await tools.call(context.tool_name or "", arguments, context.tool_call_id or "")).content

    return FunctionToolset(
        [
            Tool.from_schema(invoke, tool.name, tool.description, schema_of_parameters(tool), takes_ctx=True)
            for tool in tools.tools
        ]
    )


def _steps(agent: object, messages: Sequence[Any]) -> Iterator[Step]:
    sent: float | None = None
    outputs = _output_tools(agent)
    for message in messages:
        if message.kind == "response":
            yield from _reply_steps(message, _author(agent), sent, outputs)
            continue
        for part in message.parts:
            if part.part_kind in ("tool-return", "retry-prompt") and (part.tool_name or OUTPUT_TOOL) not in outputs:
                yield _result_step(part)
        sent = message.timestamp.timestamp() if message.timestamp is not None else None


def _reply_steps(message: Any, author: str, sent: float | None, outputs: frozenset[str]) -> Iterator[Step]:
    """Yield a reply of the model, and the results of the tools that its provider ran."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for part in message.parts:
        match part.part_kind:
            case "text":
                texts.append(part.content)
            case "thinking":
                thoughts.append(part.content)
            case "tool-call" if part.tool_name in outputs:
                texts.append(as_text(part.args))
            case "tool-call" | "builtin-tool-call":
                calls.append(call_of(part.tool_name, part.args, part.tool_call_id))
    received = message.timestamp.timestamp()
    yield Step(
        message=reply_message("".join(texts), thoughts=thoughts, calls=calls),
        author=author,
        started=received if sent is None else sent,
        seconds=0.0 if sent is None else max(received - sent, 0.0),
        usage=_usage(message.usage, 1),
        stop=STOP_BY_REASON.get(message.finish_reason, "done"),
    )
    for part in message.parts:
        if part.part_kind == "builtin-tool-return":
            yield _result_step(part)


def _result_step(part: Any) -> Step:
    content = part.model_response() if part.part_kind == "retry-prompt" else part.content
    is_error = part.part_kind == "retry-prompt" or getattr(part, "outcome", "") in ("failed", "retried")
    message = result_message(part.tool_name, content, id=part.tool_call_id, is_error=is_error)
    return Step(message=message, author="tool", started=part.timestamp.timestamp())


def _usage(used: Any, requests: int) -> Usage:
    return Usage(
        input_tokens=used.input_tokens or 0,
        output_tokens=used.output_tokens or 0,
        cached_tokens=used.cache_read_tokens or 0,
        reasoning_tokens=used.details.get("reasoning_tokens", 0),
        requests=requests,
        cache_write_tokens=used.cache_write_tokens or 0,
    )


def _output_tools(agent: object) -> frozenset[str]:
    """Return the names under which the model gives its answer where the answer has a type."""
    toolset = getattr(getattr(agent, "wrapped", agent), "_output_toolset", None)
    return frozenset((OUTPUT_TOOL, *getattr(toolset, "processors", ())))


def _author(agent: Any) -> str:
    return agent.name or "agent"


make, wrap = make_and_wrap("pydantic_ai", RunSession, package="pydantic_ai", parts=("run", "iter"))
PART = AgentPart(make=make, options=LibraryOptions, wrap=wrap)
