"""A bar that no number can be held to is refused before the first call, at every door; one that is held says the same everywhere."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import proctor
from proctor.cli import app
from proctor_ci.reachable import least_samples

AGENT = """
from pathlib import Path

def answer(question: str) -> str:
    with Path("called").open("a") as file:
        file.write("x")
    return "Paris" if "France" in question else "?"

def right(question: str) -> str:
    return "x"

def wrong(question: str) -> str:
    return "y"
"""
TASK = """
from proctor import Sample, Score, Task

def short(sample, trajectory):
    return Score(points=1)

def task(count=20) -> Task:
    samples = [Sample.ask(str(at), "?", target="x", tags={"half": "ab"[at % 2]}) for at in range(int(count))]
    return Task(name="own", samples=samples, scorers=["exact", short])
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", "runs.db")
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "task.py").write_text(TASK)
    return tmp_path


def typed(words: str) -> Result:
    return CliRunner().invoke(app, shlex.split(words))


@pytest.mark.parametrize(
    ("bar", "said"),
    [
        ("acuracy=0.5", "Did you mean 'accuracy'"),
        ("accuracy=80", "For 80 percent write 0.8."),
        ("exact=-0.1", "is a share from 0 to 1"),
        ("exact=nan", "is a share from 0 to 1"),
        ("exact.points=7000", "is a share from 0 to 1"),
        ("exact.pass@2=0.5", "No metric is called 'exact.pass@2'"),
        ("accuracy[halv=a]=0.5", "Did you mean 'half=a'"),
    ],
)
def test_a_bar_that_nothing_can_meet_costs_no_call(project: Path, bar: str, said: str) -> None:
    run = typed(f"run ./task.py:task --agent ./agent.py:answer --min '{bar}' --run r")
    assert (run.exit_code, said in run.stderr) == (2, True), run.output
    (project / "replies.jsonl").write_text("".join(f'{{"id": "{at}", "answer": "x"}}\n' for at in range(20)))
    scored = typed(f"score ./task.py:task --replies replies.jsonl --min '{bar}' --run r")
    assert (scored.exit_code, said in scored.stderr) == (2, True), scored.output
    assert not (project / "called").exists()
    assert typed("runs").stdout == ""


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('metric = "acuracy"\nat_least = 0.5', "gate.toml:1: No metric is called 'acuracy'. Did you mean 'accuracy'"),
        ('metric = "accuracy"\nat_least = 80', "For 80 percent write 0.8."),
        ('metric = "acuracy"\nnot_worse_by = 0.1', "No metric of a comparison is called 'acuracy'"),
        ('metric = "accuracy"\nbetter_by = 0.1\nby = "value"', "never decided by its value alone"),
    ],
)
def test_a_tier_refuses_such_a_rule_before_the_first_call(project: Path, rule: str, said: str) -> None:
    (project / "gate.toml").write_text(f"[[rule]]\n{rule}\n")
    (project / "proctor.toml").write_text('[tiers.quick]\ntasks = ["./task.py:task"]\ngate = "gate.toml"\n')
    done = typed("ci tier quick --agent ./agent.py:answer")
    assert (done.exit_code, said in done.stderr) == (2, True), done.output
    assert not (project / "called").exists()


def test_a_rule_that_no_agent_can_meet_is_told_before_the_first_call(project: Path) -> None:
    (project / "gate.toml").write_text('[[rule]]\nmetric = "failed"\nat_most = 0.05\n')
    (project / "proctor.toml").write_text('[tiers.quick]\ntasks = ["./task.py:task"]\ngate = "gate.toml"\n')
    done = typed("ci tier quick --agent ./agent.py:right --quiet")
    assert done.exit_code == 3
    assert "no agent can meet the rule about 'failed' with 20 samples; without one failure it takes 59" in done.stderr
    (project / "gate.toml").write_text('[[rule]]\nmetric = "failed"\nat_most = 0.05\nby = "value"\n')
    again = typed("ci tier quick --agent ./agent.py:right --quiet")
    assert (again.exit_code, "no agent can meet" in again.stderr) == (0, False), again.output
    assert "Decided by the observed value alone" in again.stdout


@pytest.mark.parametrize("count", [58, 59])
def test_what_is_told_to_be_needed_is_what_decides(project: Path, count: int) -> None:
    assert least_samples(0.95, 0.05) == 59
    (project / "gate.toml").write_text('[[rule]]\nmetric = "accuracy"\nat_least = 0.95\n')
    assert typed(f"run ./task.py:task --set count={count} --agent ./agent.py:right --run r --quiet").exit_code == 0
    assert typed("ci gate r --policy gate.toml").exit_code == (3 if count < 59 else 0)


def test_a_value_does_not_decide_over_what_is_missing(project: Path) -> None:
    (project / "gate.toml").write_text('[[rule]]\nmetric = "short"\nat_least = 0.9\nby = "value"\n')
    (project / "lost.py").write_text(
        "import urllib.error\n\ndef answer(question):\n    from proctor.core.errors import ProviderFailed\n"
        "    raise ProviderFailed('gone')\n"
    )
    typed("run ./task.py:task --agent ./lost.py:answer --run r --max-failed 1 --quiet")
    assert typed("ci gate r --policy gate.toml").exit_code != 0


@pytest.mark.parametrize(("agent", "codes"), [("right", (0, 0)), ("wrong", (1, 1))])
@pytest.mark.parametrize("count", [3, 20, 100])
def test_what_new_ci_writes_lets_a_perfect_agent_through_and_no_other(
    project: Path, agent: str, codes: tuple[int, int], count: int
) -> None:
    (project / "task.py").write_text(TASK.replace("count=20", f"count={count}"))
    assert typed("init ci").exit_code == 0
    assert (
        tuple(typed(f"ci tier {name} --agent ./agent.py:{agent} --quiet").exit_code for name in ("quick", "full"))
        == codes
    )


def test_a_gate_without_policy_and_baseline_says_what_to_name(project: Path) -> None:
    typed("run ./task.py:task --agent ./agent.py:right --run r --quiet")
    done = typed("ci gate r")
    assert done.exit_code == 2
    assert "There is nothing to compare with" in done.stderr
    assert "gate.toml" not in done.stderr


def test_score_holds_its_numbers_to_a_bar(project: Path) -> None:
    (project / "replies.jsonl").write_text("".join(f'{{"id": "{at}", "answer": "y"}}\n' for at in range(20)))
    done = typed("score ./task.py:task --replies replies.jsonl --min accuracy=80% --run r --json")
    assert (done.exit_code, json.loads(done.stdout)["gates"][0]["decision"]) == (1, "missed")
    again = typed("score --run r --scorer ./task.py:short --min main=0.8")
    assert again.exit_code == 1, again.output
    assert proctor.open_run("r", store="runs.db").estimate("main").value == 0
