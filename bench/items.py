"""Replay systems on some items of a recorded matrix, drawn by what systems of other families earned on them.

`python -m bench items FILE`: what `proctor runs import --format matrix` reads, as tests/data/audit/outcomes_*.jsonl.gz, with the
`families` of the systems, or their makers by their names. An item is as hard as systems of all other families found it; a
system is estimated from k of the items that it has, and compared with its known mean over all of them.
"""

import math
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean

import msgspec

from bench.figure import Figure
from proctor.core.errors import BadInput
from proctor.core.run import Estimate
from proctor.core.tally import Case, tally
from proctor.datasets.rows import DataRow, rows
from proctor.reports.history import SampleHistory, average
from proctor.stats import strata
from proctor.stats.item_fit import find_agreement, find_misfit
from proctor.stats.spread import draw_spread, estimate_spread
from proctor_adapters.imports.matrix import outcomes_of
from proctor_audit.consensus import family_of

FILE = Path(__file__).parents[1] / "tests/data/audit/outcomes_mcpmark.jsonl.gz"
DRAWS, FEWEST_DRAWS = 200, 10
MOST_OUTCOMES = (
    1_250_000  # that are drawn from in a replay, in about a minute; of a larger matrix there are fewer draws
)
AT_MOST = {8: 0.101, 15: 0.065, 30: 0.040}  # RMSE on the tasks of MCPMark
WORSE = 1.03
LEAST_KNOWN = 0.5  # of the items of a system, as in `engine.spread_drawing`


class RecordedSystem(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A system of a matrix: its family, and what it earned by item, in each attempt and in their mean."""

    name: str
    family: str
    attempts: Sequence[Mapping[str, float]]

    @cached_property
    def earned(self) -> Mapping[str, float]:
        return average(self.attempts)


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
    for path in [Path(word) for word in sys.argv[1:] if Path(word).is_file()] or [FILE]:
        try:
            systems = read_systems(rows(path))
        except BadInput as error:
            sys.exit(str(error))
        items = {item for system in systems for item in system.earned}
        families = {system.family for system in systems}
        if len(families) < 2 or len(items) <= min(AT_MOST):
            sys.exit(
                f"{path.name}: it has {len(items)} items and systems of {len(families)} families; "
                f"a replay takes more than {min(AT_MOST)}, and 2."
            )
        yield Figure(what=f"{path.name}: items", value=len(items), unit="")
        yield Figure(what=f"{path.name}: systems", value=len(systems), unit="")
        yield Figure(what=f"{path.name}: families", value=len(families), unit="")
        outcomes = sum(len(system.earned) for system in systems)
        most = min(DRAWS, max(FEWEST_DRAWS, MOST_OUTCOMES // outcomes))
        draws = next((int(word) for word in sys.argv[1:] if word.isdigit()), most)
        yield Figure(what=f"{path.name}: draws of each system", value=draws, unit="")
        for count in AT_MOST:
            yield from _figures(systems, count, draws, is_known="mcpmark" in path.name)


def read_systems(lines: Iterable[DataRow]) -> list[RecordedSystem]:
    """Return the systems of a matrix, each with what its attempts earned on the items that it has.

    Raises:
        BadInput: a line is not of the form, an item is there twice, or an outcome is none from 0 to 1; names the line.
    """
    attempts: dict[str, list[dict[str, float]]] = {}
    families: dict[str, str] = {}
    items: set[str] = set()
    for row in lines:
        try:
            item = str(row.cells["id"])
            outcomes = outcomes_of(row.cells)
            families |= row.cells.get("families") or {}
        except KeyError:
            raise BadInput("{where}: it has no `id`.", where=row.where) from None
        except BadInput as error:
            raise BadInput("{where}: {problem}.", where=row.where, problem=error) from None
        if item in items:
            raise BadInput("{where}: the id '{id}' was used already.", where=row.where, id=item)
        items.add(item)
        for system, values in outcomes.items():
            for index, value in enumerate(each for each in values if each is not None):
                of_system = attempts.setdefault(system, [])
                if index == len(of_system):
                    of_system.append({})
                of_system[index][item] = _points(value, system, row)
    return [
        RecordedSystem(name=system, family=families.get(system) or family_of(system), attempts=of_system)
        for system, of_system in attempts.items()
    ]


def _points(value: object, system: str, row: DataRow) -> float:
    try:
        points = float(value)  # type: ignore[arg-type]  # what is no number is refused
        if 0 <= points <= 1:
            return points
    except (TypeError, ValueError):
        pass
    raise BadInput(
        "{where}: of '{system}' it has {value}, which is no number from 0 to 1.",
        where=row.where,
        system=system,
        value=repr(value),
    )


def replay(
    systems: Sequence[RecordedSystem], count: int, draws: int, *, shuffled: bool = False, of_suite: bool = True
) -> dict[str, tuple[Replayed, Replayed]]:
    """Return, by family, how draws spread by other families did, and plain ones.

    A system is left out that has no more than `count` items, or of which others know less than half.

    Args:
        shuffled: each system earns what it did on items by chance, as if it were unlike all others.
        of_suite: intervals are about these very items; else about items like these, of which each draw has a suite of its own.
    """
    results: dict[str, tuple[Replayed, Replayed]] = {}
    known_by_family = _known_by_family(systems)
    for system in systems:
        known, agreement = known_by_family[system.family]
        shared = known.keys() & system.earned.keys()
        if len(system.earned) <= count or len(shared) < LEAST_KNOWN * len(system.earned):
            continue
        source = random.Random(f"{system.name}/{count}/{shuffled}")
        middle = fmean(known[item] for item in shared)
        expected = {item: known.get(item, middle) for item in system.earned}
        spread, plain = results.setdefault(system.family, (Replayed(), Replayed()))
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


def _known_by_family(
    systems: Sequence[RecordedSystem],
) -> dict[str, tuple[Mapping[str, float], tuple[float, float, int] | None]]:
    """Return what systems of all other families earned on each item in the mean, and how far these agree."""
    result = {}
    for family in {system.family for system in systems}:
        others = tuple(system.earned for system in systems if system.family != family)
        result[family] = (SampleHistory(others=others).expected, find_agreement(others))
    return result


def _plain(values: Sequence[float], total: int, *, of_suite: bool) -> Estimate:
    sums = tally(Case(cluster=str(at), values=(value,), planned=1) for at, value in enumerate(values))
    return strata.estimate("accuracy", [strata.MeasuredStratum(name="", tally=sums, size=total)], of_suite=of_suite)


def _figures(systems: Sequence[RecordedSystem], count: int, draws: int, *, is_known: bool) -> Iterator[Figure]:
    by_family = replay(systems, count, draws)
    if not by_family:
        return
    spread, plain = _together(by_family)
    if left_out := len(systems) - len(spread.squares) // draws:
        yield Figure(what=f"{count} calls: systems left out, of too few items", value=left_out, unit="")
    items = fmean(len(system.earned) for system in systems if len(system.earned) > count)
    most = AT_MOST[count] if is_known else None
    yield from _errors(f"{count} calls", (spread, plain), count, items, most)
    of_samples = replay(systems, count, draws, of_suite=False)
    for about, results in (("these very tasks", by_family), ("tasks like these", of_samples)):
        ours, theirs = _together(results)
        what, highest = f"{count} calls, about {about}", 0.97 if results is by_family else None
        yield Figure(what=f"{what}: coverage", value=fmean(ours.held), unit="", at_least=0.93, at_most=highest)
        yield Figure(what=f"{what}: coverage of a plain draw", value=fmean(theirs.held), unit="")
        yield Figure(what=f"{what}: width", value=fmean(ours.widths), unit="")
        yield Figure(what=f"{what}: width of a plain draw", value=fmean(theirs.widths), unit="")
    for family, both in sorted(by_family.items()):
        yield from _errors(f"{count} calls, {family} left out", both, count, items)
        yield Figure(what=f"{count} calls, {family} left out: coverage", value=fmean(both[0].held), unit="")
    yield from _again(systems, count, draws)
    yield from _unlike(systems, count, draws, spread.warned)


def replay_again(systems: Sequence[RecordedSystem], count: int, draws: int) -> tuple[Replayed, Replayed]:
    """Return how draws of the last attempt of each system did: by its earlier attempts and other families, and by these alone."""
    both, alone = Replayed(), Replayed()
    known_by_family = _known_by_family(systems)
    for system in systems:
        *earlier, last = system.attempts
        others = known_by_family[system.family][0]
        own = average(earlier)
        if not count < len(last) == len(last.keys() & own.keys() & others.keys()):
            continue
        source = random.Random(f"{system.name}/{count}/again")
        for results, known in ((both, SampleHistory(others=(others,), own=own).expected), (alone, others)):
            expected = {item: known[item] for item in last}
            for _ in range(draws):
                values = [last[item] for item in draw_spread(expected, count, source)]
                plain = _plain(values, len(last), of_suite=True)
                results.add(estimate_spread(plain, values, len(last), of_suite=True), fmean(last.values()))
    return both, alone


def _again(systems: Sequence[RecordedSystem], count: int, draws: int) -> Iterator[Figure]:
    both, alone = replay_again(systems, count, draws)
    if alone.squares:
        what = f"{count} calls of a last attempt"
        yield Figure(what=f"{what}, earlier ones known: RMSE", value=both.error, unit="")
        yield Figure(what=f"{what}, others known: RMSE", value=alone.error, unit="")
        yield Figure(what=f"{what}, earlier ones known: coverage", value=fmean(both.held), unit="", at_least=0.93)


def _errors(
    what: str, both: tuple[Replayed, Replayed], count: int, items: float, most: float | None = None
) -> Iterator[Figure]:
    calls = 1 / (1 / items + _ratio(*both) ** 2 * (1 / count - 1 / items))
    yield Figure(what=f"{what}: RMSE", value=both[0].error, unit="", at_most=most)
    yield Figure(what=f"{what}: RMSE of a plain draw", value=both[1].error, unit="")
    yield Figure(what=f"{what}: as good as so many of a plain draw", value=calls, unit="calls")


def _unlike(systems: Sequence[RecordedSystem], count: int, draws: int, warned: Sequence[bool]) -> Iterator[Figure]:
    both = _together(replay(systems, count, draws, shuffled=True))
    what = f"{count} calls, unlike all others"
    yield Figure(what=f"{what}: RMSE over that of a plain draw", value=_ratio(*both), at_most=WORSE)
    if count >= 20 and warned:  # else there is no such test
        yield Figure(what=f"{count} calls: warned that others do not fit", value=fmean(warned), unit="", at_most=0.05)
        yield Figure(what=f"{what}: warned", value=fmean(both[0].warned), unit="")
    yield Figure(what=f"{what}: coverage", value=fmean(both[0].held), unit="", at_least=0.93)


def _ratio(spread: Replayed, plain: Replayed) -> float:
    return spread.error / plain.error if plain.error else 1.0


def _together(by_family: Mapping[str, tuple[Replayed, Replayed]]) -> tuple[Replayed, Replayed]:
    spread, plain = Replayed(), Replayed()
    for ours, theirs in by_family.values():
        spread.extend(ours)
        plain.extend(theirs)
    return spread, plain
