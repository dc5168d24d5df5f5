"""The shell of AgentBench: a sandbox that is real, and agents that do harm in it."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import agentbench_clone as clone
import pytest

from proctor.agents.openai import ChatAgent
from proctor.api import Run, evaluate
from proctor.core.errors import BadInput
from proctor.core.sample import Message
from proctor.core.trial import TrialFailure
from proctor.models.scripted import ScriptedModel
from proctor_benchmarks.agentbench.os_loop import OsScript, Ran
from proctor_benchmarks.agentbench.os_sandbox import Sandbox
from proctor_benchmarks.boxes import first_process

FORKS = """
import os, time
try:
    while os.fork():
        pass
    time.sleep(60)
except BlockingIOError:
    print("stopped")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return clone.write_sources(clone.write(tmp_path / "AgentBench"))


def play(root: Path, *replies: str) -> Run:
    def reply(messages: Sequence[Message], _: object) -> str:
        said = sum(message.role == "assistant" for message in messages) - 3  # those of the example
        return replies[said] if messages[-1].text.startswith(("Now, I will", "The output")) else replies[-1]

    options = {"data": str(root), "split": "dev"}
    return evaluate("agentbench/os", agent=ChatAgent(ScriptedModel(reply)), options=options, store=":memory:")


def bash(command: str) -> str:
    return f"Think: try.\n\nAct: bash\n\n```bash\n{command}\n```"


def test_an_agent_acts_in_a_shell_and_its_answer_is_checked(root: Path) -> None:
    run = play(root, bash("cd /tmp; touch here"), bash("pwd; ls"), "Act: answer( 1 )")
    by_id = {trial.sample_id: trial for trial in run.trials()}
    texts = [step.message.text for step in by_id["os/dev-001-dev-00001"].trajectory.steps]
    assert "The output of the OS is empty." in texts
    assert "The output of the OS:\n\n/tmp\r\nhere\r\n" in texts
    assert {id: trial.trajectory.state for id, trial in by_id.items()} == {
        "os/dev-001-dev-00000": {"status": "completed", "result": {"result": True}},
        "os/dev-001-dev-00001": {"status": "completed", "result": {"result": True}},
    }
    assert run.estimate("os").value == 1


def test_the_official_examples_are_a_known_good_run(root: Path) -> None:
    path = root / "data/os_interaction/data/dev.json"
    problems = json.loads(path.read_text("utf-8"))
    check = {"language": "python", "code": "import sys; exit(sys.argv[1] != '3')"}
    noisy = {"description": "3?", "evaluation": {"check": [check], "example": {"code": "cat none; echo 3"}}}
    silent = {
        "description": "Make a.",
        "evaluation": {"check": ["test -e /srv/a"], "example": {"code": "touch /srv/a"}},
    }
    path.write_text(json.dumps([*problems, noisy, silent]), encoding="utf-8")
    options = {"data": str(root), "split": "dev"}
    run = evaluate("agentbench/os", agent="baseline:oracle", options=options, store=":memory:")
    said = [trial.trajectory.answer for trial in run.trials()]
    assert said[1:] == ["Act: answer(1)", "Act: answer(3)", "Act: answer()"]
    assert run.estimate("os").value == 1


def test_a_silent_agent_has_nothing_and_one_without_an_action_either(root: Path) -> None:
    for reply in ("", "I give up."):
        run = play(root, reply)
        assert run.estimate("os").value == 0
        assert {trial.trajectory.state["status"] for trial in run.trials() if trial.trajectory.state} == {"agent invalid action"}  # fmt: skip


def test_a_machine_that_cannot_be_made_ready_is_a_failure_of_the_environment(root: Path) -> None:
    path = root / "data/os_interaction/data/dev.json"
    problem = {"description": "?", "create": {"init": "echo no network; exit 100"}, "evaluation": {"match": "1"}}
    path.write_text(json.dumps([problem]), encoding="utf-8")
    (trial,) = play(root, "Act: answer(1)").trials()
    assert isinstance(trial.failure, TrialFailure)
    assert trial.outcome == "environment_failed"
    assert "exit code 100): no network" in str(trial.failure.reason)


def test_a_command_that_ends_its_machine_is_the_agents_failure_if_a_fresh_one_works(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Sandbox._ask

    async def dying(self: Sandbox, call: str, **given: Any) -> Any:
        process = self._namespace._process
        if given.get("command") == "escape" and process is not None:
            process.kill()  # no command that can is known
        return await ask(self, call, **given)

    monkeypatch.setattr(Sandbox, "_ask", dying)
    (first, *_) = play(root, bash("escape"), "Act: answer( 1 )").trials()
    assert (first.outcome, first.failure and first.failure.kind) == ("agent_failed", "killed_environment")


def test_without_bubblewrap_no_command_is_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BadInput, match="bubblewrap"):
        play(root, "Act: answer(1)")


async def test_what_an_agent_does_stays_in_its_machine(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key", encoding="utf-8")
    async with Sandbox() as machine:
        assert "No such file" in await machine.type(f"cat {secret}; ls /work /home/*")
        assert "1" not in await machine.type("ls /sys/class/net 2>/dev/null | grep -c eth")
        assert "Couldn't connect" in await machine.type("curl -sS -m 2 http://127.0.0.1:9")
        assert "Read-only" in await machine.type("touch /usr/lib/mine")
        await machine.type("kill -9 1; kill -9 -1")
        assert await machine.type("exit 3") == ""
        assert await machine.type("echo again") == "again\r\n"
        assert "No space left" in await machine.type("dd if=/dev/zero of=/big bs=1M count=2000; rm -f /big")
        assert "MemoryError" in await machine.type("python3 -c 'x = bytes(3 << 30)'")
        assert "unexpected EOF" in await machine.type('echo "open')
        printed = await machine.type("head -c 3000000 /dev/zero | tr '\\0' x")
        assert len(printed) == 1 << 20
        assert await machine.run(OsScript(language="bash", code="echo $# $1; exit 4"), "a b") == Ran(code=4, output="1 a b\n")  # fmt: skip
        assert await machine.run(OsScript(language="python", code="import sys; print(sys.argv[1:])"), "a", "b") == Ran(code=0, output="['a', 'b']\n")  # fmt: skip
        assert await machine.run(OsScript(language="bash", code="sleep 60 & echo x")) == Ran(code=0, output="x\n")
        assert (
            await machine.type("for i in $(seq 300); do (true &); [ $((i % 50)) = 0 ] && sleep 0.3; done; echo done")
            == "done\r\n"
        )
        assert await machine.run(OsScript(language="bash", code="exit 0"), "x" * 200_000) == Ran(code=126, output="Argument list too long")  # fmt: skip
        assert await machine.run(OsScript(language="bash", code="echo $1"), "\ud800") == Ran(code=0, output="?\n")
        assert await machine.type("x" * 100_000) == "bash: Argument list too long\r\n"
        assert "stopped" in await machine.type(f"python3 -c '{FORKS}'")
        assert await machine.run(OsScript(language="bash", code="echo y")) == Ran(code=0, output="y\n")
    assert secret.read_text("utf-8") == "key"


_STEAL = """
import ctypes, os
one = ctypes.CDLL(None, use_errno=True).syscall(434, 1, 0)  # pidfd_open
print(one >= 0, ctypes.CDLL(None).syscall(438, one, 4, 0))  # pidfd_getfd: the pipe of the replies
"""


async def test_an_agent_takes_neither_the_pipes_nor_a_namespace_of_its_own() -> None:
    async with Sandbox() as machine:
        assert "True -1" in await machine.type(f"python3 -c '{_STEAL}'")
        assert (await machine.type("unshare -Urm true 2>/dev/null; echo $?")).strip() != "0"
        assert await machine.type("useradd ada && su ada -c 'echo hello'") == "hello\r\n"


async def test_an_agent_that_removes_the_shell_has_failed_by_itself() -> None:
    async with Sandbox() as machine:
        await machine.type("rm -f /usr/bin/bash /bin/bash")
        assert (await machine.run(OsScript(language="bash", code="exit 0"))).code == 126


async def test_a_command_that_does_not_end_costs_the_agent_its_shell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = Path(first_process.__file__ or "").read_text("utf-8")
    quick = tmp_path / "quick.py"
    quick.write_text(program.replace("SILENT_SECONDS = 5.0", "SILENT_SECONDS = 1.0"), encoding="utf-8")
    monkeypatch.setattr(first_process, "__file__", str(quick))
    async with Sandbox() as machine:
        await machine.type("true")  # so that the shell has started
        assert (await machine.type("cd /tmp; echo begun; sleep 100")).endswith("begun\r\n")
        again = await machine.type("pwd")
        assert again.startswith("[a new shell")
        assert again.endswith("\r\n/\r\n")
        assert await machine.type("(sleep 0.2; echo late) &") == ""
        assert "late" in await machine.type("sleep 0.5; echo now")
