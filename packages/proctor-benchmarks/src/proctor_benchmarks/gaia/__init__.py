"""GAIA: questions for general assistants, scored by quasi exact match.

Source: Mialon et al. 2023, arXiv 2311.12983; data set gaia-benchmark/GAIA (gated, may not be re-shared).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.task import Scorer, Task
from proctor.core.trajectory import Trajectory
from proctor_adapters.datasets.data_sets import MAIN
from proctor_benchmarks.gaia import export, hub, own, parity
from proctor_benchmarks.gaia.answer import Fallback
from proctor_benchmarks.gaia.dataset import GaiaItem, Split, items, metadata_digest
from proctor_benchmarks.gaia.prompt import present
from proctor_benchmarks.gaia.scorer import gaia, partial
from proctor_benchmarks.gaia.statistics import statistics
from proctor_benchmarks.gaia.summary import summarise

EXAMPLE = "example"


def task(
    split: Split = "validation",
    *,
    level: int | str | Sequence[int] | None = None,
    data: str | None = None,
    revision: str | None = None,
    fallback: Fallback = "none",
    partial_match: bool = False,
) -> Task:
    """Return the task GAIA, or that of a set in its layout.

    Args:
        split: `validation`, or `test` (which runs and exports, but has no answers to score).
        level: one level, several (`"1,2"`), or all when None; any whole number is a level.
        data: a folder in either published layout, or `example` for ten questions on finance that come with Proctor;
            `PROCTOR_GAIA_DATA`, the cache, or the hub with HF_TOKEN, when None.
        revision: a commit or tag of the set on the hub; the one that was fetched first, or is the newest, when None.
        fallback: what to take as the answer of a reply without `FINAL ANSWER:`.
        partial_match: report the course's partial match in addition to the official verdict.

    Raises:
        BadInput: see `dataset.items`; everything is read before the first call.
    """
    if split not in ("validation", "test"):
        raise BadInput("GAIA has the splits validation and test, not '{split}'.", split=split)
    root, source = _root(data, revision)
    gaia_items = _chosen(root, split, _levels(level))
    scorers: list[Scorer] = [gaia, partial] if partial_match else [gaia]
    return Task(
        name="gaia",
        version="2023",
        samples=_samples(gaia_items, fallback),
        scorers=scorers,
        present=present,
        oracle=_oracle,
        summarise=summarise,
        spread_by="level",
        planned=len(gaia_items),
        provenance={
            "data": str(root),
            "split": split,
            "licence": _licence(data),
            "metadata_digest": metadata_digest(root, split),
            **source,
        },
    )


def _chosen(root: Path, split: Split, levels: Collection[int]) -> list[GaiaItem]:
    chosen = [item for item in items(root, split) if not levels or item.level in levels]
    if not chosen:
        raise BadInput(
            "No question of level {levels} is in {root}.", levels=", ".join(map(str, sorted(levels))), root=root
        )
    return chosen


def _root(data: str | None, revision: str | None) -> tuple[Path, dict[str, str]]:
    if data is None:
        return hub.locate(revision or MAIN)
    if revision is not None:
        raise BadInput("The option 'revision' is for data of the hub, not for a folder of your own.")
    if data == EXAMPLE:
        return Path(str(files("proctor_benchmarks.gaia") / EXAMPLE)), {}
    return Path(data).expanduser(), {}


def _licence(data: str | None) -> str:
    if data is None:
        return "gated; may not be re-shared"
    return "Apache-2.0" if data == EXAMPLE else "of the folder; GAIA itself is gated and may not be re-shared"


def _samples(found: Sequence[GaiaItem], fallback: Fallback) -> list[Sample]:
    return [_sample(item, fallback) for item in found]


def _sample(item: GaiaItem, fallback: Fallback) -> Sample:
    meta: dict[str, object] = {"fallback": fallback}
    if item.attachment is not None:
        meta["attachment"] = str(item.attachment)
    if item.steps is not None:
        meta["steps"] = item.steps
    tags = {"level": str(item.level), "attachment": "yes" if item.attachment is not None else "no"}
    return Sample.ask(item.id, item.question, target=item.answer, tags=tags, meta=meta)


def _oracle(sample: Sample) -> Trajectory:
    return Trajectory.of(f"FINAL ANSWER: {sample.target}")


def _levels(given: int | str | Sequence[int] | None) -> frozenset[int]:
    if given is None:
        return frozenset()
    parts: Iterable[object] = str(given).split(",") if isinstance(given, int | str) else given
    return frozenset(_whole_numbers(parts))


def _whole_numbers(parts: Iterable[object]) -> Iterator[int]:
    for part in parts:
        try:
            yield int(str(part))
        except ValueError:
            raise BadInput("A level is a whole number, not '{level}'.", level=part) from None


PART = BenchmarkPart(
    task=task,
    summarise=summarise,
    export=export.write,
    check_corpus=parity.check_corpus,
    own=own,
    statistics=statistics,
    pull_folder=lambda: hub.locate()[0],
)
