"""proctor agree: how far people and judges say the same, and what a judge's numbers are worth."""

from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.api import Run
    from proctor.api.agree import Agreement, Held
    from proctor.calibration.calibrate import Row, Scale
    from proctor.core.run import Estimate
    from proctor.reports.pages import Section
    from proctor.reports.words import Words

MOST_SHOWN = 5


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
@options.store
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
    from proctor.api.agree import agree

    if not sources:
        raise BadInput("Name verification files, or runs, or both: proctor agree mine_verifications.json RUN")
    found = agree(sources, scorer=scorer, scale=scale_of(scale), least=least, store=store)
    if as_json:
        output.print_json({"agreement": output.with_english(found)})
    else:
        output.show(sections(found))
    if out is not None:
        output.write_page(out, t("Agreement"), sections(found))


def compare_with_labels(run: "Run", labels: "Sequence[str]", *, as_json: bool) -> "Run":
    """Compare the judge of a run with the labels of verification files, show the agreement unless as JSON, and return the run."""
    from proctor.api import open_run
    from proctor.api.agree import agree

    found = agree([run, *labels])
    if not as_json:
        output.show(sections(found))
    return open_run(run.id, store=run.store)


def scale_of(given: str | None) -> "Scale | None":
    """Return the scale that --scale names.

    Raises:
        BadInput: no two numbers, the lower one first.
    """
    from proctor.calibration.calibrate import Scale

    if given is None:
        return None
    try:
        low, high = (float(part) for part in given.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high < float("inf"):
        raise BadInput("A scale is two numbers, the lower one first, such as 1,5; not '{given}'.", given=given)
    return Scale(low=low, high=high)


def sections(found: "Agreement") -> "list[Section]":
    """Return the agreement as parts of a page."""
    from proctor.reports.words import Words

    words = Words(lang())
    shown: list[Section] = []
    if found.between_people:
        heading = t("Between people: {names}", names=", ".join(found.people))
        shown.append(_rows(heading, found.between_people, words, _apart(found, words)))
    if found.between_scorers:
        shown.append(_rows(t("Between judges: {names}", names=", ".join(found.scorers)), found.between_scorers, words))
    for held in found.held:
        shown.extend(sections_of_held(held, words))
    return shown


def sections_of_held(held: "Held", words: "Words") -> "list[Section]":
    """Return how one judge compares with people, and its figures next to the corrected ones."""
    from proctor.calibration.figures import CORRECTED

    heading = t("{judge} against people ({scorer}, run {run})", judge=held.judge, scorer=held.scorer, run=held.run)
    if not held.rows:
        return [output.section(heading, remarks=[t("No item that it judged was labelled.")])]
    remark = t("A difference above 0: the judge gives more than people.")
    shown = [_rows(heading, held.rows, words, [remark])]
    if held.corrected:
        raw = {one.name.removeprefix(f"{held.scorer}."): one for one in held.raw}
        shown.append(
            output.section(
                t(
                    "What people would say, from {labels} labels among {judged} judged items",
                    labels=held.labels,
                    judged=held.judged,
                ),
                columns=[t("Figure"), t("The judge says"), t("Corrected"), t("Method")],
                rows=[
                    [words.metric(name).replace("_", " "), _number(raw.get(name)), _number(one), words.t(one.method)]
                    for one in held.corrected
                    for name in [one.name.removesuffix(CORRECTED)]
                ],
                remarks=[f"{one.name}: {words.t(one.note)}" for one in held.corrected if one.value is None],
            )
        )
    return shown


def _rows(heading: str, rows: "Sequence[Row]", words: "Words", remarks: "Sequence[str]" = ()) -> "Section":
    columns = [t("Dimension"), t("Items"), t("The same"), "kappa", "alpha", t("Difference"), t("Verdict")]
    body = [
        [
            words.metric(row.name).replace("_", " "),
            words.count(row.alpha.scored),
            _number(row.equal),
            _number(row.kappa),
            _number(row.alpha),
            _number(row.difference),
            words.t(row.verdict),
        ]
        for row in rows
    ]
    keep = [place for place in range(len(columns)) if any(line[place] for line in body)]
    notes = {words.t(row.alpha.note): None for row in rows if row.alpha.note}
    return output.section(
        heading,
        columns=[columns[place] for place in keep],
        rows=[[line[place] for place in keep] for line in body],
        remarks=[*notes, *remarks],
    )


def _number(one: "Estimate | None") -> str:
    """Return a value with its interval, in few characters."""
    if one is None:
        return ""
    shown = [
        "–" if end is None else f"{end:.0%}" if one.unit == "share" else f"{end:.2f}"
        for end in (one.value, one.low, one.high)
    ]
    return shown[0] if one.low is None else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _apart(found: "Agreement", words: "Words") -> list[str]:
    remarks = []
    if len(found.raters_apart) > 2:
        far = found.raters_apart[0]
        remarks.append(
            t(
                "Farthest from the others: {name}, by {distance} of the scale on average (picked as the farthest, so without an interval).",
                name=far.name,
                distance=words.percent(far.distance),
            )
        )
    if found.items_apart:
        items = ", ".join(f"{one.name} ({words.percent(one.distance)})" for one in found.items_apart[:MOST_SHOWN])
        remarks.append(t("Items they disagree on most: {items}", items=items))
    return remarks
