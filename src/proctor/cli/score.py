"""proctor score: recorded replies, or new scores on a stored run."""

import click

from proctor.cli import options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput


@click.command(help=t("Score recorded replies; no agent is called. With --run, score a stored run anew."))
@click.argument("task", required=False)
@click.option(
    "--replies",
    metavar="FILE|DIR",
    help=t("The recorded replies: an official result file or folder, or JSON lines with id and answer."),
)
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    help=t("With a task: the name of the new run. Without: the stored run to score anew."),
)
@options.task_set
@options.scorer
@options.store
@options.as_json
def command(
    task: str | None,
    replies: str | None,
    run_id: str | None,
    task_set: tuple[str, ...],
    scorers: tuple[str, ...],
    store: str | None,
    as_json: bool,
) -> None:
    from proctor import api

    if task is not None and replies is not None:
        run = api.score(
            task,
            replies=replies,
            options=options.pairs(task_set, "--set"),
            scorers=scorers or None,
            store=store,
            run_id=run_id,
        )
    elif task is None and run_id is not None and scorers:
        run = api.rescore(run_id, scorers=scorers, store=store)
    else:
        raise BadInput("Use either: proctor score TASK --replies FILE, or: proctor score --run ID --scorer NAME")
    output.print_run(run, as_json=as_json)
    if not as_json:
        output.message(t("Run {run}. Look closer: proctor show {run} --failures · proctor report {run}", run=run.id))
