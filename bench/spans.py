"""Fit the weights with which `answer` chooses among the spans of a reply, and measure them on hands that they were not fitted to.

`python -m bench.spans fit` writes `span_weights_en.txt` and `span_weights_zh.txt` in `proctor_judging.matching`; `python -m bench.spans` fits to
all hands but a few and measures those, in turn. Replies of people who knew no rules count fully; the grids, made from templates, count little. Questions for yes or no are left out, as rules read them. A span is to be preferred if it matches a right target by itself; else
if a form of it does.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bench import english_replies
from bench.han_replies import grid
from proctor_judging.matching import span_model
from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.english_replies import read_english_reply
from proctor_judging.matching.english_spans import forms_of_span, read_english_spans
from proctor_judging.matching.han_span_forms import span_forms
from proctor_judging.matching.han_spans import read_han_spans
from proctor_judging.matching.replies import match_claim
from proctor_judging.matching.span_model import Language, ReplySpan
from proctor_judging.matching.verdict import AnswerOptions

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

DATA = Path(__file__).parents[1] / "tests" / "data"
HAN = re.compile("[\u3400-\u9fff]")
LANGUAGES: tuple[Language, ...] = ("en", "zh")
MEASURED = {  # never fitted
    "en": tuple(f"stranger_{hand}" for hand in ("g", "k", "l", "mm", "nn", "tt")),
    "zh": tuple(f"stranger_{hand}" for hand in ("g", "k", "l", "aa", "bb", "cc", "ff", "gg", "rr", "uu")),
}
WEIGHT_OF_HELD_OUT = 1.0  # short replies, many of which are meant to mislead
WEIGHT_OF_GRID, EVERY = 0.15, 2  # replies of the grid; neighbouring forms differ little
LEAST_COUNT = {"en": 10, "zh": 5}  # replies with a feature that has a weight
SHRINKAGE = {"en": 6.0, "zh": 4.0}
LEAST = 0.04  # weights nearer to 0 are left out
ROUNDS, FOLDS = 100, 6


class Row(msgspec.Struct, frozen=True):
    """A reply and what it is right and wrong for."""

    hand: str
    question: str
    reply: str
    right: Sequence[str]
    wrong: Sequence[str]
    weight: float = 1.0


class Labelled(msgspec.Struct, frozen=True):
    """A reply, its spans, and how well each matches what it is right for: 2 by itself, 1 by a form of it."""

    row: Row
    spans: list[ReplySpan]
    gains: list[int]


def read_rows(language: Language) -> Iterator[Row]:
    """Yield the replies of all hands, one for all pairs with the same question and answer."""
    for file in sorted((DATA / "replies").glob(f"*/answer_{language}.jsonl")):
        yield from _of_file(file.parent.name, file, language)
    for file in sorted((DATA / "held_out").glob("answer_*.jsonl")):
        yield from _of_file("held_out", file, language, WEIGHT_OF_HELD_OUT)
    if language == "zh":
        for han in list(grid())[::EVERY]:
            yield Row("grid", han.question, han.reply, han.right, han.wrong, WEIGHT_OF_GRID)
    else:
        for english in list(english_replies.replies())[::EVERY]:
            yield Row("grid", english.question, english.text, [english.right], english.wrong, WEIGHT_OF_GRID)


def _of_file(hand: str, file: Path, language: Language, weight: float = 1.0) -> Iterator[Row]:
    groups: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        question = pair.get("question", "")
        if pair["same"] is None or not question or (HAN.search(question) is None) == (language == "zh"):
            continue
        right, wrong = groups.setdefault((question, pair["answer"]), ([], []))
        targets = pair["target"] if isinstance(pair["target"], list) else [pair["target"]]
        (right if pair["same"] else wrong).extend(targets)
    for (question, reply), (right, wrong) in groups.items():
        yield Row(hand, question, reply, right, wrong, weight)


def label(row: Row, language: Language) -> Labelled:
    """Return the spans of a reply with how well each matches a right target; forms of Chinese spans, which cost more, where no span does."""
    spans = spans_of(row, language)
    gains = [2 * _matches((span.text,), row.right, row.question) for span in spans]
    if language == "en" or not any(gains):
        gains = [
            gain or int(_matches(_forms(span, row, language), row.right, row.question))
            for span, gain in zip(spans, gains, strict=True)
        ]
    return Labelled(row, spans, gains)


def spans_of(row: Row, language: Language) -> list[ReplySpan]:
    """Return the spans of a reply in either language."""
    if language == "zh":
        return read_han_spans(row.reply, row.question)
    return list(read_english_spans(_english(row.reply, row.question)))


def _forms(span: ReplySpan, row: Row, language: Language) -> tuple[str, ...]:
    if language == "zh":
        return span_forms(span, row.reply, row.question)
    return forms_of_span(span, _english(row.reply, row.question))


_english = lru_cache(maxsize=1)(read_english_reply)  # once for all spans of a reply


def _matches(forms: Sequence[str], targets: Sequence[str], question: str) -> bool:
    return any(_is_match(form, target, question) for form in forms for target in targets)


@lru_cache(maxsize=4096)
def _is_match(form: str, target: str, question: str) -> bool:
    return match_claim(form, target, question, AnswerOptions()).right


def read_labelled(language: Language) -> list[Labelled]:
    """Return the labelled replies whose questions are not for yes or no."""
    rows = [row for row in read_rows(language) if read_asked(row.question).kind != "truth"]
    return [reply for row in rows if row.right and (reply := label(row, language)).spans]


def fit(replies: Sequence[Labelled], language: Language) -> dict[str, float]:
    """Return the weights that make the preferred spans of replies most probable, shrunk towards 0."""
    from scipy.optimize import minimize  # takes longer to import than what tests use of this module

    replies = [reply for reply in replies if any(reply.gains)]
    counts = Counter(name for reply in replies for name in {name for span in reply.spans for name in span.features})
    names = sorted(name for name, count in counts.items() if count >= LEAST_COUNT[language])
    place = {name: index for index, name in enumerate(names)}
    matrix = _matrix([span for reply in replies for span in reply.spans], place)
    sizes = [len(reply.spans) for reply in replies]
    starts = np.cumsum([0, *sizes[:-1]])
    of_reply = np.repeat(np.arange(len(replies)), sizes)
    preferred = np.array([gain == max(reply.gains) for reply in replies for gain in reply.gains], dtype=float)
    importance = np.array([reply.row.weight for reply in replies])
    shrinkage = SHRINKAGE[language]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        sums = matrix @ weights
        shares = np.exp(sums - np.maximum.reduceat(sums, starts)[of_reply])
        whole, good = np.add.reduceat(shares, starts), np.add.reduceat(shares * preferred, starts)
        slope = (shares / whole[of_reply] - shares * preferred / good[of_reply]) * importance[of_reply]
        missed = -(importance * (np.log(good) - np.log(whole))).sum()
        return missed + shrinkage / 2 * (weights @ weights), matrix.T @ slope + shrinkage * weights

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS}).x
    return {name: round(float(weight), 2) for name, weight in zip(names, found, strict=True) if abs(weight) >= LEAST}


def _matrix(spans: Sequence[ReplySpan], place: dict[str, int]) -> "csr_matrix":
    from scipy.sparse import csr_matrix

    columns: list[int] = []
    ends = [0]
    for span in spans:
        columns += sorted({place[name] for name in span.features if name in place})
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(spans), len(place)))


def measure_folds(language: Language) -> None:
    """Print, for each hand, the share of replies whose best span is right, and how many of the best match a wrong target."""
    replies = read_labelled(language)
    hands = sorted({reply.row.hand for reply in replies} - {"grid", "held_out"})
    for fold in range(FOLDS):
        left_out = hands[fold::FOLDS]
        weights = fit([reply for reply in replies if reply.row.hand not in left_out], language)
        for hand in left_out:
            best = [_best(reply, weights, language) for reply in replies if reply.row.hand == hand]
            right = sum(gain > 0 for gain, _ in best)
            wrong = sum(is_error and not gain for gain, is_error in best)
            print(f"{language} {hand:12} {right / len(best):.3f} of {len(best)} right, {wrong} match a wrong target")


def _best(reply: Labelled, weights: dict[str, float], language: Language) -> tuple[int, bool]:
    """Return how well the most probable span of a reply matches a right target, and whether it or a form of it matches a wrong one."""
    sums = [sum(weights.get(name, 0.0) for name in span.features) for span in reply.spans]
    at = sums.index(max(sums))
    span, row = reply.spans[at], reply.row
    return reply.gains[at], _matches((span.text, *_forms(span, row, language)), row.wrong, row.question)


def write_weights(language: Language) -> None:
    """Fit to all hands but those that are only measured."""
    weights = fit([reply for reply in read_labelled(language) if reply.row.hand not in MEASURED[language]], language)
    file = Path(span_model.__file__).with_name(f"span_weights_{language}.txt")
    file.write_text("".join(f"{weight:g} {name}\n" for name, weight in sorted(weights.items())), encoding="utf-8")
    print(f"{file.name}: {len(weights)} weights")


if __name__ == "__main__":
    for each in [language for language in LANGUAGES if language in sys.argv[1:]] or LANGUAGES:
        write_weights(each) if "fit" in sys.argv[1:] else measure_folds(each)
