"""Count the keywords in the answer: one point each.

The keywords are the target (a list, or a text split at commas, semicolons and line breaks, Chinese ones too) or an
option. `USA|United States` is one keyword in two forms.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import answer_of, as_text, no_target

SEPARATORS = re.compile("[,，、;；\n]")


class KeywordsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The keywords to look for, and the share that is enough.

    keywords: used instead of the target. forbidden: any of these in the answer makes it 0. case_sensitive: letters
    must agree in case. whole_words: `cat` is not in `category`; leave it off for Chinese. minimum: a share of
    the keywords below which the points are 0.
    """

    keywords: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    case_sensitive: bool = False
    whole_words: bool = False
    minimum: float = 0.0


def keywords(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each keyword of the target in the answer, in upper or lower case.

    >>> score = keywords(Sample.ask("a", "?", target="光合作用，叶绿体"), Trajectory.of("在叶绿体中进行"))
    >>> score.points, score.out_of, score.details["missing"]
    (1.0, 2, ['光合作用'])
    """
    return _score(sample, trajectory, KeywordsOptions())


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `KeywordsOptions`."""
    chosen = converted(options, KeywordsOptions, "keywords")
    if not 0 <= chosen.minimum <= 1:
        raise BadInput(
            "{what}: '{name}' is a share from 0 to 1, not {value}.",
            what="keywords",
            name="minimum",
            value=chosen.minimum,
        )

    def keywords(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return keywords


def _score(sample: Sample, trajectory: Trajectory, options: KeywordsOptions) -> Score | Unscored:
    wanted = options.keywords or _keywords(sample.target)
    if not wanted:
        return no_target()
    answer = answer_of(trajectory)
    hits = [word for word in wanted if _occurs(word, answer, options)]
    missing = [word for word in wanted if word not in hits]
    details = {"found": hits, "missing": missing}
    if bad := [word for word in options.forbidden if _occurs(word, answer, options)]:
        reason = say("The answer holds what is forbidden: {words}.", words=", ".join(bad))
        return Score(points=0, out_of=len(wanted), answer=answer, reason=reason, details={**details, "forbidden": bad})
    points = float(len(hits))
    if points < options.minimum * len(wanted):
        reason = say(
            "{found} of {all} keywords are below the minimum of {minimum}. Missing: {missing}.",
            found=len(hits),
            all=len(wanted),
            minimum=f"{options.minimum:.0%}",
            missing=", ".join(missing),
        )
        return Score(points=0, out_of=len(wanted), answer=answer, reason=reason, details=details)
    if missing:
        reason = say(
            "Found {found} of {all} keywords. Missing: {missing}.",
            found=len(hits),
            all=len(wanted),
            missing=", ".join(missing),
        )
    else:
        reason = say("Found all {all} keywords.", all=len(wanted))
    return Score(points=points, out_of=len(wanted), answer=answer, reason=reason, details=details)


def _keywords(target: object) -> Sequence[str]:
    given = [as_text(value) for value in target] if isinstance(target, list | tuple) else None
    if given is None:
        given = [] if target is None else SEPARATORS.split(as_text(target))
    return list(dict.fromkeys(word.strip() for word in given if word.strip()))


def _occurs(keyword: str, answer: str, options: KeywordsOptions) -> bool:
    text = answer if options.case_sensitive else answer.casefold()
    forms = [form.strip() for form in (keyword if options.case_sensitive else keyword.casefold()).split("|")]
    return any(_in(form, text, whole=options.whole_words) for form in forms if form)


def _in(word: str, text: str, *, whole: bool) -> bool:
    if not whole:
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None  # a plain word: linear


PART = ScorerPart(scorer=keywords, make=make, options=KeywordsOptions)
