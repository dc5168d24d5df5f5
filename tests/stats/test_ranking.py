import math
import random
from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest

from proctor.core.errors import BadInput
from proctor_judging.stats.ranking import ELO_SCALE, RankedBattle, Ranking, Rating, bradley_terry

WON = {("a", "b"): (7, 3), ("a", "c"): (9, 1), ("b", "c"): (6, 4)}


def test_the_computed_vector_of_bradley_and_terry() -> None:
    found = bradley_terry(_battles(WON))
    assert [one.name for one in found.ratings] == ["a", "b", "c"]
    assert [one.strength for one in found.ratings] == pytest.approx([0.943606, -0.160161, -0.783445], abs=1e-6)
    assert [one.elo for one in found.ratings] == pytest.approx([1163.92, 972.18, 863.90], abs=5e-3)
    assert [(one.wins, one.battles) for one in found.ratings] == [(16, 20), (9, 20), (5, 20)]


def test_a_tie_is_half_a_win_for_each() -> None:
    ties = [_battle(str(i), "a", "b", 0.5) for i in range(6)]
    halves = [_battle(str(i), "a", "b", float(i < 3)) for i in range(6)]
    assert _strengths(bradley_terry([*ties, _battle("x", "a", "b", 1)])) == pytest.approx(
        _strengths(bradley_terry([*halves, _battle("x", "a", "b", 1)]))
    )


def test_who_stands_first_does_not_matter() -> None:
    turned = [_battle(one.item, one.second, one.first, 1 - one.won) for one in _battles(WON)]
    assert _strengths(bradley_terry(turned)) == pytest.approx(_strengths(bradley_terry(_battles(WON))))
    assert _width(bradley_terry(turned)) == pytest.approx(_width(bradley_terry(_battles(WON))))


def test_the_battles_of_a_prompt_are_not_taken_for_independent() -> None:
    """Ten copies of each battle of a prompt say no more than one; as prompts of their own they would."""
    source = random.Random(1)
    once = [_battle(str(i), "a", "b", float(source.random() < 0.6)) for i in range(60)]
    copies = [one for one in once for _ in range(10)]
    apart = [_battle(f"{one.item}-{place}", "a", "b", one.won) for place, one in enumerate(copies)]
    width, width_of_copies, width_apart = (_width(bradley_terry(battles)) for battles in (once, copies, apart))
    assert width_of_copies == pytest.approx(width)
    assert width_apart < 0.4 * width


def test_who_wins_everything_has_no_interval_and_the_note_says_so() -> None:
    battles = [_battle(str(i), "a", other, 1) for i in range(10) for other in ("b", "c")]
    battles += [_battle(str(i), "b", "c", float(i < 6)) for i in range(10)]
    found = bradley_terry(battles)
    best, *others = found.ratings
    assert (best.name, best.low, best.high) == ("a", None, None)
    assert math.isfinite(best.elo)
    assert all(one.low is not None for one in others)
    assert str(found.note).startswith("a: won, or lost, everything")


@pytest.mark.parametrize("battles", [1, 5])
def test_nothing_but_ties_is_no_certainty(battles: int) -> None:
    found = bradley_terry([_battle(str(i), "a", "b", 0.5) for i in range(battles)])
    assert [(one.elo, one.low) for one in found.ratings] == [(1000, None), (1000, None)]
    assert str(found.note).startswith("a, b: fewer than 5 items with a decided comparison")


def test_items_that_all_say_the_same_of_both_give_no_interval() -> None:
    both_ways = [_battle(str(i), "a", "b", float(won)) for i in range(10) for won in (0, 1)]
    assert str(bradley_terry(both_ways).note) == "Too little varies for an interval."


def test_two_systems_of_which_one_always_wins_are_both_without_interval() -> None:
    found = bradley_terry([_battle(str(i), "a", "b", 1) for i in range(10)])
    assert [one.low for one in found.ratings] == [None, None]
    assert found.ratings[0].elo > 1100


def test_systems_that_never_met_cannot_be_ranked_together() -> None:
    with pytest.raises(BadInput, match="a and c never met"):
        bradley_terry([_battle("1", "a", "b", 1), _battle("1", "c", "d", 0)])


def test_systems_that_met_through_others_can() -> None:
    found = bradley_terry([_battle("1", "a", "b", 0.5), _battle("2", "b", "c", 0.5)])
    assert _strengths(found) == pytest.approx({"a": 0, "b": 0, "c": 0})


@pytest.mark.parametrize(
    ("battle", "why"),
    [
        (RankedBattle(item="1", first="a", second="a", won=1), "compared with itself"),
        (RankedBattle(item="1", first="a", second="b", won=1.5), "between 0 and 1"),
        (RankedBattle(item="1", first="a", second="b", won=1, style={"length": 1}), "same style covariates"),
    ],
)
def test_a_battle_that_cannot_be_is_refused(battle: RankedBattle, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        bradley_terry([_battle("0", "a", "b", 0), battle])


def test_no_battle_is_refused() -> None:
    with pytest.raises(BadInput, match="no comparison"):
        bradley_terry([])


def test_style_control_takes_the_effect_of_length_off() -> None:
    """Equally good systems, of which one writes more, before a judge that likes length."""
    source = random.Random(2)
    battles = []
    for item in range(600):
        longer = source.gauss(0.5, 1)
        won = source.random() < 1 / (1 + math.exp(-longer))
        battles.append(_battle(str(item), "long", "short", float(won), {"length_difference": longer}))
    plain = bradley_terry([_battle(one.item, one.first, one.second, one.won) for one in battles])
    controlled = bradley_terry(battles)
    assert _of(plain, "long").low is not None
    assert (_of(plain, "long").low or 0) > 1000
    assert _has(_of(controlled, "long"), 1000)
    assert controlled.style["length_difference"] == pytest.approx(1.1, abs=0.25)  # per standard deviation


def test_a_covariate_that_decides_everything_stays_finite() -> None:
    battles = [_battle(str(i), "a", "b", float(i % 2), {"length": 1.0 if i % 2 else -1.0}) for i in range(40)]
    found = bradley_terry(battles)
    assert all(math.isfinite(one.elo) for one in found.ratings)
    assert found.style["length"] > 2


@pytest.mark.parametrize(("items", "style"), [(20, 0.0), (60, 0.8)])
def test_ratings_are_covered(items: int, style: float) -> None:
    source = random.Random(3)
    strengths = {"a": 0.5, "b": 0.0, "c": -0.5}
    hits = told = 0
    for _ in range(200):
        battles = [one for item in range(items) for one in _prompt(source, str(item), strengths, style)]
        for one in bradley_terry(battles, resamples=300).ratings:
            told += one.low is not None
            hits += one.low is not None and _has(one, 1000 + ELO_SCALE * strengths[one.name])
    assert 0.915 <= hits / told <= 0.975


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "strengths", "tied"),
    [
        (8, (0.5, 0.2, -0.2, -0.5), 0.0),
        (20, (0.5, 0.0, -0.5), 0.6),
        (40, (2.5, 0.0, -2.5), 0.0),
    ],
    ids=["few items", "ties", "gaps"],
)
def test_ratings_of_few_items_of_ties_and_of_gaps_are_covered(
    items: int, strengths: tuple[float, ...], tied: float
) -> None:
    source, names = random.Random(4), "abcd"[: len(strengths)]
    chances = {
        (one, other): tied / 2 + (1 - tied) / (1 + math.exp(strengths[at] - strengths[names.index(one)]))
        for one, other in combinations(names, 2)
        for at in [names.index(other)]
    }
    truth = {
        one.name: one.elo
        for one in bradley_terry([_battle(str(pair), *pair, chance) for pair, chance in chances.items()]).ratings
    }
    covered = given = 0
    for _ in range(100):
        battles = [
            _battle(str(item), *pair, 0.5 if source.random() < tied else float(source.random() < alone))
            for item in range(items)
            for pair, chance in chances.items()
            for alone in [(chance - tied / 2) / (1 - tied)]
        ]
        for one in bradley_terry(battles, resamples=200).ratings:
            given += one.low is not None
            covered += one.low is not None and _has(one, truth[one.name])
    assert 0.925 - 0.02 <= covered / given <= 0.99


def _battles(won: Mapping[tuple[str, str], tuple[int, int]]) -> list[RankedBattle]:
    return [
        _battle(str(i), first, second, float(i < wins))
        for (first, second), (wins, losses) in won.items()
        for i in range(wins + losses)
    ]


def _battle(item: str, first: str, second: str, won: float, style: Mapping[str, float] | None = None) -> RankedBattle:
    return RankedBattle(item=item, first=first, second=second, won=won, style=style or {})


def _prompt(source: random.Random, item: str, strengths: Mapping[str, float], style: float) -> Sequence[RankedBattle]:
    battles = []
    for first, second in (("a", "b"), ("a", "c"), ("b", "c")):
        longer = source.gauss(0.2, 1)
        chance = 1 / (1 + math.exp(-(strengths[first] - strengths[second] + style * longer)))
        covariates = {"length": longer} if style else {}
        battles.append(_battle(item, first, second, float(source.random() < chance), covariates))
    return battles


def _strengths(found: Ranking) -> dict[str, float]:
    return {one.name: one.strength for one in found.ratings}


def _of(found: Ranking, name: str) -> Rating:
    return next(one for one in found.ratings if one.name == name)


def _has(one: Rating, truth: float) -> bool:
    assert one.low is not None
    assert one.high is not None
    return one.low <= truth <= one.high


def _width(found: Ranking) -> float:
    best = found.ratings[0]
    assert best.low is not None
    assert best.high is not None
    return best.high - best.low


def test_one_tie_is_no_interval() -> None:
    """b and c used to be printed as 733 [731.6, 735.1], out of a single tie."""
    battles = [_battle(str(i), "a", "b", 1) for i in range(50)] + [_battle("x", "b", "c", 0.5)]
    found = bradley_terry(battles)
    assert [one.low for one in found.ratings] == [None, None, None]


def test_a_system_that_a_handful_of_battles_links_has_no_interval() -> None:
    battles = [_battle(str(i), "a", "b", float(i < 12)) for i in range(20)]
    few = [_battle(f"c{i}", "b", "c", float(i < 2)) for i in range(4)]
    found = bradley_terry([*battles, *few])
    assert {one.name for one in found.ratings if one.low is None} == {"c"}
    assert str(found.note).startswith("c: fewer than 5 items")
    more = bradley_terry([*battles, *few, _battle("c9", "a", "c", 1)])
    assert all(one.low is not None for one in more.ratings)
