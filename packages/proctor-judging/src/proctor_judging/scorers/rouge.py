"""Compute ROUGE in every script: how much of a reference text is in the answer, and how much of the answer in the reference.

The target is the reference, or a list of references of which the closest counts. Words are compared in lower case
and without punctuation; the same text always gives 1. Words of Chinese need the extra `zh`.

The option `package` gives the figures of a Python package instead, to the last digits: tokens, rule and oddities are its own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeVar, get_args

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor_judging.matching import chinese_words
from proctor_judging.matching import rouge_packages as packages
from proctor_judging.matching.marked_answers import half_width
from proctor_judging.matching.rouge_figures import Rouge, rouge_l, rouge_n

_T = TypeVar("_T")
Package = Literal["rouge-score", "rouge", "rouge-chinese"]
Measure = Literal["rouge-1", "rouge-2", "rouge-l"]
_Measure = Callable[[Sequence[str], Sequence[str]], Rouge]
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Lao, Burmese, Khmer, kana
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+")


class RougeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The measure, and the package whose figures to reproduce.

    package: `rouge-score` 0.1.2 (without a stemmer), `rouge` 1.0.1 or `rouge-chinese` 1.0.3 (after jieba); else our
    own. measure: `rouge-1`, `rouge-2` or `rouge-l`.
    """

    package: Package | None = None
    measure: Measure = "rouge-l"


@scorer(version="1")
def rouge(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-L: F of the longest common subsequence of words.

    >>> rouge(Sample.ask("q", "?", target="the cat sat"), Trajectory.of("The cat sat.")).points
    1.0
    """
    return _best(sample, trajectory, rouge_l)


@scorer(version="1")
def one(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-1: F of single words.

    >>> one(Sample.ask("q", "?", target="the cat"), Trajectory.of("cat the")).points
    1.0
    """
    return _best(sample, trajectory, lambda made, expected: rouge_n(made, expected, 1))


@scorer(version="1")
def two(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-2: F of pairs of words; of single ones where a reference has only one.

    >>> two(Sample.ask("q", "?", target="the cat"), Trajectory.of("cat the")).points
    0.0
    """
    return _best(sample, trajectory, lambda made, expected: rouge_n(made, expected, min(2, len(expected))))


def make(options: Mapping[str, object]) -> Scorer:
    """Make a scorer with `RougeOptions`.

    Raises:
        BadInput: an unknown option or value.
    """
    chosen = converted(options, RougeOptions, "rouge")
    if chosen.package is None:
        return {"rouge-1": one, "rouge-2": two, "rouge-l": rouge}[chosen.measure]
    package = chosen.package

    @scorer(version="1")
    def by_package(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _told(sample, trajectory, lambda made, expected: figures(package, chosen.measure, made, expected))

    return by_package


def figures(package: Package, measure: Measure, made: str, expected: str) -> Rouge | None:
    """Return a package's ROUGE figures for two texts; None for a reference without words.

    An answer without words has 0, where `rouge` and `rouge-chinese` raise.

    >>> round(figures("rouge", "rouge-l", "the cat", "the cat").f, 9), figures("rouge-score", "rouge-l", "x", "中")
    (0.999999995, None)
    """
    assert measure in get_args(Measure)
    number = {"rouge-1": 1, "rouge-2": 2}.get(measure)
    if package == "rouge":
        ours, theirs = packages.english_sentences(made), packages.english_sentences(expected)
        if number is None:
            return _unless_empty(ours, theirs, packages.sentences_l)
        flat = [[word for sentence in side for word in sentence] for side in (ours, theirs)]
        return _unless_empty(flat[0], flat[1], lambda one, other: packages.distinct_n(one, other, number))
    if package == "rouge-chinese":
        words = [packages.chinese_tokens(" ".join(chinese_words.words(text))) for text in (made, expected)]
        if number is None:
            return _unless_empty(words[0], words[1], packages.chinese_l)
        return _unless_empty(words[0], words[1], lambda one, other: packages.distinct_n(one, other, number))
    ascii_words = [packages.tokens(text) for text in (made, expected)]
    if number is None:
        return _unless_empty(ascii_words[0], ascii_words[1], rouge_l)
    return _unless_empty(ascii_words[0], ascii_words[1], lambda one, other: rouge_n(one, other, number))


def _unless_empty(made: list[_T], expected: list[_T], measure: Callable[[list[_T], list[_T]], Rouge]) -> Rouge | None:
    if not expected:
        return None
    return measure(made, expected) if made else Rouge()


def _best(sample: Sample, trajectory: Trajectory, measure: _Measure) -> Score | Unscored:
    def of_words(made: str, expected: str) -> Rouge | None:
        reference = _tokens(expected)
        return measure(_tokens(made), reference) if reference else None

    return _told(sample, trajectory, of_words)


def _told(sample: Sample, trajectory: Trajectory, compared: Callable[[str, str], Rouge | None]) -> Score | Unscored:
    targets = sample.target if isinstance(sample.target, list | tuple) else [sample.target]
    found = [compared(trajectory.answer, str(target)) for target in targets if target is not None]
    figures = [one for one in found if one is not None]
    if not figures:
        return Unscored(why="not_applicable", reason=say("The sample has no reference text to compare with."))
    best = max(figures, key=lambda one: one.f)
    reason = say(
        "{precision} of the answer is in the reference, {recall} of the reference is in the answer.",
        precision=f"{best.precision:.0%}",
        recall=f"{best.recall:.0%}",
    )
    details = {"precision": best.precision, "recall": best.recall}
    return Score(points=min(best.f, 1.0), answer=trajectory.answer, reason=reason, details=details)


def _tokens(text: str) -> list[str]:
    """Return the words in lower case: Chinese ones by the segmenter, characters where a script has no spaces.

    A text without letters and digits gives its characters.

    Raises:
        MissingExtra: there is Chinese in it, and the extra `zh` is not installed.

    >>> _tokens("The cat's toys"), _tokens("…!")
    (['the', 'cat', 's', 'toys'], ['…', '!'])
    """
    text = half_width(text).lower()
    if _HAN.search(text):
        tokens = [token for word in chinese_words.words(text) for token in _TOKEN.findall(word)]
    else:
        tokens = _TOKEN.findall(text)
    return tokens or [character for character in text if not character.isspace()]


PART = ScorerPart(scorer=rouge, others=(one, two), make=make, options=RougeOptions)
