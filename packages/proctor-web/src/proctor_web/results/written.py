"""Write the report of a run for those who save it: in the background where that takes long, and kept until the run changes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.api import Run
from proctor.core.digest import digest_bytes
from proctor.core.version import __version__
from proctor.reports.folder import zipped
from proctor_web.comparing.background import Background
from proctor_web.samples.side import Side, file_name
from proctor_web.workspace import Found, Workspace

PATIENT_SECONDS = 3.0  # that a browser waits; then a page says what it waits for


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
        seconds=None if waits else PATIENT_SECONDS,
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
        for one in file.parent.glob(earlier):
            one.unlink(missing_ok=True)
        fresh.replace(file)
    return path
