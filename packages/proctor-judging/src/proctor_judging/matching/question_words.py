"""The words of a question that a sentence may repeat: without small words, in the form that all forms of a word share."""

import re
from functools import cache, lru_cache
from importlib.resources import files

from proctor_judging.matching.patterns import compile_later

HAN = r"\u3400-\u9fff"
HAN_LETTER = compile_later(f"[{HAN}]")
MOST_CHARACTERS = 4_000
ASKED_KIND = compile_later(
    r"\b(?:which|what) (?:year|month|day|date|percentage|city|country|colou?r|kind|type)\b|哪一?年", re.IGNORECASE
)
PIECE_END = compile_later(
    r"[.!;。！；]\s*(?=\S)|:\s(?=(?:which|what|who|where|when) )|\?\s(?=(?:Which|What|Who|Where|When) )|[？?]\s*(?=[\u3400-\u9fff])|[,，\n]\s*"
)
AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|may|must|am)"
POLAR_SENTENCE = compile_later(
    rf"(?:^|[.!?。！？][\"”]?\s|:\s|\n)\s*(?=(?:(?:and|so|but|then|ok(?:ay)?|now|also)[, ]\s?)?{AUXILIARY}\s[^.!?\n]{{3,}}\?\s*$)",
    re.IGNORECASE,
)  # the last sentence, after a passage in which there may be a `who`
ASKS = compile_later(
    r"[^,，.。;；\n]{0,200}?(?:\b(?:what|which|who|whose|whom|where|when|why|how)\b|谁|什么|哪|多[少大高长远久重快深宽厚]|几|怎)",
    re.IGNORECASE,
)
ENDING = compile_later(r"(?<=\w{3})(?:ings?|ed|es|e|s)$")
LAST_Y = compile_later(r"(?<=[a-z]{3})i$")  # studied
ECHO_WORD = compile_later(rf"[{HAN}]|[^\W_{HAN}]+")
SMALL_WORDS = (
    "the a an it its he she they we i this that these those there in on at by from for with his her their our my your of to as when "
    "while after before during since because so therefore thus hence however one two both most all some many what which who yes no "
    "according originally founded based located"
)
NOT_A_NAME = frozenset(SMALL_WORDS.split())
WORDS_OF_QUESTIONS = (
    "is are was were be been did does do has have had how where whose whom why can could would should will many much name called into "
    "about than then out up not never s t 的 是 了 在 谁 什 么 哪 里 多 少 几 由 被 写 位 个 吗 呢 于 等 有 为 年 时 候 何"
)
EMPTY_WORDS = NOT_A_NAME | frozenset(WORDS_OF_QUESTIONS.split())


@lru_cache(maxsize=512)
def interrogative(question: str) -> str:
    """Return the clause that asks the question, and what follows; the whole text if no clause names what is asked.

    >>> interrogative("Ann has 5 apples. If she eats 2, how many apples are left?"), interrogative("甲有3个，乙有几个？")
    ('how many apples are left?', '乙有几个？')
    """
    question = question[-MOST_CHARACTERS:]
    starts = [0, *(match.end() for match in PIECE_END.finditer(question))]
    until = max(question.rfind("?"), question.rfind("？"))
    until = len(question) if until < 0 else until
    asking = [start for start in starts if ASKS.match(question, start)]
    asking = [start for start in asking if start < until] or asking  # and what follows the question may have `who`, too
    polar = [match.end() for match in POLAR_SENTENCE.finditer(question)]
    if polar and not ASKS.match(question, polar[-1]):
        return question[polar[-1] :]
    return question[asking[-1] :] if asking and echo(question[asking[-1] :]) else question


def echo(text: str) -> set[str]:
    return {stem(word) for word in ECHO_WORD.findall(text[:MOST_CHARACTERS]) if word.casefold() not in EMPTY_WORDS}


@lru_cache(maxsize=4_096)  # the same few thousand words come again and again
def stem(word: str) -> str:
    """Return the part of a word that its forms share: `sell` of `sold`, `paint` of `paintings`."""
    word = word.casefold()
    return LAST_Y.sub("y", ENDING.sub("", _irregular().get(word, word)))[:5]


@cache
def _irregular() -> dict[str, str]:
    return {form: verb for verb, *forms in map(str.split, table_lines("verbs.txt")) for form in forms}


def table_lines(name: str) -> list[str]:
    lines = files("proctor_judging.matching").joinpath(name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]
