"""A report as a folder of pages: its index, and pages that list, search and filter the samples, some thousand on each.

One page of a large run would have to leave samples out or cut their texts. Pages are made one after the other, in constant memory.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.reports import render
from proctor.reports.build import build
from proctor.reports.listing import state, stories
from proctor.reports.render import PageOfSamples
from proctor.reports.story import Story
from proctor.runtime.files import write_whole

PAGE_TRIALS = 2_000
PAGE_NAME = re.compile(r"index\.html|samples-\d+\.html")


def write(path: Path, record: RunRecord, store: Store, estimates: Sequence[Estimate], lang: str) -> Path:
    """Write a run as a folder of pages that begins with index.html; the index is written last.

    Raises:
        BadInput: the folder has other files, or cannot be written.
    """
    if path.is_dir() and any(not PAGE_NAME.fullmatch(file.name) for file in path.iterdir()):
        raise BadInput("The folder {path} has other files. Name an empty one, or one that does not exist.", path=path)
    written = [write_whole(path / name, text) for name, text in pages(record, store, estimates, lang)]
    for left in set(path.iterdir()) - set(written):  # of a longer run that was written here before
        left.unlink()
    return path


def zipped(record: RunRecord, store: Store, estimates: Sequence[Estimate], lang: str) -> Iterator[bytes]:
    """Yield a ZIP archive with the folder, piece by piece."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in pages(record, store, estimates, lang):
            archive.writestr(f"{record.id}/{name}", text)
            yield pieces.take()
    yield pieces.take()


def pages(
    record: RunRecord, store: Store, estimates: Sequence[Estimate], lang: str, *, trials: int = PAGE_TRIALS
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page, `index.html` last."""
    report = build(record, store, estimates)
    every = stories(record, store, at_once=trials)
    total = sum(count for name, count in report.outcomes.items() if name != "not_run")
    count = -(-total // trials)
    samples: list[PageOfSamples] = []
    while part := list(islice(every, trials)):
        number = len(samples) + 1
        samples.append(_page(_name(number), part))
        names = [_name(other) if 1 <= other <= count else "" for other in (number - 1, number + 1)]
        yield samples[-1].name, render.html_of_samples(report, lang, part, number, count, names)
    yield "index.html", render.html(report, lang, others=samples)


def _name(number: int) -> str:
    return f"samples-{number:04}.html"


def _page(name: str, part: Sequence[Story]) -> PageOfSamples:
    failed = sum(state(story) == "failed" for story in part)
    return PageOfSamples(name=name, first=part[0].sample_id, last=part[-1].sample_id, trials=len(part), failed=failed)


class _Pieces:
    """A file that is only written, and taken piece by piece."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing: `take` has everything that was written."""

    def close(self) -> None:
        """Do nothing, for the same reason."""

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts = []
        return taken
