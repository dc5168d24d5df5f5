"""What steers test runners is withheld under whatever name it is reached, and an archive has one reading for all who read it."""

import io
import tarfile
from collections.abc import Mapping, Sequence

import pytest

from proctor_benchmarks.boxes.archives import archive_of, check_archive, names_of, read_files
from proctor_benchmarks.boxes.engines import _merge
from proctor_benchmarks.boxes.steering import find_steering

EMPTY = archive_of({})
PYTEST, JEST = b"[tool.pytest.ini_options]\naddopts = '-p steer'\n", b'{"jest":\n{"testRegex": "none"}}'


def pack(files: Mapping[str, bytes], links: Mapping[str, str] = {}, hard_links: Mapping[str, str] = {}) -> bytes:
    """Return an archive of files, then of links to paths in it."""
    return pack_all([*((name, tarfile.REGTYPE, data) for name, data in files.items()), *((name, tarfile.SYMTYPE, target.encode()) for name, target in links.items()), *((name, tarfile.LNKTYPE, target.encode()) for name, target in hard_links.items())])  # fmt: skip


def pack_all(entries: Sequence[tuple[str, bytes, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, kind, data in entries:
            entry = tarfile.TarInfo(name)
            entry.type = kind
            if kind == tarfile.REGTYPE:
                entry.size = len(data)
            else:
                entry.linkname = data.decode()
            archive.addfile(entry, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    return buffer.getvalue()


def steering(artefacts: bytes, own: bytes = EMPTY, tests: Sequence[str] = ()) -> list[str]:
    return sorted(find_steering(own, artefacts, tests))


@pytest.mark.parametrize(
    "name",
    [
        "app/.cargo/config.toml", "app/.cargo/config", "app/.mocharc.js", "app/.mocharc.jsonc", "app/conftest.abi3.so", "app/conftest/__init__.py",
        "app/sitecustomize.cpython-311-x86_64-linux-gnu.so", "app/sitecustomize/__init__.py", "app/usercustomize.so", "app/_pytest.so", "app/pluggy.abi3.so",
        "app/tests/helper.so", "app/test_x.cpython-311-x86_64-linux-gnu.so",
    ],
)  # fmt: skip
def test_settings_of_runners_and_compiled_modules_in_their_place_are_withheld(name: str) -> None:
    assert steering(pack({name: b""})) == [f"/{name}"]


@pytest.mark.parametrize("name", ["app/fast.so", "app/libfast.so", "app/calc/__init__.py", "app/.cargo/credentials", "app/load_test/__init__.py", "app/package.json"])  # fmt: skip
def test_what_solves_a_task_is_not(name: str) -> None:
    assert steering(pack({name: b'{"devDependencies": {"jest": "^29.0.0"}}'})) == []


def test_a_module_that_takes_the_place_of_another_one_is_withheld() -> None:
    own = pack({"app/calc.py": b"", "app/tests/helper.py": b""})
    assert steering(pack({"app/calc.abi3.so": b""}), own) == ["/app/calc.abi3.so"]
    assert steering(pack({"app/tests/helper/__init__.py": b""}), own) == ["/app/tests/helper/__init__.py"]
    assert steering(pack({"app/calc/__init__.py": b""}), own) == []  # a module that became a package
    assert steering(pack({"app/calc.py": b"", "app/calc/__init__.py": b""}), own) == ["/app/calc/__init__.py"]
    assert steering(pack({"app/check.so": b"", "app/check/__init__.py": b""}), own, ["check.py"]) == ["/app/check.so", "/app/check/__init__.py"]  # fmt: skip
    assert steering(pack({"app/calc.abi3.so": b""}), pack({"app/calc.abi3.so": b""})) == []


@pytest.mark.parametrize("data", [JEST, b'{"\\u006aest": {}}', b'{"mocha": {"require": "x"}}', b'{"jest": "./own.config.js"}'])  # fmt: skip
def test_settings_of_runners_in_the_file_of_a_project_are_withheld(data: bytes) -> None:
    assert steering(pack({"app/package.json": data})) == ["/app/package.json"]


@pytest.mark.parametrize("data", [b'["tool".pytest.ini_options]\n', b"[tool]\npytest.ini_options = {}\n", b"tool.pytest.ini_options.addopts = ''\n", b"tool = {pytest = {}}\n", b'[tool."\\u0070ytest".ini_options]\n'])  # fmt: skip
def test_every_spelling_of_the_table_of_pytest_is_known(data: bytes) -> None:
    assert steering(pack({"app/pyproject.toml": data})) == ["/app/pyproject.toml"]
    assert steering(pack({"app/pyproject.toml": b"[project]\ndependencies = ['pytest>=8']\n[tool.poetry.dependencies]\npytest = '^8'\n"})) == []  # fmt: skip


def test_other_parts_of_the_file_of_a_project_may_change() -> None:
    own = pack({"app/package.json": JEST, "app/pyproject.toml": PYTEST})
    more = pack({"app/package.json": JEST[:-1] + b', "dependencies": {"a": "1"}}', "app/pyproject.toml": PYTEST + b"[project]\nname = 'a'\n"})  # fmt: skip
    assert steering(more, own) == []
    unreadable = pack({"app/package.json": JEST + b"}", "app/pyproject.toml": PYTEST * 2})
    assert steering(unreadable, own) == ["/app/package.json", "/app/pyproject.toml"]


def test_links_are_withheld_by_what_they_stand_for() -> None:
    for name in ("app/pyproject.toml", "app/package.json", "app/_pytest", "app/.git", "app/.cargo", "app/x.dist-info", "app/conftest"):  # fmt: skip
        assert f"/{name}" in steering(pack({"app/plain/file": b""}, links={name: "plain"}))
    hard = pack({"app/settings": PYTEST}, hard_links={"app/pyproject.toml": "app/settings"})
    assert steering(hard) == ["/app/pyproject.toml"]
    assert steering(pack({"app/releases/1/x.py": b""}, links={"app/current": "releases/1"})) == []


def test_what_a_link_of_the_image_leads_to_steers_as_the_link_does() -> None:
    links = {"app/conftest.py": "common/conf.py", "app/tests/pyproject.toml": "../common/settings", "app/x.egg-info": "/app/info"}  # fmt: skip
    own = pack({"app/common/conf.py": b"", "app/common/settings": b"", "app/info/entry_points.txt": b""}, links)
    changed = pack({"app/common/conf.py": b"x", "app/common/settings": PYTEST, "app/info/entry_points.txt": b"x"}, links)  # fmt: skip
    assert steering(changed, own) == ["/app/common/conf.py", "/app/common/settings", "/app/info/entry_points.txt"]
    assert steering(own, own) == []


def test_a_path_that_is_named_twice_has_one_reading() -> None:
    steers, plain = (tarfile.REGTYPE, PYTEST), (tarfile.REGTYPE, b"[project]\n")
    for first, second in ((steers, plain), (plain, steers)):
        for again in ("app/pyproject.toml", "app/./pyproject.toml", "/app//pyproject.toml"):
            archive = pack_all([("app/pyproject.toml", *first), (again, *second)])
            checked = check_archive(archive, ["/app"])
            assert list(checked.left_out) == ["/app/pyproject.toml"]
            assert read_files(archive, 1_000) == read_files(checked.archive, 1_000) == {"/app/pyproject.toml": first[1]}
            assert names_of(checked.archive) == ["/app/pyproject.toml"]
            assert steering(archive) == steering(checked.archive) == (["/app/pyproject.toml"] if first is steers else [])  # fmt: skip


def test_what_is_below_a_file_is_refused_as_it_cannot_be_unpacked() -> None:
    checked = check_archive(pack({"app/a": b"", "app/a/b": b"", "app/./c": b""}), ["/app"])
    assert list(checked.left_out) == ["/app/a/b"]
    with tarfile.open(fileobj=io.BytesIO(checked.archive)) as kept:
        assert kept.getnames() == ["app/a", "app/c"]


@pytest.mark.parametrize("name", ["lib/" + "n" * 150, "lib/täst.py"])
def test_long_and_foreign_names_keep_their_folder(name: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as whole:
        _merge(pack({name: b"x"}), "/app", whole)
    assert read_files(buffer.getvalue(), 10) == {f"/app/{name}": b"x"}
