"""Weigh the spans of a reply that may be its answer: which of them says what was asked, and how surely.

A log-linear model of the form of spans, a table of weights for each language, fitted by `python -m bench.spans fit` to replies
of many hands. It knows no target; what the spans mean, it does not know either.
"""

import math
from collections.abc import Mapping, Sequence
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
    weights = _weights(language)
    sums = [sum(weights.get(feature, 0.0) for feature in span.features) for span in spans]
    highest = max(sums, default=0.0)
    shares = [math.exp(total - highest) for total in sums]
    whole = sum(shares)
    return [share / whole for share in shares]


@cache
def _weights(language: Language) -> Mapping[str, float]:
    text = files("proctor_judging.matching").joinpath(f"span_weights_{language}.txt").read_text(encoding="utf-8")
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return {feature: float(weight) for weight, feature in pairs}
