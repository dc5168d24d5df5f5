"""Score texts that were written elsewhere: `recorded:` answers each sample with its own `meta["recorded"]`."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext

from proctor.agents.conversation import RecordedConversation
from proctor.config import unknown_option
from proctor.core.errors import AgentFailed, BadInput
from proctor.core.parts import AgentPart
from proctor.core.sample import Sample
from proctor.core.task import Environment, Session
from proctor.core.trajectory import ToolStyle, Trajectory


def make(argument: str, options: Mapping[str, object]) -> "RecordedAgent":
    """Return the agent `recorded:`.

    Raises:
        BadInput: it takes no name and no options.
    """
    if argument:
        raise BadInput(
            "'{name}': the texts come with the samples, so nothing follows the colon.", name=f"recorded:{argument}"
        )
    for option in options:
        raise unknown_option("recorded", option, [])
    return RecordedAgent()


class RecordedAgent:
    """Answers with the text that is recorded with the sample; no model is asked, so it costs nothing."""

    name = "recorded"
    tools: ToolStyle = "text"
    concurrency = 32  # so many are judged at once; more would overshoot a budget by as many
    reports_cost = True

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        text = sample.known.recorded
        if text is None:
            raise AgentFailed("There is no recorded reply for '{id}'.", kind="no_reply", id=sample.id)
        return nullcontext(RecordedConversation(Trajectory.of(text)))


PART = AgentPart(make=make, is_internal=True)
