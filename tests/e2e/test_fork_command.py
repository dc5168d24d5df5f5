"""proctor fork: the recorded steps come first, the model is asked from there on, and the parent stays as it was."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from endpoint import Answer, Endpoint, chat, data

from proctor.api import open_run
from proctor.cli import app
from proctor.core.errors import Stopped

SHOP = """
from pathlib import Path

from proctor import Sample, Task

class Shop:
    def __init__(self):
        self.basket = []

    def look(self, item: str) -> str:
        '''Say how many there are.'''
        first, *rest = Path("stock.txt").read_text().splitlines()
        Path("stock.txt").write_text("\\n".join(rest or [first]))
        return first + " left"

    def buy(self, item: str) -> str:
        '''Buy something.'''
        self.basket.append(item)
        return f"{len(self.basket)} in the basket"

def task() -> Task:
    tea = Sample.ask("tea", "Buy tea.", target="bought", meta={"pair": (1, 2)})
    samples = [tea, Sample.ask("jam", "Buy jam.", target="bought")]
    return Task(name="shop", samples=samples, scorers=["exact:contains"], environment="python:./shop.py:Shop")
"""


def call(name: str, id: str) -> Answer:
    function = {"name": name, "arguments": '{"item": "tea"}'}
    return chat(None, tool_calls=[{"id": id, "type": "function", "function": function}])


@contextmanager
def served(*script: Answer) -> Iterator[Endpoint]:
    """An endpoint that answers from a thread of its own."""
    endpoint = Endpoint(*script)
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with endpoint:
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    try:
        yield endpoint
    finally:
        over.set()
        thread.join()


def proctor(*words: str) -> Result:
    result = CliRunner().invoke(app, [*words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of the sample "tea": look, buy, and an answer that misses."""
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "stock.txt").write_text("3", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with served(call("look", "c1"), call("buy", "c2"), chat("I could not.")) as endpoint:
        words = ("run", "./shop.py:task", "--id", "tea", "--run", "parent", "--quiet", "--agent", "openai:old")
        assert proctor(*words, "--base-url", f"{endpoint.url}/v1").exit_code == 0
    return "parent"


def fork(url: str, *more: str) -> Result:
    return proctor("fork", "parent", "tea", "--agent-set", f"base_url={url}/v1", "--quiet", *more)


def sent(endpoint: Endpoint, number: int = 0) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = endpoint.requests[number].json["messages"]
    return messages


def test_the_model_sees_what_was_recorded_and_goes_on_from_there(parent: str) -> None:
    before = json.dumps(open_run(parent).summary())
    with served(chat("Tea is bought.")) as endpoint:
        result = fork(endpoint.url, "--at", "5", "--agent", "openai:new", "--name", "forked", "--json")
    assert result.exit_code == 0, result.stderr
    assert len(endpoint.requests) == 1
    assert [message["role"] for message in sent(endpoint)] == ["user", "assistant", "tool", "assistant", "tool"]
    assert sent(endpoint)[-1]["content"] == "1 in the basket"
    compared = json.loads(result.stdout)
    assert compared["parent"]["steps"] == ["assistant: I could not."]
    assert compared["forks"][0]["steps"] == ["assistant: Tea is bought."]
    assert (compared["parent"]["scores"], compared["forks"][0]["scores"]) == (
        {"exact:contains": 0.0},
        {"exact:contains": 1.0},
    )
    record = open_run("forked").record
    assert record.fork is not None
    assert (record.fork.run, record.fork.sample, record.fork.step) == ("parent", "tea", 5)
    assert record.agent == "openai:new (fork of parent at 5)"
    assert json.dumps(open_run(parent).summary()) == before
    (trial,) = open_run("forked").trials()
    assert trial.usage.requests == 1
    assert trial.trajectory.state == {"basket": ["tea"]}


def test_a_fork_in_the_middle_calls_only_what_was_recorded_before(parent: str) -> None:
    with served(chat("Nothing is bought.")) as endpoint:
        assert fork(endpoint.url, "--at", "3", "--name", "forked").exit_code == 0
    assert [message["role"] for message in sent(endpoint)] == ["user", "assistant", "tool"]
    (trial,) = open_run("forked").trials()
    assert trial.trajectory.state == {"basket": []}


def test_another_prompt_is_the_system_message_and_the_rest_is_as_recorded(parent: str) -> None:
    with served(chat("bought")) as endpoint:
        assert fork(endpoint.url, "--at", "5", "--prompt", "Be kind.").exit_code == 0
    assert sent(endpoint)[0] == {"role": "system", "content": "Be kind."}
    assert len(sent(endpoint)) == 6


def test_another_result_of_a_tool_is_what_the_model_sees(parent: str) -> None:
    with served(chat("Sold out.")) as endpoint:
        assert fork(endpoint.url, "--at", "2", "--reply", "0 left", "--name", "forked").exit_code == 0
    assert sent(endpoint)[-1]["content"] == "0 left"
    (trial,) = open_run("forked").trials()
    assert [step.message.role for step in trial.trajectory.steps] == ["assistant", "tool", "assistant"]


def test_another_reply_of_the_agent_ends_the_turn_without_a_request(parent: str) -> None:
    with served(chat("unused")) as endpoint:
        assert fork(endpoint.url, "--at", "1", "--reply", "It is bought.", "--name", "forked").exit_code == 0
    assert endpoint.requests == []
    (trial,) = open_run("forked").trials()
    assert trial.trajectory.answer == "It is bought."


def test_a_result_that_differs_from_the_recording_is_refused_and_nothing_is_stored(parent: str) -> None:
    Path("stock.txt").write_text("9", encoding="utf-8")
    with served(chat("unused")) as endpoint:
        result = fork(endpoint.url, "--at", "3", "--name", "forked")
    assert result.exit_code == 2
    assert "Step 2 does not come out as recorded: it was look: 3 left, and is look: 9 left now" in " ".join(
        result.stderr.split()
    )
    assert endpoint.requests == []
    assert "forked" not in proctor("runs", "list").stdout


def test_a_later_attempt_that_differs_discards_the_fork(parent: str) -> None:
    Path("stock.txt").write_text("3\n9", encoding="utf-8")
    with served(chat("bought"), chat("bought")) as endpoint:
        result = fork(endpoint.url, "--at", "5", "--attempts", "2", "--name", "forked")
    said = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "it was look: 3 left, and is look: 9 left now" in said
    assert "no fork is kept" in said
    assert "Go on with" not in said
    assert len(endpoint.requests) == 1
    assert "forked" not in proctor("runs", "list").stdout


@pytest.mark.parametrize("words", [("fork",), ("runs", "fork")])
def test_a_stopped_fork_is_kept_and_not_said_to_be_resumed(
    parent: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise Stopped("forked")

    monkeypatch.setattr("proctor_audit.forking.trial.fork_trial", stopped)
    result = proctor(*words, "parent", "tea", "--at", "5", "--quiet")
    assert result.exit_code == 130
    assert "kept as forked. A fork is not resumed." in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "9"), "has 5 steps, so there is none to fork at 9. Steps of the agent: 1, 3, 5"),
        (("--at", "2"), "Step 2 is the result of a tool."),
        (("--at", "1", "--agent", "baseline:null"), "cannot go on from the middle of a conversation"),
        (("--at", "1", "--name", "parent"), "There is a run 'parent' already"),
    ],
)
def test_what_cannot_be_forked_is_refused_in_a_sentence(parent: str, words: tuple[str, ...], said: str) -> None:
    with served(chat("unused")) as endpoint:
        set_ = () if "baseline:null" in words else ("--agent-set", f"base_url={endpoint.url}/v1")
        result = proctor("fork", "parent", "tea", *set_, "--quiet", *words)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert endpoint.requests == []


def test_a_run_of_another_kind_of_agent_is_refused(parent: str) -> None:
    assert proctor("run", "./shop.py:task", "--agent", "baseline:echo", "--run", "echoed", "--quiet").exit_code == 0
    result = proctor("fork", "echoed", "tea", "--at", "1")
    assert result.exit_code == 2
    assert "asks its model itself" in " ".join(result.stderr.split())


def test_a_fork_is_not_resumed_and_names_its_parent(parent: str) -> None:
    with served(chat("bought")) as endpoint:
        assert fork(endpoint.url, "--at", "5", "--name", "forked").exit_code == 0
    result = proctor("run", "--run", "forked")
    assert result.exit_code == 2
    assert "is a fork of parent" in " ".join(result.stderr.split())
    assert "The steps before 5 were recorded in the run parent" in proctor("runs", "explain", "forked", "tea").stdout
    assert "A fork of parent" in " ".join(proctor("show", "forked").stdout.split())


def test_the_comparison_fits_eighty_columns_in_chinese_too(parent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with served(chat("Tea is bought.")) as endpoint:
        result = proctor(
            "--lang", "zh", "fork", "parent", "tea", "--at", "3", "--attempts", "2", "--quiet", "--agent-set",
            f"base_url={endpoint.url}/v1",
        )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    from rich.cells import cell_len

    assert max(map(cell_len, result.stdout.splitlines())) <= 80
    assert "Tea is bought." in result.stdout


def test_a_conversation_that_a_limit_cut_goes_on_where_it_was(parent: str) -> None:
    with served(call("look", "c1"), call("buy", "c2")) as endpoint:
        words = ("run", "./shop.py:task", "--id", "tea", "--run", "cut", "--quiet", "--agent", "openai:old")
        more = ("--base-url", f"{endpoint.url}/v1", "--agent-set", "max_steps=2")
        proctor(*words, *more)
    with served(chat("Tea is bought.")) as endpoint:
        told = ("--agent-set", f"base_url={endpoint.url}/v1", "--agent-set", "max_steps=9", "--json", "--quiet")
        result = proctor("fork", "cut", "tea", "--at", "5", *told)
    assert result.exit_code == 0, result.stderr
    compared = json.loads(result.stdout)
    assert compared["parent"]["steps"] == []
    assert compared["forks"][0]["scores"] == {"exact:contains": 1.0}


def test_a_fork_can_be_forked_and_keeps_its_prompt(parent: str) -> None:
    with served(chat("bought")) as endpoint:
        assert fork(endpoint.url, "--at", "5", "--prompt", "Be kind.", "--name", "forked").exit_code == 0
    with served(chat("bought twice")) as endpoint:
        url = f"base_url={endpoint.url}/v1"
        assert proctor("fork", "forked", "tea", "--at", "5", "--agent-set", url, "--quiet").exit_code == 0
    assert sent(endpoint)[0]["content"] == "Be kind."


def test_a_fork_whose_model_cannot_be_reached_is_inconclusive_or_refused(parent: str) -> None:
    with served(data({"error": {"message": "no"}}, 401)) as endpoint:
        assert fork(endpoint.url, "--at", "5", "--name", "forked").exit_code == 2
    assert "forked" not in proctor("runs", "list").stdout


def test_a_recording_that_the_conversation_does_not_reach_is_refused(parent: str) -> None:
    with served(chat("unused")) as endpoint:
        result = fork(endpoint.url, "--at", "5", "--agent-set", "max_steps=1")
    assert result.exit_code == 2
    assert "the conversation ended before it" in " ".join(result.stderr.split())
