"""Answer without reading a meaning: one constant for all samples, or a rule."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.stats.rate import wilson
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import unearned_attempt
from proctor_audit.wording import constants, expects_abstention, options_of, question_of

NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")
QUOTED = re.compile(r"[\"“”'‘’「『《]([^\"“”'‘’「」『』《》]{1,60})[\"“”'‘’」』》]")
WORDS = re.compile(r"[\w-]+")
LEAST_SAMPLES = 12
SHARE = 0.8
ABOVE = 0.3
PROBED = 30  # samples after which an answer that passes few of them is given up
LEAST_SHARE = 0.4


@check(group="A1", cls="likely", needs=("scorer",), title=say("One constant answer passes nearly all samples."))
def constant_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the best constant that passes at least 80 % of twelve samples or more, and far more than chance."""
    samples = _with_answer(audit)
    if len(samples) < LEAST_SAMPLES:
        return
    tried = [(_passed(audit, [(sample, text) for sample in samples]), text) for text in constants(samples)]
    passed, text = max(tried, key=lambda each: (len(each[0]), each[1]))
    if len(passed) >= SHARE * len(samples) and _is_above_chance(len(passed), samples):
        yield audit.found(
            say(
                "the answer {answer} passes {count} of {all} samples, whatever is asked",
                answer=repr(text),
                count=len(passed),
                all=len(samples),
            ),
            scope="set",
            witness={"constant": text, "attempts": passed},
        )


@check(
    group="A2", cls="likely", needs=("scorer",), title=say("A rule that reads no meaning passes far more than chance.")
)
def shortcut_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the rule that passes most, of those that beat chance by 30 points; not one that the samples declare."""
    samples = _with_answer(audit)
    tried = []
    for name, rule in SHORTCUTS.items():
        undeclared = [sample for sample in samples if name not in (sample.meta.get("shortcuts") or ())]
        answers = [(sample, text) for sample in undeclared if (text := rule(sample)) is not None]
        if len(answers) >= max(LEAST_SAMPLES, len(samples) // 2):
            passed = _passed(audit, answers)
            if _is_above_chance(len(passed), samples):
                tried.append((len(passed), name, passed))
    for count, name, passed in sorted(tried, reverse=True)[:1]:
        yield audit.found(
            say("the rule {rule} passes {count} of {all} samples", rule=name, count=count, all=len(samples)),
            scope="set",
            witness={"rule": name, "attempts": passed},
        )


def _with_answer(audit: Audit) -> Sequence[Sample]:
    return [sample for sample in audit.by_text if not expects_abstention(sample)]


def _passed(audit: Audit, answers: Sequence[tuple[Sample, str]]) -> list[dict[str, Any]]:
    """Return the attempts that passed, one answer to each sample; none for answers of which few of the first ones pass."""
    passed: list[dict[str, Any]] = []
    for index, (sample, text) in enumerate(answers):
        if index == PROBED and len(passed) < LEAST_SHARE * PROBED:
            return []
        witness = unearned_attempt(audit, sample, text)
        passed += [witness] if witness is not None else []
    return passed


def _is_above_chance(passed: int, samples: Sequence[Sample]) -> bool:
    """True if the lower end of the Wilson interval is more than 30 points above what guessing among the options earns."""
    options = [len(options_of(sample)) for sample in samples]
    by_chance = sum(1 / count for count in options if count) / max(len(samples), 1)
    return len(samples) >= LEAST_SAMPLES and wilson(passed / len(samples), len(samples)).low > by_chance + ABOVE


def _numbers(sample: Sample) -> list[str]:
    return [] if options_of(sample) else NUMBER.findall(question_of(sample))


def _largest_number(sample: Sample) -> str | None:
    return max(_numbers(sample), key=lambda text: float(text.replace(",", "")), default=None)


def _only_number(sample: Sample) -> str | None:
    numbers = _numbers(sample)
    return numbers[0] if len(numbers) == 1 else None


def _last_word(sample: Sample) -> str | None:
    return None if options_of(sample) else next(reversed(WORDS.findall(question_of(sample))), None)


def _quoted(sample: Sample) -> str | None:
    match = None if options_of(sample) else QUOTED.search(question_of(sample))
    return None if match is None else match[1]


def _option_by(length: Callable[[Sequence[int]], int]) -> Callable[[Sample], str | None]:
    def choose(sample: Sample) -> str | None:
        letters = {letter: len(text) for letter, text in options_of(sample).items()}
        wanted = length([*letters.values()]) if letters else -1
        fitting = [letter for letter, characters in letters.items() if characters == wanted]
        return fitting[0] if len(fitting) == 1 else None

    return choose


# each returns None where it does not apply
SHORTCUTS: Mapping[str, Callable[[Sample], str | None]] = {
    "largest-number": _largest_number,
    "last-number": lambda sample: next(reversed(_numbers(sample)), None),
    "only-number": _only_number,
    "last-word": _last_word,
    "quoted-text": _quoted,
    "longest-option": _option_by(max),
    "shortest-option": _option_by(min),
    "first-option": lambda sample: next(iter(options_of(sample)), None),
}
