"""proctor ci tier: run the tasks of a stage of testing, and decide."""

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t
from proctor_ci.commands.gate import CODES


@click.command()
@click.argument("name", required=False)
@click.option("--agent", help=t("The system under test, as for proctor run (else agent in proctor.toml)."))
@options.of_run("agent_options")
@options.base_url
@options.of_run("judge judge_options concurrency")
@click.option(
    "--fresh", is_flag=True, help=t("Run every sample: take no trials over, and do not resume what was cut off.")
)
@options.decision
@options.of_run("store")
@options.showing
@click.pass_context
def command(
    ctx: click.Context,
    /,
    name: str | None,
    fresh: bool,
    out: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **given: object,
) -> None:
    from proctor.api import RunOptions
    from proctor.config import settings
    from proctor.engine.progress import Progress
    from proctor_ci import tier_pages
    from proctor_ci.tiers import find_tier, read_tiers, run_tier

    if name is None:
        for tier in read_tiers().values():
            output.line(f"{tier.name}: {', '.join(_described(task.task, task.limit) for task in tier.tasks)}")
        return
    found = find_tier(name)
    progress = Progress(tell=output.tell)
    how = RunOptions.usual(settings()).changed(options.nested(given))
    with output.watching(progress, quiet=quiet), redirect_stdout(sys.stderr):  # an agent may print
        result = run_tier(found, None, options=how, fresh=fresh, progress=progress)
    if as_json:
        output.json_text(tier_pages.as_json(result))
    else:
        page = tier_pages.page(result, lang())
        output.line(str(page.title))
        output.line()
        output.show(page.sections)
    for path in out:
        output.message(t("Wrote {path}.", path=tier_pages.write(result, Path(path), lang())))
    if result.decision is not None:
        ctx.exit(CODES[result.decision])
    is_open = result.left_out or any(run.record.state == "inconclusive" for run in result.runs)
    ctx.exit(3 if is_open else 0)


def _described(task: str, limit: int | None) -> str:
    return task if limit is None else f"{task} ({limit})"
