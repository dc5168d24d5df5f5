"""Whether the planned number of samples has the power that was asked for: by simulation, with our own tests and bounds."""

import random
from collections.abc import Callable, Iterator

import msgspec

from bench.figure import Figure
from proctor.core.tally import Case, tally
from proctor.stats.estimate import estimate
from proctor.stats.paired import PairedSample, compare
from proctor.stats.planning import Spread, least_samples, power_to_compare
from proctor_ci.stats.bounds import one_sided
from proctor_ci.stats.passing import power_to_pass

ROUNDS = 1_000
POWER = 0.8
SEED = 15


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What is planned, and one simulated run of so many samples: true if it decided as the truth is."""

    name: str
    power_of: Callable[[int], float]
    decides: Callable[[int, random.Random], bool]


def difference(name: str, rise: float, *, attempts: int = 1, of_baseline: int | None = None) -> Setting:
    """Plan for a difference: rates of 0.1 to 0.4, of which one half rises by nothing and the other by twice `rise`.

    Args:
        name: of the setting.
        rise: the mean difference.
        attempts: at each sample, of both runs.
        of_baseline: attempts of the first run, if it exists already.
    """
    rates = [0.1 + 0.3 * (at + 0.5) / 1_000 for at in range(1_000)]
    risen = [rate + step for rate in rates for step in (0.0, 2 * rise)]
    before, after = (sum(rate * (1 - rate) for rate in each) / len(each) for each in (rates, risen))
    spread = Spread(
        between=rise**2,
        within=after if of_baseline else before + after,
        fixed=before / of_baseline if of_baseline else 0.0,
        is_binary=(of_baseline or 1) == 1,
    )
    counts = (of_baseline or attempts, attempts)

    def decides(count: int, source: random.Random) -> bool:
        pairs = []
        for at in range(count):
            rate = 0.1 + 0.3 * source.random()
            both = (rate, rate + source.choice((0.0, 2 * rise)))
            first, second = (_mean(one, times, source) for one, times in zip(both, counts, strict=True))
            pairs.append(PairedSample(cluster=str(at), first=second, second=first))
        found = compare(pairs, single=max(counts) == 1)
        return found.value > 0 and found.p_value <= 0.05

    return Setting(name=name, power_of=lambda count: power_to_compare(count, attempts, spread, rise), decides=decides)


def threshold(name: str, shape: tuple[float, float], limit: float, *, attempts: int = 1, cluster: int = 1) -> Setting:
    """Plan for a threshold: rates of a beta distribution, that of each cluster being one."""
    a, b = shape
    value, between = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    spread = Spread(between=cluster * between, within=value * (1 - value) - between, clusters=1 / cluster)

    def decides(count: int, source: random.Random) -> bool:
        cases = []
        rates = [source.betavariate(a, b) for _ in range(0, count, cluster)]
        for at in range(count):
            rate = rates[at // cluster]
            values = tuple(float(source.random() < rate) for _ in range(attempts))
            cases.append(Case(cluster=str(at // cluster), values=values, planned=attempts))
        bounds = one_sided(estimate("", tally(cases)), 0.05)
        return bounds is not None and bounds.low >= limit

    return Setting(
        name=name, power_of=lambda count: power_to_pass(count, attempts, spread, limit, value), decides=decides
    )


SETTINGS = (
    difference("10 points, one attempt", 0.1),
    difference("20 points, one attempt", 0.2),
    difference("5 points, one attempt", 0.05),
    difference("25 points, three attempts", 0.25, attempts=3),
    difference("10 points, three attempts", 0.1, attempts=3),
    difference("10 points, a baseline of four attempts, then one", 0.1, of_baseline=4),
    threshold("0.9 against 0.8, one attempt", (9, 1), 0.8),
    threshold("0.95 against 0.9, one attempt", (19, 1), 0.9),
    threshold("0.5 against 0.4, three attempts", (2, 2), 0.4, attempts=3),
    threshold("0.9 against 0.85, three attempts", (4.5, 0.5), 0.85, attempts=3),
    threshold("0.6 against 0.5, clusters of five", (3, 2), 0.5, cluster=5),
)


def power(setting: Setting, *, rounds: int, seed: int = SEED) -> float:
    """Return how often a run of the planned size decides."""
    count = least_samples(setting.power_of, POWER)
    assert count is not None
    source = random.Random(f"{seed} {setting.name}")
    return sum(setting.decides(count, source) for _ in range(rounds)) / rounds


def measure() -> Iterator[Figure]:
    """Power of the planned number of samples, where 80 % were asked for."""
    for setting in SETTINGS:
        count = least_samples(setting.power_of, POWER)
        what = f"power of the {count:,} samples planned for {setting.name}"
        yield Figure(what=what, value=100 * power(setting, rounds=ROUNDS), unit="%", at_least=74, at_most=86)


def _mean(rate: float, attempts: int, source: random.Random) -> float:
    return sum(source.random() < rate for _ in range(attempts)) / attempts
