"""Read scores from the speeches of referees, and who won by each of the official methods.

Everything surprising here is the official rule, and needed for its numbers: what cannot be read is a win of the first answer
for `average` and `adversarial`, and a tie for `single`; a score of `nan` gives no prediction at all, which shifts those after
it against the labels.

Source: ChatEval, commit 56b320c04f31, `calc_adversarial_results_calc_score_calibration.py`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from proctor_judging.judges.debating import scores_of

Method = Literal["single", "average", "adversarial", "majority_vote"]
FIRST, SECOND = ("output_1", "gpt35"), ("output_2", "vicuna")
TIE = "tie"
_VOTES = {"Assistant 1": "gpt35", "Assistant 2": "vicuna", "Tie": TIE}
_NAMED = ("gpt35", "vicuna", TIE)

Texts = Sequence[str]


def total(texts: Texts) -> tuple[float, float] | None:
    """Return the sums of the scores of all referees; None if one of them cannot be read."""
    try:
        read = [scores_of(text) for text in texts]
    except ValueError:
        return None
    return sum(first for first, _ in read), sum(second for _, second in read)


def predictions(method: Method, results: Sequence[Texts], reversed_results: Sequence[Texts] = ()) -> list[str]:
    """Return who won each item, by the speeches of its referees in both orders.

    `adversarial` looks at each order by itself: first all items in the given order, then all in the other one.
    """
    if method == "majority_vote":
        return [_vote(texts) for texts in results]
    pairs = list(zip(results, reversed_results, strict=False))
    if method == "adversarial":
        return _each_order(pairs)
    of = _single if method == "single" else _average
    return [won for given, turned in pairs for won in of(given, turned)]


def accuracy(predicted: Sequence[str], labels: Sequence[str]) -> float:
    """Return the share of labels that are predicted; a label without a prediction is missed."""
    return sum(verdict == label for verdict, label in zip(predicted, labels, strict=False)) / len(labels)


def kappa(predicted: Sequence[str], labels: Sequence[str]) -> float | None:
    """Return Cohen's kappa over gpt35, vicuna and tie; None where chance alone agrees on everything.

    Raises:
        ValueError: another label, or none at all.
    """
    pairs = list(zip(predicted, labels, strict=False))
    if not pairs or any(text not in _NAMED for pair in pairs for text in pair):
        raise ValueError("kappa needs labels gpt35, vicuna and tie")
    said, known = Counter(text for text, _ in pairs), Counter(other for _, other in pairs)
    agreed = sum(text == other for text, other in pairs) / len(pairs)
    chance = sum(said[name] * known[name] for name in _NAMED) / (len(pairs) * len(pairs))
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def winner(first: float, second: float, names: tuple[str, str], tie: str) -> Iterator[str]:
    """Yield the name of the higher score; nothing where one of them is no number."""
    if first > second:
        yield names[0]
    elif first < second:
        yield names[1]
    elif first == second:
        yield tie


def _single(given: Texts, turned: Texts) -> Iterator[str]:
    both = total(given[:1]), total(turned[:1])
    if not given or not turned or both[0] is None or both[1] is None:
        yield TIE
        return
    yield from winner(both[0][0] + both[1][1], both[0][1] + both[1][0], ("gpt35", "vicuna"), TIE)


def _average(given: Texts, turned: Texts) -> Iterator[str]:
    count = min(len(given), len(turned))  # a referee without a partner is dropped
    first = second = 0.0
    try:
        for text, other in zip(given[:count], turned[:count], strict=True):
            ahead, turned_ahead = scores_of(text), scores_of(other)
            first, second = first + ahead[0] + turned_ahead[1], second + ahead[1] + turned_ahead[0]
    except ValueError:
        yield "output_1"
        return
    yield from winner(first, second, ("output_1", "output_2"), "output_1")


def _each_order(pairs: Sequence[tuple[Texts, Texts]]) -> list[str]:
    forward: list[str] = []
    backward: list[str] = []
    for given, turned in pairs:
        ahead, back = total(given), total(turned)
        if ahead is None or back is None:
            forward.append("output_1")
            backward.append("output_1")
            continue
        forward += winner(*ahead, ("output_1", "output_2"), "output_1")
        backward += winner(back[1], back[0], ("output_1", "output_2"), "output_1")
    return forward + backward


def _vote(texts: Texts) -> str:
    votes = Counter(_VOTES.get(text.split("\n")[-1].split("Answer: ")[-1], TIE) for text in texts)
    counts = [votes[name] for name in _NAMED]
    return TIE if len(set(counts)) == 1 else _NAMED[counts.index(max(counts))]
