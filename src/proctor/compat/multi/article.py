"""The article's further assertions: conversations, meaning, facts, logic, images, thresholds, several measures.

The article sketches them around functions that it does not show; what those do here stands in their docstrings. All
give (score, total), and `args` may be any object with the options named, or None. A label without content is 0 of 0.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from proctor.compat.multi.functions import evaluate_question
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers import adaptive
from proctor.scorers._named import named
from proctor.text_measures.rouge import rouge_l

Marks = tuple[float, float]
IMAGE_WEIGHT, TEXT_WEIGHT = 0.6, 0.4

_BONUS = 0.1
_WORDS, _CLAUSES = 2000, 200
_SHARED = 0.8
_WORD = re.compile(r"[\u4e00-\u9fff]|\d+(?:[.,]\d+)*%?|[^\W\d_]+")
_CLAUSE = re.compile(r"[。！？；，\n!?;]|[.,](?!\d)")
_NOT = re.compile(r"不|没|无|非|未|\b(?:not|no|never|cannot)\b|n't\b", re.IGNORECASE)
_LOGIC: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "reason": r"因为|由于|\b(?:because|since)\b",
        "conclusion": r"所以|因此|故而|从而|\b(?:therefore|thus|hence|so)\b",
        "condition": r"如果|若|假如|只要|只有|\b(?:if|unless)\b",
        "contrast": r"但是|然而|虽然|尽管|\b(?:but|however|although)\b",
        "all": r"所有|一切|任何|\b(?:all|every|any)\b",
        "some": r"有些|部分|某些|\bsome\b",
        "not": _NOT.pattern,
    }.items()
}
_MEASURES = {"bleu": ("解答", "翻译"), "rouge": ("解答", "摘要"), "token_embedding_f1": ("解答", "改写")}


def multi_turn_assertion(
    conversation_history: Sequence[str], expected_responses: Sequence[str], args: object = None
) -> Marks:
    """Every turn by the function of `args.question_type`, and a bonus from the second turn on for what is consistent.

    `args.consistency` is a function of the replies up to a turn (`check_consistency` if there is none), and
    `args.consistency_bonus` (0.1) what its full marks add. The bonus never lifts the score above the maximum, and an
    expected turn that has no reply is worth 0.
    """
    kind = str(getattr(args, "question_type", None) or "单选")
    consistency = getattr(args, "consistency", None) or check_consistency
    bonus = float(getattr(args, "consistency_bonus", _BONUS))
    score = most = 0.0
    for turn, expected in enumerate(expected_responses):
        reply = conversation_history[turn] if turn < len(conversation_history) else ""
        earned, total, _ = evaluate_question(kind, reply, expected, args)
        if turn and reply:
            earned += bonus * min(max(float(consistency(conversation_history[: turn + 1])), 0), 1)
        score, most = score + earned, most + total
    return min(score, most), most


def check_consistency(replies: Sequence[str]) -> float:
    """0 when a clause of the last reply denies one of an earlier reply, else 1: the same words, with and without a 'not'.

    >>> check_consistency(["水在标准大气压下100度沸腾。", "水在标准大气压下100度不沸腾。"])
    0.0
    """
    if not replies:
        return 1.0
    last = _facts(replies[-1])
    earlier = [fact for reply in replies[:-1] for fact in _facts(reply)]
    return float(not any(_same_words(one, other) and one.denied != other.denied for one in last for other in earlier))


class CustomMetrics:
    """The three measures that the article adds."""

    @staticmethod
    def semantic_similarity(pred: str, label: str) -> Marks:
        """Cosine of the packaged sentence encoder.

        Raises:
            MissingExtra: the extra `semantic` is not installed.
        """
        return _by("semantic", pred, label)

    @staticmethod
    def factual_accuracy(pred: str, label: str) -> Marks:
        """The share of the label's facts that the prediction states.

        A fact is a clause. It is stated by a clause with at least 80 % of its words, all of its numbers, and as many
        denials. It is a comparison of words: what is said in other words is not found.

        >>> CustomMetrics.factual_accuracy("光合作用发生在叶绿体中", "光合作用发生在叶绿体中，需要光")
        (0.5, 1.0)
        """
        expected, made = _facts(label), _facts(pred)
        if not expected:
            return 0.0, 0.0
        stated = sum(any(_same_words(one, fact) and one.denied == fact.denied for one in made) for fact in expected)
        return stated / len(expected), 1.0

    @staticmethod
    def logical_consistency(pred: str, label: str) -> Marks:
        """How far both have the same marks of reasoning (because, so, if, but, all, some, not): F1 of their counts.

        It sees words that mark a structure, not whether the reasoning holds. Two texts without any are alike.

        >>> CustomMetrics.logical_consistency("因为下雨，所以地湿", "由于下雨，因此地面潮湿")
        (1.0, 1.0)
        """
        if not label.strip():
            return 0.0, 0.0
        if not pred.strip():
            return 0.0, 1.0
        made, expected = _structure(pred), _structure(label)
        both = made.total() + expected.total()
        return (2 * (made & expected).total() / both if both else 1.0), 1.0


def image_text_assertion(pred_text: str, image_path: str, expected_description: str, args: object = None) -> Marks:
    """0.6 of how well text and image fit, and 0.4 of how near the text is to the expected description.

    `args.multimodal_similarity(pred_text, image_path, expected_description)` gives the first, from 0 to 1: a model of
    yours, because none comes along.

    Raises:
        BadInput: there is no such function, or no such image.
    """
    measure = getattr(args, "multimodal_similarity", None)
    if not callable(measure):
        raise BadInput(
            "Comparing a text with an image needs args.multimodal_similarity, a function (text, image path, description) that gives 0 to 1."
        )
    if not Path(image_path).is_file():
        raise BadInput("There is no file {path}.", path=image_path)
    seen = min(max(float(measure(pred_text, image_path, expected_description)), 0), 1)
    return IMAGE_WEIGHT * seen + TEXT_WEIGHT * basic_similarity(pred_text, expected_description), 1.0


class AdaptiveThresholdAssertion:
    """A similarity that counts only above a threshold, which follows the last ten of its question type.

    0.5 until there are ten; then up by 0.05 (to 0.9) while their mean is above 0.8, down (to 0.3) while it is below
    0.5. The article reads a history that it never writes, and so fails at the eleventh answer.
    """

    def __init__(self) -> None:
        self.performance_history: list[float] = []
        self.threshold_history: list[float] = []
        self._threshold_by_type: dict[str, adaptive.Threshold] = {}

    def adaptive_threshold_eval(self, pred: str, label: str, question_type: str, args: object = None) -> Marks:
        """(similarity or 0, 1); `args.similarity` is a function (pred, label) in place of `basic_similarity`."""
        similarity = float((getattr(args, "similarity", None) or basic_similarity)(pred, label))
        threshold = self.calculate_adaptive_threshold(question_type)
        score = similarity if similarity >= threshold else 0.0
        self.update_performance_history(similarity, score > 0, question_type)
        return score, 1.0

    def calculate_adaptive_threshold(self, question_type: str) -> float:
        """Return the threshold for the next answer of a type."""
        return self._followed(question_type).now()

    def update_performance_history(self, similarity: float, passed: bool, question_type: str = "") -> None:
        """Note an answer, which the threshold of its type follows from then on."""
        self.performance_history.append(similarity)
        self.threshold_history.append(self._followed(question_type).after(similarity))

    def _followed(self, question_type: str) -> adaptive.Threshold:
        return self._threshold_by_type.setdefault(question_type, adaptive.Threshold(adaptive.Options()))


def integrated_evaluation(pred: str, label: str, question_type: str, args: object = None) -> Marks:  # noqa: ARG001 - as there
    """The mean of BLEU (解答, 翻译), ROUGE-L (解答, 摘要) and an F1 of embedded words (解答, 改写); else `basic_similarity`.

    The last stands where the article has BERTScore, by another encoder. Chinese is cut into words for all of them.

    Raises:
        MissingExtra: a measure needs `text`, `zh` or `semantic`; leaving it out would make another number.
    """
    if not label.strip():
        return 0.0, 0.0
    scores = [_by(name, pred, label)[0] for name, types in _MEASURES.items() if question_type in types]
    return sum(scores) / len(scores) if scores else basic_similarity(pred, label), 1.0


def basic_similarity(pred: str, label: str) -> float:
    """F of the longest common subsequence of words; a Chinese character counts as a word.

    >>> basic_similarity("今天天气很好", "今天天气很好"), round(basic_similarity("今天天气很坏", "今天天气很好"), 2)
    (1.0, 0.83)
    """
    return rouge_l(_words(pred), _words(label)).f


class _Fact:
    def __init__(self, clause: str) -> None:
        words = _words(clause)
        self.words = Counter(word for word in words if not _NOT.fullmatch(word))
        self.numbers = {word for word in words if word[0].isdigit()}
        self.denied = len(_NOT.findall(clause)) % 2


def _facts(text: str) -> list[_Fact]:
    clauses = (clause for clause in _CLAUSE.split(text[: _WORDS * 20]) if _WORD.search(clause))
    return [_Fact(clause) for clause in islice(clauses, _CLAUSES)]


def _same_words(one: _Fact, wanted: _Fact) -> bool:
    return one.numbers >= wanted.numbers and (one.words & wanted.words).total() >= _SHARED * wanted.words.total() > 0


def _words(text: str) -> list[str]:
    return [found[0].casefold() for found in islice(_WORD.finditer(text), _WORDS)]


def _structure(text: str) -> Counter[str]:
    return Counter({name: len(pattern.findall(text[: _WORDS * 20])) for name, pattern in _LOGIC.items()})


def _by(scorer: str, pred: str, label: str) -> Marks:
    result = named(scorer)(Sample.ask("", "", target=label), Trajectory.of(pred))
    assert isinstance(result, Score | Unscored)
    return (result.value, 1.0) if isinstance(result, Score) else (0.0, 0.0)
