"""The nouns: what they hold, what they refuse, and that they survive a round trip through JSON."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.config import converted
from proctor.core.digest import digest
from proctor.core.errors import BadInput, MissingExtra
from proctor.core.run import Budget, Price, RunSpec
from proctor.core.sample import File, Message, Part, Reasoning, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.tally import Case, tally
from proctor.core.trajectory import Step, Stop, Trajectory, Usage
from proctor.core.trial import Trial


def test_a_bound_of_a_budget_is_above_zero() -> None:
    for bound in ({"tokens": 0}, {"requests": -1}, {"minutes": float("nan")}, {"money": -0.5}):
        with pytest.raises(BadInput, match="--budget"):
            converted(bound, Budget, "--budget")


def test_cached_tokens_that_are_counted_apart_from_the_input_give_nothing_back() -> None:
    price = Price(input=2.0, output=8.0, cached=0.5)
    assert price.of(Usage(input_tokens=10, cached_tokens=1_000_000)) == 0.5


def test_what_a_cache_is_given_to_keep_has_its_own_price_where_there_is_one() -> None:
    written = Usage(input_tokens=1_000_000, cache_write_tokens=600_000, cache_write_1h_tokens=100_000)
    assert Price(input=2.0, output=8.0).of(written) == pytest.approx(2.0)
    assert Price(input=2.0, output=8.0, cache_write=2.5).of(written) == pytest.approx(0.4 * 2.0 + 0.6 * 2.5)
    own = Price(input=2.0, output=8.0, cache_write=2.5, cache_write_1h=4.0)
    assert own.of(written) == pytest.approx(0.4 * 2.0 + 0.5 * 2.5 + 0.1 * 4.0)


def test_a_score_outside_its_range_cannot_be_made() -> None:
    for points, out_of in ((2, 1), (-0.1, 1), (1, 0), (float("nan"), 1)):
        with pytest.raises(ValueError, match="points must lie"):
            Score(points=points, out_of=out_of)


def test_reasoning_is_kept_but_is_no_part_of_the_answer() -> None:
    message = Message(role="assistant", parts=(Reasoning(text="Hm, Paris?"), Text(text="Paris")))
    trajectory = Trajectory(steps=(Step(message=message),))
    assert trajectory.answer == "Paris"


def test_the_answer_is_the_last_assistant_text_even_when_calls_follow() -> None:
    said = Step(message=Message.of("assistant", "Paris"))
    called = Step(message=Message(role="assistant", parts=(ToolCall(name="f"),)), turn=1)
    trajectory = Trajectory(steps=(said, called))
    assert trajectory.answer == "Paris"
    assert [call.name for call in trajectory.calls(turn=1)] == ["f"]
    assert trajectory.calls(turn=0) == ()


@pytest.mark.parametrize("text", ["[1]", "3", "null", "", '{"a": 1', '{"a": NaN}', "[" * 10_000])
def test_arguments_that_are_no_json_object_are_kept_as_they_came(text: str) -> None:
    call = ToolCall.from_text("f", text)
    assert call.raw == text
    assert call.arguments_text() == text


def test_costs_add_up_only_where_they_are_known() -> None:
    assert (Usage(input_tokens=1) + Usage(input_tokens=2)).cost is None
    assert (Usage(cost=0.5) + Usage()).cost == 0.5


def test_a_trial_comes_back_from_json_as_it_was() -> None:
    parts = (Text(text="中文"), File(name="a.png", data=b"\x00\xff"), ToolCall(name="f", arguments={"x": [1, None]}))
    trajectory = Trajectory(steps=(Step(message=Message(role="assistant", parts=parts), usage=Usage(cost=1.0)),))
    trial = Trial(run_id="r", sample_id="s", outcome="scored", trajectory=trajectory)
    assert msgspec.json.decode(msgspec.json.encode(trial), type=Trial) == trial


def test_a_spec_is_names_and_json_so_its_digest_is_stable() -> None:
    one = RunSpec(task="bfcl", agent="openai:m", task_options={"a": 1, "b": 2})
    other = RunSpec(task="bfcl", agent="openai:m", task_options={"b": 2, "a": 1})
    assert digest(one) == digest(other)
    assert digest(one) != digest(RunSpec(task="bfcl", agent="openai:n"))


def test_an_error_says_its_sentence_and_keeps_its_values() -> None:
    error = BadInput("There is no file {path}.", path="a.json")
    assert str(error) == "There is no file a.json."
    assert error.sentence.values["path"] == "a.json"
    assert "[local]'" in str(MissingExtra("local", "The local model"))


def test_a_value_with_braces_does_not_confuse_a_sentence() -> None:
    assert str(say("Got {answer}.", answer="{x} {0}")) == "Got {x} {0}."


def test_a_question_is_the_last_user_message_of_the_first_turn() -> None:
    assert Sample.ask("a", "问题?").question == "问题?"
    assert Sample(id="empty", turns=()).question == ""


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=3), st.integers(3, 4)),
        max_size=12,
    )
)
def test_a_tally_does_not_depend_on_the_order_of_samples(rows: list[tuple[str, list[float], int]]) -> None:
    cases = [Case(cluster=cluster, values=tuple(values), planned=planned) for cluster, values, planned in rows]
    one, other = tally(cases), tally(reversed(cases))
    for field in one.__struct_fields__:
        assert getattr(one, field) == pytest.approx(getattr(other, field))
    assert one.scored <= one.planned


def _says(*texts: str, turn: int = 0, stop: Stop = "done") -> Trajectory:
    """A trajectory of calls (`buy!`), results (`=buy`), and words."""
    steps = []
    for text in texts:
        if text.startswith("="):
            parts: tuple[Part, ...] = (ToolResult(name=text[1:], content="done"),)
            steps.append(Step(message=Message(role="tool", parts=parts), author="tool", turn=turn))
        else:
            name = text.removesuffix("!")
            parts = (ToolCall(name=name) if text.endswith("!") else Text(text=text),)
            steps.append(Step(message=Message(role="assistant", parts=parts), turn=turn))
    return Trajectory(steps=tuple(steps), stop=stop)


@pytest.mark.parametrize(
    ("trajectory", "unanswered"),
    [
        (_says("buy!"), []),  # an agent that only names calls
        (_says("buy!", "=buy", "Done."), []),
        (_says("buy!", "Done."), ["buy"]),
        (_says("look!", "=look", "buy!"), ["buy"]),
        (_says("look!", "=look", "end!", stop="task_limit"), []),
        (_says("buy!", "buy!", "=buy", "Done."), ["buy"]),
    ],
)
def test_a_call_without_a_result_is_known_where_results_are_recorded(
    trajectory: Trajectory, unanswered: list[str]
) -> None:
    assert [call.name for call in trajectory.unanswered] == unanswered
