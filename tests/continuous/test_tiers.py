"""Tiers: what `proctor.toml` says of them, nested draws, trials that are taken over, one decision."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import proctor
from proctor.api import RunOptions
from proctor.core.errors import BadInput
from proctor.core.run import Budget
from proctor.stores import open_store
from proctor_ci.taking_over import MADE_BY
from proctor_ci.tiers import Tier, TierResult, TierTask, find_tier, read_tiers, run_tier

TASK = """
import os
from pathlib import Path

from proctor import Sample, Task


def task() -> Task:
    samples = [Sample.ask(f"s{n}", f"Number {n}?", target="yes", tags={"part": "ab"[n % 2]}) for n in range(40)]
    return Task(name="numbers", samples=samples, scorers=["exact"], spread_by="part")


def agent(question: str) -> str:
    with Path("calls.txt").open("a") as file:
        file.write(question + "\\n")
    if Path("die").exists() and len(Path("calls.txt").read_text().splitlines()) > 5:
        os._exit(9)
    return "yes" if int(question.split()[1][:-1]) % 10 else "no"
"""
GATE = '[[rule]]\nmetric = "accuracy"\nat_least = {}\n'
AGENT = "./numbers_task.py:agent"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numbers_task.py").write_text(TASK)
    (tmp_path / "low.toml").write_text(GATE.format(0.5))
    (tmp_path / "high.toml").write_text(GATE.format(0.999))
    return tmp_path


def tier(name: str, limit: int | None, **more: object) -> Tier:
    given = {key: more.pop(key) for key in ("attempts", "gate", "against") if key in more}
    task = TierTask(task="./numbers_task.py:task", limit=limit, **given)  # type: ignore[arg-type]
    return Tier(name=name, tasks=(task,), **more)  # type: ignore[arg-type]


def run(one: Tier, folder: Path, **more: object) -> TierResult:
    return run_tier(one, AGENT, store=str(folder / "runs.db"), **more)  # type: ignore[arg-type]


def calls(folder: Path) -> int:
    path = folder / "calls.txt"
    count = len(path.read_text().splitlines()) if path.exists() else 0
    path.unlink(missing_ok=True)
    return count


def test_the_samples_of_a_small_tier_are_not_run_again_in_a_larger_one(folder: Path) -> None:
    quick = run(tier("quick", 10), folder).runs[0]
    assert calls(folder) == 10
    standard = run(tier("standard", 30), folder).runs[0]
    assert calls(folder) == 20
    assert dict(standard.record.taken_over) == {quick.id: 10}
    made = {trial.sample_id: trial.notes.get(MADE_BY) for trial in standard.trials()}
    assert len(made) == 30
    assert {id for id, by in made.items() if by} == {trial.sample_id for trial in quick.trials()}
    alone = run(tier("other", 30), folder, fresh=True).runs[0]
    assert alone.estimate("accuracy") == standard.estimate("accuracy")
    assert quick.id in str(standard.record.warnings)
    with pytest.raises(BadInput, match="the same ones"):
        proctor.open_run(standard.id, store=str(folder / "runs.db"), given=[quick.id])
    both = proctor.compare(quick, standard).notes, proctor.gate(standard, against=quick).notes
    assert all(any("the same ones" in str(note) for note in notes) for notes in both)
    assert not any("the same ones" in str(note) for note in proctor.compare(quick, alone).notes)


def test_a_tier_measures_again_and_takes_a_trial_over_once(folder: Path) -> None:
    run(tier("quick", 10), folder)
    run(tier("standard", 30), folder)
    assert calls(folder) == 30
    run(tier("quick", 10), folder)
    assert calls(folder) == 10, "those that standard took over were made by quick"
    run(tier("standard", 30), folder)
    assert calls(folder) == 20, "those of the second quick are new to standard"
    run(tier("standard", 30), folder)
    assert calls(folder) == 30


@pytest.mark.parametrize("what", ["code", "seed", "hours", "attempts"])
def test_only_what_was_made_under_the_same_conditions_is_taken_over(folder: Path, what: str) -> None:
    run(tier("quick", 10), folder)
    calls(folder)
    usual = RunOptions(agent=AGENT)
    match what:
        case "code":
            more = folder / "more.py"
            more.write_text((folder / "numbers_task.py").read_text())
            run_tier(tier("standard", 30), "./more.py:agent", store=str(folder / "runs.db"))
        case "seed":
            run(tier("standard", 30), folder, options=replace(usual, seed=1))
        case "hours":
            run(tier("standard", 30, reuse_hours=0.0), folder)
        case "attempts":
            found = run(tier("standard", 30, attempts=2), folder).runs[0]
            assert found.outcomes == {"scored": 60}
    assert calls(folder) == (50 if what == "attempts" else 30)


def test_a_tier_that_was_killed_is_resumed(folder: Path) -> None:
    quick = run(tier("quick", 10), folder).runs[0]
    calls(folder)
    program = f"""
from proctor_ci.tiers import *
task = TierTask(task="./numbers_task.py:task", limit=30)
run_tier(Tier(name="standard", tasks=(task,)), {AGENT!r}, store="runs.db", options=RunOptions(concurrency=1))
"""
    (folder / "die").touch()
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    assert calls(folder) == 6
    (folder / "die").unlink()
    found = run(tier("standard", 30), folder).runs[0]
    assert calls(folder) in (15, 16), "the one under way is lost, the one before it may be"
    assert (found.outcomes, found.record.taken_over) == ({"scored": 30}, {quick.id: 10})
    assert len(open_store(str(folder / "runs.db")).runs()) == 2


def test_a_tier_that_was_killed_while_it_took_trials_over_is_resumed(folder: Path) -> None:
    quick = run(tier("quick", 10), folder).runs[0]
    calls(folder)
    program = f"""
import os
from proctor_ci import taking_over
from proctor_ci.tiers import *
taking_over.CHUNK, add = 1, taking_over._add
async def die_at_the_fourth(stored, record, store):
    if len(list(store.trials(record.id))) == 3:
        os._exit(9)
    await add(stored, record, store)
taking_over._add = die_at_the_fourth
run_tier(Tier(name="standard", tasks=(TierTask(task="./numbers_task.py:task", limit=30),)), {AGENT!r}, store="runs.db")
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    found = run(tier("standard", 30), folder).runs[0]
    assert (calls(folder), found.outcomes, found.record.taken_over) == (20, {"scored": 30}, {quick.id: 10})
    assert len(open_store(str(folder / "runs.db")).runs()) == 2


def test_gates_decide_together(folder: Path) -> None:
    low, high = (TierTask(task="./numbers_task.py:task", gate=f"{name}.toml") for name in ("low", "high"))
    plain = TierTask(task="./numbers_task.py:task", limit=5)
    decisions = {}
    for name, tasks in {
        "plain": (plain,),
        "met": (plain, low),
        "both": (low, high),
        "few": (replace(low, limit=4),),
    }.items():
        found = run(Tier(name=name, tasks=tasks, reuse_hours=0), folder)
        decisions[name] = found.decision
        assert [one is None for one in found.gates] == [not one.gate for one in tasks]
    assert decisions == {"plain": None, "met": "go", "both": "no_go", "few": "inconclusive"}


def test_the_budget_is_that_of_the_whole_tier(folder: Path) -> None:
    task = TierTask(task="./numbers_task.py:task", limit=5, gate="low.toml")
    found = run(Tier(name="quick", tasks=(task, task), budget=Budget(minutes=1e-9)), folder)
    assert (len(found.runs), found.left_out, found.decision) == (1, (task,), "inconclusive")
    own = run(Tier(name="own", tasks=(task,)), folder, options=RunOptions(budget=Budget(tokens=9)))
    assert own.runs[0].record.spec.budget == Budget(tokens=9)


@pytest.mark.parametrize("wrong", ["gate", "against", "second task"])
def test_what_is_wrong_is_found_before_the_first_call(folder: Path, wrong: str) -> None:
    good = TierTask(task="./numbers_task.py:task")
    bad = {
        "gate": replace(good, gate="nowhere.toml"),
        "against": replace(good, gate="low.toml", against="release"),
        "second task": TierTask(task="numberz"),
    }[wrong]
    with pytest.raises(BadInput):
        run(Tier(name="quick", tasks=(good, bad)), folder)
    assert calls(folder) == 0


def test_tiers_are_read_in_the_order_of_the_file(folder: Path) -> None:
    (folder / "proctor.toml").write_text(
        """
[tiers.quick]
tasks = ["a", { task = "b", limit = 7, gate = "high.toml", options = { x = 1 } }]
limit = 5
attempts = 2
gate = "low.toml"
budget = { minutes = 3 }

[tiers.full]
tasks = ["a"]
"""
    )
    below = folder / "below"
    below.mkdir()
    os.chdir(below)
    tiers = read_tiers()
    assert list(tiers) == ["quick", "full"]
    first, second = tiers["quick"].tasks
    assert (first.task, first.limit, first.attempts, first.gate) == ("a", 5, 2, str(folder / "low.toml"))
    assert (second.task, second.limit, second.attempts, second.gate) == ("b", 7, 2, str(folder / "high.toml"))
    assert (second.options, tiers["quick"].budget.minutes) == ({"x": 1}, 3)
    assert tiers["full"].tasks[0].limit is None
    assert read_tiers(folder / "proctor.toml") == tiers
    with pytest.raises(BadInput, match="quick"):
        find_tier("quik")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('tasks = ["a"]\nlimits = 3', "'limits'.*limit"),
        ('tasks = ["a"]\nlimit = 0', "at least 1"),
        ("tasks = []", "empty"),
        ('tasks = [{ tasks = "a" }]', "task"),
        ("tasks = [{ limit = 3 }]", "task"),
        ("", "tasks"),
        ('tasks = ["a"]\nbudget = { euros = 3 }', "euros"),
        ('tasks = ["a"]\nreuse_hours = -1', "reuse_hours"),
    ],
)
def test_a_mistake_in_a_tier_is_named(folder: Path, lines: str, said: str) -> None:
    (folder / "proctor.toml").write_text(f"[tiers.quick]\n{lines}\n")
    with pytest.raises(BadInput, match=f"(?s)quick.*{said}"):
        read_tiers()


def test_without_tiers_the_way_to_some_is_shown(folder: Path) -> None:
    with pytest.raises(BadInput, match="proctor init ci"):
        find_tier("quick")
