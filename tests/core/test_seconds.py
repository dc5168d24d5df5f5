"""The tests' own tools: which tests a change reaches, and what folders may cost."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import seconds
from reach import arrows, distances, names_in
from seconds import dearest_first, folder_of, over, written
from sources import ROOT, ROOTS, modules

LOUD = {"tests/web": 10.0}


def test_a_folder_far_above_its_seconds_is_named_and_one_a_little_above_is_not() -> None:
    assert over({"tests/web/test_a.py": 149.0}, LOUD, 1.0) == []
    assert [
        line.partition(" ")[0] for line in over({"tests/web/test_a.py": 130.5, "tests/web/test_b.py": 20.0}, LOUD, 1.0)
    ] == ["tests/web"]


def test_a_machine_that_is_half_as_quick_is_given_twice_the_time() -> None:
    assert over({"tests/web/test_a.py": 290.0}, LOUD, 2.0) == []


def test_a_folder_that_the_table_does_not_know_may_take_a_little() -> None:
    assert over({"tests/new/test_a.py": 119.0}, LOUD, 1.0) == []
    assert over({"tests/new/test_a.py": 121.0}, LOUD, 1.0)


@pytest.mark.parametrize(
    ("file", "folder"),
    [
        ("tests/stats/test_mean.py", "tests/stats"),
        ("tests/benchmarks/bfcl/test_bfcl_task.py", "tests/benchmarks/bfcl"),
        ("tests/benchmarks/test_all.py", "tests/benchmarks"),
    ],
)
def test_each_benchmark_has_a_ceiling_of_its_own(file: str, folder: str) -> None:
    assert folder_of(file) == folder


def test_the_table_begins_with_the_sum_and_the_folders() -> None:
    rows = [line.split() for line in written({"tests/a/test_x.py": 1.0, "tests/a/test_y.py": 2.0}).splitlines()[1:]]
    assert rows[:2] == [["3.0", "tests"], ["3.0", "tests/a"]]


def test_what_takes_longest_begins_and_files_of_a_group_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seconds, "of_files", lambda: {"b.py": 3.0, "c.py": 2.0, "d.py": 2.0})
    names = [
        "a.py::test_1@a.py",
        "b.py::test_2[x@y]@b.py",
        "c.py::test_3@pair",
        "b.py::test_4@b.py",
        "d.py::test_5@pair",
    ]
    items = [SimpleNamespace(nodeid=name) for name in names]
    assert [item.nodeid for item in dearest_first(cast("list[pytest.Item]", items))] == [
        "c.py::test_3@pair",
        "d.py::test_5@pair",
        "b.py::test_2[x@y]@b.py",
        "b.py::test_4@b.py",
        "a.py::test_1@a.py",
    ]


def test_the_sources_are_found() -> None:
    assert ROOTS
    assert dict(modules())["proctor.core.task"].name == "task.py"


def test_a_test_is_as_far_away_as_its_imports_and_what_it_names() -> None:
    inner, outer, part = (ROOTS[0] / "proctor" / name for name in ("inner.py", "outer.py", "shout.py"))
    near, far, named = (ROOT / "tests" / "x" / f"test_{name}.py" for name in ("near", "far", "named"))
    names = {
        inner: names_in(""),
        outer: names_in("def f():\n    from proctor import inner"),
        part: names_in(""),
        near: names_in("from proctor.inner import f"),
        far: names_in("import proctor.outer"),
        named: names_in("run('shout:3')"),
    }
    files = {"proctor.inner": inner, "proctor.outer": outer, "proctor.shout": part}
    users = arrows(names, files, set())
    assert distances({inner}, users) == {inner: 0, outer: 1, near: 1, far: 2}
    assert distances({part}, users) == {part: 0, named: 2}
    assert distances({ROOT / "tests" / "x" / "conftest.py"}, users).keys() >= {near, far, named}


def test_a_page_reaches_the_tests_of_what_shows_it() -> None:
    page, shown, test = ROOT / "src" / "page.jinja", ROOTS[0] / "show.py", ROOT / "tests" / "test_show.py"
    names = {shown: names_in("render('page.jinja')"), test: names_in("import show")}
    assert distances({page}, arrows(names, {"show": shown}, {page}))[test] == 3


def test_nothing_is_reached_by_a_file_that_is_gone_and_unused() -> None:
    gone = Path("gone.py")
    assert distances({gone}, arrows({}, {}, set())) == {gone: 0}
