# What the agent should do with the tools, and how that is scored.
from pathlib import Path

from proctor import Sample, Score, Task, Trajectory


def basket(sample: Sample, trajectory: Trajectory) -> Score:
    """Compare the state at the end with the target."""
    state = trajectory.state or {}
    return Score(points=state.get("basket") == sample.target, reason=str(state))


def task() -> Task:
    none_left = {"environment": {"stock": {"tea": 0}}}  # arguments of the class, for this sample
    return Task(
        name="shop",
        samples=[
            Sample.ask("two", "Buy two teas.", target=["tea", "tea"]),
            Sample.ask("none", "Buy a tea if there is one.", target=[], meta=none_left),
        ],
        scorers=[basket],
        environment=f"python:{Path(__file__).with_name('shop.py')}:Shop",
    )
