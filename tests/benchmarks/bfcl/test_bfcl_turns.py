"""Conversations of several turns: what is shown, what is run, what is scored, and what is read and written."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from proctor.core.sample import Message, Sample
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor.engine.acting import ActingTogether, entered
from proctor.i18n import speak
from proctor_benchmarks import bfcl
from proctor_benchmarks.bfcl import dataset, export, replies, worker_program
from proctor_benchmarks.bfcl.calls import Undecodable
from proctor_benchmarks.bfcl.executable import executable, executable_or_none
from proctor_benchmarks.bfcl.turn_scorer import ScorerOfAll, result_of

FOLDER = dataset.locate()


def of(task: Task, id: str) -> Sample:
    assert isinstance(task.samples, list)
    samples: list[Sample] = task.samples
    return next(sample for sample in samples if sample.id == id)


def shown(task: Task, id: str) -> Sample:
    assert task.present is not None
    return task.present(of(task, id))


def scorer_of(task: Task) -> ScorerOfAll:
    [scorer] = task.scorers
    assert isinstance(scorer, ScorerOfAll)
    return scorer


def score(task: Task, *played: tuple[Sample, Trajectory]) -> list[Score]:
    async def run() -> list[Score]:
        async with scorer_of(task) as scorer:
            scores = [await scorer(sample, trajectory) for sample, trajectory in played]
        return [score for score in scores if isinstance(score, Score)]

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["prompt", "native"])
@pytest.mark.parametrize("category", dataset.MULTI_TURN)
def test_the_answers_are_right_and_silence_is_wrong(category: str, mode: Any) -> None:
    task = bfcl.task(category, mode=mode)
    assert task.oracle is not None
    assert isinstance(task.samples, list)
    samples = task.samples[::4] if mode == "native" else task.samples
    silent = Trajectory(steps=tuple(step for turn in range(9) for step in _said("Done.", turn)), tools="text")
    right = score(task, *((sample, task.oracle(sample)) for sample in samples))
    wrong = score(task, *((sample, _first_turns(silent, len(sample.turns))) for sample in samples))
    assert {score.points for score in right} == {1}
    assert {score.points for score in wrong} == {0}


def _said(text: str, turn: int) -> Sequence[Any]:
    return [replace(step, turn=turn) for step in Trajectory.of(text).steps]


def _first_turns(trajectory: Trajectory, count: int) -> Trajectory:
    return replace(trajectory, steps=tuple(step for step in trajectory.steps if step.turn < count))


def test_variants_of_a_scenario_are_one_cluster() -> None:
    task = bfcl.task("multi_turn")
    assert isinstance(task.samples, list)
    assert {sample.cluster for sample in task.samples if sample.id.endswith("_17")} == {"multi_turn_17"}
    assert len({sample.cluster for sample in task.samples}) == 200


def test_functions_that_were_missing_come_with_their_turn() -> None:
    native, words = (
        shown(bfcl.task("multi_turn_miss_func", mode=mode), "multi_turn_miss_func_0") for mode in ("native", "prompt")
    )
    names = [{tool.name for tool in turn.tools} for turn in native.turns]
    assert ["sort" in offered for offered in names] == [False, False, False, True, True]
    assert native.turns[3].messages[0].text.startswith("I have updated")
    assert words.turns[3].messages[0].text.startswith("[{'name': 'sort', ")
    assert not any(turn.tools for turn in words.turns)
    assert '"name": "sort"' not in words.turns[0].messages[0].text


def test_an_agent_is_shown_what_suits_it() -> None:
    sample = shown(bfcl.task("multi_turn_base"), "multi_turn_base_0")
    assert [len(turn.messages) for turn in sample.turns] == [1, 1, 1, 1]
    assert [len(turn.as_text or ()) for turn in sample.turns] == [2, 1, 1, 1]
    assert sample.turns[0].tools[0].extra["response"]["type"] == "dict"


def results(calls: Sequence[str], id: str = "multi_turn_base_0") -> list[str]:
    """What comes of calls in text, one reply each."""
    task = bfcl.task("multi_turn_base", mode="prompt")

    async def run() -> list[str]:
        assert task.environment is not None
        made = []
        async with scorer_of(task), entered(task.environment, of(task, id)) as environment:
            assert isinstance(environment, ActingTogether)
            assert environment.wording is not None
            for call in calls:
                message = environment.wording.read_calls(Message.of("assistant", call))
                found = await environment.call_all(message.calls) if message.calls else None
                made.append("the turn is over" if found is None else " ".join(result.content for result in found))
        return made

    return asyncio.run(run())


def test_calls_change_the_state_and_errors_are_results() -> None:
    assert results(["[mkdir(dir_name='a'), cd(folder='a')]", "[cd(folder='b')]", "[cd(where='b')]", "fine", "[]"]) == [
        'None {"current_working_directory": "a"}',
        '{"error": "cd: \'b\': No such file or directory"}',
        "Error during execution: GorillaFileSystem.cd() got an unexpected keyword argument 'where'",
        "the turn is over",
        "the turn is over",
    ]


OFFICIAL_ERRORS = {
    "[nope(x=1)]": "name 'nope' is not defined",
    "[os.system(command='true')]": "name 'os' is not defined",
    "[GorillaFileSystem.cd(folder='a')]": "name 'GorillaFileSystem' is not defined",
    "[kill(x=1)]": "Function call kill is not allowed.",
    "[a.unlink(x=1)]": "Function call unlink is not allowed.",
    "[len(x=[1])]": "len() takes no keyword arguments",
    "[cd(folder=1e999)]": "name 'inf' is not defined",
    "[cd(folder=pwd(x=1))]": "GorillaFileSystem.pwd() got an unexpected keyword argument 'x'",
    "[cd(**{'folder': 'a'})]": "cannot assign to None (<string>, line 1)",
}
REFUSED = ["[__import__(name='os')]", "[exec(x=1)]", "[open(file='x')]", "[json.dumps(obj=[1])]", "[input()]"]
EVIL = (
    "__import__('os').system('touch {file}') or pwd",
    "[].__class__.__base__.__subclasses__()[0] or pwd",
    "(lambda: open('{file}', 'w'))",
    "pwd() or open('{file}', 'w').write",
    "[open('{file}', 'w') for x in (1,)][0].write",
    "().__class__.mro()[1].__subclasses__",
)


def test_errors_are_those_of_the_official_code() -> None:
    expected = [f"Error during execution: {text}" for text in OFFICIAL_ERRORS.values()]
    assert results(list(OFFICIAL_ERRORS)) == expected


def test_what_the_official_code_would_run_is_refused() -> None:
    assert all("is no function of this sample" in result for result in results(REFUSED))


@pytest.mark.parametrize("evil", EVIL)
def test_code_in_the_name_of_a_native_call_is_not_run(evil: str, tmp_path: Path) -> None:
    file = tmp_path / "made"
    sample = of(bfcl.task("multi_turn_base"), "multi_turn_base_0")
    steps = [[[{evil.format(file=file): "{}"}]]] + [[[]]] * (len(sample.turns) - 1)
    trajectory = replies.trajectory_of(steps, "native", of_turns=True)
    [verdict] = score(bfcl.task("multi_turn_base"), (sample, trajectory))
    assert verdict.points == 0
    assert verdict.details["made"][0][1].startswith("Error during execution: ")
    assert not file.exists()


def test_a_call_that_computes_for_ever_is_a_result_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER.parents[1]))
    monkeypatch.setattr(worker_program, "CALL_SECONDS", 0.2)
    instances = worker_program.Instances(["MathAPI"], "{}", "multi_turn_base_0")
    assert instances.run(["power(base=7,exponent=900000000)", "power(base=7,exponent=2)"]) == [
        "Error during execution: the call took longer than 0.2 seconds",
        '{"result": 49}',
    ]


@pytest.mark.parametrize(
    ("output", "calls"),
    [
        ("[sort('a.txt'), cd(folder='x')]", ["sort()", "cd(folder='x')"]),
        ("f(a={'b': 1})", ["f(a={'b': 1})"]),
        ("f(a={'p': {'x': 1}, 'r': {}})", ["f(a=p(x=1))"]),
        ("f(a={'b': {'x': 1}, 'c': 2})", ["f(a={'b': {'x': 1}, 'c': 2})"]),
        ("f(x=g(1))", ["f(x='g(1)')"]),
        ("f(x=(1, 'a'))", ["f(x=(1, 'a'))"]),
        ("[]", []),
    ],
)
def test_text_becomes_calls_as_upstream_makes_them(output: str, calls: list[str]) -> None:
    assert [str(call) for call in executable(output, "prompt")] == calls


@pytest.mark.parametrize("output", ["fine", "f(a={})", "```python\nf()\n```", None, 3, "[1, 2]"])
def test_text_that_is_no_call_is_undecodable(output: object) -> None:
    with pytest.raises(Undecodable):
        executable(output, "prompt")
    assert executable_or_none(output, "prompt") == []


@pytest.mark.parametrize("output", ["fine", None, [{"f": "{broken"}], [{"f": "[1]"}], [3], 3])
def test_native_replies_that_are_no_calls_are_undecodable(output: object) -> None:
    with pytest.raises(Undecodable):
        executable(output, "native")


def test_native_calls_keep_their_order_and_all_keys_of_an_item() -> None:
    made = executable([{"f": '{"x": [1, null], "y": true}', "g": {}}, {}], "native")
    assert [str(call) for call in made] == ["f(x=[1, None],y=True)", "g()"]


def test_results_of_conversations_are_read_scored_and_written_again(tmp_path: Path) -> None:
    right = [
        ["[cd(folder='document'), mkdir(dir_name='temp'), mv(source='final_report.pdf', destination='temp')]", "Done."]
    ]
    lines: list[dict[str, Any]] = [
        {"id": "multi_turn_base_0", "result": [*right, [], [None], ["x"]], "latency": [[0.5, 0.25], [], [1], [1]]},
        {"id": "multi_turn_base_1", "result": "Error during inference: timeout"},
        {"id": "multi_turn_base_2", "result": [["[ls()]"], [], [{"a": 1}], "x"]},
    ]
    file = tmp_path / "result" / "some_model" / "multi_turn" / "BFCL_v4_multi_turn_base_result.json"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    task = bfcl.task("multi_turn_base")
    read = dict(replies.read(tmp_path / "result", {"category": "multi_turn_base"}))
    assert [result_of(reply) for reply in read.values() if isinstance(reply, Trajectory)] == [
        line["result"] for line in lines
    ]
    trials = [
        (of(task, id), Trial(run_id="r", sample_id=id, outcome="scored", trajectory=reply))
        for id, reply in read.items()
        if isinstance(reply, Trajectory)
    ]
    scores = score(task, *((sample, trial.trajectory) for sample, trial in trials))
    assert [found.details["error_type"].partition(":")[2] for found in scores] == [
        "empty_turn_model_response",
        "inference_error",
        "force_terminated",
    ]
    assert scores[0].details["passed_turns"] == [True, False, None, None]
    [written] = export.write(trials, tmp_path / "again", "some/model")
    again = [json.loads(line) for line in written.read_text().splitlines()]
    assert [line["result"] for line in again] == [line["result"] for line in lines]
    assert again[0]["latency"] == [[0.5, 0.25], [], [1.0], [1.0]]


def test_what_differs_is_said_by_turn_and_attribute() -> None:
    task = bfcl.task("multi_turn_base")
    steps = [["[cd(folder='document'), mkdir(dir_name='tmp')]"], *[["[pwd()]"]] * 3]
    [found] = score(task, (of(task, "multi_turn_base_0"), replies.trajectory_of(steps, "text", of_turns=True)))
    assert found.details["error_class"] == "wrong_state"
    assert found.details["differences"][0]["path"].startswith("GorillaFileSystem.root.contents.document")
    assert str(found.reason).startswith(
        "Turn 1: the state is not that after the expected calls cd(folder='document'), "
    )
    assert speak(found.reason, "zh").startswith("第 1 轮：状态")
