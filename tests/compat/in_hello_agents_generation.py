"""The data-generation half of chapter 12 with the real hello-agents, run in an environment of its own.

The steps are those of the chapter in words of our own: a HelloAgentsLLM writes, judges and compares; the model is a local
endpoint.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from endpoint import Request, data
from in_hello_agents_chapter import model, serving
from writers import data_file, item, text

FINE = {"correctness": 5, "clarity": 4, "difficulty_match": 4, "completeness": 5, "comments": r"$\\frac12$"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))


class Writing:
    """Answers as the model of the chapter would: a problem, a judgement, or a comparison."""

    def __init__(self) -> None:
        self.number = 0

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        asked = request.json["messages"][-1]["content"]
        if '"winner"' in asked:
            said = '```json\n{"winner": "Problem A", "reason": "it stands first"}\n```'
        elif '"correctness"' in asked:
            said = json.dumps(FINE)
        else:
            self.number += 1
            said = f"```json\n{json.dumps(item(self.number))}\n```".replace("\\\\", "\\")
        choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        await data(body)(request, writer)


def real() -> str:
    made = [{"id": f"real_{seed}", "problem": text(1000 + seed), "answer": str(seed)} for seed in range(5)]
    return str(data_file(Path("real.json"), made))


def test_the_llm_of_the_library_writes_judges_and_compares() -> None:
    from proctor_compat.hello_agents import AIMEGenerator, LLMJudgeTool, WinRateTool

    with serving(Writing()) as endpoint:
        llm = model(endpoint)
        generator = AIMEGenerator(llm=llm, delay_seconds=0.0, reference_dataset=real())
        path = generator.generate_and_save(num_problems=3, output_dir="data_generation/generated_data")
        saved = json.loads(Path(path).read_text(encoding="utf-8"))
        assert [one["id"] for one in saved] == ["gen_aime_1", "gen_aime_2", "gen_aime_3"]
        assert r"\frac{1}{2}" in saved[0]["problem"]
        judged = json.loads(LLMJudgeTool(llm=llm).run({"generated_data_path": path, "judge_model": "gpt-4o"}))
        assert judged["status"] == "success"
        assert f"{judged['metrics']['average_total_score']:.1f}/5.0" == "4.5/5.0"
        given = {"generated_data_path": path, "reference_data_path": "real.json", "num_comparisons": 3}
        compared = json.loads(WinRateTool(llm=llm).run(given))
        assert (compared["metrics"]["win_rate"], compared["metrics"]["tie_rate"]) == (0, 1)


def test_an_agent_of_the_library_calls_the_judge_as_a_tool() -> None:
    from hello_agents import ToolRegistry

    from proctor_compat.hello_agents import LLMJudgeTool

    path = str(data_file(Path("mine.json"), [{"id": "a", **item(1)}]))
    with serving(Writing()) as endpoint:
        tools = ToolRegistry()
        tool: Any = LLMJudgeTool(llm=model(endpoint))
        tools.register_tool(tool)
        said = tools.execute_tool(tool.name, json.dumps({"generated_data_path": path}))
    assert json.loads(getattr(said, "text", said))["metrics"]["judged"] == 1


def test_the_whole_flow_runs_with_the_library() -> None:
    from proctor_compat.hello_agents import run_complete_evaluation

    with serving(Writing()) as endpoint:
        found = run_complete_evaluation(2, 0.0, llm=model(endpoint), reference_data_path=real())
    assert found["llm_judge_result"]["metrics"]["average_total_score"] == 4.5
    assert Path(found["comprehensive_report_path"]).exists()
