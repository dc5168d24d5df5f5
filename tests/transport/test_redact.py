"""Keys never reach a message or a store."""

import time

import pytest

from proctor.transport.redact import HIDDEN, redact


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {key}",
        "'authorization': 'Bearer {key}'",
        '{"api_key": "{key}", "model": "m"}',
        "x-api-key={key}&q=1",
        "X-Goog-Api-Key: {key}",
        "Basic {key} is wrong",
        "https://me:{key}@proxy.example:8080/x",
        "set-cookie: {key}; path=/",
    ],
)
def test_a_key_is_known_by_where_it_stands(text: str) -> None:
    assert "abcDEF123456" not in redact(text.replace("{key}", "abcDEF123456"))
    assert HIDDEN in redact(text.replace("{key}", "abcDEF123456"))


@pytest.mark.parametrize(
    "key",
    [
        "sk-abc123",
        "sk-proj-Ab_c-123456789",
        "sk-ab****************yz",
        "ghp_abcdefghijkl1234",
        "AIzaSyA1234567890abc",
        "gsk_abcdefgh12345678",
    ],
)
def test_a_key_is_known_by_its_shape(key: str) -> None:
    assert redact(f"Incorrect API key provided: {key}.") == f"Incorrect API key provided: {HIDDEN}."


@pytest.mark.parametrize("name", ["MY_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "KEY"])
def test_what_a_secret_of_the_environment_holds_is_hidden(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "plain words, really")
    assert redact("it said: plain words, really!") == f"it said: {HIDDEN}!"


def test_what_is_no_secret_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONKEY", "a long value")
    monkeypatch.setenv("SOME_KEY", "short")
    text = "a long value, short, task-based risk-averse: 1234567890 tokens, the password was wrong, https://a.example/b:c@d"
    assert redact(text) == text


def test_given_secrets_are_hidden() -> None:
    assert redact("x pa55 y", ["pa55", ""]) == f"x {HIDDEN} y"


def test_a_long_hostile_text_costs_no_time() -> None:
    started = time.perf_counter()
    for piece in ("bearer ", "sk-", "://a:", "api_key", "authorization:  "):
        redact(piece * 20_000)
    assert time.perf_counter() - started < 2.0
