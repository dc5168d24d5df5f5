"""proctor ci gate: may this run ship?"""

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor_ci.readers import Reader

CODES = {"go": 0, "no_go": 1, "inconclusive": 3}


class GateFlags(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is compared with, by which rules, and for whom."""

    against: str | None
    policy: str | None
    accept_changes: bool
    reader: "Reader | None"


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--against", metavar="RUN|NAME", help=t("The baseline: a run, or a name given by proctor ci baseline set.")
)
@click.option(
    "--policy",
    metavar="FILE",
    help=t("The rules, as proctor init gate writes them (default: ./gate.toml, else not worse by more than 5 points)."),
)
@options.decision
@click.option(
    "--accept-changes",
    is_flag=True,
    help=t("Compare although the task, its data, a scorer or a judge changed between the runs."),
)
@options.given
@options.reader
@options.of_run("store")
@options.as_json
@click.pass_context
@gathered("flags", GateFlags)
def command(
    ctx: click.Context,
    run_id: str,
    flags: GateFlags,
    out: tuple[str, ...],
    given: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    from proctor.api import Run, open_run
    from proctor_ci import pages
    from proctor_ci.gate import gate
    from proctor_ci.policy import FILE, find_policy

    policy, reader = flags.policy, flags.reader
    if policy is None and Path(FILE).is_file():
        policy = FILE
        output.message(t("Policy: {path}", path=policy))
    rules = None if policy is None else find_policy(policy)  # before the store is opened
    run = open_run(run_id, store=store, given=given)
    found = gate(run, against=flags.against, policy=rules, accept_changes=flags.accept_changes)
    page = None
    if reader is not None:
        from proctor_ci.readers import gate_page

        baseline = None if found.against is None else Run(found.against, run.store)
        page = gate_page(found, run, baseline, reader, lang())
    if as_json:
        output.json_text(pages.as_json(found))
    else:
        output.print_page(page or pages.page(found, lang()))
    for path in out:
        written = pages.write(found, Path(path), lang(), page)
        output.message(t("Wrote {path}.", path=written))
    ctx.exit(CODES[found.decision])
