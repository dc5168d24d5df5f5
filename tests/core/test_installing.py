"""The command that installs an extra works where it is typed, and names no package that may be somebody else's."""

import importlib.metadata
import json
import sys
from pathlib import Path

import pytest

from proctor.core import installing
from proctor.core.installing import install_command


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
    (tmp_path / "src" / "proctor" / "core").mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(installing, "__file__", str(tmp_path / "src" / "proctor" / "core" / "installing.py"))
    assert install_command("web") == ".venv/bin/python -m pip install -e '.[web]'"
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.1\n")
    installing._command.cache_clear()
    assert install_command("web") == "uv pip install --python .venv/bin/python -e '.[web]'"


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        ({"url": "file:///opt/a%20clone", "dir_info": {}}, "'/opt/a clone[web]'"),
        (
            {"url": "https://git.example/proctor", "vcs_info": {"vcs": "git", "commit_id": "1" * 40}},
            "'proctor[web] @ git+https://git.example/proctor'",
        ),
        (None, "'proctor[web]'"),
    ],
)
def test_a_copy_is_installed_from_where_it_came(
    origin: dict[str, object] | None, requirement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(origin))
    assert install_command("web") == f".venv/bin/python -m pip install {requirement}"
