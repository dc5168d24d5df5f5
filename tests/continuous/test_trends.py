"""The number of an agent over time: when it changed, and what was changed then."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import proctor
from proctor import Sample, Task
from proctor.cli import app
from proctor.core.errors import BadInput, ProviderFailed
from proctor.reports.words import ReportWords
from proctor.stores import open_store
from proctor_ci.baselines import set_baseline
from proctor_ci.trend_pages import chart
from proctor_ci.trends import trends

Make = Callable[..., proctor.Run]


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


@pytest.fixture
def make(store: str) -> Make:
    """Return what runs sixty samples, of which about a share is answered rightly."""
    rng = random.Random(4)

    def run(id: str, share: float, *, version: str = "1", name: str = "bot", broken: bool = False) -> proctor.Run:
        async def agent(question: str) -> str:
            if broken:
                raise ProviderFailed("Overloaded.", kind="http_503")
            return "yes" if rng.random() < share else "no"

        agent.name = name  # type: ignore[attr-defined]
        samples = [Sample.ask(str(n), str(n), target="yes") for n in range(60)]
        task = Task(name="t", version=version, samples=samples, scorers=["exact"])
        return proctor.evaluate(task, agent=agent, store=store, run_id=id)

    return run


def call(store: str, *words: str) -> Result:
    return CliRunner().invoke(app, ["ci", "trends", *words, "--store", store])


def test_a_fall_is_named_with_the_run_it_began_with(make: Make, store: str, tmp_path: Path) -> None:
    for number in range(6):
        make(f"good-{number}", 0.95)
    for number in range(3):
        make(f"low-{number}", 0.5)
    found = trends(store=store)
    assert (found.task, found.agent, len(found.points)) == ("t", "bot", 9)
    [shift] = found.shifts
    assert (shift.direction, shift.since, shift.runs) == ("down", "low-0", 6)
    assert shift.before > 0.9 > 0.6 > shift.after
    shown = call(store, "t").output
    assert "A fall since low-0: from 9" in shown
    assert "▼" in shown
    assert "Nothing that is recorded was changed with it." in " ".join(shown.split())
    for suffix, part in (("html", "<svg"), ("md", "```text"), ("json", '"shifts"')):
        path = tmp_path / f"trend.{suffix}"
        assert call(store, "-o", str(path)).exit_code == 0
        text = path.read_text()
        assert part in text
        assert "low-0" in text
        assert suffix != "md" or any(line.strip() == "▼" and line.startswith("    ") for line in text.splitlines())
        assert suffix != "html" or text.count('class="dot worse"') == 1
    assert "自 low-0 起下降" in call(store, "--lang", "zh").output


def test_a_run_that_measures_otherwise_is_no_change_of_the_agent(make: Make, store: str) -> None:
    for number in range(5):
        make(f"a{number}", 0.95)
    for number in range(4):
        make(f"b{number}", 0.4, version="2")
    found = trends("t", store=store)
    assert found.shifts == ()
    assert [point.run for point in found.points if point.begins] == ["b0"]
    assert [point.run for point in found.points if point.row is None] == ["a0", "b0"]
    shown = call(store).output
    assert "begins again" in shown
    values = [point.estimate.value for point in found.points[5:] if point.estimate is not None]
    assert all(value is not None and value < 0.7 for value in values)
    assert f"{min(value or 0 for value in values):.1%} to {max(value or 0 for value in values):.1%}" in shown
    assert chart(found, ReportWords("en")).count('class="trend"') == 7
    against = trends("t", baseline="a0", store=store)
    assert [point.row is None for point in against.points] == [True, *4 * [False], *4 * [True]]
    assert against.marks == {}


def test_an_outage_is_no_fall(make: Make, store: str) -> None:
    for number in range(4):
        make(f"a{number}", 0.95)
    assert make("down", 0.95, broken=True).record.state == "inconclusive"
    make("b", 0.95)
    assert trends(store=store).shifts == ()


def test_runs_are_compared_with_a_baseline(make: Make, store: str) -> None:
    for id, share in (("first", 0.95), ("second", 0.4), ("third", 0.9)):
        make(id, share)
    opened = open_store(store)
    set_baseline(opened, "release", "first")
    opened.close()
    found = trends(baseline="release", store=store)
    assert [point.against for point in found.points] == ["", "first", "first"]
    assert found.baseline == "first"


def test_an_unknown_name_is_told_with_the_nearest(make: Make, store: str, tmp_path: Path) -> None:
    assert "There is no store" in call(str(tmp_path / "none.db")).output
    open_store(str(tmp_path / "none.db")).close()
    assert "No run has ended yet" in call(str(tmp_path / "none.db")).output
    make("a", 0.9)
    with pytest.raises(BadInput, match="bot"):
        trends(agent="bott", store=store)
    for words in (("tt",), ("--agent", "bott"), ("--baseline", "nowhere"), ("-o", "trend.pdf")):
        assert call(store, *words).exit_code == 2, words
