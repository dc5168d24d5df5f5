"""proctor export: a run as files for other programs."""

import click

from proctor.cli import options, output
from proctor.cli.words import t


@click.command(help=t("Write a run as files for other programs."))
@click.argument("run_id", metavar="RUN")
@click.option(
    "--format",
    "format",
    required=True,
    help=t("The format: table, junit, or the name of the benchmark (bfcl) for its official layout."),
)
@click.option("--out", "-o", metavar="PATH", help=t("Where to write: a file, or a folder for official layouts."))
@click.option("--official", is_flag=True, help=t("Run the official tool on the export too, and show both numbers."))
@click.option(
    "--model", metavar="NAME", help=t("The model's name in the official layout, where it is not that of the agent.")
)
@options.store
def command(run_id: str, format: str, out: str | None, official: bool, model: str | None, store: str | None) -> None:
    from proctor.api import files, open_run

    run = open_run(run_id, store=store)
    for path in files.export(run, format, out, model):
        output.line(path)
    if official:
        for name, ours, theirs in files.official(run, format, out, model):
            output.message(t("{name}: ours {ours}, official {theirs}", name=name, ours=ours, theirs=theirs))
