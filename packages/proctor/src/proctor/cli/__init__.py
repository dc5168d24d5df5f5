"""The command line: a tree of commands (`tree`), one file per command, imported when called.

Exit codes: 0 fine, 1 a gate, threshold or parity failed, 2 bad input or usage, 3 inconclusive, 70 an internal
error, 130 stopped by Ctrl-C, 141 where whoever read the output has gone.
"""

import errno
import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
import click.formatting

from proctor.cli import tree, words
from proctor.cli.click_words import speak_as_click
from proctor.cli.encoding import write_any_character
from proctor.cli.words import t
from proctor.core.errors import BadInput, ProctorError, Stopped

SELDOM = 5_000  # objects until the next look for garbage; a short command makes hardly any, but imports a lot
READER_GONE = 141  # as a shell has it for a program that SIGPIPE ended
FULL = (errno.ENOSPC, errno.EDQUOT)
PATH = "proctor.path"  # where a context's meta keeps the command that was named, such as "ci gate"
FORKING = ("fork", "runs fork")
JUDGING = ("score", "judge items", "judge winrate", "judge probe")  # go on only with what they were given


class UserError(click.ClickException):
    """A mistake of the user as click shows it: in the user's language, with our exit code."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        from proctor.runtime.visible import visible

        click.echo(t("Error: {message}", message=visible(self.message)), err=True, file=file)


class Commands(click.Group):
    """A group of the tree. It finds a command's module when it is called, so that help and errors cost nothing."""

    def __init__(self, name: str | None = None, *arguments: Any, path: str = "", **settings: Any) -> None:
        super().__init__(name, *arguments, **settings)
        self.path = path

    def list_commands(self, ctx: click.Context) -> list[str]:
        return tree.names_in(self.path)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        path = f"{self.path} {cmd_name}".strip()
        if path in tree.GROUPS:
            return Commands(cmd_name, path=path, help=t(tree.GROUPS[path]), no_args_is_help=path not in tree.USUAL)
        command = tree.find_command(path)
        if command is not None and "_PROCTOR_COMPLETE" in os.environ:
            from proctor.cli.completion import complete_values

            complete_values(command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        usual = tree.USUAL.get(self.path)
        if usual is not None and not {*args} & {*ctx.help_option_names, *self.list_commands(ctx)}:
            args = [usual, *args] if all(word.startswith("-") for word in args[:1]) else args
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = None if args[0].startswith("-") else self.get_command(ctx, args[0])
        if command is None and not args[0].startswith("-"):
            sentence = t(tree.not_found(self.path, args[0]).sentence)
            raise UserError(
                sentence + t(" All of them: {command}", command=f"proctor {self.path} --help".replace("  ", " "))
            )
        ctx.meta[PATH] = f"{self.path} {args[0]}".strip()
        return (args[0], command, args[1:]) if command is not None else super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        missing = {path: extra for path, extra in tree.missing().items() if path.startswith(f"{self.path} ")}
        with formatter.section(t("Commands")):
            _write_rows(formatter, {name: f"{self.path} {name}" for name in self.list_commands(ctx)}, missing)
        _write_install_lines(formatter, missing)


class ProctorProgram(Commands):
    """The program itself: the language, its groups under headings, and what a failure looks like."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width, missing = max(map(len, self.list_commands(ctx))), tree.missing()
        for title, names in tree.HEADINGS.values():
            with formatter.section(t(title)):
                _write_rows(formatter, {name.ljust(width): name for name in names}, missing)
        _write_install_lines(formatter, missing)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> Any:
        given = [*(sys.argv[1:] if args is None else args)]
        try:
            words.choose(_take_language(given))
        except ProctorError as error:
            mistake = UserError(t(error.sentence))
            mistake.show()
            sys.exit(mistake.exit_code)
        write_any_character(words.lang())
        speak_as_click()
        if given[:1] == ["help"]:  # as git and npm have it
            given = [*given[1:], "--help"]
        elif given == ["version"]:
            given = ["--version"]
        self.help = t("Evaluate agents and language models, with numbers that can be defended.")
        self.params[0].help = t("Show the version and exit.")
        return super().main(given, *rest, terminal_width=_width_of_help(), **more)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return self._invoke(ctx)
        except click.NoSuchOption as error:
            meant = tree.OTHER_OPTIONS.get(error.option_name)
            if ctx.meta.get(PATH) != "run" or meant is None:
                raise
            raise UserError(
                t("proctor run has no option {option}. Write: {meant}", option=error.option_name, meant=meant)
            ) from None
        except ProctorError as error:
            raise UserError("\n".join([t(error.sentence), *_how_to_resume(error, ctx)])) from error
        except KeyboardInterrupt as stopped:
            for line in _how_to_resume(stopped, ctx):
                _say(line)
            ctx.exit(130)
        except BrokenPipeError:  # whoever read the output has gone, as in `proctor show RUN | head`
            _write_no_more()
            ctx.exit(READER_GONE)
        except OSError as error:
            if error.errno not in FULL:
                raise
            _write_no_more()
            raise UserError(t("The output cannot be written: {error}.", error=error.strerror or error)) from error

    def _invoke(self, ctx: click.Context) -> object:
        """Call a command, and have all that it printed written while a failure of that can still be reported."""
        try:
            result = super().invoke(ctx)
        except click.exceptions.Exit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return result


@click.group(cls=ProctorProgram, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(package_name="proctor", message="proctor %(version)s")
@click.option("--lang", metavar="en|zh", expose_value=False, help="en | zh")
def app() -> None:
    """Group the commands of `tree`."""


def _write_rows(formatter: click.HelpFormatter, path_by_name: Mapping[str, str], missing: Mapping[str, str]) -> None:
    if missing:
        from proctor.cli.not_installed import write_rows

        write_rows(formatter, path_by_name, missing)
    else:
        formatter.write_dl([(name, tree.describe(path)) for name, path in path_by_name.items()])


def _write_install_lines(formatter: click.HelpFormatter, missing: Mapping[str, str]) -> None:
    if missing:
        from proctor.cli.not_installed import install_lines

        formatter.write("\n" + "\n".join(install_lines(missing.values())) + "\n")


def _width_of_help() -> int | None:
    """Return the width that click would find, which for that loads `shutil` with all its compressors; None leaves it to click."""
    if click.formatting.FORCED_WIDTH is not None or "COLUMNS" in os.environ:
        return None
    try:
        columns = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ is not None else 80
    except (OSError, ValueError):  # not a terminal, or closed
        columns = 80
    return max(min(columns or 80, 80) - 2, 50)


def _write_no_more() -> None:
    """Keep what is left in the buffers of standard output from failing once more when the program ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # closed, or no file
        pass


def _say(text: str) -> None:
    from proctor.cli.output import message

    message(text)


def main() -> None:
    """Run the program `proctor`: a command, and its exit code."""
    gc.set_threshold(SELDOM)
    try:
        app.main(prog_name="proctor")
    except Exception as error:
        _say(t("Internal error: {kind}: {error}", kind=type(error).__name__, error=error))
        if os.environ.get("PROCTOR_DEBUG"):
            raise
        _say(t("Set PROCTOR_DEBUG=1 to see where, and please report it."))
        sys.exit(70)
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # all is said: Ctrl-C shows no traceback any more


def _how_to_resume(error: BaseException, ctx: click.Context) -> list[str]:
    shown = (error, error.__context__)  # a second Ctrl-C may hide the first
    ids = (exception.run_id for exception in shown if isinstance(exception, BadInput | Stopped))
    run_id = next(filter(None, ids), None)
    if run_id is None:
        return []
    path = ctx.meta.get(PATH)
    if path == "ci tier":
        return [t("Stopped; everything finished is kept. Go on with the same command.")]
    if path in FORKING:
        return [t("Stopped; what was finished is kept as {run}. A fork is not resumed.", run=run_id)]
    import shlex

    from proctor.cli.options import SHARD, STORE

    if SHARD in ctx.meta:
        run_id = f"{run_id} --shard {shlex.quote(ctx.meta[SHARD])}"
    if STORE in ctx.meta:  # as it has to be named again
        run_id = f"{run_id} --store {shlex.quote(ctx.meta[STORE])}"
    if path == "ci race":
        return [t("Stopped; everything finished is kept. Go on with: proctor ci race --run {run}", run=run_id)]
    if path in JUDGING:
        return [t("Stopped; everything finished is kept. Go on with the same command and --run {run}", run=run_id)]
    return [t("Stopped; everything finished is kept. Go on with: proctor run --run {run}", run=run_id)]


def _take_language(args: list[str]) -> str | None:
    """Take `--lang X` out of the arguments, wherever it stands."""
    asked = None
    for position, value in enumerate(args):
        if value == "--":
            break
        if value == "--lang" and position + 1 < len(args):
            asked = args[position + 1]
            del args[position : position + 2]
            break
        if value.startswith("--lang="):
            asked = value.partition("=")[2]
            del args[position]
            break
    return asked
