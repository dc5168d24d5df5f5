"""proctor runs samples: every sample of a run with its answer and scores."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import derived, options, output
from proctor.cli.words import lang, t
from proctor.core.errors import BadInput
from proctor.core.trial import OUTCOMES

if TYPE_CHECKING:
    from proctor.api import Run
    from proctor.reports.story import Story


class SampleFlags(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples of a run are listed."""

    outcome: str | None
    tags: dict[str, str] | None
    scorer: str | None
    max_score: float | None
    search: str | None
    limit: int | None


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--outcome", type=click.Choice(OUTCOMES), help=t("Only trials that ended so."))
@derived.several("--tag", "tags", t("Only samples with this tag; may be given several times."))
@click.option("--scorer", metavar="NAME", help=t("Only trials with a score of this scorer."))
@click.option(
    "--max-score",
    type=float,
    metavar="SHARE",
    help=t("Only trials with at most this share of the points, such as 0.5."),
)
@click.option(
    "--search", metavar="TEXT", help=t("Only samples with this text in id, question, reference answer or answer.")
)
@click.option("--limit", type=options.AT_LEAST_ONE, help=t("List at most this many."))
@click.option("--jsonl", "as_lines", is_flag=True, help=t("One JSON object for each sample, a line each."))
@options.skip_damaged
@options.of_run("store")
@options.as_json
@derived.gathered("flags", SampleFlags)
def command(
    run_id: str, flags: SampleFlags, as_lines: bool, skip_damaged: bool, store: str | None, as_json: bool
) -> None:
    from proctor.api import open_run
    from proctor.api.prepare import open_existing
    from proctor.reports.samples import ReportFilter, as_object, select_samples

    run = open_run(run_id, store=open_existing(store, skip_damaged=skip_damaged))
    scorer = flags.scorer
    if scorer is not None and scorer not in run.record.scorers:
        known = ", ".join(run.record.scorers) or "-"
        raise BadInput("The run {run} has no scorer '{name}'. It has: {known}.", run=run.id, name=scorer, known=known)
    wanted = ReportFilter(
        outcome=flags.outcome,  # type: ignore[arg-type]  # one of the outcomes, as the option checked
        scorer=scorer,
        max_score=flags.max_score,
        tags=flags.tags or {},
        search=flags.search,
        limit=flags.limit,
    )
    selected = select_samples(run.record, run.store, wanted)
    if as_lines:
        for sample in selected:
            output.print_json(as_object(sample))
        output.name_damaged(run.store)
    elif as_json:  # written while it is read, so that a run of any size takes no memory
        output.json_text(f'{{"run": {json.dumps(run.id)}, "samples": [')
        for number, sample in enumerate(selected):
            output.json_text((", " if number else "") + json.dumps(as_object(sample), ensure_ascii=False))
        output.json_text("]}\n")
        output.name_damaged(run.store)
    else:
        _print_samples(run, selected)


def _print_samples(run: "Run", selected: "Iterable[Story]") -> None:
    from proctor.reports.samples import print_sample

    console, count = output.console(), 0
    for sample in selected:
        print_sample(sample, lang(), console, with_attempt=run.record.spec.attempts > 1)
        count += 1
    output.name_damaged(run.store)
    output.message(
        t(
            "{count} of {total} trials. One in full: proctor runs explain {run} SAMPLE",
            count=f"{count:,}",
            total=f"{sum(run.outcomes.values()):,}",
            run=run.id,
        )
    )
