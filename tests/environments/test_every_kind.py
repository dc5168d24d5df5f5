"""What every kind of environment promises, asked of each of them: the same shop as a class, a program and an MCP server."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

import pytest
from shops import FILE, STOCK, http_server

from proctor.core.declared import EnvironmentInfo, declared
from proctor.core.errors import BadInput
from proctor.core.sample import Sample, ToolCall, ToolResult
from proctor.core.task import Environment
from proctor.environments.several import environment_of

SAMPLE = Sample.ask("a", "Buy a tea.")
RESET = {"reset": "reset", "state": "look", "without": ["gone"]}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "class": (f"python:{FILE}:Shop", {}),
    "async class": (f"python:{FILE}:AsyncShop", {}),
    "program": (f"process:{sys.executable} {FILE} lines", {}),
    "kept program": (f"process:{sys.executable} {FILE} lines", {"reuse": True}),
    "mcp server": (f"mcp:{sys.executable} {FILE} stdio", {"reset": "reset", "state": "look", "without": ["gone"]}),
    "mcp address": ("mcp:ADDRESS", RESET),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http_server() as (url, _):
        yield url


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, address: str) -> Any:
    name, options = KINDS[request.param]
    return environment_of([name.replace("ADDRESS", address)], options)


@asynccontextmanager
async def entered(make: Any, sample: Sample = SAMPLE) -> AsyncIterator[Environment]:
    """Enter what makes environments, and the environment of one sample."""
    async with _entered(make), _entered(environment := make(sample)):
        yield environment


def _entered(part: object) -> AbstractAsyncContextManager[Any]:
    return part if isinstance(part, AbstractAsyncContextManager) else nullcontext()


async def call(environment: Environment, name: str, **arguments: object) -> ToolResult:
    return await environment.call(ToolCall(name=name, arguments=arguments, id="1"))


async def state_of(environment: Environment) -> Any:
    state = environment.state()
    return state if isinstance(state, dict) else await state  # type: ignore[misc]


async def test_its_tools_are_described_once_it_is_entered(make: Any) -> None:
    async with entered(make) as environment:
        tools = {tool.name: tool for tool in declared(EnvironmentInfo, environment).tools}
    assert [*tools] == ["buy", "read_basket"]
    assert tools["buy"].description == "Buy something."
    assert tools["buy"].parameters["properties"]["count"]["type"] == "integer"
    assert tools["buy"].parameters["required"] == ["item"]


async def test_a_call_changes_the_state_and_returns_json(make: Any) -> None:
    async with entered(make) as environment:
        result = await call(environment, "buy", item="tea", count=2)
        before = await state_of(environment)
        assert (result.name, result.id, result.is_error) == ("buy", "1", False)
        assert json.loads(result.content) == {"left": 1}
        assert before == {"stock": {"tea": 1, "jam": 1}, "basket": ["tea", "tea"]}
        assert json.loads((await call(environment, "read_basket")).content) == ["tea", "tea"]
        await call(environment, "buy", item="jam")
        assert before["basket"] == ["tea", "tea"], "a state is a copy"


async def test_what_a_tool_raises_is_a_result_and_the_environment_goes_on(make: Any) -> None:
    async with entered(make) as environment:
        result = await call(environment, "buy", item="tea", count=9)
        assert result.is_error
        assert "tea is sold out" in result.content
        assert await state_of(environment) == {"stock": STOCK, "basket": []}
        assert not (await call(environment, "buy", item="tea")).is_error


async def test_a_call_that_fits_no_tool_is_a_result_that_says_so(make: Any) -> None:
    async with entered(make) as environment:
        unknown = await call(environment, "steal")
        no_object = await environment.call(ToolCall(name="buy", raw="[1"))
        assert unknown.is_error
        assert "no tool" in unknown.content
        assert "steal" in unknown.content
        assert no_object.is_error
        assert "no JSON object" in no_object.content
        assert await state_of(environment) == {"stock": STOCK, "basket": []}


async def test_each_attempt_starts_anew(make: Any) -> None:
    async with _entered(make):
        for _ in range(2):
            async with _entered(environment := make(SAMPLE)):
                await call(environment, "buy", item="jam")
                assert await state_of(environment) == {"stock": {"tea": 3, "jam": 0}, "basket": ["jam"]}


async def test_a_sample_can_say_how_it_starts_and_is_not_changed(make: Any) -> None:
    sample = Sample.ask("a", "Buy it.", meta={"environment": {"stock": {"ink": 2}}})
    async with entered(make, sample) as environment:
        await call(environment, "buy", item="ink")
        assert await state_of(environment) == {"stock": {"ink": 1}, "basket": ["ink"]}
    assert sample.meta == {"environment": {"stock": {"ink": 2}}}


async def test_two_at_once_do_not_see_each_other(make: Any) -> None:
    async def shop(item: str) -> Any:
        async with _entered(environment := make(SAMPLE)):
            await call(environment, "buy", item=item)
            await asyncio.sleep(0.01)
            return (await state_of(environment))["basket"]

    async with _entered(make), asyncio.TaskGroup() as group:
        baskets = [group.create_task(shop(item)) for item in ("tea", "jam", "tea")]
    assert [basket.result() for basket in baskets] == [["tea"], ["jam"], ["tea"]]


async def test_one_that_is_cancelled_is_left_and_the_next_one_works(make: Any) -> None:
    async def stay() -> None:
        async with _entered(environment := make(SAMPLE)):
            await call(environment, "buy", item="tea")
            inside.set()
            await asyncio.sleep(60)

    async with _entered(make):
        inside = asyncio.Event()
        task = asyncio.create_task(stay())
        await inside.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        async with _entered(environment := make(SAMPLE)):
            assert await state_of(environment) == {"stock": STOCK, "basket": []}


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_option_is_refused_at_once(kind: str) -> None:
    with pytest.raises(BadInput, match="no option 'stokc'"):
        environment_of([KINDS[kind][0].replace("ADDRESS", "http://127.0.0.1:9/mcp")], {"stokc": 1})
