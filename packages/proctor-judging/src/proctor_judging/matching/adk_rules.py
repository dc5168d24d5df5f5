"""The rules of the two metrics of google-adk 2.7.1 that need no judge, over plain JSON data.

Source: google/adk-python, src/google/adk/evaluation, trajectory_evaluator.py and final_response_match_v1.py, and
`rouge-score` 0.1.2. The oddities are the rule: `1` equals `true`, arguments `null` and `{}` differ, a greedy scan.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from proctor.core.errors import BadInput
from proctor_judging.matching.porter import stem
from proctor_judging.matching.rouge_figures import figures

MatchType = Literal["EXACT", "IN_ORDER", "ANY_ORDER"]
MATCH_TYPES: tuple[MatchType, ...] = get_args(MatchType)
_NOT_PLAIN = re.compile("[^a-z0-9]+")
_ALONE = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")  # kana, ideographs, Hangul: each is a token
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese, Khmer: each begins one


class AdkCall(msgspec.Struct, frozen=True):
    """A call as ADK compares it; missing `args` are not the same as empty ones."""

    name: str | None = None
    args: Mapping[str, object] | None = None


def match_type(value: object) -> MatchType:
    """Return the match type for any spelling that ADK accepts.

    Raises:
        BadInput: it is not valid.

    >>> match_type("in-order"), match_type(2)
    ('IN_ORDER', 'ANY_ORDER')
    """
    if isinstance(value, str):
        value = value.strip().upper().replace("-", "_").replace(" ", "_")
        for known in MATCH_TYPES:
            if known == value:
                return known
    elif isinstance(value, int | float) and value in (0, 1, 2):
        return MATCH_TYPES[int(value)]
    raise BadInput("'{value}' is no match type. Known: EXACT, IN_ORDER, ANY_ORDER.", value=value)


def calls_match(
    made: Sequence[AdkCall], expected: Sequence[AdkCall], how: MatchType, *, names_only: bool = False
) -> bool:
    """True if the calls of one turn match; ids are ignored, and arguments too by google-adk 2.13's `ignore_args`.

    >>> a, b = AdkCall("a", {}), AdkCall("b", {})
    >>> [calls_match([b, a], [a, b], how) for how in MATCH_TYPES]
    [False, False, True]
    """
    if names_only:
        made, expected = ([AdkCall(call.name) for call in calls] for calls in (made, expected))
    if how == "EXACT":
        return len(made) == len(expected) and all(map(_same, made, expected))
    if how == "IN_ORDER":
        rest = iter(made)  # shared by all searches: each one starts after the last hit
        return all(any(_same(call, wanted) for call in rest) for wanted in expected)
    left = list(made)
    for wanted in expected:
        hit = next((index for index, call in enumerate(left) if _same(call, wanted)), None)
        if hit is None:
            return False
        del left[hit]
    return True


def joined(parts: Iterable[str | None]) -> str:
    """Return the text parts of an answer, joined as ADK does."""
    return "\n".join(part for part in parts if part)


def rouge_1(response: str, reference: str) -> float:
    """Return ROUGE-1 F of a response; 0 for two texts without a word.

    >>> rouge_1("It costs 100.", "it costs 100"), rouge_1("你好", "你坏"), rouge_1("", "")
    (1.0, 0.5, 0.0)
    """
    ours, theirs = Counter(tokens(response)), Counter(tokens(reference))
    return figures((ours & theirs).total(), ours.total(), theirs.total()).f


def tokens(text: str) -> list[str]:
    """Return the tokens of google-adk 2.

    >>> tokens("Running 东京 3.5km")
    ['run', '东', '京', '3', '5km']
    """
    signs: list[str] = []
    for sign in unicodedata.normalize("NFKC", text).lower():
        if _ALONE.match(sign):
            signs.append(f" {sign} ")
        elif _UNSPACED.match(sign):
            signs.append(sign if unicodedata.category(sign).startswith("M") else f" {sign}")
        elif sign.isalnum() or unicodedata.category(sign).startswith("M"):
            signs.append(sign)
        else:
            signs.append(" ")
    words = "".join(signs).split()
    return [token for word in words for token in (_plain(word) if word.isascii() else (word,))]


def mean(scores: Sequence[float]) -> float:
    """Return the average as ADK adds it up, one after the other; Python's own sum is more exact since 3.12."""
    total = 0.0
    for score in scores:
        total += score
    return total / len(scores)


def _same(one: AdkCall, other: AdkCall) -> bool:
    try:
        return one.name == other.name and one.args == other.args
    except RecursionError:  # nested deeper than Python compares
        return False


def _plain(text: str) -> list[str]:
    found = (word for word in _NOT_PLAIN.split(text.lower()) if word)
    return [stem(word) if len(word) > 3 else word for word in found]
