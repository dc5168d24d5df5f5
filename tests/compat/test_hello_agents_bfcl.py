import asyncio
import json
import math
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat

from proctor.core.errors import BadInput, ProviderFailed
from proctor_benchmarks.bfcl.written_calls import calls_in
from proctor_compat.hello_agents import (
    BFCLDataset,
    BFCLEvaluationTool,
    BFCLEvaluator,
    BFCLIntegration,
    BFCLMetrics,
)
from proctor_compat.hello_agents.__main__ import main

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string", "description": "city"},
            "days": {"type": "integer", "description": "days"},
        },
        "required": ["city"],
    },
}
SET = {"name": "calc.add", "description": "Adds", "parameters": {"type": "dict", "properties": {}, "required": []}}
QUESTIONS: dict[str, list[tuple[str, list[Any] | None]]] = {
    "simple_python": [
        ("Weather in Oslo?", [{"get_weather": {"city": ["Oslo"], "days": [1, ""]}}]),
        ("Weather in Rome for 3 days?", [{"get_weather": {"city": ["Rome", "Roma"], "days": [3]}}]),
    ],
    "parallel": [
        (
            "Weather in Oslo twice?",
            [{"get_weather": {"city": ["Oslo"]}}, {"get_weather": {"city": ["Oslo"]}}],
        )
    ],
    "irrelevance": [("Sing a song.", None)],
    "live_relevance": [("What is it like in Oslo?", None)],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The official files of a few questions, where the chapter's clone would have them; the tests work beside it."""
    data = tmp_path / "temp_gorilla" / "berkeley-function-call-leaderboard" / "bfcl_eval" / "data"
    (data / "possible_answer").mkdir(parents=True)
    for category, rows in QUESTIONS.items():
        ids = [f"{category}_{number}" + ("-0-0" if "live" in category else "") for number in range(len(rows))]
        questions = [
            {"id": id, "question": [[{"role": "user", "content": text}]], "function": [WEATHER]}
            for id, (text, _) in zip(ids, rows, strict=True)
        ]
        answers = [{"id": id, "ground_truth": answer} for id, (_, answer) in zip(ids, rows, strict=True) if answer]
        _lines(data / f"BFCL_v4_{category}.json", questions)
        if answers:
            _lines(data / "possible_answer" / f"BFCL_v4_{category}.json", answers)
    monkeypatch.chdir(tmp_path)
    return data


def _lines(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


class Agent:
    """Gives fixed replies, in order; the last again and again."""

    def __init__(self, *replies: Any, name: str = "Stub") -> None:
        self.name = name
        self.replies = list(replies)
        self.asked: list[str] = []

    def run(self, text: str) -> str:
        self.asked.append(text)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return str(reply)


OSLO = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'
ROME = 'get_weather(city="Roma", days=3)'


def test_the_one_call_evaluation_gives_the_keys_and_files_of_the_chapter(folder: Path) -> None:
    agent = Agent(OSLO, f"```python\n{ROME}\n```", name="TestAgent")
    bfcl_tool = BFCLEvaluationTool()
    results = bfcl_tool.run(agent=agent, category="simple_python", max_samples=5)
    assert f"{results['overall_accuracy']:.2%}" == "100.00%"
    assert (results["correct_samples"], results["total_samples"]) == (2, 2)
    assert results["benchmark"] == "BFCL"
    assert results["agent_name"] == "TestAgent"
    assert results["evaluation_mode"] == "ast"
    assert results["category"] == "simple_python"
    metrics = results["category_metrics"]["simple_python"]
    assert (metrics["total"], metrics["correct"], metrics["accuracy"]) == (2, 2, 1.0)
    first = results["detailed_results"][0]
    assert first["sample_id"] == "simple_python_0"
    assert first["question"] == "Weather in Oslo?"
    assert first["predicted"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    assert first["expected"] == [{"get_weather": {"city": ["Oslo"], "days": [1, ""]}}]
    assert (first["success"], first["score"], first["response"]) == (True, 1.0, OSLO)
    assert first["execution_time"] > 0
    json.dumps(results)
    assert len(agent.asked) == 2
    assert "Weather in Oslo?" in agent.asked[0]
    assert "get_weather" in agent.asked[0]
    lines = Path("evaluation_results/bfcl_official/BFCL_v4_simple_python_result.json").read_text().splitlines()
    assert [json.loads(line)["result"] for line in lines] == [
        "[get_weather(city='Oslo')]",
        "[get_weather(city='Roma', days=3)]",
    ]
    assert json.loads(lines[0])["inference_log"] == [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "content": OSLO},
    ]
    [report] = Path("evaluation_reports").glob("bfcl_report_????????_??????.md")
    text = report.read_text(encoding="utf-8")
    assert "# BFCL Evaluation Report" in text
    assert "- **simple_python**: 100.00% (2/2)" in text
    assert "█" * 50 in text


def test_dataset_and_evaluator_work_by_themselves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = BFCLDataset(
        bfcl_data_dir="./temp_gorilla/berkeley-function-call-leaderboard/bfcl_eval/data", category="simple_python"
    )
    data = dataset.load()
    assert len(data) == len(dataset) == len(list(dataset)) == 2
    assert len(dataset.ground_truth) == 2
    assert dataset.get_available_categories()[:4] == ["simple_python", "simple_java", "simple_javascript", "multiple"]
    assert len(dataset.get_available_categories()) == 19
    assert dataset.get_sample(1)["id"] == "simple_python_1"
    assert dataset.get_ground_truth("simple_python_0") == [{"get_weather": {"city": ["Oslo"], "days": [1, ""]}}]
    assert dataset.get_ground_truth("nobody") == []
    evaluator = BFCLEvaluator(dataset=dataset, category="simple_python", evaluation_mode="ast")
    results = evaluator.evaluate(Agent(OSLO), max_samples=10)
    assert (results["correct_samples"], results["total_samples"]) == (1, 2)
    evaluator.export_to_bfcl_format(results, output_path="./evaluation_results/my_results.json")
    assert len(Path("evaluation_results/my_results.json").read_text().splitlines()) == 2
    assert "Progress: 2/2" in capsys.readouterr().out


def test_an_evaluator_of_a_category_makes_its_own_data_set(folder: Path) -> None:
    results = BFCLEvaluator(category="simple_python", local_data_dir=str(folder)).evaluate(Agent(OSLO), max_samples=1)
    assert results["correct_samples"] == 1


def test_results_are_those_of_a_stored_run_with_an_interval(folder: Path) -> None:
    import proctor

    results = BFCLEvaluationTool().run(Agent(OSLO), max_samples=0, run_official_eval=False)
    low, high = results["accuracy_interval"]
    assert low < 0.5 < high
    run = proctor.open_run(results["run_id"])
    assert run.estimate("accuracy").value == results["overall_accuracy"] == 0.5


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ('{"name": "get_weather", "arguments": {"city": "Oslo"}}', True),
        ('{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}', True),
        ('{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}, "type": "function"}', True),
        ('Sure:\n```json\n[{"name": "get_weather", "arguments": {"city": "Oslo"}}]\n```\nDone.', True),
        ('Options [1, 2] considered. [{"name": "get_weather", "arguments": {"city": "Oslo"}}]', True),
        (
            '<think>[{"name": "x", "arguments": {}}]</think>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
            True,
        ),
        ('get_weather(city="Oslo")', True),
        ("[get_weather(city='Oslo', days=1)]", True),
        ("I will call it:\nget_weather(city='OSLO')", True),
        ("```python\nget_weather(days=2 - 1, city='Oslo')\n```", True),
        ('[{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}}]', False),
        ('[{"name": "get_weather", "arguments": {"city": "Oslo", "days": "1"}}]', False),
        ('[{"name": "get_weather", "arguments": {"city": "Oslo", "days": true}}]', False),
        ('[{"name": "get_weather", "arguments": {"city": "Oslo", "days": 1.0}}]', False),
        ('[{"name": "weather", "arguments": {"city": "Oslo"}}]', False),
        ('[{"name": "get_weather", "arguments": null}]', False),
        (OSLO[:-1] + ", " + OSLO[1:], False),
        ("It is sunny.", False),
        ("[]", False),
        ("", False),
    ],
)
def test_calls_in_every_form_are_judged_by_the_official_rule(folder: Path, reply: str, right: bool) -> None:
    row = BFCLEvaluator(BFCLDataset(folder, "simple_python")).evaluate_sample(
        Agent(reply), BFCLDataset(folder, "simple_python").get_sample(0)
    )
    assert (row["success"], row["score"]) == (right, float(right))


def test_two_equal_expected_calls_need_two_calls(folder: Path) -> None:
    evaluator = BFCLEvaluator(category="parallel", local_data_dir=folder)
    both = f"[{OSLO[1:-1]}, {OSLO[1:-1]}]"
    assert evaluator.evaluate(Agent(both))["overall_accuracy"] == 1
    assert evaluator.evaluate(Agent(OSLO))["overall_accuracy"] == 0


@pytest.mark.parametrize(
    ("category", "calling", "silent"), [("irrelevance", False, True), ("live_relevance", True, False)]
)
def test_whether_a_call_is_wanted_at_all(folder: Path, category: str, calling: bool, silent: bool) -> None:
    evaluator = BFCLEvaluator(category=category, local_data_dir=folder)
    for reply in ('{"name": "sing", "arguments": {"x": 1}}', OSLO):
        assert evaluator.evaluate(Agent(reply))["overall_accuracy"] == float(calling)
    for reply in ("No function fits.", "[]"):
        assert evaluator.evaluate(Agent(reply))["overall_accuracy"] == float(silent)


def test_an_agent_that_raises_is_wrong_and_says_why(folder: Path) -> None:
    evaluator = BFCLEvaluator(category="simple_python", local_data_dir=folder)
    results = evaluator.evaluate(Agent(ValueError("no idea"), OSLO))
    row = results["detailed_results"][0]
    assert (row["success"], row["score"], row["predicted"]) == (False, 0.0, None)
    assert "no idea" in row["error"]
    assert results["total_samples"] == 2
    path = evaluator.export_to_bfcl_format(results, "out/results.json", include_inference_log=False)
    line = json.loads(path.read_text().splitlines()[0])
    assert line.keys() == {"id", "result"}
    assert line["result"].startswith("Error during inference: ")


def test_the_samples_of_the_chapter_in_their_own_form_are_judged() -> None:
    sample = {
        "id": "simple_001",
        "question": "What's the weather like in Beijing today?",
        "function": [
            {
                "name": "get_weather",
                "description": "Get the current weather for a location",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "location": {"type": "string", "description": "The city name"},
                        "options": {"type": "object"},
                        "limit": {"type": "number"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["location"],
                },
            }
        ],
        "ground_truth": [{"name": "get_weather", "arguments": {"location": "Beijing"}}],
    }
    evaluator = BFCLEvaluator(BFCLDataset("simple_python"))
    right = '[{"name": "get_weather", "arguments": {"location": "Beijing"}}]'
    assert evaluator.evaluate_sample(Agent(right), sample)["success"] is True
    assert evaluator.evaluate_sample(Agent(right.replace("Beijing", "Shanghai")), sample)["success"] is False
    more = {
        **sample,
        "ground_truth": ["get_weather(location='Beijing', options={'unit': 'C'}, limit=2.5, tags=['a', 'b'])"],
    }
    full = {"location": "Beijing", "options": {"unit": "C"}, "limit": 2.5, "tags": ["a", "b"]}
    reply = json.dumps([{"name": "get_weather", "arguments": full}])
    assert evaluator.evaluate_sample(Agent(reply), more)["success"] is True
    assert evaluator.evaluate_sample(Agent(reply.replace('"C"', '"F"')), more)["success"] is False


def test_a_file_of_ones_own_is_a_data_set(tmp_path: Path) -> None:
    item = {"id": "q", "question": "Add.", "function": [SET], "ground_truth": ["calc.add()"]}
    path = tmp_path / "mine.json"
    for text in (json.dumps([item]), json.dumps(item) + "\n"):
        path.write_text(text, encoding="utf-8")
        results = BFCLEvaluator(BFCLDataset(local_data_path=path)).evaluate(Agent("calc.add()"))
        assert results["overall_accuracy"] == 1
    path.write_text('[{"id": "q", "question": "Add."}]', encoding="utf-8")
    with pytest.raises(BadInput, match="question 1 lacks 'function'"):
        BFCLDataset(local_data_path=path).load()


def test_a_custom_report_goes_where_it_is_told_and_no_value_breaks_its_table(folder: Path) -> None:
    tool = BFCLEvaluationTool()
    results = tool.run(Agent('get_weather(city="a|b\\nc`")'), category="simple_python", max_samples=1)
    report = tool.generate_report(results, output_file="./my_reports/custom_report.md")
    assert Path("my_reports/custom_report.md").read_text(encoding="utf-8") == report
    [row] = [line for line in report.splitlines() if line.startswith("| simple_python_0")]
    assert row.replace("\\|", "").count("|") == 6


def test_mistakes_are_said_and_leave_no_rate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = BFCLEvaluationTool().run(Agent(OSLO), category="simple_pyton")
    assert "simple_python" in results["error"]
    assert (f"{results['overall_accuracy']:.2%}", results["correct_samples"], results["total_samples"]) == (
        "nan%",
        0,
        0,
    )
    assert not results["overall_accuracy"] >= 0.8
    assert "simple_python" in capsys.readouterr().out
    with pytest.raises(BadInput, match="simple_pyton"):
        BFCLDataset(folder, "simple_pyton")
    with pytest.raises(BadInput, match="proctor run bfcl/multi_turn_base"):
        BFCLDataset(folder, "multi_turn_base").load()
    with pytest.raises(BadInput, match="holds no data of BFCL"):
        BFCLDataset(folder.parent / "elsewhere", "simple_python").load()
    with pytest.raises(BadInput, match="max_samples"):
        BFCLEvaluator(category="simple_python", local_data_dir=folder).evaluate(Agent(OSLO), max_samples=-1)
    assert "endpoint" not in BFCLEvaluationTool(folder).run(Agent(OSLO), run_official_eval=False).get("error", "")


def test_without_the_clone_the_pinned_files_are_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PROCTOR_BFCL_DATA", str(folder))
    assert len(BFCLDataset(category="simple_python").load()) == 2
    assert "pinned official package" in capsys.readouterr().out


def test_an_agent_calls_the_tool_with_a_dict(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = BFCLEvaluationTool(bfcl_data_dir=str(folder))
    said = tool.run({"category": "simple_python", "max_samples": 1, "agent": Agent(OSLO), "run_official_eval": False})
    assert json.loads(said)["overall_accuracy"] == 1
    monkeypatch.delenv("LLM_MODEL_ID", raising=False)
    assert "LLM_MODEL_ID" in json.loads(tool.run({"category": "simple_python"}))["error"]
    assert "no parameter 'categry'" in json.loads(tool.run({"categry": "simple_python"}))["error"]
    assert tool.name == "bfcl_evaluation"
    assert [one.name for one in tool.get_parameters()][:2] == ["category", "max_samples"]
    assert tool.validate_parameters({})
    assert tool.to_dict()["parameters"][0]["default"] == "simple_python"


def test_other_agents_are_taken_too(folder: Path) -> None:
    async def answer(question: str) -> str:
        return OSLO

    evaluator = BFCLEvaluator(category="simple_python", local_data_dir=folder)
    assert evaluator.evaluate(answer, max_samples=1)["overall_accuracy"] == 1
    assert evaluator.evaluate(lambda question: OSLO, max_samples=1)["overall_accuracy"] == 1


def test_comparing_two_agents_and_several_categories(folder: Path) -> None:
    tool = BFCLEvaluationTool()
    one = tool.run(Agent("?", name="Agent-Default"), category="simple_python", max_samples=10)
    other = tool.run(Agent(OSLO, ROME, name="Agent-Optimized"), category="simple_python", max_samples=10)
    assert (one["overall_accuracy"], other["overall_accuracy"]) == (0, 1)
    accuracy = {
        category: tool.run(Agent(OSLO), category=category, max_samples=10)["overall_accuracy"]
        for category in ("simple_python", "parallel", "irrelevance")
    }
    assert accuracy == {"simple_python": 0.5, "parallel": 0, "irrelevance": 0}


async def test_the_script_evaluates_the_model_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await asyncio.to_thread(main, ["bfcl", "--samples", "2"]) == 2
    assert "LLM_MODEL_ID" in capsys.readouterr().out
    async with Endpoint(chat(OSLO)) as endpoint:
        monkeypatch.setenv("LLM_MODEL_ID", "m")
        monkeypatch.setenv("LLM_BASE_URL", f"{endpoint.url}/v1")
        arguments = ["bfcl", "--category", "simple_python", "--samples", "2", "--model-name", "Qwen/Qwen3-8B"]
        assert await asyncio.to_thread(main, arguments) == 0
    assert len(endpoint.requests) == 2
    assert "50.00%" in capsys.readouterr().out
    assert main(["nothing"]) == 2


async def test_a_provider_that_fails_is_in_no_rate(folder: Path) -> None:
    def down(question: str) -> str:
        if "Rome" in question:
            raise ProviderFailed("The provider is down.")
        return OSLO

    evaluator = BFCLEvaluator(category="simple_python", local_data_dir=folder)
    results = await asyncio.to_thread(evaluator.evaluate, down)
    assert (results["overall_accuracy"], results["total_samples"], results["failed_samples"]) == (1, 1, 1)
    assert results["detailed_results"][1]["success"] is None
    assert "down" in results["detailed_results"][1]["error"]
    nothing = await asyncio.to_thread(evaluator.evaluate_sample, down, evaluator.dataset.get_sample(1))
    assert nothing["success"] is None


OFFICIAL = """#!/usr/bin/env python3
import json, os, pathlib, sys
root = pathlib.Path(os.environ["BFCL_PROJECT_ROOT"])
model = sys.argv[sys.argv.index("--model") + 1].replace("/", "_")
assert "--partial-eval" in sys.argv
[results] = (root / "result" / model).rglob("BFCL_v4_simple_python_result.json")
count = len(results.read_text().splitlines())
score = root / "score" / model / "non_live" / "BFCL_v4_simple_python_score.json"
score.parent.mkdir(parents=True, exist_ok=True)
score.write_text(json.dumps({"accuracy": 0.5, "correct_count": 1, "total_count": count}) + '\\n{"id": "x"}\\n')
if strangers := [folder.name for folder in (root / "score").iterdir() if folder.is_dir() and "Qwen" not in folder.name]:
    sys.exit(f"KeyError: {strangers}")  # as the table of the official tool does
for name in ("overall", "non_live", "live"):
    row = ",".join(["1", "Qwen3-8B (Prompt)", "50.00%", *sorted(os.listdir(root / "score"))])
    (root / "score" / f"data_{name}.csv").write_text(f"Rank,Model,{name.title()} Acc\\n{row}")
"""


def test_the_official_tool_is_called_where_it_is_there(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    integration = BFCLIntegration()
    if not integration.is_installed():
        assert not integration.install()
        assert integration.run_evaluation("m", "simple_python") is None
    program = tmp_path / "bin" / "bfcl"
    program.parent.mkdir()
    program.write_text(OFFICIAL, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert integration.is_installed()
    results = BFCLEvaluationTool().run(Agent(OSLO), category="simple_python", model_name="Qwen/Qwen3-8B")
    assert results["official"] == {"accuracy": 0.5, "correct_count": 1, "total_count": 2}
    shown = capsys.readouterr().out
    assert "score/data_non_live.csv" in shown
    assert "Qwen3-8B (Prompt),50.00%" in shown
    assert Path("result/Qwen_Qwen3-8B/BFCL_v4_simple_python_result.json").is_file()
    assert integration.parse_results("Qwen/Qwen3-8B", "simple_python") == results["official"]
    assert integration.parse_results("nobody", "simple_python") is None
    summary = integration.get_summary_csv()
    assert summary is not None
    assert summary.name == "data_overall.csv"
    assert integration.get_summary_csv("non_live") == Path("score/data_non_live.csv")
    assert integration.get_summary_csv("multi_turn") is None


def test_metrics_on_small_inputs_are_right() -> None:
    metrics = BFCLMetrics()
    assert metrics.calculate_accuracy([1], [1, 2, 3, 4]) == 0.25
    assert math.isnan(metrics.calculate_accuracy([], []))
    assert metrics.calculate_ast_match('get_weather(city="B", unit="c")', 'get_weather(unit="c", city="B")') == 1
    assert metrics.calculate_ast_match("calculate(x=2+3)", "calculate(x=5)") == 1
    assert metrics.calculate_ast_match('get_temperature(city="B")', 'get_weather(city="B")') == 0
    assert metrics.calculate_ast_match('get_weather(city="S")', 'get_weather(city="B")') == 0
    call = {"name": "f", "arguments": {"x": 1}}
    assert metrics.calculate_ast_match([call, call], [{"f": {"x": [1]}}, {"f": {"x": [2]}}]) == 0
    assert metrics.calculate_ast_match([call, call], [{"f": {"x": [1]}}, {"f": {"x": [1]}}]) == 1
    assert metrics.calculate_ast_match([call], [{"f": {"x": [True]}}]) == 0
    assert metrics.calculate_precision_recall([call], [{"f": {"x": [1]}}]) == (1, 1)
    assert metrics.calculate_precision_recall([call, call], [{"f": {"x": [1]}}]) == (0.5, 1)
    assert metrics.calculate_precision_recall([], []) == (1, 1)
    assert metrics.calculate_f1_score(0.5, 1) == pytest.approx(2 / 3)
    assert metrics.calculate_f1_score(0, 0) == 0
    assert metrics.calculate_parameter_accuracy({"a": 1, "b": 2}, {"a": 1, "b": 3}) == 0.5
    assert metrics.calculate_parameter_accuracy([call], [{"f": {"x": [1], "y": ["", 2]}}]) == 1
    assert metrics.calculate_parameter_accuracy({}, {}) == 1


def test_all_metrics_of_the_chapter_are_computed() -> None:
    rows = [
        {"success": True, "score": 1.0, "category": "simple", "execution_time": 2.0, "f1": 1.0, "parameter_accuracy": 1.0,
         "predicted": [{"name": "f", "arguments": {}}]},
        {"success": False, "score": 0.0, "category": "simple", "execution_time": 4.0, "f1": 0.0,
         "parameter_accuracy": 0.5, "predicted": []},
        {"success": True, "score": 1.0, "category": "parallel", "execution_time": 0.0, "f1": 1.0,
         "parameter_accuracy": 1.0, "predicted": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]},
        {"success": None, "error": "down", "category": "parallel"},
    ]  # fmt: skip
    found = BFCLMetrics().compute_metrics(rows)
    assert (found["total_samples"], found["success_count"]) == (3, 2)
    assert found["accuracy"] == found["ast_match_rate"] == pytest.approx(2 / 3)
    assert found["weighted_accuracy"] == 0.75
    assert found["error_rate"] == pytest.approx(1 / 3)
    assert found["parameter_accuracy"] == pytest.approx(2.5 / 3)
    assert found["average_execution_time"] == 2
    assert found["category_metrics"]["simple"]["accuracy"] == 0.5
    assert found["category_statistics"] == found["category_metrics"]
    assert found["function_call_stats"] == {
        "total_function_calls": 3,
        "successful_calls": 3,
        "unique_functions": 2,
        "function_names": ["f", "g"],
        "avg_calls_per_sample": 1.0,
    }
    assert found["score_distribution"]["median"] == 1
    assert BFCLMetrics().compute_metrics(rows[:2])["score_distribution"]["median"] == 0.5
    nothing = BFCLMetrics().compute_metrics([])
    assert math.isnan(nothing["accuracy"])
    assert (nothing["total_samples"], nothing["score_distribution"]) == (0, {})


@pytest.mark.parametrize("reply", ["[" * 100_000, '{"name": ' * 5_000, "(" * 50_000, "f(" * 20_000, "```\n" * 10_000])
def test_hostile_replies_hold_no_calls_and_take_no_time(reply: str) -> None:
    assert not calls_in(reply).calls


def test_nothing_heavy_is_loaded_with_the_package() -> None:
    import subprocess
    import sys

    code = "import sys, proctor_compat.hello_agents as h; assert 'BFCLDataset' in dir(h); print(len(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150
    import proctor_compat.hello_agents as package

    with pytest.raises(AttributeError, match="no attribute 'BFCLDatasets'"):
        _ = package.BFCLDatasets


def test_a_model_that_never_answered_has_no_rate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Down:
        name = "down"

        def run(self, text: str) -> str:
            raise ProviderFailed("The endpoint failed with status 500.")

    results = BFCLEvaluationTool().run(Down(), "simple_python", 2, False)
    assert (results["total_samples"], results["failed_samples"]) == (0, 2)
    assert f"{results['overall_accuracy']:.2%}" == "nan%"
    assert not results["overall_accuracy"] >= 0.8
    assert results["error"] == "None of the 2 questions was scored. The endpoint failed with status 500."
    assert "0.00%" not in capsys.readouterr().out
    assert all(
        value != 0 for name, value in results["metrics"].items() if name.endswith(("_rate", "accuracy", "_score"))
    )
    called = json.loads(BFCLEvaluationTool(agent=Down()).called({"max_samples": 2, "run_official_eval": False}))
    assert (called["overall_accuracy"], called["total_samples"]) == (None, 0)
