import example_runs
import msgspec

from proctor.core.sample import File, Message, Sample, Text, ToolCall, ToolResult, Turn
from proctor.core.score import Score
from proctor.core.trajectory import StateChange, Step, Trajectory
from proctor.core.trial import Trial
from proctor.reports.story import Story, story

AREA = [{"area": {"base": [10], "unit": ["cm", ""]}}]


def told(sample: Sample, result: Score | None = None, **given: object) -> Story:
    _, trial, verdicts = example_runs.played("run", sample, result, **given)  # type: ignore[arg-type]
    return story(trial, sample, verdicts)


def test_text_in_which_no_call_was_read_stands_beside_the_expected_calls_as_text() -> None:
    one = told(example_runs.question("a_1", "?", AREA), Score(points=0, answer="[area(10]"), answer="[area(10]")
    assert one.pairs == ()
    assert (one.expected, one.made) == ('area(base=10, unit="cm" | "")', "[area(10]")


def test_calls_that_the_scorer_read_in_the_text_are_compared() -> None:
    details = {"error_class": "wrong_param_value", "parameter": "base", "calls": [{"area": {"base": 9}}]}
    one = told(example_runs.question("a_1", "?", AREA), Score(points=0, details=details), answer="[area(base=9)]")
    assert [(row.parameter, row.expected, row.made, row.marked) for row in one.pairs[0].rows] == [
        ("base", "10", "9", True),
        ("unit", '"cm" | ""', None, False),
    ]
    assert one.made == ""


def test_no_reply_at_all_is_a_missing_call() -> None:
    one = told(example_runs.question("a_1", "?", AREA), Score(points=0))
    assert [(pair.expected, pair.made) for pair in one.pairs] == [("area", None)]


def test_an_answer_in_words_stands_beside_its_target() -> None:
    one = told(Sample.ask("fr", "Capital of France?", target=["Paris", "paris"]), Score(points=0), answer="Rome")
    assert (one.expected, one.made, one.question) == ("Paris | paris", "Rome", "Capital of France?")


def test_the_conversation_is_in_order_with_every_kind_of_part() -> None:
    photo = File(name="a.png", media_type="image/png", data=b"x")
    turns = (
        Turn(messages=(Message(role="user", parts=(Text(text="one"), photo)),)),
        Turn(messages=(Message.of("user", "two"),)),
    )
    steps = (
        Step(turn=0, message=Message(role="assistant", parts=(ToolCall(name="f", arguments={"x": 1}),))),
        Step(turn=0, message=Message(role="tool", parts=(ToolResult(name="f", content="7"),))),
        Step(turn=1, message=Message.of("assistant", "done")),
    )
    one = told(Sample(id="a", turns=turns), Score(points=1), trajectory=Trajectory(steps=steps))
    assert [(line.turn, line.role, line.kind, line.text) for line in one.lines] == [
        (0, "user", "text", "one"),
        (0, "user", "file", "a.png (image/png, 1 bytes) 442a44457137672b3218c1007dc8f76a"),
        (0, "assistant", "call", 'f {"x": 1}'),
        (0, "tool", "result", "f: 7"),
        (1, "user", "text", "two"),
        (1, "assistant", "text", "done"),
    ]


def test_calls_on_the_way_to_an_expected_state_are_neither_right_nor_wrong() -> None:
    sample = Sample.ask("s", "Close T1!", target={"tickets": {"T1": "closed"}})
    call = ToolCall(name="close", arguments={"number": "T1"}, id="1")
    done = Message(role="tool", parts=(ToolResult(name="close", content="ok", id="1"),))
    steps = (Step(message=Message(role="assistant", parts=(call,))), Step(message=done, author="tool"))
    trial = Trial(run_id="r", sample_id="s", attempt=0, outcome="scored", trajectory=Trajectory(steps=steps))
    assert [(pair.kind, pair.marked) for pair in story(trial, sample, []).pairs] == [("free", False)]


def test_what_a_turn_changed_in_the_environment_follows_its_steps() -> None:
    change = StateChange(turn=0, path="$.cart[0]", after="苹果")
    trajectory = msgspec.structs.replace(Trajectory.of("Bought."), changes=(change,))
    trial = Trial(run_id="r", sample_id="s", attempt=0, outcome="scored", trajectory=trajectory)
    lines = story(trial, Sample.ask("s", "Buy!"), []).lines
    assert [(line.role, line.kind, line.text) for line in lines][1:] == [
        ("assistant", "text", "Bought."),
        ("environment", "change", '$.cart[0]: null → "苹果"'),
    ]


def test_what_the_agent_was_shown_as_text_is_what_is_told() -> None:
    turn = Turn(messages=(Message.of("user", "asked"),), as_text=(Message.of("user", "shown"),))
    sample = Sample(id="a", turns=(turn,))
    assert told(sample, Score(points=1), trajectory=Trajectory(tools="text")).lines[0].text == "shown"
    assert told(sample, Score(points=1), trajectory=Trajectory(tools="native")).lines[0].text == "asked"


def test_long_texts_and_conversations_are_cut_and_say_so() -> None:
    steps = tuple(Step(message=Message.of("assistant", "a" * 9_000)) for _ in range(70))
    one = told(Sample.ask("a", "?"), Score(points=0), trajectory=Trajectory(steps=steps))
    assert (len(one.lines), one.left_out) == (60, 11)
    assert one.lines[1].text.endswith("… (+5,000)")


def test_a_trial_without_its_sample_can_be_told() -> None:
    _, trial, verdicts = example_runs.played("run", Sample.ask("a", "?"), Score(points=0), answer="x")
    assert (story(trial, None, verdicts).made, story(trial, None, verdicts).question) == ("x", "")


def test_turns_that_are_judged_are_told_apart_with_what_was_expected_in_them() -> None:
    turns = tuple(Turn(messages=(Message.of("user", name),), reference=[f"{name}()"]) for name in ("one", "two"))
    sample = Sample(id="s", turns=turns)
    details = {
        "passed_turns": [True, False],
        "turn": 1,
        "differences": [{"path": "Car.fuel", "got": 3, "expected": 4}],
        "missing": ["five"],
    }
    found = told(sample, Score(points=0, details=details))
    assert [(line.role, line.kind, line.text) for line in found.lines if line.role in ("turn", "expected")] == [
        ("turn", "text", "1 ✓"),
        ("expected", "call", "one()"),
        ("turn", "text", "2 ✗"),
        ("expected", "call", "two()"),
        ("expected", "change", "Car.fuel: 3 ≠ 4"),
        ("expected", "result", "five"),
    ]
