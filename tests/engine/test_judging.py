"""Scorers that ask a model: what they spend, that they run side by side, and what is kept when they fail."""

import asyncio
import threading
from pathlib import Path

import pytest
from memory_store import MemoryStore

import proctor
from proctor import Sample, Score, Task, Trajectory, Unscored
from proctor.core.errors import BadInput, EndpointRefused, JudgeFailed, ProviderFailed
from proctor.core.trajectory import Usage
from proctor.core.trial import FailedRequest
from proctor.engine import scoring
from proctor.engine.progress import Progress
from proctor.models import ledger
from proctor.transport import retry

SAMPLES = [Sample.ask(f"s{number}", str(number), target=str(number)) for number in range(12)]


async def agent(question: str) -> str:
    return question


async def judge(sample: Sample, trajectory: Trajectory) -> Score:
    await asyncio.sleep(0)
    ledger.spend(Usage(input_tokens=10, output_tokens=1, requests=1))
    return Score(points=1)


def replies(folder: Path, count: int = len(SAMPLES)) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(f'{{"id": "s{number}", "answer": "{number}"}}\n' for number in range(count)))
    return path


def task(*scorers: object) -> Task:
    return Task(name="judged", samples=SAMPLES, scorers=scorers)  # type: ignore[arg-type]


def test_what_a_judge_used_is_in_its_verdict_and_in_the_usage_of_the_run() -> None:
    run = proctor.evaluate(task(judge, "exact"), agent=agent, store=MemoryStore())
    assert run.usage == Usage(input_tokens=120, output_tokens=12, requests=12)
    used = {verdict.scorer: verdict.usage for verdict in run.verdicts(sample_id="s3")}
    assert used == {"judge": Usage(input_tokens=10, output_tokens=1, requests=1), "exact": None}


def test_a_verdict_says_how_long_its_judge_took() -> None:
    async def slow(sample: Sample, trajectory: Trajectory) -> Score:
        await asyncio.sleep(0.05)
        return await judge(sample, trajectory)

    run = proctor.evaluate(task(slow, "exact"), agent=agent, store=MemoryStore())
    took = {verdict.usage is not None: verdict.seconds for verdict in run.verdicts(sample_id="s3")}
    assert took[True] >= 0.04  # clocks differ a little
    assert took[False] == 0


def test_a_judge_that_failed_is_paid_for_all_the_same() -> None:
    async def broken(sample: Sample, trajectory: Trajectory) -> Score:
        ledger.spend(Usage(requests=1))
        raise JudgeFailed("The judge said nothing of use.")

    run = proctor.evaluate(task(broken), agent=agent, store=MemoryStore())
    assert run.usage.requests == 12
    assert run.record.state == "inconclusive"


def test_requests_of_a_judge_that_failed_on_the_way_are_paid_for_too() -> None:
    async def patient(sample: Sample, trajectory: Trajectory) -> Score:
        retry.keep(FailedRequest(cause="http_500: overloaded", status=500))
        retry.keep(FailedRequest(cause="dns: no such name"))  # never got there
        return await judge(sample, trajectory)

    run = proctor.evaluate(task(patient), agent=agent, store=MemoryStore())
    assert run.usage.requests == 24
    (verdict,) = run.verdicts(sample_id="s3")
    assert verdict.usage == Usage(input_tokens=10, output_tokens=1, requests=2)
    scored = proctor.rescore(run, scorers=[patient])
    assert scored.usage.requests == 48


def test_the_budget_holds_for_agent_and_judges_together() -> None:
    run = proctor.evaluate(
        task(judge), agent=agent, store=MemoryStore(), budget={"requests": 5}, concurrency=1, max_failed=1
    )
    assert run.outcomes == {"scored": 5, "skipped": 7}


def test_an_endpoint_that_fails_a_judge_is_no_zero() -> None:
    async def unreachable(sample: Sample, trajectory: Trajectory) -> Score:
        raise ProviderFailed("Nobody there.", kind="connect")

    run = proctor.evaluate(task(unreachable, "exact"), agent=agent, store=MemoryStore())
    assert run.estimate("exact.accuracy").value == 1
    assert run.record.state == "inconclusive"


def test_an_endpoint_that_refuses_the_judges_key_stops_the_run() -> None:
    async def refused(sample: Sample, trajectory: Trajectory) -> Score:
        raise EndpointRefused("The key is wrong.")

    with pytest.raises(BadInput, match="The key is wrong"):
        proctor.evaluate(task(refused), agent=agent, store=MemoryStore())


@pytest.mark.parametrize("again", [False, True], ids=["recorded", "stored"])
def test_recorded_replies_are_judged_side_by_side(again: bool, tmp_path: Path) -> None:
    together = peak = 0

    async def slow(sample: Sample, trajectory: Trajectory) -> Score:
        nonlocal together, peak
        together += 1
        peak = max(peak, together)
        await asyncio.sleep(0.01)
        together -= 1
        return Score(points=1)

    store = MemoryStore()
    run = proctor.score(task("exact" if again else slow), replies=replies(tmp_path), store=store, concurrency=4)
    if again:
        run = proctor.rescore(run, scorers=[slow], concurrency=4)
    assert peak == 4
    assert run.estimates[-1].scored == 12


def test_a_spent_budget_ends_the_judging_of_replies_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    store, path = MemoryStore(), replies(tmp_path)
    first = proctor.score(
        task(judge), replies=path, store=store, run_id="r", budget={"requests": 4}, concurrency=1, max_failed=1
    )
    assert first.outcomes == {"scored": 4, "skipped": 8}
    assert first.record.state == "inconclusive"
    second = proctor.score(task(judge), replies=path, store=store, run_id="r", concurrency=1)
    assert (second.outcomes, second.usage.requests) == ({"scored": 12}, 12)


def test_a_spent_budget_ends_a_rescoring_and_what_was_judged_is_kept() -> None:
    run = proctor.evaluate(task("exact"), agent=agent, store=MemoryStore())
    progress = Progress(tell=lambda _: None)
    run = proctor.rescore(run, scorers=[judge], budget={"requests": 3}, concurrency=1, progress=progress)
    assert [str(warning) for warning in progress.status.warnings] == ["The budget of 3 requests is spent (3)."]
    assert sum(1 for _ in run.verdicts(scorer="judge")) == 3


def test_other_replies_cannot_go_on_with_a_scored_run(tmp_path: Path) -> None:
    store, path = MemoryStore(), replies(tmp_path, 3)
    proctor.score(task("exact"), replies=path, store=store, run_id="r")
    path.write_text('{"id": "s0", "answer": "other"}\n')
    with pytest.raises(BadInput, match=r"other code: .*jsonl \(agent\)"):
        proctor.score(task("exact"), replies=path, store=store, run_id="r")


def test_replies_outside_a_selection_are_passed_over(tmp_path: Path) -> None:
    run = proctor.score(task("exact"), replies=replies(tmp_path), store=MemoryStore(), first=3)
    assert run.outcomes == {"scored": 3}


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
def test_a_scorer_that_never_ends_is_no_zero_and_holds_nothing_up(
    is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def hangs(sample: Sample, trajectory: Trajectory) -> Score:
        over.wait(30)
        return Score(points=0)

    async def waits(sample: Sample, trajectory: Trajectory) -> Score:
        await asyncio.sleep(30)
        return Score(points=0)

    monkeypatch.setattr(scoring, "MOST_SECONDS", 0.05)
    run = proctor.evaluate(task(waits if is_async else hangs, "exact"), agent=agent, store=MemoryStore())
    over.set()
    assert run.estimate("exact.accuracy").value == 1
    (why,) = {verdict.result.why for verdict in run.verdicts() if isinstance(verdict.result, Unscored)}
    assert why == "scorer_failed"


@pytest.mark.parametrize("name", ["direct", "combined", "by_kind"])
def test_a_judge_out_of_a_file_of_scorers_judges_side_by_side(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "scorers.toml").write_text(SCORERS, encoding="utf-8")
    run = proctor.evaluate(task("exact"), agent=agent, store=MemoryStore())
    run = proctor.rescore(run, scorers=[f"{tmp_path}/scorers.toml:{name}"], concurrency=4)
    assert max(value.value or 0 for value in run.store.values(run.id, name)) == 1
    assert sum(verdict.usage == Usage(requests=1) for verdict in run.verdicts(scorer=name)) == 12


SLOW = """
import asyncio
from proctor import Score
from proctor.core.trajectory import Usage
from proctor.core.trial import FailedRequest
from proctor.models import ledger
from proctor.transport import retry

together = 0

async def slow(sample, trajectory):
    global together
    together += 1
    now = together
    await asyncio.sleep(0.02)
    together -= 1
    ledger.spend(Usage(requests=1))
    return Score(points=now / 4)
"""
SCORERS = """
[scorers.slow]
kind = "./mine.py:slow"

[scorers.direct]
kind = "./mine.py:slow"

[scorers.combined]
kind = "combine"
parts = [{ scorer = "slow" }, { scorer = "exact", weight = 0 }]

[scorers.by_kind]
kind = "by_type"
types = { "default" = "slow" }
"""


@pytest.mark.parametrize("own", [object(), "gpt-x", {"a": 1}, len], ids=["object", "name", "dict", "function"])
def test_a_scorer_may_call_anything_of_its_own_a_judge(own: object) -> None:
    class Mine:
        name = "mine"

        def __init__(self) -> None:
            self.judge = own

        async def __call__(self, sample: Sample, trajectory: Trajectory) -> Score:
            return Score(points=1)

    run = proctor.evaluate(task(Mine()), agent=agent, store=MemoryStore())
    assert (run.estimates[0].value, "judges" in run.record.provenance) == (1, False)
