"""The parts of the page on extending work in a package that is installed."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pages
import pytest

PAGE = pages.ROOT / "docs" / "extending.md"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The modules of the page with the entry points of its pyproject.toml, as an installer leaves them."""
    saved = {block.file_name: block.text for block in pages.blocks(PAGE) if block.file_name}
    for name, text in saved.items():
        if name.endswith(".py"):
            (tmp_path / name).write_text(text, encoding="utf-8")
    project = tomllib.loads(saved["pyproject.toml"])["project"]
    info = tmp_path / "my_proctor_parts-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return tmp_path


def test_the_parts_of_a_package_are_found_by_name(package: Path) -> None:
    (package / "questions.jsonl").write_text('{"id": "a", "question": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": str(package),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    [shown] = [block for block in pages.blocks(PAGE) if block.language == "sh"]
    for command, _ in shown.commands():
        done = subprocess.run(
            command.split(), check=False, cwd=package, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
    assert (package / "parrot.txt").read_text() == "a scored\n"
    assert (package / "shared" / "quality.db").is_file()
    counted = ["proctor", "runs", "count", "parrot", "--store", "team://quality"]
    printed = subprocess.run(counted, check=True, cwd=package, env=environment, capture_output=True, text=True).stdout
    assert "scored: 1" in printed
    listed = subprocess.run(
        ["proctor", "list", "agents"],
        check=False,
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "parrot" in listed.stdout
