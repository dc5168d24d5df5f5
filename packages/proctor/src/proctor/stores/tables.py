"""Read runs out of the tables of a database: what stores in SQLite and in PostgreSQL share."""

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from math import isfinite
from typing import Any, Protocol

from proctor.core.annotation import Annotation, AnnotationKind
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.core.tally import Tally
from proctor.core.trajectory import Usage
from proctor.core.trial import INFRASTRUCTURE, RETRYABLE, Outcome, Trial, Value, Verdict
from proctor.registry import unknown
from proctor.stores import _tallies
from proctor.stores.blobs import clean
from proctor.stores.files import read_trial
from proctor.stores.rows import DamagedRecord, T, decode, planned_sample, value
from proctor.stores.schema import RUN_SHIFT, SPENT, first_sample

PAGE = 64  # records of up to some MB each
NARROW_PAGE = 2_000
ID_PAGE = 10_000
_FILE = "SELECT data FROM files WHERE run = :run AND digest = :digest"


class TableQueries(_tallies.TallyQueries, Protocol):
    """The queries of a kind of database, with `:name` for each value.

    Lazy ones return pages of `:size` rows that begin with (sample, attempt), after `:sample, :attempt` and before `:last`.
    """

    NUMBER: str
    FINISHED: str
    OUTCOMES: str
    USAGE: str
    SAMPLE: str
    TRIALS: str
    FILTERS: Mapping[str, str]
    VERDICTS: str
    VALUES: str
    PLANNED: str
    HISTORY: str
    ANNOTATIONS: str

    def named(self, ids: Sequence[str]) -> tuple[str, Mapping[str, object]]:
        """Return the condition that a trial is of one of these samples of `:run`, and further values that it has."""
        ...


class TableStore(ABC):
    """The reading half of a `core.task.Store` whose runs are in tables; a subclass says how a query is asked.

    Attributes:
        skips_damaged: trials with a record that cannot be read are left out, and noted in `damaged`; else they raise.
    """

    url: str
    skips_damaged: bool = False
    damaged: set[tuple[str, int]]
    _queries: TableQueries
    _pid: int  # of the process that opened it
    _end: "weakref.finalize[..., Any]"

    @abstractmethod
    def _rows(self, query: str, values: Mapping[str, object]) -> list[Any]:
        """Return all rows of a query."""

    def file_faults(self) -> list[str]:
        """Return what the database says is wrong with its file; nothing where it keeps that to itself."""
        return []

    def runs(self) -> list[RunRecord]:
        records = [decode(row[0], RunRecord) for row in self._rows("SELECT record FROM runs", {})]
        return sorted(records, key=lambda record: -record.created)

    def run(self, run_id: str) -> RunRecord:
        return self._find(run_id)[1]

    def finished(
        self, run_id: str, *, failed_too: bool = False, samples: Iterable[str] | None = None
    ) -> set[tuple[str, int]]:
        again = RETRYABLE - INFRASTRUCTURE if failed_too else RETRYABLE
        outcomes = ", ".join(f"'{outcome}'" for outcome in sorted(again))
        query, values = self._queries.FINISHED.format(again=outcomes), self._range(run_id)
        if samples is None:
            return set(self._rows(query, values))
        values |= {"run": self._find(run_id)[0]}
        keys, rest = set[tuple[str, int]](), map(clean, samples)
        while chunk := list(islice(rest, ID_PAGE)):
            condition, named = self._queries.named(chunk)
            keys.update(self._rows(f"{query} AND {condition}", {**values, **named}))
        return keys

    def outcomes(self, run_id: str) -> Mapping[Outcome, int]:
        return dict(self._rows(self._queries.OUTCOMES, self._range(run_id)))

    def usage(self, run_id: str) -> Usage:
        (row,) = self._rows(self._queries.USAGE, self._range(run_id))
        *tokens, cost = row
        if cost is not None and not isfinite(cost):  # earlier versions stored whatever a provider reported
            cost = None
        return Usage(**dict(zip(SPENT, (value or 0 for value in tokens), strict=False)), cost=cost)

    def trials(
        self,
        run_id: str,
        *,
        outcome: Outcome | None = None,
        sample_id: str | None = None,
        scorer: str | None = None,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> Iterator[Trial]:
        named = None if scorer is None else clean(scorer)
        filters = {"outcome": outcome, "scorer": named, "min_value": min_value, "max_value": max_value}
        chosen = [self._queries.FILTERS["outcome"]] if outcome is not None else []
        if min_value is not None or max_value is not None:
            chosen.append(self._queries.FILTERS["value"])
        query = self._queries.TRIALS.format(filters=" ".join(chosen))
        pages = self._pages(query, self._range(run_id, sample_id) | filters)
        return self._decoded(pages, lambda rows: [self._trial(sample, data) for sample, _, data in rows])

    def verdicts(self, run_id: str, *, scorer: str | None = None, sample_id: str | None = None) -> Iterator[Verdict]:
        values = self._range(run_id, sample_id) | {"scorer": None if scorer is None else clean(scorer)}
        pages = self._pages(self._queries.VERDICTS, values)
        given = (row for row in pages if row[2] is not None)
        return self._decoded(given, lambda rows: [decode(data, Verdict) for _, _, data in rows])

    def values(self, run_id: str, scorer: str) -> Iterator[Value]:
        values = self._range(run_id) | {"scorer": clean(scorer)}
        pages = self._pages(self._queries.VALUES, values, size=NARROW_PAGE)
        return (value(*row[2:], attempt=row[1]) for row in pages)

    def sample(self, run_id: str, sample_id: str) -> Sample | None:
        rows = self._rows(self._queries.SAMPLE, {"run": clean(run_id), "name": clean(sample_id)})
        if rows:
            numbered = [(self._range(run_id, sample_id)["first"], 0, rows[0][0])]
            return next(self._decoded(numbered, lambda rows: [decode(data, Sample) for *_, data in rows]), None)
        self._find(run_id)
        return None

    def planned(self, run_id: str) -> Iterator[Sample]:
        pages = self._pages(self._queries.PLANNED, self._range(run_id))
        for number, attempt, name, cluster, tags, data in pages:
            whole = self._decoded([(number, attempt)], lambda _: [planned_sample(name, cluster, tags, data)])  # noqa: B023 - it is read at once
            yield next(whole, None) or planned_sample(name, cluster, tags, None)

    def history(self, run_id: str) -> Iterator[Trial | Verdict]:
        pages = self._pages(self._queries.HISTORY, self._range(run_id))

        def read(rows: Iterable[Any]) -> list[Trial | Verdict]:
            return [decode(data, Verdict) if scorer else self._trial(sample, data) for sample, _, scorer, data in rows]

        return self._decoded(pages, read)

    def _trial(self, sample: int, data: bytes | None) -> Trial:
        """Decode the record of a trial, with the bytes of its files.

        Raises:
            DamagedRecord: it cannot be read.
        """

        def find(digest: bytes) -> bytes | None:
            rows = self._rows(_FILE, {"run": sample >> RUN_SHIFT, "digest": digest})
            return rows[0][0] if rows else None

        return read_trial(data, find)

    def _decoded(self, rows: Iterable[Any], read: Callable[[Iterable[Any]], list[T]]) -> Iterator[T]:
        """Yield what is read from rows that begin with (sample, attempt).

        Raises:
            DamagedRecord: one cannot be read; names its sample. Where such trials are skipped, all records of one are.
        """
        for (sample, attempt), of_trial in groupby(rows, key=lambda row: row[:2]):
            try:
                records = read(of_trial)
            except DamagedRecord as error:
                name = str(self._rows("SELECT name FROM samples WHERE id = :sample", {"sample": sample})[0][0])
                if not self.skips_damaged:
                    raise DamagedRecord(
                        "The record of the sample '{id}' (attempt {attempt}) is damaged: {error}. The others can be read: --skip-damaged. All that is damaged: proctor runs check.",
                        id=name,
                        attempt=attempt,
                        error=error.sentence.values["error"],
                    ) from error
                self.damaged.add((name, attempt))
            else:
                yield from records

    def tallies(self, run_id: str, scorer: str) -> Mapping[str, Tally]:
        number, record = self._find(run_id)
        return _tallies.tallies(self._rows, self._queries, number, record.spec.attempts, clean(scorer))

    def strata(self, run_id: str, scorer: str, tag: str) -> Mapping[str, Mapping[str, Tally]]:
        number, record = self._find(run_id)
        return _tallies.strata(self._rows, self._queries, number, record.spec.attempts, clean(scorer), tag)

    def annotations(
        self, run_id: str | None = None, *, kind: AnnotationKind | None = None, sample_id: str | None = None
    ) -> list[Annotation]:
        number = None if run_id is None else self._find(run_id)[0]
        values = {"run": number, "kind": kind, "sample": None if sample_id is None else clean(sample_id)}
        found = [decode(record, Annotation) for (record,) in self._rows(self._queries.ANNOTATIONS, values)]
        return sorted(found, key=lambda annotation: annotation.created)

    def _find(self, run_id: str) -> tuple[int, RunRecord]:
        rows = self._rows("SELECT id, record FROM runs WHERE name = :run", {"run": clean(run_id)})
        if not rows:
            names = [row[0] for row in self._rows("SELECT name FROM runs ORDER BY id DESC", {})]
            raise unknown("run", run_id, names, paths=False, most=8)
        return rows[0][0], decode(rows[0][1], RunRecord)

    def _range(self, run_id: str, sample_id: str | None = None) -> dict[str, object]:
        """Return the numbers of the samples of a run, or of one sample: from `first` up to, but not including, `last`."""
        number, _ = self._find(run_id)
        if sample_id is None:
            return {"first": first_sample(number), "last": first_sample(number + 1)}
        rows = self._rows(self._queries.NUMBER, {"run": number, "name": clean(sample_id)})
        return {"first": rows[0][0], "last": rows[0][0] + 1} if rows else {"first": 0, "last": 0}

    def _pages(self, query: str, values: Mapping[str, object], *, size: int = PAGE) -> Iterator[Any]:
        """Yield rows that begin with (sample, attempt), page by page."""
        sample, attempt = values["first"], -1
        while rows := self._rows(query, {**values, "sample": sample, "attempt": attempt, "size": size}):
            yield from rows
            sample, attempt = rows[-1][:2]

    def _check_usable(self) -> None:
        if not self._end.alive:
            raise RuntimeError(f"the store {self.url} is closed")
        if os.getpid() != self._pid:
            raise RuntimeError(f"the store {self.url} was opened before a fork; open it again in the new process")
