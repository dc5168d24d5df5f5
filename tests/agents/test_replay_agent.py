"""Recorded replies are played by sample id, and a file that cannot be read is told before a run."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proctor.agents.replay import make, read
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import Message, Sample, ToolCall
from proctor.core.trajectory import Step, Trajectory

SAMPLE = Sample.ask("fr", "Capital of France?")


def write(folder: Path, *records: Any) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(record) + "\n\n" for record in records), encoding="utf-8")
    return path


async def play(path: Path, sample: Sample = SAMPLE, times: int = 1, **options: Any) -> list[Step]:
    agent = make(str(path), options)
    steps: list[Step] = []
    for _ in range(times):
        async with agent.open(sample, None) as session:
            for turn in sample.turns:
                steps.extend(await session.send(turn))
    return steps


@pytest.mark.parametrize("field", ["answer", "prediction"])
async def test_an_answer_is_played(tmp_path: Path, field: str) -> None:
    (step,) = await play(write(tmp_path, {"id": "de", field: "Berlin"}, {"id": "fr", field: "Paris"}))
    assert step.message.text == "Paris"


async def test_calls_are_played(tmp_path: Path) -> None:
    calls = [{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": "[1"}, {"name": "h"}]
    (step,) = await play(write(tmp_path, {"id": "fr", "calls": calls}))
    assert [(call.name, dict(call.arguments), call.raw) for call in step.message.calls] == [
        ("f", {"x": 1}, None),
        ("g", {}, "[1"),
        ("h", {}, None),
    ]


async def test_messages_are_played(tmp_path: Path) -> None:
    (step,) = await play(write(tmp_path, {"id": "fr", "messages": [{"role": "assistant", "content": "Paris"}]}))
    assert step.message.text == "Paris"


async def test_a_trajectory_is_played_turn_by_turn_and_keeps_how_it_stopped(tmp_path: Path) -> None:
    steps = (
        Step(message=Message(role="assistant", parts=(ToolCall(name="f"),)), turn=0),
        Step(message=Message.of("assistant", "Par"), turn=1),
    )
    recorded = msgspec.to_builtins(Trajectory(steps=steps, stop="length"))
    path = write(tmp_path, {"id": "fr", "trajectory": recorded})
    two_turns = msgspec.structs.replace(SAMPLE, turns=SAMPLE.turns * 2)
    played = await play(path, two_turns)
    assert [step.turn for step in played] == [0, 1]
    assert [step.stop for step in played] == ["done", "length"]


async def test_several_records_of_one_id_are_its_attempts(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "fr", "answer": "a"}, {"id": "fr", "answer": "b"})
    assert [step.message.text for step in await play(path, times=3)] == ["a", "b", "a"]


async def test_a_sample_without_a_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match="no recorded reply for 'fr'") as caught:
        await play(write(tmp_path, {"id": "de", "answer": "Berlin"}))
    assert caught.value.kind == "no_reply"


def test_a_list_is_read_as_well_as_lines_and_ids_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text('\ufeff \n[{"id": 1, "answer": "a"}, {"id": "b", "answer": ""}]', encoding="utf-8")
    assert [(sample_id, trajectory.answer) for sample_id, trajectory in read(path)] == [("1", "a"), ("b", "")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": "a", "answer": "x"}\n{"id": "b", "answer', "line 2: it is no JSON"),
        ('\n\n{"answer": "x"}', "line 3: expected an object with an 'id'"),
        ('{"id": null, "answer": "x"}', "line 1: expected an object with an 'id'"),
        ('{"id": "a", "answer": null}', "line 1: expected 'answer'"),
        ('{"id": "a", "calls": [{"arguments": {}}]}', "line 1: expected 'answer'"),
        (
            '{"id": "a", "trajectory": {"steps": [{"message": {"role": "boss"}}]}}',
            r"'steps\[0\].message.role': 'boss' is none",
        ),
        ('{"id": "a", "messages": [{"x": 1}]}', "no message"),
        ('[{"id": "a", "answer": "x"}, 4]', "record 2: expected an object"),
        ("[1, ", "the list: it is no JSON"),
        ("[" * 100_000, "the list: it is no JSON"),
        ('{"id": "\udcff"}', "line 1"),
    ],
)
def test_a_record_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=words) as caught:
        make(str(path), {})
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        make(str(tmp_path / "none.jsonl"), {})


def test_an_unknown_option_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="takes no options, so none called 'tools'"):
        make(str(write(tmp_path)), {"tools": "text"})


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"id": "fr", "answer": "f(x=1)"}, "text"),
        ({"id": "fr", "calls": [{"name": "f"}]}, "native"),
        ({"id": "fr", "messages": [{"tool_calls": [{"function": {"name": "f"}}]}]}, "native"),
        ({"id": "fr", "messages": [{"content": "f()"}]}, "text"),
    ],
)
async def test_calls_were_made_natively_and_words_were_not(tmp_path: Path, record: Any, expected: str) -> None:
    agent = make(str(write(tmp_path, record)), {})
    assert agent.tools == expected
    async with agent.open(SAMPLE, None) as session:
        assert getattr(session, "tools", None) == expected
