"""Other forms of a target: those that mean the same, and those that do not."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.core.sample import Sample, ToolCall
from proctor_audit.answers import AuditAnswer
from proctor_audit.calls import gold_calls, tools_of
from proctor_audit.wording import options_of, targets_of, text_of_target

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
WRITTEN_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
NEGATION = re.compile(r"\b(?:not|no|never|none|non|un\w+|neither|without)\b|n't\b|不|没|无|非|否", re.IGNORECASE)
QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("「", "」"), ("`", "`"))
HAN = re.compile(r"[\u3400-\u9fff]")
LISTED = 10


def single_text(sample: Sample) -> str | None:
    """Return the target of a sample that expects one text or number and offers no options; else None."""
    targets = targets_of(sample)
    if options_of(sample) or gold_calls(sample) or len(targets) != 1 or isinstance(targets[0], dict | list | bool):
        return None
    text = text_of_target(targets[0]).strip()
    return text if text and text[0] not in "[{" else None


def is_number(text: str) -> bool:
    """True if a text is a number and nothing else, perhaps with separators."""
    return WRITTEN_NUMBER.fullmatch(text) is not None


def canonical(text: str) -> str:
    """Return the plain form of a target: a number without separators and trailing zeros, a text without full stop and quotes.

    >>> canonical("140.0"), canonical("1,200.50"), canonical('"Paris."'), canonical("007"), canonical("U.S.A."), canonical("杭州。")
    ('140', '1200.5', 'Paris', '007', 'U.S.A.', '杭州')
    """
    if is_number(text):
        plain = text.replace(",", "").lstrip("+")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    for left, right in QUOTES:
        if len(text) > 2 and text.startswith(left) and text.endswith(right) and left not in text[1:-1]:
            text = text[1:-1].strip()
    is_sentence = text.endswith(("。", ".")) and text.count(".") + text.count("。") == 1
    is_short = len(text) <= (1 if text.endswith("。") else 3)  # "St." is no sentence
    return text[:-1] if is_sentence and not is_short else text


def other_number_forms(value: object, *, both_ways: bool = False) -> object:
    """Return JSON with each whole float as an integer; with `both_ways` also each integer as a float."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, int) and both_ways and abs(value) < 2**53:
        return float(value)
    if isinstance(value, Mapping):
        return {key: other_number_forms(each, both_ways=both_ways) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [other_number_forms(each, both_ways=both_ways) for each in value]
    return value


def calls_answer(calls: Sequence[tuple[str, Mapping[str, object]]]) -> AuditAnswer:
    """Return an answer that makes calls."""
    return AuditAnswer(
        calls=tuple(
            ToolCall(name=name, arguments=arguments, id=f"call_{n}") for n, (name, arguments) in enumerate(calls)
        )
    )


def plain_calls(sample: Sample) -> list[tuple[str, Mapping[str, object]]] | None:
    """Return the expected calls with their first accepted values; None where there are none, a matcher compares them, or there are several turns."""
    calls = gold_calls(sample)
    if not calls or len(sample.turns) > 1 or not tools_of(sample) or any(call.matched for call in calls):
        return None
    return [(call.name, call.first) for call in calls]


def structured_target(sample: Sample) -> object:
    """Return a target that is JSON, or JSON in a text; None for anything else."""
    if isinstance(sample.target, dict):
        return sample.target
    if isinstance(sample.target, str) and sample.target.strip()[:1] in ("{", "["):
        try:
            return json.loads(sample.target)
        except (ValueError, RecursionError):
            return None
    return None


def opposites(sample: Sample) -> Iterator[AuditAnswer]:
    """Yield answers that contradict the target, by its type; none for numbers, which have neighbours instead."""
    options, text, calls = options_of(sample), single_text(sample), plain_calls(sample)
    value = structured_target(sample)
    if options:
        wrong = [letter for letter in options if letter not in str(sample.target)]
        yield from (AuditAnswer(text=letter) for letter in wrong[:1])
    elif text is not None and not is_number(text) and not NEGATION.search(text):
        if text.casefold() not in ("yes", "no", "true", "false"):
            said = [f"不是{text}"] if HAN.search(text) else [f"not {text}", f"It is not {text}."]
            yield from (AuditAnswer(text=each) for each in said)
    elif calls is not None:
        name, arguments = calls[0]
        if arguments:
            yield calls_answer([(name, next(_changed(arguments))), *calls[1:]])
        yield calls_answer(calls[1:])
    elif isinstance(value, dict) and value:
        yield from (AuditAnswer(text=json.dumps(changed, ensure_ascii=False)) for changed in _changed(value))


def _changed(value: Mapping[str, object]) -> Iterator[Mapping[str, Any]]:
    """Yield an object with its first value changed, and without its first key."""
    key = next(iter(value))
    yield {**value, key: _other(value[key])}
    if len(value) > 1:
        yield {name: each for name, each in value.items() if name != key}


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x" if value else "x"
    return None


def near_numbers(text: str) -> list[str]:
    """Return numbers next to a number: one more and one less of integers above 2, and five per cent more."""
    if not is_number(text):
        return []
    value = float(text.replace(",", ""))
    around = [f"{int(value) + step}" for step in (1, -1)] if value.is_integer() and value > 2 else []
    return [*around, f"{value * 1.05:.6g}"] if value else around


def hedges(text: str, others: Sequence[str]) -> list[str]:
    """Return answers that hide a target among others: a list of ten others with it, and for texts "T or U".

    Of two numbers a scorer that reads the first or the last one takes one by design.
    """
    hidden = [*others[: LISTED // 2], text, *others[LISTED // 2 : LISTED]]
    if is_number(text):
        return [", ".join(hidden)] if len(hidden) > LISTED // 2 + 1 else []
    return [", ".join(hidden), f"{text} or {others[0]}", f"{others[0]} or {text}"]
