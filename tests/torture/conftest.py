"""The fault suite: short in `make test`, long with `--torture`, which ends with the table of faults."""

from pathlib import Path

import pytest
from stage import Stage

SAMPLES, SAMPLES_LONG = 20, 200
LEFT_OUT = {  # of the short form: they wait for seconds, or are close to another row
    *(f"status {number}" for number in (409, 425, 502, 504, 529)),
    "reply at a byte a second",
    "connection closed within the head",
    "JSON without choices",
    "program that hangs",
    "program that closes its output",
    "program that floods standard error and ends",
    "SIGTERM while the first sample hangs",
    "SIGINT in the middle of a run",
    "store that may not be read",
    "worker that hangs in a pattern",
    "worker that hangs in a number",
    "worker that leaves children and hangs",
    "worker that floods standard error",
    "store cut in half",
    *(f"kill -9 while boxes of {engine} are open" for engine in ("docker", "podman")),
    "server of the store killed 20 times",
    "kill -9 of the web app while a run is started in it",
    "kill -9 while tables in PostgreSQL are brought up to date",
    "kill -9 while a run is scored again by a changed scorer",
    "kill -9 while a log is imported",
    *(
        f"kill -9 while {name} is written"
        for name in ("report.html", "table.csv", "table.xlsx", "table.parquet", "log.eval", "spans.jsonl")
    ),
    "shards in files that are killed at random, and their merging",
    "disk of the log of the database full",
    "disk of the database full",  # mounts a small disk, which containers may not
    *(
        f"agent that {what}, async"
        for what in ("raises", "leaves the program", "gives nothing", "gives no text", "gives 10 MB")
    ),
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault(name, injected, expected): a row in the table of faults")


def pytest_itemcollected(item: pytest.Item) -> None:
    """The row travels with the report, also from another process."""
    for mark in item.iter_markers("fault"):
        item.user_properties.append(("fault", list(mark.args)))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--torture"):
        left_out = [item for item in items for mark in item.iter_markers("fault") if mark.args[0] in LEFT_OUT]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not terminalreporter.config.getoption("--torture"):
        return
    rows = [
        ("ok" if report.passed else "FAILED", *row)
        for kind in ("passed", "failed")
        for report in terminalreporter.stats.get(kind, [])
        if report.when == "call"
        for name, row in report.user_properties
        if name == "fault"
    ]
    terminalreporter.section(f"{len(rows)} faults")
    for result, name, injected, expected in sorted(rows, key=lambda row: row[1:]):
        terminalreporter.write_line(f"{result:6}  {name}  |  {injected}  |  {expected}")


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long form."""
    return bool(request.config.getoption("--torture"))


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: bool) -> Stage:
    """A folder of its own with the questions, and a store in it."""
    stage = Stage(tmp_path, SAMPLES_LONG if long else SAMPLES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(stage.store))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-the-user")
    return stage
