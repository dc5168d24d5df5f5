"""docs/commands.md says of each command what its help says."""

import subprocess
import sys
from pathlib import Path

import commands_page
import pages
import pytest


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_sections_are_made_from_the_commands(lang: str, request: pytest.FixtureRequest) -> None:
    path = commands_page.PAGE if lang == "en" else pages.chinese_page(commands_page.PAGE)
    script = [sys.executable, str(Path(commands_page.__file__)), lang]  # a process of its own, for the language
    text = subprocess.run(script, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    if request.config.getoption("--rewrite-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run `make golden`"
