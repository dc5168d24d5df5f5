"""Score an episode by the reward that its page gave.

The official rewards are `raw_reward`, what the task gave, and `reward`, which shrinks with the time taken where the page says so.
The rule is that of `get_thresholded_reward`: an episode that is over succeeds with a raw reward of the threshold or more.

Source: miniwob 1.1.0, `reward.py`.
"""

from collections.abc import Mapping

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored, WhyUnscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory

VERSION = "miniwob 1.1.0 / 1"


class Success:
    """1 when the page gave the full reward; the rewards themselves are in the details.

    Args:
        threshold: the least raw reward of a success.
    """

    name = "success"

    def __init__(self, threshold: float = 1.0) -> None:
        self.version = VERSION if threshold == 1 else f"{VERSION} from {threshold:g}"
        self._threshold = threshold

    def __call__(self, sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        state = trajectory.state or {}
        if "episode" not in sample.meta or not isinstance(state.get("done"), bool):
            why: WhyUnscored = "no_evidence" if "episode" in sample.meta else "not_applicable"
            return Unscored(why=why, reason=say("No page of MiniWoB++ was acted on."))
        rewards = {name: _number(state, name) for name in ("raw_reward", "reward")}
        raw = rewards["raw_reward"]
        if not state["done"]:
            return Score(
                points=0,
                reason=say("The agent stopped before the page ended the episode."),
                details={"raw_reward": 0.0, "reward": 0.0, "error_class": "not_finished"},
            )
        succeeded = raw >= self._threshold
        reason = say("The page gave {raw} ({why}).", raw=f"{raw:g}", why=str(state.get("reason") or "-"))
        kind = "timed_out" if state.get("reason") == "timed out" else "partly" if raw > 0 else "wrong"
        return Score(
            points=int(succeeded), reason=reason, details={**rewards, **({} if succeeded else {"error_class": kind})}
        )


def _number(state: Mapping[str, object], name: str) -> float:
    value = state.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
