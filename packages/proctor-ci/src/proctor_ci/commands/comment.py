"""proctor ci comment: one summary on a pull request."""

from pathlib import Path

import click

from proctor.cli import output
from proctor.cli.words import t
from proctor.runtime.files import reading

MOST_BYTES = 1_000_000


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--name",
    default="proctor",
    show_default=True,
    help=t("Which comment it is, where a request has several; the one of that name is changed."),
)
def command(file: Path, name: str) -> None:
    from proctor_ci.pull_request import post_summary

    with reading(file), file.open("rb") as opened:
        text = opened.read(MOST_BYTES).decode("utf-8", "replace")
    output.message(t(post_summary(text, name)))
