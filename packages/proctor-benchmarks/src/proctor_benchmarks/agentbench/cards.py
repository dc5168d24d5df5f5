"""Play card games with the official judge in worker processes, and read what a game came to.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/card_game/task.py` and `judger/cal_metric.py`.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.sample import JsonObject, Message, Sample
from proctor.isolation import WorkerLimits, WorkerRaised, Workers
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_benchmarks.agentbench.official import CARD_HEALTH, Status

FISH_HEALTH = CARD_HEALTH // 4
PROGRAM = Path(__file__).with_name("cards_worker_program.py")
LIMITS = WorkerLimits(seconds=660.0, processes=256)  # a whole game has 600 officially
STATUSES: Sequence[Status] = ("completed", "agent invalid action", "agent validation failed", "agent context limit")
_ROLES: Mapping[str, Literal["user", "assistant"]] = {"user": "user", "agent": "assistant"}

Game = JsonObject  # `winner`, `replay`, and `tries`: the numbers of tries by file, for both players


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


class CardsPart:
    """Plays card games; the official player decides what the agent is asked, and what of its replies is a move.

    Args:
        root: the user's clone, with the files of the player for Python 3.10 on Linux.
        python: that Python.

    Entering raises `BadInput` if it is not there.
    """

    def __init__(self, root: Path, python: str) -> None:
        self._folder = root / "src/server/tasks/card_game"
        self._python = python
        self._workers = Workers(PROGRAM, limits=LIMITS)

    async def __aenter__(self) -> Self:
        if (python := shutil.which(self._python)) is None:
            raise BadInput("The card game needs Python 3.10, for which its official player is built: --set python=PATH ('{python}' is not there).", python=self._python)  # fmt: skip
        self._python = python
        await self._workers.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._workers.__aexit__(*raised)

    async def __call__(self, sample: Sample, history: History) -> Loop:
        """Play one game; the history is the one that the official player sends."""
        item = sample.meta["item"]
        base, seat = item["base"], item["agent"]
        try:
            game = await self._workers.open("open_game", folder=str(self._folder), python=self._python, stage=item["stage"], base=base, seat=seat)  # fmt: skip
            try:
                turn = await game.call("turn", reply=None, first=True)
                while "history" in turn:
                    history[:] = [Message.of(_ROLES[said["role"]], said["content"]) for said in turn["history"]]
                    reply = yield None
                    turn = await game.call("turn", reply=reply, first=False)
            finally:
                await game.close()
        except WorkerRaised as error:
            raise EnvironmentFailed("The card game broke: {error}", kind="start", error=error) from None
        names = ("ai", base) if seat == 0 else (base, "ai")
        result = {
            "data": json.dumps(item),
            "meta": {f"{item['stage']}_{'_'.join(names)}": tally([turn], seat)},
            "state": {"ai1": names[0], "ai2": names[1], "winner": turn["winner"]},
        }
        yield EndedSample(status=STATUSES[turn["status"]], result=result)
