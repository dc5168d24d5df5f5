"""Turn the Java text of a value into a Python value of the declared type.

Text that does not fit its type stays text, and then mostly fails the type check. Splitting is naive: commas inside
quotes break elements. Patterns are searched, so what is around them is ignored.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/ast_eval/type_convertor/java_type_converter.py`. The patterns are
written so that hostile text cannot make them slow.
"""

import re
from collections.abc import Iterator

LONGEST = 10_000  # a longer collection stays text

_WHOLE = re.compile(r"^-?\d+$")
_LONG = re.compile(r"^-?\d+[lL]$")
_DOUBLE = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_FLOAT = re.compile(r"^-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{([^}\n]*+)\}")
_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_LIST_BODY = re.compile(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*")
_ADD = re.compile(r"add\((.[^)\n]*+)\)")
_EMPTY_MAP = re.compile(r"new\s+HashMap<.*?>\s*\(\)")
_MAP_BODY = re.compile(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*", re.DOTALL)
_SPACES = re.compile(r"\s*")


def convert(text: str, declared: str, element: str | None = None) -> object:
    """Return the value of a text declared as a Java type; `element` is the declared type of a collection's elements.

    Raises:
        NotImplementedError: Set, Hashtable, Queue and Stack, which upstream does not convert either.
        ValueError: any other type, or a number with more digits than Python converts.

    >>> convert("42L", "long"), convert("42", "long"), convert("new int[]{1, 2}", "Array", "integer")
    (42, '42', [1, 2])
    """
    match declared:
        case "String" | "any" | "char":
            return text
        case "byte" | "short" | "integer":
            return int(text) if _WHOLE.match(text) else text
        case "long":
            return int(text.rstrip("\n")[:-1]) if _LONG.match(text) else text
        case "double":
            return float(text) if _DOUBLE.match(text) else text
        case "float":
            return float(text.rstrip("\n")[:-1]) if _FLOAT.match(text) else text
        case "boolean":
            return text == "true" if text in ("true", "false") else text
        case "Array" | "ArrayList" | "HashMap" if len(text) > LONGEST:
            return text
        case "Array":
            return _array(text, element)
        case "ArrayList":
            return _array_list(text, element)
        case "HashMap":
            return _map(text)
        case "Set" | "Hashtable" | "Queue" | "Stack":
            raise NotImplementedError(declared)
    raise ValueError(declared)


def _array(text: str, element: str | None) -> object:
    match = _ARRAY.search(text)
    if match is None:
        return text
    return [_element(part.strip(), element) for part in match[1].split(",") if part.strip()]


def _array_list(text: str, element: str | None) -> object:
    if match := _AS_LIST.search(text):
        return [_list_element(part, element) for part in match[1].split(",")]
    if (body := _list_body(text)) is not None:
        return [_list_element(part, element) for part in _ADD.findall(body)]
    return [] if _EMPTY_LIST.search(text) else text


def _list_body(text: str) -> str | None:
    """Return what is between `new ArrayList<>() {{` and `}}`, at least one letter."""
    start = _LIST_BODY.search(text)
    if start is None:
        return None
    end = text.find("}}", start.end() + 1)
    if end >= 0:
        return text[start.end() : end]
    is_space = text[start.end() - 1].isspace() and text.startswith("}}", start.end())
    return "" if is_space else None


def _list_element(part: str, element: str | None) -> object:
    part = part.strip()
    return part[1:-1] if element in ("char", "String") else _element(part, element)  # the quotes, whatever they are


def _element(part: str, element: str | None) -> object:
    return convert(part, element) if element else _untyped(part)


def _map(text: str) -> object:
    start = _MAP_BODY.search(text)
    end = text.find("}", start.end()) if start else -1
    if start is None or end < 0:
        return {} if _EMPTY_MAP.search(text) else text
    return {key: _untyped(value.strip()) for key, value in _puts(text[start.end() : end].rstrip())}


def _puts(body: str) -> Iterator[tuple[str, str]]:
    """Yield each `put("key", value)`: the key ends at the first `",` after which a `)` closes the value in its line."""
    start = body.find('put("')
    while start >= 0:
        next_from = start + 1
        line_end = body.find("\n", start)
        line_end = len(body) if line_end < 0 else line_end
        key_end = body.find('",', start + 5, line_end)
        while key_end >= 0:
            spaces = _SPACES.match(body, key_end + 2)
            value_start = spaces.end() if spaces else key_end + 2
            value_end = _closing(body, value_start)
            if value_end >= 0:
                yield body[start + 5 : key_end], body[value_start:value_end]
                next_from = value_end + 1
                break
            # no later one in this line can do, but one at its end whose value is on the next line
            key_end = body.rfind('",', key_end + 1, line_end) if value_start <= line_end else -1
        start = body.find('put("', next_from)


def _closing(body: str, start: int) -> int:
    """Return where the first `)` is, if no line ends before it; else -1."""
    end = body.find(")", start)
    return -1 if body.find("\n", start, max(end, start)) >= 0 else end


def _untyped(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(text[:-1])
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
