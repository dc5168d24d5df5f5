"""Check the kinds of the database part: loops with scripted replies, tables and prompts, and recorded replies of MariaDB."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Self

from proctor.core.sample import JsonObject, Sample
from proctor_benchmarks.agentbench import dataset, db
from proctor_benchmarks.agentbench.database import Databases, WorkerTable
from proctor_benchmarks.agentbench.db_worker_program import digest_query
from proctor_benchmarks.agentbench.parity_rules import CANCEL, Line, Pair, replay, sha256

_DIGEST = "[('03b2eddd4fe471e0f29fc9e907fd5a5d',)]"  # of every table, in the recorded episodes
_OPENING = 2  # messages before the question


class ParityTables:
    """Real tables for lines that need some; the server starts with the first of them."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._databases: Databases | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._databases is not None:
            self._runner.run(self._databases.__aexit__(*raised))
        self._runner.close()

    def state(self, table: Mapping[str, object], statements: Sequence[str]) -> tuple[list[str], str]:
        """Return the replies to some statements on a new table, and its digest then.

        Raises:
            BadInput: there is no MariaDB here.
        """
        return self._runner.run(self._state(table, statements))

    async def _state(self, table: Mapping[str, object], statements: Sequence[str]) -> tuple[list[str], str]:
        if self._databases is None:
            self._databases = await Databases("mariadb").__aenter__()
        async with self._databases.open(table) as opened:
            return [await opened.execute(sql) for sql in statements], await opened.digest()


class _Scripted(Databases):
    """A database that gives the recorded replies in turn, and notes what is asked."""

    def __init__(self, replies: Sequence[str]) -> None:
        self.asked: list[list[object]] = []
        self._replies = list(replies)

    @asynccontextmanager
    async def open(self, table: Mapping[str, object]) -> AsyncIterator[WorkerTable]:
        yield _ScriptedTable(table, self.asked, self._replies)


class _ScriptedTable(WorkerTable):
    def __init__(self, table: JsonObject, asked: list[list[object]], replies: list[str]) -> None:
        self._table = table
        self._asked = asked
        self._replies = replies

    async def execute(self, sql: str) -> str:
        self._asked.append([sql, self._table["table_name"], 0])
        return self._replies.pop(0) if self._replies else "[]"

    async def digest(self) -> str:
        columns = [column["name"] for column in self._table["table_info"]["columns"]]
        self._asked.append([digest_query(self._table["table_name"], columns), self._table["table_name"], 0])
        return _DIGEST


def _episode(line: Line, root: Path, _: ParityTables) -> Pair:
    scripted = _Scripted(line["db_outputs"])
    sample = _sample(line, root)
    replies = list(line["replies"])
    is_cancelled_at_once = replies[:1] == [CANCEL]
    if is_cancelled_at_once:
        replies[0] = ""  # officially the same for the first reply
    ended, history, asked = replay(db.DatabasePart(root, scripted, line["max_round"]), sample, replies)
    assert ended is not None
    messages = [
        ["agent" if message.role == "assistant" else message.role, message.text] for message in history[_OPENING:]
    ]
    if is_cancelled_at_once:
        messages[1][1] = "cancelled"
    ours = {"status": ended.status, "result": ended.result, "sql": scripted.asked, "new_history": messages, "asked": asked}  # fmt: skip
    if ended.result is None:
        ours["result"] = asyncio.run(_crashed(sample, scripted))
    return {name: line[name] for name in ours}, ours


async def _crashed(sample: Sample, databases: Databases) -> dict[str, str]:
    """Return the result where the official loop crashed over a reply that was cancelled."""
    async with databases.open(sample.meta["item"]["table"]) as table:
        result = await db.result(sample.meta["item"], table, "")
    return {**result, "error": "expected string or bytes-like object, got 'NoneType'"}


def _init(line: Line, root: Path, _: ParityTables) -> Pair:
    entry = _sample(line, root).meta["item"]
    rows = entry["table"]["table_info"]["rows"]
    values = [value for row in rows for value in row]
    ours = {
        "type": entry["type"][0],
        "rows": len(rows),
        "values": len(values),
        "non_string_values": sum(not isinstance(value, str) for value in values),
        "statement_sha256": sha256(_official_statement(entry["table"])),
        "prompt_sha256": sha256(db.question(entry).text),
    }
    return {name: line[name] for name in ours}, ours


def _official_statement(table: JsonObject) -> str:
    """Return the text by which the official code makes a table, in one go; ours are single statements."""
    name = table["table_name"]
    columns = [f"`{column['name']}`" for column in table["table_info"]["columns"]]
    rows = ",".join(f"({','.join(['%s'] * len(row))})" if row else ")" for row in table["table_info"]["rows"])
    typed = ",".join(f"{column} TEXT" for column in columns)
    return (
        f"CREATE DATABASE IF NOT EXISTS `{name}`;\nUSE `{name}`;\nCREATE TABLE IF NOT EXISTS `{name}` ({typed});\n"
        f"INSERT INTO `{name}` ({','.join(columns)}) VALUES {rows}; \nCOMMIT;\n"
    )


def _db_state(line: Line, root: Path, tables: ParityTables) -> Pair:
    replies, digest = tables.state(_sample(line, root).meta["item"]["table"], line["statements"])
    ours: dict[str, object] = {"outputs": replies, "hash": digest}
    if "correct" in line:
        ours["correct"] = digest == line["answer_md5"]
    return {name: line[name] for name in ours}, ours


def _sample(line: Line, root: Path) -> Sample:
    return _samples(root, "dev" if line["file"] == "dev.jsonl" else "std")[line["index"]]


@cache
def _samples(root: Path, split: dataset.Split) -> Sequence[Sample]:
    return dataset.samples(root, "db", split)


WITH_TABLES = {"db_episode": _episode, "db_init": _init, "db_state": _db_state}
