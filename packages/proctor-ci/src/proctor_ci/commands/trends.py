"""proctor ci trends: the number of an agent over time."""

from pathlib import Path

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t

ROWS = 15


@click.command()
@click.argument("task", default="")
@click.option("--agent", default="", help=t("The agent, as `proctor runs` names it (default: that of the newest run)."))
@click.option(
    "--baseline",
    metavar="RUN|NAME",
    default="",
    help=t("Compare every run with this one, instead of with the one before."),
)
@click.option(
    "--last",
    type=click.IntRange(2, 10_000),
    default=50,
    show_default=True,
    help=t("How many runs are shown; changes are looked for in the newest fifty."),
)
@click.option(
    "--out",
    "-o",
    metavar="FILE",
    multiple=True,
    help=t("Write it too: .html, .md or .json; may be given several times."),
)
@options.of_run("store")
@options.as_json
def command(
    task: str, agent: str, baseline: str, last: int, out: tuple[str, ...], store: str | None, as_json: bool
) -> None:
    from proctor_ci import trend_pages
    from proctor_ci.trends import trends

    trend = trends(task, agent=agent, baseline=baseline, last=last, store=store)
    if as_json:
        output.json_text(trend_pages.as_json(trend))
    else:
        output.show(trend_pages.page(trend, lang(), rows=ROWS).sections)
        if len(trend.points) > ROWS:
            output.message(t("Older runs are in --json and in a page: --out trend.html"))
    for path in out:
        output.message(t("Wrote {path}.", path=trend_pages.write(trend, Path(path), lang())))
