"""Read the interrupts of a LangGraph graph as calls that wait for approval, and write the values that resume it.

    {"action_requests": [{"name": …, "args": …}]}      HumanInTheLoopMiddleware of LangChain 1
    [{"action_request": {"action": …, "args": …}}]     HumanInterrupt of langgraph.prebuilt and the Agent Inbox
    anything else                                      a question in words, which the next turn answers

A breakpoint (`interrupt_before`) has no value: what waits are the calls of the last message.
"""

from collections.abc import Mapping, Sequence

import msgspec

from proctor.chat.agent_replies import call_of
from proctor.core.sample import JsonObject, ToolCall
from proctor.core.trajectory import Approval
from proctor_adapters.agents._library_agents import as_text, denial_of

NOT_ALONE = "This call was not carried out, as another one of the same message was denied."
QUESTION = "interrupt"  # the name of a question that no tool asks


class Interrupted(msgspec.Struct, frozen=True, kw_only=True):
    """An interrupt: its id, its value, and what it asks for."""

    id: str
    value: object
    approvals: tuple[Approval, ...]

    @property
    def text(self) -> str:
        """Return the question in words."""
        return as_text(self.value)

    def answer(self, decided: Sequence[Approval]) -> object:
        """Return the value that resumes it."""
        if isinstance(self.value, Mapping) and "action_requests" in self.value:
            return {"decisions": [_decision(approval) for approval in decided]}
        if self.approvals[0].awaits == "consent":
            answers = [_response(approval) for approval in decided]
            return answers if isinstance(self.value, list | tuple) else answers[0]
        return decided[0].words or decided[0].approved


def read_interrupts(found: Sequence[tuple[str, object, ToolCall | None]]) -> list[Interrupted]:
    """Return interrupts by their ids, their values, and the calls of the tools that they came from, if they came from any."""
    return [Interrupted(id=id, value=value, approvals=_approvals(value, call)) for id, value, call in found]


def resume_value(interrupts: Sequence[Interrupted], decided: Sequence[Approval]) -> object:
    """Return what resumes a graph after all decisions: the answer to its interrupt, or of several the answers by their ids."""
    answers: dict[str, object] = {}
    rest = list(decided)
    for interrupt in interrupts:
        mine, rest = rest[: len(interrupt.approvals)], rest[len(interrupt.approvals) :]
        answers[interrupt.id] = interrupt.answer(mine)
    return answers if len(answers) > 1 else next(iter(answers.values()))


def calls_at_breakpoint(messages: Sequence[object], node: str) -> list[Approval]:
    """Return the calls of the last message of a graph that stopped before a node; the node itself where there are none."""
    calls = getattr(messages[-1], "tool_calls", ()) if messages else ()
    tool_calls = [call_of(call["name"] or "", call["args"], call["id"] or "") for call in calls]
    return [Approval(call=call) for call in tool_calls or [ToolCall(name=node)]]


def denied_results(decided: Sequence[Approval]) -> list[object]:
    """Return the results of calls that were denied at a breakpoint, where none of a message runs unless all do."""
    from langchain_core.messages import ToolMessage

    return [
        ToolMessage(
            NOT_ALONE if approval.approved else denial_of(approval),
            name=approval.call.name,
            tool_call_id=approval.call.id,
            status="error",
        )
        for approval in decided
        if approval.call.id
    ]


def _approvals(value: object, call: ToolCall | None) -> tuple[Approval, ...]:
    if isinstance(value, Mapping) and (asked := _mappings(value.get("action_requests"))):
        return tuple(
            _consent(request.get("name"), request.get("args", request.get("arguments")), request.get("description"))
            for request in asked
        )
    asked = _mappings(value if isinstance(value, list | tuple) else [value])
    if asked and all(isinstance(request.get("action_request"), Mapping) for request in asked):
        return tuple(
            _consent(
                request["action_request"].get("action"),
                request["action_request"].get("args"),
                request.get("description"),
            )
            for request in asked
        )
    return (Approval(call=call or ToolCall(name=QUESTION), hint=as_text(value), awaits="turn"),)


def _mappings(value: object) -> Sequence[JsonObject]:
    return value if isinstance(value, list | tuple) and all(isinstance(item, Mapping) for item in value) else ()


def _consent(name: object, arguments: object, description: object) -> Approval:
    return Approval(call=call_of(str(name or ""), arguments), hint=as_text(description))


def _decision(one: Approval) -> dict[str, str]:
    return {"type": "approve"} if one.approved else {"type": "reject", "message": denial_of(one)}


def _response(one: Approval) -> dict[str, str | None]:
    return {"type": "accept", "args": None} if one.approved else {"type": "response", "args": denial_of(one)}
