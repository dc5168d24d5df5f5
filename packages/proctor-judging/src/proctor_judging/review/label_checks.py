"""Check what a reviewer enters: names, scores, statuses and comments."""

from collections.abc import Mapping, Sequence

from proctor.core.errors import BadInput
from proctor_judging.review.dimensions import ReviewDimension
from proctor_judging.review.labels import STATUSES, Status

COMMENT_CHARACTERS = 10_000
NAME_CHARACTERS = 60


def name_of(text: str) -> str:
    """Return a reviewer's name in its stored form.

    Raises:
        BadInput: it is too long, or holds what cannot be seen.
    """
    name = " ".join(text.split())
    if len(name) > NAME_CHARACTERS or not name.isprintable():
        raise BadInput(
            "A reviewer's name has at most {limit} letters: '{name}'.", limit=NAME_CHARACTERS, name=name[:80]
        )
    return name


def checked_scores(given: Mapping[str, float], dimensions: Sequence[ReviewDimension]) -> dict[str, float]:
    """Return the score of every dimension.

    Raises:
        BadInput: one is missing, or out of range.
    """
    scores = {}
    for dimension in dimensions:
        score = given.get(dimension.name)
        if score is None:
            raise BadInput("A score is missing: {name}.", name=dimension.name)
        if isinstance(score, bool) or not dimension.low <= score <= dimension.high:  # false for NaN too
            raise BadInput(
                "{name} is scored from {low} to {high}, not {score}.",
                name=dimension.name,
                low=dimension.low,
                high=dimension.high,
                score=score,
            )
        scores[dimension.name] = score
    return scores


def checked_status(text: str) -> Status:
    """Return the status of that name.

    Raises:
        BadInput: it does not exist.
    """
    for status in STATUSES:
        if text == status:
            return status
    raise BadInput("Choose a status: {known}.", known=", ".join(STATUSES))


def checked_comment(text: str) -> str:
    """Return a comment in its stored form.

    Raises:
        BadInput: it is too long.
    """
    text = text.strip().encode(errors="replace").decode()
    if len(text) > COMMENT_CHARACTERS:
        raise BadInput(
            "A comment has at most {limit} characters, not {count}.", limit=COMMENT_CHARACTERS, count=len(text)
        )
    return text
