"""An assistant asks over MCP: the official client, the program as it is installed, and answers of a page at most."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from web_site import AppSite

from proctor_web.mcp_server import ANSWER_BYTES, TOOLS, fitted, make_server


@pytest.fixture
def site(tmp_path: Path) -> Iterator[AppSite]:
    site = AppSite(tmp_path)
    site.run("first", wrong=("it", "cn"))
    site.run("second", wrong=("it",))
    yield site
    site.workspace.close()


def text_of(result: object) -> str:
    assert isinstance(result, types.CallToolResult)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def test_an_assistant_finds_runs_figures_and_the_reason_of_a_failure(site: AppSite) -> None:
    async with Client(make_server(site.workspace, "en")) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS)
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
        runs = json.loads(text_of(await client.call_tool("list_runs", {})))
        assert {row["run"] for row in runs["rows"]} >= {"first", "second"}
        figures = json.loads(text_of(await client.call_tool("get_estimates", {"run": "first"})))
        assert figures[0]["planned"] == 6
        assert figures[0]["low"] < figures[0]["value"] < figures[0]["high"]
        failed = json.loads(text_of(await client.call_tool("list_samples", {"run": "first", "size": 2})))
        assert len(failed["rows"]) == 2
        compared = text_of(await client.call_tool("compare_runs", {"run": ["first", "second"]}))
        assert "second" in compared


async def test_a_mistake_is_an_answer_in_one_sentence(site: AppSite) -> None:
    async with Client(make_server(site.workspace, "zh")) as client:
        for name, arguments in (
            ("get_estimates", {"run": "frist"}),
            ("get_estimates", {"run": "first", "nonsense": 1}),
            ("get_estimates", {"run": 7}),
            ("list_baselines", {"nonsense": 1}),
            ("delete_run", {"run": "first"}),
        ):
            result = await client.call_tool(name, arguments)
            assert isinstance(result, types.CallToolResult)
            assert result.is_error
            assert "\n" not in text_of(result)
    assert site.workspace.find_run("first")


async def test_whoever_may_only_read_is_offered_nothing_that_changes(site: AppSite) -> None:
    async with Client(make_server(site.workspace, "en", read_only=True)) as client:
        tools = (await client.list_tools()).tools
        assert {"start_run", "stop_run", "resume_run"}.isdisjoint(tool.name for tool in tools)
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


async def test_the_report_is_a_resource(site: AppSite) -> None:
    async with Client(make_server(site.workspace, "zh")) as client:
        found = (await client.list_resources()).resources
        assert {one.name for one in found} == {"first", "second"}
        (content,) = (await client.read_resource(found[0].uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert "准确率" in content.text


def test_an_answer_is_cut_to_a_page_and_says_so() -> None:
    long = {"rows": [{"text": "答" * 5_000, "nested": [list(range(300))] * 30}] * 50}
    text = fitted(long, ANSWER_BYTES)
    assert len(text.encode()) <= ANSWER_BYTES
    assert "more" in text
    json.loads(text)
    json.loads(fitted({"k" * 3_000 + str(number): 1 for number in range(50)}, ANSWER_BYTES))
    assert json.loads(fitted(long, 10_000_000)) == long


async def test_the_program_speaks_over_standard_input_and_output(site: AppSite, tmp_path: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "proctor", "team", "mcp", "--store", site.store], cwd=tmp_path
    )
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool("get_estimates", {"run": "first"})
        assert json.loads(text_of(result))[0]["planned"] == 6


def test_no_page_is_loaded_before_the_first_answer() -> None:
    program = "import sys, proctor_web.mcp_server; print(*(one for one in sys.modules if one.endswith('pages')))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert loaded.split() == []
