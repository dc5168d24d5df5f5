"""Define the interface of HelloAgents tools, so that their agents can call an evaluation; the library itself is not needed."""

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from proctor.core.errors import BadInput, ProctorError
from proctor.core.sample import JsonObject
from proctor.core.sentence import clip, say
from proctor_compat.hello_agents._words import page, tell
from proctor_judging.generation.files import stamp, write

TEXT = "input"  # version 0.2.7 hands a tool all it was called with as one text under this name
MOST_BYTES = 8_000  # of an answer, which goes into the context of the agent that called
MOST_CHARACTERS = 300
REPORTS = Path("evaluation_reports")
SHOWN = 10


class ToolParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a tool."""

    name: str
    type: str
    description: str = ""
    required: bool = False
    default: object = None

    def dict(self) -> dict[str, object]:
        return msgspec.structs.asdict(self)

    def model_dump(self) -> object:
        """Return the fields as a dict, by the newer name of `dict`."""
        return msgspec.structs.asdict(self)


class Tool(ABC):
    """A name, a description, parameters, and `run`."""

    expandable = False
    name = ""
    description = ""
    parameters: Sequence[ToolParameter] = ()

    def get_parameters(self) -> list[ToolParameter]:
        """Return the parameters that `run` takes in a dict."""
        return list(self.parameters)

    def validate_parameters(self, parameters: Mapping[str, object]) -> bool:
        """Return True if all that is required is there."""
        return all(parameter.name in parameters for parameter in self.parameters if parameter.required)

    def to_dict(self) -> dict[str, object]:
        listed = [parameter.dict() for parameter in self.parameters]
        return {"name": self.name, "description": self.description, "parameters": listed}

    def to_openai_schema(self) -> dict[str, object]:
        """Return the tool in the form of chat completions."""
        properties = {
            parameter.name: {"type": parameter.type, "description": parameter.description}
            for parameter in self.parameters
        }
        required = [parameter.name for parameter in self.parameters if parameter.required]
        schema = {"type": "object", "properties": properties, "required": required}
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": schema},
        }

    def run_with_timing(self, parameters: Mapping[str, object]) -> object:
        """Call the tool as agents of version 1 do; its answer, or its error, as their `ToolResponse`."""
        from hello_agents.tools.errors import ToolErrorCode
        from hello_agents.tools.response import ToolResponse

        started = time.perf_counter()
        error: str | None
        try:
            text = self.called(parameters)
            data = json.loads(text)
            error = data.get("error")
        except ProctorError as failure:
            error = str(failure)
        seen = {
            "stats": {"time_ms": int((time.perf_counter() - started) * 1000)},
            "context": {"params_input": dict(parameters), "tool_name": self.name},
        }
        if error is not None:
            return ToolResponse.error(code=ToolErrorCode.INVALID_PARAM, message=error, **seen)
        return ToolResponse.success(text=text, data=data, **seen)

    async def arun(self, parameters: Mapping[str, object]) -> object:
        """Call the tool without blocking the event loop."""
        return await asyncio.to_thread(self.run_with_timing, parameters)

    async def arun_with_timing(self, parameters: Mapping[str, object]) -> object:
        """Call the tool as the async agents of version 1 do."""
        return await self.arun(parameters)

    @abstractmethod
    def called(self, parameters: Mapping[str, object]) -> str:
        """Return the results as JSON text, for an agent that calls the tool."""

    def checked(self, parameters: JsonObject) -> dict[str, Any]:
        """Return the arguments of a call, each of its declared type.

        Raises:
            BadInput: one that the tool does not have, or of another type.
        """
        if set(parameters) == {TEXT} and isinstance(parameters[TEXT], str):
            parameters = self._read(parameters[TEXT])
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                raise BadInput(
                    "The tool '{tool}' has no parameter '{name}'. Known: {known}.",
                    tool=self.name,
                    name=name,
                    known=", ".join(known),
                )
        return {name: _typed(known[name], value) for name, value in parameters.items()}

    def _read(self, text: str) -> Mapping[str, object]:
        """Read arguments out of a text: a JSON object, `name=value, …`, the value of the first one, or nothing.

        Raises:
            BadInput: it is none of them.
        """
        text = text.strip()
        if text.startswith("{"):
            try:
                data = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise BadInput(
                    "The arguments of the tool '{tool}' are no JSON: {error}.", tool=self.name, error=error
                ) from None
            return data if isinstance(data, dict) else {}
        if "=" not in text:
            return {self.parameters[0].name: text} if text else {}
        pairs = (pair.partition("=") for pair in text.split(","))
        return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs if name.strip()}


class EvaluationTool(Tool):
    """A tool that evaluates an agent: `run` gives a dict, and a call by an agent JSON text.

    Attributes:
        benchmark: the name of the benchmark; its reports and templates begin with it.
        empty: the results, besides those of every benchmark, where nothing could be evaluated.
    """

    benchmark = ""
    empty: ClassVar[JsonObject] = {}

    @abstractmethod
    def run(self, *given: Any, **arguments: Any) -> Any:
        """Evaluate an agent."""

    def called(self, parameters: JsonObject) -> str:
        """Return the results of `run` with the parameters in a dict, as JSON text."""
        try:
            return as_json(self.run(**self.checked(parameters)))
        except BadInput as error:
            known = {name: parameters[name] for name in self.empty if name in parameters}
            return as_json(self.nothing(str(error), **known))

    def nothing(self, error: str = "", agent_name: str = "Unknown", **known: object) -> dict[str, object]:
        """Return the results where nothing could be evaluated: an error, and no rate."""
        return {
            "error": error,
            "benchmark": self.benchmark,
            "agent_name": agent_name,
            **self.empty,
            **known,
            "total_samples": 0,
            "detailed_results": [],
        }

    def generate_report(self, results: JsonObject, output_file: str | Path | None = None) -> str:
        """Return the results as a page of Markdown, which is written to a file too."""
        name = f"{self.benchmark.lower()}_report"
        text = page(
            f"{name}.md.jinja",
            results={**self.nothing(), **results},
            rows=results.get("detailed_results", ())[:SHOWN],
            created=f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}",
        )
        path = write(Path(output_file or REPORTS / f"{name}_{stamp()}.md"), text, replace=output_file is not None)
        tell(say("📄 Report: {path}", path=path))
        return text

    def write_guide(self, folder: Path, **values: object) -> None:
        """Write how to submit to the leaderboard next to the exported results."""
        now = stamp()
        guide = page(f"{self.benchmark.lower()}_guide.md.jinja", created=now, **values)
        tell(say("📄 Guide for submitting: {path}", path=write(folder / f"SUBMISSION_GUIDE_{now}.md", guide)))


def as_json(results: Mapping[str, object]) -> str:
    """Return results as JSON text of at most 8 kB; longer lists and texts are shortened, and marked as such."""
    known = json.loads(json.dumps(results, default=str), parse_constant=lambda _: None)  # JSON knows no NaN
    text = json.dumps(known, ensure_ascii=False)
    for most in (10, 3, 1, 0):
        if len(text.encode("utf-8", "replace")) <= MOST_BYTES:
            break
        left = say(
            "Lists are cut to {count} entries and texts to {characters} characters; all of it is in the run {id}.",
            count=most,
            characters=MOST_CHARACTERS,
            id=results.get("run_id") or "-",
        )
        text = json.dumps({"shortened": str(left), **_cut(json.loads(text), most)}, ensure_ascii=False)
    return text


def _cut(value: object, most: int) -> Any:
    if isinstance(value, dict):
        return {key: _cut(entry, most) for key, entry in value.items()}
    if isinstance(value, list):
        return value if _is_interval(value) else [_cut(entry, most) for entry in value[:most]]
    return clip(value, MOST_CHARACTERS) if isinstance(value, str) else value


def _is_interval(value: list[object]) -> bool:
    return len(value) == 2 and all(isinstance(item, int | float | None) for item in value)


def whole(name: str, value: Any) -> int:
    """Return a whole number from any form in which an agent writes it.

    Raises:
        BadInput: it is not valid.

    >>> whole("max_samples", "2"), whole("max_samples", 2.0)
    (2, 2)
    """
    try:
        if not isinstance(value, bool) and float(value) == int(float(value)):
            return int(float(value))
    except (TypeError, ValueError, OverflowError):
        pass
    raise BadInput("'{name}' has to be a whole number, not '{value}'.", name=name, value=value)


def _typed(parameter: ToolParameter, value: object) -> object:
    if value is None or value == "":
        return parameter.default
    match parameter.type:
        case "integer":
            return whole(parameter.name, value)
        case "boolean":
            known = {"true": True, "false": False, "1": True, "0": False}
            if str(value).lower() not in known:
                raise BadInput("'{name}' has to be true or false, not '{value}'.", name=parameter.name, value=value)
            return known[str(value).lower()]
        case "string" if not isinstance(value, str):
            raise BadInput("'{name}' has to be a text, not '{value}'.", name=parameter.name, value=value)
    return value
