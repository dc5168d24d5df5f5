"""Make strict JSON of a reply that is not quite: another charset, a byte order mark, lone surrogates, NaN."""

import json
import re
from typing import Any

_LONE = re.compile(r"[\ud800-\udfff]")


def repaired(data: bytes, charset: str | None = None) -> bytes:
    """The same JSON in UTF-8, with U+FFFD for what is no character and null for what is no number.

    Raises:
        ValueError: it is no JSON at all.

    >>> repaired(b'{"a": "x\\\\ud800", "b": NaN}').decode()
    '{"a":"x\\ufffd","b":null}'
    """
    try:
        text = data.decode(charset or "utf-8", "replace")
    except LookupError:  # a charset nobody knows
        text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text.removeprefix("\ufeff"), parse_constant=lambda _: None)
        return without_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for every lone surrogate."""
    return _LONE.sub("\ufffd", text)


def strict(value: Any) -> Any:
    """JSON data with U+FFFD for every lone surrogate in it; for requests, whose texts are not ours."""
    return json.loads(without_surrogates(json.dumps(value, ensure_ascii=False)))
