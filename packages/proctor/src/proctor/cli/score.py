"""proctor score: recorded replies, or new scores on a stored run."""

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import minimum, options, output
from proctor.cli.derived import gathered
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api.check import By


class ScoringFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What is scored, and by which scorers."""

    replies: str | None
    attempts: int | None
    scorers: tuple[str, ...]
    judge: str | None


@click.command(help=t("Score recorded replies; no agent is called. With --run, score a stored run again."))
@click.argument("task", required=False)
@options.of_run("replies")
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    help=t("With a task: the name of the new run. Without: the stored run to score again."),
)
@click.option("--attempts", type=options.AT_LEAST_ONE, help=t("How many replies each sample has (default 1)."))
@options.of_run("options scorers judge judge_options concurrency budget")
@minimum.minimum
@options.of_run("store")
@options.showing
@click.pass_context
@gathered("flags", ScoringFlags)
def command(
    ctx: click.Context,
    /,
    task: str | None,
    flags: ScoringFlags,
    as_json: bool,
    quiet: bool,
    least: tuple[str, ...],
    min_by: "By",
    **given: object,
) -> None:
    from msgspec.structs import replace

    from proctor import api
    from proctor.engine.progress import Progress

    wanted = minimum.minima(least)
    progress = Progress(tell=output.tell)
    how = options.judging(flags.judge, given)
    with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # a scorer may print; results stay alone
        if task is not None and flags.replies is not None:
            how = replace(
                how,
                attempts=flags.attempts,
                replies=flags.replies,
                options=given["options"],
                scorers=flags.scorers or None,
                bars=wanted,
                progress=progress,
            )
            run = api.run_task(task, how)
        elif task is None and how.run_id is not None and flags.scorers:
            same = {name: getattr(how, name) for name in ("judge", "judge_options", "store", "budget", "concurrency")}
            run = api.rescore(how.run_id, scorers=flags.scorers, bars=wanted, progress=progress, **same)
        else:
            raise BadInput("Use either: proctor score TASK --replies FILE, or: proctor score --run ID --scorer NAME")
    code = minimum.print_compared(run, wanted, min_by, as_json=as_json)
    if not as_json:
        output.look_closer(run)
    ctx.exit(3 if code == 0 and run.record.state == "inconclusive" else code)
