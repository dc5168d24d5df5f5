"""Write the manual page proctor(1), in English or Chinese, from the help of the commands."""

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from proctor import __version__
from proctor.cli import app, tree, words
from proctor.cli.click_words import speak_as_click
from proctor.cli.words import t

TITLES = {
    "en": ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "FILES"),
    "zh": ("名称", "用法", "说明", "命令", "退出码", "文件"),
}
CODES = {
    "en": "0 fine; 1 a gate, threshold or parity failed; 2 bad input or usage; 3 inconclusive; 70 an internal error; 130 stopped by Ctrl-C.",
    "zh": "0 正常；1 门禁、阈值或一致性检查失败；2 输入或用法有误；3 无法下结论；70 内部错误；130 被 Ctrl-C 停止。",
}
FILES = {"en": "proctor.toml: the settings of a project.", "zh": "proctor.toml：项目的设置。"}


def page(lang: str, moment: int) -> str:
    """Return the page as troff; `moment` is the date that it shows, in Unix time."""
    words.choose(lang)
    speak_as_click()
    name, synopsis, description, commands, status, files = TITLES[lang]
    day = datetime.fromtimestamp(moment, UTC).date().isoformat()
    app.help = t("Evaluate agents and language models, with numbers that can be defended.")
    lines = [
        f'.TH PROCTOR 1 "{day}" "proctor {__version__}" "Proctor"',
        ".ad l",  # no line of names is stretched
        f".SH {name}",
        f"proctor \\- {_text(app.help)}",
        f".SH {synopsis}",
        r"\fBproctor\fR [\fB\-\-lang\fR en|zh] \fICOMMAND\fR [\fIOPTIONS\fR]",
        f".SH {description}",
        _text(app.help),
        f".SH {commands}",
    ]
    context = click.Context(app, info_name="proctor")
    for path in tree.COMMANDS:
        command = tree.find_command(path)
        assert command is not None
        lines += _described(command, f"proctor {path}", context)
    lines += [f".SH {status}", _text(CODES[lang]), f".SH {files}", _text(FILES[lang])]
    return "\n".join(lines) + "\n"


def _described(command: click.Command, path: str, parent: click.Context) -> Iterator[str]:
    """Yield the lines of a command, and of those in its group."""
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
    yield f'.SS "{_text(" ".join([path, *command.collect_usage_pieces(context)]))}"'
    yield _text(command.help or "")
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", f"\\fB{_text(record[0])}\\fR", _text(record[1]))
    if isinstance(command, click.Group):
        for name, nested in sorted(command.commands.items()):
            yield from _described(nested, f"{path} {name}", context)


def _text(text: str) -> str:
    """Return a text in one line that means nothing to troff."""
    flat = " ".join(re.sub("[\x00-\x1f]", " ", text).split())
    flat = flat.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")
    return f"\\&{flat}" if flat.startswith(".") else flat


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a text stream
    sys.stdout.write(page(sys.argv[1], int(sys.argv[2])))
