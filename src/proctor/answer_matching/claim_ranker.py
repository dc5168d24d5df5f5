"""Rank the parts of a reply by how likely each is its answer: a log-linear model whose weights are in `claim_weights.txt`.

The model sees the reply and its question. Targets were seen when it was trained (`python -m bench claim_reader`), never when it reads.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from proctor.answer_matching.claim_features import Described, describe
from proctor.answer_matching.extract import THOUGHT
from proctor.answer_matching.question_words import table_lines

LONGEST, HEAD, TAIL = 1_500, 300, 1_000
MOST_WEIGHED = 20  # parts whose own features are looked at: those with the likeliest surroundings
LEAST_OF_BEST = 0.1  # share of the best part's likelihood that makes a part of it, or a longer one, a form of the claim


class Ranking(msgspec.Struct, frozen=True):
    """The likeliest answer of a reply.

    Attributes:
        text: the text that was read.
        forms: the best part, then what contains it or is contained in it.
        start, end: where the best part is.
        likelihood: of it and all that overlaps it.
        spans, likelihoods: all parts.
    """

    text: str
    forms: tuple[str, ...]
    start: int
    end: int
    likelihood: float
    spans: Sequence[tuple[int, int]]
    likelihoods: Sequence[float]

    def likelihood_at(self, places: Sequence[tuple[int, int]]) -> float:
        """Return the likelihood that the answer overlaps one of these places."""
        return sum(
            likelihood
            for (start, end), likelihood in zip(self.spans, self.likelihoods, strict=True)
            if any(start < last and first < end for first, last in places)
        )


def rank(reply: str, question: str) -> Ranking | None:
    """Return the likeliest answer; None if it is likelier that the reply claims nothing.

    >>> rank("It was put up in 1961 and came down in 1989.", "When was it put up?").forms[0]
    '1961'
    """
    text = readable(reply)
    described = describe(text, question)
    if not described.spans:
        return None
    likelihoods = _likelihoods(described)
    nothing = likelihoods.pop()
    best = max(range(len(likelihoods)), key=likelihoods.__getitem__)
    start, end = described.spans[best]
    ranking = Ranking(
        text, _forms(text, described.spans, likelihoods, best), start, end, 0, described.spans, likelihoods
    )
    likelihood = ranking.likelihood_at([(start, end)])
    return msgspec.structs.replace(ranking, likelihood=likelihood) if likelihood > nothing else None


def readable(reply: str) -> str:
    """Return the part of a reply that is read: without thoughts, its beginning and its end if it is long."""
    text = reply[-50_000:].rpartition(THOUGHT)[2].strip()
    return text if len(text) <= LONGEST else f"{text[:HEAD]}\n{text[-TAIL:]}"


def _likelihoods(described: Described) -> list[float]:
    """Return the likelihood of each part, and at the end that of nothing."""
    weights = _weights(described.language)
    shared = [_weigh(group, weights) for group in described.shared]
    scores = [shared[before] + shared[after] + shared[clause] for before, after, clause in described.groups]
    weighed = set(sorted(range(len(scores)), key=lambda at: -scores[at])[:MOST_WEIGHED])
    scores = [
        score + _weigh(described.own(at), weights) if at in weighed else -math.inf for at, score in enumerate(scores)
    ]
    scores.append(_weigh(described.nothing, weights))
    highest = max(scores)
    odds = [math.exp(score - highest) for score in scores]
    total = sum(odds)
    return [one / total for one in odds]


def _forms(text: str, spans: Sequence[tuple[int, int]], likelihoods: Sequence[float], best: int) -> tuple[str, ...]:
    """Return the best part and likely parts that contain it or are contained in it, all of them parts of one another."""
    chain = [spans[best]]
    for at in sorted(range(len(spans)), key=lambda at: -likelihoods[at]):
        if likelihoods[at] < LEAST_OF_BEST * likelihoods[best]:
            break
        start, end = spans[at]
        if all((start <= first and last <= end) or (first <= start and end <= last) for first, last in chain):
            chain.append(spans[at])
    return tuple(dict.fromkeys(text[start:end] for start, end in chain))


def _weigh(features: Sequence[str], weights: Mapping[str, float]) -> float:
    return sum([weights[one] for one in features if one in weights])


@cache
def _weights(language: str) -> Mapping[str, float]:
    """Return the weights of one language; in the file it is the first letter of a feature."""
    pairs = (line.rpartition(" ") for line in table_lines("claim_weights.txt") if line[0] == language)
    return {feature[1:].replace("⏎", "\n").replace("␣", " "): float(weight) for feature, _, weight in pairs}
