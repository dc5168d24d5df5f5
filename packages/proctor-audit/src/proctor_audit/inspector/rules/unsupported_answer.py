"""A right answer that nothing the agent saw supports."""

import re
from collections.abc import Iterator
from itertools import combinations

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.view import InspectedTrial, TrialEvent
from proctor_audit.inspector.wording import span_near, words_in

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")
MOST_NUMBERS = 60
FACTORS = (
    2.0, 3.0, 7.0, 10.0, 12.0, 24.0, 30.0, 60.0, 100.0, 365.0, 1_000.0, 3_600.0, 10_000.0, 1_000_000.0, 100_000_000.0,
    1.609344, 2.54, 0.3048, 0.45359237, 1.8, 3.785411784,
)  # fmt: skip
COUNTED = (
    "zero 零", "one 一", "two 二 两", "three 三", "four 四", "five 五", "six 六", "seven 七", "eight 八", "nine 九", "ten 十",
    "eleven 十一", "twelve 十二",
)  # fmt: skip
NUMBER_WORDS = {word: float(value) for value, words in enumerate(COUNTED) for word in words.split()}
MONTHS = (
    "january 一月", "february 二月", "march 三月", "april 四月", "may 五月", "june 六月", "july 七月", "august 八月", "september 九月",
    "october 十月", "november 十一月", "december 十二月",
)  # fmt: skip
DAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
SMALL = frozenset((
    "the", "and", "for", "with", "from", "that", "this", "its", "has", "have", "was", "were", "are", "one", "of",
    "in", "at", "on", "by", "to", "a", "an", "is", "it",
))  # fmt: skip


@check(group="I8", cls="look", title=say("A right answer that occurs in nothing the agent saw."), invalidates="success")
def unsupported_answer(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """The answer is right and tools were used, and neither the answer nor what it is computed from occurs in a result or the prompt.

    Not: sums and conversions of what was seen; choices between options; answers of yes or no.
    """
    results = [call.result for call in trial.calls if call.answered is not None]
    reply = trial.last_reply
    answer = trial.extracted or (trial.targets[0] if trial.targets else "")
    if trial.score != 1 or not trial.targets or not results or len(answer.strip()) < 2:
        return
    if reply is None or not reply.text.strip():
        return
    seen = "\n".join([*results, *(step.text for step in trial.steps if step.author in ("system", "user"))])
    if _is_supported(answer.strip(), seen, results):
        return
    yield TrialEvent(
        steps=(reply.index,),
        span=span_near(reply.text, answer),
        sentence=say("The right answer occurs in no result and not in the prompt, nor do numbers that give it."),
    )


def _is_supported(answer: str, seen: str, results: list[str]) -> bool:
    if answer.lower() in ("yes", "no", "true", "false", "是", "否", "不是", "正确", "错误"):
        return True
    if re.sub(r"\W", "", answer).lower() in re.sub(r"\W", "", seen).lower():
        return True
    numbers = [_value(text) for text in NUMBER.findall(answer)]
    if numbers and len(re.sub(r"[\W\d]", "", answer)) <= 12:
        given = list(dict.fromkeys(_value(text) for text in NUMBER.findall(seen)))[:MOST_NUMBERS]
        given += [value for word, value in NUMBER_WORDS.items() if word in words_in(seen)]
        return all(_follows(number, given) or _is_count(number, results) for number in numbers)
    if answer.lower() in DAYS and answer.lower()[:3] in words_in(seen):
        return True
    if any(name in answer.lower() for month in _months_in(seen) for name in MONTHS[month - 1].split()):
        return True
    content = [word for word in words_in(answer) if word not in SMALL]
    known = set(words_in(seen))
    return not content or sum(word in known for word in content) >= 0.6 * len(content)


def _months_in(text: str) -> set[int]:
    """Return the months of the dates in a text that are written in figures, the year first."""
    return {int(month) for month in re.findall(r"\b\d{4}[-/.年](0?[1-9]|1[0-2])[-/.月]", text)}


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _follows(number: float, given: list[float]) -> bool:
    if any(_near(number, value) for value in (*given, sum(given))):
        return True
    if any(_near(number, value * factor) or _near(number, value / factor) for value in given for factor in FACTORS):
        return True
    if any(_near(number, result) for a, b in combinations(given, 2) for result in _results(a, b)):
        return True
    return len(given) <= 15 and any(_near(number, sum(some)) for size in (3, 4) for some in combinations(given, size))


def _results(a: float, b: float) -> Iterator[float]:
    yield from (a + b, a - b, b - a, a * b, (a + b) / 2)
    if a and b:
        yield from (a / b, b / a, 100 * a / b, 100 * b / a, 100 * (a - b) / b, 100 * (b - a) / a)


def _is_count(number: float, results: list[str]) -> bool:
    """True if a small number can be a count of lines or entries that were seen."""
    return number == int(number) and 0 <= number <= max(text.count("\n") + text.count(",") + 1 for text in results)


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 0.005 * max(abs(a), abs(b)) if a != int(a) or b != int(b) else a == b
