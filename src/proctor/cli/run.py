"""proctor run: a task with an agent."""

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import click

from proctor.cli import gate, options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api.check import By


@click.command(help=t("Run a task with an agent and show the numbers."))
@click.argument("task", required=False)
@click.option(
    "--agent",
    help=t(
        "The system under test: openai:MODEL, local:NAME, ./agent.py:object, adk:DIR, a2a:URL, http:URL, process:COMMAND, replay:FILE, baseline:NAME."
    ),
)
@options.limit
@options.first
@click.option("--id", "ids", multiple=True, help=t("Take the sample with this id; may be given several times."))
@click.option(
    "--tag",
    "tags",
    metavar="KEY=VALUE",
    multiple=True,
    help=t("Take the samples with this tag; may be given several times."),
)
@options.order
@options.target
@click.option("--attempts", type=options.AT_LEAST_ONE, help=t("How often each sample is tried (default 1)."))
@options.concurrency
@click.option(
    "--workers", type=options.AT_LEAST_ONE, help=t("In how many processes, for agents that need CPU (default 1).")
)
@options.seed
@options.task_set
@options.columns
@click.option(
    "--agent-set",
    metavar="KEY=VALUE",
    multiple=True,
    help=t("An option of the agent, such as temperature=0; may be given several times."),
)
@click.option("--base-url", help=t("The endpoint of an OpenAI-compatible model (else OPENAI_BASE_URL)."))
@options.scorer
@options.judge
@click.option(
    "--time-limit", type=options.SECONDS, metavar="SECONDS", help=t("Time limit of one sample (default 600).")
)
@options.budget
@click.option(
    "--max-failed",
    type=click.FloatRange(0, 1),
    help=t("The share of infrastructure failures above which the run is inconclusive (default 0.05)."),
)
@click.option(
    "--retry-failed", is_flag=True, help=t("When going on with a run, run its infrastructure failures again.")
)
@options.accept_changes
@click.option(
    "--cache",
    is_flag=True,
    help=t("Take the model's replies from the reply cache of this machine where it has them, and keep new ones there."),
)
@gate.minimum
@options.run
@options.store
@click.option("--dry-run", is_flag=True, help=t("Show the plan and the first prompt; call nothing."))
@options.as_json
@options.quiet
@click.pass_context
def command(
    ctx: click.Context,
    /,
    task: str | None,
    run_id: str | None,
    as_json: bool,
    quiet: bool,
    dry_run: bool,
    least: tuple[str, ...],
    min_by: "By",
    **given: Any,
) -> None:
    from proctor.api import evaluate
    from proctor.engine.progress import Progress

    wanted = gate.minima(least)
    how = _how(task, run_id, given)
    _tell_columns(how)
    if dry_run:
        from proctor.cli.plan import show_plan

        show_plan(how, as_json=as_json)
        return
    progress = Progress(tell=output.tell)
    with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # an agent may print; results stay alone
        run = evaluate(**how, run_id=run_id, progress=progress)
    if not as_json:
        output.message(t("Run {run}. Look closer: proctor samples {run} · proctor report {run}", run=run.id))
        output.print_few_samples(run)
    code = gate.print_compared(run, wanted, min_by, as_json=as_json)
    if gate.nothing_measured(run):
        ctx.exit(2)
    ctx.exit(3 if code == 0 and run.record.state == "inconclusive" else code)


def _how(task: str | None, run_id: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `evaluate`: those of a stored run, the flags, then the project's settings."""
    from proctor.config import settings

    found = settings()
    if task is None:
        if run_id is None:
            raise BadInput("Name a task, for example: proctor run bfcl/simple_python --agent openai:MODEL")
        return _stored(run_id, given)
    agent = given["agent"] or found.agent
    if agent is None:
        raise BadInput(
            "Name the agent to evaluate with --agent, for example --agent openai:MODEL or --agent ./agent.py:answer"
        )
    agent_options = {**found.agent_options, **options.pairs(given["agent_set"], "--agent-set")}
    if given["base_url"]:
        agent_options["base_url"] = given["base_url"]
    return {
        "task": task,
        "agent": agent,
        "options": _with_columns(
            task, {**found.task_options, **options.pairs(given["task_set"], "--set")}, given["mapped"]
        ),
        "agent_options": agent_options,
        "limit": given["limit"],
        "first": given["first"],
        "ids": given["ids"],
        "tags": options.texts(given["tags"], "--tag"),
        "order": given["order"] or "random",
        "target": given["target"] or "samples",
        "attempts": _first_given(given["attempts"], found.attempts, 1),
        "concurrency": _first_given(given["concurrency"], found.concurrency, None),
        "workers": given["workers"],
        "seed": _first_given(given["seed"], found.seed, 0),
        "scorers": given["scorers"] or None,
        **options.judge_of(given["judge"], given["judge_set"]),
        "limits": options.limits_of(given["time_limit"], found.limits),
        "budget": options.budget_of(given["budget"]) or found.budget,
        "max_failed": _first_given(given["max_failed"], found.max_failed, None),
        "retry_failed": given["retry_failed"],
        "accept_changes": given["accept_changes"],
        "cache": given["cache"],
        "store": given["store"],
    }


def _with_columns(task: str, found: dict[str, Any], mapped: tuple[str, ...]) -> dict[str, Any]:
    """The options of the task, with the columns of `--map`."""
    from proctor.datasets.files import is_data

    if mapped and not is_data(task):
        raise BadInput("--map goes with a file of questions, not with '{task}'.", task=task)
    return {**found, "columns": options.texts(mapped, "--map")} if mapped else found


def _tell_columns(how: dict[str, Any]) -> None:
    """Show which columns of a file were understood as what, before anything is called."""
    from proctor.api.resolve import is_file_of_samples
    from proctor.datasets.files import is_data, layout_told

    task = how["task"]
    if is_data(task) and is_file_of_samples(task):  # `judged-items:FILE` tells its own
        output.tell(layout_told(task, **how["options"]))


def _stored(run_id: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a stored run, with the bounds that may be moved."""
    from proctor.api.prepare import how_of

    how = how_of(run_id, given["store"], concurrency=given["concurrency"])
    how["budget"] = options.budget_of(given["budget"]) or how["budget"]
    how["max_failed"] = _first_given(given["max_failed"], how["max_failed"])
    how["target"] = given["target"] or how["target"]
    how["workers"] = _first_given(given["workers"], how["workers"])
    how["limits"] = options.limits_of(given["time_limit"], how["limits"])
    return {**how, **{name: given[name] for name in ("retry_failed", "accept_changes", "cache")}}


def _first_given(*values: Any) -> Any:
    """The first value that is not None, the last where all are."""
    return next((value for value in values if value is not None), None)
