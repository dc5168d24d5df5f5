"""proctor show: the numbers of a run, or its failures."""

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t


@click.command(help=t("Show the numbers of a run, or its failures."))
@click.argument("run_id", metavar="RUN")
@click.option("--failures", is_flag=True, help=t("Show what went wrong, sample by sample."))
@options.store
@options.as_json
def command(run_id: str, failures: bool, store: str | None, as_json: bool) -> None:
    from proctor.api import open_run

    run = open_run(run_id, store=store)
    if not failures:
        output.print_run(run, as_json=as_json)
        return
    from proctor.reports import terminal
    from proctor.reports.build import build

    report = build(run.record, run.store, run.estimates)
    if as_json:
        output.print_json({"run": run.id, "failures": report.failures})
    else:
        terminal.failures(report, lang(), output.console())
