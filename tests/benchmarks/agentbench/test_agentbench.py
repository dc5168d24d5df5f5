"""AgentBench: the samples of eight parts, official results read and written, and the numbers made of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import agentbench_clone as clone
import pytest

from proctor import Sample
from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.sample import Message
from proctor.core.score import Unscored
from proctor.core.task import Task
from proctor.core.trial import TrialFailure
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks import agentbench
from proctor_benchmarks.agentbench import conversation, dataset, files, official, scorer
from proctor_benchmarks.agentbench.conversation import ConversationHost, EndedSample, History, Loop, Stages
from proctor_benchmarks.agentbench.parity import CHECKS
from proctor_benchmarks.agentbench.summary import summarise


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return clone.write(tmp_path / "AgentBench")


def said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def line(index: int | str, result: Any, status: str = "completed") -> dict[str, Any]:
    history = [said("user", "Do it."), said("agent", "Done.")]
    return {"index": index, "error": None, "info": None, "output": {"index": index, "status": status, "result": result, "history": history}}  # fmt: skip


def write(folder: Path, task: str, lines: Sequence[dict[str, Any]], name: str = "runs.jsonl") -> None:
    path = folder / task / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")


def scored(root: Path, outputs: Path, category: str | None = None, **options: Any) -> Run:
    name = "agentbench" if category is None else f"agentbench/{category}"
    options = {"data": str(root), "split": "dev", **options}
    return evaluate(name, replies=str(outputs), options=options, store=":memory:")


def test_every_part_has_its_samples(root: Path, tmp_path: Path) -> None:
    targets = tmp_path / "targets.jsonl"
    targets.write_text('{"element": ["7"], "action": "CLICK "}\n{"element": null}\n', encoding="utf-8")
    task = agentbench.task(data=str(root), split="dev", mind2web=str(targets))
    counts = {part: sum(one.tags["part"] == part for one in task.samples) for part in official.PARTS}  # type: ignore[union-attr]
    assert counts == {"os": 2, "db": 4, "kg": 1, "cards": 12, "puzzles": 1, "alfworld": 2, "webshop": 80, "mind2web": 2}
    by_id = {sample.id: sample for sample in task.samples}  # type: ignore[union-attr]
    assert by_id["db/0"].target == ["3"]
    assert by_id["db/2"].target == "[('?',)]"
    assert by_id["kg/0"].target == ["m.1", "m.2"]
    assert by_id["os/dev-001-dev-00000"].meta["item"]["init"] == [["bash", "touch a b"]]
    assert by_id["os/dev-001-dev-00001"].meta["item"]["match"] == {"answer": "1", "strip": True}
    assert by_id["puzzles/0"].meta["item"]["story"] == "A man jumps."
    assert by_id["mind2web/1"].target is None
    assert len(task.notes) == 4  # none of these files is the pinned one


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"category": "dbb"}, "It can be: os, db"),
        ({"split": "test"}, "split"),
        ({"category": "mind2web"}, "mind2web=FILE"),
        ({"data": "/nowhere"}, "is no clone"),
        ({"data": None}, "PROCTOR_AGENTBENCH_DATA"),
    ],
)
def test_a_wrong_option_is_named(root: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        agentbench.task(**{"data": str(root), "category": "db", **options})


def test_a_file_in_another_layout_is_named(root: Path) -> None:
    (root / "data/dbbench/dev.jsonl").write_text('{"question": "?"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"'db'.*KeyError.*type"):
        agentbench.task("db", data=str(root), split="dev")


def test_official_results_of_two_parts_are_scored(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "outputs/gpt-4"
    answers = [("counting", '["3"]'), ("other", "['Lyon']"), ("INSERT", "[('?',)]"), ("UPDATE", "[('!',)]")]
    rows = [
        line(number, {"answer": answer, "type": kind, "error": ""}) for number, (kind, answer) in enumerate(answers)
    ]
    rows[1]["output"]["status"] = "task limit reached"
    write(out, "dbbench-dev", rows)
    write(out, "dbbench-std", [line(0, {"answer": "?", "type": "counting"})])  # of the other split
    write(out, "kg-dev", [line(0, {"predict": ["m.1"], "actions": []})])
    found = scored(root, out, "db,kg")
    values = {one.name: one.value for one in found.estimates if not one.slice}
    assert values["db"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert values["kg"] == pytest.approx(2 / 3)
    assert values["overall"] is None  # six parts were not run
    classes = [verdict.result.known.error_class for verdict in found.verdicts()]
    assert classes.count("task limit reached") == 1
    trial = next(found.trials())
    assert [step.author for step in trial.trajectory.steps] == ["user", "agent"]


def test_all_parts_are_scored_but_those_without_data(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "outputs/gpt-4"
    write(out, "alfworld-dev", [line(0, {"result": 1})])
    write(out, "m2w-dev", [line(0, {"final_prediction": ["1", "CLICK "]})])
    found = scored(root, out)
    assert found.estimate("alfworld").value == 1
    assert any("mind2web is left out" in str(note) for note in agentbench.task(data=str(root), split="dev").notes)


def test_what_broke_is_a_failure_and_no_zero(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "outputs/gpt-4"
    finished = {"result": False, "error": "TypeError: expected string or bytes-like object, got 'NoneType'"}
    write(
        out, "os-dev", [line("dev-001-dev-00000", finished, "unknown"), line("dev-001-dev-00001", None, "task error")]
    )
    write(out, "dbbench-dev", [line(0, {"answer": "3", "type": "counting"})])
    write(
        out,
        "dbbench-dev",
        [{"index": number, "error": "NETWORK_ERROR", "info": "down"} for number in (0, 1)],
        "error.jsonl",
    )
    replies = dict(files.read(out, {"category": "os,db", "split": "dev"}))
    assert {id for id, reply in replies.items() if isinstance(reply, TrialFailure)} == {"os/dev-001-dev-00001", "db/1"}


def test_results_of_several_agents_are_refused(root: Path, tmp_path: Path) -> None:
    for agent in ("gpt-4", "claude"):
        write(tmp_path / "outputs" / agent, "dbbench-dev", [line(0, {"answer": "3", "type": "counting"})])
    with pytest.raises(BadInput, match="several models"):
        scored(root, tmp_path / "outputs", "db")
    with pytest.raises(BadInput, match=r"holds no runs\.jsonl"):
        scored(root, tmp_path / "outputs", "kg")


def test_a_malformed_result_is_unscored(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "outputs/gpt-4"
    write(out, "webshop-dev", [line(200, {"reward": "much"}), line(201, {"reward": 0.5})])
    found = scored(root, out, "webshop")
    unscored = [verdict.result for verdict in found.verdicts() if isinstance(verdict.result, Unscored)]
    assert [one.details["kind"] for one in unscored] == ["malformed_result"]
    assert found.estimate("webshop").value == 0.5


async def count(sample: Sample, history: History) -> Loop:
    """A loop that asks for numbers until it has heard its own."""
    history += [Message.of("user", "Say numbers."), Message.of("assistant", "Ok."), Message.of("user", "Go on.")]
    heard = []
    while (reply := (yield None)) != sample.target:
        if reply == "die":
            raise RuntimeError("the world is gone")
        heard.append(reply)
        history.append(Message.of("user", "word " * 2_000 if reply == "long" else "Not that."))
    yield EndedSample(status="completed", result={"result": True, "heard": heard})


def played(replies: Sequence[str]) -> Run:
    sample = Sample(id="os/1", turns=(), target="3", tags={"part": "os"}, meta={"task": "os-dev", "index": 1})
    task = Task(name="t", samples=[sample], scorers=(scorer.agentbench,), summarise=summarise, environment=Stages(["os"], {"os": count}), user=ConversationHost())  # fmt: skip
    seen.clear()

    def reply(messages: Sequence[Message], _: object) -> str:
        seen.append([message.text for message in messages])
        return replies[len(seen) - 1]

    return evaluate(task, agent=ChatAgent(ScriptedModel(reply)), store=":memory:")


seen: list[list[str]] = []


def test_a_loop_is_played_to_its_end() -> None:
    found = played(["1", "2", "3"])
    trial = next(found.trials())
    assert trial.trajectory.state == {"status": "completed", "result": {"result": True, "heard": ["1", "2"]}}
    assert trial.trajectory.stop == "done"
    assert found.estimate("os").value == 1
    assert seen[2] == ["Say numbers.", "Ok.", "Go on.", "1", "Not that.", "2", "Not that."]


def test_the_agent_sees_the_official_window_of_a_long_conversation() -> None:
    played(["1", "long", "long", "3"])
    assert seen[2][-1].startswith("word ")
    assert seen[3][0] == "Say numbers.\n\n[NOTICE] 6 messages are omitted."
    assert [text[:4] for text in seen[3][1:]] == ["long", "word"]


def test_a_window_whose_texts_are_not_recorded_is_compared_but_for_them() -> None:
    line = {"kind": "window", "lengths": [["user", 3]], "contents": None}
    for tail, agrees in (("Instruction word word word ", True), ("word \n\n[NOTICE] 4 messages are omitted.", False)):
        official, ours = CHECKS["window"]({**line, "result": {"kept": 1, "first_tail": tail, "roles": ["user"]}})
        assert (official == ours) is agrees


def test_a_world_that_breaks_is_no_zero() -> None:
    found = played(["1", "die"])
    assert found.outcomes == {"environment_failed": 1}


def test_a_history_that_does_not_end_with_the_agents_turn_is_an_error() -> None:
    with pytest.raises(EnvironmentFailed):
        conversation.window([Message.of("user", "a"), Message.of("assistant", "b")])


def test_the_overall_score_is_that_of_the_paper() -> None:
    gpt_35 = {
        "os": 32.6,
        "db": 36.7,
        "kg": 25.9,
        "cards": 33.7,
        "puzzles": 10.5,
        "alfworld": 16.0,
        "webshop": 64.1,
        "mind2web": 20.0,
    }
    assert round(official.weighted({part: gpt_35[part] / 100 for part in official.PARTS}), 2) == 2.32


def test_a_run_is_written_as_officially_and_read_again(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "outputs/gpt-4"
    write(out, "alfworld-dev", [line(0, {"result": 1}), line(1, {"result": 0}, "agent invalid action")])
    found = scored(root, out, "alfworld")
    samples = {sample.id: sample for sample in dataset.samples(root, "alfworld", "dev")}
    written = files.write(
        [(samples[trial.sample_id], trial) for trial in found.trials()], tmp_path / "again", "some/model"
    )
    assert [path.relative_to(tmp_path / "again").as_posix() for path in written] == [
        "some_model/alfworld-dev/runs.jsonl",
        "some_model/alfworld-dev/overall.json",
    ]
    overall = json.loads(written[1].read_text(encoding="utf-8"))
    assert overall["custom"] == {"overall": {"total": 2, "pass": 1, "wrong": 1, "success_rate": 0.5}}
    assert overall["validation"]["agent invalid action"] == 0.5
    again = scored(root, tmp_path / "again", "alfworld")
    assert again.estimate("alfworld").value == 0.5
