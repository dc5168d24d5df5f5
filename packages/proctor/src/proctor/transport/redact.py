"""Keep keys out of every text that is shown or stored: the one table of what a key looks like.

A key is known by its own shape, by what precedes it (a name, a scheme, a parameter of an address), or because the
environment holds the very same value.
"""

import os
import re
from collections.abc import Iterable, Mapping

HIDDEN = "[hidden]"
SHORTEST = 8  # shorter values of the environment are words rather than secrets
SHORTEST_IN_REPLIES = 16
MOST_OF_AN_ERROR = 500

SHAPES: Mapping[str, str] = {
    "openai": r"\bsk-[A-Za-z0-9_*-]{6,}",
    "prefixed": r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|ghu|ghr|glpat|nvapi|pplx|xox[abprs])[-_][A-Za-z0-9_*-]{12,}",
    "github": r"\bgithub_pat_[A-Za-z0-9_]{12,}",
    "google": r"\bAIza[A-Za-z0-9_*-]{12,}",
    "aws": r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
    "volcengine": r"\bAKLT[A-Za-z0-9_-]{12,}",
    "alibaba": r"\bLTAI[A-Za-z0-9]{12,}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]+",
    "pem": r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
}
"""What a key looks like by itself."""

PRECEDED: Mapping[str, tuple[str, str]] = {
    "name": (
        r"(?i:(?:authorization|(?:x-)?(?:goog-)?api[-_ ]?key|(?:access|secret|auth|refresh|session)[-_ ]?(?:key|token)"
        r"|subscription[-_]key|secret|password|passwd|cookie)[\"']?\s{0,8}[:=]\s{0,8}[\"']?(?:(?:bearer|basic)\s{1,8})?)",
        r"[^\s\"',;&}]{3,}[^\s\"',;&}.]",
    ),
    "scheme": (
        r"\b(?i:(?:bearer|basic)\s{1,8})",
        r"(?=[A-Za-z._~+/=*-]{0,200}(?:[0-9*]|[a-z][A-Z]|[A-Za-z]{16}))[A-Za-z0-9._~+/=*-]{6,}",  # no word: "a basic understanding"
    ),
    "parameter": (r"(?i:[?&](?:key|token|sig|signature|auth|apikey|code)=)", r"[^\s\"'&#<>]{4,}"),
    "user": (r"(?<=://)", r"[^\s/@:]{0,200}:[^\s/@]{1,500}(?=@)"),
}
"""What precedes a key, and the key itself."""

ANY_KEY = "|".join((*SHAPES.values(), *(before + key for before, key in PRECEDED.values())))
"""A regular expression (for `re.ASCII`) that fits a key of any kind, with what precedes it."""

KEY_NAME = re.compile(
    r"(?:^|[-_])(?:(?:api|access|secret|private|subscription|auth)[-_]?key|apikey|token|secret|password|passwd|pwd"
    r"|credentials?|authorization|cookie|auth|sig|signature)$",
    re.IGNORECASE,
)
"""What an option or a header is called that holds a key."""

# Of the environment: PWD is a folder there, and SSH_AUTH_SOCK a path.
_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.IGNORECASE)
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-DF-Za-df-z])[A-Za-z0-9._~+/=-]+")
_BY_WHAT_PRECEDES = [re.compile(f"({before}){key}", re.ASCII) for before, key in PRECEDED.values()]
_BY_SHAPE = re.compile("|".join(SHAPES.values()), re.ASCII)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the text without keys: the given ones, those of the environment, and whatever looks like one.

    >>> redact("Incorrect API key: sk-abc123def456. Authorization: Bearer xyz.123")
    'Incorrect API key: [hidden]. Authorization: Bearer [hidden]'
    """
    for secret in (*secrets, *_of_the_environment()):
        if secret and secret in text:
            text = text.replace(secret, HIDDEN)
    for pattern in _BY_WHAT_PRECEDES:
        text = pattern.sub(rf"\1{HIDDEN}", text)
    return _BY_SHAPE.sub(HIDDEN, text)


def quoted(error: BaseException) -> str:
    """Return what an exception says, short and without keys, for a message that is kept; an exception need not have a text.

    >>> quoted(ValueError("no model at https://me:pa55word@host/?key=12345678"))
    'no model at https://[hidden]@host/?key=[hidden]'
    """
    try:
        text = str(error)
    except Exception as broken:  # noqa: BLE001 - code of the user
        text = f"({type(broken).__name__} in its __str__)"
    return redact(text[: 4 * MOST_OF_AN_ERROR])[:MOST_OF_AN_ERROR]


def keys_of_the_environment() -> tuple[str, ...]:
    """Return the keys in the environment that are removed from replies too: only long random ones, so that no word is lost."""
    return tuple(
        value
        for value in _of_the_environment()
        if len(value) >= SHORTEST_IN_REPLIES and _RANDOM.fullmatch(value) is not None
    )


def holds_key(text: str) -> bool:
    """True if a text, such as a program, holds a key by its own shape, or a long random one of the environment.

    >>> holds_key("client = Client(api_key=os.environ['KEY'])"), holds_key("Client('sk-abc123def456')")
    (False, True)
    """
    return _BY_SHAPE.search(text) is not None or any(key in text for key in keys_of_the_environment())


def _of_the_environment() -> list[str]:
    found = (value for name, value in os.environ.items() if len(value) >= SHORTEST and _SECRET_NAME.search(name))
    return sorted(found, key=len, reverse=True)  # the longest first: one may hold another
