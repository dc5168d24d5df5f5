"""proctor inspect: what happened inside the trials that a number is made of?"""

import time
from shlex import quote
from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.words import lang, t
from proctor.runtime.visible import visible
from proctor_audit.commands.fields import FindingFields, InspectionFields, of_findings, of_inspections, print_checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from proctor_audit.inspector.inspection import Inspection
    from proctor_audit.inspector.sources import Located


@click.command(
    help=t(
        "Look for events in stored trajectories of runs, or in files of conversations (JSON lines with messages). Rules only, unless --judge names a model."
    )
)
@click.argument("sources", metavar="RUN|FILE...", nargs=-1)
@of_findings
@of_inspections
@options.of_run("store")
@options.as_json
@click.pass_context
@gathered("findings", FindingFields)
@gathered("trials", InspectionFields)
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    findings: FindingFields,
    trials: InspectionFields,
    store: str | None,
    as_json: bool,
) -> None:
    from proctor_audit.check import find_checks
    from proctor_audit.ignoring import find_ignore_file, read_ignore_file
    from proctor_audit.inspector.inspecting import RULES
    from proctor_audit.inspector.inspection import make_inspection
    from proctor_audit.inspector.labelling import read_plans, write_plan
    from proctor_audit.inspector.sources import count_unplayed, find_label_file, read_sources
    from proctor_audit.inspector.telling import lines_of_witness
    from proctor_audit.replaying import pick
    from proctor_audit.report import exit_code
    from proctor_audit.writing import check_file

    for path in findings.files:
        check_file(path)
    clock = time.perf_counter()
    replay = findings.replay
    chosen = findings.chosen if replay is None else (replay.partition(":")[0].partition(".")[0],)
    checks = find_checks(RULES, chosen, findings.skipped)
    if findings.listed:
        print_checks(checks)
        return
    if not sources:
        raise click.MissingParameter(ctx=ctx, param_hint="RUN|FILE", param_type="argument")
    located: Iterable[Located] = read_sources(sources, store)
    if trials.plan is not None or trials.judge is not None:
        located = list(located)
    inspection = make_inspection(
        ", ".join(sources),
        located,
        checks,
        read_ignore_file(find_ignore_file(findings.ignore, sources[0])),
        plans=read_plans(trials.labels),
        labels=find_label_file(sources, store),
        unplayed=count_unplayed(sources, store),
        command=f"proctor inspect {' '.join(map(quote, sources))}",
    )
    if trials.plan is not None:
        count = write_plan(trials.plan, inspection.lines, [*located], checks, trials.draw)
        output.line(
            t("{path}: {count} trials to label. Next: proctor judge review {path}", path=trials.plan, count=count)
        )
    elif replay is not None:
        for line in lines_of_witness(pick(inspection.report.findings, replay)):
            output.line(visible(line))
    else:
        if trials.judge is not None:
            inspection = _with_judge(inspection, [*located], trials.judge, trials.asked)
        _show(inspection, findings, as_json=as_json, seconds=time.perf_counter() - clock)
        ctx.exit(exit_code(inspection.report, findings.fail_on))


def _with_judge(inspection: "Inspection", trials: "Sequence[Located]", judge: str, asked: int) -> "Inspection":
    from proctor_audit.inspector.judged import add_judged
    from proctor_judging.judges.judge_options import make_asker

    return add_judged(inspection, trials, make_asker(judge, {}, 3), asked)


def _show(inspection: "Inspection", findings: FindingFields, *, as_json: bool, seconds: float) -> None:
    from proctor_audit.inspector.inspection import inspection_json
    from proctor_audit.inspector.telling import lines_of_inspection
    from proctor_audit.inspector.writing import write_inspection

    if as_json:
        output.print_json(inspection_json(inspection))
    else:
        for line in lines_of_inspection(inspection, seconds=seconds, every=findings.every):
            output.line(visible(line))
    for path in findings.files:
        output.message(t("Wrote {path}.", path=write_inspection(inspection, path, lang(), findings.fail_on)))
