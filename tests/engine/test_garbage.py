"""The garbage collector during a run, and after it."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor import Sample, Task, evaluate
from proctor.runtime import garbage
from proctor.runtime.garbage import BETWEEN_SEARCHES, RELAXED_THRESHOLD, gc_paused, gc_relaxed


@pytest.fixture
def nothing_frozen(unfrozen: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody has frozen anything, nor had before."""
    monkeypatch.setattr(garbage, "_of_others", [])
    usual = gc.get_threshold()
    gc.set_threshold(700, *usual[1:])
    yield
    gc.set_threshold(*usual)


@pytest.mark.parametrize(
    ("before", "during"), [(700, RELAXED_THRESHOLD), (0, 0), (RELAXED_THRESHOLD + 1, RELAXED_THRESHOLD + 1)]
)
def test_garbage_is_collected_seldom_during_a_run_and_as_before_after_it(before: int, during: int) -> None:
    seen = []

    async def agent(question: str) -> str:
        seen.append(gc.get_threshold())
        return ""

    usual = gc.get_threshold()
    gc.set_threshold(before, 11, 12)
    try:
        evaluate(
            Task(name="one", samples=[Sample.ask("a", "?", target="")], scorers=["exact"]),
            agent=agent,
            store=":memory:",
        )
        assert gc.get_threshold() == (before, 11, 12)
    finally:
        gc.set_threshold(*usual)
    assert seen == [(during, 11, 12)]


TRIALS = """
import asyncio, gc
from endpoint import Endpoint, chat
from proctor import Sample, Task, evaluate_async

async def main():
    samples = [Sample.ask(str(number), f"{number}?", target="Paris") for number in range(1000)]
    task = Task(name="many", samples=samples, scorers=["exact"])
    async with Endpoint(chat()) as endpoint:
        gc.collect()
        gc.disable()
        await evaluate_async(task, agent="openai:m", agent_options={"base_url": endpoint.url}, store=":memory:")
        print(gc.collect())

asyncio.run(main())
"""


def test_trials_leave_nothing_for_the_collector() -> None:
    """Run them in a process of its own: libraries that other tests have loaded leave cycles too."""
    fakes = Path(__file__).parents[1] / "fakes"
    done = subprocess.run([sys.executable, "-c", TRIALS], cwd=fakes, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1000  # that of the run, which does not grow with its trials


@pytest.mark.usefixtures("nothing_frozen")
@pytest.mark.parametrize("is_on", [True, False])
def test_what_is_made_while_paused_is_old_afterwards(is_on: bool) -> None:
    was_on = gc.isenabled()
    (gc.enable if is_on else gc.disable)()
    try:
        with gc_paused():
            assert not gc.isenabled()
            made = [[number] for number in range(5_000)]
        assert gc.isenabled() == is_on
        assert gc.get_freeze_count() == 0
        assert not is_on or gc.get_count()[0] < len(made)
    finally:
        (gc.enable if was_on else gc.disable)()


@pytest.mark.usefixtures("nothing_frozen")
def test_what_a_person_has_frozen_stays_frozen_and_garbage_is_collected_seldom() -> None:
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with gc_paused(), gc_relaxed():
            assert not gc.isenabled()
        with gc_relaxed():
            assert gc.get_threshold()[0] == RELAXED_THRESHOLD
        assert gc.get_freeze_count() > count * 0.9, "what is freed is counted no more; what is unfrozen would be all"
    finally:
        gc.unfreeze()


@pytest.mark.usefixtures("nothing_frozen")
def test_nothing_stays_frozen_after_a_run() -> None:
    with gc_relaxed():
        assert gc.get_freeze_count()
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("nothing_frozen")
def test_what_others_have_frozen_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([1])
    monkeypatch.setattr(gc, "get_freeze_count", lambda: next(counts))
    for _ in range(3):
        with gc_relaxed(), gc_relaxed():
            pass
    assert not list(counts)


@pytest.mark.usefixtures("nothing_frozen")
def test_what_a_run_has_frozen_is_not_taken_for_that_of_others() -> None:
    with gc_relaxed(), gc_relaxed(), gc_paused():
        pass
    assert not garbage._of_others
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("nothing_frozen")
def test_garbage_of_many_runs_is_searched_for_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda: searches.append(1))
    for _ in range(2 * BETWEEN_SEARCHES):
        with gc_relaxed():
            pass
    assert len(searches) == 2
