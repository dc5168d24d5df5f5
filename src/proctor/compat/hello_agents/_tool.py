"""What a tool of HelloAgents is, so that an agent of theirs can call an evaluation; the library itself is not needed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.errors import BadInput


class ToolParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a tool."""

    name: str
    type: str
    description: str = ""
    required: bool = False
    default: Any = None

    def dict(self) -> dict[str, Any]:
        """The parameter as a dict."""
        return msgspec.structs.asdict(self)

    def model_dump(self) -> Any:
        """The same, by its newer name."""
        return msgspec.structs.asdict(self)


class Tool:
    """A name, a description, parameters, and `run`."""

    expandable = False
    name = ""
    description = ""
    parameters: Sequence[ToolParameter] = ()

    def get_parameters(self) -> list[ToolParameter]:
        """The parameters that `run` takes in a dict."""
        return list(self.parameters)

    def validate_parameters(self, parameters: Mapping[str, Any]) -> bool:
        """Whether all that is required is there."""
        return all(one.name in parameters for one in self.parameters if one.required)

    def to_dict(self) -> dict[str, Any]:
        """The tool as a dict."""
        listed = [one.dict() for one in self.parameters]
        return {"name": self.name, "description": self.description, "parameters": listed}

    def to_openai_schema(self) -> dict[str, Any]:
        """The tool in the form of chat completions."""
        properties = {one.name: {"type": one.type, "description": one.description} for one in self.parameters}
        required = [one.name for one in self.parameters if one.required]
        schema = {"type": "object", "properties": properties, "required": required}
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": schema},
        }

    def run_with_timing(self, parameters: Mapping[str, Any]) -> Any:
        """`run` as agents of version 1 call it: what it says, as their `ToolResponse`."""
        from hello_agents.tools.response import ToolResponse

        text = self.called(parameters)
        return ToolResponse.success(text=text, data=json.loads(text))

    def called(self, parameters: Mapping[str, Any]) -> str:
        """The results as JSON text, for an agent that calls the tool."""
        raise NotImplementedError

    def checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call.

        Raises:
            BadInput: one that the tool does not have.
        """
        known = [one.name for one in self.parameters]
        for name in parameters:
            if name not in known:
                raise BadInput(
                    "The tool '{tool}' has no parameter '{name}'. Known: {known}.",
                    tool=self.name,
                    name=name,
                    known=", ".join(known),
                )
        return dict(parameters)


def as_json(results: Mapping[str, Any]) -> str:
    """Results as JSON text; what is no JSON in them becomes text."""
    return json.dumps(results, ensure_ascii=False, default=str)
