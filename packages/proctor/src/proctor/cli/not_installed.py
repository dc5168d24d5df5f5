"""Show what packages bring that are not installed: greyed out, with the extra that each needs and the lines that install them."""

from collections.abc import Iterable, Mapping, Sequence

import click

from proctor.cli import tree
from proctor.cli.words import t
from proctor.core.sentence import Sentence, say
from proctor.runtime.visible import visible


def write_rows(formatter: click.HelpFormatter, path_by_name: Mapping[str, str], missing: Mapping[str, str]) -> None:
    """Write the rows of commands and groups in help, greyed out where nothing of them is installed.

    Args:
        missing: the extra of each command that is not installed.
    """
    for name, path in path_by_name.items():
        inside = [f"{path} {inner}" for inner in tree.names_in(path)] if path in tree.GROUPS else [path]
        absent = [inner for inner in inside if inner in missing]
        written = len(formatter.buffer)
        if absent == inside:
            sentence = tree.GROUPS[path] if path in tree.GROUPS else tree.COMMANDS[path].sentence
            formatter.write_dl([(name, t(with_extra(sentence, missing[inside[0]])))])
            formatter.buffer[written:] = [grey("".join(formatter.buffer[written:]))]
        else:
            formatter.write_dl([(name, _describe_group(path, inside, absent) if absent else tree.describe(path))])


def install_lines(extras: Iterable[str]) -> list[str]:
    """Return a heading and the line that installs each extra; nothing where none is missing."""
    named = sorted({*extras})
    if not named:
        return []
    from proctor.core.installing import install_command  # slow to import

    width = max(map(len, named))
    return [t("Not installed:"), *(f"  {extra:<{width}}  {install_command(extra)}" for extra in named)]


def with_extra(sentence: Sentence | None, extra: str) -> Sentence:
    """Return the description of what is not installed."""
    if sentence is None:
        return say("Needs the extra '{extra}'.", extra=extra)
    return say("{text} Needs the extra '{extra}'.", text=sentence, extra=extra)


def grey(text: str) -> str:
    return click.style(text, dim=True)


def print_grey(line: str) -> None:
    """Print a line on standard output, greyed out on a terminal."""
    click.echo(grey(visible(line)))


def _describe_group(group: str, inside: Sequence[str], absent: Sequence[str]) -> str:
    """Return the question of a group with the names in it, those that are not installed last."""
    names = [path.removeprefix(f"{group} ") for path in inside if path not in absent]
    lacks = [path.removeprefix(f"{group} ") for path in absent]
    named = t("{names} (not installed: {missing})", names=", ".join(names), missing=", ".join(lacks))
    return f"{t(tree.GROUPS[group])} {named}"
