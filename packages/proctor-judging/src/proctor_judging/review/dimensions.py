"""Define the dimensions that reviewers score, and their scales."""

from collections.abc import Mapping

import msgspec

from proctor.core.sentence import say
from proctor.i18n import speak
from proctor_judging.review.labels import DIMENSIONS

FINE_STEPS = 10  # of a scale that has no whole points
TITLES = {
    "correctness": say("Correctness"),
    "clarity": say("Clarity"),
    "difficulty_match": say("Difficulty match"),
    "completeness": say("Completeness"),
}
ASKS = {
    "correctness": say("Are the answer and every step right?"),
    "clarity": say("Can it be understood in one way only?"),
    "difficulty_match": say("Is it as difficult as it is meant to be?"),
    "completeness": say("Is nothing missing, also in the solution?"),
}


class ReviewWords(msgspec.Struct, frozen=True, kw_only=True):
    """The name and the question of a dimension, and the meaning of points, in one language."""

    title: str
    asks: str = ""
    anchors: Mapping[str, str] = {}


class ReviewDimension(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to score, from low to high."""

    name: str
    low: float = 1
    high: float = 5
    step: float = 1
    words_by_lang: Mapping[str, ReviewWords] = {}

    def words(self, lang: str) -> ReviewWords:
        """Return the words of a dimension in a language, from its rubric or the catalogue."""
        if (words := self.words_by_lang.get(lang)) is not None:
            return words
        title = TITLES.get(self.name)
        return ReviewWords(
            title=speak(title, lang) if title else self.name.replace("_", " ").capitalize(),
            asks=speak(ASKS[self.name], lang) if self.name in ASKS else "",
        )


DEFAULT = tuple(ReviewDimension(name=name) for name in DIMENSIONS)


def of_rubric(name: str) -> tuple[ReviewDimension, ...]:
    """Return the dimensions of a rubric: one that comes with Proctor, or a file.

    Raises:
        BadInput: no such rubric, or it cannot be read.
    """
    from proctor_judging.judges.rubric import rubric

    criteria = rubric(name)
    whole = (
        criteria.low == int(criteria.low) and criteria.high == int(criteria.high) and criteria.high - criteria.low > 1
    )
    return tuple(
        ReviewDimension(
            name=dimension.name,
            low=int(criteria.low) if whole else criteria.low,
            high=int(criteria.high) if whole else criteria.high,
            step=1 if whole else (criteria.high - criteria.low) / FINE_STEPS,
            words_by_lang={
                lang: ReviewWords(
                    title=words.title or dimension.name.replace("_", " "), asks=words.text, anchors=words.anchors
                )
                for lang, words in (("en", dimension.words("en")), ("zh", dimension.words("zh")))
            },
        )
        for dimension in criteria.dimensions
    )
