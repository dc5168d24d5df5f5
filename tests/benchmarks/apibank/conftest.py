"""A copy of API-Bank for tests: that of commit 483554eae102 without three large databases."""

import tarfile
from pathlib import Path

import pytest

ARCHIVE = Path(__file__).parents[2] / "data" / "apibank" / "api-bank.tar.xz"


@pytest.fixture(scope="session")
def apibank_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apibank")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "api-bank"
