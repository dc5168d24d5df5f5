"""Plugins of google-adk: one answers tool calls with the results that the case recorded, one counts what models use.

A call is answered by the first recorded one of the same name and arguments that is not used up yet.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from proctor.agents.adk_events import plain, usage_of
from proctor.core.sample import Sample
from proctor.core.trajectory import Usage

if TYPE_CHECKING:
    from google.adk.plugins.base_plugin import BasePlugin

KEY = "tool_results"  # where a sample has them
ResultSource = Literal["real", "recorded", "recorded_or_real"]
STEERING = ("transfer_to_agent", "exit_loop", "set_model_response")  # tools by which google-adk itself steers
used: ContextVar[dict[str, list[Usage]]] = ContextVar("proctor_adk_used")  # in a turn, by the id of an invocation
NOTHING_RECORDED = {"error": "No result is recorded for this call."}


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gave back for its arguments."""

    name: str
    args: Mapping[str, Any] | None = None
    response: Mapping[str, Any] | None = None


class Results:
    """The recorded results of one conversation."""

    def __init__(self, sample: Sample, wanted: ResultSource) -> None:
        self._left = msgspec.convert(sample.meta.get(KEY, ()), list[ToolResult])
        self._is_strict = wanted == "recorded"

    def of(self, name: str, arguments: Mapping[str, object]) -> dict[str, object] | None:
        """Return the result of a call; None where the tool itself has to run."""
        for index, recorded in enumerate(self._left):
            if recorded.name == name and (recorded.args or {}) == arguments:
                return dict(self._left.pop(index).response or {})
        return dict(NOTHING_RECORDED) if self._is_strict else None


results: ContextVar[Results | None] = ContextVar("proctor_adk_plugins", default=None)


def result_player() -> "BasePlugin":
    """Return a plugin that answers for the tools while a conversation has recorded results."""
    from google.adk.plugins.base_plugin import BasePlugin

    class Player(BasePlugin):
        async def before_tool_callback(
            self, *, tool: Any, tool_args: dict[str, object], tool_context: object
        ) -> dict[str, object] | None:
            recorded = results.get()
            return None if recorded is None or tool.name in STEERING else recorded.of(tool.name, plain(tool_args))

    return Player(name="proctor_tool_results")


def usage_counter() -> "BasePlugin":
    """Return a plugin that notes the usage of every reply: that of agents that are tools is in no event of the turn."""
    from google.adk.plugins.base_plugin import BasePlugin

    class Counter(BasePlugin):
        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
            usage, by_invocation = usage_of(llm_response), used.get(None)
            if usage is not None and by_invocation is not None and not llm_response.partial:
                by_invocation.setdefault(callback_context.invocation_id, []).append(usage)

    return Counter(name="proctor_usage")
