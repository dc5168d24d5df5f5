"""Calls in the reply of an agent, in every form the chapter names, as what the official checker reads.

A JSON object or array of `{"name": ..., "arguments": ...}` (arguments as JSON text too), alone, in a fence or among words;
Python calls in fences, alone, on a line of their own, or within a sentence. Of several fences all count, as in the
chapter's listing; one that only repeats the calls so far counts once.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from proctor.chat.thinking import parted
from proctor.core.sample import JsonObject, Message, ToolCall
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.bfcl import decode_python
from proctor_benchmarks.bfcl.calls import Call, Undecodable, first
from proctor_benchmarks.bfcl.declared_types import Language
from proctor_benchmarks.bfcl.oracle import call_text

LONGEST = 400_000
LONGEST_CALL = 4_000
MOST_STARTS = 200
MOST_ENDS = 20
_FENCE = re.compile(r"```[a-zA-Z_]*[ \t]*\n(.*?)```", re.DOTALL)
_decoder = json.JSONDecoder()


class ReadCalls(msgspec.Struct, frozen=True):
    """The calls of a reply: [] where it says that there are none, None where none can be read."""

    calls: list[dict[str, Any]] | None
    is_json: bool = False


def calls_in(reply: str, names: Sequence[str] = ()) -> ReadCalls:
    """Return the calls as `{"name", "arguments"}`; `names` are the functions there are, for calls among words.

    >>> calls_in('Sure: {"name": "f", "arguments": {"x": [1, 2]}}').calls
    [{'name': 'f', 'arguments': {'x': [1, 2]}}]
    >>> calls_in("```python\\nf(x=1 + 2)\\n```").calls, calls_in("No function fits.").calls, calls_in("[]").calls
    ([{'name': 'f', 'arguments': {'x': 3}}], None, [])
    """
    text = said_in(reply)
    for pieces in ([text], _read_fences(text)):
        in_pieces = _of_pieces(pieces)
        if in_pieces.calls is not None:
            return in_pieces
    among = _among(text)
    if among:
        return ReadCalls(among, is_json=True)
    lines = [calls for line in text.splitlines() if (calls := _of_python(line.strip(" `-*\t")))]
    on_lines = [call for calls in lines for call in calls if call["name"] in names]
    return ReadCalls(on_lines or _within(text, names) or None)


def trajectory_of(reply: str, functions: Sequence[Mapping[str, object]], language: Language) -> Trajectory:
    """Return the reply as the official checker takes it: JSON as native calls, anything else as text.

    Java and JavaScript are always text, in their own notation, as the official tool reads exports in no other way.
    """
    by_name = {str(function["name"]): function for function in functions}
    read = calls_in(reply, list(by_name))
    if read.calls and read.is_json and language != "python":
        texts = (
            call_text(by_name.get(call["name"], {"name": call["name"]}), call["arguments"], language)
            for call in read.calls
        )
        return Trajectory.of(f"[{', '.join(texts)}]")
    if read.calls and read.is_json:
        parts = tuple(ToolCall(name=call["name"], arguments=call["arguments"]) for call in read.calls)
        return Trajectory(steps=(Step(message=Message(role="assistant", parts=parts)),), tools="native")
    if read.calls == []:
        return Trajectory.of("[]")
    if read.calls and language == "python":
        return Trajectory.of(as_python(read.calls))
    text = said_in(reply)
    return Trajectory.of((_read_fences(text) or [text])[-1])  # Java and JavaScript have decoders of their own


def said_in(reply: str) -> str:
    """Return the reply without what the model thought aloud."""
    return parted(reply)[1][:LONGEST].strip()


def expected(truth: Any) -> list[dict[str, dict[str, list[object]]]]:
    """Answers in the form of version 4, out of any form the chapter knows: a value that may be, in a list.

    >>> expected([{"name": "f", "arguments": {"x": 1}}]), expected(["f(x=1)"])
    ([{'f': {'x': [1]}}], [{'f': {'x': [1]}}])
    """
    answers = []
    for item in truth if isinstance(truth, list) else [truth]:
        if isinstance(item, str):
            answers += [_allowed(*first(call)) for call in decode_python.decode(item)]
        elif isinstance(item, Mapping) and isinstance(item.get("name"), str) and set(item) <= {"name", "arguments"}:
            answers.append(_allowed(item["name"], item.get("arguments") or {}))
        else:
            answers.append(dict(item))
    return answers


def as_python(calls: Sequence[JsonObject]) -> str:
    """Return calls in the text form of the official result files.

    >>> as_python([{"name": "f", "arguments": {"x": 1, "s": "a"}}])
    "[f(x=1, s='a')]"
    """
    return "[" + ", ".join(f"{call['name']}({_arguments(call['arguments'])})" for call in calls) + "]"


def _arguments(given: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _allowed(name: str, arguments: Mapping[object, object]) -> dict[str, dict[str, list[object]]]:
    return {name: {str(key): [_inner(value)] for key, value in arguments.items()}}


def _inner(value: object) -> object:
    """Objects in an answer of version 4 hold lists of what each key may be."""
    if isinstance(value, Mapping):
        return {key: [_inner(entry)] for key, entry in value.items()}
    return [_inner(item) for item in value] if isinstance(value, list) else value


def _of_pieces(pieces: Sequence[str]) -> ReadCalls:
    """Return the calls of all pieces that hold some; one that says the same as those preceding it is a repetition."""
    calls: list[dict[str, Any]] | None = None
    is_json = False
    for piece in pieces:
        read = _of_json(_json(piece))
        is_json = is_json or read is not None
        read = _of_python(piece) if read is None else read
        if read is not None and read != calls:
            calls = (calls or []) + read
    return ReadCalls(calls, is_json=is_json)


def _within(text: str, names: Sequence[str]) -> list[dict[str, object]]:
    """Return the calls within sentences: of known functions, with named arguments, as a bare `name()` is a mention."""
    with_arguments: list[dict[str, object]] = []
    wanted = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    starts = re.finditer(rf"(?<![\w.])(?:{wanted})\(", text) if names else ()
    for start in islice(starts, MOST_STARTS):
        ends = (end.end() for end in re.finditer(r"\)", text[start.start() : start.start() + LONGEST_CALL]))
        for end in islice(ends, MOST_ENDS):
            calls = _of_python(text[start.start() : start.start() + end])
            if calls:
                with_arguments += [call for call in calls if call["arguments"]]
                break
    return with_arguments


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_fences(text: str) -> list[str]:
    return [fence.strip() for fence in _FENCE.findall(text)]


def _among(text: str) -> list[dict[str, object]]:
    """Return the calls in JSON among words: the last array of them, else all objects that are calls."""
    values = [(value, calls) for value in _find_json(text) if (calls := _of_json(value))]
    arrays = [calls for value, calls in values if isinstance(value, list)]
    return arrays[-1] if arrays else [call for _, calls in values for call in calls]


def _find_json(text: str) -> Iterator[object]:
    """Yield the JSON arrays and objects in a text, the outermost of each place."""
    start = tries = 0
    while tries < MOST_STARTS and (match := re.search(r"[\[{]", text[start:])):
        start += match.start()
        tries += 1
        try:
            value, start = _decoder.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            start += 1


def _of_json(value: object) -> list[dict[str, object]] | None:
    """Return calls in a JSON value; None when it is none, [] for the empty array."""
    values = value.get("tool_calls", [value]) if isinstance(value, Mapping) else value
    if not isinstance(values, list):
        return None
    calls = [_call(entry) for entry in values]
    return None if None in calls else [call for call in calls if call is not None]


def _call(value: object) -> dict[str, object] | None:
    if not isinstance(value, Mapping):
        return None
    function = value.get("function", value)
    if isinstance(function, str):  # {"function": "f", "arguments": {...}}
        function = {**value, "name": function}
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        return None
    given = next((function[key] for key in ("arguments", "parameters", "args") if key in function), None)
    if isinstance(given, str):
        given = _json(given)
    if given is None:
        given = {}
    return {"name": name, "arguments": dict(given)} if isinstance(given, Mapping) else None


def _of_python(text: str) -> list[dict[str, object]] | None:
    if "(" not in text:
        return None
    try:
        calls: Sequence[Call] = decode_python.decode(text if text.startswith("[") else f"[{_join_lines(text)}]")
    except Undecodable:
        return None
    return [{"name": name, "arguments": dict(given)} for name, given in map(first, calls)]


def _join_lines(text: str) -> str:
    """Return calls on lines of their own, as a list of them."""
    lines = [line.strip().rstrip(";,") for line in text.splitlines() if line.strip()]
    whole = all(line.endswith(")") and line.count("(") == line.count(")") for line in lines)
    return ", ".join(lines) if whole else text
