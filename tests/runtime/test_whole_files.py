import os
import threading
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor.runtime.files import draft_of, write_whole


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_the_old_one_until_the_new_one_is_whole(durable: bool, tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    write_whole(path, "old", durable=durable)
    with pytest.raises(TypeError), draft_of(path, durable=durable) as draft, draft.open("w") as file:
        file.writelines(["half", 1])  # type: ignore[list-item]  # the fault of a writer
    assert path.read_text() == "old"
    assert write_whole(path, "whole \ud800", durable=durable) == path
    assert path.read_text(encoding="utf-8") == "whole ?"
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]


def test_a_link_stays_a_link_and_a_mode_the_mode(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "text")
    reader.join(10)
    assert read == ["text"]


def test_threads_that_write_the_same_file_do_not_mix_their_texts(tmp_path: Path) -> None:
    texts = [str(number) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=write_whole, args=(tmp_path / "file", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_text() in texts
    assert len([*tmp_path.iterdir()]) == 1


def test_a_long_name_is_written(tmp_path: Path) -> None:
    assert write_whole(tmp_path / ("题" * 83), "text").read_text() == "text"


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        write_whole(tmp_path, "text")
