"""AgentBench: an agent in eight worlds: a shell, databases, a knowledge graph, a card game, puzzles, a household, a shop, web pages.

`agentbench` is all eight parts, `agentbench/db` or `agentbench/os,kg` are some. Questions and prompts are read from the user's
clone of the repository at v0.2; loops, statuses and numbers are the official ones (`README.md`).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from proctor.benchmarks.agentbench import cards, dataset, db, files, parity
from proctor.benchmarks.agentbench.conversation import Host, Play, Stages
from proctor.benchmarks.agentbench.database import Databases, Engine
from proctor.benchmarks.agentbench.dataset import Split
from proctor.benchmarks.agentbench.official import Part
from proctor.benchmarks.agentbench.scorer import agentbench
from proctor.benchmarks.agentbench.summary import summarise
from proctor.config import converted
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Message, Sample
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Step, Trajectory


class AgentBenchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions are asked, and what the worlds of the parts need.

    Attributes:
        data: a clone of the official repository at v0.2; PROCTOR_AGENTBENCH_DATA when None.
        split: `std` is the test set, `dev` the small one.
        mind2web: the targets of Mind2Web, which are in no clone.
        database: what the part `db` runs on: a MariaDB server that is started for the run, or SQLite.
        python: a Python 3.10 for the official player of the part `cards`.
    """

    data: str | None = None
    split: Split = "std"
    mind2web: str | None = None
    database: Engine = "mariadb"
    python: str = "python3.10"


def task(category: str | Sequence[str] | None = None, **options: object) -> Task:
    """Return the task of some parts. The data are read and checked here; what the worlds need, when the run begins.

    Args:
        category: a part, or several with commas; all when None.
        options: the fields of `AgentBenchOptions`.

    Raises:
        BadInput: an unknown part or option, no clone, or a file in another layout.
    """
    how = converted(options, AgentBenchOptions, "agentbench")
    parts = dataset.parts_of(category, how.mind2web)
    root = dataset.locate(how.data)
    samples = [sample for part in parts for sample in dataset.samples(root, part, how.split, how.mind2web)]
    found, notes = dataset.digests(root, parts, how.split)
    if category is None and how.mind2web is None:
        notes.append(say("mind2web is left out, as no file with its targets is given (--set mind2web=FILE)."))
    return Task(
        name="agentbench" if category is None else f"agentbench/{','.join(parts)}",
        version=digest({"commit": dataset.COMMIT, "split": how.split, "files": found})[:12],
        samples=samples,
        scorers=(agentbench,),
        environment=Stages(parts, plays(root, parts, how)),
        user=Host(),
        oracle=oracle,
        summarise=summarise,
        spread_by="part",
        planned=len(samples),
        notes=notes,
        provenance={
            "repository": "THUDM/AgentBench",
            "commit": dataset.COMMIT,
            "licence": dataset.LICENCE,
            "split": how.split,
            "files": found,
            "warnings": [str(note) for note in notes],
        },
    )


def plays(root: Path, parts: Sequence[Part], how: AgentBenchOptions) -> Mapping[Part, Play]:
    """Return the loops of the parts that can be played; what they need is checked when a run begins."""
    known: Mapping[Part, Callable[[], Play]] = {
        "db": lambda: db.DatabasePart(root, Databases(how.database)),
        "cards": lambda: cards.CardsPart(root, how.python),
    }
    return {part: known[part]() for part in parts if part in known}


def oracle(sample: Sample) -> Trajectory:
    """Return right replies, where there is an official solution.

    Raises:
        BadInput: there is none.
    """
    if (solve := _SOLVED.get(sample.tags["part"])) is None:
        raise BadInput("There is no official solution of '{part}'.", part=sample.tags["part"])
    replies = solve(sample)
    return Trajectory(
        steps=tuple(Step(message=Message.of("assistant", reply), turn=turn) for turn, reply in enumerate(replies))
    )


_SOLVED: Mapping[str, Callable[[Sample], Sequence[str]]] = {"db": db.solution}

PART = BenchmarkPart(
    task=task,
    options=AgentBenchOptions,
    summarise=summarise,
    replies=files.read,
    export=files.write,
    check_corpus=parity.check_corpus,
)
