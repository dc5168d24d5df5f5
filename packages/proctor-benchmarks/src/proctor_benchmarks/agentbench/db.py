"""Play the database part by the official loop of the text edition.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/dbbench/__init__.py`. The prompt is read from the user's
clone.
"""

import json
import re
from collections.abc import Generator, Mapping
from pathlib import Path

from proctor.core.sample import JsonObject, Message, Sample
from proctor.models.named import OpenedModels
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_benchmarks.agentbench.database import Databases, WorkerTable
from proctor_benchmarks.agentbench.db_answer import CHANGING
from proctor_benchmarks.agentbench.official import Status
from proctor_judging.replies.python_source import constants

ROUNDS = 15
_ACTION = re.compile(r"Action: (.*?)\n")
_OPENING, _CLOSING = "```sql\n", "\n```"
_ANSWER = re.compile(r"\nFinal Answer:(.*)")


class DatabasePart(OpenedModels):
    """Plays samples, each on a table of its own."""

    def __init__(self, root: Path, databases: Databases, rounds: int = ROUNDS) -> None:
        super().__init__([databases])
        self._prompt: str = constants(root / "src/server/tasks/dbbench/__init__.py")["big_prompt"]
        self._databases = databases
        self._rounds = rounds

    async def __call__(self, sample: Sample, history: History) -> Loop:
        """Play one sample. The answer to a change is the digest of the table, however the sample ended."""
        entry = sample.meta["item"]
        async with self._databases.open(entry["table"]) as table:
            history += [Message.of("user", self._prompt), Message.of("assistant", "Ok."), question(entry)]
            reply = (yield None) or ""
            status: Status = "completed"
            rounds, answer = 0, ""
            while (action := _ACTION.search(reply)) and action.group(1) == "Operation" and rounds < self._rounds:
                if (sql := sql_of(reply)) is None:
                    status = "agent validation failed"
                    break
                history.append(Message.of("user", await table.execute(sql.strip().replace("\n", " "))))
                if (said := (yield None)) is None:
                    status = "agent context limit"
                    break
                reply, rounds = said, rounds + 1
            else:
                answer, status = self._answered(reply, rounds)
            yield EndedSample(status=status, result=await result(entry, table, answer))

    def _answered(self, reply: str, rounds: int) -> tuple[str, Status]:
        match = _ANSWER.search(reply)
        answer = match.group(1) if match else ""
        if rounds >= self._rounds and not answer:
            return answer, "task limit reached"
        return answer, "completed" if match else "agent validation failed"


def sql_of(reply: str) -> str | None:
    """Return the first block of SQL of a reply.

    >>> sql_of("Action: Operation\\n```sql\\nSELECT 1\\n```")
    'SELECT 1'
    """
    _, opening, rest = reply.partition(_OPENING)
    sql, closing, _ = rest.partition(_CLOSING)
    return sql if opening and closing else None


def question(entry: Mapping[str, object]) -> Message:
    """Return the message that asks what an entry asks."""
    return Message.of("user", f"{entry['description']}\n{entry['add_description']}")


async def result(entry: JsonObject, table: WorkerTable, answer: str) -> dict[str, str]:
    """Return the official result; the answer to a change is the digest of the table."""
    kind = entry["type"][0]
    return {"answer": await table.digest() if kind in CHANGING else answer, "type": kind, "error": ""}


def solution(sample: Sample) -> Generator[str, str]:
    """Yield replies that are right: the expected answer, or the expected change and an answer."""
    if sample.meta["item"]["type"][0] not in CHANGING:
        yield f"Action: Answer\nFinal Answer: {json.dumps(sample.target)}"
        return
    for sql in sample.meta["item"]["label"]:
        yield f"Action: Operation\n```sql\n{sql}\n```"
    yield 'Action: Answer\nFinal Answer: ["done"]'
