"""Rank systems by who beat whom.

Bradley-Terry: the chance that A beats B is 1 / (1 + exp(b - a)) for strengths a and b, found by maximum likelihood; a tie is
half a win for each. Strengths are shown on the scale of Elo, 1000 on average, 400 for odds of 10 to 1. Intervals come from
drawing the items (prompts) again, never single battles, because the battles of one prompt share its luck; each draw moves the
strengths by one Newton step. Draws of G items spread by (G - 1) / G too little, and few items say little of their own spread:
moves are stretched by Student's t with G - 1 degrees over the normal quantile, times √(G / (G - 1)). Without that 8 items
covered 90 %.

Where some systems won everything against the others, no strength is the likeliest. Then every pair that met is given one more
tie, and ratings that hang on that tie have no interval. Nor have those of systems that fewer than five items link to the others
by a decided battle: drawing such a handful again says little of others.

Sources: Bradley and Terry 1952; Chiang et al. 2024, "Chatbot Arena", arXiv 2403.04132; style as covariates: the arena's style
control of August 2024.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.stats.distributions import t_quantile
from proctor.stats.rate import checked_level, two_sided_z
from proctor_judging.stats._logistic import BattleRow, LogisticFit, chance_of, direction, fit
from proctor_judging.stats.bootstrap import RESAMPLES, draws, percentiles

T = TypeVar("T", str, int)

BOOTSTRAP_BY_ITEM = "bootstrap over items"
ELO_MEAN = 1000.0
ELO_SCALE = 400 / math.log(10)
_NO_WIDTH = 1e-9
_LEAST_LINK = 5  # items with a decided battle


class RankedBattle(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison: `won` is 1 when the first was better, 0 when the second was, 0.5 for a tie.

    `style` holds differences first - second to control for, such as `length_difference`; all battles name the same ones.
    """

    item: str
    first: str
    second: str
    won: float
    style: Mapping[str, float] = {}


class Rating(msgspec.Struct, frozen=True, kw_only=True):
    """A system's log-strength (0 on average), its Elo rating with an interval, and its battles."""

    name: str
    strength: float
    elo: float
    low: float | None
    high: float | None
    wins: float
    battles: int


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """Systems from best to worst; `style` is what one standard deviation of each covariate adds, as log-odds."""

    ratings: tuple[Rating, ...]
    style: Mapping[str, float] = {}
    level: float = 0.95
    method: str = BOOTSTRAP_BY_ITEM
    items: int = 0
    note: str | Sentence = ""


def bradley_terry(
    battles: Sequence[RankedBattle], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Ranking:
    """Rank all systems that met. With `style` in the battles, rank them as if they wrote in the same style.

    >>> won = {("a", "b"): (7, 3), ("a", "c"): (9, 1), ("b", "c"): (6, 4)}
    >>> battles = [
    ...     RankedBattle(item=str(i), first=one, second=other, won=i < wins)
    ...     for (one, other), (wins, losses) in won.items() for i in range(wins + losses)
    ... ]
    >>> [round(rating.elo, 2) for rating in bradley_terry(battles).ratings]
    [1163.92, 972.18, 863.9]

    Raises:
        BadInput: no battle, a system against itself, a result that is not 0 to 1, or two groups that never met.
    """
    checked_level(level)
    names, styles = _check(battles)
    rows = _rows(battles, names, styles)
    bound = _bound_together(rows, len(names))
    linked = _largest_linked(battles, [names[index] for index in bound], names)
    if len(bound) < len(names):
        zeros = (0.0,) * len(styles)
        ties = [
            BattleRow(index, other, 0.5, zeros) for index, other in sorted({(row.first, row.second) for row in rows})
        ]
    else:
        ties = []
    fitted = fit([*rows, *ties], len(names), len(styles))
    moves = _moves(battles, rows, fitted)
    ends = {}
    if len(moves) > 1:
        drawn = draws(sorted(moves), resamples=resamples, seed=seed)
        items = len(moves)
        stretch = t_quantile(0.5 + level / 2, items - 1) / two_sided_z(level) * math.sqrt(items / (items - 1))
        for index in linked:
            strength = fitted.parameters[index]
            moved = [strength + stretch * sum(n * moves[item][index] for item, n in times.items()) for times in drawn]
            around = percentiles([_elo(value) for value in moved], level)
            if around.high - around.low > _NO_WIDTH:  # where all battles are tied, nothing tells how sure that is
                ends[index] = around
    ratings = [
        Rating(
            name=name,
            strength=fitted.parameters[index],
            elo=_elo(fitted.parameters[index]),
            low=ends[index].low if index in ends else None,
            high=ends[index].high if index in ends else None,
            wins=math.fsum(
                row.won if row.first == index else 1 - row.won for row in rows if index in (row.first, row.second)
            ),
            battles=sum(index in (row.first, row.second) for row in rows),
        )
        for index, name in enumerate(names)
    ]
    apart = [name for index, name in enumerate(names) if index not in bound]
    note: str | Sentence = ""
    if apart:
        note = say(
            "{names}: won, or lost, everything against the others, so how far apart they are cannot be told; one more tie for each pair keeps the ratings finite.",
            names=", ".join(apart),
        )
    elif len(linked) < len(bound):
        note = say(
            "{names}: fewer than {least} items with a decided comparison link them to the others, so there is no interval.",
            names=", ".join(names[index] for index in bound if index not in linked),
            least=_LEAST_LINK,
        )
    elif not ends:
        note = say("Too little varies for an interval.")
    return Ranking(
        ratings=tuple(sorted(ratings, key=lambda rating: (-rating.strength, rating.name))),
        style=dict(zip(styles, fitted.parameters[len(names) :], strict=True)),
        level=level,
        items=len(moves),
        note=note,
    )


def _check(battles: Sequence[RankedBattle]) -> tuple[list[str], list[str]]:
    if not battles:
        raise BadInput("There is no comparison to rank by.")
    styles = sorted(battles[0].style)
    for battle in battles:
        if battle.first == battle.second:
            raise BadInput("'{name}' cannot be compared with itself.", name=battle.first)
        if not 0 <= battle.won <= 1:
            raise BadInput("The result of a comparison lies between 0 and 1; one is {won}.", won=battle.won)
        if sorted(battle.style) != styles:
            raise BadInput("All comparisons need the same style covariates: {names}.", names=", ".join(styles) or "-")
    names = sorted({name for battle in battles for name in (battle.first, battle.second)})
    groups = _reachable(((battle.first, battle.second) for battle in battles), both_ways=True)
    strangers = [name for name in names if name not in groups[names[0]]]
    if strangers:
        raise BadInput(
            "{first} and {second} never met, not even through others, so they cannot be ranked together.",
            first=names[0],
            second=strangers[0],
        )
    return names, styles


def _rows(battles: Sequence[RankedBattle], names: Sequence[str], styles: Sequence[str]) -> list[BattleRow]:
    index_by_name = {name: number for number, name in enumerate(names)}
    sizes = [math.sqrt(math.fsum(battle.style[name] ** 2 for battle in battles) / len(battles)) for name in styles]
    return [
        BattleRow(
            index_by_name[battle.first],
            index_by_name[battle.second],
            float(battle.won),
            tuple(battle.style[name] / (size or 1.0) for name, size in zip(styles, sizes, strict=True)),
        )
        for battle in battles
    ]


def _bound_together(rows: Iterable[BattleRow], count: int) -> list[int]:
    """Return the largest group in which each system has lost to each other, directly or through others."""
    beaten = [(row.first, row.second) for row in rows if row.won > 0]
    beaten += [(row.second, row.first) for row in rows if row.won < 1]
    reached = _reachable(beaten)
    groups = [
        [
            other
            for other in range(count)
            if other == system or (other in reached.get(system, ()) and system in reached.get(other, ()))
        ]
        for system in range(count)
    ]
    largest = max(groups, key=len)
    return largest if len(largest) > 1 else []


def _largest_linked(battles: Iterable[RankedBattle], bound: Iterable[str], names: Sequence[str]) -> list[int]:
    """Return the largest group whose parts are linked by enough items: groups linked by that many are merged."""
    groups = [{name} for name in bound]
    decided: dict[frozenset[str], set[str]] = {}
    for battle in battles:
        if battle.won in (0, 1):
            decided.setdefault(frozenset((battle.first, battle.second)), set()).add(battle.item)

    def are_linked(one: set[str], other: set[str]) -> bool:
        pairs = (frozenset((first, second)) for first in one for second in other)
        return len(set().union(*(decided.get(pair, ()) for pair in pairs))) >= _LEAST_LINK

    while pair := next(((group, other) for group, other in combinations(groups, 2) if are_linked(group, other)), None):
        one, other = pair
        groups.remove(other)
        one |= other
    largest: set[str] = max(groups, key=len, default=set())
    return [index for index, name in enumerate(names) if name in largest] if len(largest) > 1 else []


def _reachable(steps: Iterable[tuple[T, T]], *, both_ways: bool = False) -> dict[T, set[T]]:
    """Return for each node those that can be reached from it."""
    nexts: dict[T, set[T]] = {}
    for one, other in steps:
        nexts.setdefault(one, set()).add(other)
        if both_ways:
            nexts.setdefault(other, set()).add(one)
    reached = {}
    for start in nexts:
        seen, todo = {start}, [start]
        while todo:
            new = nexts.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        reached[start] = seen
    return reached


def _moves(battles: Sequence[RankedBattle], rows: Sequence[BattleRow], fitted: LogisticFit) -> dict[str, list[float]]:
    """Return how far each item shifts the parameters."""
    size = len(fitted.parameters)
    systems = size - len(rows[0].style)
    pulls: dict[str, list[float]] = {}
    for battle, row in zip(battles, rows, strict=True):
        pull = pulls.setdefault(battle.item, [0.0] * size)
        left = row.won - chance_of(row, fitted.parameters, systems)
        for index, x in direction(row, systems):
            pull[index] += left * x
    mean = [math.fsum(pull[index] for pull in pulls.values()) / len(pulls) for index in range(size)]
    return {
        item: [
            math.fsum(value * (other - usual) for value, other, usual in zip(line, pull, mean, strict=True))
            for line in fitted.inverse
        ]
        for item, pull in pulls.items()
    }


def _elo(strength: float) -> float:
    return ELO_MEAN + ELO_SCALE * strength
