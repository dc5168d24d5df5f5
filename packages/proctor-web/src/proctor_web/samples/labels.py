"""Keep what people say of an attempt at a sample: a mark for review, and a verdict of their own in place of a scorer's."""

import time
from typing import Annotated

import msgspec

from proctor.core.annotation import Annotation, AnnotationKind
from proctor.core.errors import BadInput
from proctor_web.samples.sample import Attempt, SampleAttempt
from proctor_web.workspace import Workspace

MOST_CHARACTERS = 10_000  # of a comment


class Mark(SampleAttempt, frozen=True, kw_only=True):
    """A mark for review, by the one who asks; `marked` False takes it away."""

    marked: bool = True
    comment: Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)] = ""


class ScorerOfAttempt(SampleAttempt, frozen=True, kw_only=True):
    """A scorer and an attempt that it judged."""

    scorer: str


class Label(ScorerOfAttempt, frozen=True, kw_only=True):
    """A person's verdict in place of a scorer's, as the share of the points."""

    value: Annotated[float, msgspec.Meta(ge=0, le=1)]
    comment: Annotated[str, msgspec.Meta(max_length=MOST_CHARACTERS)] = ""


def mark_sample(workspace: Workspace, given: Mark, by: str) -> None:
    """Mark an attempt for review, or take the mark away."""
    attempt = Attempt(workspace, given)
    mark = _annotation(attempt, by, kind="review", comment=given.comment.strip())
    attempt.found.store.annotate(*(([mark], []) if given.marked else ([], [mark])))


def save_label(workspace: Workspace, given: Label, by: str) -> None:
    """Keep what a person says of a verdict; an earlier label of the same person is replaced."""
    attempt = _judged_attempt(workspace, given)
    label = _annotation(attempt, by, kind="label", name=given.scorer, value=given.value, comment=given.comment.strip())
    attempt.found.store.annotate([label])


def remove_label(workspace: Workspace, given: ScorerOfAttempt, by: str) -> None:
    """Remove the user's own label of a verdict."""
    attempt = _judged_attempt(workspace, given)
    attempt.found.store.annotate([], [_annotation(attempt, by, kind="label", name=given.scorer)])


def _judged_attempt(workspace: Workspace, given: ScorerOfAttempt) -> Attempt:
    attempt = Attempt(workspace, given)
    known = [verdict.scorer for verdict in attempt.verdicts]
    if given.scorer not in known:
        raise BadInput(
            "No scorer '{scorer}' judged this attempt. These did: {known}.",
            scorer=given.scorer,
            known=", ".join(known) or "–",
        )
    return attempt


def _annotation(
    one: Attempt, by: str, *, kind: AnnotationKind, name: str = "", value: float | None = None, comment: str = ""
) -> Annotation:
    return Annotation(
        run_id=one.trial.run_id,
        sample_id=one.trial.sample_id,
        attempt=one.trial.attempt,
        kind=kind,
        name=name,
        value=value,
        comment=comment,
        by=by,
        created=time.time(),
    )
