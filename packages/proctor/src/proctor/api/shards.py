"""Conclude a run whose shards have all ended, and merge shards that are in stores of their own."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from proctor.api import numbers
from proctor.api.resuming import code_changes, differences
from proctor.api.stages import has_ended
from proctor.core.errors import BadInput
from proctor.core.judge import PROVENANCE
from proctor.core.run import RunRecord
from proctor.core.sentence import Sentence
from proctor.core.shard import Shard, shard_of
from proctor.core.task import Store, Summarise
from proctor.engine.evidence import settle_silent
from proctor.engine.recording import state_of_failures
from proctor.registry import STORES
from proctor.stores.shards import StoredShard, changed_samples, merge, opened

MOST_SHOWN = 20
CLOSING_SECONDS, PAUSE_SECONDS = 10.0, 0.2


def store_of_shard(store: Store, shard: Shard | None) -> Store:
    """Return the store as a shard writes it: where several can write one run they share it, else each has a store of its own."""
    if shard is None:
        return store
    kind = store.url.partition("://")[0]
    share = STORES.find(kind).share if STORES.knows(kind) else None
    return store if share is None else share(store, shard)


async def close(whole: Store, run_id: str, summarise: Summarise | None) -> RunRecord:
    """Return the record of a run after one of its shards has ended; it is concluded if that was the last one."""
    until = time.monotonic() + CLOSING_SECONDS
    while True:
        record = whole.run(run_id)
        if record.state not in ("finished", "inconclusive"):
            return record
        try:
            await whole.begin(record)
            break
        except BadInput:  # another shard concludes it, or has begun again and will
            if time.monotonic() > until:
                return record
        await asyncio.sleep(PAUSE_SECONDS)
    try:
        await settle_silent(record, whole)
        record = _conclude(record, whole, summarise)
    finally:
        await whole.end(record)
    return record


def find_shards(stores: Sequence[Store | str], run_id: str | None) -> dict[int, StoredShard]:
    """Return the shards of a run by their number, each in one of the stores.

    Args:
        stores: or their addresses, each of which is opened when it is needed.
        run_id: which run, where the stores have shards of several.

    Raises:
        BadInput: a shard is missing, is there twice, has not ended, or was made under other conditions; says which.
    """
    return _check(_find(stores, run_id))


async def merge_shards(shards: Mapping[int, StoredShard], target: Store) -> RunRecord:
    """Merge all shards of a run into one run of another store.

    Raises:
        BadInput: the store has a run of that name.
    """
    record = await merge(shards, target)
    try:
        await settle_silent(record, target)
        record = _conclude_merged(record, target)
    except BaseException:
        await target.end(replace(record, state="copying"))
        raise
    await target.end(record)
    return record


class _FoundShard(NamedTuple):
    shard: StoredShard
    url: str
    done: int
    is_over: bool

    @property
    def record(self) -> RunRecord:
        return self.shard.record


def _find(stores: Sequence[Store | str], run_id: str | None) -> list[_FoundShard]:
    if not stores:
        raise BadInput("Name the stores of the shards to merge.")
    shards: list[_FoundShard] = []
    empty = ""
    for source in stores:
        with opened(source) as store:
            records = [
                record for record in store.runs() if record.spec.shard is not None and run_id in (None, record.id)
            ]
            shards += [_look_at(StoredShard(record, source), store) for record in records]
            empty = empty or ("" if records else store.url)
    names = sorted({shard.record.id for shard in shards})
    if len(names) > 1:
        raise BadInput("The stores have shards of several runs: {runs}. Name one with --run.", runs=", ".join(names))
    if empty:
        raise BadInput("The store {store} has no shard{run}.", store=empty, run=f" ({run_id})" if run_id else "")
    return shards


def _look_at(shard: StoredShard, store: Store) -> _FoundShard:
    record = shard.record
    is_over = record.state != "copying" and (record.state == "inconclusive" or has_ended(record, store))
    return _FoundShard(shard, store.url, sum(store.outcomes(record.id).values()), is_over)


def _check(found: Sequence[_FoundShard]) -> dict[int, StoredShard]:
    first = found[0].record
    assert first.spec.shard is not None
    of, shards = first.spec.shard.of, dict[int, _FoundShard]()
    for stored in found:
        record, shard = stored.record, stored.record.spec.shard
        shard = shard_of(str(shard))  # a store may be anybody's
        assert shard is not None
        if shard.number in shards and shard.of == of:
            raise BadInput(
                "Shard {shard} is there twice: in {first} and in {second}.",
                shard=shard,
                first=shards[shard.number].url,
                second=stored.url,
            )
        changed = _changes(first, record)
        if changed or shard.of != of:
            raise BadInput(
                "Shards {first} and {second} are not of the same run: {changed}.",
                first=first.spec.shard,
                second=shard,
                changed=changed[0] if changed else f"{of} ≠ {shard.of}",
            )
        if not stored.is_over:
            raise BadInput(
                "Shard {shard} in {store} has not ended: {done} of {count} trials. Run it again with the same command, then merge.",
                shard=shard,
                store=stored.url,
                done=stored.done,
                count=record.planned,
            )
        shards[shard.number] = stored
    if count := of - len(shards):
        missing = islice((number for number in range(1, of + 1) if number not in shards), MOST_SHOWN)
        raise BadInput(
            "{count} of {of} shards are missing: {missing}.",
            count=count,
            of=of,
            missing=", ".join(map(str, missing)) + (" …" if count > MOST_SHOWN else ""),
        )
    return {number: one.shard for number, one in shards.items()}


def _changes(one: RunRecord, other: RunRecord) -> list[Sentence]:
    same = replace(other, spec=replace(other.spec, shard=one.spec.shard))
    samples = changed_samples(one, other)
    return [*differences(one, same), *code_changes(one.provenance, other.provenance), *([samples] if samples else ())]


def _conclude_merged(record: RunRecord, store: Store) -> RunRecord:
    try:
        return _conclude(record, store, numbers.summarise_again(record))
    except BadInput:  # the files of its task are not here, which alone know the official aggregates
        return replace(_conclude(record, store, None), official=None)


def _conclude(record: RunRecord, store: Store, summarise: Summarise | None) -> RunRecord:
    """Return the record with the state that follows from all trials, and the official aggregates."""
    if not store.outcomes(record.id).get("skipped"):  # else the budget ended a shard, and its note says so
        scorers = record.scorers if record.provenance.get(PROVENANCE) else ()
        state, note = state_of_failures(record, store, scorers, record.planned)
        record = replace(record, state=state, note=note)
    return numbers.conclude(record, store, summarise)
