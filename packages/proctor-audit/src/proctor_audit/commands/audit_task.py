"""proctor data audit: may this task be trusted to tell good from bad?"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli import options, output
from proctor.cli.long_help import long_command
from proctor.cli.words import t

if TYPE_CHECKING:
    from proctor_audit.opening import AuditRequest


@long_command(
    "map scorer id limit check skip list fail-on replay json",
    help=t(
        "Audit a task before it is run: may it be trusted to tell good from bad? No model is called, and no key is needed."
    ),
)
@click.argument("task", required=False)
@options.of_run("options")
@options.columns
@options.of_run("scorers tags ids limit first seed")
@click.option(
    "--check", "chosen", metavar="NAME", multiple=True, help=t("Only this check, or group such as A1; several times.")
)
@click.option("--skip", "skipped", metavar="NAME", multiple=True, help=t("Not this check or group; several times."))
@click.option(
    "--list", "listed", is_flag=True, help=t("List the checks: group, name, class, cost and one sentence each.")
)
@click.option(
    "--ignore",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=t("Accepted findings with reasons (default: proctor-ignore.toml next to the task, or here)."),
)
@click.option(
    "--fail-on",
    type=click.Choice(["proved", "likely", "never"]),
    default="proved",
    help=t("From which class on a finding makes the exit code 1 (default proved)."),
)
@click.option(
    "--replay", metavar="FINDING", help=t("Run the witness of one finding again, and show what the scorer said.")
)
@click.option("--all", "every", is_flag=True, help=t("Print every finding, not five of each check."))
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    /,
    task: str | None,
    chosen: tuple[str, ...],
    skipped: tuple[str, ...],
    listed: bool,
    ignore: Path | None,
    fail_on: Any,
    replay: str | None,
    every: bool,
    as_json: bool,
    **given: object,
) -> None:
    from proctor_audit.check import TASK_CHECKS, find_checks
    from proctor_audit.ignoring import find_ignore_file, read_ignore_file
    from proctor_audit.opening import open_audit
    from proctor_audit.printing import lines_of
    from proctor_audit.replaying import pick, replay_lines
    from proctor_audit.report import as_json as report_json
    from proctor_audit.report import exit_code, make_report, run_checks

    clock = time.perf_counter()
    named = (replay.partition(":")[0],) if replay is not None else chosen
    checks = find_checks(TASK_CHECKS, named, skipped)
    if listed:
        output.print_table(
            [t("group"), t("check"), t("class"), t("cost"), t("what it says")],
            [[each.group, each.name, t(each.cls), t(each.cost), t(each.title)] for each in checks],
        )
        return
    request = _request(ctx, task, given)
    rules = read_ignore_file(find_ignore_file(ignore, request.task))
    audit = open_audit(request)
    if replay is not None:
        for line in replay_lines(audit, pick(run_checks(audit, checks), replay)):
            output.line(line)
        return
    report = make_report(audit, checks, rules)
    if as_json:
        output.print_json(report_json(report))
    else:
        for line in lines_of(report, seconds=time.perf_counter() - clock, every=every):
            output.line(line)
    ctx.exit(exit_code(report, fail_on))


def _request(ctx: click.Context, task: str | None, given: Mapping[str, Any]) -> "AuditRequest":
    from proctor.core.run import Selection
    from proctor_audit.opening import AuditRequest

    if task is None:
        raise click.MissingParameter(ctx=ctx, param_hint="TASK", param_type="argument")
    flags = options.nested({**given, "agent_options": None})
    selection = Selection(limit=flags["limit"], first=flags["first"], ids=tuple(flags["ids"]), tags=flags["tags"] or {})
    return AuditRequest(
        task=task,
        options=flags["options"] or {},
        scorers=tuple(flags["scorers"] or ()),
        selection=selection,
        seed=flags["seed"] or 0,
    )
