"""proctor run: a task with an agent."""

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click

from proctor.cli import minimum, options, output
from proctor.cli.long_help import long_command
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api.check import By

CODES = {"go": 0, "no_go": 1, "futile": 3, None: 3}  # of what --until decided


@long_command(
    "agent limit attempts set agent-set scorer judge min concurrency budget run dry-run json",
    context_settings={"allow_extra_args": True},  # which `_check_extra` refuses, with what to write
)
@click.argument("task", required=False)
@options.of_run(
    "agent limit more first ids tags order target attempts until against error shard concurrency workers on seed options"
)
@options.columns
@options.of_run("agent_options environment environment_options perturb approve on_agent_error")
@options.base_url
@options.batch
@options.of_run(
    "scorers judge judge_options user user_options limits budget max_failed retry_failed accept_changes cache trace_to trace_content"
)
@minimum.minimum
@options.of_run("run_id store")
@options.dry_run
@options.showing
@click.pass_context
def command(
    ctx: click.Context,
    /,
    task: str | None,
    as_json: bool,
    quiet: bool,
    dry_run: bool,
    least: tuple[str, ...],
    min_by: "By",
    **given: object,
) -> None:
    from proctor.api import run_task
    from proctor.api.looks import END
    from proctor.engine.progress import Progress

    _check_extra(task, ctx.args, given["agent"])
    wanted = minimum.minima(least)
    progress = Progress(tell=output.tell)
    task, how = options.run_options(task, {**given, "bars": wanted, "progress": progress})
    if how.agent is None:
        raise BadInput(
            "Name the agent to evaluate with --agent, for example --agent openai:MODEL or --agent ./agent.py:answer"
        )
    _check_columns(task, given)
    if dry_run:
        from proctor.cli.dry_run import show_plan

        show_plan(task, how, as_json=as_json)
        return
    with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # an agent may print; results stay alone
        run = run_task(task, how)
    if not as_json:
        output.look_closer(run)
        output.print_few_samples(run)
    code = minimum.print_compared(run, wanted, min_by, as_json=as_json)
    if minimum.nothing_measured(run):
        ctx.exit(2)
    if how.until not in (None, END) and run.record.looked is not None:
        code = max(code, CODES[run.record.looked.decision], key=[0, 3, 1].index)
    ctx.exit(3 if code == 0 and run.record.state == "inconclusive" else code)


def _check_extra(task: str | None, extra: list[str], agent: object) -> None:
    """Refuse a second word on the line, which is an agent without its option, or the task after it."""
    if not extra:
        return
    if task is None or agent is not None or len(extra) > 1:
        raise BadInput("Only one task can be named, not also {words}.", words=", ".join(map(repr, extra)))
    from proctor.api.task_kinds import kind_of

    pair = (task, extra[0])
    if kind_of(task) == "code" and kind_of(extra[0]) in ("data", "files"):
        pair = (extra[0], task)
    raise BadInput("An agent goes with --agent: proctor run {task} --agent {agent}", task=pair[0], agent=pair[1])


def _check_columns(task: str, given: dict[str, object]) -> None:
    from proctor.api.task_kinds import kind_of

    if given["columns"] and kind_of(task) != "data":
        raise BadInput("--map goes with a file of questions, not with '{task}'.", task=task)
