"""Keys never reach a message or a store."""

import time

import pytest

from proctor.transport.redact import HIDDEN, keys_of_the_environment, quoted, redact


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
        "https://host.example/v1?alt=sse&key={key}",
        "GET https://host.example/file?sig={key}#top",
        "secret_key = {key}",
        "Ocp-Apim-Subscription-Key: {key}",
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
        "AKIAABCDEFGHIJKLMNOP",
        "xoxb-123456789012-abc",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123",
        "-----BEGIN RSA PRIVATE KEY-----\\nMIIabc\\n-----END RSA PRIVATE KEY-----",
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


def test_a_key_right_after_a_chinese_character_is_known() -> None:
    assert redact("密钥sk-abc123def无效") == f"密钥{HIDDEN}无效"


def test_a_word_after_basic_or_bearer_is_no_key() -> None:
    assert redact("a basic understanding of bearer tokens") == "a basic understanding of bearer tokens"


def test_only_random_values_are_taken_out_of_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "ab12cd34ef56ab12cd34")
    monkeypatch.setenv("MY_PASSWORD", "a-quite-ordinary-word")
    monkeypatch.setenv("MY_TOKEN", "12345678901234567890")
    assert "ab12cd34ef56ab12cd34" in keys_of_the_environment()
    assert not {"a-quite-ordinary-word", "12345678901234567890"} & set(keys_of_the_environment())


def test_an_exception_without_a_text_is_quoted_all_the_same() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise KeyError("no")

    assert quoted(Broken()) == "(KeyError in its __str__)"


def test_given_secrets_are_hidden() -> None:
    assert redact("x pa55 y", ["pa55", ""]) == f"x {HIDDEN} y"


def test_a_long_hostile_text_costs_no_time() -> None:
    started = time.process_time()
    for piece in (
        "bearer ",
        "sk-",
        "://a:",
        "api_key",
        "authorization:  ",
        "eyJabcdefgh-",
        "eyJabcdefgh.",
        "?key=",
        "-----BEGIN ",
    ):
        redact(piece * 20_000)
    assert time.process_time() - started < 2.0
