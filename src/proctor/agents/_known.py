"""Agents of other libraries, known by where their class comes from; no library is imported for that.

A row says which module of this room wraps them: it has `wrap(target, *, name=None) -> Agent`.
"""

from collections.abc import Mapping
from types import ModuleType

from proctor import registry

ROOM_BY_CLASS: Mapping[str, str] = {  # the beginning of `module:class`, of the class itself or one it inherits from
    "google.adk.": "adk",  # VeADK's agents and runners inherit from these
    "langgraph.": "langgraph",
    "langchain_core.": "langgraph",
    "agents.agent:Agent": "openai_agents",  # a user's own package may be called `agents` too
    "pydantic_ai.": "pydantic_ai",
    "smolagents.": "smolagents",
    "hello_agents.": "hello_agents",
}


def wrapper_of(target: object) -> ModuleType | None:
    """The module of this room for an object of a known library; None for anything else, classes too.

    >>> wrapper_of("text") is None
    True
    """
    if isinstance(target, type):
        return None
    for kind in type(target).__mro__:
        place = f"{kind.__module__}:{kind.__qualname__}"
        for beginning, name in ROOM_BY_CLASS.items():
            if place.startswith(beginning):
                found: ModuleType = registry.find("agents", name)
                return found
    return None
