"""From an answer of `proctor init` to the first number: write what is missing, run it, and name the next command."""

import shlex
import sys
from contextlib import redirect_stdout
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from proctor import registry
from proctor.cli import output
from proctor.cli.found import FUNCTIONS, FolderContents, look_into
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api import Run

LIMIT = 20
AGENT_FILE, TASK_FILE, CHECKS_FILE, GATE_FILE = "agent.py", "task.py", "checks.py", "test_agent.py"
CASES_FILE = "cases.evalset.json"
BENCHMARK = "bfcl/simple_python"
STANDS_IN = "baseline:random"

AGENT = """# {agent}
def answer(question: str) -> str:
    capitals = {{"France": "Paris", "Norway": "Oslo", "Japan": "Kyoto"}}  # {wrong}
    return next((city for country, city in capitals.items() if country in question), "")
"""
TASK = '''# {task}
from proctor import Sample, Score, Task, Trajectory

QUESTIONS = {{"fr": ("France", "Paris"), "no": ("Norway", "Oslo"), "jp": ("Japan", "Tokyo")}}


def short(sample: Sample, trajectory: Trajectory) -> Score:
    """{short}"""
    return Score(points=len(trajectory.answer.split()) == 1, reason="one word")


def task() -> Task:
    return Task(
        name="capitals",
        version="1",  # {version}
        samples=[
            Sample.ask(id, f"What is the capital of {{country}}? Answer in one word.", target=city)
            for id, (country, city) in QUESTIONS.items()
        ],
        scorers=["{scorer}", short],
    )
'''
CHECKS = '''# {checks}
from proctor import Sample, Score, Trajectory
from proctor.core.sample import ToolResult


def no_error(sample: Sample, trajectory: Trajectory) -> Score:
    """{no_error}"""
    results = [part for step in trajectory.steps for part in step.message.parts if isinstance(part, ToolResult)]
    failed = [result.name for result in results if result.is_error]
    return Score(points=not failed, reason=", ".join(failed))
'''
GATE = """# {gate}
import pytest


@pytest.mark.proctor(
    "{task}",
    agent="{agent}",
    thresholds={{"accuracy": {least}}},  # {reached}
    by="value",  # {by}
)
def test_the_agent_is_good_enough(proctor):
    assert proctor.run.outcomes["scored"] > 0
"""


class FirstRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is run first; `replies` stand in for an agent where conversations were had already."""

    task: str
    agent: str = ""
    replies: str = ""
    scorers: tuple[str, ...] = ()

    def typed(self, run_id: str) -> str:
        """Return the command that does the same."""
        words = ["proctor", "score" if self.replies else "run", self.task]
        words += ["--replies", self.replies] if self.replies else ["--agent", self.agent, "--limit", str(LIMIT)]
        words += [word for scorer in self.scorers for word in ("--scorer", scorer)]
        return shlex.join([*words, "--run", run_id])


def begin(kind: str, folder: Path | None) -> int:
    """Write what an answer needs and this folder lacks, run it, and return the exit code.

    Raises:
        BadInput: what was asked for is not here, with what to do; or as `run_task`.
    """
    start = STARTS[kind](look_into(Path()))
    run = _run(start)
    return _end(start, run, folder)


def _of_code(found: FolderContents) -> FirstRun:
    """Evaluate a function: that of the folder, or an example."""
    agent = found.function
    if not agent:
        if Path(AGENT_FILE).exists():
            raise BadInput(
                "{file} has no function of one parameter that is called as agents are ({names}). Name yours: proctor run TASK --agent ./{file}:NAME",
                file=AGENT_FILE,
                names=", ".join(FUNCTIONS),
            )
        agent = _example_agent()
    return FirstRun(task=found.data or _task(), agent=agent)


def _of_framework(found: FolderContents) -> FirstRun:
    if not found.framework:
        raise BadInput(
            "No file here imports a framework and makes an agent of it at its top level. Name yours: proctor run TASK --agent ./FILE.py:OBJECT"
        )
    return FirstRun(task=found.data or _task("exact:contains"), agent=found.framework)


def _of_endpoint(found: FolderContents) -> FirstRun:
    return FirstRun(task=found.data or _task("exact:contains"), agent=_endpoint())


def _of_data(found: FolderContents) -> FirstRun:
    if not found.data:
        raise BadInput(
            "There is no file of questions here. Write one, such as questions.csv with the columns question and target, then: proctor init data"
        )
    output.message(
        t("Before you trust a number, audit the file: {command}", command=f"proctor audit-task {found.data}")
    )
    agent = found.agent or (_endpoint() if found.endpoint else "")
    return FirstRun(task=found.data, agent=agent or _example_agent())


def _of_benchmark(found: FolderContents) -> FirstRun:
    from proctor.api.files import pull_data

    output.message(t("The data of {benchmark} is fetched once (2 MB) and kept in your cache.", benchmark="BFCL"))
    pull_data("bfcl", None, output.tell)
    agent = found.agent or (_endpoint() if found.endpoint else "")
    if not agent:
        output.message(t("No agent is here, so {agent} stands in for one.", agent=STANDS_IN))
    return FirstRun(task=BENCHMARK, agent=agent or STANDS_IN)


def _of_traces(found: FolderContents) -> FirstRun:
    """Score conversations that were had: each becomes a case, and a check that needs no reference answer says what failed."""
    from proctor.cli import tree

    registry.REPLY_FILES.check_installed("traces")
    if not found.traces:
        raise BadInput(
            "There are no traces here: files of spans (OTLP-JSON, or as an SDK prints them), or a folder of them with 'trace' in its name. Then: proctor init traces"
        )
    if not Path(CASES_FILE).exists():
        evalset = tree.find_command("adk evalset")
        assert evalset is not None  # or the package is missing, which is raised
        spans = Path(found.traces)
        files = [str(path) for path in sorted(spans.iterdir())] if spans.is_dir() else [found.traces]
        evalset.main(["from-trace", *files, "-o", CASES_FILE], prog_name="proctor adk evalset", standalone_mode=False)
    _write(
        CHECKS_FILE,
        CHECKS.format(
            checks=t("What every conversation has to pass; it needs no reference answers."),
            no_error=t("No tool call ended in an error."),
        ),
    )
    return FirstRun(task=CASES_FILE, replies=found.traces, scorers=(f"./{CHECKS_FILE}:no_error",))


STARTS = {
    "function": _of_code,
    "framework": _of_framework,
    "endpoint": _of_endpoint,
    "data": _of_data,
    "benchmark": _of_benchmark,
    "traces": _of_traces,
}


def _endpoint() -> str:
    """Return a model of the endpoint that the environment names, or of a server of this machine.

    Raises:
        BadInput: none answers, or it does not say which model is meant.
    """
    import asyncio
    import os

    from proctor.models.servers import find_endpoint, find_running

    if named := os.environ.get("LLM_MODEL_ID"):
        return f"openai:{named}"
    if os.environ.get("OPENAI_API_KEY") and not os.environ.get("OPENAI_BASE_URL"):
        raise BadInput(
            "OPENAI_API_KEY is set, but no model is named. Name one, then try again: export LLM_MODEL_ID=MODEL"
        )
    server = asyncio.run(find_endpoint())
    running = [server] if server is not None else asyncio.run(find_running())
    models = [model for server in running for model in server.models]
    if not models:
        raise BadInput(
            "No endpoint answers. Name one, then try again: export OPENAI_BASE_URL=http://localhost:8000/v1 OPENAI_API_KEY=KEY LLM_MODEL_ID=MODEL"
        )
    if len(models) > 1:
        output.message(
            t(
                "{server} has {count} models; {model} is taken. Another one: export LLM_MODEL_ID=MODEL",
                server=running[0].address,
                count=len(models),
                model=models[0],
            )
        )
    return models[0]


def _example_agent() -> str:
    _write(
        AGENT_FILE,
        AGENT.format(
            agent=t("The system under test: from a question to an answer. Put your own here."),
            wrong=t("one is wrong, so that there is something to see"),
        ),
    )
    return f"./{AGENT_FILE}:answer"


def _task(scorer: str = "exact") -> str:
    """Return the task of this folder: its own, or an example."""
    if not Path(TASK_FILE).exists():
        text = TASK.format(
            task=t("What the agent should know, and how its answers are scored."),
            short=t("A scorer of your own: full points for one word."),
            version=t("raise it when the questions change"),
            scorer=scorer,
        )
        _write(TASK_FILE, text)
    return f"./{TASK_FILE}:task"


def _write(name: str, text: str) -> None:
    """Write a file unless there is one of this name, which is the user's own."""
    if not Path(name).exists():
        Path(name).write_text(text, encoding="utf-8")
        output.message(t("Wrote {path}.", path=name))


def _run(start: FirstRun) -> "Run":
    from proctor.api import RunOptions, run_task
    from proctor.api.prepare import new_id
    from proctor.config import settings
    from proctor.engine.progress import Progress

    progress, run_id = Progress(tell=output.tell), new_id(Path(start.task).stem)
    asked: dict[str, Any] = {"run_id": run_id, "scorers": start.scorers or None, "progress": progress}
    asked |= {"replies": start.replies} if start.replies else {"agent": start.agent, "limit": LIMIT}
    output.message(f"$ {start.typed(run_id)}")
    with output.watching(progress, quiet=False), redirect_stdout(sys.stderr):  # an agent may print
        return run_task(start.task, RunOptions.usual(settings()).changed(asked))


def _end(start: FirstRun, run: "Run", folder: Path | None) -> int:
    from proctor.cli import minimum
    from proctor.reports.words import ReportWords

    output.print_few_samples(run)
    words, number = ReportWords(lang()), run.headline
    if number is not None:
        output.line(
            t(
                "{number} ({scored} of {planned} scored)",
                number=words.sentence(number, words.metric(number.name)),
                scored=number.scored,
                planned=number.planned,
            )
        )
    if minimum.nothing_measured(run):
        return 2
    steps = [f"proctor show {run.id} --failures", f"proctor runs report {run.id}"]
    if number is not None and number.value is not None and start.agent and start.task != BENCHMARK:
        _write(GATE_FILE, _gate(start, number.value))
        steps.append(f"pytest {GATE_FILE}")
    where = "" if folder is None else f"cd {shlex.quote(str(folder))} && "
    output.message(t("Next: {run}", run=where + " · ".join(steps)))
    return 0


def _gate(start: FirstRun, value: float) -> str:
    return GATE.format(
        gate=t("A gate for every commit: run it with pytest."),
        task=start.task,
        agent=start.agent,
        least=floor(value * 10) / 10,
        reached=t("what it reached at first, rounded down"),
        by=t("so few samples are all that matters here; leave this out where they represent many more"),
    )
