"""A clone of StableToolBench for tests: the prompts, a few recorded answers and queries without example responses (Apache-2.0)."""

import tarfile
from pathlib import Path

import pytest

ARCHIVE = Path(__file__).parents[2] / "data" / "tooleval" / "stabletoolbench.tar.xz"


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tooleval")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "StableToolBench"
