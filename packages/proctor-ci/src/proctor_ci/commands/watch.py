"""proctor ci watch: run agents when it is time or something changed, and tell people what they should know."""

import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from proctor.cli import options, output
from proctor.cli.words import t

if TYPE_CHECKING:
    from proctor_ci.channels import Letter
    from proctor_ci.watch import KnownWatch
    from proctor_ci.watch_file import WatchFile


@click.command(
    help=t(
        "Run tiers or tasks when it is time or something changed, and alert people; until Ctrl-C. See proctor init watch."
    )
)
@click.option("--file", metavar="FILE", default="watch.toml", show_default=True, help=t("What is run, and when."))
@click.option("--once", is_flag=True, help=t("Do what is due now, and end; exit code 1 while an alert is on."))
@click.option("--now", "name", metavar="NAME", help=t("Run this watch now, and end."))
@click.option("--status", is_flag=True, help=t("Show when each was and will be run, and which alerts are on."))
@click.option("--test", is_flag=True, help=t("Send a test message to every channel; exit code 1 where one fails."))
@options.of_run("store")
@options.as_json
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    once: bool,
    name: str | None,
    status: bool,
    test: bool,
    store: str | None,
    as_json: bool,
) -> None:
    from proctor_ci.watch_file import read_watch_file

    watch_file = read_watch_file(file)
    if status or as_json:
        _status(watch_file, as_json=as_json)
    elif test:
        ctx.exit(_test(watch_file))
    else:
        ctx.exit(_watch(watch_file, store, once=once, name=name))


def _watch(file: "WatchFile", store: str | None, *, once: bool, name: str | None) -> int:
    from proctor_ci.watch import FileWatcher

    watcher = FileWatcher(file, store=store, tell=output.tell)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: watcher.stop())
    if not (once or name):
        output.message(t("Watching: {names}. Ctrl-C ends it.", names=", ".join(watch.name for watch in file.watches)))
    is_on = watcher.run(once=once, name=name)
    return int(is_on and (once or name is not None))


def _test(file: "WatchFile") -> int:
    from proctor_ci.channels import addresses, send

    failed = 0
    for name, address in addresses(file.channels).items():
        why = send(address, "Proctor", t("This is a test: alerts of Proctor come here."))
        failed += bool(why)
        output.line(f"{name}: {why or t('delivered')}")
    if not file.channels:
        output.line(t("There are no channels: alerts are only printed."))
    return int(failed > 0)


def _status(file: "WatchFile", *, as_json: bool) -> None:
    import time

    from proctor.cli.words import lang
    from proctor.reports.words import ReportWords
    from proctor_ci.watch import KnownWatch, read_state

    state = read_state(file)
    words, now = ReportWords(lang()), time.time()
    known = {watch.name: state.watches.get(watch.name) or KnownWatch(handled=now) for watch in file.watches}
    due = {name: schedule.after(min(known[name].handled, now)) for name, schedule in file.schedules.items()}
    if as_json:
        output.print_json(_status_json(known, due, state.letters))
        return
    rows = []
    for name, watch in known.items():
        soon = t("running") if watch.pending else words.when(due[name]) if name in due else t("at a signal")
        ended = words.when(watch.ended) if watch.ended else "–"
        rows.append(
            (
                name,
                soon,
                ended,
                "–" if watch.result is None else t(watch.result),
                ", ".join(sorted(watch.on)) or "–",
            )
        )
    output.print_table((t("Watch"), t("Next"), t("Last"), t("Result"), t("Alerts that are on")), rows)
    for letter in state.letters:
        output.message(
            t(
                "Not delivered to {channel}: {text} ({why})",
                channel=letter.channel,
                text=t(letter.notice.text),
                why=letter.why or t("waiting"),
            )
        )


def _status_json(
    known: Mapping[str, "KnownWatch"], due: Mapping[str, float], waiting: Sequence["Letter"]
) -> Mapping[str, object]:
    watches = [
        {
            "name": name,
            "due": due.get(name),
            "running_since": watch.pending.began if watch.pending else None,
            "ended": watch.ended or None,
            "result": None if watch.result is None else str(watch.result),
            "alerts": sorted(watch.on),
            "spent": watch.spent,
        }
        for name, watch in known.items()
    ]
    letters = [
        {"channel": letter.channel, "text": str(letter.notice.text), "tries": letter.tries, "why": letter.why}
        for letter in waiting
    ]
    return {"watches": watches, "undelivered": letters}
