"""The entry points of installed packages, as `importlib.metadata` finds them."""

import importlib.metadata
import json
from pathlib import Path

import pytest

from proctor.runtime.entry_points import EntryPoint, entry_points

TEXT = """
# a comment
[console_scripts]
mine = mine:main

[proctor.scorers]
mine = json
dumps=json:dumps
other = json.decoder:JSONDecoder.decode [extra]

[proctor.agents]
mine = json:loads
"""


def install(folder: Path, package: str, text: str) -> None:
    info = folder / f"{package}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.partition('-')[0]}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(text)


def test_the_same_are_found_as_by_the_standard_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "first", "my_package-1.2", TEXT)
    install(tmp_path / "second", "my_package-1.1", "[proctor.scorers]\nhidden = json\n")
    install(tmp_path / "second", "other-3", "[proctor.scorers]\nthird = json\n")
    install(tmp_path / "second", "none-3", "[console_scripts]\nproctor.x = json\n")
    for name in ("second", "no such folder", "first"):
        monkeypatch.syspath_prepend(str(tmp_path / name))
    for group in ("proctor.scorers", "proctor.agents", "proctor.users"):
        wanted = {(point.name, point.value) for point in importlib.metadata.entry_points(group=group)}
        assert {(point.name, point.value) for point in entry_points(group)} == wanted
    assert [point for point in entry_points("proctor.scorers") if point.name == "dumps"] == [
        EntryPoint("proctor.scorers", "dumps", "json:dumps", "my-package 1.2")
    ]
    assert [point.load() for point in entry_points("proctor.scorers") if point.owner == "my-package 1.2"] == [json, json.dumps, json.JSONDecoder.decode]  # fmt: skip


def test_a_package_that_is_installed_meanwhile_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = [point.owner for point in entry_points("proctor.scorers")]
    install(tmp_path, "late-1", "[proctor.scorers]\nlate = json\n")
    assert sorted(point.owner for point in entry_points("proctor.scorers")) == sorted([*before, "late 1"])
