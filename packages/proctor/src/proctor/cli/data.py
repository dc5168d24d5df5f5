"""proctor data: fetch, count and check the data of a benchmark."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli import options, output
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.core.parts import BenchmarkPart

T = TypeVar("T")


@click.command()
@click.argument("name")
@click.option("--from", "source", metavar="FILE", help=t("The downloaded package file, where there is no network."))
@options.of_run("options")
def pull(name: str, source: str | None, options: dict[str, object] | None) -> None:
    from proctor.api.files import pull_data, pull_task
    from proctor.runtime.visible import visible

    said = None if source is not None else pull_task(name, options or {})
    if said is None and options:
        raise BadInput("--set is for the tasks of other programs, such as inspect:PACKAGE/TASK.")
    output.line(pull_data(name, source, output.tell) if said is None else visible(t(said)))
    output.message(t("Ready; it works offline from now on."))


@click.command()
@click.argument("name")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.pass_context
def check(ctx: click.Context, name: str, folder: Path) -> None:
    from proctor.runtime.visible import one_line

    own = _part(name, lambda part: part.own)
    checked = own.check(folder)
    for finding in checked.findings:
        kind = t("wrong") if finding.wrong else t("note")
        output.line(f"{kind}: {one_line(t(finding.sentence), 1000)}")
    notes = len(checked.findings) - checked.wrong
    output.line(
        t(
            "{records} questions, {wrong} wrong, {notes} notes",
            records=checked.records,
            wrong=checked.wrong,
            notes=notes,
        )
    )
    ctx.exit(2 if checked.wrong else 0)


@click.command()
@click.argument("name")
@options.of_run("options")
@options.as_json
def stats(name: str, options: dict[str, object] | None, as_json: bool) -> None:
    from proctor.api import resolve

    count = _part(name, lambda part: part.statistics)
    task, _ = resolve.task(name, options or {})
    statistics = count(task.samples() if callable(task.samples) else task.samples)
    if as_json:
        import msgspec

        output.print_json(msgspec.to_builtins(statistics))
        return
    _print(statistics)


def _print(found: Any) -> None:
    from proctor.runtime.visible import one_line

    levels = []
    for name, level in [*found.levels.items(), (t("all"), found.whole)]:
        steps = "–" if level.steps is None else f"{level.steps:.1f}"
        levels.append((name, f"{level.questions:,}", f"{level.attachments:,}", steps))
    titles = (t("Level"), t("Questions"), t("With attachment"), t("Annotated steps (mean)"))
    output.print_table(titles, levels, right=(1, 2, 3))
    branches = {"number": t("number"), "list": t("list"), "text": t("text"), "none": t("none")}
    answers = {branches[branch]: count for branch, count in found.answers.items()}
    for title, counts in ((t("Attachments"), found.attachments), (t("Answers"), answers)):
        output.line(f"{title}: {one_line(', '.join(f'{name} {count:,}' for name, count in counts.items()) or '–')}")


def _part(name: str, chosen: "Callable[[BenchmarkPart], T | None]") -> T:
    from proctor import registry
    from proctor.api.resolve import benchmark, benchmarks

    part = benchmark(name)
    value = None if part is None else chosen(part)
    if value is None:
        known = [other for other, declared in benchmarks() if chosen(declared) is not None]
        raise registry.unknown("data set", name, known, paths=False)
    return value
