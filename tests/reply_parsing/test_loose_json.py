"""JSON out of the replies of models: recorded shapes with what is meant by them, or that they are refused."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proctor_judging.replies.loose_json import MOST_CHARACTERS, Unreadable, read

DATA = Path(__file__).parents[1] / "data" / "loose_json.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 200
    assert sum("refused" in case for case in CASES) >= 30


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_reply_is_read_as_it_was_meant_or_refused(case: dict[str, Any]) -> None:
    if case.get("refused"):
        with pytest.raises(Unreadable) as caught:
            read(case["reply"])
        assert str(caught.value.reason)
        return
    found = read(case["reply"])
    assert found == case["value"]
    assert json.dumps(found) == json.dumps(case["value"])  # 5 is not 5.0, True is not 1


def test_a_legal_form_feed_is_never_made_of_a_command() -> None:
    assert json.loads('"\\frac"') == "\frac", "which is why a legal parse proves nothing"
    assert read('{"x": "$\\frac12$"}') == {"x": r"$\frac12$"}


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        "[" * 200_000,
        '{"a":' * 50_000,
        '{"a":1}' * 30_000,
        '{"a":"' + "\\" * 200_000 + '"}',
        '{"a":"' + "\\nu " * 50_000 + '"}',
        '{"a":"' + "$\\nu$ \\\\( " * 20_000 + '"}',
        "{/*" * 60_000,
        "[1," * 60_000,
        "['a\\" * 50_000,
        "```\n" * 50_000,
    ],
    ids=range(11),
)
def test_hostile_replies_end_soon_in_a_value_or_a_refusal(text: str) -> None:
    with suppress(Unreadable):  # and no other error
        read(text)


def test_a_reply_that_is_too_long_is_refused() -> None:
    with pytest.raises(Unreadable, match="longer than"):
        read(" " * (MOST_CHARACTERS + 1))


def test_the_reason_shows_the_place() -> None:
    with pytest.raises(Unreadable, match=r"breaks at character 11.*hi"):
        read('{"a": "x " hi"}')
