"""Chinese words against jieba 0.42.1: the same cuts, and how much quicker.

The text is that of Debian's manual pages where manpages-zh is installed (1.6 million characters), else our own pages.
CHINESE_MANUAL_PAGES names another folder.
"""

import gzip
import os
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.figure import Figure, in_turn, seconds_of
from proctor_judging.matching.chinese_words import words

ROOT = Path(__file__).parents[1]
MANUAL = Path(os.environ.get("CHINESE_MANUAL_PAGES", "/usr/share/man/zh_CN"))


def measure() -> Iterator[Figure]:
    """All lines with Chinese in them; both dictionaries are loaded before."""
    lines = _lines()
    jieba = _jieba()
    yield Figure(what="characters of natural Chinese text", value=sum(map(len, lines)), unit="characters")
    different = sum(words(line) != jieba.lcut(line) for line in lines)
    yield Figure(what="lines cut otherwise than by jieba", value=different, unit="lines", at_most=0)
    theirs, ours = in_turn(
        lambda: seconds_of(lambda: [jieba.lcut(line) for line in lines]),
        lambda: seconds_of(lambda: [words(line) for line in lines]),
        rounds=3,
    )
    yield Figure(what="jieba over ours", value=theirs / ours, at_least=5)


def _lines() -> list[str]:
    pages = [ROOT / "README.zh.md", *sorted((ROOT / "docs" / "zh").rglob("*.md"))]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    texts += [gzip.decompress(page.read_bytes()).decode("utf-8", "replace") for page in sorted(MANUAL.rglob("*.gz"))]
    return [line for text in texts for line in text.split("\n") if any("\u4e00" <= sign <= "\u9fd5" for sign in line)]


def _jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old syntax in the package
        jieba: Any = import_module("jieba")
    jieba.setLogLevel(60)
    jieba.initialize()
    return jieba
