"""proctor ci baseline: names for runs that others are compared with."""

import click

from proctor.cli import options, output
from proctor.cli.words import t


@click.group()
def command() -> None:
    pass


@command.command("set", help=t("Make a run the baseline of a name, in place of the one that was it."))
@click.argument("name")
@click.argument("run_id", metavar="RUN")
@options.of_run("store")
def set_(name: str, run_id: str, store: str | None) -> None:
    from proctor.api import open_run
    from proctor.api.baselines import baselines
    from proctor_ci.baselines import set_baseline

    run = open_run(run_id, store=store)
    before = baselines(run.store).get(name)
    set_baseline(run.store, name, run.id)
    if before is not None and before != run.id:
        output.message(t("Until now it was {run}.", run=before))
    output.line(f"{name}: {run.id}")


@command.command("list", help=t("List the baselines of the store."))
@options.of_run("store")
@options.as_json
def list_(store: str | None, as_json: bool) -> None:
    from proctor.api.baselines import baselines
    from proctor.api.prepare import open_existing

    opened = open_existing(store)
    named = baselines(opened)
    if as_json:
        output.print_json({"baselines": named})
        return
    if not named:
        output.message(t("No baseline has a name yet: proctor ci baseline set NAME RUN"))
        return
    records = {record.id: record for record in opened.runs()}
    rows = [
        (name, run_id, records[run_id].task, records[run_id].agent)
        for name, run_id in named.items()
        if run_id in records
    ]
    output.print_table([t("Baseline"), t("Run"), t("Task"), t("Agent")], rows)


@command.command("remove", help=t("Remove a name; the run stays."))
@click.argument("name")
@options.of_run("store")
def remove(name: str, store: str | None) -> None:
    from proctor.api.prepare import open_existing
    from proctor_ci.baselines import find_baseline, remove_baseline

    opened = open_existing(store)
    run_id = find_baseline(opened, name)
    remove_baseline(opened, name)
    output.line(f"{name}: {run_id}")
