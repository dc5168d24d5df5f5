"""Did the session end in the state that the case expects (`final_session_state` of an eval set)? Other keys are free.

{"eval_id": "book", "conversation": […], "final_session_state": {"booked": ["A"]}}
"""

from collections.abc import Mapping

from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory


def session_state(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Score 1 when every expected key has its value at the end; the details name the others.

    >>> sample = Sample.ask("a", "?", meta={"final_session_state": {"booked": True, "n": 1}})
    >>> session_state(sample, Trajectory(steps=(), state={"booked": 1, "n": 1.0, "x": 0})).details["different"]
    ['booked']
    """
    expected = sample.known.final_session_state
    if not expected:
        return Unscored(why="not_applicable", reason=say("The case expects no state of the session."))
    if trajectory.state is None:
        return Unscored(why="no_evidence", reason=say("The agent does not tell the state of its session."))
    different = [key for key, value in expected.items() if not _is_same(trajectory.state.get(key), value)]
    reason = say("Different from what is expected: {names}.", names=", ".join(different)) if different else ""
    return Score(points=not different, reason=reason, details={"different": different})


def _is_same(one: object, other: object) -> bool:
    """True for equal JSON values; `true` is not 1, while 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)


PART = ScorerPart(scorer=session_state)
