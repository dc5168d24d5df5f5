"""Compare keys of questions with their options: keys that are none, right options that occur twice, and letters that are right too often."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import comb

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import fold, is_empty_target, options_of, targets_of, text_of_target

LEAST_SAMPLES = 20
LEVEL = 0.001
SET_CHECKS = 5  # that are corrected together
GAIN = 0.15


@check(group="A4", cls="proved", title=say("The text of the right option occurs twice."))
def duplicate_options(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose right option has a twin with another letter; case counts, as in mg and Mg."""
    for sample in audit.samples:
        options = options_of(sample)
        texts = {letter: fold(text) for letter, text in options.items()}
        right = {letter for target in targets_of(sample) for letter in _letters_of(text_of_target(target), texts)}
        right_texts = {texts[letter] for letter in right}
        twins = sorted(letter for letter in texts if letter not in right and texts[letter] in right_texts)
        if twins:
            shown, letters = repr(options[min(right)]), ", ".join(twins)
            yield audit.found(
                say("the right option {text} is there again as {letters}", text=shown, letters=letters),
                sample,
                witness={"options": options, "target": sample.target},
            )


@check(group="A4", cls="proved", title=say("The key is none of the options."))
def target_not_option(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples with options of which the target is neither letters nor a text; likely where a scorer of the user may read it otherwise."""
    for sample in audit.samples:
        options = options_of(sample)
        if not options or is_empty_target(sample.target):
            continue
        texts = {letter: fold(text) for letter, text in options.items()}
        for target in map(text_of_target, targets_of(sample)):
            if not _is_of_letters(target, texts) and fold(target) not in texts.values():
                shown, letters = repr(target), ", ".join(options)
                yield audit.found(
                    say("the target {target} is none of the options {letters}", target=shown, letters=letters),
                    sample,
                    cls=None if audit.request is None else "likely",
                    witness={"options": options, "target": sample.target},
                )
                break


@check(group="A8", cls="likely", title=say("One letter is right so often that it beats chance."))
def letters_unbalanced(audit: Audit) -> Iterator[AuditFinding]:
    """Yield the letter that is right far more often than chance allows, of samples with the same count of options."""
    keys: dict[int, list[str]] = {}
    for sample in audit.samples:
        options = options_of(sample)
        if isinstance(sample.target, str) and sample.target in options:
            keys.setdefault(len(options), []).append(sample.target)
    for count, letters in sorted(keys.items()):
        [(letter, most)] = sorted(Counter(letters).items(), key=lambda item: (-item[1], item[0]))[:1]
        share = most / len(letters)
        p = count * _at_least(most, len(letters), 1 / count)
        if len(letters) >= LEAST_SAMPLES and SET_CHECKS * p < LEVEL and share >= 1 / count + GAIN:
            yield audit.found(
                say(
                    "{letter} is right in {count} of {all} samples with {options} options",
                    letter=letter,
                    count=most,
                    all=len(letters),
                    options=count,
                ),
                scope="set",
                witness={"letters": dict(sorted(Counter(letters).items())), "p": p},
            )


def _at_least(hits: int, trials: int, chance: float) -> float:
    """Return the probability of that count of hits or a larger one: the largest cell of a multinomial is bounded by the sum over cells."""
    return min(1.0, sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(hits, trials + 1)))


def _letters_of(target: str, texts: Mapping[str, str]) -> set[str]:
    """Return the options that a target names by their letters, or the first of its text."""
    if _is_of_letters(target, texts):
        return {character for character in target if character.isalnum()}
    return {*[letter for letter, text in texts.items() if text == fold(target)][:1]}


def _is_of_letters(target: str, texts: Mapping[str, str]) -> bool:
    return {character for character in target if character.isalnum()} <= texts.keys()
