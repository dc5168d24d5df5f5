"""Make the task that probes a judge: `judge-probes`, or `judge-probes:FILE` with the user's own items.

An item has a `question` and an `answer`; `other` is an answer of the same quality, and `own` with `other` are answers by the
judge's model and by another, of which `human` may say which people find better (`own`, `other` or `tie`). Each item gives a
few samples, one for each probe and each way to judge: in pairs, and by points.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

import msgspec

from proctor.chat.message_text import is_chinese
from proctor.config import converted
from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.parts import TaskKindPart
from proctor.core.sample import Sample
from proctor.core.task import Task
from proctor.datasets.rows import DataRow
from proctor.registry import unknown
from proctor_judging.tasks import probe_variants
from proctor_judging.tasks.item_rows import items_in

ProbeName = Literal["position", "length", "style", "self", "stability", "labels", "injection"]
Kind = Literal["pairs", "points"]
PROBES: tuple[ProbeName, ...] = get_args(ProbeName)
KINDS: tuple[Kind, ...] = get_args(Kind)
BUNDLED = "probe_items.toml"
HUMAN = {"own": 1.0, "tie": 0.0, "other": -1.0}


class ProbeItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question with its answers."""

    id: str | int
    question: str = ""
    answer: str = ""
    other: str = ""
    own: str = ""
    human: Literal["own", "tie", "other", ""] = ""

    @property
    def lang(self) -> str:
        """The language of the changed answers."""
        return "zh" if is_chinese(f"{self.question} {self.answer}") else "en"


def task(path: str = "", *, probes: Sequence[str] = (), kinds: Sequence[str] = (), items: int | None = None) -> Task:
    """Return the samples of all probes, or of some.

    Args:
        items: how many items to take from the start; all if None.

    Raises:
        BadInput: an unknown probe, or a file that holds no items.
    """
    for given, known, what in ((probes, PROBES, "probe"), (kinds, KINDS, "way to judge")):
        for name in given:
            if name not in known:
                raise unknown(what, name, list(known), paths=False)
    probe_items = (own_items(Path(path)) if path else bundled())[:items]
    samples = [
        sample
        for item in probe_items
        for sample in _samples(item)
        if (not probes or sample.tags["probe"] in probes) and (not kinds or sample.tags["judged"] in kinds)
    ]
    if not samples:
        raise BadInput(
            "None of the items can be used for these probes. An item needs an answer; position needs another one too, and self needs one of its own."
        )
    return Task(
        name=f"judge-probes:{Path(path).name}" if path else "judge-probes",
        version=digest([probe_items, probe_variants.AGAIN, probe_variants.HEADING, probe_variants.ORDERS])[:12],
        samples=samples,
        planned=len(samples),
        spread_by="probe",
    )


@cache
def bundled() -> Sequence[ProbeItem]:
    """Return the items that come with Proctor, half of them in Chinese."""
    text = files("proctor_judging.tasks").joinpath(BUNDLED).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["items"], list[ProbeItem])


def own_items(path: Path) -> Sequence[ProbeItem]:
    """Return the items of a file: JSON lines, JSON, CSV, TSV, YAML or Parquet.

    Raises:
        BadInput: no such file, a column that is not known, or an id that is used twice; names file and row.
    """

    def make(row: DataRow) -> ProbeItem:
        cells = {name: value for name, value in row.cells.items() if value is not None}
        return converted({"id": row.number, **cells}, ProbeItem, str(row.where))

    return list(items_in(path, make, lambda item: str(item.id)))


def _samples(item: ProbeItem) -> Iterator[Sample]:
    answer, other, lang = item.answer, item.other, item.lang
    if answer.strip():
        if other.strip():
            yield _sample(item, "position", "pairs", changed=answer, plain=other)
        for kind in KINDS:
            yield _sample(item, "length", kind, changed=probe_variants.longer(answer, lang), plain=answer)
            yield _sample(item, "style", kind, changed=probe_variants.prettier(answer, lang), plain=answer)
            for order in probe_variants.ORDERS:
                yield _sample(
                    item, "injection", kind, order, changed=probe_variants.injected(answer, order), plain=answer
                )
        if other.strip():
            for probe in ("stability", "labels"):
                yield _sample(item, probe, "pairs", changed=answer, plain=other)
        yield _sample(item, "stability", "points", changed=answer, plain=answer)
        yield _sample(item, "labels", "points", changed=answer, plain=answer)
    if item.own.strip() and other.strip():
        yield _sample(item, "self", "pairs", changed=item.own, plain=other)
        if item.human in ("", "tie"):  # how many points apart people find them is not known
            yield _sample(item, "self", "points", changed=item.own, plain=other)


def _sample(item: ProbeItem, probe: ProbeName, kind: Kind, order: str = "", *, changed: str, plain: str) -> Sample:
    meta = {"changed": changed, "plain": plain, "human": HUMAN.get(item.human, 0.0) if probe == "self" else 0.0}
    tags = {"probe": probe, "judged": kind, "language": order or item.lang}
    name = "/".join(part for part in (str(item.id), probe, kind, order) if part)
    return Sample.ask(name, item.question, cluster=str(item.id), tags=tags, meta=meta)


PART = TaskKindPart(task=task)
