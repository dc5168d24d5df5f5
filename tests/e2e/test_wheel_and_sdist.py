"""The wheel and the sdist: what is in them, that no time is, and that the installed wheel works."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pages
import pytest

CI = pages.ROOT / ".ci"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(CI / "dist.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # it checks contents and metadata
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_in_them_depends_on_when_or_by_whom_they_were_made(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        assert len({one.date_time for one in wheel.infolist()}) == 1
    assert not [name for name in names if "test" in name.split("/")[0] or ".env" in name]
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        members = sdist.getmembers()
    assert len({(one.mtime, one.uid, one.uname) for one in members}) == 1
    assert [one.name for one in members] == sorted(one.name for one in members)
    assert not [one.name for one in members if not one.isfile() and not one.isdir()]


def test_the_installed_wheel_runs_compares_and_reports(built: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    wheel = str(next(built.glob("*.whl")))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(pip, check=True)
    [packages] = (tmp_path / "venv" / "lib").glob("*/site-packages")
    shared = [path for path in sys.path if path.endswith("site-packages")]  # what it depends on
    (packages / "shared.pth").write_text("\n".join(shared), encoding="utf-8")
    done = subprocess.run([python, "-I", CI / "smoke.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "works on Python" in done.stdout
