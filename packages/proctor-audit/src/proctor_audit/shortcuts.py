"""Rules that answer without reading a meaning, by name; each returns None where it does not apply."""

import re
from collections.abc import Callable, Mapping

from proctor.core.sample import Sample
from proctor_audit.wording import options_of, question_of

NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")
QUOTED = re.compile(r"[\"“”'‘’「『《]([^\"“”'‘’「」『』《》]{1,60})[\"“”'‘’」』》]")
WORDS = re.compile(r"[\w-]+")


def _numbers(sample: Sample) -> list[str]:
    return [] if options_of(sample) else NUMBER.findall(question_of(sample))


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _largest_number(sample: Sample) -> str | None:
    numbers = _numbers(sample)
    return max(numbers, key=_value) if numbers else None


def _last_number(sample: Sample) -> str | None:
    numbers = _numbers(sample)
    return numbers[-1] if numbers else None


def _only_number(sample: Sample) -> str | None:
    numbers = _numbers(sample)
    return numbers[0] if len(numbers) == 1 else None


def _last_word(sample: Sample) -> str | None:
    words = [] if options_of(sample) else WORDS.findall(question_of(sample))
    return words[-1] if words else None


def _quoted(sample: Sample) -> str | None:
    match = None if options_of(sample) else QUOTED.search(question_of(sample))
    return None if match is None else match[1]


def _option_by(length: Callable[[list[int]], int]) -> Callable[[Sample], str | None]:
    def choose(sample: Sample) -> str | None:
        options = options_of(sample)
        lengths = [len(text) for text in options.values()]
        wanted = length(lengths) if lengths else -1
        return (
            next((letter for letter, text in options.items() if len(text) == wanted), None)
            if lengths.count(wanted) == 1
            else None
        )

    return choose


def _first_option(sample: Sample) -> str | None:
    return next(iter(options_of(sample)), None)


SHORTCUTS: Mapping[str, Callable[[Sample], str | None]] = {
    "largest-number": _largest_number,
    "last-number": _last_number,
    "only-number": _only_number,
    "last-word": _last_word,
    "quoted-text": _quoted,
    "longest-option": _option_by(max),
    "shortest-option": _option_by(min),
    "first-option": _first_option,
}
