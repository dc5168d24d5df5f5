"""proctor data parity: our verdicts against recorded official ones."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor import registry
from proctor.cli import output
from proctor.cli.words import t
from proctor.core.errors import BadInput
from proctor.runtime.entry_points import entry_points, find_entry_point
from proctor.runtime.visible import visible

if TYPE_CHECKING:
    from proctor.core.parity import Checked

SHOWN = 10
ENTRY_POINTS = "proctor.parity"  # of what is no benchmark: a name, and what compares the lines of a corpus


@click.command(help=t("Check our verdicts against recorded official ones; exit 1 when one differs."))
@click.argument("name")
@click.argument("corpus")
@click.option("--data", metavar="PATH", help=t("The benchmark's data, where it is not the pinned package."))
@click.pass_context
def command(ctx: click.Context, name: str, corpus: str, data: str | None) -> None:
    checked = agree = differ = 0
    skipped: Counter[str] = Counter()
    lines_by_group: Counter[str] = Counter()
    agree_by_group: Counter[str] = Counter()
    for line in _lines(name, corpus, data):
        checked += 1
        agree += line.agrees is True
        if line.group:
            lines_by_group[line.group] += 1
            agree_by_group[line.group] += line.agrees is True
        if line.agrees is None:
            skipped[t(line.rule)] += 1
        differ += line.agrees is False
        if line.agrees is False and differ <= SHOWN:
            output.line(
                visible(
                    t(
                        "{id}: official {official}, ours {ours} ({rule})",
                        id=line.id,
                        official=line.official,
                        ours=line.ours,
                        rule=t(line.rule),
                    )
                )
            )
    for group, count in sorted(lines_by_group.items()):
        output.line(visible(t("{group}: {agree} of {count}", group=group, agree=agree_by_group[group], count=count)))
    for reason, count in skipped.items():
        output.line(visible(t("skipped: {count}, {reason}", count=count, reason=reason)))
    output.line(
        t(
            "{checked} checked, {agree} agree, {differ} differ, {skipped} skipped",
            checked=checked,
            agree=agree,
            differ=differ,
            skipped=skipped.total(),
        )
    )
    ctx.exit(1 if differ or not agree else 0)


def _lines(name: str, corpus: str, data: str | None) -> "Iterator[Checked]":
    """Return the comparisons of a corpus, or of a task where its kind compares that."""
    part = registry.TASK_KINDS.find(name) if registry.TASK_KINDS.knows(name) else None
    if part is not None and part.check is not None:
        return part.check(corpus)
    check_corpus = _checks(name)
    if check_corpus is None:
        raise BadInput("There is no parity check for '{name}'. Known: {known}.", name=name, known=", ".join(_known()))
    if not Path(corpus).is_file():
        raise BadInput("There is no file {path}.", path=corpus)
    return check_corpus(Path(corpus), data)


def _checks(name: str) -> "Callable[[Path, str | None], Iterator[Checked]] | None":
    from proctor.api import resolve

    if registry.TASK_FILES.knows(name):
        return registry.TASK_FILES.find(name).check_corpus
    if (point := find_entry_point(ENTRY_POINTS, name)) is not None:
        function: Callable[[Path, str | None], Iterator[Checked]] = point.load()
        return function
    part = resolve.benchmark(name)
    return None if part is None else part.check_corpus


def _known() -> list[str]:
    from proctor.api import resolve

    files = [name for name, part in registry.TASK_FILES.each() if part.check_corpus is not None]
    files += [name for name, part in registry.TASK_KINDS.each() if part.check is not None]
    installed = [point.name for point in entry_points(ENTRY_POINTS)]
    return [*files, *installed, *(name for name, part in resolve.benchmarks() if part.check_corpus is not None)]
