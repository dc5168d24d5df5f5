"""Make a task that compares sets of items: `judged-pairs:` with the scorer `pairwise` and the agent `recorded:`.

Items with the same id are compared with each other; where the sets share no ids, each item of the first is compared with
items drawn from the second. With more than two sets every pair of them is compared on the items that all have, and their
strengths are estimated together (Bradley-Terry).
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Literal

import msgspec

from proctor.config import settings, store_url
from proctor.core.errors import BadInput
from proctor.core.parts import TaskKindPart
from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.core.task import Judged, Task
from proctor.core.trial import IN_THE_MEAN
from proctor.datasets.formats import READERS
from proctor_judging.stats.ranking import RankedBattle, bradley_terry
from proctor_judging.tasks.fields import JUDGED, ItemsFile, JudgedItem, items_of
from proctor_judging.tasks.items import same_texts, sample

Pairing = Literal["auto", "id", "random"]
Control = Literal["none", "length", "style"]
WON = {"win": 1.0, "tie": 0.5, "loss": 0.0}
MARKS = {
    "headers": re.compile(r"^#{1,6} ", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*"),
    "lists": re.compile(r"^[^\S\n]*(?:[-*+]|\d+[.)]) ", re.MULTILINE),
}


class Set(msgspec.Struct, frozen=True, kw_only=True):
    """One of the sets: its name, what can be compared of its items, and the items by id."""

    name: str
    digest: str
    roles: tuple[str, ...]
    read: Callable[[], Iterator[JudgedItem]]
    file: ItemsFile | None = None


def task(
    _: str = "",
    *,
    sets: Sequence[str],
    columns: Mapping[str, str] | None = None,
    references: int = 1,
    pairing: Pairing = "auto",
    control: Control = "none",
    seed: int = 0,
    store: str | None = None,
) -> Task:
    """Return a task of pairs of items from two or more sets.

    Args:
        sets: files of items, or stored runs.
        columns: what a column is, in all the files.
        references: with how many drawn items of the second set each item of the first is compared.
        pairing: by id, or with drawn items; "auto" takes the ids where the sets share some.
        control: what strengths are corrected for: nothing, length, or length and marks such as headings and lists.
        store: where stored runs are.

    Raises:
        BadInput: fewer than two sets, the same set twice, no id in common where ids are needed, or a set that cannot be read.
    """
    if len(sets) < 2:
        raise BadInput("Name at least two sets to compare: files, or stored runs.")
    found = _named([_set(name, columns, store) for name in sets])
    _check(found)
    roles = [role for role in JUDGED if all(role in each.roles for each in found)]
    if not roles:
        raise BadInput("The sets have nothing in common that could be compared: {sets}.", sets=", ".join(sets))
    shared = _shared_ids(found, pairing)
    return Task(
        name="-vs-".join(each.name for each in found),
        version="-".join(each.digest[:12] for each in found),
        samples=partial(_by_id, found, roles) if shared else partial(_drawn, found, roles, references, seed),
        summarise=summary(sets=sets, control=control, seed=seed),
        provenance={
            "sets": {each.name: each.digest for each in found},
            "paired": f"{shared} items with the same id" if shared else "with items drawn at random",
        },
    )


def summary(
    *, sets: Sequence[str], control: Control = "none", seed: int = 0, **_: object
) -> Callable[[Sequence[Estimate], Judged], Sequence[Estimate]] | None:
    """Return what estimates strengths, of the options of a task; None where the win rate of two sets says it all."""
    return partial(_strengths, control, seed) if len(sets) > 2 or control != "none" else None


def battles_of(judged: Judged, control: Control = "none") -> list[RankedBattle]:
    """Return every comparison of a run, with its style where that is controlled for."""
    return [
        RankedBattle(
            item=sample.cluster or sample.id,
            first=sample.meta["systems"][0],
            second=sample.meta["systems"][1],
            won=WON[comparison.result],
            style=_style(sample, comparison.rival, control),
        )
        for sample, verdict in judged()
        for comparison in verdict.result.known.comparisons
        if comparison.result in WON and "systems" in sample.meta
    ]


def _strengths(control: Control, seed: int, found: Sequence[Estimate], judged: Judged) -> Sequence[Estimate]:
    """Return the strength of each set on the scale of Elo, drawn again by item."""
    battles = battles_of(judged, control)
    if not battles:
        return []
    ranking = bradley_terry(battles, seed=seed)
    note = next((estimate.note for estimate in found if estimate.note), "")
    return [
        Estimate(
            name="strength",
            slice=f"system={rating.name}",
            value=rating.elo,
            low=rating.low,
            high=rating.high,
            level=ranking.level,
            method=ranking.method,
            scored=rating.battles,
            planned=rating.battles,
            clusters=ranking.items,
            note=say("{note}; {more}", note=note, more=ranking.note) if ranking.note else note,
            unit="number",
        )
        for rating in ranking.ratings
    ]


def _set(name: str, columns: Mapping[str, str] | None, store: str | None) -> Set:
    if Path(name).expanduser().is_file() or Path(name).suffix.lower() in READERS:
        items = items_of(name, columns)
        return Set(name=items.path.stem, digest=items.digest, roles=tuple(items.roles), read=items.read, file=items)
    return _run(name, store)


def _run(run_id: str, store: str | None) -> Set:
    """Return the answers of a stored run: the first attempt at each sample; where the agent failed, an empty one."""
    from proctor.core.digest import digest
    from proctor.stores import open_store

    opened = open_store(store_url(store, settings()))
    opened.run(run_id)
    judged_items: dict[str, JudgedItem] = {}
    for trial in opened.trials(run_id):
        if trial.outcome in IN_THE_MEAN and trial.sample_id not in judged_items:
            answer = trial.trajectory.answer if trial.outcome == "scored" else ""
            asked = opened.sample(run_id, trial.sample_id)
            texts = {"question": asked.question if asked is not None else "", "answer": answer}
            tags = asked.tags if asked is not None else {}
            judged_items[trial.sample_id] = JudgedItem(
                id=trial.sample_id, texts={role: text for role, text in texts.items() if text}, tags=tags
            )
    opened.close()
    if not any("answer" in item.texts for item in judged_items.values()):
        raise BadInput("The run {run} has no answers to compare.", run=run_id)
    items = list(judged_items.values())
    return Set(name=run_id, digest=digest(items), roles=("question", "answer"), read=lambda: iter(items))


def _named(found: Sequence[Set]) -> list[Set]:
    """Return the sets under names that are different."""
    names = [each.name for each in found]
    return [
        msgspec.structs.replace(each, name=f"{each.name}-{number}") if names.count(each.name) > 1 else each
        for number, each in enumerate(found, start=1)
    ]


def _check(found: Sequence[Set]) -> None:
    for first, second in combinations(found, 2):
        is_same = first.digest == second.digest
        if first.file is not None and second.file is not None:
            is_same = same_texts(first.file, second.file)
        if is_same:
            raise BadInput("{first} and {second} hold the same items.", first=first.name, second=second.name)


def _shared_ids(found: Sequence[Set], pairing: Pairing) -> int:
    """Return how many items are paired by id; 0 where they are compared with drawn ones."""
    shared: set[str] = set.intersection(*({item.id for item in each.read() if item.is_named} for each in found))
    if shared and pairing != "random":
        return len(shared)
    if pairing == "id" or len(found) > 2:
        raise BadInput(
            "The sets {sets} have no id in common, so their items cannot be paired.",
            sets=", ".join(each.name for each in found),
        )
    return 0


def _by_id(found: Sequence[Set], roles: Sequence[str]) -> Iterator[Sample]:
    sets = [{item.id: item for item in each.read()} for each in found]
    several = len(found) > 2
    for id in sets[0]:
        if not all(id in items for items in sets):
            continue
        for (first_set, first), (second_set, second) in combinations(zip(found, sets, strict=True), 2):
            pair = f"{first_set.name} vs {second_set.name}"
            sample = _pair(first[id], [second[id]], roles, (first_set.name, second_set.name))
            if several:
                sample = msgspec.structs.replace(
                    sample, id=f"{id} · {pair}", cluster=sample.cluster or id, tags={**sample.tags, "pair": pair}
                )
            yield sample


def _drawn(found: Sequence[Set], roles: Sequence[str], count: int, seed: int) -> Iterator[Sample]:
    ours, other = found
    pool = list(other.read())
    if not 1 <= count <= len(pool):
        raise BadInput("{name} lies between 1 and {most}, not {value}.", name="references", most=len(pool), value=count)
    for item in ours.read():
        drawn = random.Random(f"{seed}:{item.id}").sample(pool, count)  # noqa: S311 - the same again
        yield _pair(item, drawn, roles, (ours.name, other.name))


def _pair(item: JudgedItem, rivals: Sequence[JudgedItem], roles: Sequence[str], systems: tuple[str, str]) -> Sample:
    """Return an item with its rivals; a question that both answer is context, and not compared."""
    asked = item.texts.get("question", "")
    is_answer = "answer" in roles and bool(asked) and all(rival.texts.get("question") == asked for rival in rivals)
    compared = [role for role in roles if role != "question"] if is_answer else list(roles)
    meta: dict[str, object] = {
        "item": {"question": asked} if is_answer else {},
        "recorded": item.text(compared),
        "rivals": [{"id": rival.id, "text": rival.text(compared)} for rival in rivals],
        "systems": list(systems),
    }
    return msgspec.structs.replace(sample(item), meta=meta)


def _style(sample: Sample, rival: str, control: Control) -> dict[str, float]:
    """Differences of style, first minus second: length, and the density of marks (LMSYS, style control, August 2024)."""
    if control == "none":
        return {}
    mine = sample.known.recorded or ""
    other = next(one.text for one in sample.known.rivals or () if one.id == rival)
    style = {"length": _share(len(mine), len(other))}
    if control == "style":
        for name, mark in MARKS.items():
            first, second = (len(mark.findall(text)) / (len(text.split()) + 1) for text in (mine, other))
            style[name] = (first - second) / (first + second + 1)
    return style


def _share(first: float, second: float) -> float:
    return (first - second) / (first + second) if first + second else 0.0


PART = TaskKindPart(task=task, summarise=summary)
