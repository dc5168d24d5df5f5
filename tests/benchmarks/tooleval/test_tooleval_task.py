"""The task as people run it: recorded and imitated APIs, a judge that fails, limits, files read and written."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Text, ToolCall, ToolResult
from proctor.core.score import Score, Unscored
from proctor.core.trial import Trial
from proctor.models.scripted import Reply, ScriptedModel
from proctor_benchmarks import tooleval
from proctor_benchmarks.tooleval import dataset

FOUND = {"return_type": "give_answer", "final_answer": "Messi played for Barcelona."}
SEARCH = ("transfermarkt_search_for_theclique", {"name": "messi"})
ONE = "G1_instruction/588"


def calls(*made: tuple[str, Any], say: str = "") -> Message:
    parts = tuple(
        ToolCall(name=name, arguments=given, id=f"c{at}")
        if isinstance(given, dict)
        else ToolCall(name=name, raw=given, id=f"c{at}")
        for at, (name, given) in enumerate(made)
    )
    return Message(role="assistant", parts=((Text(text=say), *parts) if say else parts))


def cached(folder: Path) -> Path:
    path = folder / "Data" / "theclique_for_Data" / "transfermarkt_search.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"{'name': 'messi'}": {"error": "", "response": "Lionel Messi"}}), encoding="utf-8")
    return folder


def judge_file(folder: Path, *replies: object) -> str:
    path = folder / "judge.jsonl"
    path.write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    return f"scripted:{path}"


SOLVED = {"answer_status": "Solved", "reason": "r", "task_status": "Solvable"}


def run(clone: Path, script: Any, tmp_path: Path, *replies: object, **options: Any) -> Run:
    judge = judge_file(tmp_path, *replies) if replies else None
    options = {"data": str(clone), **options}
    if not {"cache", "simulator"} & options.keys():
        options["cache"] = str(cached(tmp_path / "cache"))
    agent = ChatAgent(ScriptedModel(script)) if not isinstance(script, str) else script
    return evaluate("tooleval/G1_instruction", agent=agent, options=options, ids=[ONE], store=":memory:", judge=judge)


def trial_of(found: Run) -> Trial:
    return next(iter(found.trials()))


def result_of(found: Run, scorer: str = "pass_rate") -> Score | Unscored:
    return next(one.result for one in found.verdicts() if one.scorer == scorer)


def score_of(found: Run, scorer: str = "pass_rate") -> Score:
    result = result_of(found, scorer)
    assert isinstance(result, Score), result
    return result


def test_an_answer_out_of_recorded_responses_is_judged_three_times(clone: Path, tmp_path: Path) -> None:
    script: list[Reply] = [calls(SEARCH, say="I search."), calls(("Finish", FOUND))]
    unsure = {"answer_status": "Unsure", "reason": "r"}
    found = run(clone, script, tmp_path, SOLVED, unsure, unsure, unsure, SOLVED)
    score = score_of(found)
    assert score.value == pytest.approx(2.5 / 3)
    assert [one["status"] for one in score.details["votes"]] == ["Solved", "Unsure", "Solved"]
    assert score.details["costs"] == {"steps": 4, "calls": 1, "failed_calls": 0, "hallucinated": 0}
    trial = trial_of(found)
    assert trial.trajectory.stop == "task_limit"
    results = [part for step in trial.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    assert json.loads(results[0].content) == {"error": "", "response": "Lionel Messi"}
    by_name = {one.name: one for one in found.estimates if not one.slice}
    assert by_name["solvable_pass_rate"].value == pytest.approx(2.5 / 3)
    assert "83.3% ± 23.6%" in str(by_name["solvable_pass_rate"].note)
    assert by_name["calls"].value == 1


def test_the_agent_is_given_the_official_words_and_functions(clone: Path) -> None:
    sample = next(one for one in dataset.samples(dataset.Clone(clone), ["G1_instruction"]) if one.id == ONE)
    recorded = json.loads(
        (clone / "data_example/model_predictions_converted/virtual_chatgpt_cot/G1_instruction.json").read_text()
    )["588"]
    assert sample.meta["query"] == recorded["query"]
    ours = [{"name": tool.name, "description": tool.description} for tool in sample.turns[0].tools]
    assert ours == [{key: tool[key] for key in ("name", "description")} for tool in recorded["available_tools"]]
    system, user = (message.text for message in sample.turns[0].messages)
    assert system.startswith("You are AutoGPT")
    assert "\n1.theclique: None\n" in system
    assert user == f"\n{recorded['query']}\nBegin!\n"


def test_names_are_written_as_the_tool_server_does() -> None:
    api = dataset.Api(category_name="../x", tool_name="Tool", api_name="get-it")
    assert dataset.standard_category(api.category_name) == "__x"
    assert dataset.function_of(api).name == "get_it_for_tool"
    assert dataset.standard_name("^2Gis é") == "^2gis"


def test_the_second_function_of_a_name_is_left_out(tmp_path: Path, clone: Path) -> None:
    copy = tmp_path / "clone"
    shutil.copytree(clone, copy)
    path = copy / "solvable_queries/test_instruction/G1_instruction.json"
    queries = json.loads(path.read_text())
    queries[0]["api_list"] *= 2
    path.write_text(json.dumps(queries))
    sample = next(iter(dataset.samples(dataset.Clone(copy), ["G1_instruction"])))
    names = [tool.name for tool in sample.turns[0].tools]
    assert len(set(names)) == len(names)
    assert names[-1] == "Finish"


def test_whole_tools_are_described_to_the_agent_and_the_simulator(tmp_path: Path, clone: Path) -> None:
    path = tmp_path / "tools" / "Data" / "theclique.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"tool_description": "Artists\nand concerts. " + "x" * 600}), encoding="utf-8")
    sample = next(one for one in dataset.samples(dataset.Clone(clone), ["G1_instruction"], tmp_path / "tools") if one.id == ONE)  # fmt: skip
    assert "\n1.theclique: Artistsand concerts. xxx" in sample.turns[0].messages[0].text
    said = tmp_path / "simulator.py"
    said.write_text(
        "from proctor.models.scripted import ScriptedModel\n"
        "def reply(messages, tools):\n"
        "    seen = ['Artists' in messages[1].text, 'Imagine you are an API Server' in messages[0].text]\n"
        '    return \'{"error": "", "response": "\' + str(seen) + \'"}\'\n'
        "model = ScriptedModel(reply)\n",
        encoding="utf-8",
    )
    script = [calls(SEARCH), calls(("Finish", FOUND))]
    found = run(clone, script, tmp_path, SOLVED, simulator=f"{said}:model", descriptions=str(tmp_path / "tools"))
    assert "[True, True]" in str(trial_of(found).trajectory.steps)


def test_null_earns_nothing_and_needs_no_judge(clone: Path, tmp_path: Path) -> None:
    score = score_of(run(clone, "baseline:null", tmp_path))
    assert (score.points, score.details["error_class"]) == (0, "unfinished")


def test_an_answer_in_words_alone_is_not_finished(clone: Path, tmp_path: Path) -> None:
    assert score_of(run(clone, ["It is Barcelona."], tmp_path, SOLVED)).points == 0


def test_without_a_judge_a_finished_answer_has_no_score(clone: Path, tmp_path: Path) -> None:
    result = result_of(run(clone, [calls(("Finish", FOUND))], tmp_path))
    assert isinstance(result, Unscored)
    assert (result.why, result.details["kind"]) == ("not_applicable", "no_judge")


@pytest.mark.parametrize("reply", ["no json", {"answer_status": "solved"}, ["Solved"], {"answer_status": "Solved"}])
def test_a_judge_that_says_nothing_the_rule_knows_is_no_zero(clone: Path, tmp_path: Path, reply: object) -> None:
    result = result_of(run(clone, [calls(("Finish", FOUND))], tmp_path, reply))
    assert isinstance(result, Unscored)
    assert (result.why, result.details["kind"]) == ("judge_failed", "unreadable")


def test_toolbench_passes_what_cannot_be_solved(clone: Path, tmp_path: Path) -> None:
    status = {"answer_status": "Unsolved", "task_status": "Unsolvable", "reason": "r"}
    found = run(clone, [calls(("Finish", FOUND))], tmp_path, status, edition="toolbench")
    score = score_of(found)
    assert score.points == 1
    assert len(score.details["votes"]) == 4
    assert {one.name for one in found.estimates} >= {"toolbench_pass_rate", "hallucinated"}


def test_a_tool_that_does_not_exist_is_told_and_counted(clone: Path, tmp_path: Path) -> None:
    script = [calls(("make_coffee", {})), calls(("Finish", "{}")), calls(("Finish", FOUND))]
    found = run(clone, script, tmp_path, SOLVED)
    assert score_of(found).details["costs"]["hallucinated"] == 1
    told = [part.content for step in trial_of(found).trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]  # fmt: skip
    assert "No such function name: make_coffee" in told[0]
    assert "return_type" in told[1]


def test_a_chain_ends_at_the_official_length(clone: Path, tmp_path: Path) -> None:
    found = run(clone, lambda *_: calls(SEARCH, say="again"), tmp_path, SOLVED)
    trial = trial_of(found)
    assert sum(step.message.role == "assistant" for step in trial.trajectory.steps) == 4
    assert (trial.trajectory.stop, score_of(found).points) == ("task_limit", 0)


def test_what_is_not_recorded_is_a_failure_of_the_environment(clone: Path, tmp_path: Path) -> None:
    trial = trial_of(run(clone, [calls((SEARCH[0], {"name": "pele"}))] * 9, tmp_path, SOLVED))
    assert trial.outcome == "environment_failed"
    assert trial.failure is not None
    assert "pele" in str(trial.failure.reason)


def test_a_cache_that_cannot_be_read_is_a_failure_of_the_environment(clone: Path, tmp_path: Path) -> None:
    cache = cached(tmp_path / "cache")
    next(cache.rglob("*.json")).write_text("[1]", encoding="utf-8")
    assert trial_of(run(clone, [calls(SEARCH)] * 9, tmp_path, cache=str(cache))).outcome == "environment_failed"


def test_a_model_imitates_what_is_not_recorded_and_is_kept(clone: Path, tmp_path: Path) -> None:
    said = tmp_path / "simulator.jsonl"
    said.write_text(json.dumps('```json\n{"error": "", "response": "Pele"}\n```'), encoding="utf-8")
    options: dict[str, Any] = {"simulator": f"scripted:{said}", "cache": str(tmp_path / "kept"), "record": True}
    script = [calls((SEARCH[0], {"name": "pele"})), calls(("Finish", FOUND))]
    assert score_of(run(clone, script, tmp_path, SOLVED, **options)).points == 1
    (kept,) = (tmp_path / "kept").rglob("*.json")
    assert kept.relative_to(tmp_path / "kept") == Path("Data/theclique_for_Data/transfermarkt_search.json")
    assert json.loads(kept.read_text()) == {"{'name': 'pele'}": {"error": "", "response": "Pele"}}
    again = run(clone, script, tmp_path, SOLVED, cache=str(tmp_path / "kept"))
    assert trial_of(again).outcome == "scored"


@pytest.mark.parametrize("reply", ["no json at all", {"when": "nothing", "say": "x"}])
def test_a_simulator_that_fails_is_a_failure_of_the_environment(clone: Path, tmp_path: Path, reply: object) -> None:
    said = tmp_path / "simulator.jsonl"
    said.write_text(json.dumps(reply), encoding="utf-8")
    trial = trial_of(run(clone, [calls(SEARCH)] * 9, tmp_path, SOLVED, simulator=f"scripted:{said}"))
    assert trial.outcome == "environment_failed"


def reference(clone: Path) -> str:
    return str(clone / "data_example/model_predictions_converted/virtual_chatgpt_cot")


JUDGE = """
import json
import shutil
from proctor.core.sample import Message, ToolCall
from proctor.models.scripted import ScriptedModel

def reply(messages, tools):
    prompt, name = messages[-1].text, tools[0].name
    given = {"answer_status": "Solved", "reason": "r"}
    if name == "select_better_answer":
        given = {"index": 0 if prompt.index("played for Barcelona") < prompt.index("Answer_1:") else 1, "reason": "r"}
    return Message(role="assistant", parts=(ToolCall(name=name, arguments=given, id="c"),))

model = ScriptedModel(reply)
"""


def test_an_answer_is_compared_with_a_reference_in_both_orders(clone: Path, tmp_path: Path) -> None:
    judge = tmp_path / "judge.py"
    judge.write_text(JUDGE, encoding="utf-8")
    found = evaluate(
        "tooleval/G1_instruction",
        agent=ChatAgent(ScriptedModel(lambda *_: calls(("Finish", FOUND)))),
        options={"data": str(clone), "cache": str(tmp_path), "reference": reference(clone), "times": 2},
        judge=f"{judge}:model",
        store=":memory:",
    )
    won = [one.result for one in found.verdicts() if one.scorer == "preference"]
    assert [one.details["wins"] for one in won if isinstance(one, Score)] == [[0, 2]] * 3
    by_name = {one.name: one.value for one in found.estimates if not one.slice}
    assert (by_name["wins"], by_name["ties"]) == (1, 0)


def test_the_final_answer_alone_is_judged_with_the_official_prompt(clone: Path, tmp_path: Path) -> None:
    found = run(clone, [calls(("Finish", FOUND))], tmp_path, {"when": "genuine attempt", "say": "Not solved."}, {"when": "", "say": SOLVED}, fac=True)  # fmt: skip
    assert score_of(found, "fac").points == 1  # the official rule reads this as solved


def test_recorded_answers_are_scored_and_a_run_is_written_as_officially(clone: Path, tmp_path: Path) -> None:
    options = {"data": str(clone)}
    judge = judge_file(tmp_path, SOLVED)
    for replies, count in ((reference(clone), 3), (str(clone / "data_example/answer/virtual_chatgpt_dfs"), 1)):
        found = evaluate("tooleval/G1_instruction", replies=replies, options=options, judge=judge, store=":memory:")
        assert found.estimate("solvable_pass_rate").scored == count
        trials = [(found.store.sample(found.record.id, one.sample_id), one) for one in found.trials()]
        done: list[tuple[Sample, Trial]] = [(sample, one) for sample, one in trials if sample is not None]
        assert tooleval.PART.export is not None
        (written,) = tooleval.PART.export(done, tmp_path / "out", "some/model")
        assert written.parts[-3:] == ("model_predictions_converted", "some_model", "G1_instruction.json")
        official = json.loads((Path(reference(clone)) / "G1_instruction.json").read_text())
        ours = json.loads(written.read_text())
        if count == 3:
            assert {id: one["answer"] for id, one in ours.items()} == {id: one["answer"] for id, one in official.items()}  # fmt: skip


def test_an_unreadable_raw_answer_is_a_failure_and_a_malformed_tree_is_named(clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "588_CoT@1.json").write_text('{"answer_generation"', encoding="utf-8")
    found = evaluate("tooleval/G1_instruction", replies=str(folder), options={"data": str(clone)}, store=":memory:")
    assert found.outcomes.get("scored", 0) == 0
    (tmp_path / "G1_instruction.json").write_text(
        json.dumps({"588": {"query": "q", "available_tools": [], "answer": {"final_answer": "x", "answer_details": [{}]}}}),
        encoding="utf-8",
    )  # fmt: skip
    with pytest.raises(BadInput, match="query 588 is no tree"):
        evaluate("tooleval/G1_instruction", replies=str(tmp_path / "G1_instruction.json"), options={"data": str(clone)}, store=":memory:")  # fmt: skip


@pytest.mark.parametrize(
    ("category", "options", "said"),
    [
        ("G9", {}, "no set 'G9'"),
        (None, {}, "no queries of the set G1_category"),
        ("G1_instruction", {"data": "/nowhere"}, "is no clone"),
        ("G1_instruction", {"record": True}, "cache=FOLDER"),
        ("G1_instruction", {"cache": "/nowhere"}, "no folder /nowhere"),
        ("G1_instruction", {"descriptions": "/nowhere"}, "no folder /nowhere"),
        ("G1_instruction", {"reference": "/nowhere"}, "holds no answers"),
        ("G1_instruction", {"simulator": "nobody:x"}, "nobody"),
        ("G1_instruction", {"times": 0}, "times"),
        ("G1_instruction", {"edition": "new"}, "edition"),
    ],
)
def test_a_wrong_option_is_named_before_the_run(
    clone: Path, category: str | None, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        tooleval.task(category, **{"data": str(clone), **options})


def test_a_run_without_anything_that_answers_calls_says_what_to_name(clone: Path) -> None:
    with pytest.raises(BadInput, match="simulator=openai:MODEL"):
        evaluate("tooleval/G1_instruction", agent="baseline:null", options={"data": str(clone)}, ids=[ONE], store=":memory:")  # fmt: skip


def test_a_judge_endpoint_that_is_down_is_a_judge_that_failed(clone: Path, tmp_path: Path) -> None:
    model = tmp_path / "down.py"
    model.write_text(
        "from proctor.core.errors import ProviderFailed\n"
        "from proctor.models.scripted import ScriptedModel\n"
        "model = ScriptedModel(lambda *_: ProviderFailed('The endpoint is down.', kind='server_error'))\n",
        encoding="utf-8",
    )
    found = evaluate(
        "tooleval/G1_instruction",
        agent=ChatAgent(ScriptedModel([calls(("Finish", FOUND))])),
        options={"data": str(clone), "cache": str(tmp_path)},
        ids=[ONE],
        judge=f"{model}:model",
        store=":memory:",
    )
    result = result_of(found)
    assert isinstance(result, Unscored)
    assert (result.why, result.details["kind"]) == ("judge_failed", "server_error")


@pytest.mark.parametrize(("agent", "value"), [("baseline:oracle", 1.0), ("baseline:null", 0.0)])
def test_the_example_shows_a_right_result_without_data_or_a_model(agent: str, value: float, tmp_path: Path) -> None:
    right = [{"when": words, "say": SOLVED} for words in ("up to 19 degrees", "235 Swiss francs", "at the harbour")]
    judge = judge_file(tmp_path, *right, {"answer_status": "Unsolved", "reason": "r"})
    found = evaluate("tooleval", agent=agent, judge=judge, options={"data": "example"}, store=":memory:")
    assert (found.estimate("accuracy").value, found.estimate("accuracy").scored) == (value, 3)
    assert "commit" not in found.record.provenance  # it is none of the official queries
    if value:
        assert all(result["error"] == "" for trial in found.trials() for result in _responses(trial))


def _responses(trial: Trial) -> list[Any]:
    results = [part for step in trial.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    return [json.loads(str(one.content)) for one in results if one.name != "Finish"]
