r"""Read the call that a reply makes, as the official patterns do, in time linear in its length.

    \[(\w+)\((.*)\)\]                                                                    the first match is the call
    (\w+)\s*=\s*['"](.+?)['"] | (\w+)\s*=\s*(\[.*\]) | (\w+)\s*=\s*(\w+)                 repeated, in its parentheses

Every value is a text, and the last of equal names wins. Quotes need not pair, and the first of either kind ends a value
(`it's` is `it`); an empty text and a minus are no value; a list ends at the last bracket of all. All of that is the rule.

Source: DAMO-ConvAI, commit 483554eae102, `api-bank/api_call_extraction.py`.
"""

import re

import msgspec

_HEAD = re.compile(r"\[\w++\(")
_KEY = re.compile(r"(?<!\w)(\w++)\s*+=\s*+")
_WORD = re.compile(r"\w+")
_QUOTE = re.compile("['\"]")


class WrittenCall(msgspec.Struct, frozen=True):
    """A call as a reply writes it."""

    name: str
    params: dict[str, str]


def find_call(text: str) -> str | None:
    """Return the text of the first call, from bracket to bracket in one line; None where there is none.

    >>> find_call("AI: [Add(a='1')] and [Add(a='2')].")
    "[Add(a='1')] and [Add(a='2')]"
    """
    for line in text.split("\n"):
        end = line.rfind(")]")
        if end >= 0 and (head := _HEAD.search(line, 0, end)):
            return line[head.start() : end + 2]
    return None


def read_call(text: str) -> WrittenCall | None:
    """Return the first call of a text with its parameters.

    >>> read_call("[Add(a='it's', b=2.5, c=-3, d='')]")
    WrittenCall(name='Add', params={'a': 'it', 'b': '2'})
    """
    found = find_call(text)
    if found is None:
        return None
    name, _, rest = found[1:].partition("(")
    return WrittenCall(name, _params(rest[:-2]))


def _params(text: str) -> dict[str, str]:
    params: dict[str, str] = {}
    last = text.rfind("]")
    at = 0
    while key := _KEY.search(text, at):
        at = start = key.end()
        first = text[start : start + 1]
        if first in ("'", '"'):
            if closing := _QUOTE.search(text, start + 2):  # a value has at least one character, and that may be a quote
                params[key[1]] = text[start + 1 : closing.start()]
                at = closing.end()
        elif first == "[":
            if last > start:
                params[key[1]] = text[start : last + 1]
                at = last + 1
        elif word := _WORD.match(text, start):
            params[key[1]] = word[0]
            at = word.end()
    return params
