"""Import the log of another program as stored runs, and compare its own figures with ours."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, product
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.api import rescore, resolve
from proctor.api.loop import run_in_loop
from proctor.api.names import check_run_id, make_slug
from proctor.api.prepare import at
from proctor.api.run import Run
from proctor.core.near import did_you_mean, near
from proctor.core.run import RunRecord
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.task import Scorer, Store
from proctor.core.version import __version__
from proctor.runtime.garbage import gc_relaxed
from proctor.stores.reading import verdicts_by_trial
from proctor_adapters.imports import ForeignRun, LogReading, read
from proctor_adapters.imports.keeping import keep, original_name

CONTENT = "content"  # the digest of the file, in the provenance of its runs


class ImportedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A mean as the log states it, and as the stored verdicts yield it."""

    scorer: str
    metric: str
    log: float
    here: float | None

    @property
    def is_equal(self) -> bool:
        return self.here is not None and abs(self.here - self.log) < 1e-6


class SameVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """On how many of the trials that both scored a scorer of the log and one of ours say the same: passed, or not."""

    log: str
    ours: str
    same: int
    both: int


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was imported."""

    run: Run
    format: str
    figures: tuple[ImportedFigure, ...] = ()
    agreement: tuple[SameVerdict, ...] = ()

    @property
    def of_log(self) -> list[str]:
        """Return the scorers of the log, without those of ours that scored its trials too."""
        ours = {pair.ours for pair in self.agreement}
        return [name for name in self.run.record.scorers if name not in ours]


def import_log(
    path: str | Path,
    *,
    format: str | None = None,
    run_id: str | None = None,
    store: str | Store | None = None,
    how: LogReading = LogReading(),  # noqa: B008 - frozen
    scorers: Sequence[str | Scorer] = (),
) -> list[Imported]:
    """Import the runs of a log; each is read, scored again and compared like any other, but cannot be resumed.

    Args:
        run_id: the name of the run, or what the names of several begin with; by default it is made from the task and the
            content of the file, so that a log is not imported twice by accident.
        scorers: ours, which score the imported trials too, and are compared with those of the log.

    Raises:
        BadInput: the log cannot be read, or the store has a run of that name.
    """
    path, opened = Path(path), at(store)
    resolve.scorers(scorers)  # a mistake is found before anything is written
    runs = [replace(run, task=how.task or run.task, agent=how.agent or run.agent) for run in read(path, format, how)]
    content = _digest(path)
    names = _names(runs, run_id, content)
    for name in names:
        check_run_id(name)
    there = {run.id: run for run in opened.runs() if run.id in names and _is_whole(run, content)}
    if len(there) == len(names):
        there = {}  # it is not imported twice
    runs = [replace(run, provenance={**run.provenance, CONTENT: content}) for run in runs]
    return [_import(run, opened, name, there.get(name), scorers) for run, name in zip(runs, names, strict=True)]


def unused(found: Sequence[Imported], how: LogReading) -> list[Sentence]:
    """Return a sentence for each score and key that `how` names and the log does not have."""
    sentences = []
    scores = list(dict.fromkeys(original_name(name, each.format) for each in found for name in each.of_log))
    for name in how.scales:
        if name not in scores:
            meant = did_you_mean(near(name, scores))
            sentences.append(
                say(
                    "The log has no score '{name}' for --scale.{near} Known: {known}.",
                    name=name,
                    near=meant,
                    known=", ".join(scores),
                )
            )
    slices = [
        key for each in found for name in each.run.record.scorers for key in each.run.store.tallies(each.run.id, name)
    ]
    return sentences + [
        say("No sample of the log that was scored has '{key}' in its metadata (--tag).", key=key)
        for key in (how.tags if slices else ())
        if not any(slice_.startswith(f"{key}=") for slice_ in slices)
    ]


def _is_whole(record: RunRecord, content: str) -> bool:
    """True if an earlier import of the same file, which did not reach its last run, kept this one."""
    return record.state != "copying" and record.provenance.get(CONTENT) == content


def _import(
    found: ForeignRun, store: Store, name: str, record: RunRecord | None, scorers: Sequence[str | Scorer]
) -> Imported:
    if record is None:
        with gc_relaxed():
            record = run_in_loop(lambda _: keep(found, store, name, version=__version__))
    run, figures = Run(record, store), tuple(_figures(found, record, store))
    if not scorers:
        return Imported(run=run, format=found.format, figures=figures)
    run = rescore(run, scorers=scorers)
    ours = [name for name in run.record.scorers if name not in record.scorers]
    return Imported(
        run=run, format=found.format, figures=figures, agreement=tuple(_agreement(run, record.scorers, ours))
    )


def _agreement(run: Run, theirs: Sequence[str], ours: Sequence[str]) -> Iterator[SameVerdict]:
    """Yield how often each two say the same; a scorer has passed a trial by its own pass mark, or with full marks."""
    same: Counter[tuple[str, str]] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for _, verdicts in verdicts_by_trial(run.store, run.id):
        passed = {verdict.scorer: verdict.result.passed for verdict in verdicts if isinstance(verdict.result, Score)}
        for pair in product(theirs, ours):
            if pair[0] in passed and pair[1] in passed:
                both[pair] += 1
                same[pair] += passed[pair[0]] == passed[pair[1]]
    for pair in product(theirs, ours):
        yield SameVerdict(log=pair[0], ours=pair[1], same=same[pair], both=both[pair])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _names(runs: Sequence[ForeignRun], run_id: str | None, content: str) -> list[str]:
    if run_id is None:
        ends = f"-{content[:8]}"
        return [
            f"{name}{ends}"
            for name in _unique([run.task if len(runs) == 1 else f"{run.task}-{run.agent}" for run in runs])
        ]
    return [run_id] if len(runs) == 1 else [f"{run_id}-{name}" for name in _unique([run.agent for run in runs])]


def _unique(texts: Sequence[str]) -> list[str]:
    names: list[str] = []
    for text in texts:
        slug = make_slug(text, 60)
        numbered = (f"{make_slug(text, 56)}-{number}" for number in count(len(names) + 1))
        names.append(slug if slug not in names else next(one for one in numbered if one not in names))
    return names


def _figures(found: ForeignRun, record: RunRecord, store: Store) -> Iterator[ImportedFigure]:
    named = {original_name(name, found.format): name for name in record.scorers}
    for reported in found.reported:
        scorer = named.get(reported.scorer)
        if scorer is not None:
            sums = store.tallies(record.id, scorer).get("")
            here = sums.total / sums.samples if sums is not None and sums.samples else None
            yield ImportedFigure(scorer=scorer, metric=reported.metric, log=reported.value, here=here)
