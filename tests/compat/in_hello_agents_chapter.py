"""The examples of chapter 12 and what is around them, with the real hello-agents of either version, 0.2.7 and 1.0.0.

Run in environments of their own by test_hello_agents_real.py; the words are our own, and the model is a local endpoint.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from endpoint import Answer, Endpoint, data

from proctor.core.errors import EndpointRefused

OSLO = '[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))


def reply(text: str | None = None, *calls: tuple[str, dict[str, Any], str]) -> Answer:
    """A whole chat completion, as the openai client wants it."""
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, arguments, id in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return data(
        {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    )


@contextmanager
def serving(*script: Answer) -> Iterator[Endpoint]:
    """The endpoint in a loop and thread of its own, as the library blocks."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    endpoint = Endpoint(*script)
    asyncio.run_coroutine_threadsafe(endpoint.__aenter__(), loop).result(10)
    try:
        yield endpoint
    finally:
        asyncio.run_coroutine_threadsafe(endpoint.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def model(endpoint: Endpoint) -> Any:
    from hello_agents import HelloAgentsLLM

    return HelloAgentsLLM(model="m", api_key="k", base_url=f"{endpoint.url}/v1")


WEATHER = {
    "name": "get_weather",
    "description": "Weather.",
    "parameters": {"type": "dict", "properties": {"city": {"type": "string", "description": ""}}, "required": ["city"]},
}


def bfcl_data(root: Path) -> None:
    folder = root / "temp_gorilla" / "berkeley-function-call-leaderboard" / "bfcl_eval" / "data"
    (folder / "possible_answer").mkdir(parents=True)
    for category in ("simple_python", "multiple", "parallel", "irrelevance"):
        lines = [
            {
                "id": f"{category}_{number}",
                "question": [[{"role": "user", "content": "Weather in Oslo?"}]],
                "function": [WEATHER],
            }
            for number in range(3)
        ]
        truth = [{"id": line["id"], "ground_truth": [{"get_weather": {"city": ["Oslo"]}}]} for line in lines]
        name = f"BFCL_v4_{category}.json"
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
        if category != "irrelevance":
            (folder / "possible_answer" / name).write_text("".join(json.dumps(line) + "\n" for line in truth))


def test_the_bfcl_examples_of_the_chapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hello_agents import HelloAgentsLLM, SimpleAgent

    from proctor_compat.hello_agents import BFCLDataset, BFCLEvaluationTool, BFCLEvaluator

    bfcl_data(tmp_path)
    with serving(reply('[{"name": "get_weather", "arguments": {"city": "Oslo"}}]')) as endpoint:
        monkeypatch.setenv("LLM_MODEL_ID", "m")
        monkeypatch.setenv("LLM_API_KEY", "k")
        monkeypatch.setenv("LLM_BASE_URL", f"{endpoint.url}/v1")

        llm = HelloAgentsLLM()
        agent = SimpleAgent(name="TestAgent", llm=llm)
        bfcl_tool = BFCLEvaluationTool()
        results = bfcl_tool.run(agent=agent, category="simple_python", max_samples=5)
        assert f"Accuracy: {results['overall_accuracy']:.2%}" == "Accuracy: 100.00%"
        assert f"{results['correct_samples']}/{results['total_samples']}" == "3/3"
        assert len(endpoint.requests) == 3
        asked = [[message["role"] for message in request.json["messages"]] for request in endpoint.requests]
        assert all(roles.count("user") == 1 and "assistant" not in roles for roles in asked), "no history"

        dataset = BFCLDataset(
            bfcl_data_dir="./temp_gorilla/berkeley-function-call-leaderboard/bfcl_eval/data", category="simple_python"
        )
        assert len(dataset.load()) == len(dataset.ground_truth) == 3
        evaluator = BFCLEvaluator(dataset=dataset, category="simple_python", evaluation_mode="ast")
        results = evaluator.evaluate(agent, max_samples=10)
        assert results["overall_accuracy"] == 1
        evaluator.export_to_bfcl_format(results, output_path="./evaluation_results/my_results.json")

        results = bfcl_tool.run(agent=agent, category="simple_python", max_samples=5, model_name="Qwen/Qwen3-8B")
        results = bfcl_tool.run(agent, category="simple_python", max_samples=2, run_official_eval=False)
        report = bfcl_tool.generate_report(results, output_file="./my_reports/custom_report.md")
        assert report.startswith("# BFCL Evaluation Report")

        accuracies = [
            bfcl_tool.run(agent, category=category, max_samples=10)["overall_accuracy"]
            for category in ("simple_python", "multiple", "parallel", "irrelevance")
        ]
        assert accuracies == [1, 1, 1, 0]
        assert agent.get_history() == []


def test_the_gaia_examples_of_the_chapter(tmp_path: Path) -> None:
    from hello_agents import SimpleAgent

    from proctor_compat.hello_agents import GAIA_SYSTEM_PROMPT, GAIADataset, GAIAEvaluationTool, GAIAEvaluator

    split = tmp_path / "data" / "gaia" / "2023" / "validation"
    split.mkdir(parents=True)
    rows = [
        {"task_id": f"t{number}", "Question": "6 * 7?", "Level": 1, "Final answer": truth, "file_name": ""}
        for number, truth in enumerate(("42", "43"))
    ]
    (split / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with serving(reply("I multiply.\nFINAL ANSWER: 42")) as endpoint:
        agent = SimpleAgent(name="TestAgent", llm=model(endpoint), system_prompt=GAIA_SYSTEM_PROMPT)
        gaia_tool = GAIAEvaluationTool()
        results = gaia_tool.run(agent=agent, level=1, max_samples=5, export_results=True, generate_report=True)
        assert f"{results['exact_match_rate']:.2%} {results['partial_match_rate']:.2%}" == "50.00% 50.00%"
        assert f"{results['exact_matches']}/{results['total_samples']}" == "1/2"
        first = endpoint.requests[0].json["messages"]
        assert [message["role"] for message in first] == ["system", "user"]
        assert first[0]["content"] == GAIA_SYSTEM_PROMPT
        [path] = Path("evaluation_results/gaia_official").glob("gaia_level1_result_*.jsonl")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert {(line["task_id"], line["model_answer"]) for line in lines} == {("t0", "42"), ("t1", "42")}

        dataset = GAIADataset(level=1)
        assert len(dataset.load()) == 2
        assert dataset.get_statistics()["level_distribution"][1] == 2
        evaluator = GAIAEvaluator(dataset=dataset, level=1)
        results = evaluator.evaluate(agent, max_samples=5)
        evaluator.export_to_gaia_format(results, "gaia_results.jsonl", include_reasoning=True)


FAILURES = {500: None, 429: None, 401: EndpointRefused}


def _impatient(agent: Any) -> Any:
    """The agent with a client that asks once; the versions keep it in different places."""
    holder = getattr(agent.llm, "_adapter", agent.llm)
    inner = getattr(holder, "_client", None) or holder.create_client()
    holder._client = inner.with_options(max_retries=0)
    return agent


@pytest.mark.parametrize("status", FAILURES)
@pytest.mark.parametrize("raised", ["by the library", "again, without from", "in a thread of its own"])
def test_a_provider_that_fails_is_no_wrong_answer_wherever_its_error_passes(
    tmp_path: Path, status: int, raised: str
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from hello_agents import SimpleAgent

    from proctor_compat.hello_agents import BFCLEvaluationTool, GAIAEvaluationTool

    bfcl_data(tmp_path)
    rows = [{"task_id": "a", "Question": "?", "Level": 1, "Final answer": "4"}]
    Path("my_gaia.json").write_text(json.dumps(rows), encoding="utf-8")
    with serving(data({"error": {"message": "no"}}, status)) as endpoint:
        own = _impatient(SimpleAgent("T", model(endpoint)))

        def again(text: str) -> str:
            try:
                return str(own.run(text))
            except Exception:
                raise RuntimeError("it did not work")  # noqa: B904 - as people write it

        def elsewhere(text: str) -> str:
            with ThreadPoolExecutor(1) as pool:
                return str(pool.submit(again, text).result())

        agents: dict[str, Callable[[str], str] | Any] = {
            "by the library": own,
            "again, without from": again,
            "in a thread of its own": elsewhere,
        }
        agent = agents[raised]
        found = (
            BFCLEvaluationTool().run(agent, "irrelevance", 3, False),
            GAIAEvaluationTool(local_data_path="my_gaia.json").run(agent, level=1),
        )
    for results, planned in zip(found, (3, 1), strict=True):
        if FAILURES[status] is EndpointRefused:
            assert "refuses the key" in results["error"]
            assert len(endpoint.requests) == 2, "the first refusal stops the run"
        else:
            assert (results["total_samples"], results["failed_samples"]) == (0, planned)
            assert results["detailed_results"][0].get("success", None) is None


def test_a_tool_is_called_the_way_the_version_calls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hello_agents import ToolRegistry

    from proctor_compat.hello_agents import BFCLEvaluationTool

    bfcl_data(tmp_path)
    monkeypatch.setenv("LLM_MODEL_ID", "m")
    monkeypatch.setenv("LLM_API_KEY", "k")
    arguments = {"category": "simple_python", "max_samples": 1, "run_official_eval": False}
    with serving(reply(OSLO)) as endpoint:
        monkeypatch.setenv("LLM_BASE_URL", f"{endpoint.url}/v1")
        registry, tool = ToolRegistry(), BFCLEvaluationTool()
        registry.register_tool(tool)
        said = registry.execute_tool(tool.name, json.dumps(arguments))
        if isinstance(said, str):  # 0.2.7
            assert json.loads(said)["overall_accuracy"] == 1
            assert "no parameter" in registry.execute_tool(tool.name, "nonsense=1")
            return
        assert json.loads(said.text)["overall_accuracy"] == 1
        inside = asyncio.run(tool.arun_with_timing(arguments))
        assert (inside.status.value, json.loads(inside.text)["overall_accuracy"]) == ("success", 1)
        assert inside.context["tool_name"] == tool.name
        wrong = tool.run_with_timing({"category": "nonsense"})
    assert wrong.status.value == "error"
    assert "nonsense" in wrong.error_info["message"]
