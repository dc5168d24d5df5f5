"""A page answers one question in a few minutes: ceilings of its words, and of all pages together, which only fall.

Words are those of prose and tables, outside code blocks. What is generated (commands, API, findings) has no ceiling, and neither have decisions: they
are history, which nobody reads through. Chinese has no spaces: 1.6 characters count as a word.
"""

import re
from pathlib import Path

import pages
import pytest
from pages import ROOT

GENERATED = {"commands.md", "api.md", "benchmark-findings.md"}
NAVIGATION = "README.md"  # the doors: a row for each page, with its question
MOST = 1200
TOGETHER = 54_880
SAME_WORDS = 16  # so many in a row are a sentence said twice
SAID_TWICE = 0


def prose(page: Path) -> str:
    return pages.FENCE.sub("", page.read_text(encoding="utf-8"))


def count(text: str) -> int:
    characters = len(re.findall(r"[\u3400-\u9fff]", text))
    others = re.sub(r"[\u3400-\u9fff，。、；：“”（）？！]", " ", text)
    return round(characters / 1.6) + len(others.split())


def pages_of(language: str) -> list[Path]:
    folder = ROOT / "docs" / language if language != "en" else ROOT / "docs"
    return sorted(page for page in folder.glob("*.md") if page.name not in {*GENERATED, NAVIGATION})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_page_is_longer_than_a_few_minutes(language: str) -> None:
    length = {page.name: count(prose(page)) for page in pages_of(language)}
    longer = {name: words for name, words in length.items() if words > MOST}
    assert not longer, "cut it, or split it where it answers a second question"
    assert sum(length.values()) <= TOGETHER


def test_the_readme_is_one_screen() -> None:
    assert count(prose(ROOT / "README.md")) <= 450
    assert count(prose(ROOT / "README.zh.md")) <= 450


def test_a_sentence_is_said_once() -> None:
    """Nor does a page repeat what the generated ones say."""
    seen: dict[tuple[str, ...], str] = {}
    twice = []
    for page in (
        *(ROOT / "docs" / name for name in sorted(GENERATED)),
        *pages_of("en")[1:],
    ):  # README.md has the questions of all
        said = re.findall(r"[\w'-]+", prose(page).lower())
        for start in range(len(said) - SAME_WORDS + 1):
            words = tuple(said[start : start + SAME_WORDS])
            if seen.setdefault(words, page.name) != page.name:
                twice.append((seen[words], page.name, " ".join(words)))
    assert len(twice) <= SAID_TWICE, twice
