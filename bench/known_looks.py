"""How many calls `--until` takes against a stored run where it is known what to expect of each sample, and how often it errs: by simulation.

Systems answer the samples of a suite: each has a chance of its own, by how hard the sample is (drawn anew in each suite), how good
the system is, and what is between the two. The old system was run once on all of it, and so were other systems. Expected of
a sample is what `proctor_ci.looks.expected` makes of that; the values of the old run alone are worth most of it.

Errors are those at the limit: of these systems, and of every kind of pairs of `bench/decisions.py`, with expected values that help,
that say nothing, that are shuffled, rare and large, the sizes of clusters, or not on a line.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from scipy.special import expit, ndtr

from bench.decisions import (
    AT_ONCE,
    ERROR,
    MOST,
    SUITES,
    WHOLE,
    Drawn,
    Found,
    Kind,
    Numbers,
    _bound,
    _chances,
    bounds,
    net,
)
from bench.decisions import differences as kinds_of_pairs
from bench.figure import Figure
from proctor_ci.stats import known_steps, spending
from proctor_ci.stats import looks as looking
from proctor_ci.stats.looks import LooksQuestion, looks

CHECKED = 2
PAIR = Kind(
    name="systems", draw=lambda *_: Drawn(weight=np.ones(0), up=np.ones(0), down=np.ones(0)), truth=0.0, paired=True
)
ITEMS = 200_000  # over which the mean of a system is computed
TINY = 1e-12


class Systems(msgspec.Struct, frozen=True, kw_only=True):
    """Systems that answer the samples of a suite: the old one has a mean of `rate`.

    Attributes:
        hard: how much samples differ in being hard, for all systems.
        own: how much the systems differ in which samples are hard for them.
        others: how many other systems were run on all samples.
        attempts: of the old run.
    """

    hard: float = 2.2
    own: float = 0.5
    rate: float = 0.84
    others: int = 10
    attempts: int = 1

    def draw(self, source: np.random.Generator, suites: int, steps: int, change: float) -> tuple[Drawn, Numbers]:
        """Return the differences of a new system whose mean is apart by `change`, and the expected ones."""
        shape = (suites, steps)
        hard = source.normal(0, self.hard, shape)

        def rates(skill: Any) -> Numbers:
            return np.asarray(expit(skill - hard - source.normal(0, self.own, shape)))

        skill = _skill(self.hard, self.own, self.rate)
        old = source.binomial(self.attempts, rates(skill), shape) / self.attempts
        new = source.random(shape) < rates(_skill(self.hard, self.own, self.rate + change))
        earned = np.zeros(shape)
        for _ in range(self.others):
            earned += source.random(shape) < rates(skill + source.normal(-0.3, 0.6, (suites, 1)))
        middle = (earned + old).mean(1, keepdims=True) / (self.others + 1)
        moved = new - old
        drawn = Drawn(weight=np.ones(shape), up=np.maximum(moved, 0), down=np.maximum(-moved, 0))
        return drawn, (earned + old + middle) / (self.others + 2) - old


@lru_cache
def _skill(hard: float, own: float, rate: float) -> float:
    """Return how good a system of this mean is."""
    items = np.random.default_rng(0).normal(0, math.hypot(hard, own), ITEMS)
    low, high = -12.0, 12.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(middle - items).mean() < rate else (low, middle)
    return low


EXPECTED: dict[str, Callable[[np.random.Generator, Drawn], Numbers]] = {
    "help": lambda source, drawn: drawn.value + source.normal(0, 1.2 * drawn.value.std(), drawn.weight.shape),
    "help, shuffled": lambda source, drawn: source.permuted(
        drawn.value + source.normal(0, 1.2 * drawn.value.std(), drawn.weight.shape), axis=1
    ),
    "are rare and large": lambda source, drawn: np.exp(source.normal(0, 1.5, drawn.weight.shape)) + drawn.value,
    "are sizes": lambda source, drawn: drawn.weight + source.normal(0, 0.1, drawn.weight.shape),
    "are on no line": lambda source, drawn: drawn.value**2 + source.normal(0, drawn.value.std(), drawn.weight.shape),
}


class _Spending:
    """`proctor_ci.stats.spending.NormalSpending`, for many suites at once."""

    def __init__(self, suites: int) -> None:
        self._chances = np.zeros((suites, 2 * spending._CELLS + 1))
        self._chances[:, spending._CELLS] = 1
        self._gone = self._before = np.zeros(suites)

    def error(self, time: Numbers, most: Numbers) -> Numbers:
        cells, width, rows = spending._CELLS, 1024, np.arange(len(time))
        numbers = np.arange(-2 * cells, 2 * cells + 2) - 0.5
        steps = np.diff(ndtr(numbers * spending._CELL / np.sqrt(time - self._before)[:, None]), axis=1)
        after = np.fft.irfft(np.fft.rfft(self._chances, width) * np.fft.rfft(steps, width), width)
        highest_first = np.maximum(after[:, 2 * cells : 4 * cells + 1], 0)[:, ::-1].copy()
        passed = self._gone[:, None] + np.cumsum(highest_first, axis=1)
        whole = np.minimum((passed < most[:, None]).sum(1), 2 * cells)
        gone = np.where(whole > 0, passed[rows, whole - 1], self._gone)
        part = np.clip((most - gone) / np.maximum(highest_first[rows, whole], 1e-300), 0, 1)
        highest_first[np.arange(2 * cells + 1) < whole[:, None]] = 0
        highest_first[rows, whole] *= 1 - part
        self._chances, self._gone, self._before = highest_first[:, ::-1], most, time
        found: Numbers = ndtr(-(cells - whole + 0.5 - part) * spending._CELL / np.sqrt(time))
        return found


class _Known:
    """`proctor_ci.stats.known_steps.KnownSteps`, for many suites at once."""

    def __init__(self, drawn: Drawn, expected: Numbers) -> None:
        self._drawn = drawn
        self._expected = expected
        self._centre = (drawn.weight * expected).sum(1) / drawn.weight.sum(1)
        self._slope = np.zeros(len(expected))
        self._looked_at = 0

    def look(self, steps: int) -> tuple[Numbers, Numbers]:
        """Return what is added to the mean, and its variance as a share of that of the plain mean."""
        weight, value = self._drawn.weight[:, :steps], self._drawn.value[:, :steps]
        expected, most, size = self._expected[:, :steps], self._expected.shape[1], weight.sum(1)
        mean, middle = ((weight * each).sum(1) / size for each in (value, expected))
        ups, overs = weight * (value - mean[:, None]), weight * (expected - middle[:, None])
        across = (overs**2).sum(1)
        slope, earlier = self._slope, self._looked_at
        with np.errstate(all="ignore"):
            self._slope = np.where(across > TINY, (ups * overs).sum(1) / across, 0.0)
            self._looked_at = steps
            if earlier < known_steps._FEW or steps >= most:
                return np.zeros(len(mean)), np.ones(len(mean))
            whole = (ups**2).sum(1)
            pulled = np.maximum(1 - overs**2 / across[:, None] - 1 / steps, 0.1)
            squares = ((ups - slope[:, None] * overs) / pulled * (1 - 1 / steps)) ** 2
            left = (squares.sum(1) + squares.max(1) / 2) / whole
        gains = (across > TINY) & (whole > TINY) & (1 - left > known_steps._CHANCE / (steps - 1))
        left = np.maximum(left, known_steps._LEAST_LEFT)
        shift = np.where(gains, -slope * (middle - self._centre), 0.0)
        return shift, np.where(gains, left + (1 - left) * steps / most, 1.0)


def decide(
    kind: Kind, drawn: Drawn, expected: Numbers | None, limit: float, *, futile: bool
) -> tuple[Numbers, Numbers]:
    """Return what the looks decide of each suite (1 GO, -1 NO-GO, 0 neither), and after which step; betting apart."""
    suites, steps = drawn.weight.shape
    error = ERROR * (1 if steps <= looking._FEW else 1 - looking._FOR_BETS)
    stages = looking._stages(steps, error, None)
    known, spent = None if expected is None else _Known(drawn, expected), _Spending(suites)
    information, share = np.zeros(suites), 0.0
    decided, after = np.zeros(suites), np.full(suites, float(steps))
    for at, errors in stages.items():
        shift, variance = np.zeros(suites), np.ones(suites)
        spends = np.full(suites, errors.low)
        if known is not None:
            shift, variance = known.look(at)
            information = np.maximum(
                at / steps / variance, information + looking._LEAST_PROGRESS * (at / steps - share)
            )
            share = at / steps
            spends = spent.error(information, error * information**looking._SPENT_LATE)
        seen = net(drawn.first(at))
        value = seen.value.mean(1) if kind.heaviest == 1 else (seen.up - seen.down).sum(1) / seen.weight.sum(1)
        low, high = bounds(kind, seen, spends)  # type: ignore[arg-type]
        low, high = (value + shift + np.sqrt(variance) * (end - value) for end in (low, high))
        low, high = np.minimum(low, value), np.maximum(high, value)
        now = np.where(low > limit, 1, np.where(high < limit, -1, 0))
        which = (decided == 0) & (now != 0)
        decided[which], after[which] = now[which], at
    if futile:
        last = stages[steps]
        hopeless = _chances(drawn, np.full(suites, limit), (last.low, last.high), 2.0) < looking._HARDLY
        ended = np.where(hopeless.any(1), hopeless.argmax(1) + 1.0, np.inf)
        decided, after = np.where(ended < after, 0, decided), np.minimum(after, ended)
    return decided, after


def play(
    systems: Systems, steps: int, suites: int, *, margin: float, change: float, known: bool, futile: bool = True
) -> Found:
    """Look at suites of systems for `not worse by` a margin."""
    kind = replace(PAIR, binary=systems.attempts == 1)
    source = np.random.default_rng([steps, systems.others])
    go = no_go = total = 0.0
    for start in range(0, suites, AT_ONCE):
        drawn, expected = systems.draw(source, min(AT_ONCE, suites - start), steps, change)
        decided, after = decide(kind, drawn, expected if known else None, -margin, futile=futile)
        if start == 0:
            _check(kind, drawn, expected if known else None, -margin, decided, after, futile=futile)
        go, no_go, total = go + (decided > 0).sum(), no_go + (decided < 0).sum(), total + after.sum()
    return Found(go=go / suites, no_go=no_go / suites, steps=total / suites)


def err(kind: Kind, expects: str, steps: int, suites: int) -> Found:
    """Look at suites of a kind at the limit."""
    source = np.random.default_rng([steps, *kind.name.encode(), *expects.encode()])
    go = no_go = 0.0
    for start in range(0, suites, AT_ONCE):
        drawn = kind.draw(source, min(AT_ONCE, suites - start), steps)
        expected = EXPECTED[expects](source, drawn)
        decided, after = decide(kind, drawn, expected, kind.truth, futile=False)
        if start == 0 and steps <= looking._FEW:
            _check(kind, drawn, expected, kind.truth, decided, after, futile=False)
        go, no_go = go + (decided > 0).sum(), no_go + (decided < 0).sum()
    return Found(go=go / suites, no_go=no_go / suites, steps=steps)


def _check(
    kind: Kind,
    drawn: Drawn,
    expected: Numbers | None,
    limit: float,
    decided: Numbers,
    after: Numbers,
    *,
    futile: bool,
) -> None:
    """Compare the first suites with `looks` itself."""
    steps = drawn.weight.shape[1]
    hardly, looking._HARDLY = looking._HARDLY, looking._HARDLY if futile else 0.0
    for number in range(CHECKED):
        weight = drawn.weight[number]
        centre = None if expected is None else float((weight * expected[number]).sum() / weight.sum())
        looked = looks(
            LooksQuestion(
                limit=limit, low=-1.0, most=steps, binary=kind.binary, heaviest=kind.heaviest, expected=centre
            )
        )
        for at in range(steps):
            known = None if expected is None else float(expected[number, at])
            seen = looked.add(float(drawn.value[number, at]), float(weight[at]), known)
            if seen.decision:
                break
        said = {"go": 1, "no_go": -1}.get(seen.decision or "", 0)
        assert (said, seen.steps) == (decided[number], after[number]), (kind.name, number, seen)
    looking._HARDLY = hardly


ALIKE = Systems(hard=3.5, own=0.3)
USUAL = Systems()
UNLIKE = Systems(hard=1.6, own=0.7)
SYSTEMS = {"alike (correlation .5)": ALIKE, "usual (.36)": USUAL, "unlike (.2)": UNLIKE}
QUESTIONS = [(200, 0.1), (500, 0.05), (500, 0.1)]
PAIRS = [kind for lost in (0.15, 0.04) for kind in kinds_of_pairs(lost)] + [kind for kind in WHOLE if kind.paired]


def measure() -> Iterator[Figure]:
    """Simulate; a number at the end of the command line is that of the suites of each kind."""
    suites = int(sys.argv[-1]) if sys.argv[-1].isdigit() else SUITES
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        calls = {
            (name, steps, margin, what): pool.submit(
                play, each, steps, suites // 4, margin=margin, change=0.0, known=what != "plainly"
            )
            for name, systems in SYSTEMS.items()
            for steps, margin in QUESTIONS
            for what, each in _histories(systems).items()
        }
        wrong = [
            (
                f"{kind.name}, {steps} steps, expected values {expects}",
                steps,
                pool.submit(err, kind, expects, steps, suites),
            )
            for kind in PAIRS
            for expects in EXPECTED
            for steps in (30, 100, 400, 1000)
        ]
        for name, systems in SYSTEMS.items():
            for steps, margin in QUESTIONS:
                job = pool.submit(play, systems, steps, suites, margin=margin, change=-margin, known=True, futile=False)
                wrong.append((f"{name}, not worse by {margin}, {steps} steps", steps, job))
        for (name, steps, margin, what), found in calls.items():
            result = found.result()
            named = f"{name}, not worse by {margin}, {steps} steps, {what}"
            yield Figure(what=f"{named}: found", value=result.go, unit="")
            yield Figure(what=f"{named}: steps", value=result.steps, unit="")
        for what, steps, job in wrong:
            most = _bound(
                suites, MOST - (looking._FOR_BETS * ERROR if steps > looking._FEW else 0)
            )  # bets have the rest
            for decision, share in (("GO", job.result().go), ("NO-GO", job.result().no_go)):
                yield Figure(what=f"{what}: {decision} at the limit", value=share, unit="", at_most=most)


def _histories(systems: Systems) -> dict[str, Systems]:
    """Return the same systems by what is known."""
    return {
        "plainly": systems,
        "given the old run": replace(systems, others=0),
        "and ten other systems": systems,
        "and ten other systems, five attempts of the old": replace(systems, attempts=5),
    }
