"""Eval sets as items of CozeLoop, sent to a server that behaves like it."""

import json
from pathlib import Path
from typing import Any

import pytest
from cozeloop import CozeLoop
from endpoint import data, raw

from proctor.core.errors import BadInput, EndpointRefused
from proctor.core.sentence import Sentence
from proctor.transport.retry import RetryPolicy
from proctor_adapters.evalsets.read import parse
from proctor_adapters.evalsets.schema import EvalSet
from proctor_adapters.exports import cozeloop
from proctor_adapters.exports.cozeloop import Destination, RejectedItem, UploadState, body_of, items_of, upload


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send again, but without long waits."""
    monkeypatch.setattr(cozeloop, "POLICY", RetryPolicy(attempts=3, attempts_at_first=2, wait_seconds=0.01))


def made(*cases: dict[str, Any]) -> EvalSet:
    return parse(json.dumps({"eval_set_id": "shop", "eval_cases": cases}).encode(), Path("shop.evalset.json")).eval_set


def asked(id: str, *questions: str, **more: Any) -> dict[str, Any]:
    return {
        "eval_id": id,
        "conversation": [
            {"user_content": {"parts": [{"text": text}]}, "final_response": {"parts": [{"text": "fine"}]}, **more}
            for text in questions
        ],
    }


def many(count: int) -> EvalSet:
    return made(*(asked(f"case-{number}", f"question {number}") for number in range(count)))


async def sent(server: CozeLoop, eval_set: EvalSet, state: Path, **more: Any) -> list[RejectedItem]:
    to = Destination(**{"workspace_id": "7", "evalset_id": "42", "api_key": "secret-token", "url": server.url, **more})
    return await upload(items_of(eval_set)[0], to, UploadState(state, to.place))


async def test_all_text_parts_and_tool_calls_are_uploaded_in_any_shape_of_file(tmp_path: Path) -> None:
    case = {
        "evalId": "a",
        "conversation": [
            {
                "userContent": {"parts": [{"text": "What does"}, {"text": "A cost?"}]},
                "finalResponse": {"parts": [{"text": "It costs"}, {"text": "100."}]},
                "intermediateData": {"toolUses": [{"name": "price", "args": {"model": "甲"}}, {"name": "stop"}]},
            },
            {"userContent": {"parts": [{"text": "And B?"}]}, "finalResponse": None},
        ],
    }
    with CozeLoop() as server:
        assert await sent(server, made(case), tmp_path / "state") == []
    assert server.items == [
        {
            "input": "What does\nA cost?",
            "output": "It costs\n100.",
            "tool_calls": '[{"name": "price", "args": {"model": "甲"}}, {"name": "stop", "args": {}}]',
        },
        {"input": "And B?", "output": ""},
    ]


async def test_batches_have_at_most_100_items_in_order(tmp_path: Path) -> None:
    with CozeLoop() as server:
        assert await sent(server, many(250), tmp_path / "state") == []
    assert server.batches == [100, 100, 50]
    assert [item["input"] for item in server.items] == [f"question {number}" for number in range(250)]


@pytest.mark.parametrize("fault", [data({}, 500), data({}, 429), raw(b""), data({}, 503, retry_after="0")])
async def test_a_passing_fault_is_got_over(fault: Any, tmp_path: Path) -> None:
    with CozeLoop(fault) as server:
        assert await sent(server, many(3), tmp_path / "state") == []
    assert len(server.items) == 3


async def test_a_reply_that_was_lost_leaves_no_item_twice(tmp_path: Path) -> None:
    with CozeLoop() as server:
        assert await sent(server, many(3), tmp_path / "one") == []
        assert await sent(server, many(3), tmp_path / "two") == []  # nothing is known here of the first time
    assert server.batches == [3, 3]
    assert len(server.items) == 3


async def test_an_upload_that_broke_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with CozeLoop() as server:
        assert await sent(server, many(100), state) == []
        server.before.extend([data({"msg": "down"}, 500)] * 3)
        rejected = await sent(server, many(250), state)
        assert [one.item.case for one in rejected] == [f"case-{number}" for number in range(100, 250)]
        assert "500" in str(rejected[0].reason)
        assert str(rejected[-1].reason) == "It was not sent."
        assert await sent(server, many(250), state) == []
    assert server.batches == [100, 100, 50]
    assert len(server.items) == 250


async def test_a_case_that_changed_is_sent_again_and_the_others_are_not(tmp_path: Path) -> None:
    with CozeLoop() as server:
        await sent(server, made(asked("a", "one"), asked("b", "two")), tmp_path / "state")
        await sent(server, made(asked("a", "one"), asked("b", "three")), tmp_path / "state")
    assert [item["input"] for item in server.items] == ["one", "two", "three"]


async def test_another_set_has_a_state_of_its_own(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with CozeLoop() as one, CozeLoop(evalset="43") as other:
        await sent(one, many(2), state)
        await sent(other, many(2), state, evalset_id="43")
        await sent(one, many(2), state)
    assert (one.batches, other.batches) == ([2], [2])


async def test_items_that_the_server_refuses_are_told_one_by_one(tmp_path: Path) -> None:
    refuses = {"question 1": "empty", "question 3": "too long"}
    with CozeLoop(refuses=lambda item: refuses.get(item["input"])) as server:
        rejected = await sent(server, many(5), tmp_path / "state")
        assert [(one.item.case, one.item.turn, one.reason) for one in rejected] == [
            ("case-1", 1, "empty"),
            ("case-3", 1, "too long"),
        ]
        again = await sent(server, many(5), tmp_path / "state")
    assert len(again) == 2
    assert server.batches == [5, 2]


@pytest.mark.parametrize("tells_outputs", [True, False])
async def test_no_item_passes_for_uploaded_because_its_error_was_not_named(tells_outputs: bool, tmp_path: Path) -> None:
    with CozeLoop(refuses=lambda item: "full", tells_outputs=tells_outputs) as server:
        rejected = await sent(server, many(20), tmp_path / "state")
    assert len(rejected) == 20
    assert [one.reason for one in rejected[:5]] == ["full"] * 5
    assert isinstance(rejected[5].reason, Sentence)


async def test_a_range_of_errors_names_each_item(tmp_path: Path) -> None:
    group = {"error_count": 2, "details": [{"message": "capacity", "start_index": 1, "end_index": 2}]}
    reply = {"code": 0, "data": {"added_items": {"0": "99"}, "errors": [group]}}
    with CozeLoop(data(reply)) as server:
        rejected = await sent(server, many(3), tmp_path / "state")
    assert [(one.item.case, one.reason) for one in rejected] == [("case-1", "capacity"), ("case-2", "capacity")]


@pytest.mark.parametrize(
    "reply", [data({"code": 4100, "msg": "no"}, 401), data({}, 403), data({}, 404), data({"code": 4101, "msg": "no"})]
)
async def test_a_refused_key_stops_at_once(reply: Any, tmp_path: Path) -> None:
    with CozeLoop(reply) as server:
        with pytest.raises(EndpointRefused) as caught:
            await sent(server, many(250), tmp_path / "state", api_key="wrong-token")
        assert len(server.requests) == 1
    assert "wrong-token" not in str(caught.value)


async def test_a_batch_that_is_not_accepted_does_not_keep_the_others_back(tmp_path: Path) -> None:
    with CozeLoop(data({"msg": "bad"}, 400)) as server:
        rejected = await sent(server, many(150), tmp_path / "state")
    assert len(rejected) == 100
    assert server.batches == [50]


@pytest.mark.parametrize(
    "reply",
    [
        data({"code": 5, "msg": "busy"}),
        data([]),
        data("x"),
        data({"code": 0, "data": 7}),
        data({"code": 0, "data": {"errors": 5}}),
        data({"code": 0, "data": {"errors": [{"details": 5}, {"details": [5]}]}}),
        data({"code": 0, "data": {"errors": [{"error_count": "1" * 5_000}]}}),
    ],
)
async def test_odd_replies_never_raise(reply: Any, tmp_path: Path) -> None:
    with CozeLoop(reply) as server:
        rejected = await sent(server, many(2), tmp_path / "state")
    assert len(rejected) in (0, 2)


async def test_a_server_that_is_not_there_is_told_for_every_item(tmp_path: Path) -> None:
    with CozeLoop() as server:
        url = server.url
    gone = await sent(server, many(2), tmp_path / "state", url=url)
    assert len(gone) == 2
    assert not (tmp_path / "state").exists()


def test_scenarios_and_pictures_are_noted() -> None:
    scenario = {"eval_id": "s", "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Buy."}}
    picture = {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}
    shown = {"eval_id": "p", "conversation": [{"user_content": {"parts": [{"text": "What is it?"}, picture]}}]}
    items, notes = items_of(made(scenario, shown))
    assert [item.case for item in items] == ["p"]
    assert [str(note) for note in notes] == [
        "'s' is a scenario, which has no turns yet; it is left out.",
        "'p', turn 1: only its text is uploaded.",
    ]


def test_the_field_of_the_calls_can_be_named_and_left_out() -> None:
    eval_set = made(asked("a", "one", intermediate_data={"tool_uses": [{"name": "f", "args": {}}]}))
    assert list(items_of(eval_set, "trajectory")[0][0].fields) == ["input", "output", "trajectory"]
    assert list(items_of(eval_set, "")[0][0].fields) == ["input", "output"]
    assert list(body_of(items_of(eval_set)[0], "7")) == [
        "workspace_id",
        "is_allow_partial_add",
        "is_skip_invalid_items",
        "items",
    ]


def test_a_broken_state_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("{")
    with pytest.raises(BadInput, match="Delete it to upload everything again"):
        UploadState(tmp_path / "state", "x")
