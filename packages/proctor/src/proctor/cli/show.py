"""proctor show: the numbers of a run, or its failures."""

from typing import TYPE_CHECKING

import click

from proctor.cli import minimum, options, output
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor.api.check import By


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--failures", is_flag=True, help=t("Show what went wrong, sample by sample."))
@options.given
@minimum.minimum
@options.of_run("store")
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    run_id: str,
    failures: bool,
    given: tuple[str, ...],
    least: tuple[str, ...],
    min_by: "By",
    store: str | None,
    as_json: bool,
) -> None:
    from proctor.api import open_run

    run = open_run(run_id, store=store, given=given)
    if not as_json:
        output.message(t("Every sample: proctor runs samples {run}", run=run.id))
    if not failures:
        ctx.exit(minimum.print_compared(run, minimum.minima(least), min_by, as_json=as_json))
    from proctor.reports import terminal
    from proctor.reports.build import build

    report = build(run.record, run.store, run.estimates)
    if as_json:
        output.print_json({"run": run.id, "failures": report.failures})
    else:
        terminal.failures(report, lang(), output.console())
