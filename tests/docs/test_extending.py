"""A package made of nothing but the blocks of the page on extending: it installs, its parts work, and they keep their promises."""

import os
import subprocess
import sys
from pathlib import Path

import pages
import pytest

PAGE = pages.ROOT / "docs" / "extending.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extending")
    for block in pages.blocks(PAGE):
        if block.file_name:
            (folder / block.file_name).write_text(block.text, encoding="utf-8")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", "installed", ".")
    call([sys.executable, *pip], folder)
    for path in folder.glob("my_*.py"):  # so that what is installed is found, and not these
        path.unlink()
    return folder


def call(words: list[str], folder: Path) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(folder / "installed"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # plugins of these tests, which take longer than what is tested
    }
    done = subprocess.run(words, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_parts_of_a_package_are_found_by_name(package: Path) -> None:
    (package / "questions.jsonl").write_text('{"id": "a", "question": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    [shown] = [block for block in pages.blocks(PAGE) if block.language == "sh"]
    for command, _ in shown.commands():
        call(command.split(), package)
    assert (package / "parrot.txt").read_text() == "a scored\n"
    assert (package / "shared" / "quality.db").is_file()
    assert "scored: 1" in call(["proctor", "runs", "count", "parrot", "--store", "team://quality"], package)
    assert "parrot" in call(["proctor", "list", "agents"], package)


def test_the_parts_of_the_package_keep_what_such_parts_promise(package: Path) -> None:
    alone = ["-p", "no:cacheprovider", "-p", "asyncio", "-p", "proctor_ci.pytest_plugin", "--rootdir", str(package)]
    said = call([sys.executable, "-m", "pytest", "-q", *alone, "test_my_parts.py"], package)
    assert " passed" in said
    assert "skipped" not in said
