"""Read from the headers of a reply when to send the next request.

`Retry-After` is that of RFC 9110, section 10.2.3: seconds, or a date. The names of the others are those that
OpenAI, Azure, Anthropic, GitHub and the draft of the IETF for rate limit headers use.
"""

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite

REMAINING_AND_RESET = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("ratelimit-remaining", "ratelimit-reset"),
)
_LONGEST = 100  # characters of a length or date; the patterns are not for more
_A_DATE = 1_000_000_000  # a plain number above is Unix time rather than a length
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def asked_seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long the server asks to wait before a refused request is sent again; None if it does not say.

    >>> asked_seconds({"Retry-After": "2"}), asked_seconds({"retry-after-ms": "150"}), asked_seconds({})
    (2.0, 0.15, None)
    """
    milliseconds = _number(_get(headers, "retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = _get(headers, "retry-after")
    if value is None or len(value) > _LONGEST:
        return used_up_seconds(headers)
    seconds = _number(value)
    return seconds if seconds is not None else _until(value, _get(headers, "date"))


def used_up_seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long until a quota that is used up is filled again; None while every quota has something left.

    >>> used_up_seconds({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0.5s"})
    60.5
    """
    waits = [
        wait
        for remaining, reset in REMAINING_AND_RESET
        if (_get(headers, remaining) or "").strip() in ("0", "0.0")
        and (wait := _reset_seconds(_get(headers, reset), _get(headers, "date"))) is not None
    ]
    return max(waits, default=None)


def _get(headers: Mapping[str, str], name: str) -> str | None:
    value = headers.get(name)
    return value if value is not None else headers.get(name.title())


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) and number >= 0 else None


def _reset_seconds(value: str | None, now: str | None) -> float | None:
    if value is None or len(value) > _LONGEST:
        return None
    number = _number(value)
    if number is not None:
        return number if number < _A_DATE else max(0.0, number - time.time())
    parts = _LENGTH.findall(value)
    if parts and "".join(f"{amount}{unit}" for amount, unit in parts) == value.strip():
        return sum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in parts)
    return _until(value, now)


def _until(value: str, now: str | None) -> float | None:
    """Seconds until a date, by the clock of the server if it tells it: ours may be wrong."""
    date = _date(value)
    if date is None:
        return None
    clock = (_date(now) if now else None) or datetime.now(UTC)
    return max(0.0, (date - clock).total_seconds())


def _date(value: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # slow to load, and dates are rare

    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = parse(value.strip())
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None
