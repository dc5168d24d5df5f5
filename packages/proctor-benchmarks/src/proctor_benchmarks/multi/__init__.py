"""MULTI: Chinese exam questions with images, scored by the four official functions.

Source: Zhu et al. 2024, arXiv 2402.03173; OpenDFM/MULTI-Benchmark at aa40c5b. The data is not shipped; `data=sample` is
a small set made by hand in its layout.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from proctor.config import converted
from proctor.core.digest import digest_file
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.task import Scorer, Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import TrialFailure
from proctor_benchmarks.multi import dataset, export, hub, official, parity, replies, scorer, selecting
from proctor_benchmarks.multi.predictions import predictions, text_of
from proctor_benchmarks.multi.prompt import Material, Prompted, Style, compose

Names = str | int | list[str | int] | None


class MultiOptions(Style, frozen=True, kw_only=True):
    """The options of MULTI: which questions, from which files, how they are asked and scored.

    Attributes:
        data: a folder with `problem_*.json`, or that file; `sample` is the set that comes with Proctor;
            PROCTOR_MULTI_DATA, or what `proctor data pull multi` fetched, when None.
        knowledge: background material: true for the folder's, or a file.
        captions: a csv file, `ocr` for the recognised text of the folder.
        subset: a file with a JSON list of question ids. subject, image_type: only these.
        random, seed, eval_num: shuffle with the seed; ask only the first `eval_num`.
        answer_position: the letter that counts as the answer: `start`, `end`, `middle` or `all`.
        scoring: by the official functions, the fair ones, or both.
        rejections: report how often a missing image was claimed.
        reference: a prediction file of another model, for `improvement`.
    """

    data: str | None = None
    knowledge: bool | str = False
    captions: str | None = None
    subset: str | None = None
    subject: str | list[str] | None = None
    image_type: Names = None
    random: bool = False
    seed: int = 0
    eval_num: int = -1
    answer_position: str = "start"
    scoring: Literal["official", "fair", "both"] = "official"
    rejections: bool = False
    reference: str | None = None


def task(category: str | int | Sequence[str | int] | None = None, **options: object) -> Task:
    """Return the task MULTI, or that of a set in its layout. All files are read and checked here, images included.

    Args:
        category: question types (`SA`, `0` or `单选`, several with commas, `all`); without one SA, MA and FB, or all
            that a subset names.
        options: the fields of `MultiOptions`.

    Raises:
        BadInput: an unknown option, a file that is missing or in another layout, an image that is not there.
    """
    how = converted(options, MultiOptions, "multi")
    position = official.checked_position(how.answer_position)
    files = _files(how)
    every = list(dataset.questions(files.problems))
    selected = selecting.select(every, _filter(category, how))
    questions = selecting.draw(selected, shuffle=how.random, seed=how.seed, count=how.eval_num)
    if not questions:
        raise BadInput("No question of {path} fits the options.", path=files.problems)
    if any(question.type == "解答" and question.label for question in questions):
        from proctor_judging.matching.chinese_words import cutter

        cutter()  # says now that an extra is missing, not at every question
    material = Material(
        root=files.images,
        captions=dataset.captions(files.captions) if files.captions else {},
        knowledge=dataset.knowledge(files.knowledge) if files.knowledge else {},
    )
    others = _answers(Path(how.reference).expanduser()) if how.reference else {}
    samples = [_sample(question, compose(question, how, material), position, others) for question in questions]
    names = category if isinstance(category, str | int) else ",".join(map(str, category or ()))
    return Task(
        name="multi" if category is None else f"multi/{names}",
        version=digest_file(files.problems)[:12],
        samples=samples,
        scorers=_scorers(how),
        oracle=_oracle,
        provenance={
            "data": str(files.problems),
            "digest": digest_file(files.problems),
            "prompts": "wordings of Proctor in the composition of the original",
            "unknown_types": selecting.unknown_types(every),
        },
        spread_by="type",
        planned=len(samples),
    )


def _files(how: MultiOptions) -> dataset.Files:
    folder = how.data or os.environ.get("PROCTOR_MULTI_DATA") or hub.find_pulled()
    if folder is None:
        raise BadInput(
            "MULTI needs its data: fetch it with 'proctor data pull multi', or give --set data=PATH, or data=sample for a small set that comes with Proctor."
        )
    need_captions = how.input_type == 1
    return dataset.locate(str(folder), knowledge=how.knowledge, captions=how.captions, need_captions=need_captions)


def _filter(category: str | int | Sequence[str | int] | None, how: MultiOptions) -> selecting.Filter:
    images = "SI,MI" if how.input_type == 3 and how.image_type is None else how.image_type
    return selecting.Filter(
        types=selecting.types_of(category if category is not None or how.subset else selecting.USUAL),
        classes=selecting.classes_of(images),
        subjects=selecting.subjects_of(how.subject),
        ids=dataset.subset(Path(how.subset).expanduser()) if how.subset else None,
    )


def _answers(path: Path) -> dict[str, str | None]:
    return {id: text_of(answered.prediction) for id, answered in predictions(path).items()}


def _scorers(how: MultiOptions) -> list[Scorer]:
    scorers: list[Scorer] = [scorer.multi] if how.scoring != "fair" else []
    scorers += [scorer.fair] if how.scoring != "official" else []
    scorers += [scorer.rejected] if how.rejections else []
    return scorers + ([scorer.improvement] if how.reference else [])


def _sample(
    question: dataset.SubQuestion, shown: Prompted, position: official.Position, others: dict[str, str | None]
) -> Sample:
    meta: dict[str, object] = {
        "type": question.type,
        "education": question.education,
        "subject": question.subject,
        "images": question.image_number,
        "answer_position": position,
        "analysis": question.analysis,
    }
    if shown.images:
        meta["image_list"] = list(shown.images)
    if (other := others.get(question.id)) is not None:
        meta["reference_answer"] = other
    return Sample(
        id=question.id,
        turns=shown.turns,
        target=question.label,
        cluster=question.problem,
        tags={
            "type": dataset.TYPES.get(question.type, "Other"),
            "subject": question.subject,
            "education": question.level,
            "image": official.image_class(question.image_number),
        },
        meta=meta,
    )


def _oracle(sample: Sample) -> Trajectory:
    """Return the label as a reply; of several alternatives the first."""
    lines = str(sample.target or "").split("\n")
    if sample.meta["type"] == "填空":
        lines = [line.split("或")[0] for line in lines]
    return Trajectory.of("\n".join(lines))


def _replies(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    samples = task(**task_options).samples
    return replies.read(path, samples() if callable(samples) else samples)


PART = BenchmarkPart(
    task=task,
    options=MultiOptions,
    replies=_replies,
    export=export.write,
    check_corpus=parity.check_corpus,
    pull_folder=lambda: hub.locate()[0],
)
