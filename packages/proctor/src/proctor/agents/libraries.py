"""Which library an object is of, and the part that makes an agent of it."""

from collections.abc import Callable, Mapping

from proctor import registry
from proctor.core.task import Agent

PART_BY_CLASS: Mapping[str, str] = {  # the beginning of `module:class`, of the class itself or one it inherits from
    "google.adk.": "adk",  # VeADK's agents and runners inherit from these
    "langgraph.": "langgraph",
    "langchain_core.": "langgraph",
    "agents.agent:Agent": "openai_agents",  # a user's own package may be called `agents` too
    "pydantic_ai.": "pydantic_ai",
    "smolagents.": "smolagents",
    "hello_agents.": "hello_agents",
}


def wrapper_of(target: object) -> Callable[..., Agent] | None:
    """Return the function that makes an agent of a known library's object; None for anything else, classes too.

    The class is known by where it comes from: no library is imported for that.

    >>> wrapper_of("text") is None
    True
    """
    if isinstance(target, type):
        return None
    for kind in type(target).__mro__:
        path = f"{kind.__module__}:{kind.__qualname__}"
        for beginning, name in PART_BY_CLASS.items():
            if path.startswith(beginning):
                return registry.AGENTS.find(name).wrap
    return None
