"""Write one shard of a run that is in PostgreSQL, next to other processes that write the other shards.

The run has one plan and one set of trials; the first shard to come makes the plan. Each shard keeps a record of its own (how
long it took, what was lost, how it ended), and when it ends, the record of the run is put together from all of them.
"""

# ruff: noqa: S608 - the queries are composed of constants
import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.run import MOVABLE, RunRecord
from proctor.core.sample import Sample
from proctor.core.shard import Shard
from proctor.core.trajectory import Usage
from proctor.core.trial import Outcome
from proctor.stores.blobs import clean, encode
from proctor.stores.copy import check_whole
from proctor.stores.rows import decode
from proctor.stores.schema import SPENT
from proctor.stores.shards import changed_samples, merge_records, with_scorers_of
from proctor.stores.tables import ID_PAGE
from proctor.transport.redact import keys_of_the_environment
from proctor_adapters.postgresql import HeldRun, PostgresStore, is_open, let_go, queries
from proctor_adapters.postgresql.accept import check_epoch
from proctor_adapters.postgresql.connection import execute, holder, lock, unlock

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow

PAUSE_SECONDS = 0.2
CLOSING_SECONDS = 10.0  # how long a shard waits for one that concludes the run
_RECORDS = "SELECT number, of, record FROM shards WHERE run = %s"
_KEEP = """
INSERT INTO shards VALUES (%s, %s, %s, %s) ON CONFLICT (run, number) DO UPDATE SET record = excluded.record
"""
_OUTCOMES = "SELECT outcome, count(*) FROM trials WHERE {} GROUP BY outcome"
_COUNT = f"SELECT count(*) FROM trials WHERE {queries.OF_THE_RUN} AND outcome NOT IN ('skipped', 'cancelled')"
_USAGE = f"SELECT {', '.join(f'CAST(sum({name}) AS bigint)' for name in SPENT[:-1])}, sum(cost) FROM trials WHERE {{}}"


class ShardStore(PostgresStore):
    """A store in which a run has the record, the outcomes and the costs of one shard; all else is that of the whole run.

    Args:
        whole: the store as it is for others.

    Attributes:
        read: reads the samples of the shard.
        check: refuses a run, whose record comes first, that others began meanwhile with other code.
    """

    def __init__(self, whole: PostgresStore, shard: Shard) -> None:
        super().__init__(whole._address, patience=whole._patience)
        self.whole = whole
        self.shard = shard
        self.read: Callable[[], Iterable[Sample]] = tuple
        self.check: Callable[[RunRecord, RunRecord], object] = lambda *_: None
        self._plans: set[str] = set()  # the runs that this shard has to plan

    async def begin(self, record: RunRecord) -> None:
        """Join the run; where nobody has, create it. It is waited for while another shard makes the plan."""
        until = None
        try:
            while (number := await self._write(lambda db: self._enter(db, record))) is None:
                await asyncio.sleep(PAUSE_SECONDS)
                if any(run.planned for run in self.whole.runs() if run.id == record.id):
                    until = until or time.monotonic() + CLOSING_SECONDS
                    if time.monotonic() > until:
                        raise self._is_open(record.id)
        except BaseException:
            self._writer.call(lambda db: let_go(db, record.id, self._client.drop, self.shard.number))
            raise
        self._held[record.id] = HeldRun(number, [key.encode() for key in keys_of_the_environment()])

    async def plan(self, run_id: str, samples: Iterable[Sample]) -> int:
        """Make the plan of the whole run if no other shard did; return how many samples this shard has."""
        if run_id in self._plans:
            count = await super().plan(run_id, samples)
            number = self._open(run_id).number
            record = self.whole.run(run_id)
            whole = replace(record, planned=count * record.spec.attempts)
            await super().save(whole)
            await self._write(lambda db: self._client.share(db, number))
            self._plans.discard(run_id)
        return sum(1 for _ in self.read())

    async def save(self, record: RunRecord) -> None:
        number = self._open(record.id).number
        await self._write(lambda db: self._keep(db, number, record))

    async def end(self, record: RunRecord) -> None:
        number = self._open(record.id).number
        try:
            await self._write(lambda db: self._merge(db, number, record))
        finally:
            del self._held[record.id]
            self._client.drop(number)
            self._plans.discard(record.id)
            await self._write(lambda db: unlock(db, number, self.shard.number))

    def delete(self, run_id: str) -> None:
        """Forget the shard, whose trials stay; without any trial and any other shard the run is deleted."""
        number, _ = self._find(run_id)
        values = {"run": number, "number": self.shard.number}
        self._writer.call(
            lambda db: db.execute("DELETE FROM shards WHERE run = %(run)s AND number = %(number)s", values)
        ).result()
        if not self._rows("SELECT 1 FROM shards WHERE run = :run LIMIT 1", values) and not self.whole.outcomes(run_id):
            self.whole.delete(run_id)

    def runs(self) -> list[RunRecord]:
        query = "SELECT name, shards.record FROM shards JOIN runs ON runs.id = run WHERE number = :number"
        own = {name: decode(data, RunRecord) for name, data in self._rows(query, {"number": self.shard.number})}
        return [with_scorers_of(run, own.get(run.id) or self._fresh(run)) for run in super().runs()]

    def run(self, run_id: str) -> RunRecord:
        super().run(run_id)
        return next(record for record in self.runs() if record.id == run_id)

    def finished(
        self, run_id: str, *, failed_too: bool = False, samples: Iterable[str] | None = None
    ) -> set[tuple[str, int]]:
        samples = (sample.id for sample in self.read()) if samples is None else samples
        return super().finished(run_id, failed_too=failed_too, samples=samples)

    def outcomes(self, run_id: str) -> Mapping[Outcome, int]:
        counts: dict[Outcome, int] = {}
        for outcome, count in self._of_own(run_id, _OUTCOMES):
            counts[outcome] = counts.get(outcome, 0) + count
        return counts

    def usage(self, run_id: str) -> Usage:
        used = Usage()
        for row in self._of_own(run_id, _USAGE):
            used = used + Usage(**dict(zip(SPENT, (*(value or 0 for value in row[:-1]), row[-1]), strict=True)))
        return used

    def _of_own(self, run_id: str, query: str) -> "Iterable[TupleRow]":
        """Yield the rows of a query about the samples of the shard, for a page of them at a time."""
        number, _ = self._find(run_id)
        ids = (clean(sample.id) for sample in self.read())
        while chunk := list(islice(ids, ID_PAGE)):
            condition, values = queries.named(chunk)
            yield from self._rows(query.format(condition), {"run": number, **values})

    def _enter(self, db: "Connection", record: RunRecord) -> int | None:
        """Join a run, or create it, and return its number; None if it has to be waited for."""
        name, whole = clean(record.id), replace(record, spec=replace(record.spec, shard=None), planned=0)
        db.execute(
            "INSERT INTO runs (name, record, changed, epoch) VALUES (%s, %s, %s, 1) ON CONFLICT DO NOTHING",
            (name, encode(whole), time.time_ns()),
        )
        row = db.execute("SELECT id, record FROM runs WHERE name = %s", (name,)).fetchone()
        if row is None:  # another shard began it, and deleted it
            return None
        number, part = row[0], self.shard.number
        is_planned = decode(row[1], RunRecord).planned > 0
        is_locked = lock(db, number, is_shared=is_planned) and lock(db, number, part=part)
        row = db.execute("SELECT record, epoch FROM runs WHERE id = %s FOR UPDATE", (number,)).fetchone()
        there = None if row is None else decode(row[0], RunRecord)
        if row is None or there is None or not is_locked or (there.planned > 0) is not is_planned:
            unlock(db, number, part)
            return None
        try:
            counts = {shard: of for shard, of, _ in db.execute(_RECORDS, (number,))}
            _check_same(there, whole, set(counts.values()), self.shard)
            if part not in counts:  # else it was checked then, or changes were accepted since
                self.check(there, record)
        except BadInput:
            unlock(db, number, part)
            raise
        if there.state != "running":
            db.execute("UPDATE runs SET record = %s WHERE id = %s", (encode(replace(there, state="running")), number))
        self._client.hold(number, row[1], is_shared=is_planned, part=part)
        self._keep(db, number, record)
        if not is_planned:
            self._plans.add(record.id)
        run: int = number
        return run

    def _keep(self, db: "Connection", number: int, record: RunRecord) -> None:
        check_epoch(db, number, self._client.epochs)
        db.execute(_KEEP, (number, self.shard.number, self.shard.of, encode(record)))

    def _merge(self, db: "Connection", number: int, record: RunRecord) -> None:
        """Put the record of the run together; the lock of this shard is released before others see that it has ended."""
        self._keep(db, number, record)
        unlock(db, number, self.shard.number)
        ((data,),) = db.execute("SELECT record FROM runs WHERE id = %s", (number,)).fetchall()
        there = decode(data, RunRecord)
        shards = {shard: decode(stored, RunRecord) for shard, _, stored in db.execute(_RECORDS, (number,))}
        whole = merge_records(there, shards, self.shard.of, is_played=_is_played(db, number, there.planned))
        db.execute("UPDATE runs SET record = %s, changed = greatest(changed + 1, %s) WHERE id = %s", (encode(whole), time.time_ns(), number))  # fmt: skip

    def _is_open(self, run_id: str) -> BadInput:
        number, _ = self._find(run_id)
        if self._read(lambda db: holder(db, number, self.shard.number)) is None:
            return is_open(run_id, self.whole.writer(run_id))
        return BadInput(
            "Shard {shard} of the run '{run}' is being played by another process, here or on another machine. Wait for it or end it.",
            shard=self.shard,
            run=run_id,
        )

    def _fresh(self, whole: RunRecord) -> RunRecord:
        """Return the record of a shard that has not begun."""
        return replace(
            whole,
            spec=replace(whole.spec, shard=self.shard),
            planned=0,
            seconds=0.0,
            unbooked=0,
            refused=(),
            warnings=(),
            note=None,
            state="copying" if whole.state == "copying" else "running",
        )


def _is_played(db: "Connection", number: int, planned: int) -> bool:
    """True if nobody is at the run any more and all trials are there: who played it as a whole left no record of its shards."""
    if holder(db, number) is not None:
        return False
    row = execute(db, _COUNT, {"run": number}).fetchone()
    return row is not None and 0 < planned <= row[0]


def _check_same(there: RunRecord, asked: RunRecord, counts: set[int], shard: Shard) -> None:
    """Refuse a shard of another run, and a run whose copy is incomplete."""
    check_whole(there)
    for count in counts - {shard.of}:
        raise BadInput(
            "The run '{run}' is split into {count} shards, not into {of}.", run=there.id, count=count, of=shard.of
        )
    same = replace(asked.spec, **{name: getattr(there.spec, name) for name in MOVABLE})
    if (there.spec, there.task_version) != (same, asked.task_version):
        raise BadInput(
            "The run '{run}' has other options in another shard. Give all shards the same ones.", run=there.id
        )
    if changed := changed_samples(there, asked):
        raise BadInput(
            "The run '{run}' has other samples in another shard: {changed}. Give all shards the same data.",
            run=there.id,
            changed=changed,
        )
