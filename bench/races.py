"""How often a race of several agents names a wrong one best, and how many samples each agent takes until the best is named: by simulation.

Half of the samples are as hard for all agents of a race. All are right in 70 % but the best, which may be shared.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec
import numpy as np

from bench.decisions import AT_ONCE, ERROR, MOST, Drawn, Kind, Numbers, decisions
from bench.figure import Figure

ROUNDS = 3_000
SAMPLES = 400
WRONG = 0.3
SHARED = 0.5


class RaceFound(msgspec.Struct, frozen=True, kw_only=True):
    """In what share of races the first agent is named best, and another one; the samples of an agent until all is decided."""

    first: float
    other: float
    samples: float


class PairFound(msgspec.Struct, frozen=True, kw_only=True):
    """What a pair of agents decides in each race (1: the first is out, -1: the second), and after which step."""

    pair: tuple[int, int]
    decided: Numbers
    after: Numbers


def play(agents: int, edge: float, rounds: int, *, best: int = 1, futile: bool = True) -> RaceFound:
    """Race agents of which the first `best` are wrong less often by `edge`."""
    source = np.random.default_rng([agents, best, int(1000 * edge)])
    wrong = np.where(np.arange(agents) < best, WRONG - edge, WRONG)[:, None, None]
    first = other = 0
    samples = 0.0
    for start in range(0, rounds, AT_ONCE):
        suites = min(AT_ONCE, rounds - start)
        own, shared = source.random((agents, suites, SAMPLES)), source.random((1, suites, SAMPLES))
        lost = np.where(source.random((1, suites, SAMPLES)) < SHARED, shared, own) < wrong
        found = [
            _look(lost[one], lost[another], (one, another), agents, futile=futile)
            for one, another in combinations(range(agents), 2)
        ]
        for suite in range(suites):
            left, looked = left_of_race(found, agents, suite)
            first += left == {0}
            other += len(left) == 1 and left != {0}
            samples += sum(looked) / agents
    return RaceFound(first=first / rounds, other=other / rounds, samples=samples / rounds)


def _look(
    one: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    another: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    pair: tuple[int, int],
    agents: int,
    *,
    futile: bool,
) -> PairFound:
    """Look at what the second of two agents wins and loses compared with the first."""
    kind = Kind(name="race", draw=_drawn_together, truth=0.0, paired=True, binary=True)
    drawn = Drawn(weight=np.ones(one.shape), up=(one & ~another).astype(float), down=(another & ~one).astype(float))
    decided, after = decisions(kind, drawn, np.zeros(len(one)), error_of_a_pair(agents), "samples", futile=futile)
    return PairFound(pair=pair, decided=decided, after=after)


def error_of_a_pair(agents: int) -> float:
    """Return the error of one side of a pair, as a race shares it."""
    return ERROR / 2 / (agents - 1)


def left_of_race(found: Sequence[PairFound], agents: int, suite: int) -> tuple[set[int], list[float]]:
    """Return which agents of a race are not out in the end, and how many steps each took; a pair counts while both are in."""
    left, steps = {*range(agents)}, [0.0] * agents
    for each in sorted(found, key=lambda each: float(each.after[suite])):
        if not {*each.pair} <= left:
            continue
        for agent in each.pair:
            steps[agent] = float(each.after[suite])
        if each.decided[suite]:
            left.discard(each.pair[0 if each.decided[suite] > 0 else 1])
    return left, steps


def _drawn_together(source: np.random.Generator, suites: int, steps: int) -> Drawn:
    raise NotImplementedError("agents of a race are drawn together")


def measure() -> Iterator[Figure]:
    """Simulate; a number at the end of the command line is that of the races of each kind."""
    rounds = int(sys.argv[-1]) if sys.argv[-1].isdigit() else ROUNDS
    for agents in (2, 3, 5, 8):
        equal = play(agents, 0.0, rounds, best=agents, futile=False)
        named = equal.first + equal.other
        yield Figure(what=f"{agents} equal agents: one is named best", value=named, unit="", at_most=MOST)
        for edge in (0.1, 0.15) if agents > 2 else ():
            shared = play(agents, edge, rounds, best=2, futile=False)
            named = shared.first + shared.other
            yield Figure(
                what=f"{agents} agents, two better by {edge:.0%}: one is named best", value=named, unit="", at_most=MOST
            )
        for edge in (0.1, 0.15):
            what = f"{agents} agents, one better by {edge:.0%}"
            better = play(agents, edge, rounds)
            yield Figure(what=f"{what}: it is named", value=better.first, unit="")
            yield Figure(what=f"{what}: another one is", value=better.other, unit="", at_most=MOST / 2)
            yield Figure(what=f"{what}: samples of each of at most {SAMPLES}", value=better.samples, unit="")
