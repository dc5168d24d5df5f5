"""The reply cache: what is kept, what is told apart, and that it never harms a run."""

import asyncio
import random
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint import Answer as Reaction
from endpoint import Endpoint, chat, cut, data, events
from memory_store import MemoryStore

from proctor import Sample, Task, evaluate_async
from proctor.api import Run
from proctor.chat.dialect import ModelReply
from proctor.core.errors import ProviderFailed
from proctor.core.run import Budget
from proctor.core.sample import Message, Text
from proctor.core.sentence import Sentence
from proctor.core.trajectory import Usage
from proctor.models import cache
from proctor.models._cache_file import CacheFile
from proctor.models.openai import ChatModel, OpenAIOptions

KEY = "sk-this-is-the-key-1234"
SAMPLES = [Sample.ask(f"s{n}", f"{n}?", target="Paris") for n in range(5)]
TASK = Task(name="capitals", samples=SAMPLES, scorers=["exact"])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[cache.Cache]:
    with cache.opened(cache.Cache(tmp_path / "replies.db"), agents=True) as opened:
        yield opened


def answer(text: str, seconds: float = 0.5) -> cache.CachedAnswer:
    return cache.CachedAnswer(said=ModelReply(parts=(Text(text=text),)), seconds=seconds)


def text_of(found: cache.CachedAnswer | None) -> str | None:
    return None if found is None else str(Message(role="assistant", parts=found.said.parts).text)


def counting() -> Reaction:
    """A model that says another number each time."""
    count = 0

    async def react(request: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        await chat(str(count))(request, writer)

    return react


async def ask(model: ChatModel, question: str = "Capital of France?", **how: Any) -> str:
    return (await model.complete([Message.of("user", question)], **how)).message.text


async def run(url: str, **how: Any) -> Run:
    options = {"base_url": url, "retries": 0}
    return await evaluate_async(TASK, agent="openai:mock", agent_options=options, store=MemoryStore(), **how)


async def test_a_prompt_that_was_filtered_is_replayed_too() -> None:
    filtered = data({"error": {"code": "content_filter", "message": "no"}}, 400)
    async with Endpoint(chat("Paris"), filtered, chat("Paris")) as endpoint:
        first = await run(endpoint.url, cache=True, concurrency=1)
        assert first.usage.requests == 5
    second = await run(endpoint.url, cache=True)
    assert second.outcomes == first.outcomes == {"scored": 5}
    assert second.estimate("accuracy").value == first.estimate("accuracy").value == 0.8
    assert second.usage == Usage()


async def test_a_whole_run_is_replayed_with_the_server_switched_off() -> None:
    async with Endpoint(chat("Paris", reasoning_content="So.")) as endpoint:
        first = await run(endpoint.url, cache=True)
    assert len(endpoint.requests) == 5
    second = await run(endpoint.url, cache=True)
    assert second.outcomes == first.outcomes == {"scored": 5}
    assert second.estimate("accuracy").value == first.estimate("accuracy").value == 1.0
    messages = [[trial.trajectory.steps[0].message for trial in one.trials()] for one in (first, second)]
    assert messages[0] == messages[1]
    assert [step.seconds for trial in second.trials() for step in trial.trajectory.steps] == [
        step.seconds for trial in first.trials() for step in trial.trajectory.steps
    ]


async def test_hits_are_marked_and_cost_nothing() -> None:
    async with Endpoint(chat("Paris")) as endpoint:
        first = await run(endpoint.url, cache=True)
        second = await run(endpoint.url, cache=True, budget=Budget(requests=1, tokens=1))
    assert [trial.notes for trial in first.trials()] == [{}] * 5
    saved = {"input_tokens": 7, "output_tokens": 3}
    assert [trial.notes for trial in second.trials()] == [{"cache_hits": 1, "saved": saved}] * 5
    assert second.usage == Usage()
    assert second.record.state == "finished", "no budget is charged"


async def test_without_the_option_an_agent_neither_reads_nor_writes(tmp_path: Path) -> None:
    async with Endpoint(chat("Paris")) as endpoint:
        await run(endpoint.url)
        await run(endpoint.url)
    assert len(endpoint.requests) == 10
    assert not (tmp_path / "cache").exists()


async def test_attempts_are_kept_apart() -> None:
    async with Endpoint(counting()) as endpoint:
        first = await run(endpoint.url, cache=True, attempts=3, concurrency=1)
        assert len({trial.trajectory.answer for trial in first.trials()}) == 15
        second = await run(endpoint.url, cache=True, attempts=3)
    assert [trial.trajectory.answer for trial in second.trials()] == [
        trial.trajectory.answer for trial in first.trials()
    ]
    assert len(endpoint.requests) == 15


async def test_a_model_asked_the_same_several_times_in_a_trial_gives_as_many_replies(kept: cache.Cache) -> None:
    async with Endpoint(counting()) as endpoint:
        model = ChatModel("m", OpenAIOptions(base_url=endpoint.url, temperature=1.0))
        cache.begin(0)
        first = [await ask(model) for _ in range(3)]
        cache.begin(0)
        assert [await ask(model) for _ in range(3)] == first == ["1", "2", "3"]


async def test_a_judge_uses_the_cache_without_the_option() -> None:
    async with Endpoint(counting()) as endpoint:
        model = ChatModel("judge", OpenAIOptions(base_url=endpoint.url))
        with cache.opened(agents=False):
            for _ in range(2):
                cache.begin(0)
                with cache.used():
                    judged = await ask(model)
            assert judged == "1"
            assert await ask(model) == "2", "outside of `used` nothing comes from the cache"


@pytest.mark.parametrize(
    ("name", "options", "how"),
    [
        ("other", {}, {}),
        ("m", {"temperature": 0.5}, {}),
        ("m", {"extra_body": {"top_k": 3}}, {}),
        ("m", {"base_url": "/v2"}, {}),
        ("m", {}, {"question": "Capital of Spain?"}),
        ("m", {}, {"response_format": {"type": "json_object"}}),
    ],
)
async def test_another_request_endpoint_or_model_is_another_reply(
    name: str, options: dict[str, Any], how: dict[str, Any], kept: cache.Cache
) -> None:
    async with Endpoint(counting()) as endpoint:
        first = await ask(ChatModel("m", OpenAIOptions(base_url=endpoint.url + "/v1")))
        url = endpoint.url + options.get("base_url", "/v1")
        other = ChatModel(name, OpenAIOptions(**{**options, "base_url": url}))
        assert (first, await ask(other, **how)) == ("1", "2")


async def test_the_order_of_keys_and_the_key_of_the_endpoint_do_not_matter(
    kept: cache.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Endpoint(counting()) as endpoint:
        for key, body in (("sk-one-one-one", {"a": 1, "b": 2}), ("sk-two-two-two", {"b": 2, "a": 1})):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            assert await ask(ChatModel("m", OpenAIOptions(base_url=endpoint.url, extra_body=body))) == "1"


@pytest.mark.parametrize("broken", [cut(), data({"error": {"message": "later"}}, 500), data({"choices": []})])
async def test_only_complete_replies_are_kept(broken: Reaction, kept: cache.Cache) -> None:
    async with Endpoint(broken, chat("Paris")) as endpoint:
        model = ChatModel("m", OpenAIOptions(base_url=endpoint.url, retries=0))
        with pytest.raises(ProviderFailed):
            await ask(model)
        assert await ask(model) == "Paris"


async def test_a_stream_is_kept_as_a_whole_with_its_times(kept: cache.Cache) -> None:
    says = [{"choices": [{"delta": {"content": text}}]} for text in ("Pa", "ris")]
    async with Endpoint(events(*says)) as endpoint:
        model = ChatModel("m", OpenAIOptions(base_url=endpoint.url, stream=True))
        first = await model.complete([Message.of("user", "?")])
    second = await model.complete([Message.of("user", "?")])
    assert second.message.text == "Paris"
    assert (second.seconds, second.first_token_seconds) == (first.seconds, first.first_token_seconds)


async def test_half_a_character_in_a_request_is_no_obstacle(kept: cache.Cache) -> None:
    async with Endpoint(counting()) as endpoint:
        model = ChatModel("m", OpenAIOptions(base_url=endpoint.url))
        assert [await ask(model, "a\ud800b") for _ in range(2)] == ["1", "1"]


async def test_nothing_of_a_request_or_key_is_in_the_file(
    tmp_path: Path, kept: cache.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("zlib.compress", lambda data, level: data)  # so that we can read it
    async with Endpoint(chat(f"you sent {KEY}")) as endpoint:
        model = ChatModel("m", OpenAIOptions(base_url=endpoint.url, headers={"X-Api-Key": "my-other-secret-key"}))
        assert await ask(model, "a private question") == "you sent [hidden]"
    kept.close()
    content = b"".join(path.read_bytes() for path in tmp_path.glob("replies.db*"))
    assert b"you sent" in content
    for private in (KEY.encode(), b"my-other-secret-key", b"a private question", b"Authorization"):
        assert private not in content
    assert (tmp_path / "replies.db").stat().st_mode & 0o077 == 0, "others on the machine cannot read it"


def test_two_processes_fill_it_at_once(tmp_path: Path) -> None:
    script = """
import sys
import zlib
from pathlib import Path
from proctor.models.cache import CachedAnswer, Cache
from proctor.chat.dialect import ModelReply
kept = Cache(Path(sys.argv[1]), warn=lambda sentence: sys.exit(str(sentence)))
for number in range(300):
    kept.put(f"{sys.argv[2]}-{number}", CachedAnswer(said=ModelReply(), seconds=number))
    kept.put(f"both-{number}", CachedAnswer(said=ModelReply(), seconds=number))
    assert kept.get(f"{sys.argv[2]}-{number}").seconds == number
"""
    path = tmp_path / "replies.db"
    started = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("a", "b")]
    assert [one.wait(30) for one in started] == [0, 0]
    kept = cache.Cache(path)
    for name in ("a", "b", "both"):
        for number in range(300):
            found = kept.get(f"{name}-{number}")
            assert found is not None
            assert found.seconds == number
    kept.close()


def test_it_stays_below_its_size_and_lets_go_of_what_was_used_least_lately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("proctor.models._cache_file.time.time", lambda: now)
    file = CacheFile(tmp_path / "replies.db", 2_000_000)
    for number in range(300):
        now += 10_000
        file.put(str(number), bytes([number % 256]) * 20_000)
        assert file.get("0") is not None, "what is used again and again stays"
    assert file.get("299") == bytes([299 % 256]) * 20_000
    assert file.get("1") is None
    kept = sum(file.get(str(number)) is not None for number in range(300))
    assert 30 <= kept <= 100
    file.put("huge", b"x" * 1_000_000)
    assert file.get("huge") is None, "one reply does not push out all others"
    file.close()
    assert (tmp_path / "replies.db").stat().st_size < 4_000_000


def test_the_size_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "proctor.toml").write_text("cache_megabytes = 1\n")
    kept = cache.Cache(tmp_path / "replies.db")
    for number in range(200):
        kept.put(str(number), answer(f"{number} " + "".join(chr(33 + (i * number) % 90) for i in range(30_000))))
    kept.close()
    assert (tmp_path / "replies.db").stat().st_size < 2_500_000


@pytest.mark.parametrize("damage", ["not a database", "torn pages"])
def test_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "replies.db"
    told: list[Sentence] = []
    kept = cache.Cache(path, warn=told.append)
    for number in range(500):
        kept.put(str(number), answer("old " * 50))
    kept.close()
    content = path.read_bytes()
    path.write_bytes(b"no database at all" * 500 if damage == "not a database" else content[:4096] + b"\xff" * 60_000)
    kept.put("new", answer("new"))
    assert text_of(kept.get("new")) == "new"
    assert [sentence.text[:44] for sentence in told] == ["The reply cache {path} was damaged. It is no"]
    assert len(list(tmp_path.glob("replies.db.damaged-*"))) == 1
    kept.close()


@pytest.mark.parametrize("seed", range(40))
def test_no_damage_makes_another_answer_of_one_or_fails(tmp_path: Path, seed: int) -> None:
    path, drawn = tmp_path / "replies.db", random.Random(seed)
    kept = cache.Cache(path, warn=lambda sentence: None)
    for number in range(200):
        kept.put(str(number), answer(f"{number} " + "long " * number))
    kept.close()
    content = bytearray(path.read_bytes())
    for _ in range(20):
        content[drawn.randrange(len(content))] = drawn.randrange(256)
    path.write_bytes(content)
    for number in range(200):
        assert text_of(kept.get(str(number))) in (None, f"{number} " + "long " * number)
    kept.put("new", answer("new"))
    kept.close()


async def test_a_run_goes_on_where_there_can_be_no_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    async with Endpoint(chat("Paris")) as endpoint:
        done = await run(endpoint.url, cache=True)
    assert done.outcomes == {"scored": 5}
    assert ["cannot be used" in record.message for record in caplog.records] == [True], "said once"


def test_a_file_that_others_write_to_for_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.models._cache_file.BUSY_SECONDS", 0.05)
    kept = cache.Cache(tmp_path / "replies.db")
    kept.put("a", answer("a"))
    other = sqlite3.connect(tmp_path / "replies.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    kept.put("b", answer("b"))
    assert text_of(kept.get("a")) == "a", "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    kept.put("c", answer("c"))
    assert [text_of(kept.get(key)) for key in ("a", "b", "c")] == ["a", None, "c"]
    kept.close()


def test_what_another_version_wrote_is_no_answer(tmp_path: Path) -> None:
    file = CacheFile(tmp_path / "replies.db", 1_000_000)
    for key, content in (("json", b"{}"), ("packed", b"\x78\x01broken"), ("text", b"\xff\xfe")):
        file.put(key, content)
    file.close()
    kept = cache.Cache(tmp_path / "replies.db")
    assert [kept.get(key) for key in ("json", "packed", "text")] == [None] * 3
    kept.close()


def test_a_reply_that_an_earlier_version_kept_is_still_read(tmp_path: Path) -> None:
    kept = cache.Cache(tmp_path / "replies.db")
    kept.put("k", answer("Paris"))
    old = b'k\n{"reply":{"choices":[{"message":{"content":"Rome"}}],"usage":{"prompt_tokens":7}},"seconds":2.0}'
    with sqlite3.connect(tmp_path / "replies.db") as db:
        db.execute("UPDATE replies SET data = ?", (zlib.compress(old),))
    found = kept.get("k")
    assert found is not None
    assert (text_of(found), found.said.usage.input_tokens, found.seconds) == ("Rome", 7, 2.0)
