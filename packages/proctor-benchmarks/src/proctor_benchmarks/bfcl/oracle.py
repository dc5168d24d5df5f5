"""A right answer made from the ground truth, as a model would give it.

Best effort: six official samples accept no answer at all, and Java maps cannot be written in text mode so that the
official decoder keeps them (`README.md`).
"""

import json
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from proctor.core.sample import JsonObject, Message, Sample, Text, ToolCall
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.bfcl.declared_types import language_of
from proctor_benchmarks.bfcl.formats import ORDINARY, Format, wording_of

_XML_TYPES = {
    int: "integer",
    float: "float",
    bool: "boolean",
    list: "array",
    tuple: "tuple",
    dict: "dict",
    type(None): "null",
}
_NO_CALL = "None of the functions can be used to answer this."


def native(sample: Sample, *, dotted: bool = False) -> Trajectory:
    """Return the right answer as native tool calls."""
    category = sample.meta["category"]
    calls = tuple(
        ToolCall(name=name if dotted else name.replace(".", "_"), arguments=_arguments(given, category))
        for name, given in _calls(sample)
    )
    parts: tuple[Text | ToolCall, ...] = calls or (Text(text=_NO_CALL),)
    return Trajectory(steps=(Step(message=Message(role="assistant", parts=parts)),), tools="native")


def text(sample: Sample) -> Trajectory:
    """Return the right answer in the official text form, `[name(key=value), ...]`."""
    calls = _calls(sample)
    if not calls:
        return Trajectory.of(_NO_CALL)
    form, category = wording_of(sample.meta["category"], sample.id)
    if form != ORDINARY:
        return Trajectory.of(_in_format(calls, form))
    language = language_of(category)
    return Trajectory.of("[" + ", ".join(_call_text(name, given, language) for name, given in calls) + "]")


def _in_format(calls: Sequence[tuple[str, dict[str, "_Given"]]], form: Format) -> str:
    values = [(name, {key: one.value for key, one in given.items()}) for name, given in calls]
    if form.ret_fmt == "json":
        text = json.dumps([{"function": name, "parameters": given} for name, given in values])
    elif form.ret_fmt == "python":
        text = "[" + ", ".join(_call_text(name, given, "python") for name, given in calls) + "]"
    else:
        is_verbose = form.ret_fmt == "verbose_xml"
        text = f"<functions>{''.join(_xml_call(name, given, is_verbose) for name, given in values)}</functions>"
    return f"<TOOLCALL>{text}</TOOLCALL>" if form.tagged else text


def _xml_call(name: str, given: Mapping[str, object], is_verbose: bool) -> str:
    parameters = []
    for key, value in given.items():
        words = quoteattr(value if isinstance(value, str) else repr(value))
        about = f"name={quoteattr(key)} type={quoteattr(_XML_TYPES.get(type(value), 'string'))}"
        content = escape(value if isinstance(value, str) else repr(value))
        parameters.append(f"<param {about} value={words}/>" if is_verbose else f"<param {about}>{content}</param>")
    inside = "".join(parameters)
    return f"<function name={quoteattr(name)}>{f'<params>{inside}</params>' if is_verbose else inside}</function>"


class _Given:
    """A value with the schema it is declared by."""

    def __init__(self, value: object, schema: JsonObject) -> None:
        self.value = value
        self.type = schema.get("type", "any")
        self.items: Mapping[str, object] = schema.get("items", {})


def _calls(sample: Sample) -> list[tuple[str, dict[str, _Given]]]:
    functions = {function["name"]: function["parameters"] for function in sample.meta["functions"]}
    if sample.target is None:
        wanted = "relevance" in sample.meta["category"] and "irrelevance" not in sample.meta["category"]
        return [(name, {}) for name in list(functions)[: int(wanted)]]
    calls = []
    for answer in sample.target:
        for name, allowed in answer.items():
            parameters = functions.get(name) or next(iter(functions.values()))
            required = parameters.get("required", ())
            given = {
                key: _Given(_first(values), parameters["properties"].get(key, {}))
                for key, values in allowed.items()
                if key in required or "" not in values
            }
            calls.append((name, given))
    return calls


def _first(allowed: object) -> object:
    """Return the first allowed value that is given, with dicts of allowed values resolved the same way."""
    if not isinstance(allowed, list):
        return allowed
    value = next((value for value in allowed if value != ""), "")
    if isinstance(value, list):
        return [_resolved(item) for item in value]
    return _resolved(value)


def _resolved(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {key: _first(allowed) for key, allowed in value.items() if not _may_be_left_out(allowed)}


def _may_be_left_out(allowed: object) -> bool:
    # upstream asks `"" in allowed`, which holds for every bare text: simple_java_64
    return isinstance(allowed, list | str) and "" in allowed


def _arguments(given: Mapping[str, _Given], category: str) -> dict[str, object]:
    language = language_of(category)
    if language == "python":
        return {key: one.value for key, one in given.items()}
    return {key: _literal(one, language) for key, one in given.items()}


def _call_text(name: str, given: Mapping[str, _Given], language: str) -> str:
    words = [f"{key}={_text(one, language)}" for key, one in given.items()]
    return f"{name}({', '.join(words)})"


def call_text(function: JsonObject, arguments: Mapping[str, object], language: str) -> str:
    """Return a call in the notation of Java or JavaScript; a text that is no string by its declaration is one already."""
    properties = (function.get("parameters") or {}).get("properties") or {}
    given = {key: _Given(value, properties.get(key, {})) for key, value in arguments.items()}
    return _call_text(str(function["name"]), given, language)


def _text(given: _Given, language: str) -> str:
    if language == "python":
        return repr(given.value)
    if isinstance(given.value, str) and given.type in ("String", "any", "char") and '"' not in given.value:
        return f'"{given.value}"'
    return _literal(given, language)


def _literal(given: _Given, language: str) -> str:
    """Return the value as it is written in Java or JavaScript; text has no quotes."""
    return _java(given.value, given) if language == "java" else _javascript(given.value, given)


def _java(value: object, given: _Given) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float() if given.type == "long":
            return f"{value}L"
        case int() | float() if given.type == "float":
            return f"{value}f"
        case list() if given.type == "Array":
            return f"new {given.items.get('type', 'int')}[]{{{', '.join(_element(item, given, '') for item in value)}}}"
        case list():
            inside = ", ".join(_element(item, given, '"') for item in value)
            return f"new ArrayList<>(Arrays.asList({inside}))" if value else "new ArrayList<>()"
        case dict():
            puts = " ".join(f'put("{key}", {json.dumps(entry)});' for key, entry in value.items())
            return f"new HashMap<String, Object>() {{{{ {puts} }}}}" if value else "new HashMap<>()"
    return str(value)


def _element(value: object, given: _Given, quote: str) -> str:
    inner = _Given(value, given.items)
    return f"{quote}{value}{quote}" if isinstance(value, str) else _java(value, inner)


def _javascript(value: object, given: _Given) -> str:
    match value:
        case int() if given.type == "Bigint" and not isinstance(value, bool):
            return f"{value}n"
        case str():
            return value
    return json.dumps(value, ensure_ascii=False)
