"""CPU seconds of the tests, by folder and by file: measured in each run, kept in seconds.txt, held as a ceiling.

A run in which a folder takes far more than it is given there fails under CI, and says so elsewhere. CPU seconds are
counted, of our process and of the children it has waited for, and are scaled by how quick this machine is just now.
"""

import os
import time
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

TABLE = Path(__file__).with_name("seconds.txt")
HEAD = (
    "# CPU seconds of the tests, written by `make seconds`: the sum, folders (their ceilings, see seconds.py), files.\n"
)
# A folder fails above this many times its seconds and these more: whoever comes first imports for all.
SPREAD, ALLOWANCE = 3.0, 120.0
UNIT = 0.05  # seconds that `pace` took where the table was made


def of_files() -> dict[str, float]:
    return {name: seconds for name, seconds in _table().items() if name.endswith(".py")}


def of_folders() -> dict[str, float]:
    return {name: seconds for name, seconds in _table().items() if not name.endswith(".py")}


def _table() -> dict[str, float]:
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {name: float(seconds) for seconds, name in rows}


def written(files: Mapping[str, float]) -> str:
    folders = _by_folder(files)
    rows = [("tests", sum(files.values())), *sorted(folders.items()), *sorted(files.items())]
    return HEAD + "".join(f"{seconds:8.1f} {name}\n" for name, seconds in rows)


def _by_folder(files: Mapping[str, float]) -> dict[str, float]:
    folders: dict[str, float] = defaultdict(float)
    for name, seconds in files.items():
        folders[folder_of(name)] += seconds
    return folders


def folder_of(name: str) -> str:
    """Return the folder that has a ceiling: `tests/stats`, `tests/benchmarks/bfcl`."""
    parts = name.split("/")[:-1]
    return "/".join(parts[: 3 if parts[1:2] == ["benchmarks"] else 2])


def dearest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return tests by what their groups of xdist take, so that no worker is left with a long one at the end."""
    seconds_by_file, seconds_by_group = of_files(), defaultdict[str, float](float)
    for group, file in {(_group_of(item), item.nodeid.partition("::")[0]) for item in items}:
        seconds_by_group[group] += seconds_by_file.get(file, 0.0)
    return sorted(items, key=lambda item: -seconds_by_group[_group_of(item)])


def _group_of(item: pytest.Item) -> str:
    return item.nodeid.rpartition("@")[2]


def over(files: Mapping[str, float], given: Mapping[str, float], pace: float) -> list[str]:
    """Return a sentence for each folder that took far more than it is given, on a machine of that pace.

    A new folder is given the allowance alone.
    """
    return [
        f"{folder} took {seconds:.0f} s of CPU on a machine {pace:.1f} times as slow; it is given {given.get(folder, 0):.0f}"
        for folder, seconds in sorted(_by_folder(files).items())
        if seconds / pace > given.get(folder, 0) * SPREAD + ALLOWANCE
    ]


def cpu() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def pace() -> float:
    """Return how many times as long as where the table was made a fixed piece of work takes here and now."""
    rounds = []
    for _ in range(3):
        begin = time.process_time()
        sum({number: str(number) for number in range(250_000)}.keys())
        rounds.append(time.process_time() - begin)
    return max(1.0, min(rounds) / UNIT)


class Seconds:
    """Sums the CPU seconds of each file; the workers' sums come together in the process that started them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.files: dict[str, float] = defaultdict(float)
        self.pace = pace()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        begin = cpu()
        done = yield
        self.files[item.nodeid.partition("::")[0]] += cpu() - begin
        return done

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the sums of a worker; one that was killed sends none."""
        for name, seconds in getattr(node, "workeroutput", {}).get("seconds", {}).items():
            self.files[name] += seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["seconds"] = dict(self.files)
            return
        self.pace = max(self.pace, pace())
        if self.config.getoption("--rewrite-seconds"):
            TABLE.write_text(written(self.files), encoding="utf-8")
        elif os.environ.get("CI") == "true" and self._over() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _over(self) -> list[str]:
        return [] if self.config.getoption("--torture") else over(self.files, of_folders(), self.pace)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if sentences := self._over():
            terminalreporter.section("took far more CPU than tests/seconds.txt gives it", red=True)
            for sentence in sentences:
                terminalreporter.write_line(sentence)
