"""Replay systems on some items of a recorded matrix, drawn by what systems of other families earned on them.

`python -m bench items FILE`: lines as those of tests/data/audit/outcomes_*.jsonl.gz, each an item with its `runs` and
`families`, or with the systems that `passed` and `failed`. An item is as hard as systems of all other families found it; a
system is estimated from k items, and compared with its known mean over all of them.
"""

import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from bench.figure import Figure
from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.datasets.rows import rows
from proctor.stats import strata
from proctor.stats.item_fit import find_agreement, find_misfit
from proctor.stats.spread import draw_spread, estimate_spread

FILE = Path(__file__).parents[1] / "tests/data/audit/outcomes_mcpmark.jsonl.gz"
DRAWS = 200
AT_MOST = {8: 0.101, 15: 0.065, 30: 0.040}  # RMSE on the tasks of MCPMark
WORSE = 1.03


class RecordedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a matrix: its family, and what it earned by item."""

    name: str
    family: str
    earned: Mapping[str, float]


class Replayed(msgspec.Struct, kw_only=True):
    """Squared errors of draws, whether each interval held the truth, and its width."""

    squares: list[float] = []
    held: list[bool] = []
    widths: list[float] = []
    warned: list[bool] = []

    def add(self, estimate: Estimate, truth: float) -> None:
        assert estimate.value is not None
        assert estimate.low is not None
        assert estimate.high is not None
        self.squares.append((estimate.value - truth) ** 2)
        self.held.append(estimate.low - 1e-9 <= truth <= estimate.high + 1e-9)
        self.widths.append(estimate.high - estimate.low)

    def extend(self, other: "Replayed") -> None:
        self.squares += other.squares
        self.held += other.held
        self.widths += other.widths
        self.warned += other.warned

    @property
    def error(self) -> float:
        return math.sqrt(fmean(self.squares))


def measure() -> Iterator[Figure]:
    """Replay each file of the command line; a number there is that of the draws of each system."""
    draws = next((int(word) for word in sys.argv[1:] if word.isdigit()), DRAWS)
    for path in [Path(word) for word in sys.argv[1:] if Path(word).is_file()] or [FILE]:
        systems = read_systems(rows(path))
        items = len({item for system in systems for item in system.earned})
        yield Figure(what=f"{path.name}: items", value=items, unit="")
        yield Figure(what=f"{path.name}: systems", value=len(systems), unit="")
        for count in AT_MOST:
            if count < items:
                yield from _figures(systems, count, draws, items, is_known="mcpmark" in path.name)


def read_systems(lines: Any) -> list[RecordedSystem]:
    """Return the systems of a matrix that have an outcome on every item."""
    earned: dict[str, dict[str, float]] = {}
    families: dict[str, str] = {}
    items = 0
    for row in lines:
        line, items = row.cells, items + 1
        if "runs" in line:
            by_system = {name: fmean(bool(run["success"]) for run in runs) for name, runs in line["runs"].items()}
            families |= line["families"]
        else:
            by_system = {**dict.fromkeys(line["passed"], 1.0), **dict.fromkeys(line["failed"], 0.0)}
        for name, value in by_system.items():
            earned.setdefault(name, {})[line["id"]] = value
    return [
        RecordedSystem(name=name, family=families.get(name) or name.split("_")[0].split("-")[0], earned=by_item)
        for name, by_item in earned.items()
        if len(by_item) == items
    ]


def replay(
    systems: Sequence[RecordedSystem], count: int, draws: int, *, shuffled: bool = False, of_suite: bool = True
) -> dict[str, tuple[Replayed, Replayed]]:
    """Return, by family, how draws spread by other families did, and plain ones.

    Args:
        shuffled: each system earns what it did on items by chance, as if it were unlike all others.
        of_suite: intervals are about these very items; else about items like these, of which each draw has a suite of its own.
    """
    results: dict[str, tuple[Replayed, Replayed]] = {}
    for system in systems:
        source = random.Random(f"{system.name}/{count}/{shuffled}")
        others = [one.earned for one in systems if one.family != system.family]
        expected = {item: fmean(one[item] for one in others) for item in system.earned}
        spread, plain = results.setdefault(system.family, (Replayed(), Replayed()))
        agreement = find_agreement(others)
        truth = fmean(system.earned.values())
        for _ in range(draws):
            earned = system.earned
            if shuffled:
                earned = dict(zip(earned, source.sample([*earned.values()], len(earned)), strict=True))
            suite = [*earned] if of_suite else source.choices([*earned], k=len(earned))
            drawn = draw_spread({at: expected[item] for at, item in enumerate(suite)}, count, source)
            values = [earned[suite[at]] for at in drawn]
            if agreement is not None:
                misfit = find_misfit(values, [expected[suite[at]] for at in drawn], agreement)
                spread.warned.append(misfit is not None)
            alone = _plain(values, len(suite), of_suite=of_suite)
            spread.add(estimate_spread(alone, values, len(suite), of_suite=of_suite), truth)
            anywhere = [earned[item] for item in source.sample(suite, count)]
            plain.add(_plain(anywhere, len(suite), of_suite=of_suite), truth)
    return results


def _plain(values: Sequence[float], total: int, *, of_suite: bool) -> Estimate:
    sums = tally(Case(cluster=str(at), values=(value,), planned=1) for at, value in enumerate(values))
    return strata.estimate("accuracy", [strata.MeasuredStratum(name="", tally=sums, size=total)], of_suite=of_suite)


def _figures(
    systems: Sequence[RecordedSystem], count: int, draws: int, items: int, *, is_known: bool
) -> Iterator[Figure]:
    by_family = replay(systems, count, draws)
    spread, plain = _together(by_family)
    yield Figure(what=f"{count} calls: RMSE", value=spread.error, unit="", at_most=AT_MOST[count] if is_known else None)
    yield Figure(what=f"{count} calls: RMSE of a plain draw", value=plain.error, unit="")
    yield Figure(
        what=f"{count} calls: as good as so many of a plain draw",
        value=1 / (1 / items + (spread.error / plain.error) ** 2 * (1 / count - 1 / items)),
        unit="calls",
    )
    of_samples = replay(systems, count, draws, of_suite=False)
    for about, results in (("these very tasks", by_family), ("tasks like these", of_samples)):
        ours, theirs = _together(results)
        what, most = f"{count} calls, about {about}", 0.97 if results is by_family else None
        yield Figure(what=f"{what}: coverage", value=fmean(ours.held), unit="", at_least=0.93, at_most=most)
        yield Figure(what=f"{what}: coverage of a plain draw", value=fmean(theirs.held), unit="")
        yield Figure(what=f"{what}: width", value=fmean(ours.widths), unit="")
        yield Figure(what=f"{what}: width of a plain draw", value=fmean(theirs.widths), unit="")
    for family, (of_family, plainly) in sorted(by_family.items()):
        yield Figure(what=f"{count} calls, {family} left out: RMSE", value=of_family.error, unit="")
        yield Figure(what=f"{count} calls, {family} left out: RMSE of a plain draw", value=plainly.error, unit="")
        yield Figure(what=f"{count} calls, {family} left out: coverage", value=fmean(of_family.held), unit="")
    others, plain = _together(replay(systems, count, draws, shuffled=True))
    yield Figure(
        what=f"{count} calls, unlike all others: RMSE over that of a plain draw",
        value=others.error / plain.error,
        at_most=WORSE,
    )
    if count >= 20:  # else there is no such test
        yield Figure(
            what=f"{count} calls: warned that others do not fit", value=fmean(spread.warned), unit="", at_most=0.05
        )
        yield Figure(what=f"{count} calls, unlike all others: warned", value=fmean(others.warned), unit="")
    yield Figure(what=f"{count} calls, unlike all others: coverage", value=fmean(others.held), unit="", at_least=0.93)


def _together(by_family: Mapping[str, tuple[Replayed, Replayed]]) -> tuple[Replayed, Replayed]:
    spread, plain = Replayed(), Replayed()
    for ours, theirs in by_family.values():
        spread.extend(ours)
        plain.extend(theirs)
    return spread, plain
