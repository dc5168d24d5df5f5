"""The database part of AgentBench: played on SQLite and a real MariaDB server, with agents that know, and that do harm."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import agentbench_clone as clone
import pytest

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate, evaluate_async
from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks.agentbench.database import Databases
from proctor_benchmarks.agentbench.parity_db import _official_statement

TABLE = clone.ENTRIES[0]["table"]
HARM = (
    "DROP DATABASE mysql",
    "SELECT * FROM mysql.user",
    "SELECT 1 INTO OUTFILE '/tmp/proctor-agentbench'",
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE `Cities of note`",
    "SET GLOBAL max_statement_time = 1000",
    "SHUTDOWN",
    "SELECT 1; DROP TABLE `Cities of note`",
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_ISOLATED_WORKERS", "1")
    return clone.write(tmp_path / "AgentBench")


async def expected(change: str) -> str:
    """Return the digest of the table after a change."""
    async with Databases("sqlite") as databases, databases.open(TABLE) as table:
        assert await table.execute(change) == "[]"
        return await table.digest()


def run(root: Path, agent: Any, **options: Any) -> Run:
    options = {"data": str(root), "split": "dev", "database": "sqlite", **options}
    return evaluate("agentbench/db", agent=agent, options=options, store=":memory:", concurrency=2)


async def test_an_agent_that_knows_is_right_and_one_that_says_nothing_is_not(root: Path) -> None:
    entries = [entry if "answer_md5" not in entry else {**entry, "answer_md5": await expected(entry["label"][0])} for entry in clone.ENTRIES]  # fmt: skip
    clone.write(root, entries)
    for agent, value in (("baseline:oracle", 1), ("baseline:null", 0)):
        found = await evaluate_async("agentbench/db", agent=agent, options={"data": str(root), "split": "dev", "database": "sqlite"}, store=":memory:")  # fmt: skip
        assert found.estimate("db").value == value


def test_a_context_of_the_official_loop_is_shown(root: Path) -> None:
    seen: list[Sequence[Message]] = []

    def reply(messages: Sequence[Message], _: object) -> str:
        seen.append(list(messages))
        if len(messages) == 3:
            return "I look.\nAction: Operation\n```sql\nSELECT City,\n People FROM `Cities of note` LIMIT 1;\n```\n"
        return 'I know.\nAction: Answer\nFinal Answer: ["3"]'

    found = run(root, ChatAgent(ScriptedModel(reply)))
    trial = next(trial for trial in found.trials() if trial.sample_id == "db/0")
    assert trial.trajectory.state == {"status": "completed", "result": {"answer": ' ["3"]', "type": "counting", "error": ""}}  # fmt: skip
    question = f"{clone.ENTRIES[0]['description']}\n{clone.ENTRIES[0]['add_description']}"
    assert [clone.PROMPT, "Ok.", question] in [[message.text for message in messages] for messages in seen]
    assert {messages[-1].text for messages in seen if len(messages) == 5} == {"[('Lyon', '520')]"}
    values = {one.name: one.value for one in found.estimates if not one.slice}
    assert values["db"] == pytest.approx(1 / 6)  # of the two questions one, and no change was made


async def test_a_server_survives_what_agents_do_to_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Databases("mariadb", seconds=2.0) as databases, databases.open(TABLE) as table:
        start = await table.digest()
        replies = {sql: await table.execute(sql) for sql in HARM}
        assert {sql: reply for sql, reply in replies.items() if not reply[:4].isdecimal()} == {}
        assert await table.digest() == start
        assert await table.execute("SELECT City FROM `Cities of note` WHERE City = 'nimes'") == "[('Nîmes',)]"
        assert (await table.execute("SELECT REPEAT('x', 900)")).endswith("x[TRUNCATED]")
        large = await table.execute(
            "SELECT REPEAT('x', 1000000) FROM `Cities of note` a, `Cities of note` b, `Cities of note` c, `Cities of note` d"
        )
        assert large.endswith("x[TRUNCATED]") or "max_statement_time" in large
        assert "max_statement_time" in await table.execute("SELECT COUNT(*) FROM `Cities of note` WHERE SLEEP(100) = 0")
        assert await table.execute("DROP DATABASE `Cities of note`") == "[]"
        assert await table.execute("SELECT 1") == "1049 (42000): Unknown database 'Cities of note'"
        other = {**TABLE, "table_name": "Others"}
        async with databases.open(other) as second:
            assert await second.execute("SELECT COUNT(*) FROM `Others`") == "[(3,)]"
    assert not Path("/tmp/proctor-agentbench").exists()


@pytest.mark.parametrize("engine", ["mariadb", "sqlite"])
async def test_a_table_with_a_row_of_no_values_is_left_empty(engine: Any) -> None:
    """The official statement cannot be read there, which is one of the 300 standard tables."""
    rows = [*TABLE["table_info"]["rows"], []]
    broken = {**TABLE, "table_info": {**TABLE["table_info"], "rows": rows}}
    async with Databases(engine) as databases, databases.open(broken) as table:
        assert await table.execute("SELECT COUNT(*) FROM `Cities of note`") == "[(0,)]"
    assert _official_statement(broken).endswith(",%s),); \nCOMMIT;\n")


async def test_what_runs_for_ever_is_ended(root: Path) -> None:
    async with Databases("sqlite", seconds=0.2) as databases, databases.open(TABLE) as table:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT SUM(i) FROM n"
        assert await table.execute(endless) == "interrupted"
        assert "not authorized" in await table.execute("ATTACH '/tmp/proctor-agentbench' AS x")
        assert await table.execute("SELECT COUNT(*) FROM `Cities of note`") == "[(3,)]"


def test_without_a_server_the_way_out_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(BadInput, match="database=sqlite"):
        run(root, "baseline:null", database="mariadb")


def test_a_part_that_cannot_be_played_is_named_before_the_first_request(root: Path) -> None:
    with pytest.raises(BadInput, match="webshop cannot be played here"):
        evaluate("agentbench/db,webshop", agent="baseline:null", options={"data": str(root), "split": "dev"}, store=":memory:")  # fmt: skip


async def test_an_agent_of_mariadb_harms_its_own_attempt_only() -> None:
    async with Databases("mariadb", seconds=1.0) as databases:
        async with databases.open(TABLE) as table:
            assert "2013" in await table.execute("SET STATEMENT max_statement_time=0 FOR SELECT SLEEP(30)")
            assert await table.execute("SET PASSWORD = PASSWORD('x')") == "[]"
            assert await table.execute("SELECT 1") == "[(1,)]"
            await table.execute("CREATE TEMPORARY TABLE t AS SELECT REPEAT('a', 60000) z FROM seq_1_to_13000")
        async with databases.open(TABLE) as table:
            assert await table.execute("SELECT 1") == "[(1,)]"
