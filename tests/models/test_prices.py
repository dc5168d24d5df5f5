"""Prices of models from the table of genai-prices, where the settings name it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from endpoint import Endpoint, chat, data
from memory_store import MemoryStore

from proctor import Sample, Task, evaluate_async
from proctor.core.errors import MissingExtra
from proctor.core.trajectory import Usage
from proctor.models import ledger, openai, prices
from proctor.models.openai import ChatModel, options_of
from proctor_judging.scorers import embeddings

TASK = Task(name="t", samples=[Sample.ask("fr", "Capital of France?", target="Paris")], scorers=["exact"])
TABLE = 'price_table = "genai-prices"\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_without_the_setting_no_table_is_read() -> None:
    assert prices.table_of("gpt-4o", "https://api.openai.com/v1/chat/completions") is None


def test_a_request_is_priced_by_its_own_size_at_the_provider_of_its_address() -> None:
    Path("proctor.toml").write_text(TABLE, encoding="utf-8")
    table = prices.table_of("gpt-4o", "https://api.openai.com/v1/chat/completions")
    assert table is not None
    whole = table.cost(Usage(input_tokens=1_000_000, output_tokens=1_000_000))
    cached = table.cost(Usage(input_tokens=1_000_000, cached_tokens=1_000_000, output_tokens=1_000_000))
    assert 0 < cached < whole
    assert table.source.startswith("genai-prices ")
    assert "openai/gpt-4o" in table.source
    assert prices.table_of("gpt-4o", "http://localhost:8000/v1/chat/completions") is None, "one's own server"
    assert prices.table_of("no-such-model", "https://api.openai.com/v1/chat/completions") is None


def test_what_a_cache_is_given_has_its_own_price() -> None:
    Path("proctor.toml").write_text(TABLE, encoding="utf-8")
    table = prices.table_of("claude-sonnet-4-5", "https://api.anthropic.com/v1/messages")
    assert table is not None
    plain, written, kept = (
        table.cost(Usage(input_tokens=1000, cache_write_tokens=count, cache_write_1h_tokens=long))
        for count, long in ((0, 0), (1000, 0), (1000, 1000))
    )
    assert written == pytest.approx(1.25 * plain)
    assert kept == pytest.approx(2.0 * plain)


def test_a_price_of_ones_own_wins() -> None:
    Path("proctor.toml").write_text(TABLE + '[prices."gpt-4o"]\ninput = 1.0\noutput = 1.0\n', encoding="utf-8")
    assert prices.table_of("gpt-4o", "https://api.openai.com/v1/chat/completions") is None
    assert not ChatModel("gpt-4o", options_of({})).reports_cost


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("proctor.toml").write_text(TABLE, encoding="utf-8")
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    with pytest.raises(MissingExtra, match="prices"):
        ChatModel("gpt-4o", options_of({}))


async def test_a_run_counts_the_cost_and_keeps_the_price_and_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("proctor.toml").write_text(TABLE, encoding="utf-8")
    real: Any = prices.table_of("gpt-4o", "https://api.openai.com/v1")
    monkeypatch.setattr(openai, "prices", SimpleNamespace(table_of=lambda model, url: real))
    async with Endpoint(chat("Paris")) as endpoint:
        run = await evaluate_async(
            TASK, agent="openai:gpt-4o", agent_options={"base_url": endpoint.url}, store=MemoryStore()
        )
    assert run.usage.cost == pytest.approx(real.cost(Usage(input_tokens=7, output_tokens=3)))
    assert run.record.provenance["price"] == real.source


async def test_the_tokens_of_an_embedder_have_their_price_too(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("proctor.toml").write_text(TABLE, encoding="utf-8")
    real: Any = prices.table_of("text-embedding-3-small", "https://api.openai.com/v1/embeddings")
    monkeypatch.setattr(embeddings, "prices", SimpleNamespace(table_of=lambda model, url: real))
    answer = data({"data": [{"embedding": [1.0], "index": 0}], "usage": {"prompt_tokens": 1_000_000}})
    async with Endpoint(answer) as endpoint:
        spent = ledger.begin()
        await embeddings.Embedder("openai:text-embedding-3-small", base_url=endpoint.url).embed(["a"])
    assert spent.usage.cost == pytest.approx(real.cost(Usage(input_tokens=1_000_000)))
    assert spent.usage.cost


async def test_a_price_that_is_not_known_is_said() -> None:
    Path("proctor.toml").write_text(TABLE, encoding="utf-8")
    async with Endpoint(chat("Paris")) as endpoint:
        run = await evaluate_async(
            TASK,
            agent="openai:gpt-4o",
            agent_options={"base_url": endpoint.url},
            store=MemoryStore(),
        )
    assert run.usage.cost is None
    assert "The price of gpt-4o is not known" in str([str(one) for one in run.record.warnings])
