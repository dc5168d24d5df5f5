"""Reports as files; `make golden` rewrites them."""

from collections.abc import Callable

import example_runs
import pytest
from memory_store import MemoryStore

from proctor.reports import render
from proctor.reports.build import build


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_the_markdown_report_of_a_small_run(lang: str, golden: Callable[[str, str], None]) -> None:
    store = MemoryStore()
    run, estimates = await example_runs.small_run(store)
    golden(f"report.{lang}.md", render.markdown(build(run, store, estimates), lang))
