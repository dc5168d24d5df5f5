import json
import math
from pathlib import Path
from typing import Any

import pytest

from proctor.core.errors import BadInput
from proctor_compat.hello_agents import (
    GAIA_SYSTEM_PROMPT,
    GAIADataset,
    GAIAEvaluationTool,
    GAIAEvaluator,
    GAIAMetrics,
)

QUESTIONS = [
    ("a", 1, "How many?", "17", 3),
    ("b", 1, "Which bird?", "sea gull", 5),
    ("c", "2", "Which three?", "1, 2, 3", None),
    ("d", 3, "In what file?", "Paris", 9),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A few questions in the published layout, where the chapter's download would be; the tests work beside it."""
    split = tmp_path / "data" / "gaia" / "2023" / "validation"
    split.mkdir(parents=True)
    (split / "d.txt").write_text("Paris", encoding="utf-8")
    rows = [
        {
            "task_id": id,
            "Question": question,
            "Level": level,
            "Final answer": answer,
            "file_name": "d.txt" if id == "d" else "",
            "Annotator Metadata": {"Number of steps": str(steps)} if steps else {},
        }
        for id, level, question, answer, steps in QUESTIONS
    ]
    rows.append({"task_id": "0-0-0-0-0", "Question": "?", "Level": 1, "Final answer": "?", "file_name": ""})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (split / "metadata.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCTOR_GAIA_DATA", raising=False)
    return tmp_path / "data" / "gaia"


class Agent:
    """Answers by the words of the question."""

    def __init__(self, name: str = "TestAgent", **replies: Any) -> None:
        self.name = name
        self.replies = replies
        self.asked: list[str] = []

    def run(self, text: str) -> str:
        self.asked.append(text)
        reply = next((reply for word, reply in self.replies.items() if word in text), "I do not know.")
        if isinstance(reply, Exception):
            raise reply
        return str(reply)


def right() -> Agent:
    return Agent(
        many="Ten and seven.\nFINAL ANSWER: 17.0",
        bird="**FINAL ANSWER:** Seagull",
        three="FINAL ANSWER: [1,2,3]",
        file="FINAL ANSWER: [paris]",
    )


def test_the_one_call_evaluation_gives_the_keys_and_files_of_the_chapter(folder: Path) -> None:
    agent = right()
    gaia_tool = GAIAEvaluationTool()
    results = gaia_tool.run(agent=agent, level=1, max_samples=5, export_results=True, generate_report=True)
    assert f"{results['exact_match_rate']:.2%} {results['partial_match_rate']:.2%}" == "100.00% 100.00%"
    assert (results["exact_matches"], results["total_samples"]) == (2, 2)
    assert (results["benchmark"], results["agent_name"]) == ("GAIA", "TestAgent")
    assert (results["strict_mode"], results["level_filter"]) == (True, 1)
    assert results["level_metrics"]["Level_1"] == {
        "total": 2,
        "exact_matches": 2,
        "partial_matches": 2,
        "exact_match_rate": 1.0,
        "partial_match_rate": 1.0,
    }
    row = results["detailed_results"][0]
    assert (row["task_id"], row["level"], row["exact_match"], row["partial_match"]) == ("a", 1, True, True)
    assert (row["score"], row["predicted"], row["expected"]) == (1.0, "17.0", "17")
    assert row["response"] == "Ten and seven.\nFINAL ANSWER: 17.0"
    assert row["execution_time"] > 0
    json.dumps(results)
    assert agent.asked == ["How many?", "Which bird?"]
    [path] = Path("evaluation_results/gaia_official").glob("gaia_level1_result_????????_??????.jsonl")
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"task_id": "a", "model_answer": "17.0", "reasoning_trace": "Ten and seven.\nFINAL ANSWER: 17.0"},
        {"task_id": "b", "model_answer": "Seagull", "reasoning_trace": "**FINAL ANSWER:** Seagull"},
    ]
    [guide] = Path("evaluation_results/gaia_official").glob("SUBMISSION_GUIDE_????????_??????.md")
    assert path.name in guide.read_text(encoding="utf-8")
    assert str(Path.cwd()) not in guide.read_text(encoding="utf-8")
    [report] = Path("evaluation_reports").glob("gaia_report_????????_??????.md")
    text = report.read_text(encoding="utf-8")
    assert "# GAIA Evaluation Report" in text
    assert "- **Level 1**: 100.00% exact / 100.00% partial (2/2)" in text


def test_dataset_and_evaluator_work_by_themselves(folder: Path) -> None:
    dataset = GAIADataset(dataset_name="gaia-benchmark/GAIA", split="validation", level=1)
    items = dataset.load()
    assert len(items) == len(dataset) == len(list(dataset)) == 2
    assert {*items[0]} == {
        "task_id", "question", "level", "final_answer", "file_name", "file_path", "annotator_metadata", "steps",
        "tools", "raw_item",
    }  # fmt: skip
    evaluator = GAIAEvaluator(dataset=dataset, level=1)
    results = evaluator.evaluate(right(), max_samples=5)
    assert results["exact_match_rate"] == 1
    evaluator.export_to_gaia_format(results, "gaia_results.jsonl", include_reasoning=True)
    assert len(Path("gaia_results.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    whole = GAIADataset()
    statistics = whole.get_statistics()
    assert statistics["total_samples"] == 4
    assert statistics["level_distribution"] == {1: 2, 2: 1, 3: 1}
    assert statistics["samples_with_files"] == 1
    assert statistics["average_steps"] == pytest.approx(17 / 3)
    assert [item["task_id"] for item in whole.get_by_level(2)] == ["c"]
    assert whole.get_sample(3)["file_path"].endswith("d.txt")


def test_an_attachment_is_named_in_the_question(folder: Path) -> None:
    agent = right()
    results = GAIAEvaluator(level="3").evaluate(agent)
    assert results["exact_match_rate"] == 1
    [asked] = agent.asked
    assert asked.startswith("In what file?")
    assert Path(asked.rpartition(": ")[2]).read_text(encoding="utf-8") == "Paris"


@pytest.mark.parametrize(
    ("answer", "truth", "exact", "score"),
    [
        ("1,234", "1234", True, 1),
        ("$1,234.56", "1234.56", True, 1),
        ("42.0", "42", True, 1),
        ("1e3", "1000", True, 1),
        ("3, 1, 2", "1, 2, 3", False, 0.5),
        ("a;b;c", "a, b, c", True, 1),
        ("The Beatles", "Beatles", False, 0.5),
        ("sea gull", "seagull", True, 1),
        ("St Petersburg", "St. Petersburg", True, 1),
        ("€50", "50", False, 0),
        ("3", "13", False, 0),
        ("a", "banana", False, 0),
        ("not 17", "17", False, 0),
        ("", "17", False, 0),
    ],
)
def test_answers_are_judged_by_the_official_rule(answer: str, truth: str, exact: bool, score: float) -> None:
    item = {"task_id": "x", "question": "?", "level": 1, "final_answer": truth}
    row = GAIAEvaluator(GAIADataset()).evaluate_sample(Agent(**{"?": f"FINAL ANSWER: {answer}"}), item)
    assert (row["exact_match"], row["score"]) == (exact, score)


def test_the_last_marker_counts_and_other_markers_are_a_fallback() -> None:
    evaluator = GAIAEvaluator(GAIADataset())
    item = {"task_id": "x", "question": "?", "level": 1, "final_answer": 4}

    def predicted(reply: str) -> Any:
        return evaluator.evaluate_sample(Agent(**{"?": reply}), item)["predicted"]

    assert predicted("FINAL ANSWER: 3\nNo.\nFINAL ANSWER: 4") == "4"
    assert predicted("Use FINAL ANSWER: [YOUR FINAL ANSWER].\n最终答案：4") == "4"
    assert predicted("Answer: 4") == "4"
    assert predicted("Let me see.\n4\n# end") == "4"
    assert predicted("FINAL ANSWER: [1, 2], [3, 4]") == "[1, 2], [3, 4]"


def test_what_means_the_same_counts_where_strict_mode_is_off(folder: Path) -> None:
    agent = Agent(many="FINAL ANSWER: seventeen", bird="FINAL ANSWER: gull")
    assert GAIAEvaluator(level=1).evaluate(agent)["exact_matches"] == 0
    results = GAIAEvaluator(level=1, strict_mode=False).evaluate(agent)
    assert results["exact_matches"] == 1
    assert (results["strict_mode"], results["scorer"]) == (False, "answer")


def test_an_agent_that_raises_is_wrong_and_its_line_is_not_null(folder: Path) -> None:
    evaluator = GAIAEvaluator(level=1)
    results = evaluator.evaluate(Agent(many=ValueError("no idea"), bird="FINAL ANSWER: sea gull"))
    row = results["detailed_results"][0]
    assert (row["exact_match"], row["score"]) == (False, 0.0)
    assert "no idea" in row["error"]
    assert (results["exact_match_rate"], results["total_samples"]) == (0.5, 2)
    lines = evaluator.export_to_gaia_format(results, "out/results.jsonl", include_reasoning=False).read_text()
    assert json.loads(lines.splitlines()[0]) == {"task_id": "a", "model_answer": ""}


def test_a_set_of_ones_own_is_read_once_and_may_have_numbers_as_answers(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [
        {"question": "6 * 7?", "Level": "2", "final_answer": 42},
        {"Question": "?", "final_answer": "x"},
    ]
    (tmp_path / "my_gaia_set.json").write_text(json.dumps(items), encoding="utf-8")
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    dataset = GAIADataset(local_data_dir=tmp_path)
    with pytest.raises(BadInput, match="task_id"):
        dataset.load()
    items = [{"task_id": str(number), **item} for number, item in enumerate(items)]
    (tmp_path / "my_gaia_set.json").write_text(json.dumps(items), encoding="utf-8")
    assert len(dataset.load()) == 2
    assert [item["level"] for item in dataset] == [2, 1]
    results = GAIAEvaluator(GAIADataset(level=2, local_data_dir=tmp_path)).evaluate(Agent(**{"6": "FINAL ANSWER: 42"}))
    assert results["exact_match_rate"] == 1


def test_levels_one_after_the_other_with_gates(folder: Path) -> None:
    tool = GAIAEvaluationTool(str(folder))
    by_level = {
        level: tool.run(right(), level=level, export_results=False, generate_report=False) for level in (1, 2, 3)
    }
    assert [results["exact_match_rate"] for results in by_level.values()] == [1, 1, 1]
    assert not Path("evaluation_reports").exists()


def test_data_and_agents_can_be_looked_at_before(folder: Path, tmp_path: Path) -> None:
    tool = GAIAEvaluationTool(local_data_path=str(folder))
    found = tool.get_dataset_info()
    assert (found["level"], found["total_samples"], found["levels_available"]) == (None, 4, [1, 2, 3])
    assert found["level_distribution"] == {1: 2, 2: 1, 3: 1}
    assert "task_id" in found["sample_keys"]
    assert tool.get_dataset_info(2)["total_samples"] == 1
    assert "error" in GAIAEvaluationTool(str(tmp_path / "nowhere")).get_dataset_info()
    assert tool.validate_agent(right())
    assert not tool.validate_agent(3)


def test_mistakes_are_said_and_leave_no_rate(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = GAIAEvaluationTool().run(right(), level=7)
    assert "level 7" in results["error"]
    assert [f"{results[name]:.2%}" for name in ("exact_match_rate", "partial_match_rate")] == ["nan%", "nan%"]
    assert (results["exact_matches"], results["total_samples"]) == (0, 0)
    with pytest.raises(BadInput, match="whole number"):
        GAIADataset(level="one")
    with pytest.raises(BadInput, match="splits"):
        GAIADataset(split="train")
    monkeypatch.chdir(tmp_path / "data")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert "HF_TOKEN" in GAIAEvaluationTool().run(right(), level=1)["error"]


def test_an_agent_calls_the_tool_with_a_dict(folder: Path) -> None:
    tool = GAIAEvaluationTool()
    said = tool.run({"level": 1, "agent": right(), "export_results": False, "generate_report": False})
    assert json.loads(said)["exact_match_rate"] == 1
    assert tool.name == "gaia_evaluation"
    assert tool.to_dict()["name"] == "gaia_evaluation"


def test_the_report_of_a_longer_run_escapes_what_agents_said(folder: Path) -> None:
    tool = GAIAEvaluationTool()
    results = tool.run(Agent(many="FINAL ANSWER: a|b"), level=1, export_results=False, generate_report=False)
    report = tool.generate_report(results, output_file="mine/report.md")
    assert Path("mine/report.md").read_text(encoding="utf-8") == report
    [row] = [line for line in report.splitlines() if line.startswith("| a |")]
    assert row.replace("\\|", "").count("|") == 7


def test_metrics_are_those_of_the_chapter() -> None:
    rows = [
        {"level": 1, "exact_match": True, "partial_match": True, "score": 1.0, "execution_time": 1.0, "steps": 4},
        {"level": 1, "exact_match": True, "partial_match": True, "score": 1.0, "execution_time": 3.0, "steps": 8},
        {"level": 2, "exact_match": True, "partial_match": True, "score": 1.0, "execution_time": 2.0, "steps": 0},
        {"level": 2, "exact_match": False, "partial_match": True, "score": 0.5, "execution_time": 2.0, "steps": 30},
        {"level": 3, "exact_match": None, "partial_match": None, "score": None, "error": "down"},
    ]
    metrics = GAIAMetrics()
    assert metrics.calculate_exact_match_rate(rows) == GAIAMetrics.calculate_exact_match_rate(rows) == 0.75
    assert metrics.calculate_partial_match_rate({"detailed_results": rows}) == 1
    assert metrics.calculate_level_metrics(rows, 2)["exact_match_rate"] == 0.5
    assert metrics.calculate_average_execution_time(rows) == 2
    found = metrics.compute_metrics(rows)
    assert (found["total_samples"], found["exact_match_rate"]) == (4, 0.75)
    assert found["average_steps"] == 6
    assert found["score_statistics"]["median"] == 1
    analysis = found["performance_analysis"]
    drop = analysis["difficulty_progression"]["Level_1_to_Level_2"]
    assert (drop["drop_rate"], drop["relative_drop"]) == (0.5, 0.5)
    assert analysis["level_performance"]["Level_2"] == 0.5
    assert analysis["error_analysis"] == {
        "total_errors": 1,
        "partial_correct": 1,
        "complete_wrong": 0,
        "error_rate": 0.25,
        "partial_correct_rate": 0.25,
    }
    compared = metrics.compare_results(rows[3:4], rows[:1])
    assert compared["exact_match_rate_diff"] == 1
    assert math.isnan(compared["level_comparison"]["Level_1"]["exact_match_rate_diff"])  # one of them has no such row
    nothing = metrics.compute_metrics([])
    assert all(math.isnan(nothing[name]) for name in ("exact_match_rate", "average_steps"))
    assert nothing["score_statistics"] == {}


def test_the_system_prompt_is_the_official_one() -> None:
    assert GAIA_SYSTEM_PROMPT.startswith("You are a general AI assistant.")
    assert "FINAL ANSWER: [YOUR FINAL ANSWER]" in GAIA_SYSTEM_PROMPT
