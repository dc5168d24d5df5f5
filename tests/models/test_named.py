"""Models by name: the kinds there are, their options, and replies out of a file."""

import json
import sys
from pathlib import Path

import pytest
from endpoint import Endpoint, chat

from proctor.core.errors import BadInput, MissingExtra, ProviderFailed
from proctor.core.sample import Message
from proctor.core.task import Model
from proctor.models.named import OpenedModels, model


def file(path: Path, *values: object) -> str:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return f"scripted:{path}"


async def asked(one: Model, *questions: str) -> list[str]:
    return [(await one.complete([Message.of("user", question)])).message.text for question in questions]


async def test_replies_of_a_file_come_in_order_and_begin_again(tmp_path: Path) -> None:
    one = model(file(tmp_path / "r.jsonl", "first", {"clarity": 3}, {"content": "third"}))
    assert await asked(one, "a", "b", "c", "d") == ["first", '{"clarity":3}', "third", "first"]


async def test_a_reply_can_belong_to_what_is_asked(tmp_path: Path) -> None:
    one = model(file(tmp_path / "r.jsonl", {"when": "Paris", "say": {"points": 5}}, {"when": "Par", "say": "x"}))
    assert await asked(one, "in Paris", "in Parma") == ['{"points":5}', "x"]
    with pytest.raises(ProviderFailed, match="No scripted reply"):
        await asked(one, "in Rome")


async def test_calls_can_be_scripted(tmp_path: Path) -> None:
    call = {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"x": 1}'}}]}
    step = await model(file(tmp_path / "r.jsonl", call)).complete([Message.of("user", "?")])
    assert step.message.calls[0].arguments == {"x": 1}


def test_without_litellm_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtra, match=r"litellm:mistral/large needs the extra 'litellm'"):
        model("litellm:mistral/large")


@pytest.mark.parametrize("content", ["", "\n\n", "{", "not json"])
def test_a_file_without_replies_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=r"r\.jsonl"):
        model(f"scripted:{tmp_path}/r.jsonl")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opnai:x", "Did you mean 'openai:'"),
        ("gpt-4o", "openai:"),
        ("local:none", "smollm2-135m"),
        ("scripted:/none.jsonl", "cannot be read"),
        ("ledger:x", "openai:"),
        ("./none.py:model", "none.py"),
    ],
)
def test_what_is_no_model_is_refused_with_what_there_is(name: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        model(name)
    assert words in str(error.value)


def test_defaults_are_for_kinds_that_have_them_and_options_win(tmp_path: Path) -> None:
    assert model(file(tmp_path / "r.jsonl", "x"), defaults={"temperature": 0})
    for options, expected in (({}, 0), ({"temperature": 1}, 1), ({"temperature": None}, None)):
        one = model("openai:m", options, defaults={"temperature": 0})
        assert one.options.temperature == expected  # type: ignore[attr-defined]  # that of openai
    with pytest.raises(BadInput, match="temprature"):
        model("openai:m", {"temprature": 0})
    with pytest.raises(BadInput, match="no option"):
        model(file(tmp_path / "r.jsonl", "x"), {"temperature": 1})


async def test_an_object_of_a_person_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from proctor.models.scripted import ScriptedModel\nmodel = ScriptedModel(lambda m, t: 'mine')\nother = 1\n",
        encoding="utf-8",
    )
    assert await asked(model(str(path)), "?") == ["mine"]
    with pytest.raises(BadInput, match=r"a method complete\(messages\)"):
        model(f"{path}:other")
    with pytest.raises(BadInput, match="takes no options"):
        model(str(path), {"temperature": 1})


async def test_a_seed_can_be_named_for_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    async with Endpoint(chat("ok")) as server:
        one = model("openai:m", {"base_url": f"{server.url}/v1", "seed": 3})
        for more in ({}, {"seed": 9}):
            await one.complete([Message.of("user", "?")], **more)  # type: ignore[arg-type]  # a keyword of openai
    assert [request.json["seed"] for request in server.requests] == [3, 9]


async def test_what_holds_a_server_is_opened_and_closed_in_order_also_when_one_fails() -> None:
    said: list[str] = []

    class Server:
        def __init__(self, name: str, fails: bool = False) -> None:
            self.name, self.fails = name, fails

        async def __aenter__(self) -> None:
            if self.fails:
                raise BadInput("no")
            said.append(f"+{self.name}")

        async def __aexit__(self, *_: object) -> None:
            said.append(f"-{self.name}")

    async with OpenedModels([Server("a"), "no server", Server("b")]):
        said.append("work")
    assert said == ["+a", "+b", "work", "-b", "-a"]
    said.clear()
    with pytest.raises(BadInput):
        await OpenedModels([Server("a"), Server("b", fails=True)]).__aenter__()
    assert said == ["+a", "-a"]
