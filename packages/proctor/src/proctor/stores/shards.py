"""Put the shards of a run together: their records into one, and their runs, each in a store of its own, into one store."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from msgspec.structs import replace

from proctor.core.run import RunRecord, RunState
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.shard import place_of
from proctor.core.task import Store
from proctor.stores import open_store
from proctor.stores.blobs import encode
from proctor.stores.copy import begin_copy, copy_annotations, copy_history
from proctor.stores.rows import decode

CODE, JUDGES = "code", "judges"  # in a provenance: files by part, and what judged


class StoredShard(NamedTuple):
    """A shard of a run in a store, or in one at an address."""

    record: RunRecord
    source: Store | str


@contextmanager
def opened(source: Store | str) -> Iterator[Store]:
    """Yield a store; one that is named by its address is open as long as the block lasts."""
    if not isinstance(source, str):
        yield source
        return
    with closing(open_store(source)) as store:
        yield store


def changed_samples(one: RunRecord, other: RunRecord) -> Sentence | None:
    """Return from how many samples two shards were chosen, if the numbers differ: then some sample is in no shard, or in two."""
    before, now = (record.strata.total if record.strata is not None else None for record in (one, other))
    return None if before == now else say("{before} → {now} samples", before=before, now=now)


def with_scorers_of(whole: RunRecord, shard: RunRecord) -> RunRecord:
    """Return the record of a shard with the scorers and judges of the run: it may have been scored with others since."""
    if whole.spec.scorers == shard.spec.scorers:
        return shard
    spec, before, now = whole.spec, shard.provenance, whole.provenance
    files = {part: files for part, files in now.get(CODE, {}).items() if part in ("scorers", "judge")}
    code = {CODE: {**before.get(CODE, {}), **files}} if files else {}
    judges = {JUDGES: now[JUDGES]} if JUDGES in now else {}
    return replace(
        shard,
        scorers=whole.scorers,
        spec=replace(shard.spec, scorers=spec.scorers, judge=spec.judge, judge_options=spec.judge_options),
        provenance={**before, **code, **judges},
    )


def merge_records(whole: RunRecord, shards: Mapping[int, RunRecord], of: int, *, is_played: bool = False) -> RunRecord:
    """Return the record of a run as its shards have left it; it has not ended before all `of` shards have.

    It took as long as the shard that took longest.

    Args:
        is_played: all trials are there, whoever played them.
    """
    records = [shards[number] for number in sorted(shards)]
    notes = [record.note for record in records if record.note is not None]
    return replace(
        whole,
        spec=replace(whole.spec, shard=None),
        state=_merge_states([record.state for record in records], 0 if is_played else of),
        note=notes[0] if notes else None,
        created=min((whole.created, *(record.created for record in records))),
        seconds=max((whole.seconds, *(record.seconds for record in records))),
        unbooked=max(whole.unbooked, sum(record.unbooked for record in records)),
        warnings=tuple(_distinct(warning for record in (whole, *records) for warning in record.warnings)),
        refused=tuple(dict.fromkeys(key for record in (whole, *records) for key in record.refused)),
    )


def _distinct(warnings: Iterable[Sentence]) -> list[Sentence]:
    sentences: list[Sentence] = []  # a sentence has no hash
    for warning in warnings:
        if warning not in sentences:
            sentences.append(warning)
    return sentences


def _merge_states(states: Sequence[RunState], of: int) -> RunState:
    for state in ("running", "stopped") if of else ():
        if state in states:
            return state
    if len(states) < of:
        return "running"
    return "inconclusive" if "inconclusive" in states else "finished"


async def merge(shards: Mapping[int, StoredShard], target: Store) -> RunRecord:
    """Copy all shards of a run into one run of another store, which stays open; return its record.

    Of shards at addresses one is open at a time: there may be more of them than a process may open files.

    Until the run is ended its state is "copying": after a kill, merge again.

    Raises:
        BadInput: the target has a run of that name.
    """
    in_order = [shards[number] for number in sorted(shards)]
    records = {number: shard.record for number, shard in shards.items()}
    record = merge_records(in_order[0].record, records, len(in_order))
    record = replace(record, planned=sum(shard.record.planned for shard in in_order))
    await begin_copy(record, target)
    try:
        await target.plan(record.id, _in_order_of_the_task(in_order))
        for shard in in_order:
            with opened(shard.source) as store:
                await copy_history(store, target, record.id)
        copy_annotations(_each_opened(in_order), target, record.id)
    except BaseException:
        await target.end(replace(record, state="copying"))
        target.delete(record.id)
        raise
    return record


def _each_opened(shards: Sequence[StoredShard]) -> Iterator[Store]:
    for shard in shards:
        with opened(shard.source) as store:
            yield store


def _in_order_of_the_task(shards: Sequence[StoredShard]) -> Iterator[Sample]:
    """Yield the samples of all shards as the task has them; where samples follow each other, roughly so."""
    with closing(
        sqlite3.connect("", check_same_thread=False)
    ) as sorted_file:  # "" is a file that goes when it is closed
        sorted_file.execute("PRAGMA journal_mode = OFF")
        sorted_file.execute("CREATE TABLE samples (place INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        for number, (shard, store) in enumerate(zip(shards, _each_opened(shards), strict=True), start=1):
            rows = (
                (place_of(row, number, len(shards)), encode(sample))
                for row, sample in enumerate(store.planned(shard.record.id))
            )
            sorted_file.executemany("INSERT INTO samples VALUES (?, ?)", rows)
        for (data,) in sorted_file.execute("SELECT data FROM samples ORDER BY place"):
            yield decode(data, Sample)
