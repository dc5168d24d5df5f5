"""Count what a set contains: questions by level, attachments by type, annotated steps, answers by the branch of the rule."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean

import msgspec

from proctor.core.sample import Sample
from proctor_benchmarks.gaia.scorer import question_score

NO_ANSWER = "none"
NO_SUFFIX = "-"


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of one level; `steps` is the mean number of annotated steps, None if there are no annotations."""

    questions: int
    attachments: int
    steps: float | None


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a set. `answers` counts by branch: number, list, text, or none in the test split."""

    whole: Level
    levels: Mapping[str, Level]
    attachments: Mapping[str, int]
    answers: Mapping[str, int]


def statistics(samples: Iterable[Sample]) -> Statistics:
    every = list(samples)
    by_level: dict[int, list[Sample]] = {}
    for sample in every:
        by_level.setdefault(int(sample.tags["level"]), []).append(sample)
    types = Counter(
        Path(path).suffix.removeprefix(".").lower() or NO_SUFFIX
        for sample in every
        if (path := sample.meta.get("attachment"))
    )
    answers = Counter(
        NO_ANSWER if sample.target is None else question_score(None, str(sample.target)).branch for sample in every
    )
    return Statistics(
        whole=_level(every),
        levels={str(level): _level(by_level[level]) for level in sorted(by_level)},
        attachments=dict(types.most_common()),
        answers=dict(answers.most_common()),
    )


def _level(samples: list[Sample]) -> Level:
    steps = [sample.meta["steps"] for sample in samples if "steps" in sample.meta]
    return Level(
        questions=len(samples),
        attachments=sum("attachment" in sample.meta for sample in samples),
        steps=fmean(steps) if steps else None,
    )
