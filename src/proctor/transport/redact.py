"""Keep keys out of every text that is shown or stored."""

import os
import re
from collections.abc import Iterable, Iterator

HIDDEN = "[hidden]"
SHORTEST = 8  # shorter values of the environment are words rather than secrets

_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.IGNORECASE)
_NAMED = re.compile(
    r"((?:authorization|(?:x-)?(?:goog-)?api[-_]?key|(?:access|auth|refresh)[-_]?token|secret|password|cookie)"
    r"[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:(?:bearer|basic)\s{1,8})?)[^\s\"',;&]{4,}",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b((?:bearer|basic)\s{1,8})[A-Za-z0-9._~+/=*-]{6,}", re.IGNORECASE)
_SHAPE = re.compile(
    r"\bsk-[A-Za-z0-9_*-]{6,}|\b(?:(?:pk|rk|gsk|xai|hf|ghp|glpat|nvapi|pplx)[-_]|AIza)[A-Za-z0-9_*-]{12,}"
)
_USER_INFO = re.compile(r"(?<=://)[^\s/@:]{0,200}:[^\s/@]{1,500}@")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without keys: the given ones, those of the environment, and whatever looks like one.

    >>> redact("Incorrect API key: sk-abc123def456. Authorization: Bearer xyz.123")
    'Incorrect API key: [hidden]. Authorization: Bearer [hidden]'
    """
    for secret in (*secrets, *_of_the_environment()):
        if secret and secret in text:
            text = text.replace(secret, HIDDEN)
    text = _NAMED.sub(rf"\1{HIDDEN}", text)
    text = _SCHEME.sub(rf"\1{HIDDEN}", text)
    text = _SHAPE.sub(HIDDEN, text)
    return _USER_INFO.sub(f"{HIDDEN}@", text)


def _of_the_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if len(value) >= SHORTEST and _SECRET_NAME.search(name):
            yield value
