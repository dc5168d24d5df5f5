"""How fast conversations of BFCL are checked, beside the official checker on the same ones."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any, Literal

from bench.bfcl import results_of
from bench.figure import Figure, cpu_of, in_turn, seconds_of
from proctor import evaluate
from proctor.agents.openai import conversation_with
from proctor.core.sample import Message, Sample, Tool
from proctor.core.task import Environment, Session
from proctor.core.trajectory import Step, ToolStyle

BATCH = 25  # as in `proctor data parity`
PLAYED, AT_ONCE, REPLY_SECONDS = 200, 64, 0.05
OFFICIAL = """
import json, sys, time, types
sys.path += json.loads(sys.stdin.readline())
for language in ("java", "javascript", "js"):  # these parsers need grammars of another version, and nothing here is in them
    stand_in = types.SimpleNamespace(parse_java_function_call=None, parse_javascript_function_call=None)
    sys.modules[f"bfcl_eval.model_handler.parser.{language}_parser"] = stand_in
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import is_empty_execute_response
from bfcl_eval.model_handler.utils import default_decode_execute_prompting

def decoded(step):
    try:
        calls = default_decode_execute_prompting(step)
    except Exception:
        return None
    return None if is_empty_execute_response(calls) else calls

def checked(replies, answers, entry, category, model):  # as in _evaluate_single_multi_turn_entry
    steps = [[calls for step in turn if (calls := decoded(step)) is not None] for turn in replies]
    return multi_turn_checker(steps, answers, entry, category, model)["valid"]

lines = json.loads(sys.stdin.readline())
for model in sys.stdin:  # it goes on with used instances for a model that it has seen
    started = time.perf_counter()
    valid = sum(checked(*line, model.strip()) for line in lines)
    print(time.perf_counter() - started, valid, flush=True)
"""


def measure() -> Iterator[Figure]:
    """All 800 with right answers, from the text of the replies to the verdicts; then conversations that are played."""
    from proctor.isolation import find_packages
    from proctor_benchmarks.bfcl import dataset, dataset_turns, prompt, turns
    from proctor_benchmarks.bfcl.environment import described, workers_for
    from proctor_benchmarks.bfcl.turn_scorer import check_all

    folder = dataset.locate(None)
    entries = [(name, entry) for name in dataset.MULTI_TURN for entry in dataset_turns.read(folder, name).entries]
    items: list[tuple[dict[str, Any], object, Literal["prompt"]]] = []
    lines = []
    for name, entry in entries:
        # one step with all calls of the turn, and the words that end it
        replies = [[f"[{', '.join(turn)}]", "Done."] if turn else ["Which one?"] for turn in entry.answers]
        items.append((described(turns.sample_of(entry, name)), replies, "prompt"))
        official_entry = {"id": entry.id, "involved_classes": entry.classes, "initial_config": entry.config}
        lines.append((replies, entry.answers, official_entry, name))
    paths = [str(path) for path in (prompt.package(folder).parent, *find_packages("mpmath", "tenacity", "filelock"))]
    workers = workers_for(folder, ["MathAPI"])

    passed: list[int] = []
    rounds = count()

    async def check() -> None:
        async with asyncio.TaskGroup() as group:
            batches = [items[start : start + BATCH] for start in range(0, len(items), BATCH)]
            tasks = [group.create_task(check_all(workers, batch)) for batch in batches]
        passed.append(sum(result.error_type is None for task in tasks for result in task.result()))

    with tempfile.TemporaryDirectory() as root, asyncio.Runner() as runner:
        official = subprocess.Popen(
            [sys.executable, "-S", "-c", OFFICIAL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"BFCL_PROJECT_ROOT": root},
        )
        runner.run(workers.__aenter__())
        try:
            _write(official, json.dumps(paths))
            _write(official, json.dumps(lines))
            theirs, ours = in_turn(
                lambda: _official(official, rounds)[0], lambda: seconds_of(lambda: runner.run(check()))
            )
            valid = _official(official, rounds)[1]
            assert {valid} == {*passed}, (valid, set(passed))
        finally:
            runner.run(workers.__aexit__(None, None, None))
            official.kill()
            official.communicate()
    yield Figure(what=f"checking all {len(items)} multi-turn samples, warm", value=ours, unit="s", at_most=3)
    with tempfile.TemporaryDirectory() as results:
        results_of(Path(results), "multi_turn", "oracle")
        command = ["-m", "proctor", "score", "bfcl/multi_turn", "--replies", f"{results}/result", "--json", "--store"]
        (cpu,) = in_turn(lambda: cpu_of([*command, f"{results}/{next(rounds)}.db"]), rounds=3)
    yield Figure(what="CPU of scoring them from result files, all in", value=cpu, unit="s", at_most=3)
    yield Figure(what="the official checker on the same ones, of ours", value=theirs / ours, at_least=3)
    with tempfile.TemporaryDirectory() as folder_of_runs:
        taken = [_played(Path(folder_of_runs, f"{number}.db")) for number in range(3)]
    yield Figure(what="200 conversations, 64 at once, of replies of 50 ms alone", value=min(taken), at_most=1.25)


class Waits:
    """A model that takes its time, and says what is right."""

    name = "waits"
    concurrency = AT_ONCE

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = iter(replies)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Step:
        await asyncio.sleep(REPLY_SECONDS)
        return Step(message=Message.of("assistant", next(self._replies)))


class Agent:
    """The tool loop of a chat model, with a model for each sample."""

    name = "waits"
    tools: ToolStyle = "text"
    concurrency = AT_ONCE

    def __init__(self, replies: Mapping[str, Sequence[str]]) -> None:
        self._replies = replies

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        return nullcontext(conversation_with(Waits(self._replies[sample.id]), "text", environment))


def _played(store: Path) -> float:
    """Return how much longer a run takes than the replies alone, as many at once."""
    from proctor_benchmarks import bfcl

    task = bfcl.task("multi_turn_base", mode="prompt")
    assert isinstance(task.samples, list)
    assert task.oracle is not None
    replies = {sample.id: [step.message.text for step in task.oracle(sample).steps] for sample in task.samples[:PLAYED]}

    async def wait_for(waiting: Iterator[Sequence[str]]) -> None:
        for several in waiting:
            for _ in several:
                await asyncio.sleep(REPLY_SECONDS)

    async def alone() -> None:
        waiting = iter(replies.values())
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(wait_for(waiting))

    bare = seconds_of(lambda: asyncio.run(alone()))
    started = time.perf_counter()
    run = evaluate(task, agent=Agent(replies), concurrency=AT_ONCE, store=str(store))
    seconds = time.perf_counter() - started
    assert run.estimate("accuracy").value == 1
    return seconds / bare


def _write(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _official(process: "subprocess.Popen[str]", rounds: Iterator[int]) -> tuple[float, int]:
    assert process.stdout is not None
    _write(process, f"model{next(rounds)}")  # part of a name in Python: no quotes
    seconds, valid = process.stdout.readline().split()
    return float(seconds), int(valid)
