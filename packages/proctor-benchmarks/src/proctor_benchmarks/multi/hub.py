"""Fetch the data of MULTI from the hub: a set that holds one archive, which is unpacked once.

The original's `download_data.py` at aa40c5b takes the set OpenDFM/MULTI-Benchmark, and what its archive holds as the
data folder: problem, knowledge and caption files, and `images/`.
"""

import shutil
import zipfile
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.runtime.folders import cache_folder
from proctor_adapters.datasets import data_sets
from proctor_adapters.datasets.archive import unpack

DATA_SET = "OpenDFM/MULTI-Benchmark"
MOST_FILES = 100_000
MOST_BYTES = 20_000_000_000


def locate(revision: str = data_sets.MAIN) -> tuple[Path, dict[str, str]]:
    """Return the data folder, fetched and unpacked if it is not in the cache, and what a run keeps of where it came from.

    Raises:
        BadInput: it cannot be fetched, or is no archive with a problem file.
    """
    data_set = data_sets.fetch(DATA_SET, revision=revision, folder=cache_folder() / "multi", advice=say("Without network give a folder: --set data=PATH."))  # fmt: skip
    folder = data_set.folder.with_name(f"{data_set.folder.name}-{data_set.revision[:12]}")
    if not folder.is_dir():
        from filelock import FileLock

        with FileLock(folder.with_name(folder.name + ".lock")):
            if not folder.is_dir():
                _unpack(data_set.folder, folder)
    return _data_folder(folder), data_set.provenance


def find_pulled() -> Path | None:
    """Return the data folder if it was fetched before; nothing is fetched."""
    folders = sorted(path for path in cache_folder().glob("multi-*") if path.is_dir() and not path.suffix)
    return _data_folder(folders[-1]) if folders else None


def _unpack(source: Path, folder: Path) -> None:
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        for archive in sorted(source.rglob("*.zip")):
            unpack(archive, part, most_files=MOST_FILES, most_bytes=MOST_BYTES)
        for file in source.rglob("*"):
            if file.is_file() and file.suffix in (".json", ".csv"):
                shutil.copy2(file, part / file.name)
        part.rename(folder)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise BadInput("{path} cannot be unpacked: {error}.", path=source, error=error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _data_folder(folder: Path) -> Path:
    """Return the folder with the problem file, which an archive may hold below one of its own."""
    problems = sorted(folder.rglob("problem_*.json"), key=lambda path: len(path.parts))
    if not problems:
        raise BadInput("{path} holds no problem file (problem_*.json).", path=folder)
    return problems[0].parent
