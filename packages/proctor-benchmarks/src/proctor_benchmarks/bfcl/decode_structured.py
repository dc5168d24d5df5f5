"""Read calls that are written in JSON or XML, as format sensitivity asks for, the way of the official decoder.

    [{"function": "geo.area", "parameters": {"base": 3}}]
    <functions><function name="geo.area"><params><param name="base" value="3" type="integer"/></params></function></functions>
    <functions><function name="geo.area"><param name="base" type="integer">3</param></function></functions>

Source: bfcl-eval 2026.3.23, `bfcl_eval/model_handler/parser/json_parser.py` and `xml_parser.py`, and `ast_parse` of
`bfcl_eval/model_handler/utils.py`. The patterns are written so that they cannot take long on any text.
"""

import ast
import json
import re
from xml.etree import ElementTree

from proctor.core.sentence import say
from proctor_benchmarks.bfcl.calls import Undecodable, show
from proctor_benchmarks.bfcl.decode_python import LONGEST, parse_expression

_OPENING = re.compile(r"\[\s*\{")
_CLOSING = re.compile(r"\}\s*\]")


def between(text: str, start: str, end: str) -> str | None:
    """Return what is between the first `start` and the first `end` after it; None where there is no such pair.

    >>> between("a <T>f()</T> </T>", "<T>", "</T>")
    'f()'
    """
    _, opened, rest = text.partition(start)
    inside, closed, _ = rest.partition(end)
    return inside if opened and closed else None


def decode_json(text: str) -> list[dict[object, object]]:
    """Return the calls in a text of JSON; what is no JSON is no call.

    Raises:
        Undecodable: an object without `function` or `parameters`, or too long a text.
    """
    _check_length(text)
    try:
        data = json.loads(_list_of_objects(text))
    except json.JSONDecodeError:
        return []
    except (ValueError, RecursionError) as error:
        raise Undecodable(say("The output cannot be read: {error}.", error=str(error))) from None
    try:
        return [{item["function"]: item["parameters"]} for item in data if isinstance(item, dict)]
    except (KeyError, TypeError):
        raise Undecodable(say("The output holds something that is no call: {got}.", got=show(data))) from None


def decode_xml(text: str, *, verbose: bool) -> list[dict[str, object]]:
    """Return the calls in the first `<functions>` of a text.

    Raises:
        Undecodable: there is none, it is no XML, or a value is not of the type it names.
    """
    _check_length(text)
    inside = between(text, "<functions>", "</functions>")
    if inside is None:
        raise Undecodable(say("The output has no <functions> element."))
    try:
        # no document type can stand before the root, so no entity can be declared
        root = ElementTree.fromstring(f"<functions>{inside}</functions>")  # noqa: S314
        return [_verbose(function) if verbose else _concise(function) for function in root.findall("function")]
    except (ElementTree.ParseError, SyntaxError, KeyError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise Undecodable(
            say(
                "The output is no XML in the official form: {kind}: {error}.",
                kind=type(error).__name__,
                error=str(error)[:200],
            )
        ) from None


def _list_of_objects(text: str) -> str:
    """Return the first list of objects in a text, where there is one.

    Upstream searches `\\[\\s*{.*?}\\s*(?:,\\s*{.*?}\\s*)*\\]`, inside the longest text in brackets. Whatever way that matches,
    it ends at the first `}` with a `]` after it: an argument that is a list of objects breaks the output.
    """
    first, last = text.find("["), text.rfind("]")
    if 0 <= first < last:
        text = text[first : last + 1]
    opening = _OPENING.search(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return text[opening.start() : closing.end()] if opening and closing else text


def _verbose(function: ElementTree.Element) -> dict[str, object]:
    inside = function.find("params")
    parameters = (function if inside is None else inside).findall("param")
    return {
        function.attrib["name"]: {
            parameter.get("name"): _value(parameter.get("value", ""), parameter.get("type", "string"))
            for parameter in parameters
        }
    }


def _concise(function: ElementTree.Element) -> dict[str, object]:
    return {
        function.attrib["name"]: {
            parameter.attrib["name"]: _value((parameter.text or "").strip(), parameter.get("type", "string"))
            for parameter in function.findall("param")
        }
    }


def _value(text: str, declared: str) -> object:
    match declared:
        case "integer":
            return int(text)
        case "float":
            return float(text)
        case "boolean":
            return text.lower() == "true"
        case "null":
            return None
        case "array" | "tuple" | "object" | "dict":
            return ast.literal_eval(parse_expression(text.lstrip(" \t")))
    return text


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise Undecodable(say("The output is longer than {limit} characters.", limit=LONGEST))
