"""The two shapes before the eval-set object, as ADK's own conversion reads them.

    [{"name": "two_rolls", "data": [{"query": ..., "expected_tool_use": [{"tool_name": ..., "tool_input": {}}],
      "expected_intermediate_agent_responses": [{"author": ..., "text": ...}], "reference": ...}], "initial_session": {}}]
    [{"query": ..., "expected_tool_use": [...], "reference": ...}]                                   (one case a file)

Source: google/adk-python, src/google/adk/evaluation/local_eval_sets_manager.py, release 2.7.1.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.sentence import say
from proctor.core.validation import mismatch
from proctor_adapters.json_path import Invalid, Path

NAMES = {
    "eval_id": "name",
    "conversation": "data",
    "user_content": "query",
    "final_response": "reference",
    "session_input": "initial_session",
}


def cases(value: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the cases of the nested list, as JSON of the current schema.

    Raises:
        Invalid: something that the conversion needs is missing, or of the wrong type.
    """
    cases = []
    for index, old in enumerate(value):
        at: Path = ("eval_cases", index)
        turns = _list(old, "data", (*at, "conversation"))
        cases.append(case(_text(old, "name", (*at, "eval_id")), turns, old.get("initial_session"), at))
    return cases


def case(name: str, turns: Sequence[object], session: object = None, at: Path = ("eval_cases", 0)) -> dict[str, object]:
    """Return one case of the oldest form from its turns; an empty session counts as none.

    Raises:
        Invalid: as above.
    """
    conversation = [_turn(turn, (*at, "conversation", index), f"{name} {index}") for index, turn in enumerate(turns)]
    fields: dict[str, object] = {"eval_id": name, "conversation": conversation}
    if session:
        if not isinstance(session, Mapping):
            raise Invalid((*at, "session_input"), mismatch("object", session))
        fields["session_input"] = {
            "app_name": session.get("app_name", ""),
            "user_id": session.get("user_id", ""),
            "state": session.get("state", {}),
        }
    return fields


def old_path(path: Path, *, flat: bool) -> Path:
    """Return the path in the older shapes of something of the current schema, as far as they have it.

    >>> old_path(("eval_cases", 1, "conversation", 0, "user_content"), flat=False)
    (1, 'data', 0, 'query')
    """
    inner = path[3:] if flat and path[2:3] == ("conversation",) else path[1:]
    found: list[str | int] = []
    for step in inner:
        if step == "intermediate_data":
            continue
        found.append({"tool_uses": "expected_tool_use"}.get(str(step), NAMES.get(str(step), step)))
    return tuple(found)


def _turn(turn: object, at: Path, seed: str) -> dict[str, object]:
    if not isinstance(turn, Mapping):
        raise Invalid(at, mismatch("object", turn))
    query = _text(turn, "query", (*at, "user_content"))
    reference = turn.get("reference", "")
    if not isinstance(reference, str):
        raise Invalid((*at, "final_response"), mismatch("str", reference))
    return {
        "invocation_id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{seed} {query}")),  # the same at every reading
        "user_content": {"parts": [{"text": query}], "role": "user"},
        "final_response": {"parts": [{"text": reference}], "role": "model"},
        "intermediate_data": {
            "tool_uses": [
                _call(old, (*at, "intermediate_data", "tool_uses", index))
                for index, old in enumerate(_list(turn, "expected_tool_use", at, needed=False))
            ],
            "intermediate_responses": [
                [_text(old, "author", at), [{"text": _text(old, "text", at)}]]
                for old in _list(turn, "expected_intermediate_agent_responses", at, needed=False)
            ],
        },
    }


def _call(old: Any, at: Path) -> dict[str, object]:
    name = _text(old, "tool_name", at)
    if "tool_input" not in old:
        raise Invalid(at, say("'{field}' is missing", field="tool_input"))
    return {"name": name, "args": old["tool_input"]}


def _text(old: object, key: str, at: Path) -> str:
    if not isinstance(old, Mapping) or key not in old:
        raise Invalid(at, say("'{field}' is missing", field=key))
    if not isinstance(old[key], str):
        raise Invalid(at, mismatch("str", old[key]))
    text: str = old[key]
    return text


def _list(old: Mapping[str, object], key: str, at: Path, *, needed: bool = True) -> list[object]:
    items = old.get(key, None if needed else [])
    if not isinstance(items, list):
        raise Invalid(at, mismatch("array", items))
    return items
