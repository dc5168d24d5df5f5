"""The skill for coding agents holds: an agent without judgement, which follows its blocks to the letter, gets through."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pages
import yaml

SKILL = pages.ROOT / "skills" / "proctor" / "SKILL.md"
CODE = re.compile(r"  # exit code (\d+)$")


def test_the_skill_says_what_it_is_for() -> None:
    head = yaml.safe_load(SKILL.read_text(encoding="utf-8").split("---\n")[1])
    assert head["name"] == SKILL.parent.name
    assert "Use when" in head["description"]
    assert len(head["description"]) <= 1024  # what such files are read with


def test_an_agent_that_follows_the_skill_to_the_letter_evaluates(tmp_path: Path) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PROCTOR_STORE": str(tmp_path / "runs.db"),
        "PROCTOR_LANG": "en",
    }
    printed: dict[str, str] = {}
    for block in pages.blocks(SKILL):
        if block.file_name:
            (tmp_path / block.file_name).write_text(block.text, encoding="utf-8")
        for command, _ in block.commands() if block.language == "console" else ():
            code = int(found[1]) if (found := CODE.search(command)) else 0
            done = subprocess.run(
                ["bash", "-c", command],
                check=False,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
            printed[command] = done.stdout
    before = next(text for command, text in printed.items() if "--failures" in command)
    assert "sub-1" in before
    assert "add-1" not in before
    compared = json.loads(next(text for command, text in printed.items() if command.startswith("proctor compare")))
    assert compared["comparison"]["wins"] == ["sub-1", "sub-2", "sub-3"]
    assert "GO" in next(text for command, text in printed.items() if "gate" in command)
