"""A person's own agent, tools, simulated user and scorer that fail: each failure is told from all others, and only it counts."""

from contextlib import closing
from typing import NamedTuple

import pytest
from stage import RUN, Stage, assert_said_in_every_report, assert_sound, value_of

import proctor
from proctor.core.score import Score, Unscored

AGENT = """
import asyncio, re, sys, time
from pathlib import Path
{fault}

{kind} answer(question):
    number = int(re.search(r"[0-9]+", question)[0])
    if number % 10 == 7:
        return {wait} fault(number)
    return str(number) if number % 4 else "no idea"
"""
TIME_LIMIT = ("--time-limit", "2")


class Fault(NamedTuple):
    """A row: what the agent's function does, as which kind it is recorded, and a word of the message."""

    name: str
    code: str
    kind: str
    said: str
    more: tuple[str, ...] = ()

    def agent(self, *, is_async: bool) -> str:
        kind, wait = ("async def", "await") if is_async else ("def", "")
        lines = "\n".join(f"    {line}" for line in self.code.splitlines())
        return AGENT.format(fault=f"{kind} fault(number):\n{lines}", kind=kind, wait=wait)


EITHER = [
    Fault("agent that raises", "raise ValueError('boom')", "raised", "ValueError: boom"),
    Fault("agent that leaves the program", "sys.exit(3)", "raised", "SystemExit"),
    Fault("agent that raises KeyboardInterrupt", "raise KeyboardInterrupt", "raised", "KeyboardInterrupt"),
    Fault(
        "agent that raises a BaseException of its own",
        "class Own(BaseException): ...\nraise Own('boom')",
        "raised",
        "Own: boom",
    ),
    Fault("agent that raises CancelledError", "raise asyncio.CancelledError", "raised", "CancelledError"),
    Fault("agent that runs out of memory", "return 'x' * 10**18", "raised", "MemoryError"),
    Fault("agent that recurses without end", "def again(): again()\nagain()", "raised", "RecursionError"),
    Fault("agent that gives nothing", "return None", "", ""),
    Fault("agent that gives no text", "return object()", "", ""),
    Fault("agent that gives 10 MB", "return 'x' * 10_000_000", "too_large", "the limit is"),
]
ONLY_PLAIN = [
    Fault("agent that never comes back", "time.sleep(60)", "time_limit", "No answer within 2 seconds", TIME_LIMIT),
    Fault("generator without end", "while True: yield 'x' * 1000", "too_large", "more than"),
]
ONLY_ASYNC = [
    Fault("agent that never comes back", "await asyncio.sleep(60)", "time_limit", "No answer within 2 seconds", TIME_LIMIT),
]  # fmt: skip


def row(fault: Fault, *, is_async: bool) -> object:
    name = f"{fault.name}, async" if is_async else fault.name
    how = "an async function" if is_async else "a function in a thread"
    mark = pytest.mark.fault(name, how, "agent_failed, which counts as 0; not run again")
    return pytest.param(fault, is_async, marks=mark, id=name.replace(" ", "-"))


@pytest.mark.parametrize(
    ("fault", "is_async"),
    [
        *(row(fault, is_async=is_async) for is_async in (False, True) for fault in EITHER),
        *(row(fault, is_async=False) for fault in ONLY_PLAIN),
        *(row(fault, is_async=True) for fault in ONLY_ASYNC),
    ],
)
def test_an_agent_that_fails_fails_alone(stage: Stage, fault: Fault, is_async: bool) -> None:
    stage.script("agents.py", fault.agent(is_async=is_async))
    done = stage.run(stage.command("./agents.py:answer", *fault.more))
    assert done.code == 0, done.error
    hit = affected(stage)
    assert_sound(stage, dict.fromkeys(hit, "agent_failed"))
    for reason, kind in failures(stage):
        assert fault.said in reason
        assert fault.kind in ("", kind)
    again = stage.run(stage.go_on("--retry-failed"))
    assert again.code == 0, again.error
    assert_sound(stage, dict.fromkeys(hit, "agent_failed"))


@pytest.mark.fault("agent that prints", "a function", "standard output holds the results and nothing else")
def test_an_agent_that_prints_spoils_no_result(stage: Stage) -> None:
    stage.script("agents.py", Fault("", "print('noise', number)\nreturn str(number)", "", "").agent(is_async=False))
    done = stage.run(stage.command("./agents.py:answer"))
    assert done.code == 0, done.error
    assert done.summary["outcomes"] == {"scored": stage.samples}
    assert "noise 7" in done.error


@pytest.mark.fault(
    "agent that blocks the event loop",
    "time.sleep in an async function",
    "noticed and named; the run goes on, all scored",
)
def test_an_agent_that_blocks_the_loop_is_named_and_the_run_goes_on(stage: Stage) -> None:
    stage.script(
        "agents.py", Fault("", "if number == 7: time.sleep(1.6)\nreturn str(number)", "", "").agent(is_async=True)
    )
    done = stage.run(stage.command("./agents.py:answer"))
    assert done.code == 0, done.error
    assert done.error.count("'answer' (agents.py:") == 1
    assert "plain 'def'" in done.error
    assert_sound(stage, values=dict.fromkeys(affected(stage), 1.0))
    stage.run(["runs", "report", RUN, "--out", "report.md"])
    assert "held up all samples" in (stage.folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.fault(
    "agent that ends the whole process", "os._exit in a function", "what is finished is kept; goes on where it was"
)
def test_an_agent_that_ends_the_process_loses_nothing_finished(stage: Stage) -> None:
    code = (
        "import os\nif number == 7 and not Path('mended').exists(): time.sleep(0.05); os._exit(9)\nreturn str(number)"
    )
    stage.script("agents.py", Fault("", code, "", "").agent(is_async=False))
    command = stage.command("./agents.py:answer", "--concurrency", "1")
    assert stage.run_alone(command).code == 9
    assert_sound(stage, dict.fromkeys(range(7, stage.samples), ""))
    (stage.folder / "mended").touch()
    assert stage.run_alone(stage.go_on()).code == 0
    assert_sound(stage, values=dict.fromkeys(affected(stage), 1.0))


TASKS = """
import asyncio, re
from pathlib import Path
from proctor import Sample, Score, Task, Unscored
from proctor.core.sample import Message, Tool, ToolResult, Turn
from questions import questions

def number(text): return int(re.search(r"[0-9]+", text)[0])
def is_hit(sample): return number(sample.id) % 10 == 7
def broken(sample): return is_hit(sample) and not Path("mended").exists()
def right(n): return str(n) if n % 4 else "no idea"
def with_tools(count): return lambda: (
    Sample(id=f"s{n}", target=str(n), turns=(Turn(messages=(Message.of("user", f"What is {n}?"),), tools=(Tool(name="look"),)),))
    for n in range(count))

class Tools:
    def __init__(self, sample): self.sample = sample
    async def call(self, call):
        if broken(self.sample): raise ConnectionError("the database is gone")
        return ToolResult(name=call.name, content="looked")
    def state(self): return {}

class Stateless(Tools):
    async def call(self, call): return ToolResult(name=call.name, content="looked")
    def state(self):
        if broken(self.sample): raise ConnectionError("the database is gone")
        return {}

def made(sample):
    if broken(sample): raise ConnectionError("the database is gone")
    return Tools(sample)

class User:
    async def reply(self, sample, trajectory):
        if broken(sample): raise ConnectionError("the database is gone")
        return None

def look(messages, tools):
    if messages[-1]["role"] == "tool": return right(number(messages[0]["content"]))
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}]}

def tool_breaks(count): return Task(name="t", samples=with_tools(count), scorers=["exact"], environment=Tools)
def state_breaks(count): return Task(name="t", samples=with_tools(count), scorers=["exact"], environment=Stateless)
def making_breaks(count): return Task(name="t", samples=with_tools(count), scorers=["exact"], environment=made)
def user_breaks(count): return Task(name="t", samples=questions(count).samples, scorers=["exact"], user=User())

def asked_twice(count):
    turns = lambda n: tuple(Turn(messages=(Message.of("user", text),)) for text in (f"What is {n}?", f"Are you sure of {n}?"))
    return Task(name="t", scorers=["exact"], samples=lambda: (Sample(id=f"s{n}", target=str(n), turns=turns(n)) for n in range(count)))

async def never_sure(question):
    if question.startswith("Are") and number(question) % 10 == 7: await asyncio.sleep(60)
    return right(number(question))

def scored_by(fault):
    def scorer(sample, trajectory):
        if broken(sample): return fault()
        return Score(points=trajectory.answer == sample.target)
    scorer.name = "exact"
    return scorer

def raises(): raise KeyError("target")
def interrupts(): raise KeyboardInterrupt
def scorer_raises(count): return Task(name="t", samples=questions(count).samples, scorers=[scored_by(raises)])
def scorer_interrupts(count): return Task(name="t", samples=questions(count).samples, scorers=[scored_by(interrupts)])
def scorer_gives_nonsense(count): return Task(name="t", samples=questions(count).samples, scorers=[scored_by(lambda: 7)])
def plain(question): return right(number(question))
"""


@pytest.mark.parametrize(
    ("task", "agent", "outcome", "said"),
    [
        pytest.param(*values, marks=pytest.mark.fault(name, "a task of Python", f"{values[2]}, exit 3; run again when asked for"), id=values[0])
        for name, values in {
            "tool that breaks": ("tool_breaks", "look", "environment_failed", "The tool 'look' broke: ConnectionError: the database is gone"),
            "environment that cannot say its state": ("state_breaks", "look", "environment_failed", "The environment broke"),
            "environment that cannot be made": ("making_breaks", "look", "environment_failed", "The environment broke"),
            "simulated user that breaks": ("user_breaks", "plain", "user_failed", "The simulated user broke"),
        }.items()
    ],
)  # fmt: skip
def test_what_stands_around_the_agent_is_no_fault_of_it(
    stage: Stage, task: str, agent: str, outcome: str, said: str
) -> None:
    stage.script("tasks.py", TASKS)
    task = f"./tasks.py:{task}"
    broken = stage.run(stage.command(f"./tasks.py:{agent}", "--set", f"count={stage.samples}", task=task))
    assert broken.code == 3, broken.error
    assert_sound(stage, dict.fromkeys(affected(stage), outcome))
    assert all(reason.startswith(said) for reason, _ in failures(stage))
    assert_said_in_every_report(stage, "inconclusive")
    (stage.folder / "mended").touch()
    assert stage.run(stage.go_on("--retry-failed")).code == 0
    assert_sound(stage)


@pytest.mark.fault(
    "time limit after an answer", "an agent that hangs in its second turn", "scored with the answer, stop=time_limit"
)
def test_an_answer_given_before_the_time_limit_counts(stage: Stage) -> None:
    stage.script("tasks.py", TASKS)
    command = stage.command(
        "./tasks.py:never_sure", *TIME_LIMIT, "--set", f"count={stage.samples}", task="./tasks.py:asked_twice"
    )
    done = stage.run(command)
    assert done.code == 0, done.error
    assert_sound(stage)
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        stops = {trial.sample_id: trial.trajectory.stop for trial in store.trials(RUN)}
    assert stops == {f"s{n}": "time_limit" if n in affected(stage) else "done" for n in range(stage.samples)}


@pytest.mark.parametrize(
    ("task", "said"),
    [
        pytest.param(*values, marks=pytest.mark.fault(name, "a scorer of Python", "scored, but Unscored by that scorer: missing, not 0"), id=values[0])
        for name, values in {
            "scorer that raises": ("scorer_raises", "KeyError"),
            "scorer that raises KeyboardInterrupt": ("scorer_interrupts", "KeyboardInterrupt"),
            "scorer that gives 7 of 1": ("scorer_gives_nonsense", "points must lie in"),
        }.items()
    ],
)  # fmt: skip
def test_a_scorer_that_breaks_makes_no_zero(stage: Stage, task: str, said: str) -> None:
    stage.script("tasks.py", TASKS)
    done = stage.run(stage.command("./tasks.py:plain", "--set", f"count={stage.samples}", task=f"./tasks.py:{task}"))
    assert done.code == 0, done.error
    hit, all_ = affected(stage), range(stage.samples)
    run = proctor.open_run(RUN, store=str(stage.store))
    with closing(run.store):
        results = {int(one.sample_id[1:]): one.result for one in run.verdicts()}
        assert run.outcomes == {"scored": stage.samples}
        score = run.estimate("accuracy")
        total = sum(map(value_of, set(all_) - hit))
        expected = (total / len(all_), total / (len(all_) - len(hit)), (total + len(hit)) / len(all_))
        assert (score.floor, score.value, score.ceiling) == pytest.approx(expected)
        assert (score.scored, score.planned) == (len(all_) - len(hit), len(all_))
    for number, result in results.items():
        if number in hit:
            assert isinstance(result, Unscored)
            assert said in str(result.reason)
        else:
            assert isinstance(result, Score)
            assert result.value == value_of(number)
    assert sorted(results) == list(all_)


def affected(stage: Stage) -> set[int]:
    return {n for n in range(stage.samples) if n % 10 == 7}


def failures(stage: Stage) -> list[tuple[str, str]]:
    """Reason and kind of each failure."""
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        found = [trial.failure for trial in store.trials(RUN) if trial.failure is not None]
    assert len(found) == len(affected(stage))
    return [(str(one.reason), one.kind) for one in found]
