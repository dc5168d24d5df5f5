"""What a trial used, by step: the sums are those of the trial, or the difference is named."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from memory_store import MemoryStore
from rich.console import Console

from proctor import Sample, Task, evaluate
from proctor.cli.explain import command
from proctor.core.run import Limits, Price, RunRecord, RunSpec
from proctor.core.sample import Message, ToolCall, ToolResult
from proctor.core.trajectory import Step, Trajectory, Usage
from proctor.core.trial import FailedRequest, Trial
from proctor.engine.trial import _priced
from proctor.reports.explanation import explanation_object, print_costs
from proctor.reports.step_costs import TrialCosts, step_costs
from proctor.reports.words import ReportWords

RECORD = RunRecord(
    id="r",
    spec=RunSpec(task="t", agent="openai:m", agent_options={"max_steps": 4}, limits=Limits(seconds=10)),
    task="t",
    task_version="1",
    agent="openai:m",
)
CALL = Message(role="assistant", parts=(ToolCall(name="search", id="1"),))
RESULT = Message(role="tool", parts=(ToolResult(name="search", content="x", id="1"),))
SAID = Message.of("assistant", "done")


def acted(first: Usage | None, last: Usage | None) -> Trajectory:
    return Trajectory(
        steps=(
            Step(message=CALL, started=100, seconds=1.0, usage=first),
            Step(message=RESULT, author="tool", started=101, seconds=2.0),
            Step(message=SAID, started=103, seconds=2.0, usage=last),
        )
    )


def trial(trajectory: Trajectory, usage: Usage | None = None, *, retries: Sequence[FailedRequest] = ()) -> Trial:
    return Trial(
        run_id="r",
        sample_id="s",
        outcome="scored",
        trajectory=trajectory,
        started=100,
        seconds=6.0,
        usage=trajectory.usage if usage is None else usage,
        retries=tuple(retries),
    )


def used(tokens: int, cost: float | None = None) -> Usage:
    return Usage(input_tokens=tokens, output_tokens=1, requests=1, cost=cost)


def said(costs: TrialCosts) -> list[str]:
    return [str(note) for note in costs.notes]


def test_each_step_has_its_tokens_its_time_and_the_share_of_the_limits() -> None:
    costs = step_costs(RECORD, trial(acted(used(10, 0.5), used(20, 0.25))))
    assert [step.tools for step in costs.steps] == [("search",), ("search",), ()]
    assert [step.elapsed_seconds for step in costs.steps] == [1, 3, 5]
    assert [step.replies for step in costs.steps] == [1, 1, 2]
    assert (costs.limit_replies, costs.limit_seconds) == (4, 10)
    assert costs.outside_seconds == 1.0
    assert costs.notes == ()


def test_a_run_without_tokens_by_step_says_so_in_one_sentence() -> None:
    costs = step_costs(RECORD, trial(acted(None, None), used(30, 0.5)))
    assert said(costs) == ["This trial holds tokens and cost only for the whole of it, not by step."]


def test_a_run_that_kept_only_the_total_cost_says_so() -> None:
    whole = msgspec.structs.replace(used(10) + used(20), cost=0.5)
    assert said(step_costs(RECORD, trial(acted(used(10), used(20)), whole))) == [
        "This run holds the cost of the whole trial only; its steps have tokens and time."
    ]


def test_steps_without_a_known_price_are_counted() -> None:
    (note,) = said(step_costs(RECORD, trial(acted(used(10), used(20)))))
    assert note.startswith("No price is known for 2 of 2 steps with tokens")


def test_what_no_step_used_is_named() -> None:
    trajectory = acted(used(10, 0.5), used(20, 0.25))
    waited = FailedRequest(cause="status", status=503, waited_seconds=1.5)
    costs = step_costs(
        RECORD, trial(trajectory, trajectory.usage + Usage(input_tokens=7, requests=2, cost=0.125), retries=[waited])
    )
    assert said(costs)[0].startswith("Not in any step: 7 input tokens, 0 output tokens, 2 requests, cost 0.125")
    assert said(costs)[1].startswith("Waits of 1.5 s")


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1),
    st.floats(0.01, 100),
    st.floats(0.01, 100),
)
def test_costs_of_steps_sum_to_the_cost_of_the_trial(
    tokens: list[tuple[int, int]], input: float, output: float
) -> None:
    price = Price(input=input, output=output)
    usages = [Usage(input_tokens=sent, output_tokens=back, requests=1) for sent, back in tokens]
    steps = tuple(Step(message=SAID, usage=usage) for usage in usages)
    priced = _priced(Trajectory(steps=steps), price)
    costs = step_costs(RECORD, trial(priced))
    total = sum(usages[1:], usages[0])
    assert priced.usage.cost == pytest.approx(price.of(total))
    assert costs.outside == Usage(cost=costs.outside.cost)
    assert costs.outside.cost is None


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80])
def test_the_table_fits_the_terminal_in_both_languages(lang: str, width: int) -> None:
    out = io.StringIO()
    costs = step_costs(RECORD, trial(acted(used(10_000, 0.5), used(20_000))))
    print_costs(costs, ReportWords(lang), Console(file=out, width=width, highlight=False, color_system=None))
    from rich.cells import cell_len

    assert max(map(cell_len, out.getvalue().splitlines())) <= width
    assert "10.0%" in out.getvalue()
    assert "2 / 4" in out.getvalue()


async def test_explain_gives_the_steps_to_programs() -> None:
    store = MemoryStore()
    await store.begin(RECORD)
    await store.plan("r", [Sample.ask("s", "go")])
    await store.add(trial(acted(used(10, 0.5), used(20, 0.25))))
    shown = explanation_object(RECORD, store, "s", 0, ReportWords("en"))
    steps = json.loads(json.dumps(shown))["steps"]
    assert [step["share_of_seconds"] for step in steps] == [0.1, 0.3, 0.5]
    assert [step["usage"] and step["usage"]["cost"] for step in steps] == [0.5, None, 0.25]


def test_explain_with_json_prints_one_object(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    task = Task(name="t", samples=[Sample.ask("a", "hi", target="hi")], scorers=["exact"])
    run = evaluate(task, agent=lambda text: text, store=path)
    printed = CliRunner().invoke(command, [run.id, "a", "--store", path, "--json"])
    explained = json.loads(printed.output)
    assert (explained["sample"], explained["answer"], len(explained["steps"])) == ("a", "hi", 1)
    assert explained["limits"]["seconds"] == 600


class _Shelf:
    """An environment whose task ends after three replies."""

    tools = ()
    max_steps = 3

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(name=call.name, content="")

    def state(self) -> dict[str, object]:
        return {}


def test_replies_are_limited_by_the_task_too() -> None:
    task = Task(name="t", samples=[Sample.ask("a", "hi")], environment=lambda _: _Shelf())
    run = evaluate(task, agent=lambda text: text, store=":memory:")
    (played,) = run.trials()
    assert [step_costs(record, played).limit_replies for record in (run.record, RECORD)] == [3, 3]
    chosen = msgspec.structs.replace(run.record, spec=msgspec.structs.replace(run.record.spec, limits=Limits(steps=2)))
    assert step_costs(chosen, played).limit_replies == 2
