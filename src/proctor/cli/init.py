"""proctor init: an agent, a task and a gate to start from."""

from pathlib import Path

import click

from proctor.cli import output
from proctor.cli.words import t
from proctor.core.errors import BadInput

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


@click.command(help=t("Write an agent, a task and a gate to start from."))
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
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
            "{folder} has {names} already, and nothing is written over. Name another folder: proctor init DIR",
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
