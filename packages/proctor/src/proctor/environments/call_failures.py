"""How long a call of an environment may take, and the failures of one that ends, hangs or is late."""

from proctor.core.around import around
from proctor.core.declared import Blame
from proctor.core.errors import EnvironmentDied, EnvironmentFailed
from proctor.core.sample import ToolCall, ToolResult
from proctor.environments.results import refusal

HEALTH_SECONDS = 5.0  # for an environment to answer again after a call that took too long
SHARE = 0.5  # of the time limit of a sample, that one call may take where no `seconds` are set


def timed_out(call: ToolCall, seconds: float) -> ToolResult:
    """Return the result of a call that took too long, for the model."""
    return refusal(call, f"The call timed out after {seconds:g} s. What it did until then stays done.")


def died(failure: EnvironmentFailed, blame: Blame) -> EnvironmentFailed:
    """Return the failure of an environment that ended or hung after a call of the agent, by its rule."""
    return EnvironmentDied(failure.sentence, kind=failure.kind) if blame == "agent" else failure


def too_late(name: str, seconds: float) -> EnvironmentFailed:
    """Return the failure of an environment that did not answer in time."""
    return EnvironmentFailed(
        "The environment did not answer '{name}' within {seconds} seconds.",
        kind="late",
        name=name,
        seconds=f"{seconds:g}",
    )


def seconds_for_a_call(chosen: float | None) -> float:
    """Return how long a call may take: what was chosen, else a share of the time that the sample has."""
    return SHARE * around.get().limits.seconds if chosen is None else chosen
