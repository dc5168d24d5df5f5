"""The puzzles, the knowledge base and the household of AgentBench: played with a scripted host, endpoint and package."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import agentbench_clone as clone
import pytest
from endpoint import Endpoint, data

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate, evaluate_async
from proctor.core.errors import BadInput
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks.agentbench import alfworld
from proctor_benchmarks.agentbench.knowledge import Ontology, Turns, Walk
from proctor_benchmarks.agentbench.knowledge_base import SparqlBase
from proctor_benchmarks.agentbench.os_loop import read_action

OFFICIAL_UTILS = """
def postprocess_raw_code(program): return program
def lisp_to_sparql(program):
    if "COUNT" in program: raise ValueError(program)
    return "PREFIX ns:\\nSELECT ?x WHERE { " + program + " }"
"""
TEXTWORLD = """
class EnvInfos:
    def __init__(self, **wanted): self.wanted = wanted
class Game:
    def __init__(self, path): self.path, self.done = path, []
    def shown(self, text): return {"feedback": text, "admissible_commands": ["look", "go to desk 1"], "won": "go to desk 1" in self.done}
    def reset(self): return self.shown("-= Welcome =-\\n\\nYou are in a room.\\n\\nYour task is to: go.")
    def step(self, action):
        if action == "break": raise RuntimeError("broken")
        self.done.append(action)
        return self.shown("You arrive at loc 1. You did: " + action), 0, "go to desk 1" in self.done
def start(path, infos, wrappers): return wrappers[0](Game(path))
"""
DEMANGLER = "def AlfredDemangler(game, shuffle): return game\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "1")
    root = clone.write_sources(clone.write(tmp_path / "AgentBench"))
    question = {"question": "Who?", "entities": {"Ada": "m.0"}, "actions": [], "source": "grailqa", "answer": [{"answer_argument": "m.1"}, {"answer_argument": "m.2"}]}  # fmt: skip
    (root / "data/knowledgegraph/dev.json").write_text(json.dumps([question]), encoding="utf-8")
    utils = root / "src/server/tasks/knowledgegraph/utils"
    utils.mkdir()
    (utils / "logic_form_util.py").write_text(OFFICIAL_UTILS, encoding="utf-8")
    return root


def agent(*replies: str) -> ChatAgent:
    """Return an agent with these replies in turn; the examples in the conversation are none of its own."""
    left = iter(replies)
    return ChatAgent(ScriptedModel(lambda *_: next(left)))


def found(values: Sequence[str]) -> dict[str, Any]:
    return {"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": f"http://rdf.freebase.com/ns/{value}"}} for value in values]}}  # fmt: skip


async def played(root: Path, part: str, with_agent: Any, **options: Any) -> Run:
    options = {"data": str(root), "split": "dev", **options}
    return await evaluate_async(f"agentbench/{part}", agent=with_agent, options=options, store=":memory:", concurrency=1)  # fmt: skip


async def test_a_walk_over_a_knowledge_base_finds_its_answer(root: Path) -> None:
    relation = json.loads((root / "src/server/tasks/knowledgegraph/ontology/vocab.json").read_text("utf-8"))["relations"][0]  # fmt: skip
    replies = (
        "Action: get_relations(Ada)",
        f"Action: get\\_neighbors(Ada, {relation})\nObservation: made up",
        "Action: get_relations(#0)",
        "Action: count(#0)",
        "Action: get_relations(#1)",
        "Final Answer: #0",
    )
    answers = (data(found([relation, "no.such"])), data({}, 400), data(found(["m.1", "m.3"])))
    async with Endpoint(*answers) as endpoint:
        run = await played(root, "kg", agent(*replies), sparql=f"{endpoint.url}/sparql")
    (trial,) = run.trials()
    texts = [step.message.text for step in trial.trajectory.steps if step.author == "user"]
    assert f"Observation: [{relation}]" in texts
    assert "get_relations(#0) cannot be executed. You may make a mistake and need to fix it." in texts
    assert "Observation: variable #1, which is a number" in texts
    assert "get_relations(#1) cannot be executed. You may make a mistake and need to fix it." in texts
    assert not any("made up" in text for text in texts)
    assert trial.trajectory.state is not None
    assert trial.trajectory.state["status"] == "completed"
    assert trial.trajectory.state["result"]["predict"] == ["m.1", "m.3"]
    assert run.estimate("kg").value == 0.5


async def test_an_endpoint_that_is_down_is_a_failure_of_the_environment(root: Path) -> None:
    run = await played(root, "kg", agent("Action: get_relations(Ada)"), sparql="http://127.0.0.1:9/sparql")
    assert [trial.outcome for trial in run.trials()] == ["environment_failed"]


async def test_a_puzzle_is_played_with_a_host(root: Path, tmp_path: Path) -> None:
    host = tmp_path / "host.jsonl"
    said = ({"when": "contains all the information", "say": "Yes."}, {"when": "restate the following", "say": "He was blind."}, {"when": "blind", "say": "Yes."}, {"when": "tunnel", "say": "No."})  # fmt: skip
    host.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    replies = ("He jumps?", "Give me a new game", "Was he blind once?\nOr not?", "")
    run = await played(root, "puzzles", agent(*replies), host=f"scripted:{host}")
    (trial,) = run.trials()
    assert trial.trajectory.state is not None
    result = trial.trajectory.state["result"]
    assert trial.trajectory.state["status"] == "completed"
    assert result["history"][2:] == [
        "Round 1: He jumps?",
        "This information is already in the story, please ask a new question.",
        "Round 2: Give me a new game",
        'Please continue guessing the truth based on the story and ask a question that can be answered with "yes", "no", or "irrelevant".',
        "Round 3: Was he blind once?",
        "Yes.",
    ]
    assert result["hit_keys"] == {"He was blind.": "He was blind."}
    assert run.estimate("puzzles").value == 0.5


async def test_a_household_is_played_by_its_package(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "packages"
    environment = package / "alfworld/agents/environment"
    environment.mkdir(parents=True)
    (environment / "alfred_tw_env.py").write_text(DEMANGLER, encoding="utf-8")
    for folder in ("alfworld", "alfworld/agents", "alfworld/agents/environment"):
        (package / folder / "__init__.py").touch()
    (package / "textworld.py").write_text(TEXTWORLD, encoding="utf-8")
    monkeypatch.syspath_prepend(str(package))
    games = {"pick_and_place": [f"json/valid/pick_and_place-{name}/trial/game.tw-pddl" for name in "abc"]}
    (root / "data/alfworld/dev.json").write_text(json.dumps(games), encoding="utf-8")
    for game in games["pick_and_place"][:2]:
        (tmp_path / "games" / game).parent.mkdir(parents=True)
        (tmp_path / "games" / game).touch()
    replies = ("ACTION: look", "THOUGHT: there.\n ACTION: go to the desk 1", "I do not know")
    run = await played(root, "alfworld", agent(*replies), alfworld=str(tmp_path / "games"))
    by_id = {trial.sample_id: trial for trial in run.trials()}
    first = by_id["alfworld/0"].trajectory
    assert first.state is not None
    assert [entry["action"] for entry in first.state["result"]["log"]] == ["look", "go to desk 1"]
    assert first.state["result"]["init_prompt"] == "Here is your task. You are in a room.\nYour task is to: go. AVAILABLE ACTIONS: look\ngo to desk 1\n"  # fmt: skip
    assert [trial.outcome for trial in by_id.values()] == ["scored", "scored", "environment_failed"]
    assert run.estimate("alfworld").value == 0.5


@pytest.mark.parametrize(
    ("part", "said"),
    [("kg", "sparql="), ("puzzles", "host="), ("alfworld", "ALFWORLD_DATA"), ("webshop", "webshop cannot")],
)
def test_what_a_part_lacks_is_named_before_the_run(root: Path, part: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with pytest.raises(BadInput, match=said):
        evaluate(f"agentbench/{part}", agent=agent(), options={"data": str(root), "split": "dev"}, store=":memory:")


def test_an_action_is_the_one_most_like_what_is_written() -> None:
    actions = ["go to cabinet 1", "go to cabinet 2", "put apple 1 in/on fridge 1"]
    for text, chosen in (
        ("ACTION: go to cabinet 2", "go to cabinet 2"),
        ("ACTION: Put the apple in fridge 1", "put apple 1 in/on fridge 1"),
        ("ACTION: go", "go to cabinet 1"),
        ("ACTION: dance", "dance"),
        ("action: go to cabinet 2", None),
    ):
        assert alfworld.choose(text, actions) == chosen


@pytest.mark.parametrize(
    "line", ["a" * 500_000, "count(" * 100_000, "count(" * 100_000 + ")", f"count({' ' * 500_000})"]
)
async def test_a_long_call_is_read_in_a_moment(line: str) -> None:
    turns = Turns(Walk(SparqlBase(Path(), "http://127.0.0.1:9"), Ontology.__new__(Ontology)), {})
    started = time.thread_time()
    await turns.act(f"Action: {line}")
    assert time.thread_time() - started < 10  # minutes, if it took the square


def test_long_replies_are_read_in_a_moment() -> None:
    started = time.thread_time()
    assert read_action("Act: bash\n" + "```bash\nx " * 100_000).content == ""
    assert read_action("Act:" + "\n" * 500_000).name is None
    assert alfworld.choose("ACTION: " + "go to " * 50_000, ["go to a"] * 40) is not None
    assert time.thread_time() - started < 10  # minutes, if it took the square
