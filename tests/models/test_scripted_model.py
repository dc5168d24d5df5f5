"""The model that says what it is told to."""

import pytest

from proctor.core.errors import ProviderFailed
from proctor.core.sample import Message, Tool, ToolCall
from proctor.models.scripted import ScriptedModel

HELLO = (Message.of("user", "Hi"),)


async def test_replies_come_in_order_and_what_was_asked_is_kept() -> None:
    call = Message(role="assistant", parts=(ToolCall(name="f"),))
    model = ScriptedModel(["one", call])
    assert (await model.complete(HELLO)).message.text == "one"
    assert (await model.complete(HELLO, (Tool(name="f"),))).message.calls[0].name == "f"
    assert model.asked == [HELLO, HELLO]
    assert model.offered[1][0].name == "f"


async def test_a_function_sees_messages_and_tools() -> None:
    model = ScriptedModel(lambda messages, tools: f"{messages[-1].text} {len(tools)}")
    assert (await model.complete(HELLO)).message.text == "Hi 0"


async def test_an_exception_is_raised_and_an_empty_script_is_a_mistake_of_the_test() -> None:
    model = ScriptedModel([ProviderFailed("down")])
    with pytest.raises(ProviderFailed):
        await model.complete(HELLO)
    with pytest.raises(AssertionError, match="no more replies"):
        await model.complete(HELLO)
