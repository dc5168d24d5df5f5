"""What a decoder found wrong is said in the reader's language, with the place."""

import json

import msgspec
import pytest

from proctor.core.validation import in_words
from proctor.i18n import speak


def _of_json(text: str) -> str:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads(text)
    return speak(in_words(raised.value), "zh")


@pytest.mark.parametrize(
    "text",
    ['{"a":"\\x"}', '{"a":"\\u12"}', "[1,]", "{a:1}", '{"a" 1}', "[1 2]", "{} {}", '"abc', '"a\nb"', "", '{"a":'],
)
def test_what_the_json_module_finds_is_said_in_chinese(text: str) -> None:
    said = _of_json(text)
    assert not [sign for sign in said if sign.isascii() and sign.isalpha()], said
    assert said.endswith(" 列）")


def test_what_msgspec_finds_in_a_json_text_is_said_in_chinese() -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.json.decode(b"[1]", type=dict[str, int])
    assert speak(in_words(raised.value), "zh") == "应为 对象，实为 列表"
    assert (
        speak(in_words(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")), "zh")
        == "第 0 个字节不是 UTF-8"
    )
