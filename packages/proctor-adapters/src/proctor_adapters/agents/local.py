"""`local:smollm2-135m` or `local:./model.gguf`: a model that runs on this machine, without a key or a network.

The server starts with the run and ends with it.
"""

from collections.abc import Mapping

from proctor.agents.openai import ChatAgent
from proctor.config import converted
from proctor.core.parts import AgentPart
from proctor.core.task import Agent
from proctor_adapters.models.local import LocalModel, LocalModelOptions


def make(argument: str, options: Mapping[str, object]) -> Agent:
    """Return the agent `local:MODEL` with the options of `proctor_adapters.models.local.LocalModelOptions`; nothing is started yet.

    Raises:
        BadInput: no such model or file, no GGUF, an unknown option; `MissingExtra` without xllamacpp.
    """
    model = LocalModel(argument, converted(options, LocalModelOptions, f"local:{argument}"))
    return ChatAgent(model, name=f"local:{model.name}")


PART = AgentPart(make=make, options=LocalModelOptions)
