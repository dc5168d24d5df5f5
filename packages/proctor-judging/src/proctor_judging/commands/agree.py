"""proctor judge agree: how far people and judges say the same, and what a judge's numbers are worth."""

from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.api import Run
    from proctor_judging.judges.calibrate import Scale


@click.command(
    help=t("How far people and judges agree: verification files, and runs whose judge is compared with the people.")
)
@click.argument("sources", metavar="FILE|RUN...", nargs=-1)
@click.option("--scorer", metavar="NAME", help=t("Only this scorer of the runs."))
@click.option(
    "--scale", metavar="LOW,HIGH", help=t("The scale of the labels (default: that of the judge's rubric, else 1,5).")
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    help=t(
        "What the lower end of alpha has to reach, so that a judge is no longer called uncalibrated (default 0.667)."
    ),
)
@options.page
@options.of_run("store")
@options.as_json
def command(
    sources: tuple[str, ...],
    scorer: str | None,
    scale: str | None,
    least: float | None,
    out: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    from proctor.reports.words import ReportWords
    from proctor_judging.review.agree import agree
    from proctor_judging.review.agree_page import sections

    if not sources:
        raise BadInput("Name verification files, or runs, or both: proctor judge agree mine_verifications.json RUN")
    agreement = agree(sources, scorer=scorer, scale=scale_of(scale), least=least, store=store)
    if as_json:
        output.print_json({"agreement": output.with_english(agreement)})
    else:
        output.show(sections(agreement, ReportWords(lang())))
    if out is not None:
        from proctor_judging.commands.judged import write_page

        write_page(out, t("Agreement"), sections(agreement, ReportWords(lang())))


def compare_with_labels(run: "Run", labels: "Sequence[str]", *, as_json: bool) -> "Run":
    """Compare the judge of a run with the labels of verification files, show the agreement unless as JSON, and return the run."""
    from proctor.api import open_run
    from proctor.reports.words import ReportWords
    from proctor_judging.review.agree import agree
    from proctor_judging.review.agree_page import sections

    agreement = agree([run, *labels])
    if not as_json:
        output.show(sections(agreement, ReportWords(lang())))
    return open_run(run.id, store=run.store)


def scale_of(given: str | None) -> "Scale | None":
    """Return the scale that --scale names.

    Raises:
        BadInput: no two numbers, the lower one first.
    """
    from proctor_judging.judges.calibrate import Scale

    if given is None:
        return None
    try:
        low, high = (float(part) for part in given.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high < float("inf"):
        raise BadInput("A scale is two numbers, the lower one first, such as 1,5; not '{given}'.", given=given)
    return Scale(low=low, high=high)
