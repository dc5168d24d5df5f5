"""Exit codes mean something: a run in which everything failed, and numbers compared with what is wanted."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import proctor
from proctor import Sample, Task, open_run
from proctor.cli import app
from proctor.core.errors import BadInput

AGENTS = """
asked = []

def half(question):
    return "Paris" if int(question) % 2 else "Rome"

def right(question):
    return "Paris"

def raising(question):
    asked.append(question)
    raise KeyError(question)

def none(question):
    return None

def number(question):
    return 7

def other(question):
    return {"reply": "Paris"}

def wrapped(question):
    return {"answer": "Paris"}

def late(question):
    if int(question) >= 9:
        return "Paris"
    raise KeyError(question)
"""
SCORERS = """
def broken(sample, trajectory):
    return sample.meta["missing"]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    lines = [json.dumps({"id": str(n), "question": str(n), "target": "Paris", "level": n % 2}) for n in range(40)]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "scorers.py").write_text(SCORERS)
    return tmp_path


def run(agent: str, *more: str) -> Result:
    words = ["q.jsonl", "--agent", f"./agents.py:{agent}", "--map", "level=tag:level", "--run", "r", "--quiet"]
    scorers = [] if "--scorer" in more else ["--scorer", "exact"]
    return CliRunner().invoke(app, ["run", *words, *scorers, *more])


@pytest.mark.parametrize(
    ("least", "code", "said"),
    [
        (["accuracy=0.2"], 0, "met: accuracy 50.0%"),
        (["accuracy=0.9"], 1, "missed: accuracy 50.0%"),
        (["accuracy=45%"], 3, "inconclusive: accuracy 50.0%"),
        (["exact=0.9"], 1, "missed: exact 50.0%"),
        (["accuracy[level=1]=0.8"], 0, "met: accuracy[level=1] 100.0%"),
        (["accuracy[level=0]=0.2"], 1, "missed: accuracy[level=0] 0.0%"),
        (["accuracy=0.2", "accuracy[level=0]=0.2"], 1, "missed"),
        (["accuracy=0.2", "accuracy=0.45"], 3, "inconclusive"),
    ],
)
def test_a_number_is_compared_with_the_least_that_is_wanted(least: list[str], code: int, said: str) -> None:
    result = run("half", *(word for one in least for word in ("--min", one)))
    assert (result.exit_code, said in result.stderr) == (code, True), result.output
    shown = CliRunner().invoke(app, ["show", "r", *(word for one in least for word in ("--min", one))])
    assert shown.exit_code == code


def test_by_the_value_alone_there_is_no_third_answer() -> None:
    assert run("half", "--min", "accuracy=0.45", "--min-by", "value").exit_code == 0
    assert CliRunner().invoke(app, ["show", "r", "--min", "accuracy=0.55", "--min-by", "value"]).exit_code == 1


def test_the_json_has_the_decisions_too() -> None:
    result = run("half", "--min", "accuracy=0.9", "--json")
    [gate] = json.loads(result.stdout)["gates"]
    assert (gate["name"], gate["least"], gate["value"], gate["decision"]) == ("accuracy", 0.9, 0.5, "missed")


@pytest.mark.parametrize(
    ("least", "said"),
    [
        ("accuracy", "--min takes NAME=VALUE"),
        ("accuracy=much", "--min takes NAME=VALUE"),
        ("f1=0.5", "No metric is called 'f1'"),
        ("accuracy[level=7]=0.5", "No slice is called 'level=7'"),
    ],
)
def test_a_wrong_least_value_is_named(least: str, said: str) -> None:
    result = run("right", "--min", least)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("raising", "The agent raised KeyError: '"),
        ("none", "The agent returned None"),
        ("number", "The agent returned int"),
        ("other", "'reply'"),
    ],
)
def test_where_the_agent_fails_at_once_the_run_stops_and_says_why(agent: str, said: str) -> None:
    result = run(agent, "--concurrency", "1")
    assert result.exit_code == 2
    assert "failed in each of the first 10 trials" in result.stderr
    assert said in result.stderr
    assert open_run("r", store="runs.db").outcomes == {"agent_failed": 10}
    if agent == "raising":
        assert "agents.py, line 12" in result.stderr


def test_a_run_that_is_called_again_after_that_goes_on_to_its_end() -> None:
    run("raising", "--concurrency", "1")
    again = run("raising", "--concurrency", "1")
    assert again.exit_code == 2
    assert "The agent failed in all 40 trials." in again.stderr


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_where_every_trial_of_a_few_failed_the_numbers_come_with_an_error(more: list[str]) -> None:
    result = run("raising", "--first", "3", *more)
    assert result.exit_code == 2
    assert "Error: The agent failed in all 3 trials. The agent raised KeyError" in result.stderr
    assert "智能体全部失败" in run("raising", "--first", "3", "--lang", "zh").stderr


def test_an_agent_that_is_right_once_is_not_stopped() -> None:
    assert run("late", "--concurrency", "1").exit_code == 0


def test_a_scorer_that_fails_every_time_is_an_error() -> None:
    result = run("right", "--scorer", "./scorers.py:broken")
    assert result.exit_code == 2
    assert "The scorer broken failed in every trial. The scorer raised KeyError: 'missing'" in result.stderr


def test_a_function_may_answer_as_a_program_or_an_address_does() -> None:
    assert run("wrapped", "--min", "accuracy=0.9").exit_code == 0


def test_the_same_from_python() -> None:
    def raising(question: str) -> str:
        raise KeyError(question)

    task = Task(name="t", samples=[Sample.ask(str(n), str(n), target="x") for n in range(30)], scorers=["exact"])
    with pytest.raises(BadInput, match="first 10 trials") as stopped:
        proctor.evaluate(task, agent=raising, store=":memory:", concurrency=1)
    assert stopped.value.run_id is not None


@pytest.mark.parametrize(
    ("second", "words", "code", "said"),
    [
        ("half", ["--fail-if-worse"], 1, "missed: B is worse."),
        ("half", ["--fail-if-worse", "10"], 1, "missed: B is worse by more than 10 points."),
        ("half", ["--fail-if-worse", "50"], 3, "inconclusive: whether B is worse by more than 50 points."),
        ("half", ["--fail-if-worse=90"], 0, "met: B is not worse by more than 90 points."),
        ("right", ["--fail-if-worse"], 3, "inconclusive: B is neither"),
        ("half", [], 0, ""),
    ],
)
def test_a_run_that_is_worse_fails_a_comparison(second: str, words: list[str], code: int, said: str) -> None:
    run("right")
    run(second, "--run", "s")
    result = CliRunner().invoke(app, ["compare", "r", "s", *words])
    assert (result.exit_code, said in result.stderr) == (code, True), result.output
    result = CliRunner().invoke(app, ["compare", "s", "r", "--fail-if-worse", "--json"])
    assert json.loads(result.stdout)["gate"]["decision"] == ("go" if second == "half" else "inconclusive")
