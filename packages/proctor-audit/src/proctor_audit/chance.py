"""Say what guessing earns, and whether something earns clearly more."""

from collections.abc import Sequence

from proctor.core.sample import Sample
from proctor.stats.rate import wilson
from proctor_audit.wording import options_of

LEAST_SAMPLES = 12
ABOVE = 0.3


def chance(samples: Sequence[Sample]) -> float:
    """Return the share that guessing among the options earns; 0 without options."""
    options = [len(options_of(sample)) for sample in samples]
    return sum(1 / count for count in options if count) / len(samples) if samples else 0.0


def is_above_chance(passed: int, count: int, by_chance: float) -> bool:
    """True if the lower end of the Wilson interval is more than 30 points above chance."""
    return count >= LEAST_SAMPLES and wilson(passed / count, count).low > by_chance + ABOVE
