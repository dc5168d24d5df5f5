"""What `run --dry-run` shows: the plan and the first prompt."""

from itertools import islice
from typing import Any

import msgspec

from proctor.cli import output
from proctor.cli.words import t
from proctor.engine.episode import as_shown
from proctor.reports.visible import visible


def show_plan(how: dict[str, Any], *, as_json: bool) -> None:
    """Print what a run would do. Every name is resolved and every sample of the choice is read."""
    from proctor.api.prepare import prepare

    job = prepare(**{**how, "store": ":memory:"}).job
    count = sum(1 for _ in job.samples())
    sample = next(iter(job.samples()))
    shown = job.task.present(sample) if job.task.present is not None else sample
    turns = [as_shown(turn, job.agent.tools) for turn in islice(shown.turns, 1)]
    if as_json:
        prompt = [msgspec.to_builtins(turn) for turn in turns]
        output.print_json(
            {"task": job.task.name, "agent": job.agent.name, "samples": count, "first": sample.id, "prompt": prompt}
        )
        return
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
    output.line(t("First prompt ({id}):", id=sample.id))
    for turn in turns:
        for message in turn.messages:
            output.line(visible(f"[{message.role}]\n{message.text}"))
        for tool in turn.tools:
            output.line(visible(f"[tool] {tool.name} {msgspec.json.encode(tool.parameters).decode()}"))
