"""AgentBench: an agent in eight worlds: a shell, databases, a knowledge graph, a card game, puzzles, a household, a shop, web pages.

`agentbench` is all eight parts, `agentbench/db` or `agentbench/os,kg` are some. Questions and prompts are read from the user's
clone of the repository at v0.2; loops, statuses and numbers are the official ones (`README.md`).
"""

from collections.abc import Mapping, Sequence

import msgspec

from proctor.config import converted
from proctor.core.digest import digest
from proctor.core.parts import BenchmarkPart
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor_benchmarks.agentbench import dataset, files, os_loop, parity
from proctor_benchmarks.agentbench.conversation import ConversationHost, Stages
from proctor_benchmarks.agentbench.database import Engine
from proctor_benchmarks.agentbench.dataset import Split
from proctor_benchmarks.agentbench.oracle import Oracle
from proctor_benchmarks.agentbench.puzzles_host import PuzzleHost
from proctor_benchmarks.agentbench.scorer import agentbench
from proctor_benchmarks.agentbench.summary import summarise
from proctor_benchmarks.agentbench.worlds import Needs, worlds


class AgentBenchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions are asked, and what the worlds of the parts need.

    Attributes:
        data: a clone of the official repository at v0.2; PROCTOR_AGENTBENCH_DATA when None.
        split: `std` is the test set, `dev` the small one.
        mind2web: the targets of Mind2Web, which are in no clone.
        database: what the part `db` runs on: a MariaDB server that is started for the run, or SQLite.
        python: a Python 3.10 for the official player of the part `cards`.
        host: the model that hosts `puzzles`, or an object with `model` and its options; officially gpt-3.5-turbo-0613.
        sparql: the address of a SPARQL endpoint with the official Freebase, for `kg`.
        alfworld: the folder with the game files of ALFWorld; ALFWORLD_DATA when None.
    """

    data: str | None = None
    split: Split = "std"
    mind2web: str | None = None
    database: Engine = "mariadb"
    python: str = "python3.10"
    host: str | Mapping[str, object] | None = None
    sparql: str | None = None
    alfworld: str | None = None


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
    digests, notes = dataset.digests(root, parts, how.split)
    if category is None and how.mind2web is None:
        notes.append(say("mind2web is left out, as no file with its targets is given (--set mind2web=FILE)."))
    host = PuzzleHost(how.host)
    known = worlds(
        root, Needs(database=how.database, python=how.python, host=host, sparql=how.sparql, alfworld=how.alfworld)
    )
    return Task(
        name="agentbench" if category is None else f"agentbench/{','.join(parts)}",
        version=digest({"commit": dataset.COMMIT, "split": how.split, "files": digests})[:12],
        samples=samples,
        scorers=(agentbench,),
        environment=Stages(parts, {part: known[part] for part in parts if part in known}, os_loop.SEARCHED),
        user=ConversationHost(host.unpriced),
        oracle_agent=Oracle(),
        summarise=summarise,
        spread_by="part",
        planned=len(samples),
        notes=notes,
        provenance={
            "repository": "THUDM/AgentBench",
            "commit": dataset.COMMIT,
            "licence": dataset.LICENCE,
            "split": how.split,
            "files": digests,
            "warnings": [str(note) for note in notes],
        },
    )


PART = BenchmarkPart(
    task=task,
    options=AgentBenchOptions,
    summarise=summarise,
    replies=files.read,
    export=files.write,
    check_corpus=parity.check_corpus,
)
