"""Print what --dry-run shows: the plan, the expected number of requests, and the first prompt."""

from typing import TYPE_CHECKING

import msgspec

from proctor.cli import output
from proctor.cli.words import t
from proctor.engine.episode import turn_for_agent
from proctor.engine.input_size import InputSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.api import RunOptions
    from proctor.core.sample import Message, Sample, Tool
    from proctor.engine.job import Job


def print_messages(messages: "Sequence[Message]") -> None:
    """Print messages in full, each after who says it."""
    for message in messages:
        output.line(f"[{message.role}]\n{message.text}")


def show_plan(task: str, how: "RunOptions", *, as_json: bool) -> None:
    """Print what a run would do. Every name is resolved and every sample of the choice is read."""
    from proctor.api.prepare import prepare
    from proctor.api.rehearse import tools_of

    store = how.store if how.against else ":memory:"  # the run to compare with is looked up, nothing is written
    job = prepare(task, msgspec.structs.replace(how, store=store)).job
    for note in job.task.notes:
        output.tell(note)
    spec = job.record.spec
    count, size, first = 0, InputSize(), None
    for sample in job.visits():
        shown = job.task.present(sample) if job.task.present is not None else sample
        size.add(shown, job.agent.tools, spec.attempts)
        count, first = count + 1, first or shown
    assert first is not None, "a task without samples is refused"
    turns = [turn_for_agent(turn, job.agent.tools) for turn in first.turns[:1]]
    tools = tools_of(job.task.environment, first) if job.task.environment is not None else []
    size.add_tools(tools)
    if as_json:
        output.print_json(
            {
                "task": job.task.name,
                "agent": job.agent.name,
                "user": spec.user,
                "samples": count,
                **msgspec.structs.asdict(size),
                "first": first.id,
                "prompt": [msgspec.to_builtins(turn) for turn in turns],
                **({"environment_tools": msgspec.to_builtins(tools)} if tools else {}),
            }
        )
    else:
        _print_plan(job, count, size, first, tools)


def _print_plan(job: "Job", count: int, size: InputSize, first: "Sample", tools: "Sequence[Tool]") -> None:
    """Print how many samples a run would send, and the first prompt as the agent would see it."""
    spec = job.record.spec
    output.line(
        t(
            "Task {task} (version {version}), agent {agent}",
            task=job.task.name,
            version=job.task.version,
            agent=job.agent.name,
        )
    )
    output.line(
        t(
            "{samples} samples × {attempts} attempts, {concurrency} at once",
            samples=count,
            attempts=spec.attempts,
            concurrency=job.at_once,
        )
    )
    output.line(t("Scorers: {names}", names=", ".join(scorer.name for scorer in job.scorers) or "-"))
    output.line(t(size.sentence()))
    if job.task.user is not None:
        output.line(
            t("Simulated user: {name}; what it says, and is answered, comes on top", name=spec.user or job.task.name)
        )
    output.line(t("First prompt ({id}):", id=first.id))
    for turn in first.turns[:1]:
        seen = turn_for_agent(turn, job.agent.tools)
        print_messages(seen.messages)
        print_tools(seen.tools)
    if tools:
        output.line(t("Tools of the environment: {count}", count=len(tools)))
        print_tools(tools)


def print_tools(tools: "Sequence[Tool]") -> None:
    """Print tools, one a line, each with the schema of its parameters."""
    for tool in tools:
        output.line(f"[tool] {tool.name} {msgspec.json.encode(tool.parameters).decode()}")
