"""proctor inspect: what happened inside the trials that a number is made of?"""

import time
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t
from proctor.runtime.visible import visible

if TYPE_CHECKING:
    from proctor_audit.inspector.inspection import Inspection
    from proctor_audit.report import FailOn


@click.command(
    help=t(
        "Look for events in stored trajectories of runs, or in files of conversations (JSON lines with messages). Rules only: no model is called."
    )
)
@click.argument("sources", metavar="RUN|FILE...", nargs=-1)
@click.option(
    "--check", "chosen", metavar="NAME", multiple=True, help=t("Only this check, or group such as I1; several times.")
)
@click.option("--skip", "skipped", metavar="NAME", multiple=True, help=t("Not this check or group; several times."))
@click.option(
    "--list", "listed", is_flag=True, help=t("List the checks: group, name, class, cost and one sentence each.")
)
@click.option(
    "--ignore",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=t("Accepted findings with reasons (default: proctor-ignore.toml next to the file, or here)."),
)
@click.option(
    "--fail-on",
    type=click.Choice(["proved", "likely", "never"]),
    default="proved",
    help=t("From which class on a finding makes the exit code 1 (default proved)."),
)
@click.option("--replay", metavar="FINDING", help=t("Show the steps of one finding, and the span in them."))
@click.option("--all", "every", is_flag=True, help=t("Print every finding, not five of each check."))
@click.option(
    "--labels",
    metavar="FILE",
    multiple=True,
    help=t(
        "Labels of people for drawn trials, a verification file of the review page; corrects how frequent an event is."
    ),
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=t("Write a random draw of trials to label for one --check, as items of the review page."),
)
@click.option("--draw", type=options.AT_LEAST_ONE, default=60, help=t("How many trials --plan draws (default 60)."))
@click.option(
    "--out",
    "-o",
    "files",
    type=click.Path(path_type=Path),
    metavar="FILE",
    multiple=True,
    help=t("Write it too: .html, .md, .json, .sarif or .xml (JUnit); several times."),
)
@options.of_run("store seed")
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    chosen: tuple[str, ...],
    skipped: tuple[str, ...],
    listed: bool,
    ignore: Path | None,
    fail_on: "FailOn",
    replay: str | None,
    every: bool,
    labels: tuple[str, ...],
    plan: Path | None,
    draw: int,
    files: tuple[Path, ...],
    store: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    from proctor_audit.check import find_checks
    from proctor_audit.ignoring import find_ignore_file, read_ignore_file
    from proctor_audit.inspector.inspecting import RULES
    from proctor_audit.inspector.inspection import make_inspection
    from proctor_audit.inspector.labelling import read_labels, write_plan
    from proctor_audit.inspector.sources import read_sources
    from proctor_audit.inspector.telling import lines_of_witness
    from proctor_audit.replaying import pick
    from proctor_audit.report import exit_code
    from proctor_audit.writing import check_file

    for path in files:
        check_file(path)
    clock = time.perf_counter()
    checks = find_checks(RULES, (replay.partition(":")[0],) if replay is not None else chosen, skipped)
    if listed:
        output.print_table(
            [t("group"), t("check"), t("class"), t("cost"), t("what it says")],
            [[each.group, each.name, t(each.cls), t(each.cost), t(each.title)] for each in checks],
        )
        return
    if not sources:
        raise click.MissingParameter(ctx=ctx, param_hint="RUN|FILE", param_type="argument")
    trials = read_sources(sources, store) if plan is None else [*read_sources(sources, store)]
    inspection = make_inspection(
        ", ".join(sources),
        trials,
        checks,
        read_ignore_file(find_ignore_file(ignore, sources[0])),
        labels=read_labels(labels),
        seed=seed or 0,
        command=f"proctor inspect {' '.join(map(quote, sources))}",
    )
    if plan is not None:
        count = write_plan(plan, inspection, list(trials), checks, draw)
        output.line(t("{path}: {count} trials to label. Next: proctor judge review {path}", path=plan, count=count))
    elif replay is not None:
        for line in lines_of_witness(pick(inspection.report.findings, replay)):
            output.line(visible(line))
    else:
        _show(inspection, files, fail_on, as_json=as_json, seconds=time.perf_counter() - clock, every=every)
        ctx.exit(exit_code(inspection.report, fail_on))


def _show(
    inspection: "Inspection",
    files: tuple[Path, ...],
    fail_on: "FailOn",
    *,
    as_json: bool,
    seconds: float,
    every: bool,
) -> None:
    from proctor_audit.inspector.inspection import inspection_json
    from proctor_audit.inspector.telling import lines_of_inspection
    from proctor_audit.inspector.writing import write_inspection

    if as_json:
        output.print_json(inspection_json(inspection))
    else:
        for line in lines_of_inspection(inspection, seconds=seconds, every=every):
            output.line(visible(line))
    for path in files:
        output.message(t("Wrote {path}.", path=write_inspection(inspection, path, lang(), fail_on)))
