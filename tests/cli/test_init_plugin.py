"""What `proctor init plugin` writes installs, is found by its name, and keeps what such a part promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor.cli import app
from proctor.cli.plugin_files import PARTS


def call(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["--lang", "en", *words], prog_name="proctor")
    return done.exit_code, done.output


def run(*words: str, folder: Path) -> str:
    """Run a program with the installed packages of a folder, and with none of the settings of these tests."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ
        | {
            "PYTHONPATH": str(folder / "installed"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # plugins of these tests, which take longer than what is tested
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a written package for each kind of part, all of them installed."""
    folder = tmp_path_factory.mktemp("plugins")
    for kind in PARTS:
        assert call("init", "plugin", str(folder / f"my-{kind}"), "--part", kind)[0] == 0
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", "installed")
    run(*pip, *(f"./my-{kind}" for kind in PARTS), folder=folder)
    return folder


@pytest.mark.slow
def test_the_contract_suites_of_each_written_part_pass(installed: Path) -> None:
    alone = ("-p", "no:cacheprovider", "-p", "asyncio", "-p", "proctor_ci.pytest_plugin", "--rootdir", str(installed))
    said = run("-m", "pytest", "-q", *alone, *(f"my-{kind}" for kind in PARTS), folder=installed)
    assert " passed" in said
    assert "skipped" not in said


@pytest.mark.slow
def test_each_written_part_is_used_by_its_name(installed: Path) -> None:
    go = "from proctor.cli import main; main()"
    store = ("--store", "my-store://quality", "--quiet")
    (installed / "long.py").write_text("def answer(question):\n    return question * 3\n", encoding="utf-8")
    play = ("run", "my-benchmark", "--scorer", "my-scorer", *store)
    run("-c", go, *play, "--agent", "my-agent:indeed", "--run", "short", folder=installed)
    run("-c", go, *play, "--agent", "./long.py:answer", "--run", "long", folder=installed)
    listed = run("-c", go, "runs", "my-scorer", "long", "--store", "my-store://quality", folder=installed)
    assert listed.splitlines()[0] == "first: 198 characters"
    assert (installed / "shared" / "quality.db").is_file()
    assert "my-scorer" in run("-c", go, "list", "scorers", folder=installed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plugin",), "Name the folder to write to: proctor init plugin DIR"),
        (("plugin", "Mine!"), "'Mine!' cannot be the name of a package"),
        (("gate", "--part", "store"), "--part goes with a plugin: proctor init plugin DIR --part store"),
        (("plugin", "x", "--part", "judge"), "'judge' is not one of 'scorer', 'benchmark', 'store', 'agent'"),
    ],
)
def test_a_mistake_is_said_before_anything_is_written(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = call("init", *words)
    assert (code, [*tmp_path.iterdir()]) == (2, [])
    assert said in output


def test_nothing_is_written_over(tmp_path: Path) -> None:
    assert call("init", "plugin", str(tmp_path / "mine"))[0] == 0
    code, said = call("init", "plugin", str(tmp_path / "mine"))
    assert (code, "nothing is written over" in said) == (2, True)
