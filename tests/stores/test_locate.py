"""Which store is meant when a person says a path, an address, or nothing."""

from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor.stores import default_path, open_store


def test_a_path_is_a_file(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "mine.db"))
    assert (tmp_path / "mine.db").exists()
    assert store.url == str(tmp_path / "mine.db")
    store.close()


def test_an_address_of_sqlite_is_a_file(tmp_path: Path) -> None:
    open_store(f"sqlite://{tmp_path}/mine.db").close()
    assert (tmp_path / "mine.db").exists()


def test_the_environment_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "named.db"))
    open_store().close()
    assert (tmp_path / "named.db").exists()


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    open_store("~/mine.db").close()
    assert (tmp_path / "mine.db").exists()


def test_nothing_said_is_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.stores.data_folder", lambda: Path("/data/proctor"))
    assert default_path() == Path("/data/proctor/proctor.db")


@pytest.mark.parametrize("scheme", ["mysql", "not a name", "blobs", "copy", "schema"])
def test_an_address_of_another_kind_is_refused_without_its_password(scheme: str) -> None:
    with pytest.raises(
        BadInput, match=f"{scheme}://.* not built in. Give the path of a file.* Known: postgresql://, sqlite://"
    ) as refused:
        open_store(f"{scheme}://me:secret@host/runs")
    assert "secret" not in str(refused.value)
