"""The scorer `semantic` with an embedding model of a server."""

import json
from typing import Any

import pytest
from endpoint import Answer, Endpoint, Request, data
from memory_store import MemoryStore

from proctor import Sample, Task, Trajectory, evaluate_async
from proctor.core.errors import BadInput
from proctor.core.score import Unscored
from proctor_judging.scorers.semantic import make

TASK = Task(name="t", samples=[Sample.ask("a", "?", target=["right", "left"]), Sample.ask("b", "?", target="left")])
VECTORS = {"right": [3.0, 4.0], "left": [0.0, 2.0]}


def embeddings() -> Answer:
    """Vectors in the reverse order, with the index that tells whose they are."""

    async def answer(request: Request, writer: Any) -> None:
        texts = request.json["input"]
        rows = [{"object": "embedding", "index": n, "embedding": VECTORS[text]} for n, text in enumerate(texts)]
        usage = {"prompt_tokens": 5, "total_tokens": 5}
        await data({"object": "list", "data": rows[::-1], "model": "e", "usage": usage})(request, writer)

    return answer


async def test_answers_are_compared_by_the_vectors_of_a_server_and_its_tokens_count() -> None:
    async with Endpoint(embeddings()) as endpoint:
        scorer = make({"embedder": "openai:e", "base_url": endpoint.url})
        run = await evaluate_async(TASK, agent=lambda question: "right", scorers=[scorer], store=MemoryStore())
    points = {verdict.sample_id: verdict.result.points for verdict in _verdicts(run)}
    assert points == {"a": pytest.approx(1.0), "b": pytest.approx(0.8)}
    assert [request.path for request in endpoint.requests] == ["/embeddings"] * 2
    assert json.loads(endpoint.requests[0].body)["model"] == "e"
    assert run.usage.input_tokens == 10


async def test_vectors_that_do_not_fit_are_no_score() -> None:
    async with Endpoint(data({"data": [{"index": 0, "embedding": [1.0]}]})) as endpoint:
        scorer = make({"embedder": "openai:e", "base_url": endpoint.url})
        how: dict[str, Any] = {"scorers": [scorer], "store": MemoryStore(), "limit": 1}
        run = await evaluate_async(TASK, agent=lambda question: "right", **how)
    assert [type(verdict.result) for verdict in _verdicts(run)] == [Unscored]


async def test_nothing_is_asked_without_an_answer() -> None:
    async with Endpoint(embeddings()) as endpoint:
        scorer: Any = make({"embedder": "openai:e", "base_url": endpoint.url})
        assert (await scorer(TASK.samples[0], Trajectory.of(""))).points == 0  # type: ignore[index]
    assert not endpoint.requests


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInput, match="openai:MODEL"):
        make({"embedder": "mpnet"})
    with pytest.raises(BadInput, match="embedder"):
        make({"base_url": "http://localhost:1/v1"})


def _verdicts(run: Any) -> Any:
    return list(run.store.verdicts(run.id))
