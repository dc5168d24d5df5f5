"""A run that its caller lets go of leaves no file, no thread and no process, without waiting for the garbage collector."""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proctor import (
    Run,
    Sample,
    Score,
    Task,
    Trajectory,
    compare,
    evaluate,
    evaluate_async,
    gate,
    open_run,
    rescore,
    scorer,
)
from proctor.core.errors import BadInput

OPEN_FILES = Path("/proc/self/fd")

pytestmark = pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="what is open here is not known")


@scorer()
def same(sample: Sample, trajectory: Trajectory) -> Score:
    return Score(points=int(trajectory.answer == sample.target))


def ask_back(question: str) -> str:
    return question


def fail(question: str) -> str:
    if question == "2":
        raise ValueError(question)
    return question


def task() -> Task:
    samples = [Sample.ask(f"s{number}", str(number % 3), target="1") for number in range(30)]
    return Task(name="let-go", samples=samples, scorers=[same])


def run_async(**options: Any) -> Run:
    return asyncio.run(evaluate_async(task(), agent=ask_back, **options))


def read_all(**options: Any) -> object:
    run = evaluate(task(), agent=ask_back, **options)
    again = open_run(run.id, store=options["store"]) if options["store"] != ":memory:" else run
    return again.estimate("accuracy").value, list(run.store.trials(run.id))


def compare_two(**options: Any) -> object:
    first, second = (evaluate(task(), agent=ask_back, **options) for _ in range(2))
    return compare(first, second), gate(first, against=second)


RUNS: dict[str, Callable[..., object]] = {
    "plain": lambda **options: evaluate(task(), agent=ask_back, **options),
    "async": run_async,
    "failing": lambda **options: evaluate(task(), agent=fail, on_agent_error="agent", **options),
    "attempts": lambda **options: evaluate(task(), agent=ask_back, attempts=3, **options),
    "until": lambda **options: evaluate(task(), agent=ask_back, until="accuracy >= 0.2", **options),
    "limit": lambda **options: evaluate(task(), agent=ask_back, limit=3, **options),
    "read": read_all,
    "compared": compare_two,
    "rescored": lambda **options: rescore(evaluate(task(), agent=ask_back, **options), scorers=[same]),
}


@pytest.fixture(scope="module", autouse=True)
def _nothing_of_others() -> None:
    """What other files of tests left is found before, and once."""
    gc.collect()


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("store", ["runs.db", ":memory:"])
def test_a_run_that_nobody_holds_leaves_nothing_open(kind: str, store: str, tmp_path: Path) -> None:
    place = store if store == ":memory:" else str(tmp_path / store)
    RUNS[kind](store=place)  # what is opened once for the process
    before = opened()
    for _ in range(3):
        RUNS[kind](store=place)
    assert opened() == before


def test_an_evaluation_that_is_refused_leaves_nothing_open(tmp_path: Path) -> None:
    def refused() -> None:
        with pytest.raises(BadInput):
            evaluate(task(), agent=ask_back, store=str(tmp_path / "runs.db"), until="nothing known")

    refused()
    before = opened()
    for _ in range(3):
        refused()
    assert opened() == before


def opened() -> tuple[list[str], list[str]]:
    """Return the files and the threads of this process."""
    files = []
    for file in OPEN_FILES.iterdir():
        with suppress(FileNotFoundError):  # the one by which they are listed
            files.append(str(file.readlink()))
    return sorted(name for name in files if ".db" in name), sorted(
        thread.name for thread in threading.enumerate() if thread.name.startswith("proctor")
    )
