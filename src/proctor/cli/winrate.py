"""proctor winrate: sets of items against each other, blind and in both orders."""

from typing import Any

import click

from proctor.cli import options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput


@click.command(
    help=t("Compare sets of items (files, or stored runs) blind and in both orders; more than two are ranked together.")
)
@click.argument("sets", nargs=-1)
@click.option("--rubric", metavar="NAME|FILE", help=t("Whose dimensions say what is better (default: answer-quality)."))
@options.judge
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
@options.limit
@options.seed
@options.concurrency
@options.budget
@options.run
@options.accept_changes
@options.store
@options.reports
@options.dry_run
@options.as_json
@options.quiet
@click.pass_context
def command(
    ctx: click.Context,
    /,
    sets: tuple[str, ...],
    rubric: str | None,
    judge: str | None,
    run_id: str | None,
    accept_changes: bool,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    reports: tuple[str, ...],
    **given: Any,
) -> None:
    from proctor import api

    how = options.how_of(judge, given)
    more = {"repeats": given["repeats"], "systems": len(sets) if len(sets) > 2 else None}
    more = {name: value for name, value in more.items() if value is not None}
    if more:
        how["judge_options"] = {**(how["judge_options"] or {}), **more}
    if sets:
        how |= {
            "task": "judged-pairs:",
            "agent": "recorded:",
            "scorers": [f"pairwise:{rubric}" if rubric else "pairwise"],
            "options": _task_options(sets, given),
            "limit": given["limit"],
            "seed": given["seed"] or 0,
        }
    elif run_id is None:
        raise BadInput("Name the sets to compare: proctor winrate mine.json theirs.json --judge openai:MODEL")
    if dry_run:
        _show_plan(how, run_id, is_new=bool(sets), as_json=as_json)
        return
    with output.judging(quiet=quiet) as progress:
        if sets:
            run = api.evaluate(**how, run_id=run_id, accept_changes=accept_changes, progress=progress)
        else:
            run = output.gone_on(str(run_id), how, progress, accept_changes=accept_changes)
    output.print_judged(ctx, run, progress, as_json=as_json, reports=reports)


def _show_plan(how: dict[str, Any], run_id: str | None, *, is_new: bool, as_json: bool) -> None:
    from proctor.api.prepare import how_of
    from proctor.api.rehearse import rehearse
    from proctor.cli.plan import show_judging

    found = rehearse({**(how if is_new else how_of(str(run_id), how["store"])), "run_id": run_id})
    show_judging(found, as_json=as_json)


def _task_options(sets: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"sets": list(sets), "seed": given["seed"] or 0}
    if given["mapped"]:
        found["columns"] = options.texts(given["mapped"], "--map")
    if given["references"] is not None:
        found["references"] = given["references"]
    if given["store"] is not None:
        found["store"] = given["store"]
    return found | {name: given[name] for name in ("pairing", "control") if given[name] not in ("auto", "none")}
