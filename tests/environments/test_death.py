"""What an agent's call can do to each kind of environment, and whose failure that is; with real processes."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.openai import ChatAgent
from proctor.core.sample import Message, Tool, ToolCall, ToolResult
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Trial
from proctor.models.scripted import ScriptedModel

SHELL = '''
import json, os, signal, subprocess, sys, time
from pathlib import Path

def act(do):
    """Do what an agent's command may do, for a program or a server."""
    if do == "nap":
        time.sleep(1.4)
    if do == "rest":
        time.sleep(0.5)
    if do == "hang":
        time.sleep(60)
    if do == "exit":
        os._exit(3)
    if do == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if do == "later":  # it dies when the call has its result
        subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -9 {os.getpid()}"])
    if do == "memory":
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        try:
            bytearray(4 << 30)
        except MemoryError:
            os._exit(137)
    if do == "flood":
        return "x" * 20_000_000
    if do == "junk":
        sys.stdout.write("Segmentation fault\\n")
        sys.stdout.flush()
    return "done"
'''
LINES = (
    SHELL
    + """
if os.environ.get("BROKEN") and Path(os.environ["BROKEN"]).exists():
    sys.exit("the disk is full")
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"ok": True}
    if asked["do"] == "tools":
        answer = {"tools": [{"name": "run", "description": "", "parameters": {"type": "object"}}]}
    if asked["do"] == "state":
        answer = {"state": {"alive": True}}
    if asked["do"] == "call":
        if asked["arguments"]["do"] == "break":  # and no other one will start
            Path(os.environ["BROKEN"]).write_text("")
            os._exit(3)
        answer = {"result": act(asked["arguments"]["do"])}
    print(json.dumps(answer), flush=True)
"""
)
SERVER = (
    SHELL
    + """
def say(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("id") is None:
        continue
    if asked["method"] == "initialize":
        about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        say(asked["id"], about)
    elif asked["method"] == "tools/list":
        say(asked["id"], {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("run", "look")]})
    elif asked["method"] == "tools/call":
        given = asked["params"].get("arguments") or {}
        text = act(given["do"]) if asked["params"]["name"] == "run" else '{"alive": true}'
        say(asked["id"], {"content": [{"type": "text", "text": text}]})
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"""
)
CLASS = '''
import sys, threading, time

class Box:
    """A box of tools."""

    call_seconds = 1.0

    def __init__(self):
        self.alive = True

    def run(self, do: str) -> str:
        if do == "nap":
            time.sleep(1.4)
        if do == "hang":
            time.sleep(20)
        if do == "exit":
            sys.exit(3)
        if do == "memory":
            raise MemoryError
        if do == "flood":
            return "x" * 20_000_000
        if do == "junk":
            print("Segmentation fault")
        return "done"

class Excused(Box):
    blame_death = "environment"
'''
SEEN, DEAD, OURS = "scored", "agent_failed killed_environment", "environment_failed"
TABLE = {  # event: outcome as a class, a program, a server; confined ones are as those that are not
    "nap": (SEEN, SEEN, SEEN),
    "hang": (DEAD, DEAD, DEAD),
    "exit": (DEAD, DEAD, DEAD),
    "kill": (None, DEAD, DEAD),
    "later": (None, DEAD, DEAD),
    "memory": (SEEN, DEAD, DEAD),
    "flood": (SEEN, SEEN, SEEN),
    "junk": (SEEN, DEAD, SEEN),
}
KINDS = ("class", "program", "server")
CELLS = [(event, kind) for event, row in TABLE.items() for kind, cell in zip(KINDS, row, strict=True) if cell]


def environment(kind: str, folder: Path, **options: Any) -> dict[str, Any]:
    """The options of a run in an environment of a kind, whose programs are written first."""
    for name, text in (("lines.py", LINES), ("server.py", SERVER), ("box.py", CLASS)):
        (folder / name).write_text(text, encoding="utf-8")
    if kind == "class":
        return {"environment": f"python:{folder / 'box.py'}:{options.pop('name', 'Box')}"}
    file, more = ("lines.py", {}) if kind == "program" else ("server.py", {"state": "look"})
    named = "process" if kind == "program" else "mcp"
    return {
        "environment": f"{named}:{sys.executable} {folder / file}",
        "environment_options": {"seconds": 1.0, **more, **options},
    }


def alive(sample: proctor.Sample, trajectory: Trajectory) -> Score:
    return Score(points=(trajectory.state or {}).get("alive") is True)


def played(event: str, folder: Path, given: dict[str, Any]) -> tuple[proctor.Run, Trial]:
    """One trial of an agent that runs one command, says what it saw, and makes one more call if there is time."""

    def model(messages: Sequence[Message], tools: Sequence[Tool]) -> Message | str:
        results = [message for message in messages if message.role == "tool"]
        if len(results) == 2:
            return "Done."
        do = event if not results else "rest"
        return Message(role="assistant", parts=(ToolCall(name="run", arguments={"do": do}, id=f"c{len(results)}"),))

    task = proctor.Task(name="shell", samples=[proctor.Sample.ask("one", "Go.")], scorers=[alive])
    run = proctor.evaluate(task, agent=ChatAgent(ScriptedModel(model)), store=str(folder / "runs.db"), **given)
    [trial] = run.trials()
    return run, trial


def ended(trial: Trial) -> str:
    kind = f" {trial.failure.kind}" if trial.failure is not None else ""
    return trial.outcome + (kind if trial.outcome == "agent_failed" else "")


def first_result(trial: Trial) -> str:
    return next(
        part.content for step in trial.trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)
    )


@pytest.mark.parametrize(("event", "kind"), CELLS)
def test_an_event_in_a_call_is_seen_by_the_model_or_is_the_agents_failure(
    event: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.environments.call_failures.HEALTH_SECONDS", 1.0)
    options = {"seconds": 60} if event == "flood" and kind != "class" else {}
    run, trial = played(event, tmp_path, environment(kind, tmp_path, **options))
    assert ended(trial) == TABLE[event][KINDS.index(kind)], trial.failure
    estimate = run.estimate("accuracy")
    assert (estimate.value, estimate.scored, estimate.floor, estimate.ceiling) == (
        (1, 1, 1, 1) if trial.outcome == "scored" else (0, 1, 0, 0)
    )
    if event == "nap":
        assert first_result(trial) == "The call timed out after 1 s. What it did until then stays done."
    if trial.outcome == "agent_failed":
        assert trial.failure is not None
        last = "rest" if event == "later" else event
        assert f'calls, the last of which was run(do="{last}"), while a fresh one is sound' in str(trial.failure.reason)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_of_an_environment_can_keep_the_blame_from_the_agent(kind: str, tmp_path: Path) -> None:
    given = environment(kind, tmp_path, **({"name": "Excused"} if kind == "class" else {"blame_death": "environment"}))
    run, trial = played("exit", tmp_path, given)
    assert (trial.outcome, trial.failure and trial.failure.kind) == (OURS, "exited")
    estimate = run.estimate("accuracy")
    assert (estimate.value, estimate.scored, estimate.floor, estimate.ceiling) == (None, 0, 0, 1)


def test_an_environment_of_which_no_fresh_one_starts_broke_by_itself(tmp_path: Path) -> None:
    given = environment("program", tmp_path, variables=[f"BROKEN={tmp_path / 'broken'}"])
    _, trial = played("break", tmp_path, given)
    assert (trial.outcome, trial.failure and trial.failure.kind) == (OURS, "exited")


@pytest.mark.parametrize("event", ["nap", "kill"])
@pytest.mark.parametrize("kind", ["program", "server"])
def test_a_confined_one_ends_as_one_that_is_not(event: str, kind: str, tmp_path: Path) -> None:
    if subprocess.run(["unshare", "--user", "--net", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("needs namespaces")
    _, trial = played(event, tmp_path, environment(kind, tmp_path, confined=True))
    assert ended(trial) == TABLE[event][KINDS.index(kind)], trial.failure
