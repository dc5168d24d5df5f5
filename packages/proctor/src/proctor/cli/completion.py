"""proctor completion: the script with which a shell completes commands, options and what they name.

Shells call `proctor` for each completion, so nothing is imported that is not needed: parts are known by what their files declare.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import click
from click.shell_completion import CompletionItem, get_completion_class

from proctor.cli import output

VARIABLE = "_PROCTOR_COMPLETE"  # click's; it is set while a shell asks
MOST_RUNS = 200
SHELLS = ("bash", "zsh", "fish")

Complete = Callable[[click.Context, str], list[CompletionItem]]


@click.command()  # fmt: skip
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    kind = get_completion_class(shell)
    assert kind is not None
    output.line(kind(ctx.find_root().command, {}, "proctor", VARIABLE).source().strip())


def complete_values(command: click.Command) -> None:
    """Let the parameters of a command complete what they name; only while a shell asks."""
    for parameter in command.params:
        if (complete := _completion_of(parameter)) is not None:
            cast(Any, parameter).shell_complete = complete  # click asks the parameter
    if isinstance(command, click.Group):
        for nested in command.commands.values():
            complete_values(nested)


def _completion_of(parameter: click.Parameter) -> Complete | None:
    is_compared = isinstance(parameter, click.Argument) and parameter.metavar in ("A", "B")
    if is_compared or (parameter.metavar or "").startswith("RUN") or parameter.name == "run_id":
        return _runs
    if parameter.metavar in ("FILE", "PATH", "DIR", "URL"):
        return _files
    if isinstance(parameter, click.Option):
        return {"agent": _agents, "agents": _agents, "scorer": _scorers, "scorers": _scorers}.get(parameter.name or "")
    return _tasks if parameter.name == "task" else None


def _runs(ctx: click.Context, start: str) -> list[CompletionItem]:
    """Return the newest runs of the store that the command names, or of the usual one; none of a store that is not a file."""
    from proctor.api import runs
    from proctor.config import settings, store_url
    from proctor.runtime.visible import one_line
    from proctor.stores import default_path

    with suppress(Exception):  # a shell shows no error, and the command will
        store = store_url(ctx.params.get("store"), settings()) or str(default_path())
        if Path(store).expanduser().is_file():
            found = (record for record in runs(store=store) if record.id.startswith(start))
            return [CompletionItem(record.id, help=one_line(f"{record.task} · {record.agent}")) for record in islice(found, MOST_RUNS)]  # fmt: skip
    return []


def _files(_: click.Context, start: str) -> list[CompletionItem]:
    return [CompletionItem(start, type="file")]


def _agents(_: click.Context, start: str) -> list[CompletionItem]:
    return _named(start, (f"{name}:" for name in _parts("agents")))


def _scorers(_: click.Context, start: str) -> list[CompletionItem]:
    return _named(start, chain(_parts("scorers"), (f"{name}:" for name in _parts("judges"))))


def _tasks(_: click.Context, start: str) -> list[CompletionItem]:
    return _named(start, (name.replace("_", "-") for name in _parts("benchmarks")))


def _named(start: str, names: Iterable[str]) -> list[CompletionItem]:
    """Return the names with that start; where none has it, or a path was begun, the shell completes files."""
    found = [CompletionItem(name) for name in names if name.startswith(start)]
    return found if found and not start.startswith((".", "/", "~")) else [CompletionItem(start, type="file")]


def _parts(package: str) -> Iterator[str]:
    """Yield the parts of a package, without importing them, and those of entry points."""
    from proctor.runtime.entry_points import entry_points

    folder = Path(__file__).parents[1] / package
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        file = path / "__init__.py" if path.is_dir() else path
        is_module = file.suffix == ".py" and file.is_file() and not path.name.startswith("_")
        if is_module and "\nPART = " in file.read_text(encoding="utf-8"):
            yield path.stem
    yield from (point.name for point in entry_points(group=f"proctor.{package}"))
