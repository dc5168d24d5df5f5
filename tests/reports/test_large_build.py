"""A report of a large run reads the records of the first trials only, and says so."""

import example_runs
import pytest
from memory_store import MemoryStore

from proctor.reports import build


async def test_records_beyond_the_bound_are_not_read_and_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "LOOKED_AT", 100)
    store = MemoryStore()
    record, estimates = await example_runs.large_run(store, count=300)
    report = build.build(record, store, estimates)
    assert report.failed <= 100
    assert sum(report.outcomes.values()) == 300
    assert any("first 100 trials" in str(note) for note in report.notes)
