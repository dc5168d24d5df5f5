"""Tracing spans as VeADK exports them. Files of its newer releases, whose spans have ids, are read as any other trace.

Without ids the spans of one trace are one turn, and all traces together one case:

    [{"trace_id": "1", "name": "call_llm", "start_time": 1700000000000000000, "attributes": {"gen_ai.prompt.0.content":
      "Hi", "gen_ai.completion.0.content": "Hello", "gen_ai.app.name": "shop", "gen_ai.user.id": "u"}},
     {"trace_id": "1", "name": "execute_tool f", "attributes": {"gen_ai.tool.name": "f",
      "gen_ai.tool.input": "{\\"parameters\\": {\\"x\\": 1}}", "gen_ai.tool.output": "{\\"id\\": \\"c1\\"}"}}]

Source: volcengine/veadk-python, veadk/evaluation/base_evaluator.py, release 1.1.19.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_adapters.evalsets.schema import EvalSet

SET_ID = "default"


def read(value: Sequence[Mapping[str, object]], file: str) -> tuple[EvalSet, tuple[Sentence, ...]]:
    """Return the set, with a note for each trace or conversation that is left out.

    Raises:
        Invalid, BadInput: something is no span, or no conversation among them is whole.
    """
    if not all(span.get("span_id") for span in value):
        fields, notes = convert(value)
        return msgspec.convert(fields, EvalSet), notes
    from proctor_adapters.evalsets import trace_cases as cases
    from proctor_adapters.traces import conversations, span_files

    recorded_set = cases.record_cases(conversations(span_files.of_values(value), file), SET_ID)
    return recorded_set.eval_set, recorded_set.broken


def convert(value: Sequence[Mapping[str, object]]) -> tuple[dict[str, object], tuple[Sentence, ...]]:
    """Return the set, as JSON of the current schema, with a note for each trace that is left out.

    A trace without the text of the user or of the answer is no turn.
    """
    traces: dict[str, list[Mapping[str, object]]] = {}
    for span in value:
        traces.setdefault(str(span["trace_id"]), []).append(span)
    turns, notes = [], []
    for trace_id, spans in traces.items():
        turn = _turn(trace_id, spans)
        if turn is None:
            notes.append(say("the trace {id} has no question or no answer; it is left out.", id=trace_id))
        else:
            turns.append(turn)
    began = turns[0]["creation_timestamp"] if turns else 0.0
    case = {
        "eval_id": f"veadk_eval_{_when(began):%Y%m%d%H%M%S}",
        "conversation": turns,
        "session_input": _session(traces),
        "creation_timestamp": began,
    }
    return {"eval_set_id": SET_ID, "name": SET_ID, "eval_cases": [case], "creation_timestamp": began}, tuple(notes)


def _turn(trace_id: str, spans: Sequence[Mapping[str, object]]) -> dict[str, Any] | None:
    asked = _model_calls(spans)
    if not asked:
        return None
    question, answer = _text_of(asked[0], "gen_ai.prompt.0.content"), _text_of(asked[-1], "gen_ai.completion.0.content")
    if not question or not answer:
        return None
    return {
        "invocation_id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{trace_id} {question}")),  # the same at every reading
        "user_content": {"role": "user", "parts": [{"text": question}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {
            "tool_uses": [_call(span) for span in spans if str(span.get("name", "")).startswith("execute_tool")]
        },
        "creation_timestamp": _seconds(asked[0]),
    }


def _model_calls(spans: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [span for span in spans if span.get("name") == "call_llm"]


def _call(span: Mapping[str, object]) -> dict[str, object]:
    parameters = _inside(span, "gen_ai.tool.input").get("parameters", {})
    call_id = _inside(span, "gen_ai.tool.output").get("id")
    return {
        "id": call_id if isinstance(call_id, str) else None,
        "name": _text_of(span, "gen_ai.tool.name"),
        "args": parameters if isinstance(parameters, dict) else {},
    }


def _session(traces: Mapping[str, Sequence[Mapping[str, object]]]) -> dict[str, object]:
    first = next((span for spans in traces.values() for span in _model_calls(spans)), {})
    return {"app_name": _text_of(first, "gen_ai.app.name"), "user_id": _text_of(first, "gen_ai.user.id"), "state": {}}


def _text_of(span: Mapping[str, object], name: str) -> str:
    attributes = span.get("attributes")
    value = attributes.get(name) if isinstance(attributes, Mapping) else None
    return value if isinstance(value, str) else ""


def _inside(span: Mapping[str, object], name: str) -> Mapping[str, object]:
    try:
        value = json.loads(_text_of(span, name))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _seconds(span: Mapping[str, object]) -> float:
    start = span.get("start_time")
    return start / 1e9 if isinstance(start, int | float) else 0.0


def _when(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
