"""What the reply cache keeps of a judge, and how a report tells it."""

import json
from pathlib import Path

import pytest
from endpoint import Endpoint, chat
from memory_store import MemoryStore

from proctor import Sample, Task, evaluate_async
from proctor.api import Run
from proctor.models.openai import ChatModel, OpenAIOptions
from proctor_judging.judges.rubric import RubricJudge, rubric

CRITERIA = rubric("answer-quality")
GOOD = json.dumps({"comment": "", **{one.name: 4 for one in CRITERIA.dimensions}})
TASK = Task(name="capitals", samples=[Sample.ask("fr", "Capital of France?")])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def say_paris(question: str) -> str:
    return "Paris"


async def judged_by(endpoint: Endpoint) -> Run:
    judge = RubricJudge(CRITERIA, ChatModel("judge", OpenAIOptions(base_url=endpoint.url)))
    return await evaluate_async(TASK, agent=say_paris, scorers=[judge], store=MemoryStore())


async def test_a_judge_whose_replies_were_of_no_use_is_asked_again_by_the_next_run() -> None:
    async with Endpoint(*[chat("I would rather not.")] * 3, chat(GOOD)) as endpoint:
        first, second = await judged_by(endpoint), await judged_by(endpoint)
        assert first.estimate("score").value is None
        assert second.estimate("score").value == 0.75
        assert len(endpoint.requests) == 4


async def test_a_reply_that_was_of_use_is_kept_and_the_figures_say_so() -> None:
    async with Endpoint(chat(GOOD)) as endpoint:
        first, second = await judged_by(endpoint), await judged_by(endpoint)
        assert len(endpoint.requests) == 1
    assert "from the cache" not in str(first.estimate("score").note)
    assert "1 replies from the cache" in str(second.estimate("score").note)
