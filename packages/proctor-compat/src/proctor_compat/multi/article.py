"""The article's further assertions: conversations, meaning, facts, logic, images, thresholds, several measures.

The article sketches them around functions that it does not show; what those do here is in their docstrings. All
give (score, total), and `args` may be any object with the options named, or None. A label without content is 0 of 0.
"""

from collections.abc import Sequence
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers.lookup import find_scorer
from proctor_compat.multi import adaptive
from proctor_compat.multi.functions import evaluate_question
from proctor_compat.multi.statements import contradicts_none, stated_share, structure_f1
from proctor_compat.multi.statements import word_similarity as basic_similarity

Marks = tuple[float, float]
IMAGE_WEIGHT, TEXT_WEIGHT = 0.6, 0.4

_BONUS = 0.1
_MEASURES = {"bleu": ("解答", "翻译"), "rouge": ("解答", "摘要"), "token_embedding_f1": ("解答", "改写")}


def check_consistency(replies: Sequence[str]) -> float:
    """Return 0 when a clause of the last reply denies one of an earlier reply, else 1.

    >>> check_consistency(["水在标准大气压下100度沸腾。", "水在标准大气压下100度不沸腾。"])
    0.0
    """
    return float(not replies or contradicts_none(replies[-1], replies[:-1]))


def multi_turn_assertion(
    conversation_history: Sequence[str], expected_responses: Sequence[str], args: object = None
) -> Marks:
    """Score every turn by the function of `args.question_type`, with a bonus for consistency from the second turn on.

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


class CustomMetrics:
    """The three measures that the article adds."""

    @staticmethod
    def semantic_similarity(pred: str, label: str) -> Marks:
        """Return the cosine similarity by the packaged sentence encoder.

        Raises:
            MissingExtra: the extra `semantic` is not installed.
        """
        return _by("semantic", pred, label)

    @staticmethod
    def factual_accuracy(pred: str, label: str) -> Marks:
        """Return the share of the label's statements that the prediction makes too; see `stated_share`.

        >>> CustomMetrics.factual_accuracy("光合作用发生在叶绿体中", "光合作用发生在叶绿体中，需要光")
        (0.5, 1.0)
        """
        share = stated_share(pred, label)
        return (0.0, 0.0) if share is None else (share, 1.0)

    @staticmethod
    def logical_consistency(pred: str, label: str) -> Marks:
        """Return the overlap of the reasoning words of both texts; see `structure_f1`.

        >>> CustomMetrics.logical_consistency("因为下雨，所以地湿", "由于下雨，因此地面潮湿")
        (1.0, 1.0)
        """
        return (structure_f1(pred, label), 1.0) if label.strip() else (0.0, 0.0)


def image_text_assertion(pred_text: str, image_path: str, expected_description: str, args: object = None) -> Marks:
    """Return 0.6 of how well text and image fit plus 0.4 of how near the text is to the expected description.

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
        """Return (similarity or 0, 1); `args.similarity` is a function (pred, label) that replaces `basic_similarity`."""
        similarity = float((getattr(args, "similarity", None) or basic_similarity)(pred, label))
        threshold = self.calculate_adaptive_threshold(question_type)
        score = similarity if similarity >= threshold else 0.0
        self.update_performance_history(similarity, score > 0, question_type)
        return score, 1.0

    def calculate_adaptive_threshold(self, question_type: str) -> float:
        """Return the threshold for the next answer of a type."""
        return self._followed(question_type).now()

    def update_performance_history(self, similarity: float, passed: bool, question_type: str = "") -> None:
        """Add an answer to the history that sets the threshold of its type."""
        self.performance_history.append(similarity)
        self.threshold_history.append(self._followed(question_type).after(similarity))

    def _followed(self, question_type: str) -> adaptive.Threshold:
        return self._threshold_by_type.setdefault(question_type, adaptive.Threshold(adaptive.AdaptiveOptions()))


def integrated_evaluation(pred: str, label: str, question_type: str, args: object = None) -> Marks:  # noqa: ARG001 - as there
    """Return the mean of BLEU (解答, 翻译), ROUGE-L (解答, 摘要) and an F1 of embedded words (解答, 改写); else `basic_similarity`.

    The last is in place of BERTScore in the article, by another encoder. Chinese is cut into words for all of them.

    Raises:
        MissingExtra: a measure needs `text`, `zh` or `semantic`; leaving it out would make another number.
    """
    if not label.strip():
        return 0.0, 0.0
    scores = [_by(name, pred, label)[0] for name, types in _MEASURES.items() if question_type in types]
    return sum(scores) / len(scores) if scores else basic_similarity(pred, label), 1.0


def _by(scorer: str, pred: str, label: str) -> Marks:
    result = find_scorer(scorer)(Sample.ask("", "", target=label), Trajectory.of(pred))
    assert isinstance(result, Score | Unscored)
    return (result.value, 1.0) if isinstance(result, Score) else (0.0, 0.0)
