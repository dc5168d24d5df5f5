"""proctor runs explain: one sample of a run."""

from typing import TYPE_CHECKING

import click
import msgspec

from proctor.cli import options, output
from proctor.cli.words import lang, t

if TYPE_CHECKING:
    from proctor.api import Run


@click.command()
@click.argument("run_id", metavar="RUN")
@click.argument("sample_id", metavar="SAMPLE")
@click.option("--attempt", type=click.IntRange(min=0), default=1, help=t("Which attempt, counted from 1 (default 1)."))
@options.of_run("store")
@options.as_json
def command(run_id: str, sample_id: str, attempt: int, store: str | None, as_json: bool) -> None:
    from proctor.api import open_run
    from proctor.reports.explanation import explanation_object
    from proctor.reports.history import describe_sample
    from proctor.reports.terminal import explain
    from proctor.reports.words import ReportWords

    run = open_run(run_id, store=store)
    known = describe_sample(run.record, run.store, sample_id)
    number = max(attempt - 1, 0)  # 0 was the first one in earlier releases
    if as_json:
        trial = explanation_object(run.record, run.store, sample_id, number, ReportWords(lang()))
        output.print_json({**trial, "others": msgspec.to_builtins(known)})
        return
    explain(run.record, run.store, sample_id, number, lang(), output.console())
    if known is not None:
        output.line()
        output.line(t(known.sentence))
    _show_judges(run, sample_id, number)


def _show_judges(run: "Run", sample_id: str, attempt: int) -> None:
    """Print what each judge was asked, in full, and what it replied."""
    from proctor.api.rehearse import exchanges
    from proctor.cli.dry_run import print_messages

    for exchange in exchanges(run, sample_id, attempt):
        for number, asked in enumerate(exchange.asked, start=1):
            output.line()
            output.line(
                t(
                    "{scorer}, {judge} was asked ({number} of {count}):",
                    scorer=exchange.scorer,
                    judge=asked.judge,
                    number=number,
                    count=len(exchange.asked),
                )
            )
            print_messages(asked.messages)
        if exchange.why_not is not None:
            output.line()
            output.line(f"{exchange.scorer}: {t(exchange.why_not)}")
        for number, reply in enumerate(exchange.replies, start=1):
            output.line()
            output.line(
                t(
                    "{scorer}, reply {number} of {count}:",
                    scorer=exchange.scorer,
                    number=number,
                    count=len(exchange.replies),
                )
            )
            output.line(reply)
