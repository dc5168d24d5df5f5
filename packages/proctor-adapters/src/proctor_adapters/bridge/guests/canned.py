"""Replies that are a function of the request, for comparing a task played alone with the same task played by Proctor.

Every difference between the two changes all that follows it, so that equal requests and scores mean an equal evaluation. Both
processes import this file; it needs the standard library only.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

TEXTS = ("ANSWER: A", "GRADE: C", "GRADE: I", "42", '{"score": 1, "reason": "fine"}', "I am not sure. ANSWER: B", "yes")
PARTS = ("kind", "model", "messages", "tools", "tool_choice", "config")
PACE = ("max_connections",)  # settings that never reach a model
UNSTABLE = ("id", "source", "metadata", "model")  # of messages: they differ between runs


def digest_of(request: Mapping[str, Any]) -> str:
    """Return a digest of what a model is asked, without what differs from run to run."""
    kept = {part: request.get(part) for part in PARTS}
    kept["messages"] = [
        {key: value for key, value in message.items() if key not in UNSTABLE} for message in request.get("messages", ())
    ]
    kept["config"] = {key: value for key, value in (request.get("config") or {}).items() if key not in PACE}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[
        :16
    ]


def reply_to(request: Mapping[str, Any], digest: str) -> tuple[str, Mapping[str, Any] | None]:
    """Return a text, and a call with name, id and arguments where tools are offered and the digest says so."""
    number = int(digest, 16)
    text = TEXTS[number % len(TEXTS)]
    tools = request.get("tools") or []
    if not tools or number % 3 == 0:
        return text, None
    tool = next((each for each in tools if each["name"] == "submit" and number % 2), tools[number // 7 % len(tools)])
    properties = (tool.get("parameters") or {}).get("properties") or {}
    return "", {
        "name": tool["name"],
        "id": digest,
        "arguments": {key: _value(of, text) for key, of in properties.items()},
    }


def text_for(prompt: str, repeat: int) -> str:
    """Return the reply to a prompt of lm-eval, another one for each repeat."""
    number = int(hashlib.sha256(f"{repeat}\n{prompt}".encode("utf-8", "replace")).hexdigest()[:8], 16)
    return f" {TEXTS[number % len(TEXTS)]}" if number % 4 else f" The answer is {number % 10}."


def _value(schema: Mapping[str, Any], text: str) -> object:
    if schema.get("enum"):
        return schema["enum"][0]
    return {"integer": 3, "number": 1.5, "boolean": True, "array": [], "object": {}}.get(str(schema.get("type")), text)
