"""Record what an agent does as an eval set."""

from collections.abc import Mapping
from pathlib import Path

from proctor.api import resolve
from proctor.core.task import Agent
from proctor_adapters.evalsets.recording import Recorder


def record(agent: resolve.AgentLike, path: Path | str, *, agent_options: Mapping[str, object] | None = None) -> Agent:
    """Return the agent, wrapped so that each of its conversations becomes a case of an eval-set file.

        proctor.evaluate("questions.jsonl", agent=proctor.record(my_agent, "shop.evalset.json"))

    Args:
        agent: a name, a path, a function or an object, as for `evaluate`.
        path: the file; cases are added to one that is there.

    Raises:
        BadInput: there is no such agent.
    """
    made, _ = resolve.agent(agent, agent_options or {})
    return Recorder(made, path)
