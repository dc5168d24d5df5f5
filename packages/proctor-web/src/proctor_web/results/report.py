"""Gather the report of a run once, and again when the run has changed; write it for those who save it, and keep the file."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from proctor.api import Run
from proctor.core.digest import digest_bytes
from proctor.core.run import Estimate
from proctor.core.version import __version__
from proctor.reports.build import ReportData, build
from proctor.reports.folder import zipped
from proctor_web.comparing.background import Background
from proctor_web.operations import RunReference
from proctor_web.samples.side import Side, file_name
from proctor_web.workspace import Found, Workspace

NAME = "report"
PATIENT_SECONDS = 0.1  # that a page waits; then it says what it waits for
WRITTEN_SECONDS = 3.0  # that a browser waits for a file; then a page says what it waits for
FAILURES = 10  # that are shown, spread over the kinds of error
REST = 25  # the report of a run that is under way is made again after this many times as long as it took


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """A report, when it was gathered, and how long that took."""

    report: ReportData
    at: float
    seconds: float


class Latest:
    """The last report of each run that was seen while it was under way: `workspace.kept(Latest)`."""

    def __init__(self, _: Workspace) -> None:
        self.by_run: dict[str, Gathered] = {}


def get_report(workspace: Workspace, given: RunReference) -> ReportData:
    """Return all that a page about a run shows: estimates, outcomes, errors, distributions, first failures, what was run."""
    run = workspace.find_run(given.run)
    return workspace.kept(Side).cached(run, NAME, Gathered, lambda: _gather(run)).report


def get_estimates(workspace: Workspace, given: RunReference) -> Sequence[Estimate]:
    """Return every estimate of a run: official aggregates, then the whole run, then each slice."""
    return [estimate for section in get_report(workspace, given).sections for estimate in section.estimates]


def report_soon(workspace: Workspace, found: Found, *, waits: bool = False) -> Gathered | None:
    """Return the report of a run; unless it `waits`, None while that takes longer than a page can.

    Of a run that is under way it is a little old, so that looking at the run does not slow it down.
    """
    latest = workspace.kept(Latest).by_run
    known = latest.get(found.reference) if found.record.state == "running" else None
    if known is not None and time.time() < known.at + REST * known.seconds:
        return known
    side = workspace.kept(Side)
    if waits:
        return side.cached(found, NAME, Gathered, lambda: _gather(found))
    gathered = side.soon(found, NAME, Gathered, lambda: _gather(found), seconds=PATIENT_SECONDS) or known
    if gathered is not None and found.record.state == "running":
        latest[found.reference] = gathered
    else:
        latest.pop(found.reference, None)
    return gathered


def _gather(found: Found) -> Gathered:
    begin = time.monotonic()
    report = build(found.record, found.store, Run(found.record, found.store).estimates, failures=FAILURES)
    return Gathered(report=report, at=time.time(), seconds=time.monotonic() - begin)


def written(workspace: Workspace, found: Found, suffix: str, lang: str, *, waits: bool = False) -> Path:
    """Return the file of a report.

    Raises:
        StillComputing: it is being written, unless the caller `waits`.
    """
    folder = workspace.kept(Side).folder(found.store)
    stem = f"report-{file_name(found.record.id).removesuffix('.db')}-{lang}"
    version = digest_bytes(f"{__version__}:{found.store.version(found.record.id)}".encode())[:12]
    path = folder / f"{stem}-{version}.{suffix}"
    if path.is_file():
        return path
    written_to = workspace.kept(Background).result(
        ("report", found.reference, suffix, lang),
        [found],
        partial(_write, str(path), f"{stem}-*.{suffix}", lang),
        version=object(),  # an earlier result does not count: its file is gone
        seconds=None if waits else WRITTEN_SECONDS,
    )
    return Path(written_to)


def _write(path: str, earlier: str, lang: str, runs: Sequence[Found]) -> str:
    """Write the report of the only run, in place of its earlier ones."""
    file = Path(path)
    with TemporaryDirectory(dir=file.parent, prefix="report-") as folder:
        run, fresh = Run(runs[0].record, runs[0].store), Path(folder, f"report{file.suffix}")
        if file.suffix == ".zip":
            with fresh.open("wb") as archive:
                archive.writelines(zipped(run.record, run.store, run.estimates, lang))
        else:
            run.report(fresh, lang=lang)
        for file_before in file.parent.glob(earlier):
            file_before.unlink(missing_ok=True)
        fresh.replace(file)
    return path
