"""API-Bank: does a model make the right call in a dialogue, and say the right thing after it?

`apibank` is levels 1 and 2, and level 3 where its files are; `apibank/level-1` is one of them. Dialogues, prompts, tools and their
checks are those of the user's copy of the official repository; the tools run in worker processes (`README.md`). Three
dialogues with tools of their own come with Proctor (`--set data=example`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, say
from proctor.core.task import Scorer, Task
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.apibank import dataset, parity, replies
from proctor_benchmarks.apibank.dataset import KINDS, PLANNED, Kind
from proctor_benchmarks.apibank.scorer import Calls, CallScorer, Search, make_workers, rouge_l
from proctor_benchmarks.apibank.summary import summarise


class ApiBankOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which dialogues are used, and how their tools answer.

    Attributes:
        data: the folder `api-bank` of a clone of the official repository, the clone, or `example`; PROCTOR_APIBANK_DATA when None.
        ask: for calls, for the responses after them, or for both.
        search: what the tool search returns: the `recorded` result for the keywords of the dialogues, and no score for
            others; or the best match by `words`, in place of the official sentence embeddings.
        level3: the folder with the files of level 3; `test_data` of the copy when None.
        dialogues: a file or folder of dialogues in the official layout, in place of those of the one level that is named.
        api_role: the role in which earlier calls are shown, officially `system`.
    """

    data: str | None = None
    ask: Literal["call", "response", "both"] = "both"
    search: Search = "recorded"
    level3: str | None = None
    dialogues: str | None = None
    api_role: Literal["system", "user"] = "system"


def task(category: str | Sequence[str] | None = None, **options: object) -> Task:
    """Return the task of some levels; everything but the tools is read and checked here.

    Args:
        category: a level, or several with commas.
        options: the fields of `ApiBankOptions`.

    Raises:
        BadInput: an unknown level or option, no copy, or a file in another layout.
    """
    how = converted(options, ApiBankOptions, "apibank")
    root = dataset.locate(how.data)
    is_example = root == dataset.locate(dataset.EXAMPLE)
    levels = dataset.levels_of(category, root)
    if how.dialogues is not None and (len(levels) > 1 or PLANNED in levels):
        raise BadInput("Name the one level whose setting your dialogues are in: apibank/level-1 or apibank/level-2.")
    samples = list(_samples(levels, root, how))
    if not samples:
        raise BadInput("The dialogues of {name} ask for nothing.", name="apibank")
    digest = dataset.content_digest(root)
    is_official = digest == dataset.CONTENT and how.dialogues is None
    searches = _searches(root) if how.search == "recorded" else None
    scorers: dict[Kind, Scorer] = {"call": CallScorer(Calls(make_workers(root), searches)), "response": rouge_l}
    return Task(
        name="apibank" if category is None else f"apibank/{','.join(levels)}",
        version=dataset.COMMIT if digest == dataset.CONTENT else digest[:12],
        samples=samples,
        scorers=[scorers[kind] for kind in _kinds(how)],
        oracle=lambda sample: Trajectory.of(sample.target),
        summarise=summarise,
        spread_by="part",
        planned=len(samples),
        notes=[
            say("These are dialogues of Proctor's own in the layout of API-Bank; their numbers are not official ones.")
        ]
        if is_example
        else _notes(levels, how, is_pinned=digest == dataset.CONTENT, is_official=is_official),
        provenance={"data": dataset.EXAMPLE, "sha256": digest, "search": how.search}
        if is_example
        else {
            "repository": "AlibabaResearch/DAMO-ConvAI",
            "commit": dataset.COMMIT if digest == dataset.CONTENT else "unknown",
            "sha256": digest,
            "licence": "Apache-2.0",
            "search": how.search,
        },
    )


def _kinds(how: ApiBankOptions) -> Sequence[Kind]:
    return KINDS if how.ask == "both" else [how.ask]


def _samples(levels: Sequence[str], root: Path, how: ApiBankOptions) -> Iterator[Sample]:
    official = dataset.read_official(root)
    for level in levels:
        if level == PLANNED:
            yield from dataset.planned_samples(dataset.planned_folder(root, how.level3), _kinds(how))
        else:
            source = dataset.source(level, root, how.dialogues)
            yield from dataset.samples(level, source, official, _kinds(how), how.api_role)


def _searches(root: Path) -> dict[str, object]:
    """Return the recorded results of the tool search, by keywords."""
    return {
        line.param_dict.get("keywords", ""): line.result.get("output")
        for _, lines in dataset.dialogues(root / dataset.FOLDERS["level-2"])
        for line in lines
        if line.api_name == dataset.SEARCHER
    }


CEILINGS = {
    ("level-1", "recorded"): (337, 393),
    ("level-1", "words"): (337, 393),
    ("level-2", "recorded"): (125, 135),
    ("level-2", "words"): (86, 135),
}


def _notes(levels: Sequence[str], how: ApiBankOptions, *, is_pinned: bool, is_official: bool) -> list[Sentence]:
    sentences = []
    if not is_pinned:
        sentences.append(say("The copy of API-Bank is not the pinned one ({commit}).", commit=dataset.COMMIT))
    if is_official and how.ask != "response":
        sentences += [
            say("The recorded calls of {level} are themselves right in {right} of the {count} samples that can be checked here.", level=level, right=right, count=count)
            for level in levels
            if (level, how.search) in CEILINGS
            for right, count in [CEILINGS[level, how.search]]
        ]  # fmt: skip
    return sentences


PART = BenchmarkPart(
    task=task,
    options=ApiBankOptions,
    summarise=summarise,
    replies=replies.read,
    export=replies.write,
    check_corpus=parity.check_corpus,
)
