"""proctor runs: list, delete, copy, check, merge."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.core.run import RunRecord
    from proctor.core.task import Store


@click.command()
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@click.option("--yes", "-y", is_flag=True, help=t("Do not ask."))
@options.of_run("store")
def delete(run_ids: tuple[str, ...], yes: bool, store: str | None) -> None:
    from proctor.api.prepare import open_existing

    opened = open_existing(store)
    for record in [opened.run(run_id) for run_id in run_ids]:
        output.message(
            t(
                "{run}: {task}, {agent}, {count} trials",
                run=record.id,
                task=record.spec.task,
                agent=record.agent,
                count=record.planned,
            )
        )
    if not yes:
        if not sys.stdin.isatty():
            raise BadInput("Deleting cannot be undone. Add --yes to do it without being asked.")
        click.confirm(t("Delete for good?"), abort=True, err=True)
    for run_id in run_ids:
        opened.delete(run_id)
        output.message(t("Deleted {run}.", run=run_id))


@click.command()
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@click.option("--to", "target", metavar="URL", required=True, help=t("The store to copy to: a file or an address."))
@options.skip_damaged
@options.of_run("store")
def copy(run_ids: tuple[str, ...], target: str, skip_damaged: bool, store: str | None) -> None:
    from proctor.api import copy_run
    from proctor.api.prepare import open_existing

    source = open_existing(store, skip_damaged=skip_damaged)
    for run_id in run_ids:
        copy_run(run_id, source, target)
        output.message(t("Copied {run} to {target}.", run=run_id, target=target))
    output.name_damaged(source)


@click.command()
@click.argument("run_ids", metavar="[RUN]...", nargs=-1)
@options.of_run("store")
def check(run_ids: tuple[str, ...], store: str | None) -> None:
    from proctor.api.prepare import open_existing
    from proctor.stores.check import check_file, check_run

    opened = open_existing(store)
    faults = check_file(opened)
    for fault in faults:
        output.line(t(fault))
    for run_id in run_ids or [record.id for record in opened.runs()]:
        sentences = list(check_run(opened, run_id))
        faults += sentences
        for fault in sentences:
            output.line(t("{run}: {fault}", run=run_id, fault=fault))
        if not sentences:
            output.line(t("{run}: every record is whole", run=run_id))
    if faults:
        output.message(
            t(
                "What can be read is copied by: proctor runs copy RUN --skip-damaged --to FILE. The rest is then run again by: proctor run --run RUN --store FILE"
            )
        )
        sys.exit(1)


@click.command()
@click.argument("stores", metavar="STORE...", nargs=-1, required=True)
@click.option("--into", "target", metavar="URL", required=True, help=t("The store that gets the whole run."))
@click.option("--run", "run_id", metavar="ID", help=t("Which run, where the stores have shards of several."))
def merge(stores: tuple[str, ...], target: str, run_id: str | None) -> None:
    from proctor.api import merge_runs
    from proctor.api.prepare import check_existing

    for store in stores:
        check_existing(store)
    run = merge_runs(stores, target, run_id)
    output.message(
        t(
            "Merged {count} shards of {run} into {target}: {trials} trials.",
            count=len(stores),
            run=run.id,
            target=target,
            trials=run.record.planned,
        )
    )


@click.command()
@options.of_run("store")
@options.as_json
def listed(store: str | None, as_json: bool) -> None:
    import msgspec

    from proctor.api import runs
    from proctor.api.prepare import open_existing

    opened = open_existing(store)
    records = runs(store=opened)
    if as_json:
        output.print_json({"runs": [msgspec.to_builtins(record) for record in records]})
        return
    if not records:
        output.message(t("No runs yet. Start with: proctor demo"))
        return
    _print(records, opened)
    output.message(t("Kept in {store}", store=opened.url))


def _print(records: Sequence["RunRecord"], store: "Store") -> None:
    from proctor.api import Run
    from proctor.reports.words import ReportWords

    words, rows = ReportWords(lang()), []
    for record in records:
        figure = Run(record, store).headline
        shown = (
            "–"
            if figure is None or figure.value is None
            else f"{words.metric(figure.name)} {words.value(figure)} ({words.interval(figure)})"
        )
        state, planned, started = words.state(record.state), words.count(record.planned), words.when(record.created)
        rows.append((record.id, shown, record.spec.task, record.agent, state, planned, started))
    titles = (t("Run"), t("Figure"), t("Task"), t("Agent"), t("State"), t("Planned"), t("Started"))
    output.print_table(titles, rows, right=(5,))
