"""proctor explain: one sample of a run."""

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t


@click.command(help=t("Tell the whole story of one sample of a run."))
@click.argument("run_id", metavar="RUN")
@click.argument("sample_id", metavar="SAMPLE")
@click.option("--attempt", type=click.IntRange(min=0), default=1, help=t("Which attempt, counted from 1 (default 1)."))
@options.store
def command(run_id: str, sample_id: str, attempt: int, store: str | None) -> None:
    from proctor.api import open_run
    from proctor.reports.terminal import explain

    run = open_run(run_id, store=store)
    number = max(attempt - 1, 0)  # 0 was the first one in earlier releases
    explain(run.record, run.store, sample_id, number, lang(), output.console())
