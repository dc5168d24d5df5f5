"""Avoided words do not come back: how often each stands in code and docs may only go down (see CONTRIBUTING)."""

import re

import pages
import pytest

SOURCE = pages.source_files()
ENGLISH = [page for page in pages.english_pages() if "decisions" not in page.parts]
MOST = {  # the pattern: how often it may stand in the code, and on the pages
    r"half characters?": (1, 0),
    r"\bpurse\b": (0, 0),
    r"[Ee]rrors? of ours": (0, 0),
    r"a person's": (0, 1),
    r"\b[Ss]omebody\b": (4, 2),
    r"\banew\b": (2, 2),
    r"held against|[Hh]old .* against": (1, 3),
    r"(?:gone|goes|go|going) on with": (4, 8),
    r"so many\b": (8, 4),
    r"stands? for": (5, 0),
    r'^\s*"""Whether': (4, 0),
    r"\bblanks?\b": (83, 15),
    r"\bbeside\b": (14, 0),
    r"\bbehind\b": (40, 0),
    r"\btold\b": (110, 9),
}


@pytest.mark.parametrize("pattern", MOST)
def test_an_avoided_word_does_not_come_back(pattern: str) -> None:
    found = [
        sum(len(re.findall(pattern, one.read_text(encoding="utf-8"), re.M)) for one in of) for of in (SOURCE, ENGLISH)
    ]
    most = MOST[pattern]
    assert found[0] <= most[0], f"{pattern} stands {found[0]} times in the code, {most[0]} before; write it another way"
    assert found[1] <= most[1], (
        f"{pattern} stands {found[1]} times on the pages, {most[1]} before; write it another way"
    )


def test_the_reader_is_addressed_as_a_colleague() -> None:
    catalogue = "".join(path.read_text(encoding="utf-8") for path in pages.source_files("zh.toml"))
    chinese = [pages.chinese_page(page).read_text(encoding="utf-8") for page in pages.english_pages()]
    assert not any("您" in text for text in (catalogue, *chinese))
