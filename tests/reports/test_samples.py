"""Samples for programs and on a terminal: the words of the agent, its calls and the target apart."""

import proctor
from proctor.core.errors import ProviderFailed
from proctor.reports.build import build
from proctor.reports.printing import printed
from proctor.reports.samples import ReportFilter, as_object, print_sample, select_samples
from proctor.reports.terminal import failures

TASK = proctor.Task(
    name="t", samples=[proctor.Sample.ask("a", "Buy tea.", target={"cart": ["tea"]})], scorers=["exact:contains"]
)


def buys(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    call = {"id": "1", "type": "function", "function": {"name": "buy", "arguments": '{"item": "tea"}'}}
    return [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]


def test_answer_calls_and_target_are_data_of_their_own() -> None:
    run = proctor.evaluate(TASK, agent=buys)
    (one,) = select_samples(run.record, run.store, ReportFilter())
    found = as_object(one)
    assert (found["answer"], found["target"]) == ("Done.", {"cart": ["tea"]})
    assert found["calls"] == [{"name": "buy", "arguments": {"item": "tea"}}]
    shown = printed(lambda console: print_sample(one, "en", console, with_attempt=False))
    assert "Done." in shown
    assert "buy(" in shown


def test_failures_say_which_trials_have_no_score() -> None:
    def down(question: str) -> str:
        raise ProviderFailed("The endpoint is down.", kind="http_500")

    run = proctor.evaluate(TASK, agent=down)
    shown = printed(lambda console: failures(build(run.record, run.store, run.estimates), "en", console))
    assert "No sample failed." not in shown
    assert "provider failed" in shown
    assert "The endpoint is down." in shown
