"""proctor runs fork: go on from a step of a recorded trial, with another model, prompt or reply."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t


@click.command()
@click.argument("run_id", metavar="RUN")
@click.argument("sample_id", metavar="SAMPLE")
@click.option(
    "--at",
    "step",
    type=options.AT_LEAST_ONE,
    required=True,
    metavar="STEP",
    help=t("The step that is played again, as proctor runs explain counts them: all that precede it stay as recorded."),
)
@click.option("--attempt", type=options.AT_LEAST_ONE, default=1, help=t("Which attempt, counted from 1 (default 1)."))
@click.option(
    "--agent", metavar="AGENT", help=t("Another chat model, such as openai:MODEL (default: that of the run).")
)
@options.of_run("agent_options")
@click.option("--prompt", metavar="TEXT", help=t("Another system message for the agent."))
@click.option(
    "--reply",
    metavar="TEXT",
    help=t("What the step says instead: words of the agent, or the result of a tool."),
)
@options.of_run("attempts")
@click.option("--name", "new_id", metavar="ID", help=t("Name of the new run."))
@options.of_run("store")
@options.showing
def command(
    run_id: str,
    sample_id: str,
    step: int,
    attempt: int,
    agent: str | None,
    agent_options: Mapping[str, object] | None,
    prompt: str | None,
    reply: str | None,
    attempts: int | None,
    new_id: str | None,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    import msgspec

    from proctor.api import RunOptions, open_run
    from proctor.api.fork import fork_trial
    from proctor.core.run import RunFork
    from proctor.engine.progress import Progress
    from proctor.reports.fork import compare_fork, print_fork

    parent = open_run(run_id, store=store)
    fork = RunFork(run=parent.id, sample=sample_id, attempt=attempt - 1, step=step, prompt=prompt, reply=reply)
    progress = Progress(tell=output.tell)
    how = RunOptions(agent=agent, agent_options=agent_options, attempts=attempts, run_id=new_id, progress=progress)
    with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # tools may print; results stay alone
        run = fork_trial(parent, fork, how)
    comparison = compare_fork(run.record, run.store, parent.record, parent.store)
    if as_json:
        output.print_json(msgspec.to_builtins(comparison))
        return
    print_fork(comparison, lang(), output.console())
    output.message(t("Stored as a run of its own: proctor runs explain {run} {sample}", run=run.id, sample=sample_id))
