"""The command that installs an extra works where it is typed, and names no package that may be somebody else's."""

import importlib.metadata
import json
import sys
from pathlib import Path

import pytest

from proctor.core import installing
from proctor.core.installing import install_command, is_installed


class Installed:
    """A distribution as `importlib.metadata` gives it."""

    def __init__(self, origin: dict[str, object] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.fixture(autouse=True)
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A virtual environment in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "lib" / "proctor" / "core" / "installing.py"))
    installing._command.cache_clear()
    return tmp_path


def test_a_clone_is_installed_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "packages" / "proctor"
    kernel.mkdir(parents=True)
    (kernel / "pyproject.toml").touch()
    monkeypatch.setattr(installing, "__file__", str(kernel / "src" / "proctor" / "core" / "installing.py"))
    assert install_command("fast") == ".venv/bin/python -m pip install -e 'packages/proctor[fast]'"
    assert install_command("excel") == ".venv/bin/python -m pip install -e 'packages/proctor-adapters[excel]'"
    assert install_command("web") == ".venv/bin/python -m pip install -e 'packages/proctor-web'"
    assert install_command("oidc") == ".venv/bin/python -m pip install -e 'packages/proctor-web[oidc]'"
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.1\n")
    installing._command.cache_clear()
    assert install_command("web") == "uv pip install --python .venv/bin/python -e 'packages/proctor-web'"


GIT = {"url": "https://git.example/proctor", "vcs_info": {"vcs": "git", "commit_id": "1" * 40}}


@pytest.mark.parametrize(
    ("origin", "extra", "requirement"),
    [
        ({"url": "file:///opt/a%20clone/packages/proctor", "dir_info": {}}, "excel", "'/opt/a clone/packages/proctor[excel]'"),
        ({"url": "file:///opt/a%20clone/packages/proctor", "dir_info": {}}, "web", "'/opt/a clone/packages/proctor-web'"),
        (GIT, "excel", "'proctor[excel] @ git+https://git.example/proctor#subdirectory=packages/proctor'"),
        (GIT, "web", "'proctor-web @ git+https://git.example/proctor#subdirectory=packages/proctor-web'"),
        ({"url": "https://host.example/proctor.whl", "archive_info": {}}, "excel", "'proctor[excel] @ https://host.example/proctor.whl'"),
        (None, "web", "'proctor[web]'"),
    ],
)  # fmt: skip
def test_a_copy_is_installed_from_where_it_came(
    origin: dict[str, object] | None, extra: str, requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(origin))
    monkeypatch.setattr(
        importlib.metadata, "requires", lambda name: ['openpyxl; extra == "excel"', 'proctor-web==1; extra == "web"']
    )
    assert install_command(extra) == f".venv/bin/python -m pip install {requirement}"


def test_a_folder_of_the_same_name_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a_folder", "a_package"):
        (tmp_path / name).mkdir()
    (tmp_path / "a_package" / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    names = ("a_folder", "a_package", "nowhere", "msgspec", "sys")
    assert [name for name in names if is_installed(name)] == ["a_package", "msgspec", "sys"]


def test_every_question_if_a_library_is_there_is_asked_in_one_place() -> None:
    """`find_spec` alone takes a folder `mcp` or `ray` of the user for the library."""
    files = (Path(__file__).parents[2] / "packages").glob("*/src/**/*.py")
    assert {path.name for path in files if "find_spec" in path.read_text(encoding="utf-8")} == {
        "installing.py",
        *("__init__.py", "own_code.py", "tree.py", "sources.py"),  # modules and packages of our own
        *("registry.py", "_adk_folder.py"),  # a module of the user, a folder too
        "packages.py",  # where a package is
        *("program.py", "worker_program.py"),  # in another interpreter
    }
