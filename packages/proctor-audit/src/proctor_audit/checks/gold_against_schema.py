"""Compare expected calls with the schemas of the tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, clip, say
from proctor_audit.audit import Audit
from proctor_audit.calls import GoldCall, ToolSchema, gold_calls, plain_values, schema_fault, tools_of
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding

NUMBERED = re.compile(r"[_ ]\d+$")  # of the second call of one tool, where calls are the keys of an object


@check(group="A4", cls="proved", title=say("An expected call contradicts the schema of its tool."))
def gold_against_schema(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose expected calls name unknown tools, lack arguments, or have values that their schemas refuse."""
    rejects_unknown = any(scorer.name.partition(":")[0] == "bfcl" for scorer in audit.scorers)
    for sample in audit.samples:
        for contradiction in contradictions(sample, rejects_unknown=rejects_unknown):
            yield audit.found(
                say("expected: {fault}", fault=contradiction.sentence),
                sample,
                witness={
                    "path": contradiction.path,
                    "call": {"name": contradiction.call.name, "arguments": contradiction.call.arguments},
                },
            )
            break


class SchemaContradiction(msgspec.Struct, frozen=True, kw_only=True):
    """What an expected call says that its tool's schema does not allow."""

    sentence: Sentence
    call: GoldCall
    path: str


def contradictions(sample: Sample, *, rejects_unknown: bool = False) -> Iterator[SchemaContradiction]:
    """Yield what the expected calls of a sample contradict in the schemas of its tools.

    Args:
        rejects_unknown: an argument that the schema lacks contradicts it also where the schema does not say so.
    """
    tools = tools_of(sample)
    if not tools or _is_source_code(sample):
        return
    for number, call in enumerate(gold_calls(sample)):
        if not call.is_needed:
            continue
        tool = _tool_of(call, tools)
        path = f"$.calls[{number}]"
        if tool is None:
            yield SchemaContradiction(
                sentence=say("there is no tool {tool}", tool=repr(call.name)), call=call, path=path
            )
            continue
        for sentence in _in_call(call, tool, rejects_unknown=rejects_unknown):
            yield SchemaContradiction(sentence=sentence, call=call, path=path)


def _tool_of(call: GoldCall, tools: Sequence[ToolSchema]) -> ToolSchema | None:
    """Return the tool of a call: of several with its name that of its turn, or the last one."""
    for name in (call.name, NUMBERED.sub("", call.name)):
        named = [tool for tool in tools if tool.name == name]
        if named:
            return next((tool for tool in named if tool.turn == call.turn), named[-1])
    return None


def _is_source_code(sample: Sample) -> bool:
    """True if arguments are source code of another language, in which a text may name a variable of any type."""
    functions = sample.meta.get("functions")
    texts = [str(each.get("description", "")) for each in functions] if isinstance(functions, list) else []
    category = f"{sample.tags.get('category', '')} {sample.meta.get('category', '')}"
    return "java" in category.lower() or any("java" in text.lower() and "syntax" in text.lower() for text in texts)


def _in_call(call: GoldCall, tool: ToolSchema, *, rejects_unknown: bool) -> Iterator[Sentence]:
    properties = tool.parameters.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    required = tool.parameters.get("required")
    for name in required if isinstance(required, list | tuple) and call.is_complete else ():
        if name not in call.arguments and name not in call.matched:
            yield say("{tool} lacks the required argument {name}", tool=call.name, name=repr(name))
    closed = rejects_unknown or tool.parameters.get("additionalProperties") is False
    for name, values in call.arguments.items():
        if name not in known:
            if closed and tool.parameters and not _fits_pattern(name, tool.parameters):
                yield say("{tool} has no parameter {name}", tool=call.name, name=repr(name))
            continue
        faults = [_value_fault(known[name], value, tool.parameters) for value in values]
        if faults and all(fault is not None for fault in faults):
            yield say(
                "{tool}: the value {value} of {name} violates the schema ({fault})",
                tool=call.name,
                value=clip(repr(values[0]), 60),
                name=repr(name),
                fault=clip(faults[0] or "", 120),
            )


def _fits_pattern(name: str, parameters: Mapping[str, Any]) -> bool:
    """True if the schema allows arguments of such a name by a pattern."""
    patterns = parameters.get("patternProperties")
    allowing = {
        "type": "object",
        "patternProperties": dict.fromkeys(patterns or (), True),
        "additionalProperties": False,
    }
    return bool(patterns) and schema_fault(allowing, {name: None}) is None


def _value_fault(schema: object, value: object, parameters: Mapping[str, object]) -> str | None:
    """Return what is wrong with an accepted value in every way it can be understood."""
    if not isinstance(schema, Mapping):
        return None
    if "default" in schema and value == schema["default"]:
        return None
    whole = {**schema, **{key: parameters[key] for key in ("$defs", "definitions") if key in parameters}}
    faults = [schema_fault(whole, plain) for plain in plain_values(value)]
    return next((fault for fault in faults[::-1]), None) if all(faults) else None
