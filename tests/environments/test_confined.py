"""A program or server that is confined reaches nothing but its folder, and answers all the same."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shops import FILE

from proctor.core.errors import BadInput
from proctor.core.sample import Sample, ToolCall
from proctor_adapters.environments import mcp, process

SAMPLE = Sample.ask("a", "?")
PROGRAM = """
import json, os, socket, sys
from pathlib import Path

def can(what):
    try:
        what()
    except OSError:
        return False
    return True

for line in sys.stdin:
    asked = json.loads(line)
    answer = {"ok": True, "tools": [], "state": {}}
    if asked["do"] == "call":
        port, file = asked["arguments"]["port"], asked["arguments"]["file"]
        answer = {"result": {
            "network": can(lambda: socket.create_connection(("127.0.0.1", port), 2)),
            "file": can(lambda: Path(file).write_text("x")),
            "folder": can(lambda: Path(os.environ["TMPDIR"], "x").write_text("x")),
            "parent": can(lambda: os.kill(asked["arguments"]["pid"], 0)),
        }}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def namespaces() -> None:
    """Skip where the machine makes none."""
    if subprocess.run(["unshare", "--user", "--net", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("needs namespaces")


@pytest.mark.parametrize("confined", [True, False])
async def test_a_confined_program_reaches_nothing_but_its_folder(
    confined: bool, namespaces: None, tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    make: Any = process.make(f"{sys.executable} {script}", {"confined": confined})
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = {"port": server.getsockname()[1], "file": str(tmp_path / "written"), "pid": os.getpid()}
        async with make, make(SAMPLE) as environment:
            result = await environment.call(ToolCall(name="try", arguments=arguments))
    reached = json.loads(result.content)
    assert reached == {"network": not confined, "file": not confined, "folder": True, "parent": not confined}


async def test_a_confined_server_serves(namespaces: None) -> None:
    make: Any = mcp.make(f"{sys.executable} {FILE} stdio", {"confined": True})
    async with make, make(SAMPLE) as environment:
        result = await environment.call(ToolCall(name="buy", arguments={"item": "tea"}))
    assert json.loads(result.content) == {"left": 2}


def test_what_runs_at_an_address_cannot_be_confined() -> None:
    with pytest.raises(BadInput, match="cannot be confined from here"):
        mcp.make("http://127.0.0.1:1/mcp", {"confined": True})
