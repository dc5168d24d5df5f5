"""proctor data twins: the same questions with other names, numbers and orders of options."""

from pathlib import Path
from typing import Any

import click

from proctor.cli import options, output
from proctor.cli.words import t


@click.command(
    help=t("Write twins of questions, to see what a model earns that does not remember them. No model is called.")
)
@click.argument("file")
@click.option(
    "--out",
    "-o",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=t("Where to write a file of the same name."),
)
@options.of_run("options")
@options.columns
@options.of_run("seed")
@options.as_json
def command(file: str, folder: Path, seed: int | None, as_json: bool, **given: Any) -> None:
    import msgspec

    from proctor_audit.request import TaskRequest
    from proctor_audit.twins import write_twins

    named = options.nested({**given, "agent_options": None})
    report = write_twins(TaskRequest(task=file, options=named["options"] or {}, seed=seed or 0), folder)
    if as_json:
        output.print_json(msgspec.to_builtins(report))
        return
    kinds = ", ".join(f"{kind} {count}" for kind, count in report.kinds.items())
    output.line(t("{twins} of {rows} rows have a twin: {kinds}", twins=report.twins, rows=report.rows, kinds=kinds))
    if report.without:
        output.line(
            t(
                "without a twin: {count}, as nothing in them can be changed so that the answer follows",
                count=report.without,
            )
        )
    output.message(t("Wrote {path}.", path=report.file))
