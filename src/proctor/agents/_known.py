"""Agents of other libraries, known by where their class comes from; no library is imported for that.

A row says which part of this room wraps them: `AgentPart.wrap`.
"""

from collections.abc import Callable, Mapping

from proctor import registry
from proctor.core.task import Agent

ROOM_BY_CLASS: Mapping[str, str] = {  # the beginning of `module:class`, of the class itself or one it inherits from
    "google.adk.": "adk",  # VeADK's agents and runners inherit from these
    "langgraph.": "langgraph",
    "langchain_core.": "langgraph",
    "agents.agent:Agent": "openai_agents",  # a user's own package may be called `agents` too
    "pydantic_ai.": "pydantic_ai",
    "smolagents.": "smolagents",
    "hello_agents.": "hello_agents",
}


def wrapper_of(target: object) -> Callable[..., Agent] | None:
    """Return what wraps an object of a known library as an agent; None for anything else, classes too.

    >>> wrapper_of("text") is None
    True
    """
    if isinstance(target, type):
        return None
    for kind in type(target).__mro__:
        place = f"{kind.__module__}:{kind.__qualname__}"
        for beginning, name in ROOM_BY_CLASS.items():
            if place.startswith(beginning):
                return registry.AGENTS.find(name).wrap
    return None
