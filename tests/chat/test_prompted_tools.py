"""Calls that a model makes in words are read from its text, and what it only quotes is no call."""

import pytest

from proctor.chat.prompted_tools import read_calls
from proctor.core.sample import Message, Tool

TOOLS = [Tool(name="look_up"), Tool(name="list_items")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('[{"name": "look_up", "arguments": {"x": 1}}]', ["look_up"]),
        ('{"name": "list_items"}', ["list_items"]),
        ('I call <tool_call>{"name": "list_items", "parameters": {}}</tool_call>', ["list_items"]),
        ('The tool said: [{"name": "look_up", "result": "Rome"}]', []),
        ('[{"name": "look_up", "error": "gone"}]', []),
        ('```json\n{"name": "look_up", "description": "finds", "parameters": {}}\n```', []),
        ('{"name": "other", "arguments": {}}', []),
    ],
)
def test_only_calls_are_read_as_calls(text: str, names: list[str]) -> None:
    assert [call.name for call in read_calls(Message.of("assistant", text), TOOLS).calls] == names
