"""Natural Chinese text: our own pages, and Debian's Chinese manual pages where they are installed (manpages-zh)."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MANUAL = Path(os.environ.get("CHINESE_MANUAL_PAGES", "/usr/share/man/zh_CN"))


def chinese_lines() -> list[str]:
    """Every line with a Chinese character."""
    return [
        line for text in _texts() for line in text.split("\n") if any("\u4e00" <= sign <= "\u9fd5" for sign in line)
    ]


def _texts() -> Iterator[str]:
    pages = [ROOT / "README.zh.md", *sorted((ROOT / "docs" / "zh").rglob("*.md"))]
    for page in [
        *pages,
        *sorted((ROOT / "packages").rglob("zh.toml")),
        *sorted((ROOT / "packages").rglob("*_sample.json")),
    ]:
        yield page.read_text(encoding="utf-8")
    for page in sorted(MANUAL.rglob("*.gz")):
        yield gzip.decompress(page.read_bytes()).decode("utf-8", errors="replace")
