"""Names to parts."""

import sys
from pathlib import Path

import pytest

from proctor import registry
from proctor.core.errors import BadInput
from proctor.runtime.telemetry import SWITCHES


def test_a_misspelt_name_names_the_nearest_and_the_known_ones() -> None:
    with pytest.raises(
        BadInput, match=r"No benchmark is called 'bfc'\. Did you mean 'bfcl'\? Known: .*A path works too"
    ):
        registry.BENCHMARKS.find("bfc")


def test_a_script_is_no_package_to_take_objects_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)  # as it is in a script
    assert not registry.names_object("__main__:answer")


def test_a_name_that_looks_like_a_module_path_finds_nothing() -> None:
    for name in ("../bfcl", "bfcl.dataset", "", "os;"):
        with pytest.raises(BadInput):
            registry.BENCHMARKS.find(name)


def test_an_object_is_loaded_from_a_file_once(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import neighbour\nvalue = neighbour.value\n", encoding="utf-8")
    (tmp_path / "neighbour.py").write_text("value = [1]\n", encoding="utf-8")
    name = f"{tmp_path}/mine.py:value"
    assert registry.load_object(name, "agent") == [1]
    assert registry.load_object(name, "agent") is registry.load_object(name, "agent")


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("x = 1", "mine.py:y", "has no 'y'. Write mine.py:x. It has: x"),
        ("raise ValueError('no key')", "mine.py:x", "raises when it is imported: ValueError: no key"),
        ("\nraise ValueError('no key')", "mine.py:x", "no key (mine.py, line 2)"),
        ("import sys\nsys.exit(1)", "mine.py:x", "ends the program when it is imported"),
        ("x = 1", "mime.py:x", "Did you mean './mine.py'"),
        ("def (", "mine.py:x", "raises when it is imported: SyntaxError"),
        ("x = 1", "other.py:x", "There is no file"),
        ("x = 1", "no_such_module_here:x", "there is no module 'no_such_module_here'"),
    ],
)
def test_what_cannot_be_loaded_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        registry.load_object(name, "agent")
    assert message in str(caught.value)


def test_libraries_are_told_to_keep_to_themselves_before_a_users_file_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SWITCHES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "false")  # somebody wants it
    (tmp_path / "seen.py").write_text("import os\nfound = dict(os.environ)\n", encoding="utf-8")
    found = registry.load_object(f"{tmp_path / 'seen.py'}:found", "agent")
    assert {name: found[name] for name in SWITCHES} == SWITCHES | {"CREWAI_DISABLE_TELEMETRY": "false"}
