"""Make strict JSON of a reply that is not quite: another charset, a byte order mark, lone surrogates, NaN, 1e999."""

import json
import re
from math import isfinite

MOST_DIGITS = 300  # no float is longer, and Python refuses to read integers of a few thousand
_LONE = re.compile(r"[\ud800-\udfff]")


def repaired(data: bytes, charset: str | None = None) -> bytes:
    r"""Return the JSON in UTF-8, with U+FFFD for lone surrogates and null for numbers out of range.

    Raises:
        ValueError: it is no JSON, or no text in its charset: a guess at the characters would change the answer.

    >>> repaired(b'{"a": "x\\ud800", "b": NaN, "c": 1e999}').decode()
    '{"a":"x�","b":null,"c":null}'
    """
    try:
        text = data.decode(charset or json.detect_encoding(data))
    except LookupError:  # a charset nobody knows
        text = data.decode(json.detect_encoding(data))
    try:
        value = json.loads(
            text.removeprefix("\ufeff"), parse_constant=lambda _: None, parse_float=_float, parse_int=_integer
        )
        return without_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _float(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


def _integer(text: str) -> int | None:
    return int(text) if len(text) <= MOST_DIGITS else None


def without_surrogates(text: str) -> str:
    """Return the text with U+FFFD for every lone surrogate."""
    return _LONE.sub("\ufffd", text)


def strict(value: object) -> object:
    """Return JSON data with U+FFFD for every lone surrogate, for requests with the user's texts."""
    return json.loads(without_surrogates(json.dumps(value, ensure_ascii=False)))
