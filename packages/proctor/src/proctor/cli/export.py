"""proctor runs export: a run as files for other programs."""

import click

from proctor.cli import options, output
from proctor.cli.words import t


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--format",
    "format",
    required=True,
    metavar="NAME",
    help=t(
        "The format: table, parquet, xlsx, junit, prometheus, otel, mlflow, wandb, model-card, inspect, adk, or the name of the benchmark (bfcl) for its official layout."
    ),
)
@click.option(
    "--out",
    "-o",
    metavar="PATH",
    help=t("Where to write: a file, a folder for official layouts, or for some formats the address of a server."),
)
@click.option(
    "--content",
    is_flag=True,
    help=t("For otel, mlflow and wandb: include what was said, with the reasons of verdicts."),
)
@click.option("--official", is_flag=True, help=t("Run the official tool on the export too, and show both numbers."))
@click.option(
    "--model",
    metavar="NAME",
    help=t("The model's name in an official layout or a model card, where it is not that of the agent."),
)
@options.skip_damaged
@options.of_run("store")
def command(
    run_id: str,
    format: str,
    out: str | None,
    official: bool,
    model: str | None,
    content: bool,
    skip_damaged: bool,
    store: str | None,
) -> None:
    from proctor.api import files, open_run
    from proctor.api.prepare import open_existing

    run = open_run(run_id, store=open_existing(store, skip_damaged=skip_damaged))
    if files.is_sent(format, out):
        output.line(t(files.send(run, format, out or "env", model, content=content)))
        return
    for path in files.export(run, format, out, model, content=content):
        output.line(path)
    output.name_damaged(run.store)
    if official:
        for name, ours, theirs in files.official(run, format, out, model):
            output.message(t("{name}: ours {ours}, official {theirs}", name=name, ours=ours, theirs=theirs))
