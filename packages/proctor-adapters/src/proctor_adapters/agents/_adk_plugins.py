"""Plugins of google-adk: one answers tool calls with the results that the case recorded, one counts what models use, one
offers the tools of an environment.

A call is answered by the first recorded one of the same name and arguments that is not used up yet.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from proctor.agents.environment_tools import EnvironmentTools, schema_of_parameters
from proctor.core.sample import Sample, Tool
from proctor.core.trajectory import Usage
from proctor_adapters.agents.adk_events import as_object, plain, usage_of

if TYPE_CHECKING:
    from google.adk.plugins.base_plugin import BasePlugin

GIVER = "proctor_environment_tools"
KEY = "tool_results"  # where a sample has them
ResultSource = Literal["real", "recorded", "recorded_or_real"]
STEERING = ("transfer_to_agent", "exit_loop", "set_model_response")  # tools by which google-adk itself steers
NOTHING_RECORDED = {"error": "No result is recorded for this call."}


class AdkToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result that a tool returned for its arguments."""

    name: str
    args: Mapping[str, object] | None = None
    response: Mapping[str, object] | None = None


class Results:
    """The recorded results of one conversation."""

    def __init__(self, sample: Sample, wanted: ResultSource) -> None:
        self._left = msgspec.convert(sample.meta.get(KEY, ()), list[AdkToolResult])
        self._is_strict = wanted == "recorded"

    def of(self, name: str, arguments: Mapping[str, object]) -> dict[str, object] | None:
        """Return the result of a call; None where the tool itself has to run."""
        for index, recorded in enumerate(self._left):
            if recorded.name == name and (recorded.args or {}) == arguments:
                return dict(self._left.pop(index).response or {})
        return dict(NOTHING_RECORDED) if self._is_strict else None


class AdkTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The turn under way, as the plugins see it.

    Attributes:
        results: recorded results that answer for the tools.
        tools: those of the environment, which every model is offered.
        usage: of replies in no event, by the id of the invocation.
    """

    results: Results | None
    tools: EnvironmentTools | None
    usage: dict[str, list[Usage]] = {}


turn: ContextVar[AdkTurn | None] = ContextVar("proctor_adk_turn", default=None)


def result_player() -> "BasePlugin":
    """Return a plugin that answers for the tools while a conversation has recorded results."""
    from google.adk.plugins.base_plugin import BasePlugin

    class Player(BasePlugin):
        async def before_tool_callback(
            self, *, tool: Any, tool_args: dict[str, object], tool_context: object
        ) -> dict[str, object] | None:
            now = turn.get()
            if now is None or now.results is None or tool.name in STEERING:
                return None
            return now.results.of(tool.name, plain(tool_args))

    return Player(name="proctor_tool_results")


def tool_giver() -> "BasePlugin":
    """Return a plugin that offers the tools of a sample's environment to every model of the agent."""
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types

    class Given(BaseTool):
        def __init__(self, tool: Tool, tools: EnvironmentTools) -> None:
            super().__init__(name=tool.name, description=tool.description)
            self._schema = schema_of_parameters(tool)
            self._tools = tools

        def _get_declaration(self) -> types.FunctionDeclaration:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters_json_schema=self._schema
            )

        async def run_async(self, *, args: dict[str, object], tool_context: Any) -> dict[str, object]:
            result = await self._tools.call(self.name, args, tool_context.function_call_id or "")
            return {"error": result.content} if result.is_error else as_object(result.content)

    class Giver(BasePlugin):
        async def before_model_callback(self, *, callback_context: object, llm_request: Any) -> None:
            now = turn.get()
            if now is None or now.tools is None:
                return
            tools = now.tools
            for own in llm_request.config.tools or ():
                declared = getattr(own, "function_declarations", None)
                if declared:
                    own.function_declarations = [
                        declaration for declaration in declared if not tools.has(declaration.name)
                    ]
            llm_request.append_tools([Given(tool, tools) for tool in tools.now()])

    return Giver(name=GIVER)


def usage_counter() -> "BasePlugin":
    """Return a plugin that notes the usage of every reply: that of agents that are tools is in no event of the turn."""
    from google.adk.plugins.base_plugin import BasePlugin

    class Counter(BasePlugin):
        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
            usage, now = usage_of(llm_response), turn.get()
            if usage is not None and now is not None and not llm_response.partial:
                now.usage.setdefault(callback_context.invocation_id, []).append(usage)

    return Counter(name="proctor_usage")
