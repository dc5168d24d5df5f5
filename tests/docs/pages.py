"""The pages of the documentation, and the code blocks in them.

`console` blocks are run line by line (`$ ` in front), `python` blocks are run. A block with a file name, as its first line
(`# agent.py`) or behind its language (`json replies.jsonl`), is saved first. `sh` blocks are only checked for commands
and options that exist.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [file.parent for file in sorted(ROOT.glob("packages/*/src/*/__init__.py"))]  # the folder of each package
FENCE = re.compile(r"^```(\w*) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w.-]+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is where its text begins."""

    page: Path
    line: int
    language: str
    text: str
    title: str = ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file_name(self) -> str | None:
        """The file a reader saves it as."""
        found = FILE_NAME.match(self.text)
        return found[1] if found else self.title or None

    def commands(self) -> Iterator[tuple[str, str]]:
        """The command lines of a `console` or `sh` block, each with the output shown below it."""
        if self.language == "sh":
            yield from ((line, "") for line in self.text.replace("\\\n", " ").splitlines() if line.strip())
            return
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def source_files(pattern: str = "*.py") -> list[Path]:
    """Return the files of all packages, in one order."""
    return sorted(path for folder in SOURCES for path in folder.rglob(pattern))


def english_pages() -> list[Path]:
    """README and docs/, without the translations."""
    found = sorted(page for page in (ROOT / "docs").rglob("*.md") if "zh" not in page.relative_to(ROOT).parts)
    return [ROOT / "README.md", *found]


def chinese_page(english: Path) -> Path:
    """Where the translation of a page stands."""
    if english == ROOT / "README.md":
        return ROOT / "README.zh.md"
    return ROOT / "docs" / "zh" / english.relative_to(ROOT / "docs")


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 2, found[1], found[3], title=found[2])
        for found in FENCE.finditer(text)
    ]
