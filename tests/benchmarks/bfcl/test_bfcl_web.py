"""Web search: what is searched and read, recorded and replayed, and which addresses are never opened."""

import asyncio
import http.server
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.openai import ChatAgent
from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.sample import Message, Text, ToolCall
from proctor.core.trajectory import Step
from proctor_benchmarks import bfcl
from proctor_benchmarks.bfcl import web_page
from proctor_benchmarks.bfcl.environment import EnvironmentWording
from proctor_benchmarks.bfcl.web import Web
from proctor_benchmarks.bfcl.web_environment import WebSearch

SEARCH = """
asked = []
def find(keywords, region):
    asked.append(keywords)
    return [{"title": f"{keywords} {n}", "href": f"https://example.org/{n}", "body": "B"} for n in range(20)]
async def later(keywords, region):
    return None
def wrong(keywords, region):
    return [{"name": keywords}]
"""


@pytest.fixture
def search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    path = tmp_path / "search.py"
    path.write_text(SEARCH)
    return str(path)


def results(web: Web, *calls: ToolCall, shows_snippets: bool = True) -> list[str]:
    async def run() -> list[str]:
        async with web:
            found = await WebSearch(web, EnvironmentWording(), shows_snippets=shows_snippets).call_all(calls)
        return [result.content for result in found or ()]

    return asyncio.run(run())


def query(**arguments: object) -> ToolCall:
    return ToolCall(name="search_engine_query", arguments=arguments)


def test_results_are_those_of_the_official_form(search: str) -> None:
    [ten, two] = results(Web(search), query(keywords="tower"), query(keywords="tower", max_results=2))
    assert len(eval(ten)) == 10
    assert two == str([{"title": f"tower {n}", "href": f"https://example.org/{n}", "body": "B"} for n in range(2)])
    [without] = results(Web(search), query(keywords="tower", max_results=1), shows_snippets=False)
    assert without == "[{'title': 'tower 0', 'href': 'https://example.org/0'}]"
    [none] = results(Web(f"{search}:later"), query(keywords="x"))
    assert json.loads(none) == {"error": "Failed to retrieve the search results from server. Please try again later."}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (query(), "WebSearchAPI.search_engine_query() missing 1 required positional argument: 'keywords'"),
        (query(keywords="x", page=2), "WebSearchAPI.search_engine_query() got an unexpected keyword argument 'page'"),
        (query(keywords="x", max_results="2"), "slice indices must be integers"),
        (ToolCall(name="open", arguments={"file": "/etc/passwd"}), "name 'open' is not defined"),
        (ToolCall(name="_web", arguments={}), "name '_web' is not defined"),
        (
            ToolCall(name="fetch_url_content", arguments={"url": "file:///etc/passwd"}),
            "Invalid URL: file:///etc/passwd",
        ),
        (ToolCall(name="fetch_url_content", arguments={"url": 3}), "'int' object has no attribute 'startswith'"),
    ],
)
def test_a_wrong_call_has_an_error_as_its_result(search: str, call: ToolCall, said: str) -> None:
    [result] = results(Web(search), call)
    assert result.startswith(f"Error during execution: {said}")


def test_a_cassette_is_recorded_and_then_replayed_without_a_service(search: str, tmp_path: Path) -> None:
    cassette = tmp_path / "found.jsonl"
    recorded = results(Web(search, str(cassette)), query(keywords="a"), query(keywords="b"), query(keywords="a"))
    assert len(cassette.read_text().splitlines()) == 2
    assert results(Web(None, str(cassette)), query(keywords="a"), query(keywords="b"), query(keywords="a")) == recorded
    with pytest.raises(EnvironmentFailed, match="does not hold 'c'"):
        results(Web(None, str(cassette)), query(keywords="c"))
    results(Web(search, str(cassette)), query(keywords="a"), query(keywords="c"))
    assert len(cassette.read_text().splitlines()) == 3


def test_without_a_service_or_a_cassette_one_line_says_so_before_a_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    model = Searching()
    for cassette in (None, str(tmp_path / "missing.jsonl")):
        with pytest.raises(BadInput, match="SERPAPI_API_KEY"):
            proctor.evaluate(
                bfcl.task("web_search", cassette=cassette),
                agent=ChatAgent(model),
                limit=1,
                store=str(tmp_path / "a.db"),
            )
    with pytest.raises(BadInput, match="There is no file"):
        results(Web(str(tmp_path / "search_that_is_not_there.py")), query(keywords="x"))
    assert not model.asked


def test_a_search_function_that_returns_something_else_breaks_the_environment(search: str) -> None:
    with pytest.raises(EnvironmentFailed, match="title, href and body"):
        results(Web(f"{search}:wrong"), query(keywords="x"))


class Searching:
    """A model that searches once and answers with what it found."""

    name = "searching"
    concurrency = 4

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def complete(self, messages: Any, tools: Any = (), *, response_format: Any = None) -> Step:
        self.asked.append(messages)
        last = messages[-1]
        if last.role == "tool":
            return Step(message=Message.of("assistant", last.parts[0].content[:60]))
        assert [tool.name for tool in tools] == ["search_engine_query", "fetch_url_content"]
        call = ToolCall(name="search_engine_query", arguments={"keywords": "tallest"}, id="1")
        return Step(message=Message(role="assistant", parts=(Text(text=""), call)))


def test_a_question_is_searched_for_and_answered(search: str, tmp_path: Path) -> None:
    task = bfcl.task("web_search_no_snippet", mode="native", search=search)
    run = proctor.evaluate(task, agent=ChatAgent(Searching()), limit=3, store=str(tmp_path / "a.db"))
    assert run.outcomes == {"scored": 3}
    for trial in run.trials():
        assert trial.trajectory.state == {"queries": ["tallest"], "pages": []}
        assert trial.trajectory.answer.startswith("[{'title': 'tallest 0', 'href'")
    assert isinstance(task.samples, list)
    assert len({sample.cluster for sample in task.samples}) == 100


# ── pages ──


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "::1",
     "::ffff:127.0.0.1", "fe80::1", "fd00::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2130706433", "0x7f.1"],
)  # fmt: skip
def test_no_address_of_this_machine_or_its_network_is_opened(host: str) -> None:
    url = f"http://[{host}]/" if ":" in host else f"http://{host}/"
    said = web_page.read(url, "raw")["error"]
    assert said.startswith(f"An error occurred while fetching {url}: ")
    assert "is not an address of the public web" in said or "is not a host name" in said or "known" in said


@pytest.mark.parametrize(
    "url", ["ftp://example.org/", "http://", "http://user:secret@example.org/", "http://exa mple/", "http://\ud800/", "http://[::1"]
)  # fmt: skip
def test_what_is_no_address_is_an_error_of_the_page(url: str) -> None:
    assert "error" in web_page.read(url, "raw")


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/loop":
            self._head(302, {"Location": "/loop"})
        elif self.path == "/inside":
            self._head(302, {"Location": "http://169.254.169.254/latest/meta-data/"})
        elif self.path == "/large":
            self._head(200, {"Content-Type": "text/html"})
            with suppress(OSError):  # it is given up
                for _ in range(200):
                    self.wfile.write(b"x" * 50_000)
        elif self.path == "/missing":
            self._head(404, {})
        else:
            self._head(200, {"Content-Type": "text/html; charset=gb18030"})
            self.wfile.write("<html><script>no()</script><h1>塔</h1><p>12 m</p></html>".encode("gb18030"))

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    own = web_page.public_addresses

    def addresses(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "site.test" else own(host, port)

    monkeypatch.setattr(web_page, "public_addresses", addresses)
    yield f"http://site.test:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_page_is_given_raw_as_markdown_and_as_text(site: str) -> None:
    assert web_page.read(site, "raw")["content"].startswith("<html><script>no()</script><h1>塔</h1>")
    assert web_page.read(site, "markdown")["content"].strip().startswith("# 塔\n\n12 m")
    assert web_page.read(site, "truncate")["content"] == "塔\n12 m"
    assert "Unsupported mode: pdf" in web_page.read(site, "pdf")["error"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/loop", "Exceeded 10 redirects"),
        ("/inside", "169.254.169.254 is not an address of the public web"),
        ("/large", "The page is larger than 5000000 bytes"),
        ("/missing", "404 Client Error: Not Found for url"),
    ],
)
def test_a_hostile_page_is_an_error_that_the_model_sees(site: str, path: str, said: str) -> None:
    assert said in web_page.read(site + path, "raw")["error"]


def test_a_page_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_page, "SECONDS", 0.5)
    monkeypatch.setattr(web_page, "public_addresses", lambda host, port: ["127.0.0.1"])
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                with suppress(OSError):
                    for _ in range(100):
                        connection.sendall(b"x")
                        threading.Event().wait(0.1)

        threading.Thread(target=drip, daemon=True).start()
        said = web_page.read(f"http://slow.test:{server.getsockname()[1]}/", "raw")
    assert "timed out" in said["error"]
