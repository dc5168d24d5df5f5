"""How often decisions are wrong, how many calls they save, and how much power they keep: by simulation of whole suites.

Each suite is drawn where good just ends, where an error is most likely; what is futile goes on, so that it hides no error.
Suites are computed many at a time; the first few of each kind are checked against `proctor.stats` itself.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import msgspec
import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from bench.figure import Figure
from proctor.engine.order import shuffle, visits
from proctor.stats.anytime import BETS, STAKES
from proctor.stats.distributions import beta_quantile
from proctor_ci.stats import looks as looking
from proctor_ci.stats.looks import LooksQuestion, looks

Numbers = np.ndarray[Any, np.dtype[np.float64]]
SUITES = 10_000
AT_ONCE = 500
CHECKED = 3
ROUNDING = 1e-9
ERROR = 0.05
MOST = ERROR + 0.005
STRATA = {
    "easy": (0.5, 0.2),
    "usual": (0.3, 0.0),
    "hard": (0.2, -0.5),
}  # share, and by how much of 1 - rate its rate is apart


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """Steps of suites, shape (suites, steps): their samples, and the sums over these of what was earned, or won and lost."""

    weight: Numbers
    up: Numbers
    down: Numbers

    @property
    def value(self) -> Numbers:
        """Return the mean of each step."""
        return (self.up - self.down) / self.weight

    def first(self, steps: int) -> "Drawn":
        """Return the first steps of each suite."""
        return Drawn(weight=self.weight[:, :steps], up=self.up[:, :steps], down=self.down[:, :steps])


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of suites: how they are drawn, and their true mean."""

    name: str
    draw: Callable[[np.random.Generator, int, int], Drawn]
    truth: float
    paired: bool = False
    binary: bool = False
    heaviest: int = 1

    @property
    def is_count(self) -> bool:
        """True if its steps are single 0/1 values."""
        return self.binary and not self.paired


def shares(rate: float) -> list[Kind]:
    """Return the kinds of suites for one run."""
    by_size = {size: rate - (1 - rate) * (size == 8) for size in (1, 2, 4, 8)}  # the largest clusters are harder
    in_strata = sum(share * (rate + apart * (1 - rate)) for share, apart in STRATA.values())
    of_clusters = sum(size * mean for size, mean in by_size.items()) / sum(by_size)
    return [
        Kind(name=f"binary {rate}", draw=partial(_binary, rate), truth=rate, binary=True),
        Kind(name=f"partial credit {rate}", draw=partial(_points, rate), truth=rate + (1 - rate) / 4),
        Kind(name=f"attempts {rate}", draw=partial(_attempts, rate), truth=rate),
        Kind(name=f"clusters {rate}", draw=partial(_clusters, by_size), truth=of_clusters, heaviest=8),
        Kind(name=f"stratified {rate}", draw=partial(_strata, rate), truth=in_strata, binary=True),
    ]


def differences(lost: float) -> list[Kind]:
    """Return the kinds of suites for a run and its baseline, of whose points it lost a share."""
    clusters = partial(_worse, lost, 1, (1, 2, 4, 8))
    pair = partial(Kind, paired=True)
    return [
        pair(name=f"pairs, binary {lost}", draw=partial(_pairs, lost / 3, lost), truth=-lost * 2 / 3, binary=True),
        pair(name=f"pairs, partial credit {lost}", draw=partial(_cut, lost), truth=-lost * 0.45),
        pair(name=f"pairs, attempts {lost}", draw=partial(_worse, lost, 4, (1,)), truth=-0.8 * lost),
        pair(name=f"pairs, clusters {lost}", draw=clusters, truth=-0.8 * lost, heaviest=8),
        pair(
            name=f"pairs, stratified {lost}",
            draw=partial(_pairs_in_strata, lost / 3, lost),
            truth=-lost / 3,
            binary=True,
        ),
    ]


def whole(sizes: Sequence[int], lost: float, *, paired: bool = False) -> Kind:
    """Return suites of clusters of these sizes in turn, of which a share is lost as a whole."""
    named = f"{'pairs, ' if paired else ''}whole clusters {list(sizes)} {lost}"
    draw = partial(_whole, tuple(sizes), lost, paired)
    return Kind(name=named, draw=draw, truth=-lost if paired else 1 - lost, paired=paired, heaviest=max(sizes))


def _single(earned: np.ndarray[Any, Any], lost: np.ndarray[Any, Any] | None = None) -> Drawn:
    earned = earned.astype(float)
    return Drawn(
        weight=np.ones_like(earned), up=earned, down=np.zeros_like(earned) if lost is None else lost.astype(float)
    )


def _binary(rate: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    return _single(source.random((suites, steps)) < rate)


def _points(full: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    """Draw full marks, or else a quarter on average."""
    part = source.integers(0, 3, (suites, steps)) / 4
    return _single(np.where(source.random((suites, steps)) < full, 1.0, part))


def _attempts(rate: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    return _single(source.binomial(4, source.beta(2 * rate, 2 * (1 - rate), (suites, steps))) / 4)


def _clusters(by_size: dict[int, float], source: np.random.Generator, suites: int, steps: int) -> Drawn:
    """Draw clusters whose samples share their fate."""
    sizes, means = np.array(list(by_size)), np.array(list(by_size.values()))
    which = source.integers(0, len(sizes), (suites, steps))
    size, mean = sizes[which], means[which]
    earned = source.binomial(size, source.beta(4 * mean, 4 * (1 - mean)))
    return Drawn(weight=size.astype(float), up=earned.astype(float), down=np.zeros((suites, steps)))


def _whole(
    sizes: tuple[int, ...], lost: float, paired: bool, source: np.random.Generator, suites: int, steps: int
) -> Drawn:
    weight = source.permuted(np.resize(np.array(sizes, dtype=float), (suites, steps)), axis=1)
    is_lost = source.random((suites, steps)) < lost
    none = np.zeros((suites, steps))
    if paired:
        return Drawn(weight=weight, up=none, down=weight * is_lost)
    return Drawn(weight=weight, up=weight * ~is_lost, down=none)


def _strata(rate: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    rates = rate + np.array([STRATA[one][1] for one in STRATA])[_order(source, suites, steps)] * (1 - rate)
    return _single(source.random((suites, steps)) < rates)


def _order(source: np.random.Generator, suites: int, steps: int) -> Any:
    """Return the stratum of each step, in the order in which the engine visits samples."""
    names = [name for name, (share, _) in STRATA.items() for _ in range(round(share * steps))]
    known = list(STRATA)
    found = []
    for seed in source.integers(0, 1 << 30, suites):
        places = {name: shuffle([at for at, one in enumerate(names) if one == name], name, int(seed)) for name in known}
        found.append([known.index(names[at]) for at in visits(places, int(seed))])
    return np.array(found)


def _pairs(won: float, lost: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    drawn = source.random((suites, steps))
    return _single(drawn < won, (drawn >= won) & (drawn < won + lost))


def _cut(lost: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    """Draw points of which a share is cut to a random part."""
    shape = (suites, steps)
    before = np.where(source.random(shape) < 0.8, 1.0, source.random(shape))
    return _single(np.zeros(shape), np.where(source.random(shape) < lost, before * source.random(shape), 0.0))


def _worse(
    lost: float, attempts: int, sizes: tuple[int, ...], source: np.random.Generator, suites: int, steps: int
) -> Drawn:
    size = np.array(sizes)[source.integers(0, len(sizes), (suites, steps))]
    before = source.beta(4, 1, (suites, steps))
    now = before * (1 - 2 * lost * source.random((suites, steps)))
    up, down = np.zeros((suites, steps)), np.zeros((suites, steps))
    for number in range(max(sizes)):
        change = (source.binomial(attempts, now) - source.binomial(attempts, before)) / attempts * (number < size)
        up, down = up + np.maximum(change, 0), down + np.maximum(-change, 0)
    return Drawn(weight=size.astype(float), up=up, down=down)


def _pairs_in_strata(won: float, lost: float, source: np.random.Generator, suites: int, steps: int) -> Drawn:
    """Draw pairs of which only the easiest half ever moves."""
    drawn, easy = source.random((suites, steps)), _order(source, suites, steps) == 0
    return _single(easy & (drawn < won), easy & (drawn >= won) & (drawn < won + lost))


# What proctor.stats computes, for many suites at once


def exact(successes: Numbers, count: Numbers, error: float) -> tuple[Numbers, Numbers]:
    """Return `proctor_ci.stats.bounds.exact`."""
    failures = count - successes
    with np.errstate(all="ignore"):
        low = betaincinv(np.maximum(successes, 1e-300), failures + 1, error)
        high = betaincinv(successes + 1, np.maximum(failures, 1e-300), 1 - error)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)


def relative_size(weight: Numbers, total: Numbers) -> Numbers:
    """Return the mean size of a cluster over what was earned (or lost), relative to that over all samples."""
    sizes, size = (weight**2).sum(1), weight.sum(1)
    earned = total.sum(1)
    return np.where(earned > 1e-9, (weight * total).sum(1) * size / (np.maximum(earned, 1e-300) * sizes), 1.0)


def effective(
    value: Numbers, spread: Numbers, degrees: Numbers, clusters: int, error: float, sizes: tuple[Numbers, Numbers]
) -> tuple[Numbers, Numbers]:
    """Return `proctor_ci.stats.bounds.effective`."""
    alike = np.minimum(degrees + 1, clusters)
    squared = np.maximum(spread, 1e-12) ** 2
    count = value * (1 - value) / squared * (degrees / (degrees + 1)) ** 2 * clusters / (clusters - 1)
    count *= (ndtri(1 - error) / stdtrit(degrees, 1 - error)) ** 2
    count = np.maximum(np.where(spread > 1e-12, count, alike), 1e-6)
    surest = error ** (1 / alike)
    high, low = (
        at_most(one, count, spread, squared, degrees, clusters, error, size)
        for one, size in ((value, sizes[1]), (1 - value, sizes[0]))
    )
    return np.minimum(1 - low, surest), np.maximum(high, 1 - surest)


def at_most(
    value: Numbers,
    count: Numbers,
    spread: Numbers,
    squared: Numbers,
    degrees: Numbers,
    clusters: int,
    error: float,
    size: Numbers,
) -> Numbers:
    """Return the upper bound of `proctor_ci.stats.bounds.effective`."""
    unequal = np.maximum(np.maximum(clusters / (degrees + 1), 1 / np.maximum(size, 1e-12)), 1.0)
    weight = np.minimum(unequal, np.maximum(value / ((degrees + 1) * squared), 1.0))
    weight = np.where(spread > 1e-12, weight, 1.0)
    events, others = value * count, (1 - value) * count
    shape = (events + weight) ** 2 / (events + weight**2)
    with np.errstate(all="ignore"):
        found = betaincinv(shape, np.maximum(others * shape / (events + weight), 1e-300), 1 - error)
    return np.asarray(np.where(others > 0, found, 1.0))


def bounds(kind: Kind, drawn: Drawn, error: float) -> tuple[Numbers, Numbers]:
    """Return the bounds of a gate after all steps of each suite."""
    clusters = drawn.weight.shape[1]
    if kind.is_count:
        return exact(drawn.up.sum(1), np.full(len(drawn.up), float(clusters)), error)
    size = drawn.weight.sum(1)
    degrees = np.maximum(size**2 / (drawn.weight**2).sum(1) - 1, 0.5)
    means = [one.sum(1) / size for one in (drawn.up, drawn.down)]
    apart = [one - drawn.weight * mean[:, None] for one, mean in zip((drawn.up, drawn.down), means, strict=True)]
    scale = math.sqrt(clusters / (clusters - 1)) / size
    errors = [scale * np.sqrt((one**2).sum(1)) for one in apart]
    if not kind.paired:
        sizes = relative_size(drawn.weight, drawn.weight - drawn.up), relative_size(drawn.weight, drawn.up)
        return effective(means[0], errors[0], degrees, clusters, error, sizes)
    if kind.binary:
        (won_low, won_high), (lost_low, lost_high) = (
            exact(one * clusters, np.full(len(one), float(clusters)), error) for one in means
        )
    else:
        (won_low, won_high), (lost_low, lost_high) = (
            effective(
                mean,
                spread,
                degrees,
                clusters,
                error,
                (relative_size(drawn.weight, drawn.weight - one), relative_size(drawn.weight, one)),
            )
            for mean, spread, one in zip(means, errors, (drawn.up, drawn.down), strict=True)
        )
    product = np.sqrt((apart[0] ** 2).sum(1) * (apart[1] ** 2).sum(1))
    together = np.where(product > 1e-12, (apart[0] * apart[1]).sum(1) / np.maximum(product, 1e-300), 0.0)

    def reach(won: Numbers, lost: Numbers) -> Numbers:
        return np.sqrt(np.maximum(won**2 + lost**2 - 2 * together * won * lost, 0.0))

    value = means[0] - means[1]
    low = value - reach(means[0] - won_low, lost_high - means[1])
    high = value + reach(won_high - means[0], means[1] - lost_low)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def net(drawn: Drawn) -> Drawn:
    """Return steps of which only the value is known, as `looks` takes them."""
    total = drawn.up - drawn.down
    return Drawn(weight=drawn.weight, up=np.maximum(total, 0.0), down=np.maximum(-total, 0.0))


def decisions(
    kind: Kind, drawn: Drawn, limit: Numbers, error: float, target: looking.Target, *, futile: bool
) -> tuple[Numbers, Numbers]:
    """Return what `looks` decides of each suite (1 GO, -1 NO-GO, 0 neither), and after which step."""
    suites, steps = drawn.weight.shape
    low = -1.0 if kind.paired else 0.0
    decided, after = np.zeros(suites), np.full(suites, float(steps))

    def settle(which: Any, decision: float, step: Any) -> None:
        first = which & ((decided == 0) | (step < after))
        decided[first], after[first] = decision, np.broadcast_to(step, suites)[first]

    if target == "suite" or steps > looking._FEW:
        share = looking._FOR_BETS if target == "samples" else 1.0
        for up in (True, False):
            rich = _wealth(drawn, (limit - low) / (1 - low), low, kind.heaviest, target == "suite", up) >= 1 / (
                share * error
            )
            settle(rich.any(1), 1.0 if up else -1.0, rich.argmax(1) + 1.0)
    if target == "samples":
        rate = float(limit[0]) if kind.is_count else None
        spent = error if kind.is_count or kind.paired else error * looking._FOR_MEANS
        spent *= 1 - looking._FOR_BETS if steps > looking._FEW else 1
        stages = {at: (errors.low, errors.high) for at, errors in looking._stages(steps, spent, rate).items()}
        for at, errors in stages.items():
            of = net(drawn.first(at))
            settle(bounds(kind, of, errors[0])[0] > limit, 1.0, float(at))
            settle(bounds(kind, of, errors[1])[1] < limit, -1.0, float(at))
        if futile:
            hopeless = _chances(drawn, limit, stages[steps], 1 - low) < looking._HARDLY
            settle(hopeless.any(1), 0.0, hopeless.argmax(1) + 1.0)
    return decided, after


def _wealth(drawn: Drawn, limit: Numbers, low: float, heaviest: int, is_suite: bool, up: bool) -> Numbers:
    """Return the wealth of those who bet that the mean lies above (or below) the limit, after each step."""
    weight, value = drawn.weight / heaviest, (drawn.value - low) / (1 - low)
    gain, mean = weight * (value - limit[:, None]), limit[:, None]
    expected = np.zeros_like(gain)
    if is_suite:
        expected[:, 1:] = -np.cumsum(gain, axis=1)[:, :-1] / np.arange(gain.shape[1] - 1, 0, -1)
    worst = mean + expected if up else 1 - mean - expected
    with np.errstate(all="ignore"):
        part = (gain - expected if up else expected - gain) / worst
        wealth = sum(
            stake * np.exp(np.cumsum(np.log1p(bet * part), axis=1)) for bet, stake in zip(BETS, STAKES, strict=True)
        )
    lost = gain - expected if up else expected - gain
    cannot_be = (worst <= ROUNDING) & ((lost > ROUNDING) | (worst < -ROUNDING))
    wealth[worst <= ROUNDING] = 0.0
    known: Numbers = np.where(np.logical_or.accumulate(cannot_be, axis=1), np.inf, wealth)
    return known


def _chances(drawn: Drawn, limit: Numbers, errors: tuple[float, float], span: float) -> Numbers:
    """Return the chance that the last bounds decide, after each step."""
    steps = drawn.weight.shape[1]
    done = np.arange(1, steps + 1)
    value = np.cumsum(drawn.weight * drawn.value, axis=1) / np.cumsum(drawn.weight, axis=1)
    typical = np.cumsum(drawn.weight, axis=1) / done
    none, single, both = (np.cumsum(drawn.weight**2 * drawn.value**power, axis=1) for power in range(3))
    squares = np.maximum(both - 2 * value * single + value**2 * none, 0.0)
    spread = np.sqrt((squares / typical**2 + span**2 / 2) / done)
    beyond = value - limit[:, None]
    with np.errstate(all="ignore"):
        rest = spread * np.sqrt(1 / done - 1 / steps)
        needed = [spread / math.sqrt(steps) * ndtri(1 - one) for one in errors]
        chance: Numbers = ndtr((beyond - needed[0]) / rest) + ndtr((-beyond - needed[1]) / rest)
    chance[:, : looking._LEAST_STEPS - 1] = 1.0
    chance[:, -1] = 1.0
    return chance


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of suites: the share of GO and of NO-GO, and the mean number of steps until then."""

    go: float
    no_go: float
    steps: float


def look(
    kind: Kind,
    steps: int,
    suites: int,
    *,
    limit: float | None = None,
    error: float = ERROR,
    target: looking.Target = "samples",
    futile: bool = False,
) -> Found:
    """Look after every step of each suite; without a limit, it is the truth."""
    source = np.random.default_rng([steps, len(kind.name), *kind.name.encode()])
    go = no_go = total = 0.0
    for start in range(0, suites, AT_ONCE):
        drawn = kind.draw(source, min(AT_ONCE, suites - start), steps)
        mean = (drawn.up - drawn.down).sum(1) / drawn.weight.sum(1)
        at = (
            np.full(len(mean), kind.truth if limit is None else limit)
            if target == "samples" or limit is not None
            else mean
        )
        decided, after = decisions(kind, drawn, at, error, target, futile=futile)
        if start == 0:
            _check(kind, drawn, at, error, target, decided, after, futile=futile)
        if target == "suite":  # known after the last step, and no error where it equals its limit
            if limit is None:
                decided[after == steps] = 0
            else:
                decided = np.where(decided == 0, np.where(mean >= limit, 1.0, -1.0), decided)
        go, no_go, total = go + (decided > 0).sum(), no_go + (decided < 0).sum(), total + after.sum()
    return Found(go=go / suites, no_go=no_go / suites, steps=total / suites)


def _check(
    kind: Kind,
    drawn: Drawn,
    limit: Numbers,
    error: float,
    target: looking.Target,
    decided: Numbers,
    after: Numbers,
    *,
    futile: bool,
) -> None:
    """Hold the first suites against `looks` itself."""
    steps = drawn.weight.shape[1]
    hardly, looking._HARDLY = looking._HARDLY, looking._HARDLY if futile else 0.0
    for number in range(CHECKED):
        question = LooksQuestion(
            limit=float(limit[number]),
            low=-1.0 if kind.paired else 0.0,
            most=steps,
            error=error,
            target=target,
            binary=kind.binary,
            heaviest=kind.heaviest,
        )
        one = looks(question)
        for value, weight in zip(drawn.value[number], drawn.weight[number], strict=True):
            seen = one.add(float(value), float(weight))
            if seen.decision:
                break
        said = {"go": 1, "no_go": -1}.get(seen.decision or "", 0)
        is_known = target == "suite" and seen.steps == steps
        assert is_known or (said, seen.steps) == (decided[number], after[number]), (
            kind.name,
            number,
            seen,
            decided[number],
            after[number],
        )
    looking._HARDLY = hardly


def gate(kind: Kind, steps: int, suites: int, *, limit: float | None = None, error: float = ERROR) -> Found:
    """Decide by the bounds of a gate, after all steps of each suite."""
    source = np.random.default_rng([steps, len(kind.name), *kind.name.encode()])
    at = kind.truth if limit is None else limit
    go = no_go = 0
    for start in range(0, suites, AT_ONCE):
        drawn = kind.draw(source, min(AT_ONCE, suites - start), steps)
        low, high = bounds(kind, drawn, error)
        go, no_go = go + int((low > at).sum()), no_go + int((high < at).sum())
    return Found(go=go / suites, no_go=no_go / suites, steps=steps)


WHOLE = [
    whole(sizes, lost, paired=paired)
    for sizes in ((1, 1, 1, 1, 20), (1, 30), (1, 1, 1, 2, 2, 3, 5, 10))
    for lost in (0.05, 0.1)
    for paired in (False, True)
]
KINDS = (
    [kind for rate in (0.85, 0.96) for kind in shares(rate)]
    + [kind for lost in (0.15, 0.04) for kind in differences(lost)]
    + WHOLE
)


def _moving(won: float, lost: float) -> Kind:
    name = f"pairs, {won} won and {lost} lost"
    return Kind(name=name, draw=partial(_pairs, won, lost), truth=won - lost, paired=True, binary=True)


def _right(rate: float) -> Kind:
    return Kind(name=f"{rate} right", draw=partial(_binary, rate), truth=rate, binary=True)


SAVINGS = [  # what is looked at, its limit, its steps; the greatest share of them, and the greatest loss of power
    (_moving(0.225, 0.075), 0.0, 400, 0.35, 0.03),
    (_moving(0.1, 0.1), -0.1, 400, 0.45, None),
    (_moving(0.05, 0.05), -0.1, 400, 0.45, None),
    (_moving(0.1, 0.1), 0.0, 400, None, None),
    (_right(0.9), 0.85, 400, None, None),
    (_moving(0.225, 0.075), 0.0, 200, None, 0.02),
    (_moving(0.2, 0.1), 0.0, 200, None, 0.02),
    (_moving(0.1, 0.1), -0.1, 200, None, 0.02),
    (_right(0.92), 0.85, 200, None, 0.02),
]


def measure() -> Iterator[Figure]:
    """Simulate; a number at the end of the command line is that of the suites of each kind."""
    suites = int(sys.argv[-1]) if sys.argv[-1].isdigit() else SUITES
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            (f"{name} {kind.name}, {steps} steps", pool.submit(work, kind, steps, suites))
            for kind in KINDS
            for name, work, steps in (
                ("looks at", look, 100),
                ("looks at", look, 400),
                ("looks at a suite of", partial(look, target="suite"), 100),
                ("gate of", gate, 100),
            )
        ]
        savings = [
            (
                pool.submit(look, kind, steps, suites, limit=at, futile=True),
                pool.submit(gate, kind, steps, suites, limit=at),
            )
            for kind, at, steps, _, _ in SAVINGS
        ]
        for what, job in jobs:
            found = job.result()
            for wrong, share in (("GO", found.go), ("NO-GO", found.no_go)):
                yield Figure(what=f"{what}: {wrong} at the limit", value=share, unit="", at_most=_bound(suites))
        for (kind, at, steps, most, loss), (looked, full) in zip(SAVINGS, savings, strict=True):
            what = f"{kind.name}, limit {at}, {steps} steps"
            yield Figure(what=f"{what}: share taken", value=looked.result().steps / steps, unit="", at_most=most)
            yield Figure(what=f"{what}: power of all steps", value=full.result().go, unit="")
            yield Figure(what=f"{what}: power lost", value=full.result().go - looked.result().go, unit="", at_most=loss)


def _bound(suites: int, allowed: float = MOST) -> float:
    """Return the greatest rate whose exact 95 % interval lies below what is allowed."""
    most = int(allowed * suites)
    while most and beta_quantile(0.975, most + 1, suites - most) > allowed:
        most -= 1
    return most / suites
