"""What samples are made of, and how calls are written."""

import pytest

from proctor.chat.messages import to_tools
from proctor.core.sample import Tool, ToolCall


@pytest.mark.parametrize("text", ['{"x":1}', '{"x": "\\u00fc"}', "{}", '{"x": 1}', "[1", '{"x": 1e2}'])
def test_arguments_are_given_back_letter_for_letter(text: str) -> None:
    assert ToolCall.from_text("f", text).arguments_text() == text


def test_only_what_would_be_written_in_other_words_is_kept_twice() -> None:
    assert ToolCall.from_text("f", '{"x": 1}') == ToolCall(name="f", arguments={"x": 1})


def test_further_fields_of_a_tool_are_sent() -> None:
    [sent] = to_tools([Tool(name="f", extra={"response": {"type": "dict"}})], {})
    assert sent["function"]["response"] == {"type": "dict"}
