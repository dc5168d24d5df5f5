"""The documentation holds: its examples run, and both languages say the same."""

import doctest
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import click
import pages
import pytest
from pages import ROOT, Block
from preloaded import preloaded

from proctor.config import settings

ENGLISH = pages.english_pages()
NAMES = [str(page.relative_to(ROOT)) for page in ENGLISH]
RUNNABLE = [page for page in ENGLISH if {block.language for block in pages.blocks(page)} & {"python", "console"}]
MAKE_RUNS = {"run", "score", "judge items", "judge winrate", "judge probe", "data generate", "adk eval"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
LONG = {"miniwob.md", "agentdojo.md"}  # their runs take one sample, and with `--torture` as many as the page says


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an OpenAI-compatible endpoint on this machine."""
    port_file = tmp_path_factory.mktemp("endpoint") / "port"
    command = [sys.executable, str(ROOT / "bench" / "mock_server.py"), "--port", "0", "--latency-ms", "0"]
    with subprocess.Popen([*command, "--port-file", str(port_file)], stdout=subprocess.DEVNULL) as server:
        try:
            yield f"http://127.0.0.1:{_port(port_file, server)}/v1"
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def usual_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One store for all pages, as a reader has who follows one after the other: none may trip over runs of another."""
    return tmp_path_factory.mktemp("usual") / "runs.db"


@pytest.fixture(scope="module")
def programs(endpoint: str, usual_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with preloaded(tmp_path_factory.mktemp("programs"), _environment(endpoint, usual_store)) as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNABLE, ids=[str(page.relative_to(ROOT)) for page in RUNNABLE])
def test_the_examples_of_a_page_run_in_order(
    page: Path, endpoint: str, usual_store: Path, programs: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """In processes that have imported Proctor already; those of the README import it themselves, in the test below."""
    environment = _with_programs(_environment(endpoint, usual_store), programs)
    limit = " --limit 1" if page.name in LONG and not pytestconfig.getoption("--torture") else ""
    for block in pages.blocks(page):
        _follow(block, tmp_path, environment, limit=limit)


@pytest.mark.parametrize("of", [ENGLISH, [*map(pages.chinese_page, ENGLISH)]], ids=["en", "zh"])
def test_no_two_pages_give_a_run_the_same_name(of: list[Path]) -> None:
    """The usual store is one for all folders: a reader who follows the pages in order never meets a run of another page."""
    made: dict[str, set[str]] = {}
    for page in of:
        for block in pages.blocks(page):
            if block.language == "console":
                for command, _ in block.commands():
                    words = shlex.split(command, comments=True)
                    if MAKE_RUNS & {" ".join(words[1:2]), " ".join(words[1:3])} and "--run" in words:
                        made.setdefault(words[words.index("--run") + 1], set()).add(page.name)
            for name in re.findall(r'run_id="([^"]+)"', block.text if block.language == "python" else ""):
                made.setdefault(name, set()).add(page.name)
    assert {name: where for name, where in made.items() if len(where) > 1} == {}


@pytest.mark.slow
@pytest.mark.parametrize("names", [("start",), pytest.param(("start", "my-agent"), marks=pytest.mark.torture)])
def test_the_first_pages_run_in_order_in_one_store_at_80_columns(
    names: tuple[str, ...], endpoint: str, programs: Path, tmp_path: Path
) -> None:
    """README and others in Chinese (the code is the same), as a newcomer reads them, with the usual store.

    The README in processes that import Proctor themselves.
    """
    newcomer = _environment(endpoint, tmp_path / "runs.db") | {"COLUMNS": "80", "PROCTOR_LANG": "zh"}
    for page in (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in names)):
        folder = tmp_path / page.stem
        folder.mkdir()
        environment = newcomer if page.name == "README.md" else _with_programs(newcomer, programs)
        for block in pages.blocks(pages.chinese_page(page)):
            _follow(block, folder, environment, compares=False)


def test_the_shown_settings_are_read(tmp_path: Path) -> None:
    [shown] = [block for block in pages.blocks(ROOT / "docs" / "commands.md") if block.file_name == "proctor.toml"]
    (tmp_path / "proctor.toml").write_text(shown.text, encoding="utf-8")
    read = settings(tmp_path)
    assert read.limits is not None
    assert (read.attempts, read.limits.seconds, read.budget.minutes, read.prices["my-model"].output) == (
        3,
        120,
        30,
        1.5,
    )


def test_shown_output_is_compared_with_what_was_printed() -> None:
    assert _matches("accuracy  0.5 ...\n", "accuracy 0.5 [0.1, 0.9]\n")
    assert not _matches("accuracy 0.6\n", "accuracy 0.5\n")


@pytest.mark.parametrize("page", ENGLISH, ids=NAMES)
def test_a_page_has_the_same_blocks_in_both_languages(page: Path) -> None:
    translated = pages.chinese_page(page)
    assert translated.is_file(), f"{translated.relative_to(ROOT)} is missing"
    english, chinese = ([b for b in pages.blocks(p) if b.language != "text"] for p in (page, translated))
    assert [(b.language, b.text) for b in english] == [(b.language, b.text) for b in chinese]


@pytest.mark.parametrize("page", ENGLISH, ids=NAMES)
def test_a_page_has_the_same_headings_in_both_languages(page: Path) -> None:
    levels = [[len(marks) for marks in _headings(p)] for p in (page, pages.chinese_page(page))]
    assert levels[0] == levels[1]


def test_every_translated_page_has_an_original() -> None:
    translated = set((ROOT / "docs" / "zh").rglob("*.md")) | {ROOT / "README.zh.md"}
    assert translated == {pages.chinese_page(page) for page in ENGLISH}


@pytest.mark.parametrize("page", [*ENGLISH, *map(pages.chinese_page, ENGLISH), ROOT / "CONTRIBUTING.md"])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("#"):
            assert (page.parent / unquote(target).partition("#")[0]).exists(), f"{page}: {target}"


@pytest.mark.parametrize("page", ENGLISH, ids=NAMES)
def test_shown_commands_and_their_options_exist(page: Path) -> None:
    for block in pages.blocks(page):
        if block.language in ("sh", "console"):
            for line, _ in block.commands():
                words = shlex.split(line, comments=True)
                if words[:1] == ["proctor"]:
                    _check_command(words[1:], f"{block}: {line}")


def _environment(endpoint: str, store: Path) -> dict[str, str]:
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OPENAI_BASE_URL": endpoint,
        "OPENAI_API_KEY": "not-a-key",
        "PROCTOR_STORE": str(store),
        "COLUMNS": "120",
        "PYTHONWARNINGS": "error",
    }


def _with_programs(environment: dict[str, str], programs: Path) -> dict[str, str]:
    return environment | {"PATH": f"{programs}{os.pathsep}{environment['PATH']}"}


def _follow(block: Block, folder: Path, environment: dict[str, str], *, compares: bool = True, limit: str = "") -> None:
    """Do what a reader does with a block: save it, or type what is in it."""
    if block.language == "python":
        name = block.file_name or "example.py"
        (folder / name).write_text(block.text, encoding="utf-8")
        _run(["python", name], block, folder, environment)
    elif block.language == "console":
        for command, shown in block.commands():
            if command.startswith(("proctor ", "python ")):
                shortened = command + limit if command.startswith("proctor run ") else command
                printed = _run(["bash", "-c", shortened], block, folder, environment)
                assert not compares or _matches(shown, printed), f"{block}: `{command}` printed:\n{printed}"
    elif block.file_name:
        (folder / block.file_name).write_text(block.text, encoding="utf-8")


def _port(file: Path, server: subprocess.Popen[bytes]) -> str:
    while server.poll() is None:
        if file.exists() and (said := file.read_text().split()):
            return said[0]
        time.sleep(0.02)
    raise RuntimeError(f"the server ended with {server.returncode}")


def _check_command(words: list[str], where: str) -> None:
    from proctor.cli import app

    command: click.Command = app
    context = click.Context(app)
    known = _options(command)
    while isinstance(command, click.Group) and words:
        child = command.get_command(context, words[0])
        if child is None:
            break
        command, words = child, words[1:]
        known |= _options(command)
    is_whole = not isinstance(command, click.Group) or not words or words[0].startswith("-")
    assert is_whole, f"{where}: there is no such command"
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in known, f"{where}: there is no {word}"


def _options(command: click.Command) -> set[str]:
    parameters = command.params
    return {"--help"}.union(*(parameter.opts + parameter.secondary_opts for parameter in parameters))


def _headings(page: Path) -> list[str]:
    prose = pages.FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"^(#+) ", prose, flags=re.MULTILINE)


def _run(command: list[str], block: Block, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{block}: {command[-1]} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _matches(shown: str, printed: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return not shown.strip() or doctest.OutputChecker().check_output(shown.strip(), printed.strip(), flags)
