"""The garbage collector during a run, and after it."""

import gc

import pytest

from proctor import Sample, Task, evaluate
from proctor.engine.garbage import SELDOM


@pytest.mark.parametrize(("before", "during"), [(700, SELDOM), (0, 0), (SELDOM + 1, SELDOM + 1)])
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
