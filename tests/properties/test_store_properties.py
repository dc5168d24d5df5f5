"""The store in SQLite does what the one in memory does, whatever is put into them, and adds up as Python does."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_store import MemoryStore

from proctor.core.sample import File, Message, Sample, ToolResult
from proctor.core.score import Score
from proctor.core.tally import Tally
from proctor.core.task import Store
from proctor.core.trajectory import Step, Trajectory
from proctor.core.trial import OUTCOMES, Trial, Verdict
from proctor.stores.blobs import clean, encode, pack, unpack
from proctor.stores.copy import copy
from proctor.stores.files import files_in
from proctor.stores.sqlite import SqliteStore
from proctor.testing.records import a_record, a_sample, a_trial, a_verdict

ATTEMPTS = 2
ids = st.sampled_from("abcdef")
tags = st.dictionaries(st.sampled_from(["level", "lang"]), st.sampled_from("12"), max_size=2)
samples = st.builds(
    a_sample,
    ids,
    cluster=st.sampled_from([None, None, "x", "y", "a"]),
    tags=tags,
)
plans = st.lists(samples, min_size=1, unique_by=lambda sample: sample.id)
points = st.sampled_from([None, 0, 1, 0.5, 1 / 3])
verdicts = st.dictionaries(st.sampled_from(["exact", "other"]), points)
trials = st.tuples(
    ids, st.integers(0, ATTEMPTS - 1), st.sampled_from(["scored", "scored", "scored", *OUTCOMES]), verdicts
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=60)
@given(plan=plans, played=st.lists(trials, max_size=12), judged=st.lists(trials, max_size=3))
def test_both_stores_say_the_same(plan: list[Sample], played: list[Any], judged: list[Any]) -> None:
    known = {sample.id: sample for sample in plan}
    accepted = {(id, attempt) for id, attempt, _, _ in played if id in known}

    async def play(store: Store) -> None:
        await store.begin(a_record(attempts=ATTEMPTS))
        await store.plan("r", plan)
        await asyncio.gather(
            *(
                store.add(a_trial(id, attempt, outcome), _verdicts(id, attempt, outcome, found), known[id])
                for id, attempt, outcome, found in played
                if id in known
            )
        )
        for id, attempt, _, found in judged:
            if (id, attempt) in accepted:
                await store.judge(_verdicts(id, attempt, "scored", found))
        await store.end(a_record(attempts=ATTEMPTS))

    memory, sqlite = MemoryStore(), SqliteStore(":memory:")
    try:
        for store in (memory, sqlite):
            asyncio.run(play(store))
        assert list(sqlite.trials("r")) == list(memory.trials("r"))
        assert list(sqlite.verdicts("r")) == list(memory.verdicts("r"))
        assert sqlite.outcomes("r") == memory.outcomes("r")
        assert sqlite.finished("r") == memory.finished("r")
        for scorer in ("exact", "other", "nobody"):
            assert list(sqlite.values("r", scorer)) == list(memory.values("r", scorer))
            _same(dict(sqlite.tallies("r", scorer)), dict(memory.tallies("r", scorer)))
    finally:
        sqlite.close()


files = st.builds(File, name=st.text(max_size=5), data=st.none() | st.binary(max_size=3_000))
results = st.builds(
    ToolResult, name=st.just("f"), content=st.text(max_size=5), files=st.lists(files, max_size=3).map(tuple)
)


@settings(max_examples=25)
@given(given=st.lists(results | files, min_size=1, max_size=4))
def test_files_survive_being_stored_and_copied_byte_for_byte(given: list[ToolResult | File]) -> None:
    steps = tuple(Step(message=Message(role="tool", parts=(part,))) for part in given)
    trial = a_trial("a", trajectory=Trajectory(steps=steps))
    first, second = SqliteStore(":memory:"), SqliteStore(":memory:")

    async def play() -> None:
        await first.begin(a_record())
        await first.plan("r", [a_sample("a")])
        await first.add(trial)
        await first.end(a_record())
        await copy(first, second, "r")

    try:
        asyncio.run(play())
        first.delete("r")
        (kept,) = second.trials("r")
        assert [files_in(step.message) for step in kept.trajectory.steps] == [files_in(step.message) for step in steps]
        assert first._rows("SELECT count(*) FROM files", {}) == [(0,)]
        datas = {file.data for step in steps for file in files_in(step.message)} - {None}
        assert second._rows("SELECT count(*) FROM files", {}) == [(len(datas),)]
    finally:
        first.close()
        second.close()


@given(details=st.dictionaries(st.text(), anything))
def test_a_record_comes_back_from_its_bytes(details: dict[str, Any]) -> None:
    trial = a_trial("fr", notes=details)
    assert msgspec.json.decode(unpack(pack(encode(trial))), type=Trial) == trial


@given(text=st.text(st.characters(codec=None, categories=["Cs", "Lu"])))
def test_any_text_is_kept_in_whole_characters(text: str) -> None:
    verdict = a_verdict("fr", reason=text, details={text: [text]})
    found = msgspec.json.decode(encode(verdict), type=Verdict)
    assert isinstance(found.result, Score)
    assert (found.result.reason, found.result.details) == (clean(text), {clean(text): [clean(text)]})


def _verdicts(id: str, attempt: int, outcome: str, found: dict[str, float | None]) -> Sequence[Verdict]:
    if outcome != "scored":
        return ()
    return [a_verdict(id, attempt, points, scorer=scorer) for scorer, points in found.items()]


def _same(one: dict[str, Tally], other: dict[str, Tally]) -> None:
    assert set(one) == set(other)
    for slice, tally in one.items():
        assert msgspec.structs.asdict(tally) == pytest.approx(msgspec.structs.asdict(other[slice])), slice
