"""The functions of web search as an environment: the words of the official class, with the search and the pages of `web`.

Source: bfcl-eval 2026.3.23, `multi_turn_eval/func_source_code/web_search.py` and `multi_turn_utils.py`.
"""

import json
from collections.abc import Mapping, Sequence

from proctor.core.errors import ProctorError
from proctor.core.sample import ToolCall, ToolResult
from proctor.core.task import ToolWording
from proctor_benchmarks.bfcl.executable import executable_or_none
from proctor_benchmarks.bfcl.web import NO_RESULTS, Web

FAILED = "Error during execution:"


class WebSearchAPI:
    """The two functions; its name and theirs are in the words of Python about wrong arguments, which the model sees."""

    def __init__(self, web: Web, *, shows_snippets: bool) -> None:
        self.queries: list[str] = []
        self.pages: list[str] = []
        self._web = web
        self._shows_snippets = shows_snippets

    async def search_engine_query(self, keywords: str, max_results: int | None = 10, region: str = "wt-wt") -> object:
        """Return the first results; without their text in the harder variant."""
        self.queries.append(str(keywords))
        results = await self._web.search(str(keywords), str(region))
        if results is None:
            return {"error": NO_RESULTS}
        keys = ("title", "href", "body") if self._shows_snippets else ("title", "href")
        return [{key: result[key] for key in keys} for result in results[:max_results]]

    async def fetch_url_content(self, url: str, mode: str = "raw") -> object:
        """Return a page."""
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"Invalid URL: {url}")
        self.pages.append(url)
        return await self._web.read(url, str(mode))


_FUNCTIONS = ("search_engine_query", "fetch_url_content")


class WebSearch:
    """One attempt at a question of web search.

    Attributes:
        wording: how calls and results are worded for a model that has no native tool calls.
    """

    def __init__(self, web: Web, wording: ToolWording, *, shows_snippets: bool) -> None:
        self.wording = wording
        self._functions = WebSearchAPI(web, shows_snippets=shows_snippets)

    async def call(self, call: ToolCall) -> ToolResult:
        text = await self._result(call)
        return ToolResult(name=call.name, content=text, id=call.id, is_error=text.startswith(FAILED))

    async def call_all(self, calls: Sequence[ToolCall]) -> Sequence[ToolResult] | None:
        """Run the calls of one reply; None if they cannot be decoded."""
        if not executable_or_none([{call.name: call.arguments_text()} for call in calls], "native"):
            return None
        return [await self.call(call) for call in calls]

    def state(self) -> Mapping[str, object]:
        """Return what was searched for, and which pages were read."""
        return {"queries": [*self._functions.queries], "pages": [*self._functions.pages]}

    async def _result(self, call: ToolCall) -> str:
        if call.name not in _FUNCTIONS:
            return f"{FAILED} name '{call.name}' is not defined"
        try:
            value = await getattr(self._functions, call.name)(**call.arguments)
        except ProctorError:
            raise
        except Exception as error:  # noqa: BLE001 - of wrong arguments: every error is a result, as upstream
            return f"{FAILED} {error}"
        return json.dumps(value) if isinstance(value, dict) else str(value)
