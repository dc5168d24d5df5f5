"""The card game of AgentBench: a judge, a player and a baseline in the official layout, written for this test, in real processes."""

import sys
from collections.abc import Sequence
from pathlib import Path

import agentbench_clone as clone
import pytest

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.models.scripted import ScriptedModel

JUDGE = """
import json, shlex, subprocess, sys
import rserver
*players, _, replay = sys.argv[2:]
codes = [subprocess.run(shlex.split(player.replace("+", " ")), stdout=subprocess.DEVNULL).returncode for player in players]
fish = lambda hp: [{"hp": hp}] * 4
hurt = {"players": [{"id": 1, "fight_fish": fish(100)}, {"id": 0, "fight_fish": fish(400)}]}
json.dump([{}, hurt, {}], open(replay, "w"))
print('{"0" : 0, "1" : 1}' if 3 in codes else '{"0" : 1, "1" : 0}')
"""
CLIENT = """
import json
class Client:
    def llm_call(self, history, prompt, system):
        said = [{"role": "user", "content": system}, {"role": "agent", "content": "Fine."}, {"role": "user", "content": prompt}]
        self.send_message(json.dumps(said))
        return self.receive_messages()
    def stop(self):
        self.socket.close()
"""
PLAYER = """
import json, sys
import requests
class Agent:
    def __init__(self, client, stage, order, save_dir):
        self.client, self.path = client, f"{save_dir}/thinking_process_{order}.jsonl"
    def run(self):
        for number in range(3):
            said = self.client.llm_call([], f"Move {number}?", "Rules.")
            if said.startswith("### "):
                sys.exit(3)
            if said != "bite":
                self.client.send_message("#[ERROR]1")
                sys.exit(3)
            open(self.path, "a").write(json.dumps({"try_times": number}) + "\\n")
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "1")
    game = clone.write(tmp_path / "AgentBench") / "src/server/tasks/card_game"
    files = {
        "judger/judger.py": JUDGE,
        "judger/rserver.py": "import websockets\n",
        "AI/client.py": CLIENT,
        "AI/AI_En.py": PLAYER,
    }
    for name, text in {**files, "AI/basline1.py": "", "AI/basline2.py": ""}.items():
        path = game / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "AgentBench"


def run(root: Path, replies: Sequence[str], limit: int = 1, **options: str) -> Run:
    def reply(messages: Sequence[Message], _: object) -> str:
        return replies[int(messages[-1].text[5])]

    agent = ChatAgent(ScriptedModel(reply))
    options = {"data": str(root), "split": "dev", "python": sys.executable, **options}
    return evaluate("agentbench/cards", agent=agent, options=options, store=":memory:", limit=limit, concurrency=1)


def test_games_are_played_and_counted_by_seat(root: Path) -> None:
    found = run(root, ["bite"] * 3, limit=4)
    assert found.outcomes == {"scored": 4}
    for trial in found.trials():
        assert trial.trajectory.state is not None
        assert trial.trajectory.state["status"] == "completed"
        (game,) = trial.trajectory.state["result"]["meta"].values()
        first = trial.trajectory.state["result"]["state"]["ai1"] == "ai"
        assert game == {"full_play": 1, "try_times": 3 if first else 0, "takedown": 0, "damage": 1200 if first else 0, "win_round": int(first), "round_num": 2, "test_times": 1}  # fmt: skip
        assert [step.message.text for step in trial.trajectory.steps][-2:] == ["Move 2?", "bite"]


def test_a_move_that_is_none_ends_a_game_as_officially(root: Path) -> None:
    found = run(root, ["bite", "swim"])
    assert {verdict.result.known.error_class for verdict in found.verdicts()} == {"agent invalid action"}


def test_a_game_that_does_not_start_is_no_zero(root: Path) -> None:
    (root / "src/server/tasks/card_game/judger/judger.py").write_text("import nothing\n", encoding="utf-8")
    assert run(root, []).outcomes == {"environment_failed": 1}


def test_without_the_right_python_the_option_is_named(root: Path) -> None:
    with pytest.raises(BadInput, match="python=PATH"):
        run(root, [], python="python3.10-nowhere")
