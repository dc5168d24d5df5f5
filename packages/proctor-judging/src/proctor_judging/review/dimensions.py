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
        if (review_words := self.words_by_lang.get(lang)) is not None:
            return review_words
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

    judge_rubric = rubric(name)
    whole = (
        judge_rubric.low == int(judge_rubric.low)
        and judge_rubric.high == int(judge_rubric.high)
        and judge_rubric.high - judge_rubric.low > 1
    )
    return tuple(
        ReviewDimension(
            name=dimension.name,
            low=int(judge_rubric.low) if whole else judge_rubric.low,
            high=int(judge_rubric.high) if whole else judge_rubric.high,
            step=1 if whole else (judge_rubric.high - judge_rubric.low) / FINE_STEPS,
            words_by_lang={
                lang: ReviewWords(
                    title=words.title or dimension.name.replace("_", " "), asks=words.text, anchors=words.anchors
                )
                for lang, words in (("en", dimension.words("en")), ("zh", dimension.words("zh")))
            },
        )
        for dimension in judge_rubric.dimensions
    )
