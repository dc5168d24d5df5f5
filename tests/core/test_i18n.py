"""Languages."""

from pathlib import Path

import pytest

from proctor.cli import words
from proctor.core.sentence import Sentence, say
from proctor.i18n import language, speak


@pytest.mark.parametrize(
    ("asked", "environment", "expected"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        (None, {"PROCTOR_LANG": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {}, "en"),
    ],
)
def test_the_language_is_the_one_asked_for_or_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, asked: str | None, environment: dict[str, str], expected: str
) -> None:
    for name in ("PROCTOR_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language(asked) == expected


@pytest.mark.parametrize(("environment", "expected"), [({"LANG": "en_US.UTF-8"}, "zh"), ({"PROCTOR_LANG": "en"}, "en")])
def test_the_language_of_a_project_wins_over_the_locale_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, environment: dict[str, str], expected: str
) -> None:
    (tmp_path / "proctor.toml").write_text('lang = "zh"\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language() == expected
    assert language("en") == "en"


@pytest.mark.parametrize("text", ["lang = ", 'lang = "fr"\n', ""])
def test_without_a_language_of_the_project_the_locale_is_spoken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    (tmp_path / "proctor.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert language() == "zh"


def test_a_sentence_inside_a_sentence_is_translated_too() -> None:
    inner = say("{done} of {total} samples", done=1, total=2)
    assert speak(say("Not in any catalogue: {what}", what=inner), "zh") == "Not in any catalogue: 1 / 2 个样本"


def test_a_stored_sentence_without_its_values_is_shown_with_its_braces() -> None:
    for broken in (Sentence("{a} of {b}", {"a": 1}), Sentence("{a[0]}", {"a": 1}), Sentence("{a", {"a": 1})):
        assert speak(broken, "en") == broken.text


def test_every_name_that_may_be_meant_has_quotation_marks_of_its_own() -> None:
    from proctor.core.near import did_you_mean

    asked = did_you_mean(["simple_java", "simple_python", "live"])
    assert speak(asked, "zh") == "你是不是想输入“simple_java”、“simple_python”、“live”？"


def test_what_the_system_says_of_a_file_is_translated_and_a_text_of_others_is_not() -> None:
    sentence = say("{path} cannot be read: {error}.", path="x", error="Is a directory")
    assert speak(sentence, "zh") == "无法读取 x：它是目录。"
    assert speak(sentence, "en") == "x cannot be read: Is a directory."
    assert "Runs" in speak(say("{path} cannot be read: {error}.", path="x", error="Runs"), "zh")


@pytest.mark.parametrize("number", [1, 2])
def test_no_test_speaks_the_language_that_the_one_before_it_chose(number: int) -> None:
    assert words.lang() == "en"
    words.choose("zh")
    assert words.lang() == "zh"
