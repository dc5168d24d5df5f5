"""proctor new: a folder to start from."""

from pathlib import Path

import click

from proctor.cli import output
from proctor.cli.words import t
from proctor.reports.visible import visible

ENDING = "-set"


@click.command(help=t("Write a set of questions to start from."))
@click.argument("kind")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(kind: str, folder: Path) -> None:
    from proctor import registry
    from proctor.api import resolve

    part = resolve.benchmark(kind.removesuffix(ENDING)) if kind.endswith(ENDING) else None
    if part is None or part.own is None:
        known = [f"{name}{ENDING}" for name, declared in resolve.benchmarks() if declared.own is not None]
        raise registry.unknown("template", kind, known, paths=False)
    for path in part.own.write_template(folder):
        output.line(visible(str(path)))
    benchmark = kind.removesuffix(ENDING)
    output.message(
        t("Fill it in, then check it: proctor data check {benchmark} {folder}", benchmark=benchmark, folder=folder)
    )
