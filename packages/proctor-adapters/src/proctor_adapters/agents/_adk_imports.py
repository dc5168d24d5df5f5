"""Import what google-adk imports only when an agent is first asked, so that no sample waits for it."""

import importlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

OF_THE_FIRST_TURN = (  # google-adk imports them inside functions; an older or newer version may lack some
    "google.adk.artifacts.in_memory_artifact_service",
    "google.adk.memory.in_memory_memory_service",
    "google.adk.sessions.in_memory_session_service",
    "google.adk.agents._agent_router",
    "google.adk.agents.remote_a2a_agent",
    "google.adk.workflow._llm_agent_wrapper",
    "google.adk.workflow._node_runner_utils",
    "google.adk.flows.llm_flows.auto_flow",
    "google.adk.flows.llm_flows.single_flow",
    "google.adk.auth.auth_preprocessor",
    "google.adk.models.google_llm",
    "google.adk.tools._node_tool",
)
OF_MODELS = {"google.adk.models.lite_llm": ("litellm",), "google.adk.models.anthropic_llm": ("anthropic",)}


def import_for(root: object) -> None:
    """Import what the turns of an agent, and of all agents below it, need; what raises here is raised again by a sample."""
    for name in OF_THE_FIRST_TURN:
        with suppress(Exception):
            importlib.import_module(name)
    for agent in _agents(root):
        with suppress(Exception):
            model = agent.canonical_model  # made here where the agent only names it
            for kind in type(model).__mro__:
                for name in OF_MODELS.get(kind.__module__, ()):
                    importlib.import_module(name)


def _agents(root: object) -> Iterator[Any]:
    todo, seen = [root], set[int]()
    while todo:
        agent = todo.pop()
        if id(agent) not in seen:
            seen.add(id(agent))
            todo.extend(getattr(agent, "sub_agents", None) or ())
            todo.extend(tool.agent for tool in getattr(agent, "tools", None) or () if hasattr(tool, "agent"))
            yield agent
