"""MULTI: Chinese exam questions with images, scored by the four official functions.

Source: Zhu et al. 2024, arXiv 2402.03173; OpenDFM/MULTI-Benchmark at aa40c5b. The data is not shipped; `data=sample` is
a small set made by hand in its layout.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from proctor.benchmarks.multi import dataset, export, hub, official, parity, replies, scorer, selecting
from proctor.benchmarks.multi.images import Missing
from proctor.benchmarks.multi.predictions import predictions, text_of
from proctor.benchmarks.multi.prompt import Material, Place, Prompted, Style, prompted
from proctor.benchmarks.multi.wording import LANGUAGES, MOST_EXAMPLES, Language
from proctor.core.digest import digest_file
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import Sample
from proctor.core.task import Scorer, Task
from proctor.core.trajectory import Trajectory
from proctor.core.trial import Failure

Scoring = Literal["official", "fair", "both"]
INPUT_TYPES = (0, 1, 2, 3)


def task(
    category: str | int | Sequence[str | int] | None = None,
    *,
    data: str | None = None,
    input_type: int = 0,
    lang: Language = "zh",
    few_shot: int = 0,
    cot: bool = False,
    in_turn: bool = False,
    knowledge: bool | str = False,
    captions: str | None = None,
    cap_in_cnt: bool = False,
    blank_image: bool = False,
    missing_image: Missing = "error",
    image_place: Place = "inline",
    no_background: bool = False,
    no_sys: bool = False,
    split_sys: bool = True,
    subset: str | None = None,
    subject: str | Sequence[str] | None = None,
    image_type: str | int | Sequence[str | int] | None = None,
    random: bool = False,
    seed: int = 0,
    eval_num: int = -1,
    answer_position: str = "start",
    scoring: Scoring = "official",
    rejections: bool = False,
    reference: str | None = None,
) -> Task:
    """MULTI, or a set in its layout. All files are read and checked here, images included.

    Args:
        category: question types (`SA`, `0` or `单选`, several with commas, `all`); without one SA, MA and FB, or all
            that a subset names.
        data: a folder with `problem_*.json`, or that file; `sample` is the set that comes with Proctor;
            PROCTOR_MULTI_DATA, or what `proctor data pull multi` fetched, when None.
        input_type: 0 text, 1 captions in place of images, 2 text with images, 3 images without the text.
        lang: of the prompts, `zh` or `en`.
        few_shot: worked examples, up to 3.
        cot: think step by step first. in_turn: several images one after the other.
        knowledge: background material: true for the folder's, or a file.
        captions: a csv file, `ocr` for the recognised text of the folder. cap_in_cnt: captions where the images were, not below the text.
        blank_image: send a black picture with questions that have none. missing_image: or instead of a lost one.
        image_place: images behind their tokens (`inline`), or `before` or `after` the text.
        no_background, no_sys, split_sys: leave out the role, leave out the system part, or put it into the question.
        subset: a file with a JSON list of question ids. subject, image_type: only these.
        random, seed, eval_num: shuffle with the seed; only the first so many.
        answer_position: which letter counts as the answer: `start`, `end`, `middle` or `all`.
        scoring: by the official functions, the fair ones, or both.
        rejections: report how often a missing image was claimed.
        reference: a prediction file of another model, for `improvement`.

    Raises:
        BadInput: an unknown option, a file that is missing or in another layout, an image that is not there.
    """
    _one_of("input_type", input_type, INPUT_TYPES)
    _one_of("lang", lang, LANGUAGES)
    _one_of("few_shot", few_shot, tuple(range(MOST_EXAMPLES + 1)))
    _one_of("missing_image", missing_image, get_args(Missing))
    _one_of("image_place", image_place, get_args(Place))
    _one_of("scoring", scoring, get_args(Scoring))
    style = Style(
        input_type=input_type,
        lang=lang,
        few_shot=few_shot,
        cot=cot,
        in_turn=in_turn,
        cap_in_cnt=cap_in_cnt,
        blank_image=blank_image,
        no_background=no_background,
        no_sys=no_sys,
        split_sys=split_sys,
        image_place=image_place,
        missing_image=missing_image,
    )
    position = official.checked_position(answer_position)
    folder = data or os.environ.get("PROCTOR_MULTI_DATA") or hub.pulled()
    if folder is None:
        raise BadInput(
            "MULTI needs its data: fetch it with 'proctor data pull multi', or give --set data=PATH, or data=sample for a small set that comes with Proctor."
        )
    files = dataset.located(str(folder), knowledge=knowledge, captions=captions, need_captions=input_type == 1)
    wanted = selecting.Filter(
        types=selecting.types_of(category if category is not None or subset else selecting.USUAL),
        classes=selecting.classes_of("SI,MI" if input_type == 3 and image_type is None else image_type),
        subjects=selecting.subjects_of(subject),
        ids=dataset.subset(Path(subset).expanduser()) if subset else None,
    )
    every = list(dataset.questions(files.problems))
    found = selecting.drawn(selecting.selected(every, wanted), shuffle=random, seed=seed, count=eval_num)
    if not found:
        raise BadInput("No question of {path} fits the options.", path=files.problems)
    if any(question.type == "解答" and question.label for question in found):
        from proctor.text_measures.chinese_words import cutter

        cutter()  # says now that an extra is missing, not at every question
    material = Material(
        root=files.images,
        captions=dataset.captions(files.captions) if files.captions else {},
        knowledge=dataset.knowledge(files.knowledge) if files.knowledge else {},
    )
    others = _answers(Path(reference).expanduser()) if reference else {}
    samples = [_sample(question, prompted(question, style, material), position, others) for question in found]
    return Task(
        name="multi"
        if category is None
        else f"multi/{category if isinstance(category, str | int) else ','.join(map(str, category))}",
        version=digest_file(files.problems)[:12],
        samples=samples,
        scorers=_scorers(scoring, rejections=rejections, reference=bool(others)),
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


def _answers(path: Path) -> dict[str, str | None]:
    return {id: text_of(answered.prediction) for id, answered in predictions(path).items()}


def _one_of(option: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed or isinstance(value, bool):
        raise BadInput(
            "The option '{option}' of MULTI cannot be '{value}'. It can be: {known}.",
            option=option,
            value=value,
            known=", ".join(map(str, allowed)),
        )


def _scorers(scoring: Scoring, *, rejections: bool, reference: bool) -> list[Scorer]:
    scorers: list[Scorer] = [scorer.multi] if scoring != "fair" else []
    scorers += [scorer.fair] if scoring != "official" else []
    scorers += [scorer.rejected] if rejections else []
    return scorers + ([scorer.improvement] if reference else [])


def _sample(
    question: dataset.Question, shown: Prompted, position: official.Position, others: dict[str, str | None]
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
    """The label as a reply; of several alternatives the first."""
    lines = str(sample.target or "").split("\n")
    if sample.meta["type"] == "填空":
        lines = [line.split("或")[0] for line in lines]
    return Trajectory.of("\n".join(lines))


def _replies(path: Path, task_options: Mapping[str, Any]) -> Iterator[tuple[str, Trajectory | Failure]]:
    samples = task(**task_options).samples
    return replies.read(path, samples() if callable(samples) else samples)


def _pull() -> Path:
    return hub.located()[0]


PART = BenchmarkPart(
    task=task, replies=_replies, export=export.write, check_corpus=parity.check_corpus, pull_folder=_pull
)
