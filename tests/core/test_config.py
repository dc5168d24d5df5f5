"""Settings of a project."""

from pathlib import Path

import msgspec
import pytest

from proctor import config
from proctor.core.errors import BadInput


class Few(msgspec.Struct, frozen=True, kw_only=True):
    temperature: float = 0.0
    max_tokens: int | None = None


def test_the_nearest_file_above_counts(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.proctor]\nagent = "openai:m"\n', encoding="utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert config.settings(below).agent == "openai:m"
    (below / "proctor.toml").write_text("concurrency = 8\n", encoding="utf-8")
    assert config.settings(below).concurrency == 8
    assert config.settings(below).agent is None


@pytest.mark.parametrize(
    "text",
    [
        "[tool.proctor]\nconcurrency = 8",
        "[ \"tool\" . 'proctor' ]\nconcurrency = 8",
        "[tool]\nother = 1\nproctor.concurrency = 8",
        "[project]\nname = 'p'\n\t[tool.proctor]\r\nconcurrency = 8",
        "tool.proctor.concurrency = 8",
        "tool = {proctor = {concurrency = 8}}",
    ],
)
def test_the_table_of_a_shared_file_is_found_however_it_is_spelt(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert config.settings(tmp_path).concurrency == 8


def test_a_shared_file_of_others_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'proctor'\n[tool.ruff]\nthis is broken", encoding="utf-8"
    )
    assert config.settings(tmp_path) == config.ProjectSettings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agnet = 'x'", "there is no 'agnet'"),
        ("concurrency = 'many'", "'concurrency': expected a whole number or nothing, got a text"),
        ("concurrency = ", "is no valid TOML"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "proctor.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        config.settings(tmp_path)
    assert message in str(caught.value)
    assert "proctor.toml" in str(caught.value)


def test_options_become_typed_values_or_a_clear_error() -> None:
    assert config.converted({"temperature": "0.5"}, Few, "The agent") == Few(temperature=0.5)
    with pytest.raises(BadInput, match="Did you mean 'temperature'"):
        config.converted({"temprature": 1}, Few, "The agent")
    with pytest.raises(BadInput, match="max_tokens"):
        config.converted({"max_tokens": "many"}, Few, "The agent")


def test_a_flag_wins_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    found = config.ProjectSettings(store="file.db")
    monkeypatch.delenv("PROCTOR_STORE", raising=False)
    assert config.store_url(None, found) == "file.db"
    monkeypatch.setenv("PROCTOR_STORE", "env.db")
    assert config.store_url(None, found) == "env.db"
    assert config.store_url("flag.db", found) == "flag.db"
