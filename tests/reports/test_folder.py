"""A report as a folder of pages."""

import io
import json
import re
import zipfile
from pathlib import Path

import example_runs
import pytest
from memory_store import MemoryStore

from proctor.api.report import write_report
from proctor.core.errors import BadInput
from proctor.reports import folder


def rows(page: str) -> list[str]:
    """The ids that a page lists."""
    data = re.search(r'id="data">(.*?)</script>', page)
    assert data is not None
    return [row["n"] for row in json.loads(data[1])["rows"]]


async def test_every_trial_is_on_one_page_in_the_order_of_the_plan() -> None:
    store = MemoryStore()
    record, estimates = await example_runs.large_run(store, count=25)
    made = dict(folder.pages(record, store, estimates, "en", trials=10))
    assert [*made] == ["samples-0001.html", "samples-0002.html", "samples-0003.html", "index.html"]
    listed = [id for name, page in made.items() if name != "index.html" for id in rows(page)]
    assert listed == [trial.sample_id for trial in store.trials(record.id)]
    assert re.findall(r'href="(samples-\d+\.html)"', made["index.html"]) == [*made][:3]
    assert re.findall(r'rel="(?:prev|next)" href="([^"]+)"', made["samples-0002.html"]) == [
        "samples-0001.html",
        "samples-0003.html",
    ]
    assert 'rel="next"' not in made["samples-0003.html"]


async def test_a_run_without_trials_has_an_index() -> None:
    store = MemoryStore()
    record = example_runs.record("empty", planned=3, state="stopped")
    estimates = await example_runs.fill(store, record, [])
    assert [name for name, _ in folder.pages(record, store, estimates, "zh")] == ["index.html"]


async def test_a_folder_is_written_again_without_the_pages_it_no_longer_has(tmp_path: Path) -> None:
    store = MemoryStore()
    record, estimates = await example_runs.small_run(store)
    (tmp_path / "samples-0009.html").write_text("of a longer run")
    written = write_report(record, store, estimates, tmp_path, "en")
    assert written == tmp_path
    assert sorted(one.name for one in tmp_path.iterdir()) == ["index.html", "samples-0001.html"]


async def test_a_path_with_a_slash_is_a_folder(tmp_path: Path) -> None:
    store = MemoryStore()
    record, estimates = await example_runs.small_run(store)
    write_report(record, store, estimates, f"{tmp_path}/new/", "en")
    assert (tmp_path / "new" / "index.html").is_file()


async def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    store = MemoryStore()
    record, estimates = await example_runs.small_run(store)
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(BadInput, match="has other files"):
        write_report(record, store, estimates, tmp_path, "en")
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


async def test_an_archive_is_sent_while_it_is_made() -> None:
    store = MemoryStore()
    record, estimates = await example_runs.hostile_run(store)
    pieces = [*folder.zipped(record, store, estimates, "en")]
    assert len(pieces) > 2
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.testzip() is None
        assert f"{record.id}/index.html" in archive.namelist()
        page = archive.read(f"{record.id}/samples-0001.html").decode()
    assert page.count("<script") == 2
    assert "<img" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
