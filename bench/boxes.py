"""What boxes cost besides the commands of their tasks: 100 tasks with 8 at once, on each backend that works here."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bench.figure import Figure, seconds_of
from proctor import Sample, Task, evaluate
from proctor_benchmarks.boxes.opening import ENGINES, answers

TASKS, AT_ONCE, COMMANDS = 100, 8, 4
COMMAND = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 2"  # mostly waits, as for a compiler or a download
IMAGE = os.environ.get("BOX_IMAGE", "")  # with a shell; engines are left out without one


def measure() -> Iterator[Figure]:
    """The seconds of a run over those of the same commands on this machine; for engines, also over those of bare `exec`."""
    bare = seconds_of(lambda: _at_once(_commands))
    yield Figure(what=f"{TASKS} tasks, {AT_ONCE} at once: their commands alone", value=bare, unit="s")
    ours = seconds_of(lambda: _run("container:bubblewrap", {}))
    yield Figure(what="the same in boxes of bubblewrap", value=ours / bare, at_most=1.25)
    for engine in ENGINES if IMAGE else ():
        if answers(engine):
            ours = seconds_of(lambda engine=engine: _run(f"container:{IMAGE}", {"backend": engine}))  # type: ignore[misc]
            yield Figure(what=f"the same in boxes of {engine}", value=ours / bare, at_most=1.25)
            own = seconds_of(lambda engine=engine: _at_once(lambda: _bare_container(engine)))  # type: ignore[misc]
            yield Figure(what=f"the same in boxes of {engine}, over its bare command line", value=ours / own)


def _at_once(work: Any) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(work) for _ in range(TASKS)]:
            done.result()


def _commands(before: Sequence[str] = ()) -> None:
    for _ in range(COMMANDS):
        subprocess.run([*before, "sh", "-c", COMMAND], check=True)


def _bare_container(engine: str) -> None:
    """Start a container, run the commands and remove it, as one would by hand."""
    start = [engine, "run", "-d", "--network", "none", "--entrypoint", "sleep", IMAGE, "10000"]
    name = subprocess.run(start, check=True, capture_output=True, text=True).stdout.split()[-1]
    _commands([engine, "exec", name])
    subprocess.run([engine, "rm", "-f", name], check=True, capture_output=True)


def _answer(messages: Sequence[Mapping[str, Any]], _: Sequence[object]) -> Any:
    """An agent that makes the calls of a task."""
    number = sum(message["role"] == "tool" for message in messages)
    if number == COMMANDS:
        return "Done."
    function = {"name": "run", "arguments": json.dumps({"command": COMMAND})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "type": "function", "function": function}]}  # fmt: skip


def _run(environment: str, options: Mapping[str, object]) -> None:
    samples = [Sample.ask(str(number), "?", target="Done.") for number in range(TASKS)]
    task = Task(name="work", samples=samples, scorers=["exact"], environment=environment)
    run = evaluate(task, agent=_answer, store=":memory:", concurrency=AT_ONCE, environment_options={"memory_mb": 256, **options})  # fmt: skip
    assert run.outcomes == {"scored": TASKS}
