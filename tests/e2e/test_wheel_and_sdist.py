"""The wheels and sdists: what is in them, that no time is, and that each works when it is installed."""

import csv
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pages
import pytest
import yaml
from kernel_alone import link_dependencies
from our_packages import PROJECTS, needed_of_ours

CI = pages.ROOT / ".ci"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(CI / "dist.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # it checks contents and metadata
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("package", PROJECTS)
def test_nothing_in_them_depends_on_when_or_by_whom_they_were_made(built: Path, package: str) -> None:
    with zipfile.ZipFile(_wheel(built, package)) as wheel:
        names = wheel.namelist()
        assert len({one.date_time for one in wheel.infolist()}) == 1
    assert not [name for name in names if "test" in name.split("/")[0] or ".env" in name]
    with tarfile.open(next(built.glob(f"{package.replace('-', '_')}-[0-9]*.tar.gz"))) as sdist:
        members = sdist.getmembers()
    assert len({(one.mtime, one.uid, one.uname) for one in members}) == 1
    assert not [one.name for one in members if not one.isfile() and not one.isdir()]


@pytest.mark.parametrize("package", PROJECTS)
def test_each_package_works_with_those_that_it_needs_alone(python: Path, package: str, tmp_path: Path) -> None:
    alone = _environment(tmp_path / "venv")
    for needed in needed_of_ours(package):
        _copy_installed(needed, python, alone)
    (tmp_path / "empty").mkdir()
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("PROCTOR", "PYTHON"))}
    command = [str(alone), "-I", str(CI / "smoke.py"), package]
    done = subprocess.run(command, cwd=tmp_path / "empty", env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter of an environment of its own, in which all wheels are installed and compiled."""
    python = _environment(tmp_path_factory.mktemp("venv"))
    _install(python, *(str(_wheel(built, package)) for package in PROJECTS))
    return python


def _environment(folder: Path) -> Path:
    """Return the interpreter of a new environment with what all packages depend on, and none of them."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    (_site_packages(python) / "shared.pth").write_text(str(link_dependencies(folder / "shared")), encoding="utf-8")
    return python


def _site_packages(python: Path) -> Path:
    [folder] = (python.parents[1] / "lib").glob("*/site-packages")
    return folder


def _copy_installed(package: str, source: Path, target: Path) -> None:
    """Copy what pip installed of a package into another environment; it has no file that others of ours installed."""
    inside, to = _site_packages(source), _site_packages(target)
    [record] = inside.glob(f"{package.replace('-', '_')}-[0-9]*.dist-info/RECORD")
    with record.open(encoding="utf-8", newline="") as lines:
        names = [line[0] for line in csv.reader(lines)]
    for name in names:
        file = to / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(inside / name, file)  # with its time, so that what was compiled counts
        if name.startswith("../../../bin/"):
            file.write_text(file.read_text(encoding="utf-8").replace(str(source), str(target), 1), encoding="utf-8")


def _wheel(built: Path, package: str) -> Path:
    [found] = built.glob(f"{package.replace('-', '_')}-[0-9]*.whl")
    return found


def _install(python: Path, *what: str) -> None:
    how = ("--quiet", "--no-deps", "--no-index")
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *how, *what], check=True)


Walk = Callable[..., "subprocess.CompletedProcess[str]"]
OF_OURS = ("schemathesis", "hypothesispytest", "langsmith_plugin", "xdist", "anyio", "asyncio")
"""Plugins of the environment that these tests run in, which a user's has not; loading them takes longer than the walk."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def walk(python: Path, project: Path) -> Walk:
    """Run commands in the folder of a project, with nothing but the wheel."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("PROCTOR", "PYTEST", "PYTHON"))}
    without = " ".join(f"-p no:{name}" for name in OF_OURS)
    env = {**quiet, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}", "PYTEST_ADDOPTS": without}

    def run(command: str, **more: str) -> "subprocess.CompletedProcess[str]":
        words = ["sh", "-ec", command]
        return subprocess.run(words, cwd=project, env=env | more, capture_output=True, text=True, check=False, encoding="utf-8")  # fmt: skip

    return run


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_init_and_new_ci_write_works_together(walk: Walk, project: Path, lang: str) -> None:
    """The scaffolds, the tier, the test and the jobs, as a person walks them."""
    done = walk(
        "proctor init && proctor init ci && proctor ci tier quick && python -m pytest -q -p no:cacheprovider",
        PROCTOR_LANG=lang,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    job = next(one for one in _steps(project) if "proctor ci tier" in one)
    (project / "agent.py").write_text('def answer(question: str) -> str:\n    return "nowhere"\n', encoding="utf-8")
    found = walk(job, TIER="quick", PROCTOR_STORE=".proctor/runs.db", PROCTOR_LANG=lang)
    assert found.returncode == 1, found.stdout + found.stderr  # a share of 0 meets nothing
    assert "NO-GO" in (project / ".proctor" / "tier.md").read_text(encoding="utf-8")


def test_the_jobs_install_this_wheel(python: Path, walk: Walk, project: Path) -> None:
    assert walk("proctor init ci").returncode == 0
    assert _steps(project)[0] == "pip install -r requirements.txt"
    _install(python, "--force-reinstall", "--no-compile", "-r", str(project / "requirements.txt"))
    assert walk("proctor --version").returncode == 0


def _steps(project: Path) -> list[str]:
    workflow: Any = yaml.safe_load((project / ".github" / "workflows" / "proctor.yml").read_text(encoding="utf-8"))
    return [one["run"] for one in workflow["jobs"]["tier"]["steps"] if "run" in one]
