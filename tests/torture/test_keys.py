"""Keys that an agent says, in an exception or in its answer: they reach neither the store nor a report."""

import sqlite3
from contextlib import closing

import pytest
from stage import RUN, Stage

from proctor.stores.blobs import unpack

KEYS = ("sk-abcDEF123456789", "pa55word-of-mine", "zq81kd93jf0a2lx7vm45", "AKIAABCDEFGHIJKLMNOP")
AGENT = """
import re, sys

def answer(question):
    number = int(re.search(r"[0-9]+", question)[0])
    if number % 10 == 7:
        raise ValueError("401 for https://me:pa55word-of-mine@host.example/v1?key=zq81kd93jf0a2lx7vm45 with Bearer sk-abcDEF123456789 and AKIAABCDEFGHIJKLMNOP")
    if number % 10 == 8:
        return "my key is zq81kd93jf0a2lx7vm45"
    return str(number) if number % 4 else "no idea"
"""


@pytest.mark.fault(
    "agent that says keys", "a function with keys in its exception and its answer", "in no table, no report, no export"
)
def test_keys_of_an_agent_are_stored_and_shown_nowhere(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "zq81kd93jf0a2lx7vm45")
    stage.script("agents.py", AGENT)
    done = stage.run(stage.command("./agents.py:answer"))
    assert done.code == 0, done.error
    said = [done.out, done.error]
    for suffix in ("html", "md", "json", "xml"):
        path = stage.folder / f"report.{suffix}"
        stage.run(["runs", "report", RUN, "--out", str(path)])
        said.append(path.read_text(encoding="utf-8"))
    stage.run(["runs", "export", RUN, "--format", "table", "--out", "run.csv"])
    said.append((stage.folder / "run.csv").read_text(encoding="utf-8"))
    said.append(stage.run(["show", RUN, "--failures"]).out)
    said.append(stage.run(["runs", "explain", RUN, "s7"]).out)
    with closing(sqlite3.connect(stage.store)) as database:
        records = [unpack(data).decode() for (data,) in database.execute("SELECT data FROM records")]
    assert any("[hidden]" in record for record in records)
    assert not [key for key in KEYS for text in (*said, *records) if key in text]
