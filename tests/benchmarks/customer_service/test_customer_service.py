"""The bundled suite of customer service: its samples, its faults, and what its scorers call right."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest

import proctor
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Step, Trajectory
from proctor_benchmarks.customer_service import task
from proctor_benchmarks.customer_service.backend import Backend, Fault
from proctor_benchmarks.customer_service.dataset import BUNDLED
from proctor_benchmarks.customer_service.scorer import backend, intent, robustness
from proctor_ci.policy import find_policy

SAMPLES: dict[str, Sample] = {sample.id: sample for sample in task().samples}  # type: ignore[union-attr]
Calls = list[tuple[str, dict[str, Any]]]
LOOK_REFUND: Calls = [("get_order", {"order_id": "A1010"}), ("refund", {"order_id": "A1010"})]
AGAIN: Calls = LOOK_REFUND[1:]
HAND_OVER: Calls = [("hand_over", {"reason": "?"})]


def talk(sample: Sample, calls: Calls, answer: str = "Done.") -> Trajectory:
    """Return what is recorded of a conversation with these calls."""
    made = Backend(**sample.meta["environment"])
    for name, arguments in calls:
        with suppress(Exception):
            getattr(made, name)(**arguments)
    said = [Message(role="assistant", parts=(ToolCall(name=name, arguments=given),)) for name, given in calls]
    steps = tuple(Step(message=message) for message in (*said, Message.of("assistant", answer)))
    return Trajectory(steps=steps, state=made.state())


def error_class(result: Score | Unscored) -> str | None:
    assert isinstance(result, Score)
    return result.details.get("error_class")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> proctor.Run:
    store = str(tmp_path_factory.mktemp("store") / "runs.db")
    return proctor.evaluate("customer-service", agent="baseline:oracle", options={"tone": False}, store=store)


def test_every_scenario_can_be_solved_under_every_fault_and_passes_its_gate(solved: proctor.Run) -> None:
    assert [solved.estimate(f"{name}.accuracy").value for name in ("intent", "backend", "robustness")] == [1, 1, 1]
    assert proctor.gate(solved, policy=find_policy("customer-service")).decision == "go"


def test_the_samples_are_in_both_languages_and_have_every_fault() -> None:
    assert len(SAMPLES) == 76
    tags = [sample.tags for sample in SAMPLES.values()]
    assert {each["fault"] for each in tags} == {"none", *get_args(Fault)}
    assert sum(each["language"] == "zh" for each in tags) == 38
    assert len({sample.cluster for sample in SAMPLES.values()}) == 20
    only = task("zh", faults=False, tone=False)
    assert len(list(only.samples)) == 20  # type: ignore[arg-type]
    assert [scorer.__name__ for scorer in only.scorers] == ["backend", "intent"]  # type: ignore[union-attr]


def test_an_agent_that_does_nothing_is_right_only_where_there_is_nothing_to_do(tmp_path: Path) -> None:
    run = proctor.evaluate(
        "customer-service", agent="baseline:null", options={"tone": False}, store=str(tmp_path / "runs.db")
    )
    right = {verdict.sample_id for verdict in run.verdicts(scorer="backend") if isinstance(verdict.result, Score) and verdict.result.points}  # fmt: skip
    assert right == {"not-our-business/en", "not-our-business/zh"}
    assert run.estimate("robustness.accuracy").value == run.estimate("intent.accuracy").value == 0


@pytest.mark.parametrize(
    ("id", "calls", "wrong"),
    [
        ("refund-in-time/en", LOOK_REFUND, None),
        ("refund-in-time/en", [*LOOK_REFUND, *AGAIN], "refunded_twice"),
        ("refund-in-time/en", AGAIN, "not_looked_up"),
        ("refund-in-time/zh", LOOK_REFUND[:1], "not_refunded"),
        ("refund-in-time/zh", [*LOOK_REFUND, *HAND_OVER], "handed_over"),
        ("refund-too-late/en", [("refund", {"order_id": "A1011"})], "wrongly_refunded"),
        ("cancel-corrected/en", [("cancel_order", {"order_id": "A1006"})], "wrong_order"),
        ("complaint-legal/en", [], "not_handed_over"),
        ("address-processing/en", [("change_address", {"order_id": "A1015", "address": "22 LAKE ROAD,Springfield"})], None),
        ("policy-returns/en", [("get_policy", {"topic": "returns"})], "not_named"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_calls_is_named(id: str, calls: Calls, wrong: str | None) -> None:
    sample = SAMPLES[id]
    assert error_class(backend(sample, talk(sample, calls))) == wrong
    assert isinstance(robustness(sample, talk(sample, calls)), Unscored)


@pytest.mark.parametrize(
    ("fault", "calls", "wrong"),
    [
        ("lost", LOOK_REFUND, None),
        ("lost", [*LOOK_REFUND, *AGAIN], "refunded_twice"),
        ("down", [*LOOK_REFUND, *AGAIN, *HAND_OVER], None),
        ("down", [*LOOK_REFUND, *AGAIN], "not_handed_over"),
        ("down", [*LOOK_REFUND[:1], *HAND_OVER], "not_looked_up"),
    ],
)
def test_a_fault_is_handled_by_looking_first_or_by_handing_over(fault: str, calls: Calls, wrong: str | None) -> None:
    sample = SAMPLES[f"refund-in-time/en/refund-{fault}"]
    assert error_class(robustness(sample, talk(sample, calls))) == wrong
    assert isinstance(backend(sample, talk(sample, calls)), Unscored)


def test_a_tool_that_fails_once_is_tried_again() -> None:
    cancel = ("cancel_order", {"order_id": "A1004"})
    look = ("get_order", {"order_id": "A1004"})
    sample = SAMPLES["cancel-processing/zh/cancel_order-once"]
    assert error_class(robustness(sample, talk(sample, [look, cancel]))) == "wrong_order"
    assert error_class(robustness(sample, talk(sample, [look, cancel, cancel]))) is None


def test_the_last_intent_counts_and_without_a_backend_nothing_is_scored() -> None:
    sample = SAMPLES["cancel-shipped/en"]
    calls: Calls = [("set_intent", {"intent": "refund"}), ("set_intent", {"intent": "cancel"})]
    assert error_class(intent(sample, talk(sample, calls[:1]))) == "refund"
    assert error_class(intent(sample, talk(sample, calls))) is None
    assert error_class(intent(sample, talk(sample, []))) == "no_intent"
    assert all(isinstance(one(sample, Trajectory.of("Hi")), Unscored) for one in (intent, backend, robustness))


def test_tone_is_judged_by_its_rubric(tmp_path: Path) -> None:
    says = {"comment": "Kind.", "courtesy": 5, "empathy": 4, "clarity": 4, "honesty": 5}
    (tmp_path / "judge.jsonl").write_text(json.dumps(says) + "\n")
    run = proctor.evaluate(
        "customer-service",
        agent="baseline:oracle",
        judge=f"scripted:{tmp_path / 'judge.jsonl'}",
        limit=10,
        store=str(tmp_path / "runs.db"),
    )
    assert run.estimate("rubric:service-tone.pass_rate").value == 1
    assert run.estimate("rubric:service-tone.empathy").value == 4


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('intent = "cancel"', 'intent = "cancle"', "intent"),
        ('writes = [["cancel_order", { order_id = "A1004" }]]', 'writes = [["cancel_order", { order_id = "A1" }]]', "cancel-processing.*solved"),
        ('faults = [["get_policy", "down"]]', 'faults = [["refund", "down"]]', "policy-shipping.*refund"),
        ('says = ["30"]', 'sais = ["30"]', "sais"),
        ("[rules]", "[rules", "TOML"),
    ],
)  # fmt: skip
def test_a_mistake_in_scenarios_of_ones_own_is_named(tmp_path: Path, before: str, after: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    text = BUNDLED.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert task(data=str(path)).planned == 76
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        task(data=str(path))
