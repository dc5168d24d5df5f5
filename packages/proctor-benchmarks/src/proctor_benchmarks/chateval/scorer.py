"""Compare what referees say of a pair of answers, in one order, with what people said."""

from collections.abc import Mapping, Sequence

from proctor.core.declared import scorer
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.chateval import verdicts
from proctor_benchmarks.chateval.dataset import FORWARD

VERSION = "56b320c04f31 / 1"


def speeches(trajectory: Trajectory) -> tuple[list[str], bool]:
    """Return the speeches that count, and whether they are all referees' own last ones; an agent of one reply is one referee."""
    state = trajectory.state or {}
    counted = state.get("evaluation")
    if isinstance(counted, Sequence) and all(isinstance(speech, Mapping) for speech in counted):
        return [str(speech.get("evaluation", "")) for speech in counted], bool(state.get("complete", True))
    return ([trajectory.answer] if trajectory.answer else []), True


@scorer(version=VERSION)
def chateval(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Return 1 if the sums of the scores name the same answer as people did, or a tie where they did."""
    if sample.target is None:
        return Unscored(why="not_applicable", reason=say("No person said which answer is better."))
    texts, is_complete = speeches(trajectory)
    pair = sample.meta["pair"]
    details: dict[str, object] = {"speeches": texts, "complete": is_complete}
    found = verdicts.total(texts)
    if found is None or not texts:
        return Score(
            points=0,
            reason=say("The last two lines of a speech are no scores."),
            details={**details, "error_class": "unreadable_scores"},
        )
    first, second = pair["names"] if pair["order"] == FORWARD else reversed(pair["names"])
    won = next(verdicts.winner(*found, (first, second), verdicts.TIE), "")
    points = int(won == sample.target)
    return Score(
        points=points,
        answer=won,
        reason=say(
            "The referees give {first} {points} points and {second} {others}; people prefer {target}.",
            first=first,
            points=f"{found[0]:g}",
            second=second,
            others=f"{found[1]:g}",
            target=str(sample.target),
        ),
        details={**details, "scores": list(found), **({} if points else {"error_class": "other_verdict"})},
    )
