"""The lines of a corpus of what the official code did: of three kinds, each with fields of its own.

    a verdict:       {"id": "simple_python_5", "category": "simple_python", "mode": "fc", "model_output": [{"f": "{\"x\": 1}"}],
                      "valid": false, "error_type": "simple_function_checker:wrong_func_name"}
    a first request: {"id": "simple_python_5", "category": "simple_python", "messages_sha256": "…", "tools_sha256": "…"}
    a conversation:  {"id": "multi_turn_base_7", "category": "multi_turn_base", "mode": "prompt", "replies": ["[ls()]", "Done."],
                      "queries": [{"messages_sha256": "…", "tools_sha256": "…"}, …], "result": [["[ls()]", "Done."]]}

`mode` is `prompt`, or `fc` (native calls, dots in names made underscores). A file may be gzipped.
"""

from typing import Any, Literal

import msgspec


class RecordedQuery(msgspec.Struct, frozen=True):
    """What the official code sent: SHA-256 of the messages and of the tools as sorted, compact JSON."""

    messages_sha256: str
    tools_sha256: str


class RecordedVerdict(msgspec.Struct, frozen=True):
    """One line; its kind is that of the fields it has."""

    id: str
    category: str
    mode: Literal["prompt", "fc", "native"] = "prompt"
    model_output: object = msgspec.UNSET
    valid: bool = False
    error_type: str | None = None
    messages_sha256: str = ""
    tools_sha256: str = ""
    replies: list[object] = []
    queries: list[RecordedQuery] = []
    result: Any = None
    script: str = ""
    order: int = 0


def verdict(valid: bool, error_type: str | None) -> str:
    return "valid" if valid else (error_type or "invalid")
