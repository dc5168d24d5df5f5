import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from proctor.runtime.visible import one_line, visible


@given(st.text(alphabet=st.characters(min_codepoint=0, max_codepoint=0x10FFFF)))
def test_no_text_keeps_a_control_bidi_or_half_character(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]
    assert not [
        char
        for char in shown
        if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Lo"))))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_chinese_emoji_and_joiners_stay() -> None:
    assert visible("你好，世界 👩\u200d🔬") == "你好，世界 👩\u200d🔬"


def test_invisible_instructions_in_tag_characters_are_shown() -> None:
    assert visible("a\U000e0041") == "a⟨U+E0041⟩"


def test_an_escape_sequence_is_shown_as_a_sign() -> None:
    assert visible("\x1b]0;title\x07\x9b2J") == "␛]0;title␇⟨U+009B⟩2J"


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_and_no_longer_than_asked(text: str, characters: int) -> None:
    line = one_line(text, characters)
    assert "\n" not in line
    assert "\t" not in line
    assert len(line) <= characters + 1
