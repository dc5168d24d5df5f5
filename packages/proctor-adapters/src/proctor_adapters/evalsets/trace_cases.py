"""Turn conversations in traces into eval cases: the recorded calls and answers become the expected ones."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.sample import File, Message, Text, ToolResult
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Step
from proctor_adapters.evalsets.noun import as_json
from proctor_adapters.evalsets.redact import Pattern, redact_case
from proctor_adapters.evalsets.schema import (
    Content,
    EvalCase,
    EvalSet,
    FileData,
    FunctionCall,
    FunctionResponse,
    IntermediateData,
    Invocation,
    Part,
    SessionInput,
)
from proctor_adapters.traces import TracedConversation, Traces
from proctor_adapters.traces.attributes import decode_json

_ODD = re.compile(r"[^\w.:@+\[\] -]+")


class RecordedSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set out of traces, with what became of every conversation.

    twice: how many said and did the same as one before them. broken: those that are not whole, with what is missing.
    redacted: in how many places something was taken out.
    """

    eval_set: EvalSet
    twice: int = 0
    broken: tuple[Sentence, ...] = ()
    redacted: int = 0


def record_cases(traces: Traces, set_id: str, patterns: Sequence[Pattern] = ()) -> RecordedSet:
    """Return a set with a case for each complete conversation, without duplicates.

    Two conversations are duplicates if the user's messages and the calls are the same, redacted texts aside.

    Raises:
        BadInput: no conversation is complete.
    """
    cases: dict[str, EvalCase] = {}
    ids: set[str] = set()
    count = 0
    for conversation in traces.whole:
        case, places = redact_case(_case(conversation), patterns)
        same = digest([[as_json(turn.user_content), _calls(turn)] for turn in case.conversation or ()])
        if same in cases:
            continue
        count += places
        cases[same] = msgspec.structs.replace(case, eval_id=_free(case.eval_id, ids))
    broken = tuple(
        say("{id}: {problem}.", id=_id(conversation.id), problem=problem) for conversation, problem in traces.broken
    )
    if not cases:
        raise BadInput(
            "None of the {count} conversations can be a case: {reasons}",
            count=len(broken),
            reasons=" ".join(map(str, broken[:3])),
        )
    began = min((conversation.started for conversation in traces.whole if conversation.started), default=0.0)
    eval_set = EvalSet(eval_set_id=set_id, name=set_id, eval_cases=[*cases.values()], creation_timestamp=began)
    return RecordedSet(eval_set=eval_set, twice=len(traces.whole) - len(cases), broken=broken, redacted=count)


def _case(one: TracedConversation) -> EvalCase:
    steps: list[list[Step]] = [[] for _ in one.turns]
    for step in one.trajectory.steps:
        steps[step.turn].append(step)
    conversation = [
        _turn(message, steps[index], f"{_id(one.id)}-{index + 1}", seen=one.trajectory.tools == "native")
        for index, message in enumerate(one.turns)
    ]
    session = SessionInput(app_name=one.app, user_id=one.user) if one.app and one.user else None
    return EvalCase(
        eval_id=_id(one.id), conversation=conversation, session_input=session, creation_timestamp=one.started
    )


def _turn(asked: Message, steps: Sequence[Step], invocation_id: str, *, seen: bool) -> Invocation:
    """Return a turn; nothing is expected of calls where the trace could not have shown any."""
    spoken = [step for step in steps if step.message.role == "assistant" and step.message.text.strip()]
    calls = [call for step in steps if step.message.role == "assistant" for call in step.message.calls]
    results = [part for step in steps for part in step.message.parts if isinstance(part, ToolResult)]
    data = IntermediateData(
        tool_uses=[
            FunctionCall(
                name=call.name, args=dict(call.arguments) if call.raw is None else {"": call.raw}, id=call.id or None
            )
            for call in calls
        ],
        tool_responses=[_response(result) for result in results],
        intermediate_responses=[(step.author, [Part(text=step.message.text)]) for step in spoken[:-1]],
    )
    return Invocation(
        invocation_id=invocation_id,
        user_content=Content(role="user", parts=list(_parts(asked))),
        final_response=Content(role="model", parts=[Part(text=spoken[-1].message.text)]),
        intermediate_data=data if seen else None,
        creation_timestamp=next((step.started for step in steps if step.started), 0.0),
    )


def _parts(message: Message) -> Iterator[Part]:
    for part in message.parts:
        if isinstance(part, Text):
            yield Part(text=part.text)
        elif isinstance(part, File) and part.url:
            yield Part(file_data=FileData(file_uri=part.url, mime_type=part.media_type))


def _response(result: ToolResult) -> FunctionResponse:
    value = decode_json(result.content)
    response = value if isinstance(value, dict) else {"error" if result.is_error else "result": value}
    return FunctionResponse(name=result.name or None, response=response, id=result.id or None)


def _calls(turn: Invocation) -> list[tuple[str, object]]:
    data = turn.intermediate_data
    return [(call.name, call.args) for call in data.calls()] if data is not None else []


def _id(name: str) -> str:
    """Return a name that can be part of a command line."""
    return _ODD.sub("_", name)[:80] or "trace"


def _free(name: str, ids: set[str]) -> str:
    number, free = 1, name
    while free in ids:
        number += 1
        free = f"{name}-{number}"
    ids.add(free)
    return free
