"""proctor runs fork: go on from a step of a recorded trial, with another model, prompt or reply."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Annotated

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import derived, gathered
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput
from proctor.core.run_fields import Bounds, Flag
from proctor.core.sentence import say


class ForkFields(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a fork that a run does not have."""

    step: Annotated[
        int | None,
        Flag(
            say(
                "The step that is played again, as proctor runs explain counts them: all that precede it stay as recorded."
            ),
            "at",
            "STEP",
        ),
        Bounds(1),
    ] = None
    attempt: Annotated[int, Flag(say("Which attempt, counted from 1 (default 1).")), Bounds(1)] = 1
    agent: Annotated[
        str | None,
        Flag(say("Another chat model, such as openai:MODEL (default: that of the run)."), metavar="AGENT"),
    ] = None
    prompt: Annotated[str | None, Flag(say("Another system message for the agent."), metavar="TEXT")] = None
    reply: Annotated[
        str | None,
        Flag(say("What the step says instead: words of the agent, or the result of a tool."), metavar="TEXT"),
    ] = None
    new_id: Annotated[str | None, Flag(say("Name of the new run."), "name", "ID")] = None


class ForkFlags(ForkFields, frozen=True, kw_only=True):
    """All options of a fork, with those that it shares with a run."""

    agent_options: Mapping[str, object] | None
    attempts: int | None


@click.command()
@click.argument("run_id", metavar="RUN")
@click.argument("sample_id", metavar="SAMPLE")
@derived(*ForkFields.__struct_fields__, of=ForkFields)
@options.of_run("agent_options attempts store")
@options.showing
@click.pass_context
@gathered("flags", ForkFlags)
def command(
    ctx: click.Context,
    run_id: str,
    sample_id: str,
    flags: ForkFlags,
    store: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from proctor.api import RunOptions, open_run
    from proctor.core.run import RunFork
    from proctor.engine.progress import Progress
    from proctor_audit.forking.comparison import compare_fork, print_fork
    from proctor_audit.forking.trial import fork_trial

    if flags.step is None:
        raise BadInput("Name the step to fork at with --at STEP; proctor runs explain {run} {sample} lists them.", run=run_id, sample=sample_id)  # fmt: skip
    parent = open_run(run_id, store=store)
    fork = RunFork(
        run=parent.id,
        sample=sample_id,
        attempt=flags.attempt - 1,
        step=flags.step,
        prompt=flags.prompt,
        reply=flags.reply,
    )
    progress = Progress(tell=output.tell)
    how = RunOptions(
        agent=flags.agent,
        agent_options=flags.agent_options,
        attempts=flags.attempts,
        run_id=flags.new_id,
        progress=progress,
    )
    with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # tools may print; results stay alone
        run = fork_trial(parent, fork, how)
    comparison = compare_fork(run.record, run.store, parent.record, parent.store)
    if as_json:
        output.print_json(msgspec.to_builtins(comparison))
    else:
        print_fork(comparison, lang(), output.console())
        output.message(
            t("Stored as a run of its own: proctor runs explain {run} {sample}", run=run.id, sample=sample_id)
        )
    ctx.exit(3 if run.record.state == "inconclusive" else 0)
