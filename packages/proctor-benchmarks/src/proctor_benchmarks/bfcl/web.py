"""Search the web and read pages: live, or as a cassette recorded it.

    {"query": "tallest tower", "region": "wt-wt", "results": [{"title": "...", "href": "https://...", "body": "..."}]}
    {"url": "https://example.org", "mode": "markdown", "page": {"content": "..."}}

are the lines of a cassette. What it holds is never asked for again; what it lacks is looked up and added where there is a search
service, and is a failure of the environment where there is none. The search service is the official one, or a function of the user's:

    def find(keywords: str, region: str) -> list[dict[str, str]]:       each with title, href and body; may be async

Source of the official search: bfcl-eval 2026.3.23, `multi_turn_eval/func_source_code/web_search.py`.
"""

import asyncio
import inspect
import json
import os
import time
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Self, TypeVar

import msgspec

from proctor import registry
from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.bfcl import web_page

WEB_CLASS = "WebSearchAPI"
KEY = "SERPAPI_API_KEY"
OFFICIAL = "serpapi"
NO_RESULTS = "Failed to retrieve the search results from server. Please try again later."

_SERVICE = "https://serpapi.com/search.json"
_WAITS = (2.0, 4.0, 8.0, 16.0, 32.0)  # seconds before a search is sent again that the service had no capacity for
_MOST_RESULTS = 100
_AT_ONCE = 32  # requests to the web

T = TypeVar("T")


class _SearchResult(msgspec.Struct, frozen=True):
    """A result of a search."""

    title: str
    href: str
    body: str = ""


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a cassette: the results of a search, None where there were none; or a page."""

    query: str = ""
    region: str = ""
    results: list[_SearchResult] | None = None
    url: str = ""
    mode: str = ""
    page: dict[str, str] | None = None

    @property
    def key(self) -> tuple[str, str]:
        return (self.url, self.mode) if self.url else (f"? {self.query}", self.region)


class Web:
    """A search service and a reader of pages, with the cassette they are recorded in.

    Args:
        search: `serpapi`, or the path of a function such as `./search.py:find`; by default the first where its key is set.
        cassette: a file of recorded results; what is looked up is added to it.
    """

    def __init__(self, search: str | None = None, cassette: str | None = None) -> None:
        self._name = search
        self._cassette = Path(cassette).expanduser() if cassette else None
        self._search: Callable[..., object] | None = None
        self._known: dict[tuple[str, str], _Line] = {}
        self._under_way: dict[tuple[str, str], asyncio.Lock] = {}
        self._file: BinaryIO | None = None
        self._threads = ThreadPoolExecutor(_AT_ONCE, "bfcl-web")

    async def __aenter__(self) -> Self:
        name = self._name or (OFFICIAL if os.environ.get(KEY) else None)
        if name == OFFICIAL and not os.environ.get(KEY):
            raise BadInput("The search service of BFCL needs a key: set {key}.", key=KEY)
        self._search = _official if name == OFFICIAL else registry.load_object(name, "find") if name else None
        has_cassette = self._cassette is not None and self._cassette.is_file()
        if self._search is None and not has_cassette:
            raise BadInput(
                "Web search needs a service or a recording: set {key}, or give --set search=./search.py:find or --set cassette=FILE. Or leave web_search out.",
                key=KEY,
            )
        if self._search is not None:
            web_page.check_installed()
        if self._cassette is not None:
            if has_cassette:
                self._known = {line.key: line for _, line in read_json_lines(self._cassette, _Line)}
            if self._search is not None:
                self._file = self._cassette.open("ab", buffering=0)  # a line is one write
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._file is not None:
            self._file.close()

    async def search(self, keywords: str, region: str) -> list[dict[str, str]] | None:
        """Return what the service found, with title, href and body; None where it has no results."""

        async def look_up() -> _Line:
            assert self._search is not None
            return _Line(query=keywords, region=region, results=await self._ask(self._search, keywords, region))

        line = await self._line(_Line(query=keywords, region=region), look_up)
        return None if line.results is None else [msgspec.to_builtins(result) for result in line.results]

    async def read(self, url: str, mode: str) -> dict[str, str]:
        """Return the content of a page, or the error of reading it."""

        async def look_up() -> _Line:
            return _Line(url=url, mode=mode, page=await self._in_thread(web_page.read, url, mode))

        line = await self._line(_Line(url=url, mode=mode), look_up)
        return line.page or {}

    async def _line(self, asked: _Line, look_up: Callable[[], Awaitable[_Line]]) -> _Line:
        async with self._under_way.setdefault(asked.key, asyncio.Lock()):  # two at once are one request
            known = self._known.get(asked.key)
            if known is not None:
                return known
            if self._search is None:
                raise EnvironmentFailed(
                    "The cassette {path} does not hold '{asked}', and there is no search service to ask.",
                    path=self._cassette,
                    asked=(asked.url or asked.query)[:200],
                )
            line = await look_up()
            if self._file is not None:
                self._known[line.key] = line
                self._file.write(msgspec.json.encode(line) + b"\n")
            return line

    async def _ask(self, search: Callable[..., object], keywords: str, region: str) -> list[_SearchResult] | None:
        if inspect.iscoroutinefunction(search):
            results = await search(keywords, region)
        else:
            results = await self._in_thread(search, keywords, region)
        try:
            return None if results is None else msgspec.convert(results, list[_SearchResult])[:_MOST_RESULTS]
        except msgspec.ValidationError as error:
            raise EnvironmentFailed(
                "The search function returned no list of results with title, href and body: {error}.", error=error
            ) from None

    async def _in_thread(self, function: Callable[..., T], *given: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *given)


def _official(keywords: str, region: str) -> Sequence[Mapping[str, str]] | None:
    """Ask the service that the official code asks; a search that it finds nothing for has no results."""
    given = {"engine": "duckduckgo", "q": keywords, "kl": region, "api_key": os.environ.get(KEY, "")}
    address = f"{_SERVICE}?{urllib.parse.urlencode(given)}"
    for wait in (*_WAITS, None):
        try:
            reply = web_page.get(address)
        except (OSError, ValueError) as error:
            raise EnvironmentFailed(
                "The search service cannot be reached: {kind}.", kind=type(error).__name__
            ) from None
        if reply.status != 429 or wait is None:
            break
        time.sleep(wait)
    if reply.status in (401, 403):
        raise BadInput("The search service refuses the key in {key} (status {status}).", key=KEY, status=reply.status)
    try:
        organic_results = json.loads(reply.text)["organic_results"]
        return [
            {
                "title": organic_result["title"],
                "href": organic_result["link"],
                "body": organic_result.get("snippet", ""),
            }
            for organic_result in organic_results
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        if reply.status >= 400:
            raise EnvironmentFailed("The search service answered with status {status}.", status=reply.status) from None
        return None
