"""proctor team audit: who changed what in the web app."""

import os
from contextlib import closing

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.words import lang, t
from proctor.config import settings, store_url
from proctor.core.errors import needs


@click.command()
@options.of_run("store")
@click.option("--by", "name", metavar="USER", default="", help=t("Only what this user did."))
@click.option("--run", metavar="RUN", default="", help=t("Only what was done to this run."))
@click.option("--last", "most", type=click.IntRange(1, 1_000), default=50, help=t("How many lines (default 50)."))
@options.as_json
def command(store: str | None, name: str, run: str, most: int, as_json: bool) -> None:
    with needs("web", "proctor team audit"):
        from proctor_web.users.database import open_database
        from proctor_web.users.ledger import Ledger
    from proctor.reports.words import ReportWords
    from proctor.stores import default_path
    from proctor.stores.blobs import clean

    url = store_url(store, settings()) or os.fspath(default_path())
    with closing(Ledger(open_database(url, creates=False))) as ledger:
        entries = ledger.entries(name=clean(name), run=clean(run), most=most)
    if as_json:
        output.print_json({"entries": [msgspec.to_builtins(entry) for entry in entries]})
        return
    words = ReportWords(lang())
    for entry in entries:
        output.line(
            f"{words.when(entry.at)}  {entry.name or '-'} ({entry.role}, {entry.via}, {entry.address or '-'})  {entry.what}  {entry.run or '-'}  {entry.status or '-'}"
        )
    if not entries:
        output.message(t("The audit log has no such entry."))
