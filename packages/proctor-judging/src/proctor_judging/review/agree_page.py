"""Show how far people and judges agree as parts of a page: on a terminal, in a file, in the web app."""

from collections.abc import Sequence

from proctor.core.run import Estimate
from proctor.engine.judge_figures import CORRECTED
from proctor.reports.pages import SectionBlock, section
from proctor.reports.words import ReportWords
from proctor_judging.judges.calibrate import AgreementRow
from proctor_judging.review.agree import AgreedScorer, Agreement

MOST_SHOWN = 5


def sections(found: Agreement, words: ReportWords) -> list[SectionBlock]:
    shown: list[SectionBlock] = []
    if found.between_people:
        heading = words.t("Between people: {names}", names=", ".join(found.people))
        shown.append(_rows(heading, found.between_people, words, _apart(found, words)))
    if found.between_scorers:
        shown.append(
            _rows(words.t("Between judges: {names}", names=", ".join(found.scorers)), found.between_scorers, words)
        )
    for held in found.held:
        shown.extend(sections_of_held(held, words))
    return shown


def sections_of_held(held: AgreedScorer, words: ReportWords) -> list[SectionBlock]:
    """Return how one judge compares with people, and its figures next to the corrected ones."""
    heading = words.t(
        "{judge} against people ({scorer}, run {run})", judge=held.judge, scorer=held.scorer, run=held.run
    )
    if not held.rows:
        return [section(heading, remarks=[words.t("No item that it judged was labelled.")])]
    remarks = [words.t("A difference above 0: the judge gives more than people.")]
    remarks += [words.t(sentence) for sentence in held.left_out]
    if not held.corrected:
        remarks.append(words.t(held.calibration))
    shown = [_rows(heading, held.rows, words, remarks)]
    if held.corrected:
        raw = {estimate.name.removeprefix(f"{held.scorer}."): estimate for estimate in held.raw}
        shown.append(
            section(
                words.t(
                    "What people would say, from {labels} labels among {judged} judged items",
                    labels=held.labels,
                    judged=held.judged,
                ),
                columns=[words.t("Figure"), words.t("The judge says"), words.t("Corrected"), words.t("Method")],
                rows=[
                    [
                        words.metric(name).replace("_", " "),
                        _number(raw.get(name)),
                        _number(estimate),
                        words.t(estimate.method),
                    ]
                    for estimate in held.corrected
                    for name in [estimate.name.removesuffix(CORRECTED)]
                ],
                remarks=[
                    f"{estimate.name}: {words.t(estimate.note)}"
                    for estimate in held.corrected
                    if estimate.value is None
                ],
            )
        )
    return shown


def _rows(heading: str, rows: Sequence[AgreementRow], words: ReportWords, remarks: Sequence[str] = ()) -> SectionBlock:
    columns = [
        words.t("Dimension"),
        words.t("Items"),
        words.t("The same"),
        "kappa",
        "alpha",
        words.t("Difference"),
        words.t("Verdict"),
    ]
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
    keep = [index for index in range(len(columns)) if any(line[index] for line in body)]
    notes = {words.t(row.alpha.note): None for row in rows if row.alpha.note}
    return section(
        heading,
        columns=[columns[index] for index in keep],
        rows=[[line[index] for index in keep] for line in body],
        remarks=[*notes, *remarks],
    )


def _number(one: Estimate | None) -> str:
    """Return a value with its interval, in few characters."""
    if one is None:
        return ""
    shown = [
        "–" if end is None else f"{end:.0%}" if one.unit == "share" else f"{end:.2f}"
        for end in (one.value, one.low, one.high)
    ]
    return shown[0] if one.low is None else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _apart(found: Agreement, words: ReportWords) -> list[str]:
    remarks = []
    if len(found.raters_apart) > 2:
        far = found.raters_apart[0]
        remarks.append(
            words.t(
                "Farthest from the others: {name}, by {distance} of the scale on average (picked as the farthest, so without an interval).",
                name=far.name,
                distance=words.percent(far.distance),
            )
        )
    if found.items_apart:
        items = ", ".join(f"{one.name} ({words.percent(one.distance)})" for one in found.items_apart[:MOST_SHOWN])
        remarks.append(words.t("Items they disagree on most: {items}", items=items))
    return remarks
