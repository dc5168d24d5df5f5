"""Chinese words are cut as jieba 0.42.1 cuts them."""

import random

from chinese_texts import chinese_lines
from reference_packages import reference

from proctor_judging.matching.chinese_words import words

ODD = [
    *list("㐀㐁﨑龦鿰𠀀①é𝑎½√３ａ\n\t \x1c\u3000\x85。，；（）“”/="),
    "\r\n",
    "C++",
    "c#",
    "AT&T",
    "T恤",
    "C盘",
    "4S店",
    "阿Q",
]
ASCII = "aAbZ09+#&._%-"


def test_natural_text_is_cut_the_same_way() -> None:
    jieba = reference("jieba")
    lines = chinese_lines()
    assert sum(map(len, lines)) > 20_000
    assert [line for line in lines if words(line) != jieba.lcut(line)] == []


def test_formulas_names_and_rare_signs_are_cut_the_same_way() -> None:
    jieba = reference("jieba")
    draw = random.Random(1)
    han = [sign for line in chinese_lines()[:400] for sign in line if "\u4e00" <= sign <= "\u9fd5"]
    rare = [chr(draw.randrange(0x4E00, 0x9FD6)) for _ in range(500)]
    for pool in (list(ASCII) + draw.choices(han, k=6), ODD + list(ASCII) + draw.choices(han, k=30), rare + list(ASCII)):
        for _ in range(1200):
            text = "".join(draw.choices(pool, k=draw.randint(1, 14)))
            assert words(text) == jieba.lcut(text), repr(text)


def test_words_put_together_are_the_text_even_with_half_characters() -> None:
    for text in ("", "a\ud800中", "\r\n", "TF-IDF与C++11"):
        assert "".join(words(text)) == text
