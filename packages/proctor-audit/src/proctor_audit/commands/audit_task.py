"""proctor data audit: may this task be trusted to tell good from bad?"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.long_help import long_command
from proctor.cli.words import lang, t
from proctor_audit.commands.fields import AuditFields, FindingFields, of_audits, of_findings, print_checks

if TYPE_CHECKING:
    from proctor_audit.audit import Audit
    from proctor_audit.report import AuditReport
    from proctor_audit.request import TaskRequest


@long_command(
    "map scorer id limit check skip fail-on replay out json",
    help=t(
        "Audit a task before it is run: may it be trusted to tell good from bad? No model is called, and no key is needed."
    ),
)
@click.argument("task", required=False)
@options.of_run("options")
@options.columns
@options.of_run("scorers tags ids limit first seed")
@of_findings
@of_audits
@options.of_run("store")
@options.as_json
@click.pass_context
@gathered("flags", FindingFields)
def command(ctx: click.Context, /, task: str | None, flags: FindingFields, as_json: bool, **given: Any) -> None:
    from msgspec.structs import replace

    from proctor.api import open_run
    from proctor.registry import is_path
    from proctor_audit.audited_runs import check_runs, measure_runs
    from proctor_audit.check import TASK_CHECKS, find_checks
    from proctor_audit.ignoring import find_ignore_file, read_ignore_file
    from proctor_audit.opening import open_audit
    from proctor_audit.printing import lines_of
    from proctor_audit.replaying import pick, replay_finding
    from proctor_audit.report import as_json as report_json
    from proctor_audit.report import exit_code, make_report, run_checks
    from proctor_audit.writing import check_file, write_report

    for path in flags.files:
        check_file(path)
    clock = time.perf_counter()
    replay = flags.replay
    paths = tuple(name for name in flags.chosen if is_path(name))
    replayed = "" if replay is None else replay.partition(":")[0]
    checks = find_checks(TASK_CHECKS, (*paths, replayed) if replayed else flags.chosen, flags.skipped)
    checks = [each for each in checks if replayed in ("", each.name)]
    if flags.listed:
        print_checks(checks)
        return
    request = _request(ctx, task, given, paths)
    ignore = find_ignore_file(flags.ignore, request.task)
    rules = read_ignore_file(ignore)
    audit = open_audit(request, seconds=given["seconds"], against=given["against"] or "")
    ctx.call_on_close(audit.close)
    names = [name.strip() for name in (given["runs"] or "").split(",") if name.strip()]
    runs = [open_run(name, store=given["store"]) for name in names]
    check_runs(audit.task, audit.samples, audit.main, runs)
    _add_outcomes(audit, names, given["store"])
    if replay is not None:
        if all("environment" in each.needs for each in checks):
            audit.narrow_to(replay.partition(":")[2])
        finding = pick(run_checks(audit, checks), replay)
        lines, differing = replay_finding(audit, finding)
        for line in lines:
            output.line(line)
        ctx.exit(1 if differing else 0)
    report = make_report(audit, checks, rules)
    report = replace(report, runs=measure_runs(audit.samples, audit.drawn, report.findings, runs))
    if as_json:
        output.print_json(report_json(report))
    else:
        for line in lines_of(report, seconds=time.perf_counter() - clock, every=flags.every):
            output.line(line)
    if not flags.chosen and not flags.skipped:
        _keep(audit, report, request, given["store"], ignore)
    for path in flags.files:
        output.message(t("Wrote {path}.", path=write_report(report, path, lang(), flags.fail_on)))
    ctx.exit(exit_code(report, flags.fail_on))


def _keep(
    audit: "Audit", report: "AuditReport", request: "TaskRequest", store: str | None, ignore: Path | None
) -> None:
    """Keep the audit of a whole task for the web app."""
    from proctor.config import settings, store_url
    from proctor.core.errors import BadInput
    from proctor.core.run import Selection
    from proctor_audit.keeping import audit_folders, keep_audit

    if request.selection == Selection():
        with suppress(BadInput):  # it was printed, and a folder that cannot be written takes nothing from that
            keep_audit(audit, report, request, audit_folders(store_url(store, settings()))[0], ignore)


def _add_outcomes(audit: "Audit", names: Sequence[str], store: str | None) -> None:
    """Give the audit what stored runs answered; without a store there is nothing."""
    from proctor.config import settings, store_url
    from proctor.core.errors import ProctorError
    from proctor.stores import default_path
    from proctor_audit.findings import NotChecked
    from proctor_audit.outcomes import read_outcomes

    url = store_url(store, settings()) or str(default_path())
    main = next((scorer for scorer in audit.scorers if scorer.name == audit.main), audit.main)
    if audit.scorers and (names or "://" in url or Path(url).exists()):
        try:
            reading = read_outcomes(audit.task, audit.samples, main, names, store)
        except ProctorError as error:
            if names or store:
                raise
            audit.why_no_outcomes = error.sentence  # nobody asked for what the usual store holds
        else:
            audit.outcomes, audit.why_no_outcomes = reading.outcomes, reading.why
            audit.not_checked += [NotChecked(check="consensus", cls="look", reason=each) for each in reading.left_out]


def _request(ctx: click.Context, task: str | None, given: Mapping[str, Any], paths: tuple[str, ...]) -> "TaskRequest":
    from proctor.core.run import Selection
    from proctor_audit.request import TaskRequest

    if task is None:
        raise click.MissingParameter(ctx=ctx, param_hint="TASK", param_type="argument")
    flags = options.nested({**given, "agent_options": None})
    further = [word for path in paths for word in ("--check", path)]
    further += ["--seconds", f"{given['seconds']:g}"] if given["seconds"] != AuditFields().seconds else []
    further += [word for name in ("runs", "against", "store") if given[name] for word in (f"--{name}", given[name])]
    selection = Selection(limit=flags["limit"], first=flags["first"], ids=tuple(flags["ids"]), tags=flags["tags"] or {})
    return TaskRequest(
        task=task,
        options=flags["options"] or {},
        scorers=tuple(flags["scorers"] or ()),
        selection=selection,
        seed=flags["seed"] or 0,
        further=tuple(further),
    )
