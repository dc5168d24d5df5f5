"""The folders of a user are those of the system, and where an earlier version had others, those are still found."""

import sys
from pathlib import Path

import pytest

from proctor.runtime.folders import cache_folder, data_folder

linux = pytest.mark.skipif(sys.platform != "linux", reason="the rules of XDG")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PROCTOR_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


def test_the_environment_names_the_cache(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("PROCTOR_CACHE", "~/mine")
    assert cache_folder() == home / "mine"


@linux
@pytest.mark.parametrize("named", [None, "relative, so ignored by the rules of XDG"])
def test_on_linux_they_are_where_they_always_were(
    home: Path, named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if named is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        monkeypatch.setenv("XDG_DATA_HOME", named)
    assert cache_folder() == home / ".cache" / "proctor"
    assert data_folder() == home / ".local" / "share" / "proctor"


@linux
def test_on_linux_they_follow_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    monkeypatch.setenv("XDG_DATA_HOME", "/y")
    assert (cache_folder(), data_folder()) == (Path("/x/proctor"), Path("/y/proctor"))


@pytest.mark.parametrize(
    ("platform", "data", "cache"),
    [
        ("darwin", "Library/Application Support/proctor", "Library/Caches/proctor"),
        ("win32", "AppData/Local/proctor", "AppData/Local/proctor/cache"),
    ],
)
def test_the_folder_of_an_earlier_version_is_kept_while_there_is_no_new_one(
    platform: str, data: str, cache: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_data, new_cache = data_folder(), cache_folder()
    monkeypatch.setattr(sys, "platform", platform)
    assert (data_folder(), cache_folder()) == (new_data, new_cache)
    (home / data).mkdir(parents=True)
    (home / cache).mkdir(parents=True)
    assert (data_folder(), cache_folder()) == (home / data, home / cache)
    new_data.mkdir(parents=True)
    new_cache.mkdir(parents=True)
    assert (data_folder(), cache_folder()) == (new_data, new_cache)
