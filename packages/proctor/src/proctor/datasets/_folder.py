"""Find the data files of a folder: shards, splits, and data sets that Hugging Face `datasets` saved to disk."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput
from proctor.datasets.formats import PACKED, READERS, FileReading, kind_of, same_split, split_of
from proctor.runtime.file_names import can_be_a_file

DESCRIPTIONS = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")
MOST_FILES = 100_000


def is_data_folder(path: Path) -> bool:
    """True if a folder holds data files, at any depth."""
    return path.is_dir() and next(_data_files(path), None) is not None


def files_in(path: Path, reading: FileReading) -> Sequence[Path]:
    """Return the file itself, or the files of a folder that belong to the split, ordered by name.

    Raises:
        BadInput: there is none, or several splits or formats, of which the user has to name one.
    """
    if path.is_dir():
        return _of_folder(path, reading)
    if not path.is_file():
        raise BadInput("There is no file {path}.", path=path)
    if not kind_of(path):
        raise BadInput("{path} is no data file that is read here: {known}.", path=path.name, known=known_kinds())
    return [path]


def known_kinds() -> str:
    return f"{', '.join(READERS)} ({', '.join(PACKED)} also with .gz)"


def _of_folder(path: Path, reading: FileReading) -> Sequence[Path]:
    if (path / "dataset_dict.json").is_file():
        splits = [name for name in _describe(path / "dataset_dict.json", "splits") if (path / name).is_dir()]
        return _of_folder(path / _chosen(path, splits, reading.split), FileReading(encoding=reading.encoding))
    if (path / "state.json").is_file():
        files = [_inside(path, str(entry.get("filename"))) for entry in _describe(path / "state.json", "_data_files")]
        if files:
            return files
    files = sorted(_data_files(path), key=_natural)
    if not files:
        raise BadInput("{path} holds no data files: {known}.", path=path, known=known_kinds())
    files_by_split: dict[str, list[Path]] = {}
    for file in files:
        files_by_split.setdefault(split_of(file.relative_to(path).as_posix()), []).append(file)
    if len(files_by_split) > 1 or reading.split is not None:
        files = files_by_split[_chosen(path, list(files_by_split), reading.split)]
    kinds = sorted({kind_of(file) for file in files})
    if len(kinds) > 1:
        raise BadInput("{path} holds data files of several kinds: {known}. Name one file.", path=path, known=", ".join(kinds))  # fmt: skip
    return files


def _chosen(path: Path, splits: Sequence[str], wanted: str | None) -> str:
    """Return the split of a name: the one so called, or one whose name means the same."""
    if wanted is None and len(splits) == 1:
        return splits[0]
    if wanted is not None:
        fitting = [name for name in splits if name == wanted] or [name for name in splits if same_split(name) == same_split(wanted)]  # fmt: skip
        if len(fitting) == 1:
            return fitting[0]
        raise BadInput("{path} has no split '{split}'. It has: {known}.", path=path, split=wanted, known=", ".join(filter(None, splits)) or "-")  # fmt: skip
    raise BadInput(
        "{path} holds several splits: {known}. Say which: --set split=NAME",
        path=path,
        known=", ".join(name or "(none)" for name in splits),
    )


def _describe(path: Path, key: str) -> list[Any]:
    try:
        value = json.loads(path.read_bytes())[key]
    except (ValueError, KeyError, TypeError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise BadInput("{path} is damaged: it holds no list '{key}'.", path=path, key=key)
    return value


def _inside(folder: Path, name: str) -> Path:
    if can_be_a_file(name):
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.is_file():
            return path
    raise BadInput("{folder} names the file '{name}', which is not in it.", folder=folder, name=name[:200])


def _data_files(folder: Path) -> Iterator[Path]:
    root = folder.resolve()
    for number, path in enumerate(folder.rglob("*")):
        if number > MOST_FILES:
            raise BadInput(
                "{path} holds more than {limit} files; name one of its folders.", path=folder, limit=MOST_FILES
            )
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if kind_of(path) and not hidden and path.name not in DESCRIPTIONS and path.is_file() and path.resolve().is_relative_to(root):  # fmt: skip
            yield path


def _natural(path: Path) -> list[object]:
    """Order `part-2` before `part-10`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.as_posix())]
