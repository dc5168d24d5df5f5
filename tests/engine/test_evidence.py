"""An agent that reports calls in one trial of a run reports calls: no call where some were expected is then 0."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

import proctor
from proctor.api import merge_runs
from proctor.core.errors import ProviderFailed
from proctor.core.sample import Message, Sample, ToolCall, Turn
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor.scorers import limits
from proctor.scorers.lookup import find_scorer
from proctor_adapters.scorers import session_state

CALL = {"name": "search", "arguments": {"q": "x"}}
SCORERS = [
    "trajectory",
    *(f"trajectory:{name}" for name in ("exact", "in_order", "any_order", "precision", "recall", "f1", "efficiency")),
    "trajectory:single_tool",
]
Reply = list[dict[str, object]] | str
Agent = Callable[[list[dict[str, object]]], Reply]


def expecting(count: int, *, calls: bool = True) -> list[Sample]:
    reference = {"calls": [CALL] if calls else []}
    return [
        Sample(id=f"s{n}", turns=(Turn(messages=(Message.of("user", f"{n}"),), reference=reference),))
        for n in range(count)
    ]


def calls_in(chosen: Iterable[int]) -> Agent:
    """An agent that makes the call in some samples, and answers in words in the others."""
    wanted = {str(n) for n in chosen}

    def agent(messages: list[dict[str, object]]) -> Reply:
        if str(messages[-1]["content"]) not in wanted:
            return "It is x."
        function = {"name": "search", "arguments": '{"q": "x"}'}
        call: dict[str, object] = {
            "role": "assistant",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        }
        return [call, {"role": "assistant", "content": "It is x."}]

    return agent


def run(agent: Agent, samples: list[Sample], **how: object) -> proctor.Run:
    task = proctor.Task(name="t", samples=samples, scorers=SCORERS)
    return proctor.evaluate(task, agent=agent, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("chosen", [range(5), range(5, 10)])  # the first report comes early, or late
def test_a_forgotten_call_is_0_whichever_trial_ended_first(chosen: Iterable[int], tmp_path: Path) -> None:
    made = run(calls_in(chosen), expecting(10), store=str(tmp_path / "runs.db"))
    for scorer in SCORERS:
        one = made.estimate(f"{scorer}.accuracy")
        assert (one.value, one.scored, one.floor, one.ceiling) == (0.5, 10, 0.5, 0.5), scorer


def test_scoring_again_and_resuming_give_the_same(tmp_path: Path) -> None:
    store = str(tmp_path / "runs.db")

    is_up: list[bool] = []

    def agent(messages: list[dict[str, object]]) -> Reply:
        if messages[-1]["content"] == "9" and not is_up:
            raise ProviderFailed("Down.")
        return calls_in([9])(messages)

    one = run(agent, expecting(10), store=store, run_id="r").estimate("trajectory.accuracy")
    assert (one.value, one.floor, one.ceiling) == (None, 0.0, 1.0)  # no trial has shown a call so far
    is_up.append(True)
    again = run(agent, expecting(10), store=store, run_id="r", retry_failed=True)
    assert again.estimate("trajectory.accuracy").value == 0.1
    assert proctor.rescore("r", scorers=["trajectory"], store=store).estimate("trajectory.accuracy").value == 0.1


def test_an_agent_that_never_reports_a_call_is_not_scored_and_the_bounds_say_so() -> None:
    made = run(calls_in([]), expecting(10))
    one = made.estimate("trajectory.accuracy")
    assert (one.value, one.scored, one.floor, one.ceiling) == (None, 0, 0.0, 1.0)
    assert {value.why for value in made.store.values(made.id, "trajectory")} == {"no_evidence"}


def test_a_sample_that_expects_no_call_is_scored_in_every_case() -> None:
    made = run(calls_in([]), expecting(3, calls=False))
    for scorer in ("trajectory", "trajectory:precision", "trajectory:efficiency"):
        assert made.estimate(f"{scorer}.accuracy").value == 1.0
    called = run(calls_in(range(3)), expecting(3, calls=False))
    assert called.estimate("trajectory:precision.accuracy").value == 0.0


@pytest.mark.parametrize("missing", ["unscored", "left_out"])
def test_a_scorer_made_of_others_waits_for_the_same_fact(missing: str, tmp_path: Path) -> None:
    parts = [{"scorer": "trajectory"}, {"scorer": "limits"}]
    combined = find_scorer("combine", {"parts": parts, "missing": missing})
    sample = msgspec.structs.replace(expecting(1)[0], meta={"limits": {"words": 9}})
    silent = combined(sample, Trajectory.of("It is x."))
    assert isinstance(silent, Unscored)
    assert silent.why == "no_evidence"
    assert isinstance(silent.without_calls, Score)
    assert silent.without_calls.value == 0.5


def test_a_turn_without_a_call_is_0_where_another_turn_has_one() -> None:
    sample = Sample(
        id="s",
        turns=tuple(Turn(messages=(Message.of("user", "?"),), reference={"calls": [CALL]}) for _ in range(2)),
    )
    call = Step(message=Message(role="assistant", parts=(ToolCall(name="search", arguments={"q": "x"}),)))
    words = Step(message=Message.of("assistant", "It is x."), turn=1)
    result = find_scorer("turns", {"scorer": "trajectory"})(sample, Trajectory(steps=(call, words)))
    assert isinstance(result, Score)
    assert result.value == 0.5


def test_what_the_agent_does_not_report_is_missing_and_what_the_sample_does_not_ask_is_not() -> None:
    asked = Sample.ask("a", "?", meta={"final_session_state": {"booked": True}, "limits": {"tokens": 5, "words": 9}})
    free = Sample.ask("a", "?")
    for scorer in (session_state.session_state, limits.limits):
        results = [scorer(sample, Trajectory.of("x")) for sample in (asked, free)]
        assert [one.why for one in results if isinstance(one, Unscored)] == ["no_evidence", "not_applicable"]


def test_a_call_in_one_shard_is_evidence_for_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    (tmp_path / "work.py").write_text(
        f"{source}\ndef task():\n    return proctor.Task(name='t', samples=expecting(10), scorers=['trajectory'])\n\nagent = calls_in([9])\n"
    )
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        proctor.evaluate(
            "./work.py:task",
            agent="./work.py:agent",
            run_id="r",
            store=f"{number}.db",
            shard=f"{number}/2",
            order="official",
        )
    whole = merge_runs(["1.db", "2.db"], "whole.db")
    assert (whole.estimate("accuracy").value, whole.estimate("accuracy").scored) == (0.1, 10)
