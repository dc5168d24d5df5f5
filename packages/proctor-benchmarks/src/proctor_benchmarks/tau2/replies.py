"""Read the result files of the official tool: one `results.json`, or a folder with it and `simulations/*.json`.

    {"info": {"environment_info": {"domain_name": "retail", …}, "num_trials": 4, …}, "tasks": […],
     "simulations": [{"task_id": "0", "trial": 0, "termination_reason": "user_stop", "messages": […],
                      "reward_info": {"reward": 1.0, "nl_assertions": [{"nl_assertion": "…", "met": true, …}], …}, …}]}

What the judge of that run said is kept, so that its rewards come out without a judge. Source: sierra-research/tau2-bench,
commit a2c024725189, `src/tau2/data_model/simulation.py`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory, Usage
from proctor.core.trial import TrialFailure
from proctor.core.validation import in_words
from proctor.runtime.json_file import read_json
from proctor_benchmarks.tau2.messages import steps_of


class _Call(msgspec.Struct, frozen=True):
    name: str
    arguments: dict[str, object]
    id: str = ""
    requestor: str = "assistant"


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | None = None
    tool_calls: list[_Call] | None = None
    id: str = ""
    requestor: str = "assistant"
    error: bool = False
    cost: float | None = None


class _Assertion(msgspec.Struct, frozen=True):
    met: bool


class _Reward(msgspec.Struct, frozen=True):
    reward: float
    nl_assertions: list[_Assertion] | None = None


class _Simulation(msgspec.Struct, frozen=True):
    task_id: str
    termination_reason: str
    messages: list[_Message] | None = None
    reward_info: _Reward | None = None
    trial: int | None = None
    duration: float = 0.0
    agent_cost: float | None = None


class _EnvironmentInfo(msgspec.Struct, frozen=True):
    domain_name: str


class _Info(msgspec.Struct, frozen=True):
    environment_info: _EnvironmentInfo


class _Results(msgspec.Struct, frozen=True):
    info: _Info
    simulations: list[object] = []


def read(path: Path, domains: Sequence[str]) -> Iterator[tuple[str, Trajectory | TrialFailure]]:
    """Yield the conversations of one result file by sample, the trials of a task in their order.

    Raises:
        BadInput: no result file, one of another domain, or of a run with voice.
    """
    main = path / "results.json" if path.is_dir() else path
    results = _converted(main, read_json(main), _Results)
    parts = sorted((main.parent / "simulations").glob("*.json")) if not results.simulations else []
    simulations = [_converted(main, raw, _Simulation) for raw in results.simulations]
    simulations += [_converted(part, read_json(part), _Simulation) for part in parts]
    domain = results.info.environment_info.domain_name
    if domain not in domains:
        raise BadInput("{path} holds results of {domain}: score them as tau2/{domain}.", path=main, domain=domain)
    for simulation in sorted(simulations, key=lambda one: one.trial or 0):
        yield f"{domain}/{simulation.task_id}", _reply(main, simulation)


def _reply(path: Path, simulation: _Simulation) -> Trajectory | TrialFailure:
    if simulation.termination_reason == "infrastructure_error":
        return TrialFailure(
            kind="infrastructure_error", reason=say("The official run ended with an infrastructure error.")
        )
    if simulation.messages is None:
        raise BadInput("{path} holds results of a run with voice, which cannot be scored here.", path=path)
    steps = list(steps_of([msgspec.to_builtins(message) for message in simulation.messages]))
    state: dict[str, object] = {"termination_reason": simulation.termination_reason}
    if (info := simulation.reward_info) is not None:
        state["reward"] = info.reward
        if info.nl_assertions:
            state["met"] = [assertion.met for assertion in info.nl_assertions]
    own = next((index for index in reversed(range(len(steps))) if steps[index].author == "agent"), None)
    if own is not None:
        usage = Usage(cost=simulation.agent_cost)
        steps[own] = msgspec.structs.replace(steps[own], usage=usage, seconds=simulation.duration)
    return Trajectory(steps=tuple(steps), tools="native", state=state)


def _converted(path: Path, value: object, kind: type[object]) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadInput("{path} is no result file of tau2: {error}.", path=path, error=in_words(error)) from None
