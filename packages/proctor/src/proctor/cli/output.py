"""Print the output of commands: results to standard output, messages and progress to standard error."""

import json
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.encoding import writable_json
from proctor.cli.words import lang, t
from proctor.core.sentence import Sentence
from proctor.runtime.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console

    from proctor.api import Run
    from proctor.core.task import Store
    from proctor.engine.progress import Progress
    from proctor.engine.status import RunStatus
    from proctor.reports.pages import ReportPage, SectionBlock

PLAIN_SECONDS = 10.0
TIMES_A_SECOND = 4
FEW = 10  # trials that are shown one by one after a run


def line(text: object = "") -> None:
    """Print a line of a result on standard output; what others wrote cannot steer the terminal."""
    print(visible(str(text)))


def json_text(text: str) -> None:
    """Print JSON on standard output, unchanged in meaning."""
    print(writable_json(visible_json(text), sys.stdout.encoding), end="")


def message(text: str) -> None:
    """Print a message to the user on standard error."""
    print(visible(text), file=sys.stderr, flush=True)


def name_damaged(store: "Store") -> None:
    """Say which samples were left out, as their records are damaged."""
    from proctor.stores.tables import TableStore

    damaged = sorted({id for id, _ in store.damaged}) if isinstance(store, TableStore) else []
    if damaged:
        shown = ", ".join(damaged[:20]) + (" …" if len(damaged) > 20 else "")
        message(t("Left out, as their records are damaged: {count} samples ({ids}).", count=len(damaged), ids=shown))


def tell(sentence: Sentence) -> None:
    """Print a sentence in the user's language on standard error."""
    message(t(sentence))


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object on standard output."""
    import msgspec

    json_text(json.dumps(msgspec.to_builtins(value), ensure_ascii=False, allow_nan=False) + "\n")


def console(*, stderr: bool = False) -> "Console":
    """Return a rich console, with colours only on a terminal."""
    from rich.console import Console

    class OpenConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 - rich calls it while it handles the error, and would exit with 1, the code of a missed gate

    return OpenConsole(stderr=stderr, highlight=False, soft_wrap=False)


def print_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[int] = (), heading: str = ""
) -> None:
    """Print a table on standard output; the columns at `right` hold numbers."""
    from proctor.reports import tables

    table = tables.new_table(*titles, right=right, heading=heading)
    tables.add_rows(table, rows)
    tables.print_table(table, console())


def show(sections: "Sequence[SectionBlock]") -> None:
    """Print parts of a page on standard output."""
    from proctor.reports import pages

    pages.show(sections, lang(), console())


def print_page(page: "ReportPage") -> None:
    """Print a page: what it is about on standard output, its notes on standard error."""
    for name, value in page.facts.items():
        line(f"{name}: {value}")
    for note in page.notes:
        message(str(note))
    line()
    show(page.sections)


def print_or_write(page: "ReportPage", out: str | None, *, quiet: bool) -> None:
    """Print a page unless `quiet`, and write it where a file is named.

    Raises:
        BadInput: the file is neither Markdown nor HTML by its name, or cannot be written.
    """
    from proctor.reports import pages

    if not quiet:
        line(page.title)
        print_page(page)
    if out is not None:
        message(t("Wrote {path}.", path=pages.write(Path(out), page, lang())))


def with_english(value: object) -> object:
    """Return a result as plain data for JSON, with every sentence as its English text."""
    import msgspec

    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict):
        if plain.get("type") == "sentence":
            return str(msgspec.convert(plain, Sentence))
        return {key: with_english(entry) for key, entry in plain.items()}
    return [with_english(entry) for entry in plain] if isinstance(plain, list | tuple) else plain


def print_run(run: "Run", *, as_json: bool, more: Mapping[str, object] | None = None) -> None:
    """Print the numbers of a run, as a table or as JSON together with `more`."""
    if as_json:
        print_json({**run.summary(), **(more or {})})
        return
    from proctor.reports.build import build
    from proctor.reports.terminal import terminal

    terminal(build(run.record, run.store, run.estimates), lang(), console())


def look_closer(run: "Run") -> None:
    """Print which commands show more of a run."""
    message(t("Run {run}. Look closer: proctor runs samples {run} · proctor runs report {run}", run=run.id))


def print_few_samples(run: "Run") -> None:
    """Print the samples of a run if there are only a few."""
    from proctor.reports.samples import ReportFilter, print_sample, select_samples

    if not 0 < sum(run.outcomes.values()) <= FEW:
        return
    shown = console()
    for story in select_samples(run.record, run.store, ReportFilter()):
        print_sample(story, lang(), shown, with_attempt=run.record.spec.attempts > 1, with_question=False)
    line()


@contextmanager
def judging(*, quiet: bool) -> Iterator["Progress"]:
    """Show the progress of judges while the block runs; what a part prints stays out of the results."""
    from proctor.engine.progress import Progress

    progress = Progress(tell=tell)
    with watching(progress, quiet=quiet), redirect_stdout(sys.stderr):
        yield progress


@contextmanager
def watching(progress: "Progress", *, quiet: bool, show: Callable[[], str] | None = None) -> Iterator[None]:
    """Show progress while the block runs: one line that is redrawn, or plain lines when there is no terminal.

    Args:
        show: returns what is shown; by default the status of `progress`.
    """
    show = show or (lambda: status(progress.status))
    if quiet:
        yield
    elif sys.stderr.isatty():
        from rich.live import Live

        view = Live(
            get_renderable=show,
            console=console(stderr=True),
            refresh_per_second=TIMES_A_SECOND,
            transient=True,
        )
        with view:
            yield
    else:
        with _plain_lines(show):
            yield


FAILED = {  # short names for the status line
    "agent_failed": "agent failed",
    "provider_failed": "provider failed",
    "environment_failed": "environment failed",
    "user_failed": "user failed",
    "awaiting_approval": "awaiting approval",
    "undecided": "undecided",
    "skipped": "skipped",
    "cancelled": "cancelled",
}


def status(run: "RunStatus") -> str:
    """Return one line: done of total, rate, in flight, failures by class, spend, time left."""
    if not run.total:
        return t("Getting ready …")
    share = run.done / run.total
    bar = "━" * round(24 * share) + "╌" * (24 - round(24 * share))
    parts = [f"{bar} {t('{done} of {total} samples', done=run.done, total=run.total)}"]
    if run.rate:
        parts.append(t("{rate} a second", rate=f"{run.rate:.3g}"))
    if run.in_flight:
        parts.append(t("{count} in flight", count=run.in_flight))
    if run.scored:
        parts.append(t("mean {mean}", mean=f"{run.points / run.scored:.1%}"))
    parts.extend(_waiting(run))
    failures = {name: count for name, count in run.outcomes.items() if name != "scored"}
    parts.extend(f"{t(FAILED[name])} {count}" for name, count in failures.items())
    spent, forecast = run.tracker.spent, run.forecast
    if tokens := spent.input_tokens + spent.output_tokens:
        parts.append(t("{tokens} tokens", tokens=f"{tokens:,}"))
    if spent.cost and forecast is not None and forecast.money is not None:
        parts.append(
            t("spent {spent} of about {forecast}", spent=f"{spent.cost:.4f}", forecast=f"{forecast.money:.4f}")
        )
    if forecast is not None and forecast.above(run.tracker.budget):
        parts.append(t("will not fit the budget"))
    if run.seconds_left is not None and run.done < run.total:
        parts.append(t("{time} left", time=_clock(run.seconds_left)))
    return " · ".join(parts)


def _waiting(run: "RunStatus") -> Iterator[str]:
    """Say how many requests wait to be sent again, why, and for how long."""
    from proctor.transport.retry import IN_A_BATCH

    batched = [wait for wait in run.waits() if wait.cause == IN_A_BATCH]
    if batched:
        host, count = batched[0].host, len(batched)
        yield t("requests in batches at {host}: {count}; the results may take a day", host=host, count=count)
    waits = [wait for wait in run.waits() if wait.cause != IN_A_BATCH]
    if not waits:
        return
    last = max(waits, key=lambda wait: wait.until)
    seconds = max(1, round(last.until - time.monotonic()))
    cause = str(last.status or last.cause)
    if last.asked:
        yield t(
            "requests that wait: {count}; {host} asked for {asked} s ({cause}), {seconds} s more",
            count=len(waits),
            host=last.host,
            asked=f"{last.asked:.3g}",
            cause=cause,
            seconds=seconds,
        )
    else:
        yield t(
            "requests that wait to be sent again: {count}; {host} failed ({cause}), {seconds} s more",
            count=len(waits),
            host=last.host,
            cause=cause,
            seconds=seconds,
        )


@contextmanager
def _plain_lines(show: Callable[[], str]) -> Iterator[None]:
    over = threading.Event()

    def write() -> None:
        while not over.wait(PLAIN_SECONDS):
            message(show())

    writer = threading.Thread(target=write, name="proctor-progress", daemon=True)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)  # also more than a day's
    return f"{hours:02}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
