"""A tool that breaks is the environment's failure, whoever called it."""

import pytest

from proctor.agents._conversation import call_tool
from proctor.core.errors import EnvironmentFailed, UserFailed
from proctor.core.sample import ToolCall, ToolResult


class Tools:
    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def call(self, call: ToolCall) -> ToolResult:
        if self._error is not None:
            raise self._error
        return ToolResult(name=call.name, content="looked", id="its own")

    def state(self) -> dict[str, object]:
        return {}


CALL = ToolCall(name="look", id="7")


async def test_a_result_gets_the_id_of_its_call() -> None:
    assert await call_tool(Tools(), CALL) == ToolResult(name="look", content="looked", id="7")


async def test_a_tool_that_raises_is_named_with_what_it_raised() -> None:
    with pytest.raises(EnvironmentFailed, match="The tool 'look' broke: OSError: gone") as raised:
        await call_tool(Tools(OSError("gone")), CALL)
    assert raised.value.kind == "environment"
    assert isinstance(raised.value.__cause__, OSError)


async def test_a_part_that_says_itself_what_broke_is_believed() -> None:
    with pytest.raises(UserFailed):
        await call_tool(Tools(UserFailed("The user is gone.")), CALL)
