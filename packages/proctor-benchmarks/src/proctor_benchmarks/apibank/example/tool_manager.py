"""Keep the tools of the example and make their calls, under the names that the official programs use."""

from importlib import import_module
from pathlib import Path
from typing import Any


class ToolManager:
    """All tools of a folder."""

    def __init__(self, folder: str = "./apis") -> None:
        base = import_module("apis.api").API
        values = [value for path in sorted(Path(folder).glob("*.py")) for value in vars(import_module(f"apis.{path.stem}")).values()]  # fmt: skip
        classes = [
            value for value in values if isinstance(value, type) and issubclass(value, base) and value is not base
        ]
        facts = ("description", "input_parameters", "output_parameters")
        self.apis = [
            {"name": kind.__name__, "class": kind, **{fact: getattr(kind, fact) for fact in facts}} for kind in classes
        ]
        self.init_databases: dict[str, object] = {}
        self.inited_tools: dict[str, object] = {}

    def get_api_by_name(self, name: str) -> Any:
        """Return what is known of a tool."""
        for api in self.apis:
            if api["name"] == name:
                return api
        raise LookupError("invalid tool name.")

    def init_tool(self, name: str) -> Any:
        """Return a tool, the same one each time."""
        if name not in self.inited_tools:
            self.inited_tools[name] = self.get_api_by_name(name)["class"]()
        return self.inited_tools[name]

    def api_call(self, tool_name: str, **given: object) -> object:
        """Return what a tool gives back."""
        known = self.get_api_by_name(tool_name)["input_parameters"]
        for parameter in given:
            assert parameter in known, f"invalid parameter name. parameter: {parameter}"
        return self.init_tool(tool_name).call(**given)
