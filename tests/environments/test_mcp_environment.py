"""MCP servers: what they may ask, what their results are in words, and how a list of tools that changes is followed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shops import FILE, http_server

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.sample import Sample, ToolCall, ToolResult
from proctor_adapters.environments import mcp

SAMPLE = Sample.ask("a", "?")
STDIO = f"{sys.executable} {FILE} stdio"


async def call(environment: Any, name: str, **arguments: object) -> ToolResult:
    result: ToolResult = await environment.call(ToolCall(name=name, arguments=arguments))
    return result


@pytest.mark.parametrize("asks", ["sample", "elicit"])
async def test_what_a_server_asks_of_us_is_refused_and_it_goes_on(asks: str) -> None:
    async with mcp.make(STDIO, {})(SAMPLE) as environment:  # type: ignore[attr-defined]
        result = await call(environment, asks)
        assert "not supported" in result.content
        assert not (await call(environment, "buy", item="tea")).is_error


async def test_what_is_no_text_is_described_and_other_lines_are_skipped() -> None:
    async with mcp.make(STDIO, {})(SAMPLE) as environment:  # type: ignore[attr-defined]
        picture = await call(environment, "picture")
        assert picture.content.splitlines() == [
            "Here.",
            "[image: image/png, 6 bytes]",
            "[resource: shop://list]",
            "a note",
        ]
        assert [(file.name, file.media_type, file.data) for file in picture.files] == [("image", "image/png", b"hello")]
        assert (await call(environment, "chatter")).content == "fine"


async def test_a_list_of_tools_that_changes_is_read_again() -> None:
    async with mcp.make(STDIO, {})(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert "refund" not in [tool.name for tool in environment.tools]
        await call(environment, "grow")
        assert "refund" in [tool.name for tool in environment.tools]


async def test_a_kept_server_is_reset_and_one_that_broke_is_replaced() -> None:
    makers: Any = mcp.make(STDIO, {"reset": "reset", "state": "look", "seconds": 5})
    async with makers:
        pids = []
        for broken in (False, False, True, False):
            async with makers(SAMPLE) as environment:
                pids.append(environment._connection._program._process.pid)
                assert (await environment.state())["basket"] == []
                assert not (await call(environment, "buy", item="tea")).is_error
                if broken:
                    with pytest.raises(EnvironmentFailed):
                        await call(environment, "exit")
        assert pids[0] == pids[1] == pids[2] != pids[3]


async def test_tools_that_are_ours_are_not_the_agents() -> None:
    options = {"reset": "reset", "state": "look", "without": ["gone"]}
    async with mcp.make(STDIO, options)(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert [tool.name for tool in environment.tools] == ["buy", "read_basket"]
        assert (await call(environment, "reset")).is_error


async def test_options_that_do_not_fit_the_server_are_told() -> None:
    with pytest.raises(BadInput, match="Did you mean 'reset'"):
        async with mcp.make(STDIO, {"reset": "rest"})(SAMPLE):  # type: ignore[attr-defined]
            pass
    with pytest.raises(BadInput, match="reset=TOOL"):
        async with mcp.make(STDIO, {})(Sample.ask("a", "?", meta={"environment": {"stock": {}}})):  # type: ignore[attr-defined]
            pass
    sample = Sample.ask("a", "?", meta={"environment": {"item": "ink"}})
    with pytest.raises(EnvironmentFailed, match="'buy' failed: ink is sold out"):
        async with mcp.make(STDIO, {"reset": "buy"})(sample):  # type: ignore[attr-defined]
            pass


async def test_a_server_that_begins_with_nonsense_is_a_failure_in_its_own_words(tmp_path: Path) -> None:
    answer = '{"jsonrpc": "2.0", "id": %s, "result": {"nonsense": true}}'
    code = f"import json, sys\nfor line in sys.stdin: print({answer!r} % json.dumps(json.loads(line).get('id')), flush=True)"
    (tmp_path / "odd.py").write_text(code, encoding="utf-8")
    with pytest.raises(EnvironmentFailed, match="The MCP server failed: ValidationError"):
        async with mcp.make(f"{sys.executable} {tmp_path / 'odd.py'}", {})(SAMPLE):  # type: ignore[attr-defined]
            pass


async def test_an_address_where_nobody_listens_is_a_failure() -> None:
    with pytest.raises(EnvironmentFailed, match="failed"):
        async with mcp.make("http://127.0.0.1:9/mcp", {"start_seconds": 5})(SAMPLE):  # type: ignore[attr-defined]
            pass


async def test_keys_go_to_an_address_in_headers_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="SHOP_KEY"):
        mcp.make("http://127.0.0.1:9/mcp", {"headers": {"X-Key": "env:SHOP_KEY"}})
    with pytest.raises(BadInput, match="SHOP_KEY"):
        mcp.make("http://127.0.0.1:9/mcp?key={env:SHOP_KEY}", {})
    monkeypatch.setenv("SHOP_KEY", "1")
    with http_server() as (url, _):
        async with mcp.make(url + "?key={env:SHOP_KEY}", {"headers": {"X-Key": "env:SHOP_KEY"}})(SAMPLE) as environment:  # type: ignore[attr-defined]
            assert not (await call(environment, "buy", item="tea")).is_error


def test_the_sdk_is_only_imported_when_a_server_is_reached() -> None:
    code = f"import sys\nfrom proctor_adapters.environments import mcp\nmcp.make({STDIO!r}, {{}})\nassert 'mcp' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


SDK_SERVER = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")


@server.tool()
def buy(item: str, count: int = 1) -> dict[str, int]:
    '''Buy something.'''
    if count > 3:
        raise ValueError("sold out")
    return {"left": 3 - count}


if sys.argv[1:]:
    server.run("streamable-http", port=int(sys.argv[1]))
server.run("stdio")
"""


@pytest.mark.slow
async def test_a_server_made_with_the_sdk_works_by_its_newest_protocol(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SDK_SERVER, encoding="utf-8")
    async with mcp.make(f"{sys.executable} {tmp_path / 'server.py'}", {})(SAMPLE) as environment:  # type: ignore[attr-defined]
        assert (await call(environment, "buy", item="tea")).content == '{\n  "left": 2\n}'
        assert (await call(environment, "buy", item="tea", count=9)).is_error
        assert "item" in (await call(environment, "buy")).content


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "read", "change", "arguments"), [
    ("airline", "get_reservation_details", "cancel_reservation", {"reservation_id": "NO6JO3"}),
    ("retail", "get_order_details", "cancel_pending_order", {"order_id": "#W4776164"}),
])  # fmt: skip
async def test_published_servers_are_reset_and_do_not_see_each_other(
    domain: str, read: str, change: str, arguments: dict[str, str]
) -> None:
    """Those of tau2-bench save their databases in one folder, so that they survive a server and are shared by all."""
    options = {
        "reset": "reset_state",
        "without": ["get_call_log"],
        "result": "tau2_tool_message.content",
        "variables": [f"TAU2_{domain.upper()}_MCP_STATE_DIR={{folder}}"],
    }
    sample = Sample.ask("a", "?", meta={"environment": {"domain": domain}})
    makers: Any = mcp.make(f"{sys.executable} -m tau2_{domain}_mcp.server", options)
    more = {"reason": "no longer needed"} if domain == "retail" else {}
    async with makers:
        for _ in range(2):
            async with makers(sample) as environment, makers(sample) as other:
                assert not {"reset_state", "get_call_log"} & {tool.name for tool in environment.tools}
                before = await call(environment, read, **arguments)
                assert not (await call(environment, change, **arguments, **more)).is_error
                after = await call(environment, read, **arguments)
                assert "cancelled" in str(json.loads(after.content)["status"])
                assert "cancelled" not in str(json.loads(before.content)["status"])
                assert await call(other, read, **arguments) == before
                wrong = await call(environment, read, **dict.fromkeys(arguments, "nothing"))
                assert wrong.is_error
