"""Why a number moved: parts that sum to the difference of two runs."""

import asyncio
import linecache
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_store import MemoryStore

import proctor
from proctor import BadInput, Sample, Score, Task, Unscored
from proctor.core.run import RunRecord, RunSpec, Strata
from proctor.core.task import Store
from proctor.core.trial import Trial, TrialFailure, Verdict
from proctor.registry import LOADED
from proctor.stores import open_store
from proctor_ci.delta import Delta, DeltaPart, explain_delta

Row = tuple[str, str, str, float | None, str, str]  # sample, slice, how it ended, value, class of error, version


def write(
    store: Store, run: str, rows: Sequence[Row], *, attempts: int = 1, strata: Strata | None = None
) -> proctor.Run:
    """Store a run whose trials ended like this; several rows of a sample are its attempts."""
    tags = {id: tag for id, tag, *_ in rows}
    record = RunRecord(
        id=run,
        spec=RunSpec(task="t", agent=run, attempts=attempts),
        task="t",
        task_version="1",
        agent=run,
        scorers=("s",),
        planned=len(tags) * attempts,
        state="finished",
        strata=strata,
    )

    async def fill() -> None:
        await store.begin(record)
        await store.plan(run, [Sample.ask(id, id, target="x", tags={"kind": tag}) for id, tag in tags.items()])
        counts: dict[str, int] = {}
        for id, _, outcome, value, error, version in rows:
            attempt = counts[id] = counts.get(id, -1) + 1
            failure = None if outcome == "scored" else TrialFailure(kind="k", reason="r")
            trial = Trial(run_id=run, sample_id=id, attempt=attempt, outcome=outcome, failure=failure)  # type: ignore[arg-type]
            result = (
                Unscored(why="judge_failed")
                if value is None
                else Score(points=value, details={"error_class": error} if value < 1 else {})
            )
            verdict = Verdict(
                run_id=run, sample_id=id, attempt=attempt, scorer="s", scorer_version=version, result=result
            )
            await store.add(trial, [verdict] if outcome == "scored" else [])
        await store.end(record)

    asyncio.run(fill())
    return proctor.Run(store.run(run), store)


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    found: list[Row] = [("both", "x", "scored", draw(st.sampled_from([0.0, 1.0])), "wrong_answer", "1")]
    for id in draw(st.sets(st.sampled_from("abcdefghij"), max_size=10)):
        found += [
            (
                id,
                "xyz"[ord(id) % 3],
                draw(st.sampled_from(["scored", "scored", "scored", "agent_failed", "provider_failed"])),
                draw(st.sampled_from([0.0, 0.0, 1.0, 1.0, 0.25, None])),
                draw(st.sampled_from(["", "wrong_answer", "no_answer"])),
                draw(st.sampled_from("12")),
            )
            for _ in range(2)
        ]
    return found


def check_sums(found: Delta) -> None:
    assert math.isclose(found.value, found.after - found.before, abs_tol=1e-9)
    for parts in (found.causes, found.parts):
        assert math.isclose(math.fsum(part.value for part in parts), found.value, abs_tol=1e-9)
    by_cause = {one.cause: one.value for one in found.causes}
    for cause, value in by_cause.items():
        of_cause = math.fsum(one.value for one in found.parts if one.cause == cause)
        assert math.isclose(of_cause, value, abs_tol=1e-9)
    if found.by:
        assert math.isclose(math.fsum(one.value for one in found.slices), by_cause["agent"], abs_tol=1e-9)
    for part in (*found.parts, *found.causes):
        if part.before is not None and part.after is not None:
            assert math.isclose(part.value, part.before - part.after, abs_tol=1e-9)


@given(rows(), rows(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_parts_sum_to_the_difference_of_the_numbers_that_the_runs_show(
    old: list[Row], new: list[Row], drawn: bool
) -> None:
    store = MemoryStore()
    strata = Strata(by="kind", sizes={"x": 30, "y": 10, "z": 5}) if drawn else None
    runs = write(store, "old", old, attempts=2), write(store, "new", new, attempts=2, strata=strata)
    found = explain_delta(*runs, by="kind", rescore=False)
    check_sums(found)
    for run, number in zip(runs, (found.before, found.after), strict=True):
        assert run.headline is not None
        assert run.headline.value is not None
        assert math.isclose(run.headline.value, number, abs_tol=1e-9)


def part(found: Delta, cause: str, name: str = "") -> DeltaPart:
    return next(one for one in found.parts if (one.cause, one.name) == (cause, name))


def plain(
    values: Mapping[int, float], *, count: int = 40, error: str = "wrong_answer", version: str = "1"
) -> list[Row]:
    return [(str(n), "ab"[n % 2], "scored", values.get(n, 1.0), error, version) for n in range(count)]


def test_what_errors_cost_is_told_by_class_with_examples() -> None:
    store = MemoryStore()
    old = write(store, "old", plain({0: 0.0, 1: 0.0}))
    new = plain({0: 0.0, 2: 0.0, 3: 0.5, 4: 0.0}, error="no_answer")
    new[5] = ("5", "b", "agent_failed", None, "", "")
    found = explain_delta(old, write(store, "new", new))
    check_sums(found)
    assert {one.name: round(40 * one.value, 6) for one in found.parts} == {
        "wrong_answer": 2,
        "no_answer": -3.5,
        "agent_failed": -1,
    }
    worst = part(found, "agent", "no_answer")
    assert [one.sample for one in worst.examples] == ["0", "2", "4"]
    assert (worst.before, worst.samples) == (0, 4)
    assert worst.low is not None
    assert worst.high is not None
    assert worst.low < worst.value < worst.high
    assert [one.cause for one in found.causes] == ["agent"]
    assert (found.low, found.high) == (
        proctor.compare(old, proctor.Run(store.run("new"), store)).rows[0].difference.low,
        proctor.compare(old, proctor.Run(store.run("new"), store)).rows[0].difference.high,
    )


def test_one_quantity_has_one_interval() -> None:
    """Of the same samples the agent did all of it, by one class of error: each line has the interval of `compare`."""
    store = MemoryStore()
    old = write(store, "old", plain(dict.fromkeys(range(12), 0.0)))
    new = write(store, "new", plain(dict.fromkeys(range(5), 0.0)))
    found = explain_delta(old, new)
    compared = proctor.compare(old, new).rows[0].difference
    parts = [(one.low, one.high) for one in (*found.causes, part(found, "agent", "wrong_answer"))]
    assert {(found.low, found.high), *parts} == {(compared.low, compared.high)}
    more = write(store, "more", [*plain(dict.fromkeys(range(5), 0.0)), ("extra", "a", "scored", 0.0, "", "1")])
    of_agent = next(one for one in explain_delta(old, more).causes if one.cause == "agent")
    assert (of_agent.low, of_agent.high) == (compared.low, compared.high)


def test_infrastructure_and_samples_of_one_run_are_parts_of_their_own() -> None:
    store = MemoryStore()
    old = write(store, "old", [*plain({}, count=20), *((f"gone {n}", "a", "scored", 0.0, "", "1") for n in range(10))])
    new = plain({}, count=20)
    new[0] = ("0", "a", "provider_failed", None, "", "")
    new += [(f"new {n}", "b", "scored", 0.0, "", "1") for n in range(5)]
    found = explain_delta(old, write(store, "new", new), by="")
    check_sums(found)
    told = {(one.cause, one.name, one.side): (one.samples, one.value > 0) for one in found.parts if one.value}
    assert told == {
        ("samples", "", "first"): (10, True),
        ("samples", "", "second"): (5, False),
    }
    lost = part(found, "infrastructure", "provider_failed")
    assert (lost.samples, lost.examples[0].sample, lost.examples[0].second) == (1, "0", None)
    assert found.common == 19


def test_samples_that_are_all_alike_are_no_certainty() -> None:
    store = MemoryStore()
    old = write(store, "old", plain({}))
    found = explain_delta(old, write(store, "new", plain(dict.fromkeys(range(20), 0.0), count=20)))
    assert found.value == -1
    assert found.low is not None
    assert found.high is not None
    assert found.low <= -1 < -0.9 < found.high < -0.5
    assert part(found, "samples").low is None


STRICT = "from proctor import Score\n\n\ndef score(sample, trajectory):\n    return {}\n"


def test_a_scorer_that_changed_is_told_from_the_agent_by_scoring_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    samples = [Sample.ask(str(n), str(n), target="yes") for n in range(20)]
    path = tmp_path / "rule.py"

    def change(body: str) -> None:
        path.write_text(STRICT.format(body))
        linecache.clearcache()
        for name in [name for name in sys.modules if name.startswith(LOADED)]:  # as in a new process
            monkeypatch.delitem(sys.modules, name)

    def run(name: str, body: str, wrong: int) -> proctor.Run:
        change(body)
        task = Task(name="t", samples=samples, scorers=["./rule.py:score"])
        return proctor.evaluate(
            task, agent=lambda question: "no" if int(question) < wrong else "Yes", store="runs.db", run_id=name
        )

    old = run("old", "Score(points=trajectory.answer.lower() == 'yes')", 2)
    new = run("new", "Score(points=trajectory.answer == 'Yes' and sample.id > '5')", 4)
    before = [*old.store.history("old")]
    found = explain_delta(old, new)
    check_sums(found)
    by_cause = {one.cause: one for one in found.causes}
    assert found.versions is not None
    assert found.versions[0] != found.versions[1]
    assert by_cause.keys() == {"agent", "scorer"}
    by_new = [n for n in range(20) if str(n) > "5"]  # all of them answered rightly in both runs
    assert by_cause["agent"].value == 0
    assert math.isclose(by_cause["scorer"].value, len(by_new) / 20 - 18 / 20)
    assert [*old.store.history("old")] == before  # nothing was written

    proctor.rescore(old, scorers=["./rule.py:score"])  # both versions of the old run are in its history now
    assert "scorer" not in {one.cause for one in explain_delta(proctor.open_run("old", store="runs.db"), new).causes}

    other = run("other", "Score(points=len(sample.id) > 1)", 0)
    change("Score(points=0)")
    unknown = explain_delta(new, other)
    check_sums(unknown)
    assert {one.cause for one in unknown.causes if one.value} == {"unknown"}
    assert any("is not the one that is installed" in str(note) for note in unknown.notes)


def test_questions_that_changed_are_not_compared(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "runs.db"))

    def run(name: str, word: str) -> proctor.Run:
        samples = [Sample.ask(str(n), f"{n} {word if n < 5 else ''}", target="1") for n in range(20)]
        task = Task(name="t", version=word, samples=samples, scorers=["exact"])
        return proctor.evaluate(
            task, agent=lambda question: "1" if "hard" not in question else "2", store=store, run_id=name
        )

    found = explain_delta(run("old", "easy"), run("new", "hard"))
    check_sums(found)
    assert found.common == 15
    assert {(one.cause, one.name, one.side, one.samples) for one in found.parts if one.cause == "samples"} == {
        ("samples", "changed", "first", 5),
        ("samples", "changed", "second", 5),
    }


def test_what_cannot_be_explained_is_refused() -> None:
    store = MemoryStore()
    old, new = write(store, "old", plain({})), write(store, "new", [("z", "a", "scored", 1.0, "", "1")])
    with pytest.raises(BadInput, match="no scored sample in common"):
        explain_delta(old, new)
    same = write(store, "same", plain({}))
    with pytest.raises(BadInput, match="kind"):
        explain_delta(old, same, by="knd")
    with pytest.raises(BadInput, match="'s'"):
        explain_delta(old, same, scorer="ss")
