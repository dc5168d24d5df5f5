"""Agents that are programs of their own, and agents behind an address, that misbehave: told, ended, and nothing left behind."""

import asyncio
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from endpoint import Answer, Request, body, cut, data, raw
from stage import RUN, Model, Stage, answer_to, asked_in, assert_sound, served

import proctor

PROGRAM = """
import json, os, re, signal, subprocess, sys, time

with open("pids", "a") as pids:
    pids.write(f"{{os.getpid()}}\\n")

def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()

def answer(number):
    say(json.dumps({{"answer": str(number) if number % 4 else "no idea"}}) + "\\n")

def fault(number):
{fault}

number = int(re.search(r"[0-9]+", json.loads(sys.stdin.readline())["question"])[0])
(fault if number % 10 == 7 else answer)(number)
"""
IGNORES = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
FLOOD = "for _ in range(50): sys.stderr.write('x' * 1_000_000)\n"
CHILD = "subprocess.Popen([sys.executable, '-S', '-c', 'import os, time; open(\"pids\", \"a\").write(str(os.getpid()) + chr(10)); time.sleep(60)'])\ntime.sleep(0.3)\n"
TIME_LIMIT = ("--time-limit", "3")


class Fault(NamedTuple):
    """A row: what the program does, as which kind that is recorded ('' for scored), and a word of the message."""

    name: str
    code: str
    kind: str = ""
    said: str = ""
    more: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        return PROGRAM.format(fault="\n".join(f"    {line}" for line in self.code.splitlines()))


FAULTS = [
    Fault("program that ends without an answer", "sys.stderr.write('no key'); sys.exit(3)", "exited", "code 3 without an answer. Its standard error: no key"),
    Fault("program that is killed for its memory", "os.kill(os.getpid(), signal.SIGKILL)", "exited", "code -9"),
    Fault("program that hangs", "time.sleep(60)", "time_limit", "No answer within 3 seconds", TIME_LIMIT),
    Fault("program that hangs and ignores SIGTERM", IGNORES + "time.sleep(60)", "time_limit", "No answer within 3 seconds", TIME_LIMIT),
    Fault("program that answers and never ends", IGNORES + "answer(number); time.sleep(60)"),
    Fault("program that floods standard error", FLOOD + "answer(number)"),
    Fault("program that floods standard error and ends", FLOOD + "sys.exit(1)", "exited", "code 1"),
    Fault("program that floods standard output", "while True: say('x' * 1_000_000)", "too_large", "a line of more than"),
    Fault("program that writes no JSON", "say('Thinking...\\n')", "bad_reply", "a line that is no answer: Thinking..."),
    Fault("program that closes its output", "os.close(1); time.sleep(60)", "time_limit", "No answer within 3 seconds", TIME_LIMIT),
    Fault("program that leaves a child behind", CHILD + "answer(number)"),
]  # fmt: skip


def row(fault: Fault) -> object:
    expected = "agent_failed, which counts as 0; no process left" if fault.kind else "scored; no process left"
    return pytest.param(
        fault, marks=pytest.mark.fault(fault.name, "a program", expected), id=fault.name.replace(" ", "-")
    )


@pytest.mark.parametrize("fault", [row(fault) for fault in FAULTS])
def test_a_program_that_misbehaves_is_told_and_ended(stage: Stage, fault: Fault) -> None:
    stage.samples = 10
    stage.script("program.py", fault.program)
    done = stage.run(stage.command(f"process:{sys.executable} -S program.py", "--concurrency", "6", *fault.more))
    assert done.code == 0, done.error
    hit = {n for n in range(stage.samples) if n % 10 == 7}
    assert_sound(stage, dict.fromkeys(hit, "agent_failed") if fault.kind else {})
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        failures = [trial.failure for trial in store.trials(RUN) if trial.failure is not None]
    assert [failure.kind for failure in failures] == ([fault.kind] * len(hit) if fault.kind else [])
    assert all(fault.said in str(failure.reason) and len(str(failure.reason)) < 10_000 for failure in failures)
    assert not [pid for pid in map(int, Path("pids").read_text(encoding="ascii").split()) if lives(pid)]


def lives(pid: int) -> bool:
    """Whether a process is there a moment later."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if (state := Path(f"/proc/{pid}/stat")).exists() and ") Z " in state.read_text(
                encoding="ascii", errors="replace"
            ):
                return False
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    return True


async def answers(request: Request, writer: asyncio.StreamWriter) -> None:
    await data({"answer": answer_to(asked_in(request.body))})(request, writer)


@pytest.mark.parametrize(
    ("name", "answer", "kind"),
    [
        pytest.param(name, answer, kind, marks=pytest.mark.fault(name, "a local server", "retried, then provider_failed, exit 3; run again when asked for"), id=name.replace(" ", "-"))
        for name, answer, kind in (
            ("agent behind an address: reset", raw(b""), "reset"),
            ("agent behind an address: status 503", data({"error": "busy"}, 503), "http_503"),
            ("agent behind an address: JSON that breaks off", cut(b'{"answer": "4'), "truncated"),
            ("agent behind an address: web page", body(b"<html>Sign in</html>", content_type="text/html"), "not_json"),
            ("agent behind an address: error instead of an answer", data({"error": "no tool left"}), "no_reply"),
        )
    ],
)  # fmt: skip
def test_an_agent_behind_an_address_fails_as_a_model_does(stage: Stage, name: str, answer: Answer, kind: str) -> None:
    hit = {n for n in range(stage.samples) if n % 10 == 7}
    model = Model(answer, lambda n, time: n in hit, answers)
    with served(model) as endpoint:
        broken = stage.run(
            stage.command(
                f"http:{endpoint.url}/ask", "--agent-set", 'body={"input": "{question}"}', "--agent-set", "retries=1"
            )
        )
        assert broken.code == 3, broken.error
        assert_sound(stage, dict.fromkeys(hit, "provider_failed"))
        assert model.asked.total() == stage.samples + len(hit)
        model.fault = None
        assert stage.run(stage.go_on("--retry-failed")).code == 0
    assert_sound(stage)
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        kept = [trial for trial in store.history(RUN) if getattr(trial, "outcome", "") == "provider_failed"]
    assert [trial.failure.kind for trial in kept if hasattr(trial, "failure") and trial.failure] == [kind] * len(hit)
