"""What of a project is sent to other machines, and what is not."""

import io
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_adapters.ray import shipping

KEY = "sk-abcdefghijklmnop123456"


def packed(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names in the zip file, and the warnings."""
    warnings: list[str] = []
    data = shipping.pack(folder, lambda sentence: warnings.append(str(sentence)))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.namelist(), warnings


def test_code_is_sent_whatever_it_is_called_and_data_called_like_a_key_is_named(tmp_path: Path) -> None:
    for name in ("auth.py", "shop/auth/token.py", "token.json", "secret/a.txt", "a.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1", encoding="utf-8")
    names, warnings = packed(tmp_path)
    assert names == ["a.txt", "auth.py", "shop/auth/token.py"]
    assert [warning.split()[0] for warning in warnings] == ["secret/a.txt", "token.json"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_with_a_key_is_not_sent(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.py").write_text(f"KEY = '{KEY}'", encoding)
    assert packed(tmp_path) == (
        [],
        ["a.py holds a key, or is called like one, and is not sent to the other machines."],
    )


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "a.parquet").open("wb") as file:
        file.truncate(5 * 10**12)  # of nothing
    with pytest.raises(BadInput, match="more than 100 MB"):
        packed(tmp_path)


def test_a_name_that_is_no_text_is_left_out_with_a_warning(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.py")).write_text("", encoding="utf-8")
    except OSError:
        pytest.skip("this file system has no such names")
    assert packed(tmp_path) == ([], ["a?.py cannot be sent to the other machines: its name is not UTF-8."])


def test_a_file_with_conflicts_of_a_merge_is_sent_once(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.example", *words]
        subprocess.run(command, capture_output=True, check=words[0] != "merge")

    git("init", "-q", "-b", "main")
    for number, branch in enumerate(("main", "other", "main")):
        if number:
            git("checkout", "-q", *(["-b"] if branch == "other" else []), branch)
        (tmp_path / "a.py").write_text(f"{number}", encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", branch)
    git("merge", "other")
    assert packed(tmp_path)[0] == ["a.py"]


def test_the_address_of_a_server_of_models_goes_with_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "gpu")
    monkeypatch.setenv("SOMETHING_ELSE", "x")
    found = shipping.variables({})
    assert found["OLLAMA_HOST"] == "gpu"
    assert "SOMETHING_ELSE" not in found
