"""proctor parity: our verdicts against recorded official ones."""

from pathlib import Path

import click

from proctor.cli import output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.reports.visible import visible

SHOWN = 10


@click.command(help=t("Check our verdicts against recorded official ones; exit 1 when one differs."))
@click.argument("name")
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option("--data", metavar="PATH", help=t("The benchmark's data, where it is not the pinned package."))
@click.pass_context
def command(ctx: click.Context, name: str, corpus: Path, data: str | None) -> None:
    from proctor.api.resolve import benchmark_part

    part = benchmark_part(name, "parity")
    if part is None:
        raise BadInput("There is no parity check for '{name}'. Known: {known}.", name=name, known=", ".join(_known()))
    if not corpus.is_file():
        raise BadInput("There is no file {path}.", path=corpus)
    checked = agree = differ = skipped = 0
    for line in part.check_corpus(corpus, data):
        checked += 1
        agree += line.agrees is True
        skipped += line.agrees is None
        differ += line.agrees is False
        if line.agrees is False and differ <= SHOWN:
            output.line(
                visible(
                    t(
                        "{id}: official {official}, ours {ours} ({rule})",
                        id=line.id,
                        official=line.official,
                        ours=line.ours,
                        rule=t(line.rule),
                    )
                )
            )
    output.line(
        t(
            "{checked} checked, {agree} agree, {differ} differ, {skipped} skipped",
            checked=checked,
            agree=agree,
            differ=differ,
            skipped=skipped,
        )
    )
    ctx.exit(1 if differ or not checked else 0)


def _known() -> list[str]:
    from proctor import registry
    from proctor.api.resolve import benchmark_part

    return [name for name in ("adk", *registry.names("benchmarks")) if benchmark_part(name, "parity") is not None]
