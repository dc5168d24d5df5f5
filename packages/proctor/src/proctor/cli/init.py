"""proctor init: files to start from."""

from collections.abc import Callable
from pathlib import Path

import click

from proctor import registry
from proctor.cli import output, templates
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.near import near
from proctor.runtime.visible import visible

PROJECT = "project"
ENVIRONMENT = "environment"
ENDING = "-set"

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
            Sample.ask(id, f"What is the capital of {{country}}?", target=city)
            for id, (country, city) in QUESTIONS.items()
        ],
        scorers=["exact", short],
    )
'''
GATE = """# {gate}
import pytest


@pytest.mark.proctor(
    "./task.py:task",
    agent="./agent.py:answer",
    thresholds={{"exact": 0.6}},
    by="value",  # {by}
)
def test_the_agent_is_good_enough(proctor):
    assert proctor.run.estimate("short.accuracy").value == 1
"""


@click.command(
    help=t(
        "Write files to start from. KIND is project (an agent, a task and a gate for pytest; the default), ci (tiers and jobs), gate, watch, environment (tools with a state), or gaia-set (questions); the last two need a folder."
    )
)
@click.argument("kind", default=PROJECT)
@click.argument("folder", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), required=False)
def command(kind: str, folder: Path | None) -> None:
    from proctor import registry
    from proctor.api import resolve

    if kind in KINDS:
        KINDS[kind](folder or Path())
        return
    part = resolve.benchmark(kind.removesuffix(ENDING)) if kind.endswith(ENDING) else None
    own = None if part is None else part.own
    if own is None and kind != ENVIRONMENT:
        sets = [f"{name}{ENDING}" for name, declared in resolve.benchmarks() if declared.own is not None]
        known = [*KINDS, ENVIRONMENT, *sets]
        if near(kind, known):
            raise registry.unknown("template", kind, known, paths=False)
        raise BadInput(
            "No template is called '{name}'. Known: {known}. To start a project in a folder of this name: proctor init project {name}",
            name=kind,
            known=", ".join(known),
        )
    if folder is None:
        raise BadInput("Name the folder to write to: proctor init {kind} DIR", kind=kind)
    if own is None:
        templates.write_environment(folder)
        return
    for path in own.write_template(folder):
        output.line(visible(str(path)))
    benchmark = kind.removesuffix(ENDING)
    output.message(
        t("Fill it in, then check it: proctor data check {benchmark} {folder}", benchmark=benchmark, folder=folder)
    )


def _write_gate(folder: Path) -> None:
    templates.write_file(folder, "gate.toml", templates.gate_text(), "proctor ci gate RUN --policy {path}")


def _write_watch(folder: Path) -> None:
    templates.write_file(folder, "watch.toml", templates.watch_text(), "proctor ci watch --file {path} --now nightly")


def _write_ci(folder: Path) -> None:
    registry.offered("starters", "ci")(folder, templates.gate_text, at_least=templates.AT_LEAST)


def _write_project(folder: Path) -> None:
    texts = {
        "agent.py": AGENT.format(
            agent=t("The system under test: from a question to an answer. Put your own here."),
            wrong=t("one is wrong, so that there is something to see"),
        ),
        "task.py": TASK.format(
            task=t("What the agent should know, and how its answers are scored."),
            short=t("A scorer of your own: full points for one word."),
            version=t("raise it when the questions change"),
        ),
        "test_agent.py": GATE.format(
            gate=t("A gate for every commit: run it with pytest."),
            by=t("three samples are all that matters here; leave this out where they represent many more"),
        ),
    }
    there = [name for name in texts if (folder / name).exists()]
    if there:
        raise BadInput(
            "{folder} has {names} already, and nothing is written over. Name another folder: proctor init project DIR",
            folder=folder,
            names=", ".join(there),
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        output.message(t("Wrote {path}.", path=folder / name))
    where = "" if folder == Path() else f"cd {folder} && "
    output.message(
        t(
            "Next: {run} · {failures} · {gate}",
            run=f"{where}proctor run ./task.py:task --agent ./agent.py:answer --run my-first",
            failures="proctor show my-first --failures",
            gate="pytest test_agent.py",
        )
    )


KINDS: "dict[str, Callable[[Path], None]]" = {
    PROJECT: _write_project,
    "ci": _write_ci,
    "gate": _write_gate,
    "watch": _write_watch,
}
