"""proctor ci race: which of several agents is better, with no more samples than that takes."""

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.long_help import long_command
from proctor.cli.words import lang, t
from proctor_ci.commands.gate import CODES


class RaceFlags(msgspec.Struct, frozen=True, kw_only=True):
    """The question that a race decides."""

    margin: float | None
    better_by: float | None
    metric: str | None
    error: float | None


@long_command("agent limit margin better-by metric set scorer judge concurrency budget run out json")
@click.argument("task", required=False)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    help=t("A system under test, as for proctor run; two or more. Of two, the first is the one to beat."),
)
@click.option(
    "--margin",
    type=float,
    help=t("Ask whether the second of two agents is not worse than the first by more than this: 0.05 is 5 points."),
)
@click.option(
    "--better-by",
    type=float,
    help=t("Ask whether the second of two agents is better than the first by more than this."),
)
@click.option("--metric", help=t("The scorer to go by (default: the first)."))
@options.of_run(
    "error limit first tags target attempts concurrency seed options agent_options environment environment_options"
)
@options.base_url
@options.of_run("scorers judge judge_options user user_options limits budget retry_failed accept_changes cache")
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    help=t("The name of the race; that of a stored race, or of one of its runs, resumes it."),
)
@options.decision
@options.of_run("store")
@options.showing
@click.pass_context
@gathered("question", RaceFlags)
def command(
    ctx: click.Context,
    /,
    task: str | None,
    agents: tuple[str, ...],
    question: RaceFlags,
    out: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **given: object,
) -> None:
    from msgspec.structs import asdict

    from proctor.api import RunOptions
    from proctor.config import settings
    from proctor.engine.progress import Progress
    from proctor.engine.status import RunStatus
    from proctor_ci import race_pages
    from proctor_ci.race import run_race

    class Several(Progress):
        """Shows how all runs stand, a line for each."""

        def begin(self, status: RunStatus) -> None:
            statuses.append(status)

    statuses: list[RunStatus] = []
    progress = Several(tell=output.tell)
    usual = RunOptions.usual(settings()) if task is not None else RunOptions()
    how = usual.changed({**options.nested(given), "progress": progress})
    with (
        output.watching(progress, quiet=quiet, show=lambda: "\n".join(map(output.status, statuses))),
        redirect_stdout(sys.stderr),  # an agent may print; results stay alone
    ):
        race = run_race(task, agents, how, **asdict(question))
    if as_json:
        output.json_text(race_pages.as_json(race))
    else:
        output.print_page(race_pages.page(race, lang()))
    for path in out:
        output.message(t("Wrote {path}.", path=race_pages.write(race, Path(path), lang())))
    ctx.exit(CODES[race_pages.decision_of(race)])
