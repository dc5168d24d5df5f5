"""Which files are behind a part: found in the source, without running it."""

import os
import subprocess
from pathlib import Path

import pytest

from proctor.api import sources
from proctor.api.sources import files_of, git_state


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / (name.replace("__", "/").removesuffix("_txt") + (".txt" if name.endswith("_txt") else ".py"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_what_the_code_imports_counts_also_inside_a_function_and_through_others(folder: Path) -> None:
    written(
        folder,
        agent="from helper import constant\n\ndef answer(q):\n    import shop.prices\n    return q\n",
        helper="import json, click, proctor\nfrom deep import thing\n",
        deep="thing = 1\n",
        unrelated="x = 1\n",
        shop__prices="from . import taxes\nfrom .tools import a\n",
        shop__taxes="",
        shop__tools="a = 1",
    )
    (folder / "shop" / "__init__.py").write_text("")
    assert [*files_of("./agent.py:answer")] == [
        "agent.py",
        "deep.py",
        "helper.py",
        "shop/__init__.py",
        "shop/prices.py",
        "shop/taxes.py",
        "shop/tools.py",
    ]


def test_a_module_of_nobody_is_not_looked_for_file_by_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each evaluation asks: with twenty folders to import from, most of its time before the first sample went there."""
    looks: list[Path] = []
    is_file = sources.is_file

    def counted(path: Path) -> bool:
        looks.append(path)
        return is_file(path)

    monkeypatch.setattr(sources, "is_file", counted)
    for number in range(20):
        (folder / f"folder{number}").mkdir()
        monkeypatch.syspath_prepend(str(folder / f"folder{number}"))
    written(folder, agent="".join(f"import stranger{number}.part\n" for number in range(100)), folder7__mine="")
    written(folder, folder9__own__deep="", one="import own.deep, mine, own.none")
    assert [*files_of("agent.py")] == ["agent.py"]
    assert len(looks) < 10
    assert [*files_of("one.py")] == ["folder7/mine.py", "folder9/own/deep.py", "one.py"]


@pytest.mark.parametrize(
    "code",
    [
        "PROMPT = open('prompts/system.txt').read()",
        "from pathlib import Path\nPROMPT = Path(__file__).parent / 'prompts' / 'system.txt'",
        "import os\nPROMPT = os.path.join(os.path.dirname(__file__), 'prompts', 'system.txt')",
        "def answer(q, path='prompts/system.txt'): ...",
    ],
)
def test_a_prompt_that_the_code_names_counts(folder: Path, code: str) -> None:
    written(folder, agent=code, prompts__system_txt="Be brief.")
    assert [*files_of("agent.py:answer")] == ["agent.py", "prompts/system.txt"]


@pytest.mark.parametrize(
    "code",
    [
        "open('log.txt', 'a').write('x')",
        "from pathlib import Path\nPath('log.txt').write_text('x')",
        "from pathlib import Path\nLOG = Path('log.txt')\ndef answer(q): LOG.open(mode='w').write(q)",
    ],
)
def test_what_the_code_writes_does_not_count(folder: Path, code: str) -> None:
    written(folder, agent=code, log_txt="old")
    assert [*files_of("agent.py:answer")] == ["agent.py"]


def test_the_script_of_a_command_and_what_it_imports_count(folder: Path) -> None:
    written(folder, program="import helper", helper="")
    assert [*files_of("python program.py --fast")] == ["helper.py", "program.py"]


def test_the_files_of_a_folder_count(folder: Path) -> None:
    written(folder, shop__agent="import prices", shop__prices="")
    (folder / "shop" / "root_agent.yaml").write_text("name: shop")
    assert [*files_of("shop")] == ["agent.py", "prices.py", "root_agent.yaml"]


def test_the_dockerfile_of_a_folder_counts(folder: Path) -> None:
    (folder / "image").mkdir()
    (folder / "image" / "Dockerfile").write_text("FROM scratch\n")
    assert list(files_of(f"container:{folder / 'image'}")) == ["Dockerfile"]


def test_a_function_is_known_by_its_module() -> None:
    assert "test_sources.py" in files_of(None, written)


@pytest.mark.parametrize("name", ["bfcl", "openai:gpt-4o", "baseline:null", "http://localhost:1/x", "", "a\0b", "'"])
def test_a_name_that_means_no_file_has_none(folder: Path, name: str) -> None:
    assert files_of(name, Path, len) == {}


def test_broken_and_endless_code_is_compared_and_does_no_harm(folder: Path) -> None:
    written(folder, agent="def (", one="import two", two="import one")
    assert [*files_of("agent.py")] == ["agent.py"]
    assert [*files_of("one.py")] == ["one.py", "two.py"]


def test_the_digest_follows_the_file(folder: Path) -> None:
    written(folder, agent="x = 1")
    before = files_of("agent.py")
    written(folder, agent="x = 2")
    os.utime(folder / "agent.py", ns=(1, 1))
    assert files_of("agent.py") != before


def test_the_commit_and_whether_the_tree_is_clean(folder: Path) -> None:
    assert git_state(folder) == {}
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    assert git_state(folder) == {}
    written(folder, agent="x = 1")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "first"], check=True)
    state = git_state(folder)
    assert (len(state["commit"]), state["clean"]) == (40, True)
    written(folder, agent="x = 2")
    assert git_state(folder) == {**state, "clean": False}


@pytest.mark.parametrize(
    "code",
    [
        "import os\ncalls = os.open('calls.txt', os.O_WRONLY | os.O_CREAT | os.O_APPEND)",
        "log = open('calls.txt', 'a')",
        "def answer(q):\n    frame.to_csv('calls.txt')",
        "import numpy\nnumpy.savetxt('calls.txt', [])",
    ],
)
def test_a_file_that_the_code_writes_does_not_count(folder: Path, code: str) -> None:
    written(folder, agent=code, calls_txt="1")
    assert [*files_of("agent.py:answer")] == ["agent.py"]
