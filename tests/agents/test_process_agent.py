"""A program that reads and writes JSON lines is an agent; however it misbehaves, it is told and it ends."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.process import ProcessAgent, make
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.sample import Message, Sample, Tool, Turn
from proctor.core.task import Agent
from proctor.core.trajectory import Step

SAMPLE = Sample.ask("fr", "Capital of France?")
ECHO = """
import json, os, sys
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    print(json.dumps({"answer": f"{os.getpid()} {number} {asked['id']} {asked['question']} {len(asked['messages'])}"}))
"""


def agent_of(folder: Path, code: str, **options: Any) -> Agent:
    path = folder / "agent.py"
    path.write_text(code, encoding="utf-8")
    return make(f"{sys.executable} {path}", options)


async def play(agent: Agent, *turns: Turn) -> Sequence[Step]:
    async with agent.open(SAMPLE, None) as session:
        return [step for turn in turns or SAMPLE.turns for step in await session.send(turn)]


def gone(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] == "Z"
        )
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False


async def eventually_gone(pid: int) -> bool:
    for _ in range(100):
        if gone(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_a_line_in_gives_a_line_out_and_a_sample_has_one_process(tmp_path: Path) -> None:
    agent = agent_of(tmp_path, ECHO)
    turn = SAMPLE.turns[0]
    first, second = await play(agent, turn, turn)
    (third,) = await play(agent)
    pid, *rest = first.message.text.split(" ", 1)
    assert rest == ["0 fr Capital of France? 1"]
    assert second.message.text == f"{pid} 1 fr Capital of France? 3"
    assert third.message.text.split()[0] != pid
    assert await eventually_gone(int(pid))


async def test_processes_are_kept_and_ended_with_the_run_when_that_is_asked(tmp_path: Path) -> None:
    agent = agent_of(tmp_path, ECHO, reuse="true")
    assert isinstance(agent, ProcessAgent)
    async with agent:
        (first,), (second,) = await play(agent), await play(agent)
        pid = int(first.message.text.split()[0])
        assert int(second.message.text.split()[0]) == pid
        assert not gone(pid)
    assert await eventually_gone(pid)


async def test_messages_and_tools_come_as_in_chat_completions(tmp_path: Path) -> None:
    code = """
import json
asked = json.loads(input())
call = {"id": "1", "function": {"name": asked["tools"][0]["function"]["name"], "arguments": "{}"}}
print(json.dumps({"messages": [{"role": "assistant", "content": asked["question"], "tool_calls": [call]}]}))
"""
    messages = (Message.of("system", "Be brief."), Message.of("user", "你好"))
    (step,) = await play(agent_of(tmp_path, code), Turn(messages=messages, tools=(Tool(name="f"),)))
    assert step.message.text == "system: Be brief.\n\nuser: 你好"
    assert step.message.calls[0].name == "f"


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("import sys; sys.stderr.write('no key'); sys.exit(3)", "exited", "code 3"),
        ("import sys; sys.stderr.write('no key'); sys.exit(3)", "exited", "no key"),
        ("import os; os.abort()", "exited", "code -6"),
        ("import os, time; os.close(1); time.sleep(60)", "no_reply", "closed its output"),
        ("print('Loading \\x1b[31mmodel...')", "bad_reply", "Loading ␛[31mmodel"),
        ("print('[1, 2]')", "bad_reply", "[1, 2]"),
        ("print('[' * 100_000)", "bad_reply", "no answer"),
        ("print('{}')", "bad_reply", "{}"),
        ("""print('{"error": "quota"}')""", "reported", "quota"),
        ("""print('{"answer": null}')""", "returned_none", "None"),
        ("""print('{"answer": 4}')""", "wrong_type", "int"),
        ("""print('{"messages": [{"role": "x"}]}')""", "wrong_type", "no message"),
        ("print('x' * 20_000_000)", "too_large", "bytes"),
    ],
)
async def test_what_a_program_does_wrong_is_told(tmp_path: Path, code: str, kind: str, words: str) -> None:
    with pytest.raises(AgentFailed) as caught:
        await play(agent_of(tmp_path, code))
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert len(str(caught.value)) < 5_000


async def test_a_flood_on_standard_error_does_not_block_and_its_end_is_kept(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('x' * 5_000_000 + 'the end'); sys.exit(1)"
    with pytest.raises(AgentFailed, match="the end") as caught:
        await play(agent_of(tmp_path, code))
    assert len(str(caught.value)) < 5_000


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""


async def test_a_program_that_never_answers_is_killed_with_all_it_started(tmp_path: Path) -> None:
    path, noted = tmp_path / "agent.py", tmp_path / "pids"
    path.write_text(STUBBORN, encoding="utf-8")
    agent = make(f"{sys.executable} {path} {noted}", {})
    started = time.monotonic()
    playing = asyncio.create_task(play(agent))
    async with asyncio.timeout(60):
        while not (noted.exists() and " " in noted.read_text()):  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.01)
    playing.cancel()
    await asyncio.wait([playing])
    assert playing.cancelled()
    assert time.monotonic() - started < 120, "it sleeps for 600 s"
    for pid in noted.read_text().split():
        assert await eventually_gone(int(pid))


async def test_a_helper_left_behind_by_a_program_that_ended_well_is_killed(tmp_path: Path) -> None:
    code = """
import json, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
input()
print(json.dumps({"answer": str(child.pid)}))
"""
    (step,) = await play(agent_of(tmp_path, code))
    assert await eventually_gone(int(step.message.text))


async def test_a_program_that_failed_is_not_used_again(tmp_path: Path) -> None:
    agent = agent_of(tmp_path, "input(); print('no')\ninput()", reuse=True)
    for _ in range(2):
        with pytest.raises(AgentFailed, match="no answer"):
            await play(agent)


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("no-such-program-here --x", {}, "no program 'no-such-program-here'"),
        ("", {}, "needs a command"),
        ("echo 'open", {}, "cannot be read"),
        ("cat", {"reues": True}, "Did you mean 'reuse'"),
        ("cat", {"tools": "both"}, "tools"),
    ],
)
def test_what_cannot_be_started_is_said_before_the_run(command: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make(command, options)


async def test_no_shell_runs_the_command(tmp_path: Path) -> None:
    agent = make(f"{sys.executable} -c 'import sys; print(sys.argv[1:])' $HOME;touch {tmp_path / 'made'}", {})
    with pytest.raises(AgentFailed, match="HOME"):
        await play(agent)
    assert not (tmp_path / "made").exists()


async def test_a_program_that_cannot_be_executed_stops_the_run(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    path.write_text("no program")
    path.chmod(0o755)
    with pytest.raises(BadInput, match="cannot be started"):
        await play(make(str(path), {}))
