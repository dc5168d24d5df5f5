"""What is known of the tools of an agent without running it: what recordings declare, and how calls in the set look.

Source of declarations: `app_details` of a turn, as google-adk 2.7.1 records them (`function_declarations` of google-genai).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sentence import Sentence, say
from proctor_adapters.evalsets.schema import EvalCase, EvalSet

MOST_TOOLS = 300
EXAMPLE_CHARACTERS = 40
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,),
}  # fmt: skip


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a tool; `type` is that of JSON schema, '' if unknown, and `example` a value from another call."""

    name: str
    type: str = ""
    required: bool = False
    description: str = ""
    example: str = ""


class ToolHelp(msgspec.Struct, frozen=True, kw_only=True):
    """A tool; `declared` says that a recording has its declaration, so that no parameter is missing here."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    declared: bool = False


def known_tools(eval_set: EvalSet) -> dict[str, ToolHelp]:
    """Return the tools that the cases of a set declare or call, by name."""
    by_name: dict[str, ToolHelp] = {}
    for case in eval_set.eval_cases:
        for declaration in _declarations(case):
            if (help_ := _declared(declaration)) is not None and len(by_name) < MOST_TOOLS:
                by_name.setdefault(help_.name, help_)
    for name, args in _calls(eval_set.eval_cases):
        if name not in by_name and len(by_name) < MOST_TOOLS:
            by_name[name] = ToolHelp(name=name)
        if name in by_name:
            by_name[name] = _with_examples(by_name[name], args)
    return dict(sorted(by_name.items()))


def advise(name: str, arguments: str, tools: Mapping[str, ToolHelp]) -> Iterator[Sentence]:
    """Yield what is odd about an expected call; nothing of it keeps the case from being saved."""
    declared = [tool for tool in tools.values() if tool.declared]
    tool = tools.get(name)
    if tool is None or not tool.declared:
        if name and declared and tool is None:
            yield say("The agent declared no tool '{name}' in this set.", name=name)
        return
    try:
        args = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return
    if not isinstance(args, dict):
        return
    by_name = {parameter.name: parameter for parameter in tool.parameters}
    for key, value in args.items():
        if key not in by_name:
            yield say("'{name}' has no parameter '{key}'.", name=name, key=key)
        elif not _fits(value, by_name[key].type):
            yield say("'{key}' should be of type {type}.", key=key, type=by_name[key].type)
    for parameter in tool.parameters:
        if parameter.required and parameter.name not in args:
            yield say("'{key}' is required and missing.", key=parameter.name)


def _fits(value: object, kind: str) -> bool:
    types = _TYPES.get(kind)
    if types is None or value is None:
        return True
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _declarations(case: EvalCase) -> Iterator[Mapping[str, object]]:
    for turn in case.conversation or ():
        for agent in (turn.app_details.agent_details if turn.app_details is not None else {}).values():
            for tool in agent.tool_declarations:
                if isinstance(tool, dict):
                    inner = tool.get("function_declarations") or tool.get("functionDeclarations")
                    yield from (one for one in (inner if isinstance(inner, list) else [tool]) if isinstance(one, dict))


def _declared(declaration: Mapping[str, object]) -> ToolHelp | None:
    name = declaration.get("name")
    if not isinstance(name, str) or not name:
        return None
    schema = next(
        (
            given
            for key in ("parameters", "parameters_json_schema", "parametersJsonSchema", "input_schema")
            if isinstance(given := declaration.get(key), dict)
        ),
        {},
    )
    properties, required = schema.get("properties"), schema.get("required")
    return ToolHelp(
        name=name,
        description=_text(declaration.get("description")),
        parameters=tuple(
            Parameter(
                name=key,
                type=_text(about.get("type")).lower(),
                required=isinstance(required, list) and key in required,
                description=_text(about.get("description")),
            )
            for key, about in (properties if isinstance(properties, dict) else {}).items()
            if isinstance(about, dict)
        ),
        declared=True,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _calls(cases: Sequence[EvalCase]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for case in cases:
        for turn in case.conversation or ():
            for call in turn.intermediate_data.calls() if turn.intermediate_data is not None else ():
                if call.name:
                    yield call.name, call.args or {}


def _with_examples(tool: ToolHelp, args: Mapping[str, object]) -> ToolHelp:
    parameters = {parameter.name: parameter for parameter in tool.parameters}
    for key, value in args.items():
        kind = next((name for name, types in _TYPES.items() if type(value) in types and not tool.declared), "")
        parameter = parameters.get(key, Parameter(name=key, type=kind))
        if not parameter.example and (not tool.declared or key in parameters):
            text = json.dumps(value, ensure_ascii=False)
            parameters[key] = msgspec.structs.replace(
                parameter, example=text if len(text) <= EXAMPLE_CHARACTERS else "…"
            )
    return msgspec.structs.replace(tool, parameters=tuple(parameters.values()))
