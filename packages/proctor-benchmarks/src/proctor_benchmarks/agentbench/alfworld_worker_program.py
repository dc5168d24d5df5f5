"""Worker: a game of ALFWorld by the packages `alfworld` and `textworld`."""

from collections.abc import Mapping
from typing import Any


class Game:
    """A game of one attempt."""

    def __init__(self, path: str) -> None:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler

        wanted = textworld.EnvInfos(won=True, admissible_commands=True)
        self._game = textworld.start(path, wanted, wrappers=[lambda game: AlfredDemangler(game, shuffle=False)])

    def reset(self) -> dict[str, object]:
        return _shown(self._game.reset(), done=False)

    def step(self, action: str) -> dict[str, object]:
        state, _, done = self._game.step(action)
        return _shown(state, done=bool(done))


def _shown(state: Mapping[str, Any], *, done: bool) -> dict[str, object]:
    return {
        "observation": state["feedback"],
        "actions": list(state["admissible_commands"]),
        "won": int(state["won"]),
        "done": done,
    }


def start(path: str) -> Game:
    """Return a game that has not begun."""
    return Game(path)
