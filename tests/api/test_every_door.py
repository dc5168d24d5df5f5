"""An agent that gets next to nothing right is good at no entry point, and one that is always right is, in suites that tempt.

In each suite a number that is not the main one says the opposite of it: a rubric has a dimension called `accuracy` and a
scorer gives full marks for anything, or a judge finds every tone perfect. `tests/api/test_main_number.py` has the bars.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from web_site import AppSite

import proctor
from proctor.cli import app
from proctor_ci.firing import Order, _carry_out
from proctor_ci.trends import trends
from proctor_ci.watch_file import WatchRule
from proctor_judging.judges import rubric_file
from proctor_web.failures import API

SUPPORT = """
from proctor import Sample, Score, Task

def short(sample, trajectory):
    return Score(points=1)

def task():
    samples = [Sample.ask(str(n), f"question {n}", target="x") for n in range(24)]
    return Task(name="support", samples=samples, scorers=["rubric:RUBRIC", short])

def bad(question: str) -> str:
    return "Go away."

def good(question: str) -> str:
    return "Gladly, here it is."
"""
GATE = '[[rule]]\nmetric = "accuracy"\nat_least = 0.7\n'
LOW, HIGH = 0.1, 0.95  # a customer who needs nothing done is served by who does nothing


class Suite(NamedTuple):
    """The names of a task and of two agents, with a bad run and a good one in the store of the site."""

    task: str
    agents: tuple[str, str]
    site: AppSite


SUITES = ("support-answer", "technical-doc", "customer-service")


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    with pytest.MonkeyPatch.context() as patched:
        yield from made(request.param, tmp_path_factory.mktemp("doors"), patched)


def made(name: str, folder: Path, patched: pytest.MonkeyPatch) -> Iterator[Suite]:
    patched.chdir(folder)
    patched.setenv("PROCTOR_JUDGE", "scripted:judge.jsonl")
    patched.setenv("XDG_DATA_HOME", str(folder / "data"))
    rubric = "service-tone" if name == "customer-service" else name
    found = rubric_file.rubric(rubric)
    points = [{one.name: end for one in found.dimensions} for end in (found.low, found.high)]
    replies = [("Go away", points[0]), ("Gladly", points[1])] if rubric == name else [("", points[1])]
    lines = (json.dumps({"when": when, "say": {"comment": "", **given}}) for when, given in replies)
    (folder / "judge.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "gate.toml").write_text(GATE, encoding="utf-8")
    (folder / "support.py").write_text(SUPPORT.replace("RUBRIC", rubric), encoding="utf-8")
    task, agents = "./support.py:task", ("./support.py:bad", "./support.py:good")
    if rubric != name:
        task, agents = name, ("baseline:null", "baseline:oracle")
    site = AppSite(folder)
    for id, agent in zip(("bad", "good"), agents, strict=True):
        proctor.evaluate(task, agent=agent, judge="scripted:judge.jsonl", store=site.store, run_id=id)
    yield Suite(task, agents, site)
    site.workspace.close()


def command(suite: Suite, *words: str) -> str:
    result = CliRunner(env={"COLUMNS": "160"}).invoke(app, [*words, "--store", suite.site.store])
    assert result.exit_code == 0, result.output
    return result.stdout


def check(bad: float | None, good: float | None) -> None:
    assert bad is not None
    assert good is not None
    assert bad <= LOW < HIGH <= good


def by_race(suite: Suite) -> None:
    how: dict[str, Any] = {"judge": "scripted:judge.jsonl", "store": str(Path(suite.site.store).with_name("race.db"))}
    found = proctor.race(suite.task, suite.agents, **how)
    assert (found.decision, found.winner) == ("go", 1)
    assert proctor.race(suite.task, suite.agents[::-1], margin=0.1, **how).decision == "no_go"


def by_comparison(suite: Suite) -> None:
    rows = json.loads(command(suite, "compare", "bad", "good", "--json"))["comparison"]["rows"]
    assert rows[0]["outcome"] == "better"
    check(rows[0]["first"], rows[0]["second"])


def by_trend(suite: Suite) -> None:
    both = [trends(agent=agent, store=suite.site.store).points[-1].estimate for agent in suite.agents]
    check(*(one.value if one is not None else None for one in both))


def by_watch(suite: Suite) -> None:
    store = str(Path(suite.site.store).with_name("watch.db"))
    for agent, decision in zip(suite.agents, ("no_go", "go"), strict=True):
        watch = WatchRule(name="nightly", task=suite.task, agent=agent, gate="gate.toml")
        assert _carry_out(Order(watch=watch, store=store, began=time.time())).decisions == (decision,)


def by_list(suite: Suite) -> None:
    lines = command(suite, "runs").splitlines()
    check(*(percent(next(line for line in lines if line.startswith(f"{id} "))) for id in ("bad", "good")))


def by_page(suite: Suite) -> None:
    shown = (command(suite, "show", id).splitlines() for id in ("bad", "good"))
    check(*(percent(next(line for line in lines if "▸" in line)) for lines in shown))


def by_web_list(suite: Suite) -> None:
    rows: list[Any] = []
    while not rows or not all(row["numbers"] for row in rows):  # the list does not wait for numbers that take long
        rows = suite.site.program().get(f"{API}/runs").json()["rows"]
    value_by_id = {row["id"]: row["numbers"]["headline"]["value"] for row in rows}
    check(value_by_id["bad"], value_by_id["good"])


def by_web_ranks(suite: Suite) -> None:
    task = proctor.open_run("bad", store=suite.site.store).record.task
    ranks = suite.site.program().get(f"{API}/leaderboard", params={"task": task}).json()
    assert [one["run"] for one in ranks["ranks"]] == ["good", "bad"]


def percent(line: str) -> float:
    return float(line.partition("%")[0].split()[-1]) / 100


DOORS: Mapping[str, Callable[[Suite], None]] = {
    "race": by_race,
    "compare": by_comparison,
    "trends": by_trend,
    "watch": by_watch,
    "runs": by_list,
    "show": by_page,
    "web runs": by_web_list,
    "web leaderboard": by_web_ranks,
}


@pytest.mark.parametrize("door", DOORS)
def test_a_bad_agent_is_bad_and_a_good_one_good(suite: Suite, door: str) -> None:
    DOORS[door](suite)
