"""Read what a card game came to, from the judge's notes on it.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/card_game/judger/cal_metric.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.benchmarks.agentbench.official import CARD_HEALTH

FISH_HEALTH = CARD_HEALTH // 4

Game = Mapping[str, Any]  # `winner`, `replay`, and `tries`: the numbers of tries by file, for both players


def tally(games: Sequence[Game], player: int) -> dict[str, int]:
    """Return the official sums over the games of one player; a game that cannot be read does not count.

    The first of the two players in the second last entry of the replay is player 0 only where its id says so.
    """
    names = ("full_play", "try_times", "takedown", "damage", "win_round", "round_num", "test_times")
    total = dict.fromkeys(names, 0)
    for game in games:
        try:
            counted = _counted(game, player)
        except (KeyError, IndexError, TypeError):
            continue
        total = {name: total[name] + counted[name] for name in names}
    return total


def _counted(game: Game, player: int) -> dict[str, int]:
    replay = game["replay"]
    last = replay[-2]
    first, second = last["players"][:2]
    own_is_first = (first["id"] == 0) == (player == 0)
    enemy = second if own_is_first else first
    health = [fish["hp"] for fish in enemy["fight_fish"]]
    errors = last.get("errors")
    tries = game.get("tries", {})
    return {
        "full_play": int(not errors or errors[0]["player"] != player),
        "try_times": sum(sum(tries.get(f"{name}_process_{player}", ())) for name in ("thinking", "guess")),
        "takedown": sum(left <= 0 for left in health),
        "damage": sum(FISH_HEALTH - max(left, 0) for left in health),
        "win_round": int((game["winner"] == "0") == (player == 0)),
        "round_num": len(replay) - 1,
        "test_times": 1,
    }
