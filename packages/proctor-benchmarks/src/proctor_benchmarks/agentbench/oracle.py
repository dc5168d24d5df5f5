"""Give right replies where there is an official solution: the answers of `db`, and the examples of `os`, typed into its shell."""

from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor_benchmarks.agentbench import db, os_loop

Replies = Generator[str, str]  # is sent what the world says to each
SOLVED: Mapping[str, Callable[[Sample], Replies]] = {"db": db.solution, "os": os_loop.solution}


class Oracle:
    """Solves the samples of the parts that have official solutions."""

    name = "baseline:oracle"
    tools: ToolStyle = "text"
    reports_cost = True

    @asynccontextmanager
    async def open(self, sample: Sample, environment: Environment | None) -> AsyncIterator[Session]:
        """Yield the session of one attempt.

        Raises:
            BadInput: its part has no official solutions.
        """
        if (solve := SOLVED.get(sample.tags["part"])) is None:
            raise BadInput("There is no official solution of '{part}'.", part=sample.tags["part"])
        yield _Solving(solve(sample))


class _Solving:
    def __init__(self, replies: Replies) -> None:
        self._replies = replies
        self._begun = False

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Return the next reply; nothing is said after the last one."""
        try:
            said = self._replies.send(turn.messages[-1].text) if self._begun else next(self._replies)
        except StopIteration:
            said = ""
        self._begun = True
        return [Step(message=Message.of("assistant", said))]
