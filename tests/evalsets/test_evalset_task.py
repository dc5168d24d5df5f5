import base64
import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.errors import BadInput, ProviderFailed
from proctor.core.sample import File, Message, Reasoning, Sample, Text
from proctor.core.score import Score
from proctor.core.task import Task
from proctor.core.trajectory import Step, Trajectory
from proctor_adapters.evalsets import criteria, results
from proctor_adapters.evalsets.task import is_evalset, task_of
from proctor_adapters.scorers import adk

TURN: dict[str, Any] = {
    "user_content": {"role": "user", "parts": [{"text": "What does A cost?"}]},
    "final_response": {"role": "model", "parts": [{"text": "A costs 100."}]},
    "intermediate_data": {"tool_uses": [{"id": "c1", "name": "price", "args": {"model": "A"}}]},
}


def _write(path: Path, *cases: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"eval_set_id": path.name.partition(".")[0], "eval_cases": cases}))
    return path


def _case(case_id: str, *turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"eval_id": case_id, "conversation": list(turns) or [TURN], **more}


def _samples(task: Task) -> list[Sample]:
    assert isinstance(task.samples, list)
    return task.samples


def test_a_case_is_a_sample_and_an_invocation_a_turn(tmp_path: Path) -> None:
    rubric = {"rubric_id": "r", "rubric_content": {"text_property": "polite"}}
    second = {"user_content": {"parts": [{"text": "And"}, {"text": "B?"}]}, "invocation_id": "e2", "rubrics": [rubric]}
    session = {"app_name": "shop", "user_id": "u", "state": {"lang": "en"}}
    case = _case("price", TURN, second, session_input=session, rubrics=[rubric])
    task = task_of(_write(tmp_path / "shop.evalset.json", case))
    (sample,) = _samples(task)
    assert (task.name, task.planned, sample.id) == ("shop", 1, "price")
    assert list(task.scorers) == ["adk:tool_trajectory_avg_score", "adk:response_match_score", "adk:passed"]
    assert sample.turns[0].reference == {
        "calls": [{"name": "price", "arguments": {"model": "A"}, "id": "c1"}],
        "response": "A costs 100.",
    }
    assert sample.turns[1].messages[0].parts == (Text(text="And\nB?"),)
    assert sample.turns[1].reference == {"calls": None, "response": None}
    assert sample.meta["session"] == session
    assert sample.meta["rubrics"] == [rubric]
    assert sample.meta["invocations"][1] == {"invocation_id": "e2", "rubrics": [rubric]}
    assert sample.meta["adk"] == {
        "match_type": "EXACT",
        "criteria": ["tool_trajectory_avg_score", "response_match_score"],
        "trajectory_threshold": 1.0,
        "response_threshold": 0.8,
    }


def test_what_a_model_thought_is_no_part_of_the_reference_unless_asked_for(tmp_path: Path) -> None:
    thinking = [{"text": "look it up", "thought": True}, {"text": "A costs 100."}]
    path = _write(tmp_path / "s.evalset.json", _case("a", {**TURN, "final_response": {"parts": thinking}}))
    made = Trajectory(
        steps=(
            Step(message=Message(role="assistant", parts=(Reasoning(text="look it up"), Text(text="A costs 100.")))),
        )
    )
    scores = {}
    for counted in (False, True):
        criterion = {"threshold": 0.8, "count_thoughts": counted}
        (sample,) = _samples(task_of(path, criteria={"response_match_score": criterion}))
        [answer, both] = [adk.response_match(sample, one) for one in (Trajectory.of("A costs 100."), made)]
        assert isinstance(answer, Score)
        assert isinstance(both, Score)
        scores[counted] = [round(float(answer.points), 2), round(float(both.points), 2)]
    assert scores == {False: [1.0, 1.0], True: [0.67, 1.0]}


def test_files_of_the_user_come_along(tmp_path: Path) -> None:
    parts = [
        {"inlineData": {"mimeType": "image/png", "data": base64.urlsafe_b64encode(b"\xfb\xff").decode().rstrip("=")}},
        {"file_data": {"mime_type": "application/pdf", "file_uri": "gs://a/b.pdf"}},
    ]
    (sample,) = _samples(task_of(_write(tmp_path / "s.evalset.json", _case("a", {"user_content": {"parts": parts}}))))
    assert sample.turns[0].messages[0].parts == (
        File(media_type="image/png", data=b"\xfb\xff"),
        File(media_type="application/pdf", url="gs://a/b.pdf"),
    )


def test_the_right_answers_pass_and_silence_does_not(tmp_path: Path) -> None:
    quiet = {"user_content": TURN["user_content"], "intermediate_data": {"tool_uses": [{"name": "ping"}]}}
    path = _write(tmp_path / "s.evalset.json", _case("a"), _case("b", TURN, TURN), _case("no arguments", quiet))
    values = {}
    for kind in ("oracle", "null"):
        run = proctor.evaluate(
            str(path), agent=f"baseline:{kind}", store=":memory:", scorers=["adk:exact", "trajectory:exact"]
        )
        values[kind] = {name: run.estimate(f"{name}.accuracy").value for name in run.record.scorers}
    assert values["oracle"] == {"adk:exact": 1.0, "trajectory:exact": 1.0}
    assert values["null"] == {"adk:exact": 0.0, "trajectory:exact": 0.0}


def test_cases_are_chosen_behind_a_colon(tmp_path: Path) -> None:
    path = _write(tmp_path / "s.evalset.json", _case("a"), _case("b:1"), _case("c"))
    assert [sample.id for sample in _samples(task_of(f"{path}:c,b:1"))] == ["c", "b:1"]
    with pytest.raises(BadInput, match="no case 'd'"):
        task_of(f"{path}:d")


def test_a_folder_is_walked_and_each_folder_has_its_criteria(tmp_path: Path) -> None:
    _write(tmp_path / "one.evalset.json", _case("a"))
    _write(tmp_path / "deep" / "two.test.json", _case("a"))
    _write(tmp_path / ".adk" / "hidden.evalset.json", _case("a"))
    config = {"criteria": {"tool_trajectory_avg_score": {"threshold": 0.5, "matchType": "any order"}}}
    (tmp_path / "deep" / "test_config.json").write_text(json.dumps(config))
    samples = {sample.id: sample for sample in _samples(task_of(tmp_path))}
    assert list(samples) == ["deep/two/a", "one/a"]
    assert samples["deep/two/a"].meta["adk"] == {
        "match_type": "ANY_ORDER",
        "criteria": ["tool_trajectory_avg_score"],
        "trajectory_threshold": 0.5,
    }
    assert samples["one/a"].meta["adk"]["criteria"] == ["tool_trajectory_avg_score", "response_match_score"]
    assert samples["one/a"].tags == {"set": "one"}


def test_what_names_mean_eval_sets(tmp_path: Path) -> None:
    _write(tmp_path / "deep" / "two.test.json", _case("a"))
    for name in ("x.evalset.json", "x.test.json:a,b", r"C:\sets\x.evalset.json", str(tmp_path)):
        assert is_evalset(name)
    for name in ("bfcl", "questions.json", "./agent.py:task", str(tmp_path / "nothing")):
        assert not is_evalset(name)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"eval_id": "a", "conversation": []}, "'a' has an empty conversation"),
        (
            {"eval_id": "a", "conversation_scenario": {"starting_prompt": "p", "conversation_plan": "q"}},
            "simulated user",
        ),
        (_case("a", {"user_content": {"parts": []}}), "'a', 1: the user says nothing"),
    ],
)
def test_a_case_that_cannot_be_run_is_refused(case: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        task_of(_write(tmp_path / "s.evalset.json", case))
    assert task_of(f"{_write(tmp_path / 't.evalset.json', case, _case('good'))}:good").planned == 1


def test_a_set_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no eval cases"):
        task_of(_write(tmp_path / "s.evalset.json"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"no \*\.evalset\.json"):
        task_of(tmp_path / "empty")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "names no criteria"),
        (None, "names no criteria"),
        ({"safety_v1": 0.5}, "needs a judge of Google's"),
        ({"final_response_match_v2": {"threshold": 0.5, "judge_model_options": {"num_samples": "x"}}}, "num_samples"),
        ({"respons_match_score": 0.5}, "Did you mean 'response_match_score'"),
        ({"response_match_score": "high"}, "the threshold is a number"),
        ({"response_match_score": {"match_type": "EXACT", "threshold": 1}}, "the key 'match_type' is not known"),
        ({"tool_trajectory_avg_score": {"threshold": 1, "match_typ": "EXACT"}}, "the key 'match_typ' is not known"),
        ({"tool_trajectory_avg_score": {"threshold": 1, "match_type": "1"}}, "no match type"),
        ({"tool_trajectory_avg_score": {"match_type": "EXACT"}}, "the threshold is a number"),
        ({"tool_trajectory_avg_score": {"threshold": 1, "ignoreArgs": "yes"}}, "ignore_args is true or false"),
        ({"response_match_score": {"threshold": 1, "ignore_args": True}}, "the key 'ignore_args' is not known"),
        ({"token_usage_v1": 100}, "tells a number and never fails"),
    ],
)
def test_criteria_that_cannot_be_computed_are_refused(given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        criteria.of(given)
    path = _write(tmp_path / "s.evalset.json", _case("a"))
    (tmp_path / "test_config.json").write_text(json.dumps({"criteria": given} if given is not None else {}))
    with pytest.raises(BadInput, match=message):
        task_of(path)
    assert task_of(path, criteria={"response_match_score": 0.5}).scorers == ["adk:response_match_score"]


def test_a_function_of_ones_own_is_not_skipped(tmp_path: Path) -> None:
    config = {"criteria": {"mine": 1}, "customMetrics": {"mine": {"codeConfig": {"name": "m.mine"}}}}
    (tmp_path / "c.json").write_text(json.dumps(config))
    with pytest.raises(BadInput, match=r"--allow-code"):
        task_of(_write(tmp_path / "s.evalset.json", _case("a")), config=str(tmp_path / "c.json"))
    (tmp_path / "c.json").write_text('{"criteria": {"response_match_score": 1}, "critera": {}}')
    with pytest.raises(BadInput, match="the key 'critera' is not known"):
        criteria.read(tmp_path / "c.json")


def test_arguments_may_be_left_out_of_the_comparison(tmp_path: Path) -> None:
    path = _write(tmp_path / "s.evalset.json", _case("a", {"user_content": {"parts": [{"text": "?"}]}}))
    criterion = {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "in-order", "ignoreArgs": True}}
    [sample] = _samples(task_of(path, criteria=criterion))
    assert sample.meta["adk"]["ignore_args"] is True


def test_results_are_written_as_adk_reads_them(tmp_path: Path) -> None:
    task = task_of(
        _write(
            tmp_path / "shop.evalset.json", _case("a", session_input={"app_name": "app", "user_id": "u"}), _case("b")
        )
    )
    run = proctor.evaluate(task, agent="baseline:oracle", attempts=2, store=":memory:")
    (path,) = results.write(run.record, run.store, tmp_path / "out")
    found = results.read(path)
    assert path.name == f"{found['eval_set_result_name']}.evalset_result.json"
    assert path.name.startswith("app_shop_")
    first, *_ = cases = found["eval_case_results"]
    assert [case["final_eval_status"] for case in cases] == [1, 1, 1, 1]
    assert (first["eval_id"], first["user_id"]) == ("a", "u")
    assert [(one["metric_name"], one["score"], one["threshold"]) for one in first["overall_eval_metric_results"]] == [
        ("tool_trajectory_avg_score", 1.0, 1.0),
        ("response_match_score", 1.0, 0.8),
        ("tool_call_count_v1", 1.0, None),
        ("inference_call_count_v1", None, None),  # the oracle reports no usage
        ("token_usage_v1", None, None),
        ("invocation_duration_v1", first["overall_eval_metric_results"][-1]["score"], None),
    ]
    (turn,) = first["eval_metric_result_per_invocation"]
    assert turn["actual_invocation"]["intermediate_data"]["tool_uses"] == [
        {"name": "price", "args": {"model": "A"}, "id": "c1"}
    ]
    assert turn["actual_invocation"]["final_response"] == turn["expected_invocation"]["final_response"]
    assert [one["eval_status"] for one in turn["eval_metric_results"]] == [1, 1, 3, 3, 3, 3]
    assert first["overall_eval_metric_results"][0]["criterion"] == {"threshold": 1.0, "match_type": "EXACT"}


def test_an_attempt_that_failed_has_a_result_without_metrics(tmp_path: Path) -> None:
    tried = []

    def agent(question: str) -> str:
        tried.append(question)
        if len(tried) == 3:
            raise ProviderFailed("down")
        if len(tried) == 2:
            raise ValueError("oops")
        return "A costs 100."

    task = task_of(_write(tmp_path / "shop.evalset.json", _case("a", {**TURN, "intermediate_data": None})))
    run = proctor.evaluate(task, agent=agent, attempts=3, concurrency=1, max_failed=1.0, store=":memory:")
    (path,) = results.write(run.record, run.store, tmp_path / "out")
    cases = results.read(path)["eval_case_results"]
    assert [case["final_eval_status"] for case in cases] == [1, 2, 3]
    assert [len(case["overall_eval_metric_results"]) for case in cases] == [6, 0, 0]


def test_what_every_scorer_of_the_run_said_is_in_the_results(tmp_path: Path) -> None:
    def polite(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(points=0.5, details={"passed": True, "threshold": 0.4})

    task = task_of(_write(tmp_path / "shop.evalset.json", _case("a", TURN, {"user_content": TURN["user_content"]})))
    run = proctor.evaluate(task, agent="baseline:oracle", scorers=["trajectory", polite], store=":memory:")
    (path,) = results.write(run.record, run.store, tmp_path / "out")
    [case] = results.read(path)["eval_case_results"]
    told = [(one["score"], one["eval_status"]) for one in case["overall_eval_metric_results"]]
    assert told[:2] == [(1.0, 1), (0.5, 1)]


def test_the_score_of_each_rubric_is_in_the_results(tmp_path: Path) -> None:
    def judged(sample: Sample, trajectory: Trajectory) -> Score:
        return Score(
            points=0.5, details={"turns": [0.5, 0.0], "rubrics": [{"polite": 1.0, "short": 0.0}, {"polite": 0.0}]}
        )

    task = task_of(_write(tmp_path / "shop.evalset.json", _case("a", TURN, TURN)))
    run = proctor.evaluate(task, agent="baseline:oracle", scorers=[judged], store=":memory:")
    (path,) = results.write(run.record, run.store, tmp_path / "out")
    [case] = results.read(path)["eval_case_results"]
    scores = [{"rubric_id": "polite", "score": 0.5}, {"rubric_id": "short", "score": 0.0}]
    assert case["overall_eval_metric_results"][0]["details"] == {"rubric_scores": scores}
    turns = [
        one["eval_metric_results"][0]["details"]["rubric_scores"] for one in case["eval_metric_result_per_invocation"]
    ]
    assert turns == [[{"rubric_id": "polite", "score": 1.0}, scores[1]], [{"rubric_id": "polite", "score": 0.0}]]


def _config(path: Path, **more: Any) -> Path:
    path.write_text(json.dumps({"criteria": {"response_match_score": 0.5}, **more}))
    return path


def test_settings_without_effect_are_told(tmp_path: Path) -> None:
    options = {"judge_model": "gemini-2.5-flash", "num_samples": 3, "judge_model_config": {"temperature": 1}}
    chosen = criteria.read(
        _config(
            tmp_path / "test_config.json",
            criteria={
                "final_response_match_v2": {"threshold": 0.8, "judgeModelOptions": options},
                "tool_trajectory_avg_score": {"threshold": 1, "include_intermediate_responses_in_final": True},
            },
            user_simulator_config={"model": "gemini-2.5-flash", "max_allowed_invocations": 7},
            live_model_config={"timeout_seconds": 3},
        )
    )
    named = [str(note).partition(" has no effect")[0].rpartition(": ")[2] for note in chosen.notes]
    assert named == [
        "judge_model",
        "judge_model_config",
        "include_intermediate_responses_in_final",
        "model",
        "live_model_config",
    ]
    assert chosen.judged["final_response_match_v2"].num_samples == 3
    assert chosen.max_turns == 7


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"user_simulator_config": {"custom_instructions": "{{ x }}"}}, "'custom_instructions' cannot be followed"),
        ({"user_simulator_config": {"type": "llm_audio"}}, "'type' cannot be followed"),
        ({"user_simulator_config": {"max_allowed_invocations": 0}}, "whole number from 1"),
        ({"user_simulator_config": {"turns": 0}}, "the key 'turns' is not known"),
        (
            {"criteria": {"hallucinations_v1": {"threshold": 1, "judge_model_options": {"samples": 1}}}},
            "'samples' is not",
        ),
        ({"criteria": {"hallucinations_v1": {"threshold": 1, "judge_model_options": "x"}}}, "is an object, not"),
        ({"criteria": {"final_response_match_v2": {"threshold": 1, "stop_signal": "x"}}}, "'stop_signal' is not known"),
        ({"criteria": {"safety_v1": 0.5}}, "needs a judge of Google's"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused_by_name(config: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        criteria.read(_config(tmp_path / "test_config.json", **config))


def test_metrics_that_any_judge_can_decide_are_scored(tmp_path: Path) -> None:
    path = _write(tmp_path / "s.evalset.json", _case("a"))
    asked = {
        "hallucinations_v1": {"threshold": 0.5, "evaluate_intermediate_nl_responses": True},
        "per_turn_user_simulator_quality_v1": {"threshold": 0.5, "stop_signal": "bye"},
        "rubric_based_multi_turn_trajectory_quality_v1": 0.5,
    }
    task = task_of(path, criteria=asked)
    assert list(task.scorers) == [f"adk_judged:{name}" for name in asked]
    (sample,) = _samples(task)
    assert sample.meta["adk_judged"]["hallucinations_v1"]["num_samples"] == 1
    assert sample.meta["adk_judged"]["per_turn_user_simulator_quality_v1"]["stop_signal"] == "bye"


async def test_the_results_of_a_scenario_have_every_turn_that_was_played(tmp_path: Path) -> None:
    scenario = {"starting_prompt": "I want to travel.", "conversation_plan": "Book a room in Rome."}
    path = _write(tmp_path / "trips.evalset.json", {"eval_id": "a", "conversation_scenario": scenario})
    replies = tmp_path / "user.jsonl"
    replies.write_text('"A room in Rome."\n"Thanks!"\n"</finished>"\n', encoding="utf-8")

    def agent(question: str) -> str:
        return f"You said: {question}"

    run = await proctor.evaluate_async(
        str(path), agent=agent, options={"user": f"scripted:{replies}"}, store=":memory:"
    )
    (path,) = results.write(run.record, run.store, tmp_path / "out")
    [case] = results.read(path)["eval_case_results"]
    made = [one["actual_invocation"] for one in case["eval_metric_result_per_invocation"]]
    asked = ["I want to travel.", "A room in Rome.", "Thanks!"]
    assert [turn["user_content"]["parts"][0]["text"] for turn in made] == asked
    assert [turn["final_response"]["parts"][0]["text"] for turn in made] == [f"You said: {one}" for one in asked]


def test_very_old_result_files_are_text_in_text(tmp_path: Path) -> None:
    path = tmp_path / "x.evalset_result.json"
    path.write_text(json.dumps(json.dumps({"eval_set_result_id": "r"})))
    assert results.read(path) == {"eval_set_result_id": "r"}
    path.write_text('["x"]')
    with pytest.raises(BadInput, match="no results"):
        results.read(path)


def test_a_sample_from_elsewhere_has_no_result_file(tmp_path: Path) -> None:
    task = Task(name="t", samples=[Sample.ask("q", "?", target="x")], scorers=["exact"])
    run = proctor.evaluate(task, agent=lambda question: "x", store=":memory:")
    with pytest.raises(BadInput, match="'q' does not come from an eval-set file"):
        results.write(run.record, run.store, tmp_path)


@pytest.mark.parametrize(
    ("given", "version"),
    [
        (None, "d35e851c253a"),
        ({"response_match_score": 0.5}, "25a9f4060fd9"),
        ({"final_response_match_v2": {"threshold": 0.8}}, "26ef6c176d57"),
        ({"tool_trajectory_avg_score": {"threshold": 1, "ignore_args": True}}, "f82d92a27ee5"),
    ],
)
def test_the_version_of_a_task_is_that_of_earlier_releases(given: Any, version: str, tmp_path: Path) -> None:
    case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "q"}]}}]}
    (tmp_path / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [case]}))
    assert task_of(tmp_path / "s.evalset.json", criteria=given).version == version


def test_a_setting_of_a_later_release_is_in_the_version(tmp_path: Path) -> None:
    case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "q"}]}}]}
    (tmp_path / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [case]}))
    given = ({"threshold": 0.5}, {"threshold": 0.5, "count_thoughts": True})
    versions = {task_of(tmp_path / "s.evalset.json", criteria={"response_match_score": one}).version for one in given}
    assert len(versions) == 2
