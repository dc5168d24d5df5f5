"""Read from the events of google-adk which calls wait for a person, and answer them.

adk_request_confirmation    a tool with `require_confirmation`, or one that asks itself: yes or no
a long-running tool         waits while it has no response, or one with {"status": "pending"}: yes or no
adk_request_input           a question, which the next turn answers in words
adk_request_credential      waits for a credential, which nobody has here
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from proctor.chat.agent_replies import call_of
from proctor.core.sample import Part, ToolCall, ToolResult
from proctor.core.trajectory import Approval, Step
from proctor_adapters.agents._library_agents import denial_of, result_message
from proctor_adapters.agents.adk_events import plain, steps_of

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.genai import types

CONFIRMATION, INPUT, CREDENTIAL = "adk_request_confirmation", "adk_request_input", "adk_request_credential"
PENDING = "pending"  # the status of a long-running tool in google-adk's documentation
USUAL_HINT = "Please approve or reject the tool call"  # says how a program answers


class _Open(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits; `id` and `name` are those of what is answered, `response` is what a long-running tool said so far."""

    id: str
    name: str
    approval: Approval
    response: Mapping[str, object] = {}


class Waiting:
    """The calls of a turn that wait for a person."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}

    @property
    def approvals(self) -> tuple[Approval, ...]:
        return tuple(one.approval for one in self._open.values())

    def take(self, event: "Event") -> Iterator[Step]:
        """Note what an event leaves waiting, and yield its steps, without requests for confirmation and the results that only announce one."""
        for call in event.get_function_calls():
            self._note(call, call.id in (event.long_running_tool_ids or ()))
        for response in event.get_function_responses():
            waits = self._open.get(response.id or "")
            if waits is not None and (response.response or {}).get("status") == PENDING:
                self._open[waits.id] = replace(waits, response=plain(response.response or {}))
            elif waits is not None:
                del self._open[waits.id]
        meanwhile = getattr(event.actions, "requested_tool_confirmations", None) or {}
        for step in steps_of(event):
            parts = tuple(part for part in step.message.parts if not _is_request(part, meanwhile))
            if parts or not step.message.parts:
                yield replace(step, message=replace(step.message, parts=parts))

    def answer(self, decided: Sequence[Approval]) -> tuple["types.Content", list[Step]]:
        """Return what resumes the turn after all decisions, and the results that come from it."""
        from google.genai import types

        parts: list[types.Part] = []
        steps: list[Step] = []
        for one, approval in zip(self._open.values(), decided, strict=True):
            response = _response(one, approval)
            answer = types.FunctionResponse(id=one.id, name=one.name, response=response)
            parts.append(types.Part(function_response=answer))
            if one.name != CONFIRMATION:  # a confirmed tool runs, and has a result of its own
                steps.append(Step(message=result_message(one.name, response, id=one.id), author="tool"))
        self._open = {}
        return types.Content(role="user", parts=parts), steps

    def _note(self, call: "types.FunctionCall", is_long_running: bool) -> None:
        id, name, arguments = call.id or "", call.name or "", call.args or {}
        awaits: Literal["consent", "words", "turn"] = "consent"
        hint = ""
        tool_call = call_of(name, arguments, id)
        if name == CONFIRMATION:
            original = arguments.get("originalFunctionCall") or {}
            tool_call = call_of(
                str(original.get("name") or ""), original.get("args") or {}, str(original.get("id") or "")
            )
            hint = str((arguments.get("toolConfirmation") or {}).get("hint") or "")
            hint = "" if hint.startswith(USUAL_HINT) else hint
        elif name == INPUT:
            awaits, hint = "turn", str(arguments.get("message") or "")
        elif name == CREDENTIAL:
            awaits = "words"
        elif not is_long_running:
            return
        self._open[id] = _Open(id=id, name=name, approval=Approval(call=tool_call, hint=hint, awaits=awaits))


def _is_request(part: Part, meanwhile: Mapping[str, object]) -> bool:
    match part:
        case ToolCall(name=name):
            return name == CONFIRMATION
        case ToolResult(id=id):
            return id in meanwhile
    return False


def _response(one: _Open, approval: Approval) -> dict[str, object]:
    if one.name == CONFIRMATION:
        return {"confirmed": bool(approval.approved)}
    if one.name == INPUT:
        return {"result": approval.words or ("yes" if approval.approved else "no")}
    if not approval.approved:
        return {**one.response, "status": "rejected", "reason": denial_of(approval)}
    said = {"comment": approval.words} if approval.words else {}
    return {**one.response, "status": "approved", **said}
