"""Runs as data frames of pandas and polars."""

import math
import sys
from typing import Any

import example_runs
import pytest
from memory_store import MemoryStore

import proctor
from proctor import Run, Sample, Task
from proctor.core.score import Score, Unscored
from proctor_adapters.exports import frames

KEEPS = pytest.mark.parametrize("library", ["pandas", "polars"])


def capitals(question: str) -> str:
    number = int(question)
    if number == 3:
        raise ValueError("no")
    return "Paris" if number % 2 else "Rome"


@pytest.fixture(scope="module")
def run() -> Run:
    samples = [Sample.ask(str(n), str(n), target="Paris", tags={"kind": f"k{n % 2}", "value": "=1"}) for n in range(7)]
    task = Task(name="capitals", samples=samples, scorers=["exact", "keywords"])
    return proctor.evaluate(task, agent=capitals, store=":memory:", attempts=2)


def rows(run: Run, library: str) -> list[dict[str, Any]]:
    """The rows of a frame with None for what is missing."""
    if library == "polars":
        return run.to_polars().to_dicts()
    import pandas

    frame = run.to_pandas().astype(object)
    return [{str(key): None if value is pandas.NA or value is pandas.NaT else value for key, value in row.items()} for row in frame.to_dict("records")]  # fmt: skip


@KEEPS
def test_each_trial_is_a_row_with_the_columns_of_every_scorer(run: Run, library: str) -> None:
    by_trial = {(row["sample"], row["attempt"]): row for row in rows(run, library)}
    assert len(by_trial) == 14
    for verdict in run.verdicts():
        row = by_trial[verdict.sample_id, verdict.attempt]
        assert isinstance(verdict.result, Score)
        assert (row[f"{verdict.scorer}.value"], row[f"{verdict.scorer}.points"]) == (verdict.result.value,) * 2
        assert row["tag.kind"] == f"k{int(verdict.sample_id) % 2}"
        assert row["tag.value"] == "=1"
    assert by_trial["1", 1]["started"].tzinfo is not None


@KEEPS
def test_the_mean_of_the_values_is_the_number_of_the_report(run: Run, library: str) -> None:
    for scorer in ("exact", "keywords"):
        values = [row[f"{scorer}.value"] for row in rows(run, library)]
        assert math.isclose(sum(values) / len(values), run.estimate(f"{scorer}.accuracy").value or 0)


@KEEPS
def test_what_is_missing_is_missing_and_not_0(run: Run, library: str) -> None:
    [failed, _] = [row for row in rows(run, library) if row["outcome"] == "agent_failed"]
    assert (failed["exact.value"], failed["exact.points"], failed["exact.unscored"], failed["cost"]) == (
        0.0,
        None,
        None,
        None,
    )


@KEEPS
@pytest.mark.parametrize("make", ["small", "hostile"])
async def test_every_trial_has_its_row_whatever_its_texts_hold(
    make: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    record, _ = await getattr(example_runs, f"{make}_run")(store)
    whole = rows(Run(record, store), library)
    assert len(whole) == len([*store.trials(record.id)])
    unscored = [v.sample_id for v in store.verdicts(record.id) if isinstance(v.result, Unscored)]
    missing = [row["sample"] for row in whole if any(value for name, value in row.items() if ".unscored" in name)]
    assert len(missing) == len({*unscored})
    monkeypatch.setattr(frames, "ROWS_AT_ONCE", 2)
    assert rows(Run(record, store), library) == whole


def test_columns_are_of_exact_types(run: Run) -> None:
    import polars

    by_pandas, by_polars = run.to_pandas().dtypes, run.to_polars().schema
    for name, ours, theirs in (
        ("attempt", "Int32", polars.Int32),
        ("requests", "Int64", polars.Int64),
        ("cost", "Float64", polars.Float64),
        ("exact.value", "Float64", polars.Float64),
        ("exact.unscored", "string", polars.String),
        ("tag.value", "string", polars.String),
        ("started", "datetime64[us, UTC]", polars.Datetime("us", "UTC")),
    ):
        assert (str(by_pandas[name]), by_polars[name]) == (ours, theirs)


async def test_a_run_without_trials_is_a_frame_with_columns() -> None:
    store = MemoryStore()
    record = example_runs.record("empty")
    await store.begin(record)
    for frame in (Run(record, store).to_pandas(), Run(record, store).to_polars()):
        assert len(frame) == 0
        assert "bfcl.value" in frame.columns


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)


def test_a_missing_library_names_the_extra(run: Run, without: None) -> None:
    for method in (run.to_pandas, run.to_polars):
        with pytest.raises(proctor.BadInput, match="frames"):
            method()
