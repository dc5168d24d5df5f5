"""proctor compare: two runs on the same samples."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from proctor import registry
from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor.stats.paired import Decision

CODES = {"go": 0, "no_go": 1, "inconclusive": 3}


class ComparisonFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a comparison, and where it is written."""

    detect: float | None
    margin: float | None
    given: tuple[str, ...]
    reader: str | None
    out: str | None


@click.command(help=t("Compare two runs on the same samples: is B better than A?"))
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--out", "-o", metavar="FILE", help=t("Write a page too: .html, .md or .json."))
@click.option(
    "--detect",
    type=float,
    metavar="POINTS",
    help=t("Say how many samples it takes to find a difference of POINTS points."),
)
@click.option(
    "--fail-if-worse",
    "margin",
    type=click.FloatRange(0, 100),
    is_flag=False,
    flag_value=0.0,
    metavar="[POINTS]",
    help=t(
        "Exit with 1 where B is shown to be worse (by more than POINTS, if given), 0 where it is shown not to be, 3 where neither is shown."
    ),
)
@options.given
@options.reader
@options.of_run("store")
@options.as_json
@click.pass_context
@gathered("flags", ComparisonFlags)
def command(
    ctx: click.Context, first: str, second: str, flags: ComparisonFlags, store: str | None, as_json: bool
) -> None:
    from proctor.api import compare, open_run
    from proctor.api.files import write_comparison
    from proctor.reports import versus
    from proctor.reports.verdicts import gate

    margin, reader = flags.margin, flags.reader
    share = None if flags.detect is None else flags.detect / 100
    runs = open_run(first, store=store), open_run(second, store=store, given=flags.given)
    comparison = compare(*runs, detect=share)
    decision = None if margin is None else gate(comparison.rows[0], margin / 100)
    if as_json:
        more = {} if decision is None else {"gate": {"margin": margin, "decision": decision}}
        output.print_json({"comparison": comparison, **more})
    elif reader is None:
        versus.terminal(comparison, lang(), output.console())
    if reader is not None:
        page = registry.offered("readers", "comparison")(comparison, runs, reader, lang())
        output.print_or_write(page, flags.out, quiet=as_json)
    elif flags.out is not None:
        output.message(str(write_comparison(comparison, Path(flags.out), lang(), runs)))
    if decision is not None:
        output.message(_decision_text(decision, margin or 0.0))
        ctx.exit(CODES[decision])


def _decision_text(decision: "Decision", points: float) -> str:
    if points:
        texts = {
            "go": t("met: B is not worse by more than {points} points.", points=f"{points:g}"),
            "no_go": t("missed: B is worse by more than {points} points.", points=f"{points:g}"),
            "inconclusive": t("inconclusive: whether B is worse by more than {points} points.", points=f"{points:g}"),
        }
        return texts[decision]
    texts = {
        "go": t("met: B is better."),
        "no_go": t("missed: B is worse."),
        "inconclusive": t(
            "inconclusive: B is neither shown to be worse nor to be better. A margin would help: --fail-if-worse 5"
        ),
    }
    return texts[decision]
