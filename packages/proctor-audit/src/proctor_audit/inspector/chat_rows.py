"""Read conversations in the form of the chat-completions API: JSON lines with `messages`, and what is known of each."""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import ToolResult
from proctor_audit.inspector.view import (
    InspectedTrial,
    TrialAuthor,
    TrialCall,
    TrialStep,
    join_results,
    make_call,
    text_of,
)

AUTHORS: Mapping[str, TrialAuthor] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "agent",
    "tool": "tool",
    "function": "tool",
}
CUT_STOPS = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})


def read_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each row of a file of JSON lines, which may be compressed with gzip, with the number of its line.

    Raises:
        BadInput: the file cannot be read, or a line is no JSON object.
    """
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _row_of(line, path, number)
    except (OSError, EOFError) as error:
        raise BadInput("{path} cannot be read: {reason}.", path=path, reason=error) from error


def has_messages(path: Path) -> bool:
    """True if the first line of a file is a conversation, or is meant to be one: a JSON object on a line, or no JSON at all."""
    try:
        _, row = next(read_rows(path), (0, {"messages": []}))
    except BadInput:
        return path.suffix in (".jsonl", ".gz")
    return "messages" in row


def _row_of(line: bytes, path: Path, number: int) -> Mapping[str, object]:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadInput("{path}, line {line}: no JSON ({reason}).", path=path, line=number, reason=error) from error
    if not isinstance(row, dict):
        raise BadInput("{path}, line {line}: a JSON object was expected.", path=path, line=number)
    return row


def read_trial(row: Mapping[str, object], where: str, number: int) -> InspectedTrial:
    """Read one row.

    Raises:
        BadInput: `messages` is missing or is not what the chat-completions API has.
    """
    messages = row.get("messages")
    if not isinstance(messages, list):
        raise BadInput(
            "{where}: the row has no list `messages`. Each row needs the messages of one conversation, as the chat-completions API has them.",
            where=where,
        )
    steps: list[TrialStep] = []
    calls: list[TrialCall] = []
    results: list[tuple[int, ToolResult]] = []
    for index, message in enumerate(messages):
        author = AUTHORS.get(str(message.get("role"))) if isinstance(message, dict) else None
        if author is None:
            raise BadInput(
                "{where}, $.messages[{index}]: the role must be one of {roles}.",
                where=where,
                index=index,
                roles=", ".join(AUTHORS),
            )
        trial_calls = _calls_of(message, index) if author == "agent" else []
        calls += trial_calls
        steps.append(_step_of(message, index, author, has_calls=bool(trial_calls)))
        if author == "tool":
            named, call_id = str(message.get("name") or ""), str(message.get("tool_call_id") or "")
            results.append((index, ToolResult(name=named, content=steps[-1].text, id=call_id)))
    known = _known(row)
    id = row.get("id")
    return InspectedTrial(
        id=str(number if id in (None, "") else id), steps=tuple(steps), calls=join_results(calls, results), **known
    )


def _known(row: Mapping[str, object]) -> dict[str, Any]:
    score, stop, target, script = (row.get(key) for key in ("score", "stop", "target", "user_script"))
    targets = target if isinstance(target, list) else [] if target is None else [target]
    return {
        "outcome": str(row.get("outcome") or "scored"),
        "score": float(score) if isinstance(score, int | float) else None,
        "stop": "" if stop is None else "length" if str(stop).lower() in CUT_STOPS else "done",
        "targets": tuple(str(value) for value in targets),
        "extracted": None if row.get("extracted") is None else str(row["extracted"]),
        "has_extracted": "extracted" in row,
        "user_script": str(script or ""),
        "simulated_user": bool(script),
    }


def _step_of(message: Mapping[str, object], index: int, author: TrialAuthor, *, has_calls: bool) -> TrialStep:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return TrialStep(
        index=index,
        author=author,
        text=text_of(content),
        reasoning=text_of(message.get("reasoning_content") or message.get("reasoning")),
        has_calls=has_calls,
        has_files=any(isinstance(part, dict) and part.get("type") not in ("text", "output_text") for part in parts),
    )


def _calls_of(message: Mapping[str, object], index: int) -> list[TrialCall]:
    calls = message.get("tool_calls")
    entries = list(calls) if isinstance(calls, Sequence) and not isinstance(calls, str) else []
    if message.get("function_call"):
        entries.append({"function": message["function_call"]})
    return [
        make_call(
            index,
            str(function.get("name") or ""),
            _arguments_text(function.get("arguments")),
            str(call.get("id") or ""),
        )
        for call in entries
        if isinstance(call, dict) and isinstance(function := call.get("function", call), dict)
    ]


def _arguments_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()
