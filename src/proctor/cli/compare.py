"""proctor compare: two runs on the same samples."""

from pathlib import Path

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t


@click.command(help=t("Compare two runs on the same samples: is B better than A?"))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--out", metavar="FILE", help=t("Write a page too: .html, .md or .json."))
@click.option(
    "--detect",
    type=float,
    metavar="POINTS",
    help=t("Say how many samples it takes to find a difference of so many points."),
)
@options.store
@options.as_json
def command(first: str, second: str, out: str | None, detect: float | None, store: str | None, as_json: bool) -> None:
    from proctor.api import compare, open_run
    from proctor.api.files import write_comparison
    from proctor.reports import versus

    share = None if detect is None else detect / 100
    runs = open_run(first, store=store), open_run(second, store=store)
    comparison = compare(*runs, detect=share)
    if as_json:
        output.print_json({"comparison": comparison})
    else:
        versus.terminal(comparison, lang(), output.console())
    if out is not None:
        output.message(str(write_comparison(comparison, Path(out), lang(), runs)))
