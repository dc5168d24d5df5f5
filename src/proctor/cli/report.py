"""proctor report: a run as a page."""

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t


@click.command(help=t("Write a run as a page: HTML, Markdown, JSON or JUnit, by the suffix of the file."))
@click.argument("run_id", metavar="RUN")
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    help=t("The file to write: .html, .md, .json or .xml; FOLDER/ for several pages (default: RUN.html)."),
)
@options.given
@options.store
def command(run_id: str, out: str | None, given: tuple[str, ...], store: str | None) -> None:
    from proctor.api import open_run

    written = open_run(run_id, store=store, given=given).report(out or f"{run_id}.html", lang=lang())
    output.line(written)
    output.message(t("Report written."))
