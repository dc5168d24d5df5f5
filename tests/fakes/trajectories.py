"""Conversations written as a few lines each: what an inspector has to find in them, and what it must not."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

CASES = Path(__file__).parents[1] / "data" / "audit" / "trajectory_cases.txt"
ROLES = {"S": "system", "U": "user", "A": "assistant", "R": "tool"}


class TrajectoryCase(msgspec.Struct, frozen=True):
    """A conversation and the kind that is in it; `is_there` is False for one that only looks like it."""

    kind: str
    is_there: bool
    row: Mapping[str, Any]


def read_cases() -> Iterator[TrajectoryCase]:
    """Read the cases: `@@ kind | name | FIELD value`, then S, U, A, T (reasoning), C (call) and R (result) lines."""
    for block in CASES.read_text(encoding="utf-8").split("@@ ")[1:]:
        head, *lines = block.splitlines()
        kind, name, *fields = (part.strip() for part in head.split("|"))
        row = {"id": f"{kind}: {name}", "stop": "stop", "messages": _messages(lines)}
        for field in fields:
            row |= _known(field)
        yield TrajectoryCase(kind.removeprefix("-"), not kind.startswith("-"), row)


def _known(field: str) -> dict[str, Any]:
    name, _, value = field.partition(" ")
    if name == "SCRIPT":
        return {"user_script": value}
    if name == "STOP":
        return {"stop": None if value == "none" else value}
    if name != "TARGET":
        return {}
    target, _, rest = value.partition(" EXTRACTED ")
    extracted, _, score = rest.partition(" SCORE ")
    return {"target": target, "extracted": None if extracted == "null" else extracted, "score": float(score)}


def _messages(lines: list[str]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    thought = ""
    for number, line in enumerate(lines):
        mark, text = line[:1], line[3:].replace("\\n", "\n")
        if mark == "C":
            name, _, arguments = line[3:].partition(" ")
            call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif mark == "R":
            call = messages[-1]["tool_calls"][0]
            messages.append(
                {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text}
            )
        elif mark == "T":
            thought = text
        elif mark in ROLES:
            messages.append(
                {"role": ROLES[mark], "content": text} | ({"reasoning_content": thought} if thought else {})
            )
            thought = ""
    return messages
