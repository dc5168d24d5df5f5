"""Make a task of the items of a data file: `judged-items:FILE` with the agent `recorded:`, so that judging is a run like any other."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.parts import TaskKindPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import Task
from proctor_judging.tasks.fields import ItemsFile, JudgedItem, items_of

EXAMPLES = 2


def task(
    path: str,
    *,
    columns: Mapping[str, str] | None = None,
    reference: str | None = None,
    examples: int = EXAMPLES,
    seed: int = 0,
) -> Task:
    """Return the items of a file as a task for judges.

    Args:
        columns: what a column is, where its name does not tell: id, question, answer, solution, reference, cluster,
            tag:NAME or ignore.
        reference: a file of items as they should be; a judge is shown `examples` of them with each item, drawn with the
            seed.

    Raises:
        BadInput: a file that cannot be judged; names row and column. Or the reference set is the same as the items.
    """
    file = items_of(path, columns)
    shown = _references(reference, file, examples)
    provenance = {"file": file.path.name, "digest": file.digest, "columns": dict(file.fields.roles)}
    if reference is not None:
        provenance["reference"] = {"file": Path(reference).name, "digest": items_of(reference).digest}
    return Task(
        name=file.path.stem,
        version=file.digest[:12],
        samples=lambda: _samples(file, shown, examples, seed),
        provenance=provenance,
        spread_by=next(iter(file.fields.tags), None),
        planned=file.count,
    )


def sample(item: JudgedItem, **meta: object) -> Sample:
    """Make a sample of an item, with its texts in `meta` for judges and for the agent `recorded:`."""
    asked = item.texts.get("question") or item.text()
    return Sample(
        id=item.id,
        turns=(Turn(messages=(Message.of("user", asked),)),),
        cluster=item.cluster,
        tags=item.tags,
        meta={"item": dict(item.texts), "recorded": item.text(), **meta},
    )


def same_texts(one: ItemsFile, other: ItemsFile) -> bool:
    """True if two files hold the same items, in any order and under any ids."""
    if one.digest == other.digest:
        return True
    return one.count == other.count and {item.text() for item in one.read()} == {item.text() for item in other.read()}


def _references(path: str | None, items: ItemsFile, count: int) -> list[str]:
    if path is None:
        return []
    if count < 1:
        raise BadInput("{name} must be at least 1, not {value}.", name="examples", value=count)
    file = items_of(path)
    if same_texts(file, items):
        raise BadInput("The reference set {path} is the same as the items that are judged.", path=path)
    return [item.text() for item in file.read()]


def _samples(items: ItemsFile, shown: list[str], examples: int, seed: int) -> Iterator[Sample]:
    for item in items.read():
        drawn = random.Random(f"{seed}:{item.id}").sample(shown, min(examples, len(shown)))  # noqa: S311 - the same again
        yield sample(item, **({"examples": drawn} if drawn else {}))


PART = TaskKindPart(task=task)
