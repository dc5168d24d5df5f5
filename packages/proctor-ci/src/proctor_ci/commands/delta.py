"""proctor ci delta: why a number moved between two runs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor.core.run import Budget


class DeltaFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Which number is explained, by which slices, and whether judges may be asked again."""

    scorer: str | None
    by: str | None
    ask_judge: bool
    budget: "Budget | None"


@click.command(
    help=t("Say why the number of B is another one than that of A: parts in points that sum to the difference.")
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--scorer", metavar="NAME", help=t("Whose number it is (default: the first that both runs have)."))
@click.option("--by", metavar="TAG", help=t("The tag that names slices (default: the one by which the task is drawn)."))
@click.option(
    "--ask-judge",
    is_flag=True,
    help=t("Where the judge changed, ask it again about the answers of the other run; nothing is written to the runs."),
)
@options.of_run("budget")
@click.option("--out", "-o", metavar="FILE", help=t("Write a page too: .html, .md or .json."))
@options.of_run("store")
@options.showing
@gathered("flags", DeltaFlags)
def command(
    first: str, second: str, flags: DeltaFlags, out: str | None, store: str | None, as_json: bool, quiet: bool
) -> None:
    from proctor.api import open_run
    from proctor_ci import delta_pages
    from proctor_ci.delta import explain_delta

    runs = open_run(first, store=store), open_run(second, store=store)
    with output.judging(quiet=quiet or not flags.ask_judge) as progress:
        delta = explain_delta(
            *runs,
            scorer=flags.scorer or "",
            by=flags.by,
            ask_judge=flags.ask_judge,
            budget=flags.budget,
            progress=progress,
        )
    if as_json:
        output.print_json(delta_pages.as_data(delta))
    else:
        page = delta_pages.page(delta, lang(), runs)
        output.line(page.title)
        output.print_page(page)
    if out is not None:
        output.message(t("Wrote {path}.", path=delta_pages.write_delta(delta, Path(out), lang(), runs)))
