"""proctor runs import: logs of other evaluation programs as stored runs."""

from typing import TYPE_CHECKING, Annotated

import click
import msgspec

from proctor.cli import derived, options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.core.run_fields import Flag
from proctor.core.sentence import say

if TYPE_CHECKING:
    from proctor_adapters.importing import Imported


class LogFlags(msgspec.Struct, frozen=True, kw_only=True):
    """How a log is read, what its runs are called, and which scorers of ours score them too."""

    format: Annotated[
        str | None,
        Flag(
            say(
                "The format, where it is not recognised by the content: inspect, lm-eval, promptfoo, deepeval, langsmith, langfuse, phoenix or matrix."
            ),
            metavar="NAME",
        ),
    ] = None
    run_id: Annotated[
        str | None, Flag(say("The name of the run; of several, what their names begin with."), "run", "ID")
    ] = None
    task: Annotated[
        str | None, Flag(say("The name of the task, as that of a run to compare with."), metavar="NAME")
    ] = None
    agent: Annotated[
        str | None, Flag(say("The name of the agent or model, where the log has none."), metavar="NAME")
    ] = None
    id: Annotated[
        str | None,
        Flag(say("Metadata that names each sample as your task does, where the log numbers them."), metavar="KEY"),
    ] = None
    tags: Annotated[
        tuple[str, ...],
        Flag(say("Metadata of the samples to report by."), "tag", "KEY", several=True),
    ] = ()
    scales: dict[str, str] | None = None
    scorers: Annotated[
        tuple[str, ...],
        Flag(
            say("A scorer of ours that scores the trials too, and is compared with those of the log."),
            "scorer",
            "NAME",
            several=True,
        ),
    ] = ()


@click.command()
@click.argument("file", metavar="FILE")
@derived.derived("format", "run_id", "task", "agent", "id", "tags", of=LogFlags)
@derived.several(
    "--scale",
    "scales",
    t("The range of a score that is not from 0 to 1; may be given several times."),
    metavar="SCORER=LOW:HIGH",
)
@derived.derived("scorers", of=LogFlags)
@options.of_run("store")
@options.as_json
@derived.gathered("flags", LogFlags)
def command(file: str, flags: LogFlags, store: str | None, as_json: bool) -> None:
    from proctor_adapters.importing import import_log, unused
    from proctor_adapters.imports import LogReading

    how = LogReading(
        tags=flags.tags,
        task=flags.task,
        agent=flags.agent,
        id=flags.id,
        scales={name: _range(text) for name, text in (flags.scales or {}).items()},
    )
    found = import_log(file, format=flags.format, run_id=flags.run_id, store=store, how=how, scorers=flags.scorers)
    if as_json:
        output.print_json({"runs": [_summary(imported_run) for imported_run in found]})
        return
    for imported_run in found:
        _show(imported_run)
    first = found[0].run
    if found[0].format != "matrix":  # which has no answers
        output.message(
            t("Score it again: proctor score --run {run} --scorer NAME; then: proctor judge agree {run}", run=first.id)
        )
    output.message(
        t(
            "Runs of the task '{task}' with --limit draw by what it knows; another name: --task NAME",
            task=first.record.task,
        )
    )
    for sentence in unused(found, how):
        output.message(t(sentence))


def _range(text: str) -> tuple[float, float]:
    low, colon, high = text.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (0.0, 0.0)
    if not colon or not -1e308 < ends[0] < ends[1] < 1e308:
        raise BadInput("--scale takes SCORER=LOW:HIGH with two numbers, not '{text}'.", text=text)
    return ends


def _show(one: "Imported") -> None:
    output.print_run(one.run, as_json=False)
    for figure in one.figures:
        values = {"scorer": figure.scorer, "metric": figure.metric, "log": f"{figure.log:.4f}"}
        if figure.here is None:
            output.message(t("{scorer}: {metric} is {log} in the log; no score could be taken over.", **values))
        elif figure.is_equal:
            output.message(t("{scorer}: {metric} is {log} in the log, and here.", **values))
        else:
            output.message(
                t("{scorer}: {metric} is {log} in the log, and {here} here.", **values, here=f"{figure.here:.4f}")
            )
    for two in one.agreement:
        counts: dict[str, object] = {"ours": two.ours, "scorer": two.log, "same": two.same, "both": two.both}
        share = f"{two.same / two.both:.1%}" if two.both else "–"
        output.message(
            t(
                "{ours} and {scorer} of the log: the same verdict on {same} of {both} trials ({share}).",
                **counts,
                share=share,
            )
        )
    output.message(t("Imported from {format}: {run}", format=one.format, run=one.run.id))


def _summary(one: "Imported") -> dict[str, object]:
    figures = [{"scorer": f.scorer, "metric": f.metric, "log": f.log, "here": f.here} for f in one.figures]
    agreement = [{"ours": two.ours, "log": two.log, "same": two.same, "both": two.both} for two in one.agreement]
    return {**one.run.summary(), "format": one.format, "figures": figures, "agreement": agreement}
