"""A run as a whole: the probe, resume, stop, budget, too many failures."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from memory_store import MemoryStore

from proctor.api.options import RunOptions
from proctor.api.prepare import prepare
from proctor.core.errors import BadInput, EndpointRefused, JudgeFailed, ProviderFailed
from proctor.core.run import Budget, RunRecord
from proctor.core.sample import Message, Sample, Turn
from proctor.core.score import Score
from proctor.core.task import Environment, Session, Task
from proctor.core.trajectory import Step, ToolStyle, Trajectory, Usage
from proctor.engine.evaluate import evaluate
from proctor.engine.progress import Progress

SAMPLES = [Sample.ask(f"s{n}", f"{n}?", target=str(n)) for n in range(20)]
TASK = Task(name="count", samples=SAMPLES, scorers=["exact"])


async def run(
    agent: Any, store: MemoryStore, *, stop: asyncio.Event | None = None, task: Task = TASK, **how: Any
) -> RunRecord:
    prepared = prepare(task, RunOptions(agent=agent, store=store, **how))
    return await evaluate(prepared.job, store, progress=Progress(), stop=stop or asyncio.Event())


async def number(question: str) -> str:
    return question.rstrip("?")


async def test_every_attempt_of_every_sample_is_run_once() -> None:
    calls: Counter[str] = Counter()

    async def agent(question: str) -> str:
        calls[question] += 1
        return question.rstrip("?")

    store = MemoryStore()
    record = await run(agent, store, attempts=3)
    assert set(calls.values()) == {3}
    assert (record.state, record.planned) == ("finished", 60)
    assert store.outcomes(record.id) == {"scored": 60}
    assert store.tallies(record.id, "exact")[""].total == 20


async def test_in_flight_reaches_the_number_asked_for_and_no_more() -> None:
    now = most = 0

    async def agent(question: str) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return ""

    await run(agent, MemoryStore(), concurrency=7)
    assert most == 7


@pytest.mark.parametrize(
    "error", [EndpointRefused("The key is refused."), ProviderFailed("No connection to localhost:9.", kind="connect")]
)
async def test_the_first_sample_is_the_probe_and_nothing_else_is_sent(error: Exception) -> None:
    calls = 0

    async def agent(question: str) -> str:
        nonlocal calls
        calls += 1
        raise error

    store = MemoryStore()
    with pytest.raises(BadInput, match=str(error)):
        await run(agent, store)
    assert calls == 1


async def test_a_sample_that_breaks_its_connection_does_not_keep_others_from_being_run_again() -> None:
    over = False

    async def agent(question: str) -> str:
        if question == "3?" or (question in ("4?", "5?") and not over):
            raise ProviderFailed("No answer in time.", kind="timeout")
        return question.rstrip("?")

    store = MemoryStore()
    await run(agent, store, run_id="r")
    assert store.outcomes("r") == {"scored": 17, "provider_failed": 3}
    over = True
    await run(agent, store, run_id="r", retry_failed=True, max_failed=0.05)
    assert store.outcomes("r") == {"scored": 19, "provider_failed": 1}
    assert store.run("r").state == "finished"


async def test_an_endpoint_that_is_gone_is_the_first_samples_to_find_when_going_on_too() -> None:
    calls = 0

    async def agent(question: str) -> str:
        nonlocal calls
        calls += 1
        if calls > 10:
            raise ProviderFailed("No connection to localhost:9.", kind="connect")
        return question.rstrip("?")

    store = MemoryStore()
    await run(agent, store, run_id="r", concurrency=1, order="official")
    calls = 10
    with pytest.raises(BadInput, match="no other was tried"):
        await run(agent, store, run_id="r", retry_failed=True, order="official")
    assert calls == 11


async def test_a_refusal_leaves_no_empty_run_behind() -> None:
    async def agent(question: str) -> str:
        raise EndpointRefused("The key is refused.")

    store = MemoryStore()
    with pytest.raises(EndpointRefused):
        await run(agent, store)
    assert store.runs() == []


async def test_a_refusal_on_the_way_keeps_what_is_done_and_can_go_on() -> None:
    good = True

    async def agent(question: str) -> str:
        if question == "9?" and good:
            raise EndpointRefused("The key has expired.")
        return question.rstrip("?")

    store = MemoryStore()
    with pytest.raises(EndpointRefused):
        await run(agent, store, run_id="r", concurrency=1, order="official")
    assert store.run("r").state == "stopped"
    assert store.outcomes("r") == {"scored": 9}
    good = False
    record = await run(agent, store, run_id="r", concurrency=1, order="official")
    assert record.state == "finished"
    assert store.outcomes("r") == {"scored": 20}


async def test_a_stop_finishes_what_is_in_flight_and_starts_nothing_new() -> None:
    stop = asyncio.Event()
    calls: Counter[str] = Counter()

    async def agent(question: str) -> str:
        calls[question] += 1
        if len(calls) == 8:
            stop.set()
        await asyncio.sleep(0.01)
        return question.rstrip("?")

    store = MemoryStore()
    record = await run(agent, store, stop=stop, run_id="r", concurrency=4)
    assert record.state == "stopped"
    assert sum(store.outcomes("r").values()) == len(calls) < 20
    await run(agent, store, run_id="r", concurrency=4)
    assert set(calls.values()) == {1}


async def test_a_stop_ends_a_probe_that_hangs_and_the_run_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engine.evaluate.GRACE_SECONDS", 0.05)
    stop = asyncio.Event()
    calls = 0

    async def agent(question: str) -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            stop.set()
            await asyncio.sleep(60)
        return question.rstrip("?")

    store = MemoryStore()
    record = await run(agent, store, stop=stop, run_id="r")
    assert (record.state, calls) == ("stopped", 1)
    assert (await run(agent, store, run_id="r")).state == "finished"
    assert store.outcomes("r") == {"scored": 20}


async def test_a_stop_during_the_probe_starts_nothing_after_it() -> None:
    stop = asyncio.Event()
    calls = 0

    async def agent(question: str) -> str:
        nonlocal calls
        calls += 1
        stop.set()
        await asyncio.sleep(0.01)
        return question.rstrip("?")

    assert (await run(agent, MemoryStore(), stop=stop)).state == "stopped"
    assert calls == 1


async def test_cancelling_keeps_what_is_done() -> None:
    reached = asyncio.Event()

    async def agent(question: str) -> str:
        if question == "5?":
            reached.set()
            await asyncio.sleep(60)
        return question.rstrip("?")

    store = MemoryStore()
    task = asyncio.create_task(run(agent, store, run_id="r", concurrency=1, order="official"))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert store.run("r").state == "stopped"
    assert store.outcomes("r") == {"scored": 5}


async def test_another_agent_task_or_option_cannot_go_on_with_a_run() -> None:
    store = MemoryStore()
    await run(number, store, run_id="r")

    async def other(question: str) -> str:
        return ""

    with pytest.raises(BadInput, match=r"other conditions.*agent"):
        await run(other, store, run_id="r")
    with pytest.raises(BadInput, match=r"other conditions: --attempts: 1 → 2"):
        await run(number, store, run_id="r", attempts=2)


async def test_a_spent_budget_skips_the_rest_and_a_higher_one_goes_on() -> None:
    store = MemoryStore()

    async def slow(question: str) -> str:
        await asyncio.sleep(0.02)
        return question.rstrip("?")

    record = await run(slow, store, run_id="r", concurrency=2, budget=Budget(minutes=0.1 / 60))
    assert record.state == "inconclusive"
    assert "minutes is spent" in str(record.note)
    outcomes = store.outcomes("r")
    assert outcomes["scored"] + outcomes["skipped"] == 20
    assert outcomes["skipped"] > 0
    record = await run(slow, store, run_id="r", budget=Budget(minutes=10))
    assert (record.state, store.outcomes("r")) == ("finished", {"scored": 20})


async def test_too_many_infrastructure_failures_make_a_run_inconclusive() -> None:
    async def shaky(question: str) -> str:
        if question in ("3?", "4?"):
            raise ProviderFailed("Overloaded.", kind="http_503")
        return question.rstrip("?")

    store = MemoryStore()
    record = await run(shaky, store, run_id="r")
    assert record.state == "inconclusive"
    assert "10.0%" in str(record.note)
    assert store.tallies("r", "exact")[""].scored == 18
    assert (await run(shaky, store, run_id="s", max_failed=0.2)).state == "finished"


async def test_failures_are_run_again_only_when_asked_for() -> None:
    calls: Counter[str] = Counter()

    async def shaky(question: str) -> str:
        calls[question] += 1
        if question == "3?" and calls[question] == 1:
            raise ProviderFailed("Overloaded.", kind="http_503")
        return question.rstrip("?")

    store = MemoryStore()
    await run(shaky, store, run_id="r")
    await run(shaky, store, run_id="r")
    assert calls["3?"] == 1
    await run(shaky, store, run_id="r", retry_failed=True)
    assert calls["3?"] == 2
    assert store.outcomes("r") == {"scored": 20}


async def test_a_run_of_failures_is_kept_when_it_cannot_go_on() -> None:
    error: ProviderFailed | EndpointRefused = ProviderFailed("Overloaded.", kind="http_503")

    async def shaky(question: str) -> str:
        raise error

    store = MemoryStore()
    await run(shaky, store, run_id="r")
    error = EndpointRefused("The key is refused.")
    with pytest.raises(EndpointRefused):
        await run(shaky, store, run_id="r", retry_failed=True)
    assert store.outcomes("r") == {"provider_failed": 20}
    assert [record.state for record in store.runs()] == ["stopped"]


async def test_verdicts_that_are_missing_still_count_when_a_run_goes_on() -> None:
    async def judge(sample: Sample, trajectory: Trajectory) -> Score:
        raise JudgeFailed("The judge is away.")

    store, task = MemoryStore(), Task(name="judged", samples=SAMPLES, scorers=[judge])
    assert (await run(number, store, task=task, run_id="r")).state == "inconclusive"
    assert (await run(number, store, task=task, run_id="r")).state == "inconclusive"


async def test_a_bound_that_the_agent_adds_nothing_to_is_told() -> None:
    record = await run(number, MemoryStore(), budget=Budget(tokens=5, minutes=5))
    assert [str(warning) for warning in record.warnings] == [
        "The agent does not tell what it uses, so the budget (tokens) counts only what judges use. Set a budget of minutes too."
    ]
    assert (await run(number, MemoryStore(), budget=Budget(minutes=5))).warnings == ()


async def test_the_same_sample_id_twice_is_found_before_the_first_call() -> None:
    calls = 0

    async def agent(question: str) -> str:
        nonlocal calls
        calls += 1
        return ""

    store = MemoryStore()
    with pytest.raises(BadInput, match="s1"):
        await run(agent, store, task=Task(name="t", samples=[*SAMPLES, SAMPLES[1]], scorers=["exact"]))
    assert calls == 0
    assert store.runs() == []


async def test_the_time_a_run_has_taken_is_kept_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engine.recording.KEPT_SECONDS", 0.01)
    store, seen = MemoryStore(), []

    async def agent(question: str) -> str:
        await asyncio.sleep(0.05)
        seen.append(store.runs()[0].seconds)
        return question

    await run(agent, store, first=3, concurrency=1)
    assert 0 < seen[0] < seen[-1]


async def test_one_sample_that_is_refused_fails_alone() -> None:
    async def agent(question: str) -> str:
        if question == "9?":
            raise EndpointRefused("The firewall dislikes it (status {status}).", status=403)
        return question.rstrip("?")

    store = MemoryStore()
    record = await run(agent, store, concurrency=4, max_failed=0.1)
    assert record.state == "finished"
    assert store.outcomes(record.id) == {"scored": 19, "provider_failed": 1}


async def test_many_samples_refused_in_a_row_stop_the_run_and_keep_what_is_in_flight() -> None:
    asked: Counter[str] = Counter()
    revoked = True

    async def agent(question: str) -> str:
        asked[question] += 1
        if question == "2?":  # begun before the key is revoked, answered after
            await asyncio.sleep(0.2)
        elif revoked and int(question.rstrip("?")) > 4:
            raise EndpointRefused("The key is revoked (status {status}).", status=403)
        return question.rstrip("?")

    store = MemoryStore()
    with pytest.raises(EndpointRefused):
        await run(agent, store, run_id="r", concurrency=2, order="official")
    assert store.outcomes("r") == {"scored": 5}
    revoked = False
    assert (await run(agent, store, run_id="r", order="official")).state == "finished"
    assert store.outcomes("r") == {"scored": 20}
    assert asked["2?"] == 1


async def test_samples_that_were_refused_come_last_when_a_run_goes_on() -> None:
    disliked = {f"{n}?" for n in range(4, 16)}
    asked: list[str] = []

    async def agent(question: str) -> str:
        asked.append(question)
        if question in disliked:
            raise EndpointRefused("The firewall dislikes it (status {status}).", status=403)
        return question.rstrip("?")

    store = MemoryStore()
    ended = 0
    while (ended := ended + 1) < 5:
        with suppress(EndpointRefused):
            record = await run(agent, store, run_id="r", concurrency=1, order="official")
            break
    assert (record.state, ended) == ("inconclusive", 4)
    assert store.outcomes("r") == {"scored": 8, "provider_failed": 12}


async def test_a_key_that_is_refused_on_the_way_stops_at_once() -> None:
    asked: list[str] = []

    async def agent(question: str) -> str:
        asked.append(question)
        if len(asked) == 6:
            raise EndpointRefused("The key has expired (status {status}).", status=401)
        return question.rstrip("?")

    store = MemoryStore()
    with pytest.raises(EndpointRefused):
        await run(agent, store, run_id="r", concurrency=1)
    assert len(asked) == 6


async def test_a_first_request_that_is_not_accepted_is_told_at_once() -> None:
    async def agent(question: str) -> str:
        assert question == "0?" or progress.status.warnings
        raise ProviderFailed("Status 400: no such parameter.", kind="http_400")

    progress, store = Progress(), MemoryStore()
    prepared = prepare(TASK, RunOptions(agent=agent, store=store, run_id="r", order="official"))
    record = await evaluate(prepared.job, store, progress=progress, stop=asyncio.Event())
    assert "Status 400" in str(progress.status.warnings[0])
    assert record.state == "inconclusive"


@pytest.mark.parametrize(("requests", "tokens"), [(10, None), (None, 1_000)])
async def test_no_more_samples_are_under_way_than_the_rest_of_the_budget_holds(
    requests: int | None, tokens: int | None
) -> None:
    class Agent(Telling):
        async def send(self, turn: Turn) -> Sequence[Step]:
            await asyncio.sleep(0.001)
            self.asked += 1
            return [Step(message=Message.of("assistant", "1"), usage=Usage(requests=1, input_tokens=100))]

    agent, store = Agent(), MemoryStore()
    record = await run(agent, store, concurrency=16, budget=Budget(requests=requests, tokens=tokens))
    assert agent.asked == 10
    assert record.state == "inconclusive"
    assert "is spent" in str(record.note)
    assert store.outcomes(record.id) == {"scored": 10, "skipped": 10}


async def test_a_rest_of_requests_that_holds_no_further_sample_is_told() -> None:
    class Agent(Telling):
        async def send(self, turn: Turn) -> Sequence[Step]:
            self.asked += 1
            return [Step(message=Message.of("assistant", "1"), usage=Usage(requests=3))]

    agent = Agent()
    record = await run(agent, MemoryStore(), concurrency=16, budget=Budget(requests=10))
    assert agent.asked == 3
    assert record.state == "inconclusive"
    assert (
        str(record.note) == "The rest of the budget of 10 requests does not hold another sample (9 spent, 3 a sample)."
    )


async def test_tokens_and_money_are_passed_by_one_sample_at_most() -> None:
    class Agent(Telling):
        async def send(self, turn: Turn) -> Sequence[Step]:
            self.asked += 1
            return [Step(message=Message.of("assistant", "1"), usage=Usage(requests=1, input_tokens=300))]

    agent = Agent()
    record = await run(agent, MemoryStore(), concurrency=16, budget=Budget(tokens=1_000))
    assert agent.asked == 4
    assert str(record.note) == "The budget of 1000 tokens is spent (1200)."


async def test_a_budget_that_is_passed_by_the_last_sample_is_told_too() -> None:
    class Agent(Telling):
        async def send(self, turn: Turn) -> Sequence[Step]:
            return [Step(message=Message.of("assistant", "1"), usage=Usage(requests=1, input_tokens=50))]

    record = await run(Agent(), MemoryStore(), budget=Budget(tokens=990))
    assert record.state == "inconclusive"


class Telling:
    """An agent that tells what it used."""

    name = "telling"
    tools: ToolStyle = "text"

    def __init__(self) -> None:
        self.asked = 0

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        yield self

    async def send(self, turn: Turn) -> Sequence[Step]:
        raise NotImplementedError
