"""Write the sections of `docs/commands.md`, in one language, from the tree of commands: `python commands_page.py zh`.

A section is the sentence of a command, its usage and its options, all as its help has them, and then the notes: prose of the page
itself, which stays as it is. What stands before the first command and after the last one stays, too.
"""

import re
import sys
from collections.abc import Iterator

import click
import pages

from proctor.cli import tree, words
from proctor.cli.click_words import speak_as_click
from proctor.cli.long_help import GROUPS
from proctor.cli.words import t

PAGE = pages.ROOT / "docs" / "commands.md"
SECTION = re.compile(r"^#{2,4} (proctor [a-z -]+)\n(.*?)(?=^#{1,4} )", re.MULTILINE | re.DOTALL)
USAGE = re.compile(r"```text\nproctor [^`]*```\n(?:\n\| [^\n]*\n\|---\|---\|\n(?:\|[^\n]*\n)*)?")
COLUMNS = {"en": "| option | meaning |", "zh": "| 选项 | 含义 |"}


def page(lang: str) -> str:
    """Return the page with its sections as the commands are now; called once a process, as commands are loaded in one language."""
    words.choose(lang)
    speak_as_click()
    path = PAGE if lang == "en" else pages.chinese_page(PAGE)
    text = path.read_text(encoding="utf-8")
    sections = [*SECTION.finditer(text)]
    notes = {section[1]: _notes(section[2]) for section in sections}
    found = "\n".join(_section(name, level, command, notes.get(name, ""), lang) for name, level, command in _commands())
    return text[: sections[0].start()] + found + "\n" + text[sections[-1].end() :]


def _commands() -> Iterator[tuple[str, int, click.Command | None]]:
    """Yield each group (without a command) and each command with the level of its heading, in the order of the help."""
    for name in [*tree.names_in(""), "completion"]:
        if name not in tree.GROUPS:
            yield f"proctor {name}", 2, tree.find_command(name)
            continue
        yield f"proctor {name}", 2, None
        for path in (f"{name} {nested}" for nested in tree.names_in(name)):
            command = tree.find_command(path)
            yield f"proctor {path}", 3, command
            if isinstance(command, click.Group):
                yield from ((f"proctor {path} {nested}", 4, one) for nested, one in command.commands.items())


def _section(name: str, level: int, command: click.Command | None, notes: str, lang: str) -> str:
    head = f"{'#' * level} {name}\n"
    if command is None:
        return f"{head}\n{t(tree.GROUPS[name.removeprefix('proctor ')])}\n" + (f"\n{notes}\n" if notes else "")
    context = click.Context(command, info_name=name, parent=None)
    parts = [head, f"{command.help}\n", "```text", f"{name} {' '.join(command.collect_usage_pieces(context))}", "```"]
    if rows := [*_rows(command, context)]:
        parts += ["", COLUMNS[lang], "|---|---|", *rows]
    return "\n".join(parts) + "\n" + (f"\n{notes}\n" if notes else "")


def _rows(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield a row for each option, in the order of `--help-all`."""
    order = [f"--{name}" for group in GROUPS for name in group.names.split()]
    options = [one for one in command.params if isinstance(one, click.Option) and "--help-all" not in one.opts]
    known = {name: place for place, name in enumerate(order)}
    for option in sorted(options, key=lambda one: min(known.get(name, len(order)) for name in one.opts)):
        record = option.get_help_record(context)
        if record is not None:
            flag, text = (part.replace("|", "\\|") for part in record)
            yield f"| `{flag}` | {text} |"


def _notes(body: str) -> str:
    """Return what stands in a section besides its sentence, usage and options."""
    usage = USAGE.search(body)
    return (body[usage.end() :] if usage else body.strip().partition("\n")[2]).strip()


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream
    sys.stdout.write(page(sys.argv[1]))
