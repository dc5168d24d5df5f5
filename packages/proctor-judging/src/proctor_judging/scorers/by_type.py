"""Score each sample by its own kind, `meta["type"]`: the name of a scorer, or one of the usual names of a question.

`单选` and `single_choice` are scored by `choice`, `多选` by `choice:partial`, `填空` by `blanks`, `解答` by `open`. A kind that
is unknown is unscored with a reason, never a silent 0.

    [scorers.exam]
    kind = "by_type"
    types = { "翻译" = "chrf", "default" = "exact" }
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import Find, ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import quote, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.registry import SCORERS
from proctor.scorers.composite import Composite
from proctor.scorers.lookup import find_scorer

DEFAULT = "default"
USUAL = {
    "choice": ("single", "single_choice", "choice", "mcq", "单选", "选择"),
    "choice:partial": (
        "multiple",
        "multiple_choice",
        "multi_choice",
        "multiple_answer",
        "多选",
        "不定项",
        "不定项选择",
    ),
    "blanks": ("blank", "blanks", "fill_blank", "fill_in", "fill_in_the_blank", "填空"),
    "open": ("open", "open_ended", "essay", "解答", "简答", "问答", "论述"),
    "answer": ("short", "short_answer", "qa", "true_false", "judgement", "判断"),
    "number": ("numeric", "number", "calculation", "数值", "计算"),
    "chrf": ("translation", "翻译"),
    "rouge": ("summary", "summarisation", "summarization", "摘要"),
}
SCORER_BY_TYPE = {name: scorer for scorer, kinds in USUAL.items() for name in kinds}

Result = Score | Unscored | Awaitable[Score | Unscored]


class ByTypeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Scorers by question type, which replace the usual ones; `default` is for samples without a known type."""

    types: Mapping[str, Any] = {}


def by_type(sample: Sample, trajectory: Trajectory) -> Result:
    """Score with the scorer for the sample's type of question.

    >>> sample = Sample.ask("a", "?", target="B", meta={"type": "单选题"})
    >>> by_type(sample, Trajectory.of("答案是 B")).points
    1
    """
    return _score(sample, trajectory, _usual)


def make(options: Mapping[str, Any], find: Find = find_scorer) -> Scorer:
    """Make a scorer with `ByTypeOptions`.

    Raises:
        BadInput: an unknown scorer.
    """
    given = converted(options, ByTypeOptions, "by_type").types
    scorers = {_plain(kind): find(scorer) if isinstance(scorer, str) else scorer for kind, scorer in given.items()}

    def scorer_of(kind: str) -> Scorer | None:
        return scorers.get(kind) or (_usual(kind) if kind else None) or scorers.get(_plain(DEFAULT))

    return Composite(lambda sample, trajectory: _score(sample, trajectory, scorer_of), list(scorers.values()))


def _score(sample: Sample, trajectory: Trajectory, scorer_of: Callable[[str], Scorer | None]) -> Result:
    kind = str(sample.known.type or "")
    scorer = scorer_of(_plain(kind))
    if scorer is not None:
        return scorer(sample, trajectory)
    if not kind:
        return Unscored(why="not_applicable", reason=say("The sample says no type to choose a scorer by."))
    reason = say(
        "No scorer is known for the type {type}. Known: {known}.",
        type=quote(kind, 60),
        known=", ".join(SCORER_BY_TYPE),
    )
    return Unscored(why="not_applicable", reason=reason, details={"type": kind[:200]})


@cache
def _usual(kind: str) -> Scorer | None:
    """Return a scorer of this room only: a type comes out of a data file, which must not choose code."""
    name = SCORER_BY_TYPE.get(kind, kind)
    room = name.partition(":")[0]
    if room == "by_type" or not SCORERS.knows(room):
        return None
    try:
        return find_scorer(name)
    except BadInput:
        return None


def _plain(kind: str) -> str:
    """Return a kind as it is looked up.

    >>> _plain("Multiple-Choice"), _plain("单选题"), _plain("exact:contains")
    ('multiple_choice', '单选', 'exact:contains')
    """
    return kind.strip().casefold().replace(" ", "_").replace("-", "_").removesuffix("题")


PART = ScorerPart(scorer=by_type, combine=make, options=ByTypeOptions)
