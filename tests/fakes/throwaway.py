"""Environments of their own, for libraries that cannot live beside the others.

`tests/compat/NAME.txt` holds pinned requirements with hashes: the library, Proctor's core requirements, pytest and
pytest-asyncio; `NAME.without` names what the library requires and no test needs. From it a virtual environment is made
once and kept in the person's cache; Proctor itself is used from `src`. A test in the main environment then runs a file
of tests, or any Python, in it:

    @pytest.mark.slow
    def test_the_real_library() -> None:
        throwaway.run_tests("hello-agents", HERE / "in_hello_agents.py")

Such a file is not called `test_*.py` and imports the library inside its functions, as the main environment reads it
too (for doctests and types). The requirements are made with (see `make lock`)
`uv pip compile --universal --generate-hashes ... tests/compat/NAME.in pyproject.toml -o tests/compat/NAME.txt`.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest
from filelock import FileLock

from proctor.core.digest import digest_bytes
from proctor.runtime.folders import cache_folder

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tests" / "compat"
SECONDS = 900
TAIL = 20_000


def python(name: str) -> Path:
    """The interpreter of the environment of `tests/compat/<name>.txt`, which is made when it is not there."""
    requirements = REQUIREMENTS / f"{name}.txt"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = digest_bytes(requirements.read_bytes())[:12]
    folder = cache_folder() / "test-environments" / f"{name}-{version}-{digest}"
    interpreter, complete = folder / "bin" / "python", folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(folder.name + ".lock")):  # the others wait for the one that makes it
        if not complete.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            _succeed([sys.executable, "-m", "venv", "--without-pip", str(folder)])
            pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "--disable-pip-version-check"]
            _succeed([*pip, "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(requirements)])
            complete.touch()
    return interpreter


def run_tests(name: str, *files: Path, environment: Mapping[str, str] | None = None, seconds: float = SECONDS) -> None:
    """Run the tests of files in an environment; fails with their report. A test that is skipped there fails too.

    Plugins are named, as in our own pyproject.toml: loaded by themselves, all of Proctor is compiled for its asserts.
    """
    folder = files[0].parent
    options = ["-c", os.devnull, f"--confcutdir={folder}", f"--rootdir={folder}", "-p", "no:cacheprovider"]
    options += ["-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "-q", "-rs"]
    options += ["-p", "pytest_asyncio.plugin"]
    named = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **(environment or {})}
    report = run(name, "-m", "pytest", *options, *map(str, files), environment=named, seconds=seconds)
    if "SKIPPED" in report:
        pytest.fail(report, pytrace=False)


def run(
    name: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    seconds: float = SECONDS,
) -> str:
    """The output of `python ARGUMENTS` in an environment; fails with it when the exit code is not 0."""
    sources = sorted((ROOT / "packages").glob("*/src"))
    path = os.pathsep.join(map(str, (*sources, _what_packages_say(), ROOT / "tests" / "fakes")))
    given = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    return _succeed([str(python(name)), *arguments], given, folder, seconds)


@cache
def _what_packages_say() -> Path:
    """Return a folder with the names and entry points of our packages, which their sources alone do not have."""
    folder = Path(tempfile.mkdtemp(prefix="proctor-metadata-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for package in sorted(path.name for path in (ROOT / "packages").iterdir() if path.is_dir()):
        found = distribution(package)
        info = folder / f"{package.replace('-', '_')}-{found.version}.dist-info"
        info.mkdir()
        for name in ("METADATA", "entry_points.txt"):
            (info / name).write_text(found.read_text(name) or "", encoding="utf-8")
    return folder


def _succeed(
    command: list[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    seconds: float = SECONDS,
) -> str:
    done = subprocess.run(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stdout[-TAIL:]}", pytrace=False)
    return done.stdout
