"""The functions of `metrics.py` by the names of the original, and the registry of functions by question type."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from proctor_benchmarks.multi import official
from proctor_judging.scorers.refusal_model import refusal_in

Marks = tuple[float, float]


def SingleAnswerChoiceEval(pred: str, label: str, args: object = None) -> Marks:  # noqa: N802 - a name of the original
    """Return (score, total) of a single choice; `args.answer_position` is start, end, middle or all."""
    return _marks(official.single(pred or "", label, _position(args)))


def MultipleAnswersChoiceEval(pred: str, label: str, args: object = None) -> Marks:  # noqa: N802 - a name of the original
    """Return (score, total) of a multiple choice."""
    return _marks(official.multiple(pred or "", label, _position(args)))


def FillInTheBlankEval(pred: str, label: str, args: object = None) -> Marks:  # noqa: N802, ARG001 - as in the original
    """Return (score, total) of fill-in blanks, compared line by line."""
    return _marks(official.blanks(pred or "", label))


def OpenendQuestionEval(pred: str, label: str, args: object = None) -> Marks:  # noqa: N802, ARG001 - as in the original
    """Return (score, total) of a discussion, by ROUGE-L over jieba's words.

    Raises:
        ValueError: a text is white space only, as in the original.
        MissingExtra: the extra `zh` is not installed.
    """
    return _marks(official.discussion(pred or "", label))


EvaluateFuncDict: dict[str, Callable[..., Any]] = {
    "单选": SingleAnswerChoiceEval,
    "多选": MultipleAnswersChoiceEval,
    "填空": FillInTheBlankEval,
    "解答": OpenendQuestionEval,
}


def evaluate_question(question_type: str, pred: str, label: str, args: object = None) -> tuple[float, float, float]:
    """Return (score, total, improvement) by the registered function of a type, which may return two or three values.

    A function with a fourth argument `config` gets `args.config`, else an empty one. An unknown type is 0 of 0; whoever
    counts must say so.
    """
    function = EvaluateFuncDict.get(question_type)
    if function is None:
        return 0, 0, 0
    more_arguments = [getattr(args, "config", None) or {}] if _takes_config(function) else []
    score, total, *more = function(pred, label, args, *more_arguments)
    return score, total, more[0] if more else 0


REJECTIONS = ("缺少图片信息", "无法回答", "信息不足", "需要更多信息")  # the article's, wherever they are in a reply


def check_rejection(pred: str, extended: bool = False) -> bool:
    """True if a reply holds one of the article's four phrases; `extended` knows other refusals too, English ones among them.

    Official scoring asks `official.is_rejection`, which knows the first phrase only.
    """
    return any(phrase in pred for phrase in REJECTIONS) or (extended and refusal_in(pred) is not None)


def position_sensitive_extraction(text: str, position: str = "end") -> str | list[str] | None:
    """Return the letter at the start, end or middle (n // 2) of all letters, or all of them; None when there is none.

    >>> position_sensitive_extraction("a b c", "middle"), position_sensitive_extraction("ab", "all")
    ('B', ['A', 'B'])
    """
    letters: list[str] = [letter.upper() for letter in re.findall("[a-zA-Z]", text)]
    if not letters:
        return None
    if position == "all":
        return letters
    return letters[{"start": 0, "middle": len(letters) // 2}.get(position, -1)]


def reference_comparison_assertion(
    prediction: str, label: str, reference_answer: str, args: object = None, question_type: str | None = None
) -> tuple[float, float, float]:
    """Return (score, total, improvement); the improvement is how much better the reference did, at least 0.

    The type is `question_type`, else `args.question_type`, else single choice.
    """
    kind = str(question_type or getattr(args, "question_type", "单选"))
    score, total, _ = evaluate_question(kind, prediction, label, args)
    reference, _, _ = evaluate_question(kind, reference_answer, label, args)
    return score, total, max(0, reference - score)


def _takes_config(function: Callable[..., object]) -> bool:
    try:
        parameter = inspect.signature(function).parameters.get("config")
    except (TypeError, ValueError):  # a callable that does not say
        return False
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _position(args: object) -> official.Position:
    return official.checked_position(getattr(args, "answer_position", None) or "start")


def _marks(marks: official.Marks) -> Marks:
    return marks.score, marks.total
