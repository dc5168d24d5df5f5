"""proctor judge winrate: sets of items against each other, blind and in both orders."""

from typing import Any

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.derived import gathered
from proctor.cli.long_help import long_command
from proctor.cli.words import t
from proctor.core.errors import BadInput

TASK = "judged-pairs:"


class PairingFlags(msgspec.Struct, frozen=True, kw_only=True):
    """How sets are compared: by whom and what, how often, and which items with which."""

    judge: str | None
    rubric: str | None
    repeats: int | None
    references: int | None
    pairing: str
    control: str


@long_command(
    "rubric judge judge-set repeats pair control limit map run out budget dry-run json",
    help=t(
        "Compare sets of items (files, or stored runs) blind and in both orders; more than two are ranked together."
    ),
)
@click.argument("sets", nargs=-1)
@click.option("--rubric", metavar="NAME|FILE", help=t("Whose dimensions say what is better (default: answer-quality)."))
@options.of_run("judge judge_options")
@click.option(
    "--repeats",
    type=options.AT_LEAST_ONE,
    help=t("How often each pair is judged, in both orders each time (default 1)."),
)
@click.option(
    "--references",
    type=options.AT_LEAST_ONE,
    help=t("With how many drawn items of the second set each item is compared (default 1)."),
)
@click.option(
    "--pair",
    "pairing",
    type=click.Choice(["auto", "id", "random"]),
    default="auto",
    help=t("Compare items with the same id, or with drawn ones; auto takes the ids where the sets share some."),
)
@click.option(
    "--control",
    type=click.Choice(["none", "length", "style"]),
    default="none",
    help=t("Estimate strengths as if all wrote equally long, or in the same style (default: none)."),
)
@options.items
@options.of_run("limit seed concurrency budget run_id accept_changes store")
@options.reports
@options.dry_run
@options.showing
@click.pass_context
@gathered("flags", PairingFlags)
def command(
    ctx: click.Context,
    /,
    sets: tuple[str, ...],
    flags: PairingFlags,
    run_id: str | None,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    reports: tuple[str, ...],
    **given: Any,
) -> None:
    from msgspec.structs import replace

    from proctor.api import resumable, run_task
    from proctor_judging.commands import judged

    more = {"repeats": flags.repeats, "systems": len(sets) if len(sets) > 2 else None}
    if more := {name: value for name, value in more.items() if value is not None}:
        given["judge_options"] = {**(given["judge_options"] or {}), **more}
    how = options.judging(flags.judge, {**given, "run_id": run_id})
    if sets:
        scorers = [f"pairwise:{flags.rubric}" if flags.rubric else "pairwise"]
        same = {name: given[name] for name in ("limit", "seed")}
        how = replace(how, scorers=scorers, options=_task_options(sets, flags, given), **same)
    elif run_id is None:
        raise BadInput("Name the sets to compare: proctor judge winrate mine.json theirs.json --judge openai:MODEL")
    if dry_run:
        task, asked = (TASK, how) if sets else resumable(str(run_id), given["store"])
        judged.show_rehearsal(judged.rehearse(task, asked), as_json=as_json)
        return
    with output.judging(quiet=quiet) as progress:
        how = replace(how, progress=progress)
        run = run_task(TASK, how) if sets else judged.resume(how)
    judged.print_judged(ctx, run, as_json=as_json, reports=reports)


def _task_options(sets: tuple[str, ...], flags: PairingFlags, given: dict[str, object]) -> dict[str, object]:
    options: dict[str, object] = {"sets": list(sets), "seed": given["seed"] or 0}
    if given["columns"]:
        options["columns"] = given["columns"]
    if flags.references is not None:
        options["references"] = flags.references
    if given["store"] is not None:
        options["store"] = given["store"]
    chosen = {"pairing": flags.pairing, "control": flags.control}
    return options | {name: value for name, value in chosen.items() if value not in ("auto", "none")}
