"""A run whose environment or simulated user is broken stops and says why; one that breaks in single samples goes on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import BadInput, Sample, Task, Trajectory
from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import Message, ToolCall, ToolResult

SAMPLES = 60


class Broken:
    """An environment that cannot be entered by the samples that `breaks` names, for a while."""

    def __init__(self, breaks: Callable[[int], bool], kind: str = "start") -> None:
        self.breaks, self.kind = breaks, kind
        self.entered = 0

    def __call__(self, sample: Sample) -> "Broken":
        self.entered += 1
        if self.breaks(int(sample.id)):
            raise EnvironmentFailed("The shop is closed.", kind=self.kind)
        return self

    async def call(self, call: ToolCall) -> ToolResult:
        raise NotImplementedError

    def state(self) -> dict[str, object]:
        return {}


class SilentUser:
    """A simulated user that breaks at its first word."""

    def reply(self, trajectory: Trajectory) -> Message | None:
        raise ConnectionError("its model is away")


def answer(question: str) -> str:
    return question


def play(tmp_path: Path, *, environment: Any = None, user: Any = None, **more: Any) -> proctor.Run:
    samples = [Sample.ask(str(n), str(n), target=str(n)) for n in range(SAMPLES)]
    task = Task(name="numbers", samples=samples, scorers=["exact"], environment=environment, user=user)
    store = str(tmp_path / "runs.db")
    return proctor.evaluate(task, agent=answer, store=store, run_id="r", order="official", **more)


@pytest.mark.parametrize("at_once", [1, 8])
def test_an_environment_that_never_starts_stops_the_run_and_resumes_once_it_is_mended(
    tmp_path: Path, at_once: int
) -> None:
    environment = Broken(lambda n: True)
    for _ in range(2):  # the second time it stops again, although the run is no new one
        before = environment.entered
        with pytest.raises(BadInput, match=r"The environment failed in 10 trials in a row.*The shop is closed"):
            play(tmp_path, environment=environment, concurrency=at_once)
        assert environment.entered - before <= 10 + at_once
    environment.breaks = lambda n: False
    run = play(tmp_path, environment=environment, concurrency=at_once, retry_failed=True)
    assert run.outcomes == {"scored": SAMPLES}


def test_a_simulated_user_that_never_speaks_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="The simulated user failed in 10 trials in a row"):
        play(tmp_path, user=SilentUser(), concurrency=1)


def test_an_environment_that_breaks_on_the_way_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"The environment failed in 1[0-9] trials in a row"):
        play(tmp_path, environment=Broken(lambda n: n >= 20), concurrency=5)
    outcomes = proctor.open_run("r", store=str(tmp_path / "runs.db")).outcomes
    assert outcomes["scored"] == 20
    assert 10 <= outcomes["environment_failed"] <= 20


@pytest.mark.parametrize(
    ("breaks", "kind"),
    [(lambda n: n % 2 == 0, "start"), (lambda n: n % 10 != 0, "start"), (lambda n: True, "machine")],
    ids=["each second", "nine in a row", "a machine that is short of something"],
)
def test_samples_that_fail_for_another_reason_do_not_stop_the_run(
    tmp_path: Path, breaks: Callable[[int], bool], kind: str
) -> None:
    run = play(tmp_path, environment=Broken(breaks, kind), concurrency=1)
    assert run.outcomes["environment_failed"] == sum(map(breaks, range(SAMPLES)))
    assert sum(run.outcomes.values()) == SAMPLES
