"""Take out of an eval set what must not stay in it: keys, addresses, numbers, by patterns.

What a pattern fits becomes `[name]`, and `[name 2]` for the second value in the same case, so that a case still says
where the same value comes again. It is taken out everywhere: texts, arguments and results with the names in them, ids.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from proctor.runtime.pattern_search import checked
from proctor.transport.redact import ANY_KEY
from proctor_adapters.evalsets.noun import as_json, convert
from proctor_adapters.evalsets.schema import EvalCase

NAMED = re.compile(r"([A-Za-z][\w-]*)=(.+)", re.DOTALL)
FREE = ("args", "response", "state", "extra")  # below these the names are the agent's own, not those of the schema
COMMON: Mapping[str, str] = {
    "key": ANY_KEY,
    "email": r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b",
    "phone": r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"
    r"|(?:86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}"
    r"|0\d{2,3}[ -]\d{7,8}"
    r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-]|\.\d)",
}


class Pattern(msgspec.Struct, frozen=True):
    """A pattern to remove, and the text to write in its place."""

    name: str
    regex: re.Pattern[str]


def patterns(given: Sequence[str], *, common: bool = False) -> list[Pattern]:
    """Return patterns out of `regex` or `name=regex`, preceded by the common ones: keys, e-mail addresses, phone numbers.

    Raises:
        BadInput: a pattern cannot be compiled.

    >>> patterns([r"order=A-\\d+", r"\\d{4}"])[0].name
    'order'
    """
    made = [Pattern(name, re.compile(regex, re.ASCII)) for name, regex in COMMON.items()] if common else []
    for text in given:
        named = NAMED.fullmatch(text)
        name, regex = (named[1], named[2]) if named else ("redacted", text)
        made.append(Pattern(name, re.compile(checked(regex))))
    return made


def redact_case(case: EvalCase, found: Sequence[Pattern]) -> tuple[EvalCase, int]:
    """Return the case without what the patterns match, and the number of matches."""
    if not found:
        return case, 0
    walk = _Walk(found)
    redacted = walk.value(as_json(case), free=False)
    return (convert(redacted, EvalCase), walk.count) if walk.count else (case, 0)


class _Walk:
    """Goes through one case; the same value gets the same name all over it."""

    def __init__(self, found: Sequence[Pattern]) -> None:
        self.count = 0
        self._found = found
        self._names: dict[tuple[str, str], str] = {}
        self._numbers: dict[str, int] = {}

    def value(self, value: object, *, free: bool) -> object:
        match value:
            case str():
                return self.text(value)
            case bool() | None:
                return value
            case int() | float() if free:  # a phone number may be a number
                text = str(value)
                made = self.text(text)
                return value if made == text else made
            case list() | tuple():
                return [self.value(item, free=free) for item in value]
            case dict():
                return self._object(value, free=free)
        return value

    def text(self, text: str) -> str:
        for pattern in self._found:
            text = pattern.regex.sub(partial(self._named, pattern.name), text)
        return text

    def _object(self, value: dict[str, object], *, free: bool) -> dict[str, object]:
        """Texts before ids, so that the first value of a case is the first that is said."""
        redacted: dict[str, object] = {}
        for key in sorted(value, key=lambda key: key.endswith("id") and not free):
            name = self.text(key) if free else key
            if name in redacted:  # two names that were different only in what was taken out
                name = next(other for count in range(2, len(value) + 2) if (other := f"{name} {count}") not in redacted)
            redacted[name] = self.value(value[key], free=free or key in FREE)
        return redacted

    def _named(self, name: str, found: re.Match[str]) -> str:
        text = found[0]
        if not text:
            return ""
        self.count += 1
        if (name, text) not in self._names:
            number = self._numbers[name] = self._numbers.get(name, 0) + 1
            self._names[name, text] = f"[{name}]" if number == 1 else f"[{name} {number}]"
        return self._names[name, text]
