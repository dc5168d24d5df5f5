"""proctor judge probe: does something sway a judge that must not count?"""

from typing import TYPE_CHECKING, Any

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.long_help import long_command
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor.reports.pages import SectionBlock
    from proctor.reports.words import ReportWords
    from proctor_judging.tasks.probe_findings import ProbeFinding
    from proctor_judging.tasks.probing import Probed, ProbeSet

JUDGED = {"pairs": "in pairs", "points": "by points"}
PROBES = "position, length, style, self, stability, labels, injection"


class ProbeFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge is probed with, and how large a bias matters."""

    rubric: str | None
    items: str | None
    probes: tuple[str, ...]
    kinds: tuple[str, ...]
    limit: int | None
    margin: float

    def wanted(self) -> "ProbeSet":
        from proctor_judging.tasks.probing import ProbeSet

        return ProbeSet(
            rubric=self.rubric or "", items=self.items or "", probes=self.probes, kinds=self.kinds, limit=self.limit
        )


@long_command(
    "rubric judge-set probe kind limit margin items concurrency budget run out dry-run json",
    help=t(
        "Probe a judge for bias: position, length, style, its own answers, repetition, labels, orders in the answer."
    ),
)
@click.argument("judge", required=False)
@click.option("--rubric", metavar="NAME|FILE", help=t("What it judges by (default: answer-quality)."))
@click.option(
    "--items",
    metavar="FILE",
    help=t(
        "Questions with answers of your own: question, answer, other, own, human (default: 24 that come with Proctor)."
    ),
)
@click.option(
    "--probe",
    "probes",
    metavar="NAME",
    multiple=True,
    help=t("Only this probe: {probes}; may be given several times.", probes=PROBES),
)
@click.option("--kind", "kinds", metavar="pairs|points", multiple=True, help=t("Only in pairs, or only by points."))
@click.option("--limit", type=options.AT_LEAST_ONE, help=t("Take the first N items."))
@click.option(
    "--margin",
    type=float,
    default=0.15,
    help=t("How large a bias matters: beyond it the judge is biased, within it fine (default 0.15)."),
)
@options.of_run("judge_options concurrency budget run_id accept_changes store")
@options.page
@options.dry_run
@options.showing
@click.pass_context
@gathered("flags", ProbeFlags)
def command(
    ctx: click.Context,
    /,
    judge: str | None,
    flags: ProbeFlags,
    judge_options: dict[str, object] | None,
    out: str | None,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    **given: Any,
) -> None:
    from proctor_judging.commands import judged
    from proctor_judging.tasks.probing import how_to_probe, probe

    model_options = options.judge_options(judge, judge_options)
    if dry_run:
        kept = {name: given[name] for name in ("store", "run_id")}
        task, how = how_to_probe(judge, flags.wanted(), model_options, **kept)
        judged.show_rehearsal(judged.rehearse(task, how), as_json=as_json)
        return
    with output.judging(quiet=quiet) as progress:
        probed = probe(
            judge, flags.wanted(), judge_options=model_options, margin=flags.margin, progress=progress, **given
        )
    if as_json:
        _print_json(probed)
    else:
        output.show([section(probed)])
        output.look_closer(probed.run)
    if out is not None:
        judged.write_page(out, t("Probes of {judge}", judge=probed.judge), [section(probed)])
    ctx.exit(1 if probed.is_biased else 3 if probed.is_unclear else 0)


def _print_json(probed: "Probed") -> None:
    record = probed.run.record
    output.print_json(
        {
            "run": record.id,
            "state": record.state,
            "judge": probed.judge,
            "rubric": probed.rubric,
            "findings": output.with_english(probed.findings),
            "usage": probed.run.usage,
        }
    )


def section(found: "Probed") -> "SectionBlock":
    """Return the findings as a part of a page."""
    from proctor.reports import pages
    from proctor.reports.words import ReportWords

    words = ReportWords(lang())
    remarks = [f"{finding.probe}, {t(JUDGED[finding.judged])}: {t(finding.reading)}" for finding in found.findings]
    return pages.section(
        t("Probes of {judge}, by {rubric}", judge=found.judge, rubric=found.rubric),
        columns=[
            t("Probe"),
            t("Judged"),
            t("Items"),
            t("Value"),
            t("95% interval"),
            t("Both orders the same"),
            t("Verdict"),
        ],
        rows=[
            [
                finding.probe,
                t(JUDGED[finding.judged]),
                words.count(finding.items),
                words.percent(finding.value),
                words.span(finding.low, finding.high),
                _consistency(finding, words),
                _verdict(finding, words),
            ]
            for finding in found.findings
        ],
        remarks=remarks,
    )


def _consistency(one: "ProbeFinding", words: "ReportWords") -> str:
    if one.consistency is None:
        return ""
    return f"{words.percent(one.consistency)} [{words.span(one.consistency_low, one.consistency_high)}]"


def _verdict(one: "ProbeFinding", words: "ReportWords") -> str:
    said = words.t(one.words)
    missing = one.planned - one.scored
    return (
        said
        if not missing
        else t("{verdict} ({missing} of {planned} not judged)", verdict=said, missing=missing, planned=one.planned)
    )
