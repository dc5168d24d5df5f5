"""Test whether one letter is right far too often."""

from collections import Counter
from collections.abc import Iterator
from math import comb

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import options_of

LEAST_SAMPLES = 20
LEVEL = 0.001
SET_CHECKS = 5  # that are corrected together
GAIN = 0.15


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
