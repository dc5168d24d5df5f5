"""Faults put into calls: at their rate, the same for a seed, told in the trajectory, and estimated by kind."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor import Sample, Task
from proctor.agents.openai import ChatAgent
from proctor.api import compare, evaluate
from proctor.api.faults import recoveries
from proctor.core.errors import BadInput
from proctor.core.run import Perturb
from proctor.core.sample import Message, Tool, ToolCall, ToolResult
from proctor.core.score import Score
from proctor.core.trajectory import FaultKind, InjectedFault, Trajectory, carried_out
from proctor.engine.perturbing import LOST, UNAVAILABLE, Faults
from proctor.models.scripted import ScriptedModel

ALL: tuple[FaultKind, ...] = ("error", "lost", "delay", "cut")


class Tea:
    """A tool that sells a tea, and counts."""

    def __init__(self, sample: Sample) -> None:
        self.tools = [Tool(name="sell")]
        self.sold = 0

    async def call(self, call: ToolCall) -> ToolResult:
        self.sold += 1
        return ToolResult(name=call.name, content="sold one tea for 4.50", id=call.id)

    def state(self) -> dict[str, Any]:
        return {"sold": self.sold}


def sold_one(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=int((trajectory.state or {}).get("sold") == 1))


def seller(messages: Sequence[Message], _: object) -> Message | str:
    """An agent that tries again, up to three times, where a tool says that nothing was done."""
    results = [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
    if results and (results[-1].content != UNAVAILABLE or len(results) == 3):
        return "Done."
    return Message(role="assistant", parts=(ToolCall(name="sell", id=f"c{len(results)}"),))


TASK = Task(
    name="tea",
    samples=[Sample.ask(str(n), "One tea, please.") for n in range(200)],
    scorers=[sold_one],
    environment=Tea,
)


def run(store: Path, **perturb: float) -> Any:
    return evaluate(
        TASK, agent=ChatAgent(ScriptedModel(seller), name="seller"), perturb=perturb, store=str(store / "r.db"), seed=3
    )


def call(number: int) -> ToolCall:
    return ToolCall(name="look", id=str(number))


async def echo(calls: Sequence[ToolCall]) -> Sequence[ToolResult]:
    return [ToolResult(name=one.name, id=one.id, content="0123456789") for one in calls]


async def test_each_kind_comes_at_its_rate_and_does_what_it_says() -> None:
    faults = Faults(Perturb(errors=0.1, lost=0.2, delays=0.1, cuts=0.3, seconds=0), 0, "s", 0)
    results = [(await faults.around([call(n)], echo) or [])[0] for n in range(4_000)]
    counts = Counter(fault.kind for fault in faults.made)
    assert all(abs(counts[kind] / 4_000 - rate) < 0.03 for kind, rate in zip(ALL, (0.1, 0.2, 0.1, 0.3), strict=True))
    texts = {fault.kind: results[fault.call].content for fault in faults.made}
    assert texts == {"error": UNAVAILABLE, "lost": LOST, "delay": "0123456789", "cut": "01234"}
    assert [one.id for one in results] == [str(n) for n in range(4_000)]


async def test_the_same_seed_makes_the_same_faults_and_another_attempt_others() -> None:
    made = []
    for attempt in (0, 0, 1):
        faults = Faults(Perturb(errors=0.5), 7, "s", attempt)
        for number in range(50):
            await faults.around([call(number)], echo)
        made.append(faults.made)
    assert made[0] == made[1] != made[2]


async def test_of_several_calls_only_those_without_an_error_are_carried_out() -> None:
    ran: list[str] = []

    async def note(calls: Sequence[ToolCall]) -> Sequence[ToolResult]:
        ran.extend(one.id for one in calls)
        return await echo(calls)

    faults = Faults(Perturb(errors=0.5), 1, "s", 0)
    results = await faults.around([call(n) for n in range(20)], note)
    assert results is not None
    stopped = {str(fault.call) for fault in faults.made}
    assert set(ran) == {str(n) for n in range(20)} - stopped
    assert {one.id for one in results if one.is_error} == stopped


def test_a_run_tells_its_faults_and_what_they_cost(tmp_path: Path) -> None:
    clean, disturbed = run(tmp_path / "a"), run(tmp_path / "a", errors=0.3, lost=0.1)
    assert clean.estimate("accuracy").value == 1
    faults = [fault for trial in disturbed.trials() for fault in trial.trajectory.faults]
    assert {fault.kind for fault in faults} == {"error", "lost"}
    by_kind = {one.slice: one for one in disturbed.estimates if one.name == "accuracy" and one.slice}
    assert by_kind["fault=none"].value == 1
    assert by_kind["fault=lost"].value == 1  # it was sold all the same
    assert 0.8 < (by_kind["fault=error"].value or 0) < 1  # three errors in a row are too many
    assert (disturbed.estimate("recovered", slice="fault=error").value or 0) > 0.7
    assert disturbed.estimate("recovered", slice="fault=lost").value == 0
    assert compare(clean, disturbed).rows[0].outcome == "worse"


def test_calls_that_were_not_carried_out_are_left_out_for_who_makes_them_again() -> None:
    made = Trajectory(
        steps=tuple(
            step
            for number in range(2)
            for step in (
                _step(Message(role="assistant", parts=(call(number),))),
                _step(Message(role="tool", parts=(ToolResult(name="look", id=str(number), content="x"),))),
            )
        ),
        faults=(InjectedFault(call=0, tool="look", kind="error"),),
    )
    kept = carried_out(made)
    assert [one.id for one in kept.calls()] == ["1"]
    assert [part.id for step in kept.steps for part in step.message.parts if isinstance(part, ToolResult)] == ["1"]


def _step(message: Message) -> Any:
    from proctor.core.trajectory import Step

    return Step(message=message)


@pytest.mark.parametrize(
    ("perturb", "said"), [({"errors": 2}, "errors"), ({"errors": 0.6, "cuts": 0.6}, "120%"), ({"error": 0.1}, "errors")]
)
def test_wrong_shares_are_refused(perturb: dict[str, float], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        run(tmp_path, **perturb)


def test_a_task_without_an_environment_has_nothing_to_disturb(tmp_path: Path) -> None:
    plain = Task(name="plain", samples=[Sample.ask("1", "?")], scorers=[sold_one])
    with pytest.raises(BadInput, match="--perturb puts faults"):
        evaluate(plain, agent=lambda q: q, perturb={"errors": 0.1}, store=str(tmp_path / "r.db"))


def test_the_tools_of_a_simulated_user_are_no_recovery() -> None:
    users = _step(Message(role="tool", parts=(ToolResult(name="look", id="u", content="x"),)))
    lost = ToolResult(name="look", id="0", content=UNAVAILABLE, is_error=True)
    made = Trajectory(
        steps=(
            _step(Message(role="tool", parts=(lost,))),
            msgspec.structs.replace(users, author="user"),
        ),
        faults=(InjectedFault(call=0, tool="look", kind="error"),),
    )
    assert list(recoveries(made)) == [("error", 0.0)]
