"""What a model's provider does to a user's agent, seen from the synchronous entry point, on each way between."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import proctor
from proctor import Sample, Task
from proctor.core.errors import EndpointRefused

TASK = Task(name="capitals", samples=[Sample.ask("fr", "Capital of France?", target="Paris")], scorers=["exact"])


class APIStatusError(Exception):
    """As the client of a provider raises it: known by its library and the status it carries."""

    def __init__(self, status: int) -> None:
        super().__init__(f"Error code: {status}")
        self.status_code = status


APIStatusError.__module__ = "openai._exceptions"


def plain(status: int) -> Callable[[str], Any]:
    def answer(_: str) -> str:
        raise APIStatusError(status)

    return answer


def async_(status: int) -> Callable[[str], Any]:
    async def answer(_: str) -> str:
        await asyncio.sleep(0)
        raise APIStatusError(status)

    return answer


def raised_again(status: int) -> Callable[[str], Any]:
    """Re-raised by the agent without `from`: the cause is only the context."""

    def answer(_: str) -> str:
        try:
            raise APIStatusError(status)
        except APIStatusError:
            raise ValueError("the model did not answer")  # noqa: B904 - as users write it

    return answer


def in_its_own_loop(status: int) -> Callable[[str], Any]:
    def answer(_: str) -> str:
        async def ask() -> str:
            raise APIStatusError(status)

        return asyncio.run(ask())

    return answer


AGENTS = [plain, async_, raised_again, in_its_own_loop]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_provider_that_fails_is_not_the_agent(agent: Callable[[int], Any]) -> None:
    run = proctor.evaluate(TASK, agent=agent(503), store=":memory:")
    assert dict(run.outcomes) == {"provider_failed": 1}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_key_that_is_refused_stops_the_run(agent: Callable[[int], Any]) -> None:
    with pytest.raises(EndpointRefused):
        proctor.evaluate(TASK, agent=agent(401), store=":memory:")


@pytest.mark.parametrize("agent", AGENTS)
def test_the_same_inside_a_running_loop(agent: Callable[[int], Any]) -> None:
    async def notebook() -> None:
        run = proctor.evaluate(TASK, agent=agent(503), store=":memory:")
        assert dict(run.outcomes) == {"provider_failed": 1}
        with pytest.raises(EndpointRefused):
            await proctor.evaluate_async(TASK, agent=agent(403), store=":memory:")

    asyncio.run(notebook())


def test_the_traceback_of_a_failure_begins_with_the_users_own_frame() -> None:
    def answer(_: str) -> str:
        return {"Norway": "Oslo"}["France"]

    run = proctor.evaluate(TASK, agent=answer, store=":memory:")
    [trial] = run.trials()
    assert trial.failure is not None
    header, first, *_ = trial.failure.detail.splitlines()
    assert header.startswith("Traceback")
    assert __file__ in first
    assert "event loop" not in trial.failure.detail
