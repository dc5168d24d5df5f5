"""Score a trajectory by the official rule of its question type, or by a fair one."""

from proctor.core.declared import scorer
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.multi import official
from proctor_judging.scorers.blanks import blanks
from proctor_judging.scorers.choice import choice, partial
from proctor_judging.scorers.open import open as discussion

_SHOWN = 2000
REJECTION_EN = "lack of image information"  # what the prompts of lang=en ask for
_FULL = 0.999999  # identical texts of a discussion never get all
FAIR: dict[str, Scorer] = {"单选": choice, "多选": partial, "填空": blanks, "解答": discussion}


VERSION = "MULTI aa40c5b / 2"


@scorer(version=VERSION)
def multi(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The official verdict: the reply is cleaned as upstream does, then scored by the function of its question type.

    `sample.meta` holds `type` and `answer_position`, the target is the label. A reply that says an image is missing is 0.
    A type without a function, and a label that is worth nothing, are not scored: upstream they are 0 of 0.
    """
    kind = str(sample.meta.get("type"))
    rule = official.RULES.get(kind)
    if sample.target is None:
        return Unscored(why="not_applicable", reason=say("The question has no recorded answer."))
    if rule is None:
        reason = say("MULTI has no official scoring for questions of type '{type}'.", type=kind)
        return Unscored(why="not_applicable", reason=reason)
    cleaned = official.clean(trajectory.answer)
    position = official.checked_position(sample.meta.get("answer_position", "start"))
    label = str(sample.target).strip()
    marks = official.Marks(0, 0) if kind == "解答" and not label else rule(cleaned, label, position)
    if marks.total == 0:
        return Unscored(why="not_applicable", reason=say("The label is empty, so the question is worth no points."))
    rejected = official.is_rejection(cleaned)
    reason = (
        say("The reply says that an image is missing.")
        if rejected
        else say("Expected {target}, got {answer}.", target=label, answer=cleaned or "''")
    )
    return Score(
        points=0 if rejected else marks.score,
        out_of=marks.total,
        answer=cleaned[:_SHOWN],
        reason=reason,
        details={"rejected": rejected, "error_class": _class(cleaned, marks, rejected=rejected)},
    )


@scorer(version=VERSION)
def fair(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A lenient score, as a reader would give it: `choice`, `choice:partial`, `blanks` or `open`, by question type."""
    scorer = FAIR.get(str(sample.meta.get("type")))
    if scorer is None:
        reason = say("MULTI has no official scoring for questions of type '{type}'.", type=str(sample.meta.get("type")))
        return Unscored(why="not_applicable", reason=reason)
    result = scorer(sample, trajectory)
    assert isinstance(result, Score | Unscored)
    return result


@scorer(version=VERSION)
def rejected(sample: Sample, trajectory: Trajectory) -> Score:  # noqa: ARG001 - a scorer's arguments
    """Return 1 if the cleaned reply holds the phrase for a missing image, in the language of either prompt.

    The rate by image class is in the slices. Official points are withheld for the Chinese phrase only, as upstream.
    """
    cleaned = official.clean(trajectory.answer)
    found = official.is_rejection(cleaned) or REJECTION_EN in cleaned.casefold()
    return Score(points=int(found), answer=trajectory.answer[:_SHOWN])


@scorer(version=VERSION)
def improvement(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The points that a reference model earned more than the agent: max(0, its score - this one)."""
    other = sample.meta.get("reference_answer")
    if not isinstance(other, str):
        return Unscored(why="not_applicable", reason=say("The reference model did not answer this question."))
    ours, theirs = multi(sample, trajectory), multi(sample, Trajectory.of(other))
    if isinstance(ours, Unscored) or isinstance(theirs, Unscored):
        return ours if isinstance(ours, Unscored) else theirs
    reason = say(
        "The reference earned {theirs}, this answer {ours}.", theirs=f"{theirs.points:g}", ours=f"{ours.points:g}"
    )
    return Score(points=max(0, theirs.points - ours.points), out_of=ours.out_of, answer=ours.answer, reason=reason)


def _class(cleaned: str, marks: official.Marks, *, rejected: bool) -> str:
    """Return a short name of what is missing, to count by; '' when nothing is."""
    if rejected:
        return "image_missing"
    if not cleaned:
        return "no_answer"
    if marks.score >= marks.total * _FULL:
        return ""
    return "partly_right" if marks.score else "wrong"
