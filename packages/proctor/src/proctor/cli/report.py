"""proctor runs report: a run as a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor import registry
from proctor.cli import options, output
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    pass


@click.command(help=t("Write a run as a page: HTML, Markdown, JSON or JUnit, by the suffix of the file."))
@click.argument("run_id", metavar="RUN")
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    help=t("The file to write: .html, .md, .json or .xml; FOLDER/ for several pages (default: RUN.html)."),
)
@options.given
@options.reader
@options.skip_damaged
@options.of_run("store")
def command(
    run_id: str,
    out: str | None,
    given: tuple[str, ...],
    reader: str | None,
    skip_damaged: bool,
    store: str | None,
) -> None:
    from proctor.api import open_run
    from proctor.api.prepare import open_existing

    run = open_run(run_id, store=open_existing(store, skip_damaged=skip_damaged), given=given)
    if reader is None:
        written = run.report(out or f"{run_id}.html", lang=lang())
    else:
        from proctor.reports.pages import write

        page = registry.offered("readers", "run")(run, reader, lang(), output.tell)
        written = write(Path(out or f"{run_id}-{reader}.html"), page, lang())
    output.line(written)
    output.name_damaged(run.store)
    output.message(t("Report written."))
