"""Weigh the spans of a reply that may be its answer: which of them says what was asked, and how surely.

A log-linear model of the form of spans, a table of weights for each language, fitted by `python -m bench.spans fit` to replies
of many hands. It knows no target; what the spans mean, it does not know either.
"""

import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Language = Literal["en", "zh"]


class ReplySpan(msgspec.Struct, frozen=True, gc=False):
    """A part of a reply that may be its claim, its features, and the index of its sentence and, in English, of its first and last token there."""

    text: str
    features: tuple[str, ...]
    sentence: int
    first: int = 0
    last: int = 0


def weigh(spans: Sequence[ReplySpan], language: Language) -> list[float]:
    """Return the probability of each of the spans of a reply."""
    weight_of = _weights(language).__getitem__
    sums = [sum(map(weight_of, span.features)) for span in spans]
    highest = max(sums, default=0.0)
    shares = [math.exp(total - highest) for total in sums]
    whole = sum(shares)
    return [share / whole for share in shares]


class _Weights(dict[str, float]):
    """Those of features; what was not seen when they were fitted weighs nothing."""

    def __missing__(self, feature: str) -> float:
        return 0.0


@cache
def _weights(language: Language) -> _Weights:
    text = files("proctor_judging.matching").joinpath(f"span_weights_{language}.txt").read_text(encoding="utf-8")
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return _Weights((feature, float(weight)) for weight, feature in pairs)
