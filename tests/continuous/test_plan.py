import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import proctor
from proctor import BadInput, Sample, Task
from proctor.cli import app
from proctor.core.errors import ProctorError
from proctor.reports.compare import RunComparison
from proctor.reports.pages import html, markdown
from proctor_adapters.importing import import_log
from proctor_ci.plan_page import page


def _task(count: int = 80, name: str = "coins") -> Task:
    samples = [Sample.ask(f"q{at}", f"Toss {at}?", target="heads") for at in range(count)]
    return Task(name=name, samples=samples, scorers=["exact"])


def _agent(seed: str, luck: float) -> Callable[[str], str]:
    """Return an agent that answers by the hash of the question and how often it was asked."""
    asked: dict[str, int] = {}

    def answer(question: str) -> str:
        asked[question] = asked.get(question, 0) + 1
        easy = int(hashlib.sha256(question.encode()).hexdigest()[:4], 16) / 65_536
        toss = int(hashlib.sha256(f"{seed} {question} {asked[question]}".encode()).hexdigest()[:4], 16) / 65_536
        return "heads" if toss < 0.5 * easy + luck else "tails"

    return answer


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def test_without_a_run_everything_is_assumed_and_said(store: str) -> None:
    found = proctor.plan(_task(), detect=0.1, store=store)
    assert found.best is None
    assert found.measured == ()
    (choice,) = found.choices
    assert (choice.attempts, choice.trials) == (1, 2 * choice.samples)
    assert choice.low is not None
    assert choice.high is not None
    assert choice.low < choice.samples < choice.high
    assert choice.tokens is not None
    assert choice.tokens > choice.trials * 500
    assert choice.money is None
    said = " ".join(map(str, found.assumed))
    for part in ("pass rate of 50%", "correlation of 0.5", "several attempts", "500 tokens"):
        assert part in said
    assert found.smallest is not None
    assert 0.1 < found.smallest < 0.3


def test_variances_and_costs_come_from_stored_runs(store: str) -> None:
    for name, luck in (("a", 0.3), ("b", 0.4)):
        proctor.evaluate(_task(), agent=_agent(name, luck), attempts=3, store=store, run_id=name)
    found = proctor.plan(_task(), detect=0.1, store=store)
    assert [choice.attempts for choice in found.choices] == [1, 2, 3, 4, 5, 8, 10]
    counts = [choice.samples for choice in found.choices]
    assert counts == sorted(counts, reverse=True)
    assert found.best is not None
    assert found.best.samples <= 80
    assert found.best.attempts > 1
    assert all(one.trials >= found.best.trials for one in found.choices if one.samples <= 80)
    assert found.assumed == ()
    powers = [one.power for one in found.curve]
    assert powers == sorted(powers)
    assert found.best in found.choices


def test_a_baseline_is_not_run_again(store: str) -> None:
    for name, luck in (("a", 0.3), ("b", 0.4)):
        proctor.evaluate(_task(), agent=_agent(name, luck), attempts=3, store=store, run_id=name)
    alone, against = (proctor.plan(_task(), detect=0.2, against=name, store=store) for name in (None, "a"))
    assert alone.best is not None
    assert against.best is not None
    assert against.against == "a"
    assert against.best.trials < alone.best.trials
    assert against.best.trials == against.best.samples * against.best.attempts
    assert against.spread.fixed == pytest.approx(against.spread.within / 3)


def test_a_threshold_takes_the_newest_run_for_the_truth(store: str) -> None:
    proctor.evaluate(_task(), agent=_agent("a", 0.5), attempts=2, store=store, run_id="a")
    value = proctor.open_run("a", store=store).estimate("accuracy").value
    found = proctor.plan(_task(), threshold=0.5, store=store)
    assert value is not None
    assert found.difference == pytest.approx(value - 0.5)
    assert found.best is not None
    assert found.best.trials == found.best.samples * found.best.attempts
    assert found.best.power >= 0.8
    with pytest.raises(BadInput, match="not above"):
        proctor.plan(_task(), threshold=0.95, store=store)


def test_one_attempt_says_nothing_of_more(store: str) -> None:
    for name, luck in (("a", 0.3), ("b", 0.4)):
        proctor.evaluate(_task(), agent=_agent(name, luck), store=store, run_id=name)
    found = proctor.plan(_task(), detect=0.3, store=store)
    assert [choice.attempts for choice in found.choices] == [1]
    assert found.spread.is_exact(1)
    moved = sum(row.difference.wins + row.difference.losses for row in _compared(store).rows[:1]) / 80
    value = _compared(store).rows[0].difference.value
    assert found.spread.total(1) == pytest.approx(moved - value**2)
    assert "several attempts" in str(found.assumed)


def test_whole_runs_of_one_agent_are_preferred_to_newer_ones(store: str) -> None:
    """Staged runs draw hard samples on purpose, and a run that ended early ended by what it showed."""
    tags = [{"level": "hard" if at % 4 == 0 else "easy"} for at in range(80)]
    samples = [replace(one, tags=tags[at]) for at, one in enumerate(_task().samples)]  # type: ignore[arg-type]
    task = Task(name="coins", samples=samples, scorers=["exact"], spread_by="level")
    agents = {name: _agent(name, luck) for name, luck in (("a", 0.3), ("b", 0.4), ("c", 0.4), ("d", 0.9))}

    def first(question: str) -> str:
        return agents["a"](question) if int(question[5:-1]) % 4 == 0 else "heads"

    proctor.evaluate(task, agent=first, store=store, run_id="a")
    proctor.evaluate(task, agent=first, store=store, run_id="b")
    proctor.evaluate(task, agent=agents["c"], store=store, run_id="other")
    proctor.evaluate(task, agent=first, store=store, run_id="staged", limit=20, more=20)
    proctor.evaluate(task, agent=agents["d"], store=store, run_id="early", until="accuracy >= 0.5")
    found = proctor.plan(task, detect=0.2, store=store)
    assert "the runs b and a (80 samples in common" in " ".join(map(str, found.measured))
    assert found.pilot == 80
    against = proctor.plan(task, detect=0.2, against="other", store=store)
    assert "the runs other and b" in " ".join(map(str, against.measured))
    staged = proctor.plan(task, detect=0.2, against="staged", store=store)
    row = proctor.compare(proctor.open_run("staged", store=store), proctor.open_run("b", store=store)).rows[0]
    unweighted = (row.difference.wins + row.difference.losses) / row.difference.pairs
    assert staged.spread.total(1) < 0.8 * unweighted  # only hard ones moved, of which it has too many


def test_a_page_says_each_thing_once(store: str) -> None:
    for name, luck in (("a", 0.3), ("b", 0.4)):
        proctor.evaluate(_task(), agent=lambda question, luck=luck: _agent("", luck)(question), attempts=2, store=store, run_id=name)  # fmt: skip
    found = proctor.plan(_task(), detect=0.1, store=store)
    assert len({one.samples for one in found.choices}) < len(found.choices)  # more attempts change nothing here
    text = markdown(page(found, "en"), "en")
    assert "attempts take no fewer samples" in text
    assert "if the 80 samples that the spread comes from are typical" in text
    one = markdown(page(proctor.plan(_task(), threshold=0.4, detect=0.2, attempts=1, store=store), "en"), "en")
    assert "An agent that is 20 points above 40.0% is shown to reach it" in one
    assert "1 attempts" not in one
    small = markdown(page(proctor.plan(_task(4), detect=0.1, store=store), "en"), "en")
    assert "Power" not in small  # which is 0.0% in each row


def _compared(store: str) -> RunComparison:
    return proctor.compare(proctor.open_run("a", store=store), proctor.open_run("b", store=store))


def test_one_run_gives_its_variance_and_the_rest_is_assumed(store: str) -> None:
    proctor.evaluate(_task(), agent=_agent("a", 0.3), attempts=3, store=store, run_id="a")
    found = proctor.plan(_task(), detect=0.2, against="a", store=store)
    said = " ".join(map(str, found.assumed))
    assert "correlation of 0.5" in said
    assert "several attempts" not in said
    assert "the run a" in str(found.measured[0])
    assert found.spread.within > 0
    for choice in found.choices:
        assert choice.low is not None
        assert choice.high is not None
        assert choice.low <= choice.samples <= choice.high


def test_samples_of_one_document_count_for_less(store: str) -> None:
    together = Task(
        name="documents",
        samples=[replace(one, cluster=str(at // 8)) for at, one in enumerate(_task().samples)],  # type: ignore[arg-type]
        scorers=["exact"],
    )
    for task in (_task(), together):
        for name, luck in (("a", 0.3), ("b", 0.4)):
            proctor.evaluate(task, agent=_agent(name, luck), store=store, run_id=f"{task.name}-{name}")
    alone, clustered = (proctor.plan(task, detect=0.4, store=store) for task in (_task(), together))
    assert clustered.spread.clusters == pytest.approx(1 / 8)
    assert not clustered.spread.is_exact(1)
    assert clustered.choices[0].samples > alone.choices[0].samples


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "what is to be decided"),
        ({"detect": 0.0}, "between 0 and 1"),
        ({"detect": 5}, "0.03 for 3 points"),
        ({"detect": float("nan")}, "between 0 and 1"),
        ({"threshold": 1.0}, "between 0 and 1"),
        ({"threshold": 0.9, "detect": 0.2}, "better than 0.9"),
        ({"threshold": 0.9, "detect": 0.05, "against": "a"}, "needs no baseline"),
        ({"detect": 0.1, "power": 1.0}, "power"),
        ({"detect": 0.1, "error": 0.5}, "error"),
        ({"detect": 0.1, "against": "nope"}, "neither a baseline nor a run"),
        ({"threshold": 0.5}, "add --detect"),
    ],
)
def test_what_cannot_be_is_refused(store: str, given: dict[str, float], message: str) -> None:
    with pytest.raises(ProctorError, match=message):
        proctor.plan(_task(), store=store, **given)


def test_a_baseline_of_another_task_is_refused(store: str) -> None:
    proctor.evaluate(_task(10, "others"), agent=_agent("a", 0.5), store=store, run_id="other")
    with pytest.raises(BadInput, match="of another task"):
        proctor.plan(_task(), detect=0.1, against="other", store=store)


def test_an_imported_run_of_the_task_s_name_is_a_baseline(store: str, tmp_path: Path) -> None:
    samples = [{"id": f"q{at}", "input": "?", "scores": {"m": {"value": at % 2}}} for at in range(80)]
    header = {"version": 2, "status": "success", "eval": {"task": "coins", "model": "m"}}
    (tmp_path / "a.json").write_text(json.dumps(header | {"samples": samples}))
    import_log(tmp_path / "a.json", run_id="imported", store=store)
    assert proctor.plan(_task(), detect=0.2, against="imported", store=store).against == "imported"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_pages_name_what_is_best_and_what_it_rests_on(store: str, lang: str) -> None:
    for name, luck in (("a", 0.3), ("b", 0.4)):
        proctor.evaluate(_task(), agent=_agent(name, luck), attempts=3, store=store, run_id=name)
    found = proctor.plan(_task(), detect=0.1, store=store)
    assert found.best is not None
    for text in (markdown(page(found, lang), lang), html(page(found, lang), lang)):
        assert f"--attempts {found.best.attempts}" in text
        assert ("cheapest" if lang == "en" else "最省") in text


def test_the_command_prints_one_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "coins.py").write_text(
        "from proctor import Sample, Task\n"
        "def task():\n"
        "    return Task(name='coins', samples=[Sample.ask(str(n), 'Toss?', target='heads') for n in range(50)], scorers=['exact'])\n"
    )
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["ci", "plan", "./coins.py:task", "--detect", "0.3", "--json", "--store", "runs.db"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert shown["total"] == 50
    assert shown["choices"][0]["samples"] > 10
    assert all(isinstance(one, str) for one in shown["assumed"])
    done = CliRunner().invoke(app, ["ci", "plan", "./coins.py:task", "--detect", "3", "--store", "runs.db"])
    assert done.exit_code == 2
