"""Score an answer in free text by how close it is to the references, once its lead-in is taken away.

The target is a reference, or a list of them. `meta["open"]` may hold options, see `OpenOptions`.
"""

import re
from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.marked_answers import without_thoughts
from proctor_judging.scorers import rouge as figures

_LEAD_IN = re.compile(
    r"[\s*#]*(?:我的分析如下|分析如下|答案如下|参考答案|答案|答|(?i:my\s+analysis\s+is\s+as\s+follows|answer))[*\s]*:[*\s]*"
)
_SCORERS: dict[str, Callable[[Sample, Trajectory], Score | Unscored]] = {
    "rouge-1": figures.one,
    "rouge-2": figures.two,
    "rouge-l": figures.rouge,
}


class OpenOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options in `meta["open"]`: the measure, and the similarity below which the score is 0."""

    measure: Literal["rouge-1", "rouge-2", "rouge-l"] = "rouge-l"
    min_similarity: float = 0.0


@scorer(version="1")
def open(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """ROUGE-L of the answer without thoughts and lead-in (`我的分析如下：`, `Answer:`).

    >>> open(Sample.ask("q", "?", target="the cat sat"), Trajectory.of("Answer: the cat sat")).points
    1.0
    """
    options = converted(sample.meta.get("open") or {}, OpenOptions, "open")
    text = without_thoughts(trajectory.answer)
    lead_in = _LEAD_IN.match(text)
    answer = text[lead_in.end() :] if lead_in else text
    score = _SCORERS[options.measure](sample, Trajectory.of(answer))
    if isinstance(score, Score) and score.points < options.min_similarity:
        reason = say(
            "The similarity {value} is below {least}.", value=f"{score.points:.3f}", least=options.min_similarity
        )
        return replace(score, points=0, reason=reason)
    return score


PART = ScorerPart(scorer=open, options=OpenOptions)
