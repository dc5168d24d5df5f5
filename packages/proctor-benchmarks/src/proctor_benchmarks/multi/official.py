"""The four official scoring functions, the cleaning of predictions, and the rejection phrase.

Source: OpenDFM/MULTI-Benchmark at aa40c5b, `eval/metrics.py`. The oddities are the rule: any ASCII letter may be the
answer, `A、C` is two runs, `或` parts a label even within a word, and identical texts give 0.999999995. Two answer
positions are ours, as the code knows only `start` and `end`: `middle` (letter or run n // 2) and `all` (every letter).
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal, get_args

import msgspec

from proctor.core.errors import BadInput
from proctor_judging.matching import chinese_words
from proctor_judging.matching.rouge_packages import chinese_l, chinese_tokens

Position = Literal["start", "end", "middle", "all"]
POSITIONS: tuple[Position, ...] = get_args(Position)
REJECTION = "缺少图片信息"
OFFICIAL_POINTS = {"SI": 8540, "MI": 255}  # of the whole data set, by which the original divides rejections

_LETTER = re.compile("[a-zA-Z]")
_RUN = re.compile("[a-zA-Z ,]+")  # the official pattern finds the same runs, in quadratic time
_THOUGHT = re.compile(r"Thought，持续 [0-9]+ 秒")
_DELETED = ("Assistant:", "assistant:", "answer:", "答案：", "user\n", "我的分析如下：")
_BOX_OPENS = re.compile(r"\\boxed\\?\{\\text\\?\{")
_BOX_CLOSES = re.compile(r"\\?\}\\?\}")


class Marks(msgspec.Struct, frozen=True):
    """Points of how many."""

    score: float
    total: int


def single(prediction: str, label: str, position: Position = "start") -> Marks:
    """Return the first (or last) ASCII letter must be the label; with `all`, every letter must.

    >>> single("c", "C").score, single("The answer is C", "C").score, single("The answer is C", "C", "end").score
    (1, 0, 1)
    """
    letters = _LETTER.findall(prediction)
    if not letters:
        return Marks(0, 1)
    answer = "".join(_picked(letters, position)).upper()
    return Marks(int("".join(dict.fromkeys(answer)) == label), 1)


def multiple(prediction: str, label: str, position: Position = "start") -> Marks:
    """Return a point for each letter of a run of letters, blanks and commas; one that is not in the label makes all 0.

    >>> multiple("A、C", "AC"), multiple("A, C", "AC").score, multiple("A、C", "AC", "all").score
    (Marks(score=1, total=2), 2, 2)
    """
    runs = [run for run in _RUN.findall(prediction) if _LETTER.search(run)]
    if not runs:
        return Marks(0, len(label))
    answer = "".join(_picked(runs, position)).upper().replace(" ", "").replace(",", "")
    chosen = set(answer)
    return Marks(len(chosen) if all(letter in label for letter in chosen) else 0, len(label))


def blanks(prediction: str, label: str, position: Position = "start") -> Marks:  # noqa: ARG001 - one signature for all
    """Score line by line; a label line with `或` accepts each of its alternatives.

    >>> blanks("5；京", "5\\n北京或京")
    Marks(score=2, total=2)
    """
    text = re.sub(r"\n\n+", "\n", prediction).replace("$", "").replace(" ", "")
    given = text.replace(";", "\n").replace("；", "\n").split("\n")
    expected = label.replace("$", "").replace(" ", "").split("\n")
    return Marks(sum(map(_fits, given, expected)), len(expected))


def discussion(prediction: str, label: str, position: Position = "start") -> Marks:  # noqa: ARG001 - one signature for all
    """Return ROUGE-L of jieba's words, as `rouge_chinese` computes it; 0 of 0 points for an empty label.

    Raises:
        ValueError: one of the texts is white space only; `clean` never leaves such a prediction.
        MissingExtra: the extra `zh` is not installed.
    """
    if not label:
        return Marks(0, 0)
    if not prediction:
        return Marks(0, 1)
    return discussion_of_tokens(chinese_words.words(prediction), chinese_words.words(label))


def discussion_of_tokens(prediction: list[str], label: list[str]) -> Marks:
    """Return ROUGE-L as `discussion` does, from tokens that are cut already.

    >>> discussion_of_tokens(["发展", "经济"], ["发展", "经济"])
    Marks(score=0.999999995, total=1)
    """
    given, expected = chinese_tokens(" ".join(prediction)), chinese_tokens(" ".join(label))
    if not given or not expected:
        raise ValueError("Hypothesis is empty." if not given else "Reference is empty.")
    return Marks(chinese_l(given, expected).f, 1)


Rule = Callable[[str, str, Position], Marks]
RULES: Mapping[str, Rule] = {"单选": single, "多选": multiple, "填空": blanks, "解答": discussion}


def clean(prediction: str) -> str:
    """Return a reply after the official cleaning, which comes before scoring.

    >>> clean("想一想\\n\\n所以这道题的答案为：{AC}"), clean("甲\\n\\n丙"), clean(r"\\boxed{\\text{B}}")
    ('{AC}', '丙', 'B')
    """
    text = prediction.strip().rpartition("\n\n")[2].strip()  # upstream: two line feeds, not a line of whitespace
    text = _THOUGHT.split(text)[-1].strip()
    for mark in ("答案为：", "</think>"):
        text = text.rpartition(mark)[2].strip()
    for noise in _DELETED:
        text = text.replace(noise, "")
    text = text.strip()
    opened = _BOX_OPENS.search(text)
    closed = _BOX_CLOSES.search(text, opened.end() + 1) if opened else None
    return text[opened.end() : closed.start()].strip() if opened and closed else text


def is_rejection(prediction: str) -> bool:
    """True if a cleaned prediction holds the phrase that the prompts ask for when an image is missing."""
    return REJECTION in prediction


def image_class(images: int) -> str:
    """Return NI, SI or MI: no image, a single one, or several.

    >>> image_class(0), image_class(1), image_class(5)
    ('NI', 'SI', 'MI')
    """
    return ("NI", "SI", "MI")[min(images, 2)]


def checked_position(given: str) -> Position:
    """Return an answer position.

    Raises:
        BadInput: none has that name.
    """
    for position in POSITIONS:
        if position == given:
            return position
    raise BadInput("The answer position is one of {known}, not '{given}'.", known=", ".join(POSITIONS), given=given)


def _picked(found: list[str], position: Position) -> list[str]:
    match checked_position(position):
        case "start":
            return found[:1]
        case "end":
            return found[-1:]
        case "middle":
            return [found[len(found) // 2]]
        case "all":
            return found


def _fits(made: str, expected: str) -> bool:
    made, expected = made.strip(), expected.strip()
    if made == expected:
        return True
    alternatives = [part.strip() for part in expected.split("或")]
    return len(alternatives) > 1 and made in alternatives
