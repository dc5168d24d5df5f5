"""Score a sample by the official result that its loop, or a result file, left in the state."""

from collections.abc import Mapping

from proctor.core.declared import scorer
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, say
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.agentbench import official

VERSION = "agentbench v0.2 / 1"


@scorer(name="agentbench", version=VERSION)
def agentbench(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Return what the sample earns in the main metric of its part; `details` has what the official aggregates need."""
    part, state = sample.tags.get("part"), trajectory.state or {}
    if part not in official.PARTS or "task" not in sample.meta:
        return Unscored(why="not_applicable", reason=say("The sample is none of AgentBench."))
    status, result = state.get("status"), state.get("result")
    if status not in official.STATUSES:
        return Unscored(why="not_applicable", reason=say("The trajectory holds no result of AgentBench: nobody played its loop."))  # fmt: skip
    try:
        value = official.points(part, result, sample.target)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        reason = say("The result is none of '{part}' ({type}: {error}).", part=part, type=type(error).__name__, error=error)  # fmt: skip
        return Unscored(why="scorer_failed", reason=reason, details={"kind": "malformed_result"})
    length = sum(step.message.role in ("user", "assistant") for step in trajectory.steps)
    details = {"status": status, "result": official.kept(part, result), "history_length": length}
    if status != "completed":
        details["error_class"] = status
    answer = result.get("answer") if isinstance(result, Mapping) else None
    return Score(points=value, answer=answer if isinstance(answer, str) else None, reason=_reason(value, str(status)), details=details)  # fmt: skip


def _reason(value: float, status: str) -> Sentence:
    if value == 1:
        return say("Right; the sample ended as '{status}'.", status=status)
    if value == 0:
        return say("Wrong; the sample ended as '{status}'.", status=status)
    return say("Right in part; the sample ended as '{status}'.", status=status)
