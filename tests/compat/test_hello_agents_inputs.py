"""What the names of HelloAgents take in: questions, replies, arguments of tools, settings; and what they write twice."""

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat
from test_hello_agents_bfcl import OFFICIAL, OSLO, WEATHER, Agent
from writers import data_file, item

from proctor.core.errors import BadInput
from proctor_benchmarks.bfcl.written_calls import calls_in
from proctor_compat.hello_agents import (
    BFCL_EDGE_CASES,
    BFCLDataset,
    BFCLEvaluationTool,
    BFCLEvaluator,
    BFCLMetrics,
    EvaluationConfig,
    EvaluationDimension,
    GAIADataset,
    GAIAEvaluationTool,
    LLMJudgeEvaluator,
    LLMJudgeTool,
    UniversalLLMJudgeEvaluator,
    WinRateEvaluator,
)
from proctor_compat.hello_agents import _settings as settings
from proctor_compat.hello_agents.__main__ import main

QUESTION = {
    "id": "simple_001",
    "question": "What is the weather in Oslo?",
    "function": [WEATHER],
    "ground_truth": [{"name": "get_weather", "arguments": {"city": "Oslo"}}],
}
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", *settings.NAMES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.setenv(name, "")  # so that what a test reads from .env is gone with it
        monkeypatch.delenv(name)
    return tmp_path


def mine(folder: Path, value: Any = QUESTION) -> str:
    path = folder / "mine.json"
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return str(path)


def test_own_questions_are_read_however_their_path_is_given(folder: Path) -> None:
    path = mine(folder)
    for dataset in (
        BFCLDataset("simple_python", path),
        BFCLDataset("simple", local_data_path=path),
        BFCLDataset("simple_python", local_data_dir=path),
        BFCLDataset(category="simple_python", local_data_path=path),
        BFCLDataset(path, "simple_python"),
        BFCLDataset(local_data_path=path),
    ):
        assert [one["id"] for one in dataset.load()] == ["simple_001"]
    results = BFCLEvaluator(BFCLDataset("simple_python", path), "simple_python").evaluate(Agent(OSLO))
    assert (results["correct_samples"], results["total_samples"]) == (1, 1)


def test_a_path_that_is_not_there_is_refused_and_never_replaced_by_the_official_questions(folder: Path) -> None:
    for arguments, named in (
        (("simple_python", "/nonexistent/mine.json"), {}),
        (("simple_python",), {"local_data_path": "/nonexistent/mine.json"}),
        (("simple_python",), {"local_data_dir": "/nonexistent"}),
    ):
        with pytest.raises(BadInput, match="no file or folder /nonexistent"):
            BFCLDataset(*arguments, **named)
    with pytest.raises(BadInput, match="one place"):
        BFCLDataset(str(folder), "simple_python", local_data_path=mine(folder))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (json.dumps(QUESTION), 1),
        (json.dumps(QUESTION, indent=1), 1),
        (f"[{json.dumps(QUESTION)}]", 1),
        (f"{json.dumps(QUESTION)}\n\n{json.dumps({**QUESTION, 'id': 'b'})}\n", 2),
    ],
)
def test_one_object_a_list_and_lines_are_questions(folder: Path, text: str, count: int) -> None:
    (folder / "mine.json").write_text(text, encoding="utf-8")
    assert len(BFCLDataset("simple_python", "mine.json").load()) == count


@pytest.mark.parametrize("text", ["", "{", "[1", '{"id": 1}\n{"id"', "3"])
def test_a_broken_file_of_questions_is_an_error_that_names_it(folder: Path, text: str) -> None:
    (folder / "mine.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.json"):
        BFCLDataset("simple_python", "mine.json").load()


def test_all_fences_count_and_a_repetition_does_not() -> None:
    both = '```json\n{"name": "f", "arguments": {"x": 1}}\n```\nthen\n```python\ng(y=2)\n```'
    assert calls_in(both).calls == [{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": {"y": 2}}]
    again = "```\nf(x=1)\n```\nSo the answer is:\n```\nf(x=1)\n```"
    assert calls_in(again).calls == [{"name": "f", "arguments": {"x": 1}}]


def test_a_call_within_a_sentence_is_one_and_a_mention_is_none() -> None:
    found = calls_in('I would call f(x=1, s="a) b") and then g(y=[1, 2]), in that order.', ["f", "g"]).calls
    assert found == [{"name": "f", "arguments": {"x": 1, "s": "a) b"}}, {"name": "g", "arguments": {"y": [1, 2]}}]
    for mention in ("No: f() does not fit.", "f(x) needs a number.", "h(x=1) is not known.", "f(x=1"):
        assert calls_in(mention, ["f", "g"]).calls is None
    assert calls_in("f(" * 100_000, ["f"]).calls is None


def test_the_edge_cases_can_be_passed_and_each_trap_is_one() -> None:
    dataset = BFCLDataset(local_data_path=BFCL_EDGE_CASES)
    answers = {
        "edge_simple_0": "set_alarm(hour=18, minute=30)",
        "edge_simple_1": """book_table(restaurant="Chez L'Ami", guests=2, smoking=False)""",
        "edge_simple_2": "box.volume(sides=[2.0, 0.5, 3.0])",
        "edge_multiple_0": "temperature_convert(value=30.0, to='celsius')",
        "edge_multiple_1": "order.cancel(order_id='0042')",
        "edge_parallel_0": "[roll_die(sides=6), roll_die(sides=6)]",
        "edge_parallel_1": "[distance(start='Rome', end='Oslo'), distance(start='Oslo', end='Rome')]",
    }
    traps = {
        "edge_simple_0": "set_alarm(hour=6, minute=30)",
        "edge_simple_1": "book_table(restaurant='Chez Ami', guests=2, smoking=False)",
        "edge_simple_2": "box.volume(sides=[0.5, 2.0, 3.0])",
        "edge_multiple_0": "angle_convert(value=30.0, to='degrees')",
        "edge_multiple_1": "order.cancel(order_id='42')",
        "edge_parallel_0": "roll_die(sides=6)",
        "edge_parallel_1": "[distance(start='Oslo', end='Rome'), distance(start='Oslo', end='Rome')]",
        "edge_irrelevance_0": "weather_history(city='Oslo', date='tomorrow')",
        "edge_irrelevance_1": "send_sms(number='manager', text='report')",
        "edge_irrelevance_2": "search(query='thank you')",
    }
    ids = [one["id"] for one in dataset.load()]
    evaluator = BFCLEvaluator(dataset)
    right = evaluator.evaluate(Agent(*(answers.get(id, "No function fits.") for id in ids)))
    wrong = evaluator.evaluate(Agent(*(traps[id] for id in ids)))
    assert (right["correct_samples"], wrong["correct_samples"], len(ids)) == (10, 0, 10)
    assert set(right["category_metrics"]) == {"simple_python", "multiple", "parallel", "irrelevance"}


def test_weights_of_categories_are_those_of_the_formula() -> None:
    rows = [{"success": right, "category": name} for name, right in (("a", True), ("a", False), ("b", True))]
    assert BFCLMetrics().compute_metrics(rows)["weighted_accuracy"] == 0.75
    assert BFCLMetrics().compute_metrics(rows, {"a": 0.9, "b": 0.1})["weighted_accuracy"] == pytest.approx(0.55)
    for weights in ({"a": 1.0}, {"a": 0.9, "b": 0.9}, {"a": 1.5, "b": -0.5}, {"a": float("nan"), "b": 1.0}):
        with pytest.raises(BadInput, match="eights"):
            BFCLMetrics().compute_metrics(rows, weights)


def test_execution_is_reported_as_the_comparison_that_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = BFCLEvaluator(BFCLDataset("simple_python", mine(folder)), "simple_python", evaluation_mode="execution")
    assert evaluator.evaluate(Agent(OSLO))["evaluation_mode"] == "ast"
    assert "no functions to execute" in capsys.readouterr().out


def test_a_name_that_the_official_registry_lacks_is_read_as_text_and_filed_as_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = folder / "bin" / "bfcl"
    program.parent.mkdir()
    refusal = 'if model not in ("Qwen_Qwen3-8B",):\n    sys.exit(f"ValueError: Invalid model name \'{model}\'.")\n'
    program.write_text(OFFICIAL.replace("assert", f"{refusal}assert", 1), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    tool = BFCLEvaluationTool(local_data_path=mine(folder))
    results = tool.run(Agent(OSLO, name="TestAgent"), category="simple_python")
    assert results["official"] == {"accuracy": 0.5, "correct_count": 1, "total_count": 1}
    own = Path("score_unregistered/TestAgent")
    assert (own / "non_live/BFCL_v4_simple_python_score.json").is_file()
    assert tool.integration.parse_results("TestAgent", "simple_python") == results["official"]
    assert tool.integration.get_summary_csv("non_live", "TestAgent") == own / "data_non_live.csv"
    assert not Path("result/Qwen_Qwen3-8B").exists()
    # The official table knows no TestAgent, so a model that is registered can still be evaluated next to it.
    results = tool.run(Agent(OSLO), category="simple_python", model_name="Qwen/Qwen3-8B")
    assert results["official"]["accuracy"] == 0.5


def test_the_file_of_results_has_the_name_of_the_category_that_was_asked_for(folder: Path) -> None:
    tool = BFCLEvaluationTool(local_data_path=mine(folder))
    results = tool.run(Agent(OSLO), category="simple", run_official_eval=False)
    exported = Path("evaluation_results/bfcl_official/BFCL_v4_simple_result.json")
    assert exported.is_file()
    assert results["category"] == "simple_python"
    prepared = tool.integration.prepare_result_file(exported, "org/m", "simple")
    assert prepared == Path("result/org_m/BFCL_v4_simple_python_result.json")


def test_the_guide_for_the_leaderboard_says_what_is_still_to_be_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = BFCLEvaluationTool(local_data_path=mine(folder))
    tool.run(Agent(OSLO, name="Mine | 1"), category="simple_python", run_official_eval=False)
    assert "SUBMISSION_GUIDE_" in capsys.readouterr().out
    [path] = Path("evaluation_results/bfcl_official").glob("SUBMISSION_GUIDE_*.md")
    guide = path.read_text(encoding="utf-8")
    assert "Mine \\| 1" in guide
    assert "| `simple_python` | 1 | 400 |" in guide
    assert "| `live_simple` | 0 | 258 |" in guide
    assert "https://github.com/ShishirPatil/gorilla" in guide
    monkeypatch.setenv("PROCTOR_LANG", "zh")
    tool.run(Agent(OSLO), category="simple_python", run_official_eval=False)
    guides = sorted(Path("evaluation_results/bfcl_official").glob("SUBMISSION_GUIDE_*.md"))
    assert len(guides) == 2
    assert any("提交" in one.read_text(encoding="utf-8") for one in guides)


def test_reports_of_the_same_second_are_all_kept(folder: Path) -> None:
    tool = BFCLEvaluationTool(local_data_path=mine(folder))
    for name in "abc":
        tool.run(Agent(OSLO, name=name), category="simple_python", run_official_eval=False)
    assert len(list(Path("evaluation_reports").glob("bfcl_report_*.md"))) == 3
    rows = [{"task_id": str(level), "Question": "?", "Level": level, "Final answer": "4"} for level in (1, 2, 3)]
    gaia = GAIAEvaluationTool(local_data_path=data_file(folder / "my_gaia.json", rows))
    for level in (1, 2, 3):
        gaia.run(Agent("FINAL ANSWER: 4"), level=level)
    guides = list(Path("evaluation_results/gaia_official").glob("SUBMISSION_GUIDE_*.md"))
    assert len(guides) == 3
    assert "https://huggingface.co/spaces/gaia-benchmark/leaderboard" in guides[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["OLLAMA_HOST=http://box:11434/v1"], {"base_url": "http://box:11434/v1"}),
        (["OLLAMA_HOST=box:11434"], {"base_url": "http://box:11434/v1"}),  # as Ollama itself reads it
        (["OLLAMA_API_KEY=k"], {"base_url": "http://localhost:11434/v1", "api_key_env": "OLLAMA_API_KEY"}),
        (["VLLM_API_KEY=k", "VLLM_HOST=https://gpu/v1/"], {"base_url": "https://gpu/v1", "api_key_env": "VLLM_API_KEY"}),
        (["VLLM_API_KEY=k", "LLM_BASE_URL=http://b/v1"], {"base_url": "http://b/v1", "api_key_env": "VLLM_API_KEY"}),
        (["OLLAMA_HOST=http://box/v1", "LLM_API_KEY=k"], {"base_url": "http://box/v1"}),
        (["OLLAMA_HOST=http://box/v1", "LLM_API_KEY=k", "LLM_BASE_URL=https://cloud/v1"], {}),
        (["OLLAMA_HOST=http://box/v1", "OPENAI_API_KEY=k"], {}),
        (["OLLAMA_HOST=http://box/v1", "DEEPSEEK_API_KEY=k"],
         {"base_url": "https://api.deepseek.com", "api_key_env": "DEEPSEEK_API_KEY"}),
    ],
)  # fmt: skip
def test_local_servers_are_found_by_their_host_or_key(folder: Path, lines: list[str], expected: dict[str, str]) -> None:
    Path(".env").write_text("\n".join(lines), encoding="utf-8")
    assert settings.endpoint() == expected


async def test_a_model_of_ollama_is_asked_at_its_host_without_a_key(folder: Path) -> None:
    async with Endpoint(chat("FINAL ANSWER: 4")) as endpoint:
        Path(".env").write_text(f"LLM_MODEL_ID=llama3.2\nOLLAMA_HOST={endpoint.url}\n", encoding="utf-8")
        rows = [{"task_id": "a", "Question": "2+2?", "Level": 1, "Final answer": "4"}]
        tool = GAIAEvaluationTool(local_data_path=data_file(folder / "my_gaia.json", rows))
        results = json.loads(await asyncio.to_thread(tool.run, {"level": 1}))
        assert results["exact_match_rate"] == 1
        assert endpoint.requests[0].json["model"] == "llama3.2"
        assert "authorization" not in {name.lower() for name in endpoint.requests[0].headers}


async def test_judgements_of_the_same_second_are_all_kept_and_come_from_the_model_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(data_file(folder / "data.json", [{"id": "a", **item(1)}]))
    said = json.dumps({"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5, "comments": ""})
    async with Endpoint(chat(said)) as endpoint:
        Path(".env").write_text(f"LLM_MODEL_ID='mine-1'\nLLM_BASE_URL={endpoint.url}/v1 # here\n", encoding="utf-8")
        tool = LLMJudgeTool()
        told = [json.loads(await asyncio.to_thread(tool.run, {"generated_data_path": path})) for _ in range(3)]
        assert {request.json["model"] for request in endpoint.requests} == {"mine-1"}
    assert [one["metrics"]["replies_from_cache"] for one in told] == [0, 1, 1]
    assert len({one["result_file"] for one in told}) == len({one["report_file"] for one in told}) == 3
    assert json.loads(Path(told[0]["result_file"]).read_text())["judge_model"] == "mine-1"
    assert LLMJudgeEvaluator(judge_model="other").judge_model == "other"
    assert WinRateEvaluator().judge_model == "mine-1"


def test_only_what_is_needed_is_read_from_the_env_file_and_the_environment_wins(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".env").write_text('LLM_MODEL_ID="theirs"\nexport HF_TOKEN=hf_x\nPATH=/nowhere\nBROKEN\n', encoding="utf-8")
    monkeypatch.setenv("LLM_MODEL_ID", "ours")
    path = os.environ["PATH"]
    assert settings.model_id() == "ours"
    assert (os.environ["HF_TOKEN"], os.environ["PATH"]) == ("hf_x", path)


def test_the_key_of_another_provider_leads_to_its_address(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.endpoint() == {}
    Path(".env").write_text("DASHSCOPE_API_KEY=sk-secret\n", encoding="utf-8")
    found = settings.endpoint()
    assert found["api_key_env"] == "DASHSCOPE_API_KEY"
    assert found["base_url"].startswith("https://dashscope.aliyuncs.com/")
    assert "sk-secret" not in str(found)
    monkeypatch.setenv("LLM_API_KEY", "k")
    assert settings.endpoint() == {}


async def test_the_key_of_another_provider_is_used_and_never_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(folder / "runs.db"))
    async with Endpoint(chat(OSLO)) as endpoint:
        lines = (f"LLM_BASE_URL={endpoint.url}/v1", "LLM_MODEL_ID=m", "DEEPSEEK_API_KEY=sk-secret-of-mine")
        Path(".env").write_text("\n".join(lines), encoding="utf-8")
        tool = BFCLEvaluationTool(local_data_path=mine(folder))
        results = await asyncio.to_thread(lambda: tool.run(run_official_eval=False))
        assert endpoint.requests[0].headers["authorization"] == "Bearer sk-secret-of-mine"
    assert (results["overall_accuracy"], results["agent_name"]) == (1, "openai:m")
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".env"]
    assert not any(b"sk-secret-of-mine" in one for one in written)


@pytest.mark.parametrize(
    "text",
    ['{"category": "simple_python", "max_samples": "1"}', "category=simple_python, max_samples=1.0", "", "simple"],
)
def test_version_0_2_7_calls_a_tool_with_text(folder: Path, text: str) -> None:
    tool = BFCLEvaluationTool(local_data_path=mine(folder), agent=Agent(OSLO))
    assert json.loads(tool.run({"input": text}))["overall_accuracy"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"max_samples": "three"}, "'max_samples' has to be a whole number, not 'three'"),
        ({"max_samples": 2.5}, "whole number"),
        ({"max_samples": True}, "whole number"),
        ({"run_official_eval": "maybe"}, "true or false"),
        ({"category": 3}, "has to be a text"),
        ({"input": "{broken"}, "no JSON"),
        ({"input": "categry=x"}, "no parameter 'categry'"),
    ],
)
def test_arguments_of_another_type_are_told_in_a_sentence(
    folder: Path, arguments: dict[str, Any], expected: str
) -> None:
    tool = BFCLEvaluationTool(local_data_path=mine(folder), agent=Agent(OSLO))
    assert expected in json.loads(tool.run(arguments))["error"]


def test_a_number_as_text_is_one_and_any_other_text_is_an_error(folder: Path) -> None:
    evaluator = BFCLEvaluator(BFCLDataset("simple_python", mine(folder)), "simple_python")
    many: Any = "1"
    assert evaluator.evaluate(Agent(OSLO), max_samples=many)["total_samples"] == 1
    words: Any = "three"
    with pytest.raises(BadInput, match="whole number"):
        evaluator.evaluate(Agent(OSLO), max_samples=words)


def test_counts_of_judges_are_read_alike() -> None:
    class Judge:
        model = "judge-of-counts"

        def invoke(self, messages: list[dict[str, str]]) -> str:
            return '{"winner": "tie", "reason": ""}'

    words: Any = "three"
    problem = {"id": "x", "problem": "2 + 2?"}
    for wrong in (words, -1, 1.5):
        with pytest.raises(BadInput, match="max_samples"):
            LLMJudgeEvaluator(Judge()).evaluate_batch([problem], max_samples=wrong)
        with pytest.raises(BadInput, match="num_comparisons"):
            WinRateEvaluator(Judge()).evaluate_win_rate([problem], [problem], wrong)


def test_the_answer_to_a_calling_agent_is_bounded(folder: Path) -> None:
    many = [{**QUESTION, "id": f"simple_{number}", "question": "x" * 2000} for number in range(60)]
    tool = BFCLEvaluationTool(local_data_path=mine(folder, many), agent=Agent(OSLO))
    said = tool.run({"category": "simple_python", "max_samples": 0, "run_official_eval": False})
    found = json.loads(said)
    assert len(said.encode()) <= 8_000
    assert (found["total_samples"], found["overall_accuracy"], len(found["accuracy_interval"])) == (60, 1, 2)
    assert found["run_id"] in found["shortened"]


def test_dimensions_of_several_scales_are_made_comparable_before_they_are_averaged() -> None:
    class Judge:
        model = "judge-of-two-scales"

        def invoke(self, messages: list[dict[str, str]]) -> str:
            text = str(messages)
            return json.dumps({"a": 5, "comments": ""}) if "1 to 5" in text else json.dumps({"b": 8, "comments": ""})

    config = EvaluationConfig([EvaluationDimension("a", "a?"), EvaluationDimension("b", "b?", scale=10)])
    results = UniversalLLMJudgeEvaluator(Judge(), eval_config=config).evaluate_batch([{"id": "x", "problem": "2 + 2?"}])
    assert results["results"][0]["scores"] == {"a": 5, "b": 8}
    assert results["results"][0]["total_score"] == 4.5
    assert (results["metrics"]["average_total_score"], results["metrics"]["pass_rate"]) == (4.5, 1)


def test_another_set_like_gaia_and_a_folder_for_downloads_are_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def located(**how: str) -> tuple[Path, dict[str, str]]:
        asked.append(how["data_set"])
        rows = [{"task_id": "a", "Question": "?", "Level": 1, "Final answer": "4"}]
        return data_file(folder / "my_gaia.json", rows), {}

    monkeypatch.setattr("proctor_benchmarks.gaia.hub.locate", located)
    assert len(GAIADataset(dataset_name="somebody/other").load()) == 1
    assert asked == ["somebody/other"]


def test_the_command_of_the_whole_flow_takes_the_arguments_of_the_chapter(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[tuple[Any, ...]] = []

    def run(*arguments: Any, **named: Any) -> dict[str, Any]:
        given.append((*arguments, named["judge_model"]))
        return {"llm_judge_result": {}, "win_rate_result": {}}

    monkeypatch.setattr("proctor_compat.hello_agents.complete_script.run_complete_evaluation", run)
    assert main(["run_complete_evaluation", "30", "3.0"]) == main(["run_complete_evaluation"]) == 0
    assert given == [(30, 3.0, None)] * 2
    assert main([]) == 2
    assert "run_complete_evaluation" in capsys.readouterr().err
