"""Agents race over the same samples, interleaved, until it is decided which is better."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Sample, Task
from proctor.core.errors import BadInput, EndpointRefused
from proctor_ci import race_pages
from proctor_ci.looks import rules as until
from proctor_ci.race import Race, race
from proctor_ci.stats.looks import LooksQuestion

Agent = Callable[[str], Coroutine[Any, Any, str]]


def task(count: int = 300) -> Task:
    samples = [Sample.ask(str(n), str(n), target="yes", tags={"kind": str(n % 2)}) for n in range(count)]
    return Task(name="t", samples=samples, scorers=["exact"], spread_by="kind")


class Trace:
    """Notes which agent was asked what, in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def agent(self, name: str, right: float, seconds: float = 0.0, salt: str = "") -> Agent:
        async def answer(question: str) -> str:
            self.asked.append((name, question))
            await asyncio.sleep(seconds)
            return "yes" if random.Random(question + salt).random() < right else "no"

        answer.__name__ = name
        return answer

    def of(self, name: str) -> list[str]:
        return [question for asked, question in self.asked if asked == name]


@pytest.fixture
def trace() -> Trace:
    return Trace()


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Race]:
    def start(*agents: Agent, **given: Any) -> Race:
        given = {"store": str(tmp_path / "runs.db"), "concurrency": 4, "task": task(), **given}
        return race(given.pop("task"), agents, **given)

    return start


def test_the_better_one_wins_and_the_rest_is_saved(start: Callable[..., Race], trace: Trace) -> None:
    found = start(trace.agent("old", 0.5), trace.agent("new", 0.95))
    assert (found.decision, found.winner) == ("go", 1)
    assert [run.record.state for run in found.runs] == ["finished", "finished"]
    assert found.saved == 600 - len(trace.asked) > 300
    looked = found.runs[0].record.looked
    assert looked is not None
    assert (looked.decision, looked.most) == ("go", 300)
    other = start(trace.agent("old", 0.95), trace.agent("new", 0.5))
    assert (other.decision, other.winner) == ("no_go", 0)


def test_both_get_the_same_samples_in_the_same_order_and_none_runs_ahead(
    start: Callable[..., Race], trace: Trace
) -> None:
    start(trace.agent("slow", 0.8, 0.004), trace.agent("quick", 0.8), task=task(40))
    slow, quick = trace.of("slow"), trace.of("quick")
    assert len({*slow} ^ {*quick}) <= 8  # it may be called off, with 4 of each under way
    assert slow != sorted(slow, key=int)
    place = {question: at for at, question in enumerate(quick)}
    assert all(abs(place.get(question, at) - at) <= 8 for at, question in enumerate(slow))
    begun = {"slow": 0, "quick": 0}
    for name, _ in trace.asked:
        begun[name] += 1
        assert abs(begun["slow"] - begun["quick"]) <= 9


def test_equal_agents_are_cleared_with_a_margin_and_not_without(start: Callable[..., Race], trace: Trace) -> None:
    same = [trace.agent("old", 0.8), trace.agent("new", 0.8)]
    cleared = start(*same, margin=0.1)
    assert (cleared.decision, cleared.winner) == ("go", None)
    assert cleared.saved > 200
    open_ = start(*same, task=task(60))
    assert (open_.decision, open_.winner) == ("futile", None)
    better = start(trace.agent("old", 0.3), trace.agent("new", 0.9), better_by=0.1)
    assert better.decision == "go"


def test_of_several_agents_those_that_are_worse_are_out_one_by_one(start: Callable[..., Race], trace: Trace) -> None:
    found = start(trace.agent("a", 0.55), trace.agent("b", 0.95), trace.agent("c", 0.1))
    assert (found.decision, found.winner) == ("go", 1)
    assert [run.record.looked and run.record.looked.decision for run in found.runs] == ["no_go", "go", "no_go"]
    assert len(trace.of("c")) < len(trace.of("a"))
    assert len(found.duels) == 3


def test_only_the_pairs_of_the_best_agent_share_the_error(
    start: Callable[..., Race], trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[float] = []
    module = import_module("proctor_ci.race")

    def question(limit: float, error: float, *rest: Any, **given: Any) -> LooksQuestion:
        errors.append(error)
        return until.question(limit, error, *rest, **given)

    monkeypatch.setattr(module, "question", question)
    found = start(trace.agent("a", 0.55), trace.agent("b", 0.95), trace.agent("c", 0.1), trace.agent("d", 0.1))
    assert errors == [pytest.approx(0.05 / 2 / 3)]
    text = str(race_pages.page(found, "en"))
    assert "Those that are out are not ranked" in text
    assert "not the best" in text


def test_the_intervals_of_a_race_hold_for_any_number_of_looks(start: Callable[..., Race], trace: Trace) -> None:
    found = start(trace.agent("old", 0.5), trace.agent("new", 0.95))
    assert {run.estimate("accuracy").method for run in found.runs} == {"betting, at any time"}
    rest = proctor.evaluate(
        task(), agent=trace.agent("new", 0.95), run_id=found.runs[1].id, store=found.runs[1].store, until="end"
    )
    assert rest.outcomes == {"scored": 300}
    assert rest.estimate("accuracy").method == "betting, at any time"


def test_a_race_is_resumed_by_its_name_and_repeats_nothing(start: Callable[..., Race], trace: Trace) -> None:
    spent = start(trace.agent("old", 0.8), trace.agent("new", 0.8), run_id="r", margin=0.1, budget={"minutes": 0.00001})
    assert spent.decision is None
    assert {run.record.state for run in spent.runs} <= {"inconclusive", "stopped"}
    trace.asked.clear()
    found = start(trace.agent("old", 0.8), trace.agent("new", 0.8), run_id="r", margin=0.1)
    assert [run.id for run in found.runs] == ["r-a", "r-b"]
    assert found.decision == "go"
    before = len(trace.asked)
    again = start(trace.agent("old", 0.8), trace.agent("new", 0.8), run_id="r-b", margin=0.1)
    assert (again.decision, again.saved, len(trace.asked)) == ("go", found.saved, before)
    with pytest.raises(BadInput, match="--until"):
        start(trace.agent("old", 0.8), trace.agent("new", 0.8), run_id="r", margin=0.2)


def test_an_agent_that_breaks_ends_the_race_and_what_was_done_is_kept(
    start: Callable[..., Race], trace: Trace, tmp_path: Path
) -> None:
    calls = 0

    async def refused(question: str) -> str:
        nonlocal calls
        calls += 1
        if calls > 10:
            raise EndpointRefused("the key is not accepted", status=401)
        return "yes"

    with pytest.raises(BadInput, match="not accepted"):
        start(trace.agent("old", 0.9, 0.001), refused, run_id="r")
    run = proctor.open_run("r-a", store=str(tmp_path / "runs.db"))
    assert run.record.state == "stopped"
    assert 5 <= sum(run.outcomes.values()) <= 30


@pytest.mark.parametrize(
    ("count", "given", "said"),
    [
        (1, {}, "2 to 26 agents"),
        (2, {"margin": 0.1, "better_by": 0.1}, "leave one out"),
        (3, {"margin": 0.1}, "compare two agents"),
        (2, {"margin": 5}, "0.05 for 5 points"),
        (2, {"margin": 0.0}, "0.05 for 5 points"),
        (2, {"error": 0.7}, "error must be between"),
        (2, {"metric": "exakt"}, "Did you mean 'exact'"),
        (2, {"first": 1}, "at least two clusters"),
        (2, {"order": "official"}, "have an order of their own"),
        (2, {"run_id": "plain"}, "is not one of a race"),
    ],
)
def test_a_race_that_cannot_be_decided_is_refused_before_the_first_call(
    start: Callable[..., Race], trace: Trace, tmp_path: Path, count: int, given: dict[str, Any], said: str
) -> None:
    if "run_id" in given:
        proctor.evaluate(task(2), agent=trace.agent("x", 1.0), store=str(tmp_path / "runs.db"), run_id="plain")
        trace.asked.clear()
    with pytest.raises(BadInput, match=said):
        start(*(trace.agent(str(number), 0.9) for number in range(count)), **given)
    assert not trace.asked


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_pages_say_who_won_and_what_was_saved(
    start: Callable[..., Race], trace: Trace, tmp_path: Path, lang: str
) -> None:
    found = start(trace.agent("old", 0.5), trace.agent("new", 0.95))
    texts = {
        kind: race_pages.write(found, tmp_path / f"race.{kind}", lang).read_text(encoding="utf-8")
        for kind in ("md", "html", "json", "xml")
    }
    for kind in ("md", "html"):
        assert f"{found.saved}" in texts[kind]
        assert (" is better than " if lang == "en" else "优于") in texts[kind]
    assert '"winner": "' + found.runs[1].id in texts["json"]
    assert 'failures="0"' in texts["xml"]
    with pytest.raises(BadInput, match=r"not 'race\.txt'"):
        race_pages.write(found, tmp_path / "race.txt", lang)


def test_a_stored_race_takes_the_same_number_of_agents(start: Callable[..., Race], trace: Trace) -> None:
    agents = [trace.agent("a", 0.7), trace.agent("b", 0.7)]
    start(*agents, run_id="r")
    with pytest.raises(BadInput, match="is one of 2 agents, and 3 are named"):
        start(*agents, trace.agent("c", 0.7), run_id="r")
