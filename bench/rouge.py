"""ROUGE-L against the packages whose figures it equals: pairs of about 200 tokens, one core."""

import random
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from bench.figure import Figure, in_turn, seconds_of
from proctor_judging.matching.rouge_figures import rouge_l
from proctor_judging.matching.rouge_packages import chinese_l, english_sentences, sentences_l, tokens

PAIRS = 40
TOKENS = 200
ENGLISH = [
    "the",
    "a",
    "of",
    "agent",
    "score",
    "model",
    "answer",
    "reference",
    "question",
    "data",
    "with",
    "from",
    "that",
    "is",
    "was",
    "right",
    "wrong",
    "first",
    "second",
    "last",
]
CHINESE = [
    "提高",
    "效率",
    "降低",
    "成本",
    "保护",
    "环境",
    "的",
    "了",
    "在",
    "是",
    "发展",
    "经济",
    "社会",
    "人民",
    "生活",
    "学习",
    "，",
    "。",
    "因此",
    "首先",
]


def measure() -> Iterator[Figure]:
    """Each package and ours on the same pairs, in turn."""
    english = [_pair(ENGLISH, ".") for _ in range(PAIRS)]
    rouge = _reference("rouge").Rouge(metrics=["rouge-l"])
    scorer = _reference("rouge_score.rouge_scorer").RougeScorer(["rougeL"])
    theirs, ours = in_turn(
        lambda: seconds_of(lambda: [rouge.get_scores(made, expected) for made, expected in english]),
        lambda: seconds_of(lambda: [_sentences(made, expected) for made, expected in english]),
    )
    yield Figure(what="ROUGE-L of `rouge` 1.0.1, English", value=theirs / ours, at_least=15)
    theirs, ours = in_turn(
        lambda: seconds_of(lambda: [scorer.score(expected, made) for made, expected in english]),
        lambda: seconds_of(lambda: [rouge_l(tokens(made), tokens(expected)) for made, expected in english]),
    )
    yield Figure(what="ROUGE-L of `rouge-score` 0.1.2, English", value=theirs / ours, at_least=15)
    chinese = [_pair(CHINESE, "") for _ in range(PAIRS)]
    ready = [(made.split(), expected.split()) for made, expected in chinese]
    package = _reference("rouge_chinese").Rouge(metrics=["rouge-l"])
    theirs, ours = in_turn(
        lambda: seconds_of(lambda: [package.get_scores(made, expected) for made, expected in chinese]),
        lambda: seconds_of(lambda: [chinese_l(made, expected) for made, expected in ready]),
    )
    yield Figure(what="ROUGE-L of `rouge_chinese` 1.0.3, ready tokens", value=theirs / ours, at_least=50)


def _sentences(made: str, expected: str) -> Any:
    return sentences_l(english_sentences(made), english_sentences(expected))


_draw = random.Random(0)


def _pair(words: list[str], stop: str) -> tuple[str, str]:
    """A text and another version of it: a fifth of the words are others."""
    one = _draw.choices(words, k=TOKENS)
    other = [word if _draw.random() < 0.8 else _draw.choice(words) for word in one]
    return tuple(" ".join(side[:100]) + stop + " " + " ".join(side[100:]) for side in (one, other))  # type: ignore[return-value]  # two sides


def _reference(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old syntax in the packages
        return import_module(name)
