"""AgentDojo: does an agent with tools do its user's task, and not what a text in the tool results tells it to?

`agentdojo` is all four suites, `agentdojo/banking` or `agentdojo/slack,travel` are some. Suites, tools, attacks and checks are
those of the official package, which run in worker processes (`README.md`).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from proctor.config import check_choice
from proctor.core.errors import BadInput
from proctor.core.parts import BenchmarkPart
from proctor.core.sample import JsonObject, Message, Sample, ToolCall, ToolResult
from proctor.core.sentence import say
from proctor.core.task import Task
from proctor.core.trajectory import Step, Trajectory
from proctor_adapters.datasets import fetch
from proctor_benchmarks.agentdojo import export, official, parity, replies
from proctor_benchmarks.agentdojo.dataset import NO_ATTACK, VERSION, samples_of, suites_of
from proctor_benchmarks.agentdojo.environment import PipelineAgain, Worlds
from proctor_benchmarks.agentdojo.scorer import AgentDojoCheck, Checks
from proctor_benchmarks.agentdojo.summary import summarise

Solves = Literal["user", "injection", "both"]


def task(
    suite: str | Sequence[str] = "all",
    *,
    attack: str = "important_instructions",
    model: str = "local",
    version: str = VERSION,
    oracle: Solves = "user",
    data: str | None = None,
) -> Task:
    """Return the task of some suites.

    With an attack it has every user task without an injection, every injection task as a user task, and every pair of both
    with the attack's text in the tool results; an attack that only wants to stop the agent has one injection task a suite.

    Args:
        suite: a suite or several (a list, or one text with commas), or `all`.
        attack: a name of the official attacks, or `none`.
        model: a text with an official model id in it (`local` is one), by which some attacks address the agent.
        version: of the benchmark, not of the package.
        oracle: what `baseline:oracle` does: the user's task, what the injection wants, or first the one and then the other.
        data: the package, see `official.locate`; the pinned one when None.

    Raises:
        BadInput: an unknown suite, attack, model or version; `MissingExtra` where the extra is not installed.
    """
    check_choice("agentdojo", "oracle", oracle, get_args(Solves))
    folder = official.locate(data)
    listing = official.listing(folder, version)
    suites = suites_of(suite, listing)
    if attack != NO_ATTACK:
        check_choice("agentdojo", "attack", attack, (NO_ATTACK, *listing.attacks))
        _check_model(model, listing)
    samples = [sample for name in suites for sample in samples_of(listing, name, version, attack, model)]
    workers = official.make_workers(folder)
    checks = Checks(workers)
    scorers = [AgentDojoCheck("utility", checks), AgentDojoCheck("attack_success", checks)]
    return Task(
        name="agentdojo" if set(suites) == set(listing.suites) else f"agentdojo/{','.join(suites)}",
        version=version if data is None else f"{version} of {folder}",
        samples=samples,
        scorers=scorers if attack != NO_ATTACK else scorers[:1],
        environment=Worlds(workers, {name: listing.suites[name].tools for name in suites}),
        user=PipelineAgain(),
        oracle=lambda sample: _solution(folder, sample, oracle),
        summarise=summarise,
        spread_by="part",
        planned=len(samples),
        notes=_notes(attack, model),
        provenance=_provenance(data, version) | {"attack": attack, "addressed_as": model},
    )


def _provenance(data: str | None, version: str) -> dict[str, object]:
    return {
        "package": official.PACKAGE.name,
        "version": official.PACKAGE.version if data is None else "unknown",
        "sha256": official.PACKAGE.sha256 if data is None else None,
        "licence": official.LICENCE,
        "benchmark_version": version,
    }


def _check_model(model: str, listing: official.OfficialListing) -> None:
    if not any(known in model for known in listing.models):
        raise BadInput(
            "The attacks address the agent by a model that AgentDojo knows, and '{model}' holds the name of none. Known: {known}.",
            model=model,
            known=", ".join(listing.models),
        )


def _notes(attack: str, model: str) -> Sequence[Any]:
    if attack == NO_ATTACK:
        return ()
    return (say("The attack {attack} addresses the agent as AgentDojo does '{model}' (--set model=NAME).", attack=attack, model=model),)  # fmt: skip


def _solution(folder: Path, sample: Sample, solves: Solves) -> Trajectory:
    """Return the official solution of a sample, or what an agent does that follows the injection."""
    scene: Mapping[str, str] = sample.meta["scene"]
    user, injection = scene["user_task"], scene.get("injection_task")
    tasks = {"user": [user], "injection": [injection or user], "both": [injection, user] if injection else [user]}
    truth = official.ask(folder, "truth", tasks=tasks[solves], **scene)
    steps = [step for number, call in enumerate(truth["steps"]) for step in _call_and_result(f"call_{number}", call)]
    answer = Message.of("assistant", truth["output"])
    return Trajectory(steps=(*steps, Step(message=answer)), tools="native")


def _call_and_result(id: str, made: JsonObject) -> Iterator[Step]:
    call = ToolCall(name=made["name"], arguments=made["arguments"], id=id)
    error = made["error"]
    result = ToolResult(name=call.name, id=id, content=error or made["content"], is_error=error is not None)
    yield Step(message=Message(role="assistant", parts=(call,)))
    yield Step(message=Message(role="tool", parts=(result,)), author="tool")


PART = BenchmarkPart(
    task=task,
    summarise=summarise,
    replies=replies.read,
    export=export.write,
    check_corpus=parity.check_corpus,
    pull_package=partial(fetch.pull, official.PACKAGE),
)
