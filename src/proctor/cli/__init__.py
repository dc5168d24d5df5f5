"""The command line: one file per command, imported when called.

Exit codes: 0 fine, 1 a gate, threshold or parity failed, 2 bad input or usage, 3 inconclusive, 70 an internal
error, 130 stopped by Ctrl-C, 141 where whoever read the output has gone.
"""

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
import click.formatting

from proctor.cli import words
from proctor.cli.click_words import speak_as_click
from proctor.cli.encoding import write_any_character
from proctor.cli.words import t
from proctor.core.errors import BadInput, ProctorError, Stopped

SELDOM = 5_000  # objects until the next look for garbage; a short command makes hardly any, but imports a lot
READER_GONE = 141  # as a shell has it for a program that SIGPIPE ended
FULL = (errno.ENOSPC, errno.EDQUOT)
JUDGING = ("score", "judge", "winrate", "probe")  # go on only with what they were given
HELP_BY_COMMAND = {
    "demo": "See a real run in two to four minutes: a local model on BFCL, with a report.",
    "init": "Write an agent, a task and a gate to start from.",
    "plan": "Say how many samples and attempts a question takes, and what they cost; nothing is run.",
    "run": "Run a task with an agent and show the numbers.",
    "race": "Race agents over the same samples, and stop as soon as it is decided which is better.",
    "score": "Score recorded replies; no agent is called.",
    "judge": "Judge the items of a file, or of a stored run, by a rubric.",
    "winrate": "Compare sets of items blind, in both orders: who wins how often.",
    "agree": "How far people and judges agree, and what a judge's numbers are worth.",
    "probe": "Probe a judge for bias: position, length, style, orders in the answer.",
    "generate": "Have an agent write data, and say how good it is.",
    "runs": "List, delete, copy or merge stored runs.",
    "show": "Show the numbers of a run, or its failures.",
    "samples": "List the samples of a run, with answer, reference answer and scores.",
    "explain": "Tell the whole story of one sample of a run.",
    "compare": "Compare two runs on the same samples.",
    "explain-delta": "Say why a number moved between two runs: parts in points that sum to the difference.",
    "gate": "Decide by a policy whether a run may ship: GO (exit code 0), NO-GO (1) or INCONCLUSIVE (3).",
    "tier": "Run a tier of proctor.toml, such as quick or full, and decide by its gates; without a name, list the tiers.",
    "comment": "Keep one comment with a page in Markdown on the pull request (GitHub) or merge request (GitLab) of a CI job.",
    "baseline": "Name runs that others are compared with; the names are kept in the store.",
    "trends": "Show the number of an agent on a task over time: when it changed, and what was changed then.",
    "watch": "Run tiers or tasks when it is time or something changed, and alert people; until Ctrl-C. See proctor new watch.",
    "mcp": "Serve an assistant that speaks MCP, over standard input and output: it starts runs, reads figures, compares, and explains failures.",
    "web": "Look at runs, compare them, and write eval sets by talking with an agent, in the browser.",
    "audit": "Show who changed what in the web app of a team, the newest first.",
    "review": "Review the items of a data file by hand: scores, a status and comments, in the browser.",
    "import": "Import a log of another evaluation program as a stored run, with its scores.",
    "report": "Write a run as a page: HTML, Markdown, JSON or JUnit.",
    "export": "Write a run as files for other programs.",
    "eval": "Evaluate an agent on eval-set files, as veadk eval and adk eval do; exit code 1 when a case fails.",
    "uploadevalset": "Upload the cases of an eval-set file to CozeLoop.",
    "chat": "Talk with an agent in the terminal, and keep the conversation as a case of an eval set.",
    "evalset": "Look at eval-set files (ADK), change them, and bring old ones to the current shape.",
    "parity": "Check our verdicts against recorded official ones.",
    "list": "List the tasks, agents, scorers, simulated users or environments there are.",
    "data": "Fetch, count or check the data of a benchmark.",
    "new": "Write a set of questions, tools with a state, a gate, a watch, or tiers for CI to start from.",
    "models": "Fetch a local model.",
    "completion": "Print the script with which bash, zsh or fish completes commands, options, runs, tasks, agents and scorers.",
}


class UserError(click.ClickException):
    """A mistake of the user as click shows it: in the user's language, with our exit code."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        from proctor.runtime.visible import visible

        click.echo(t("Error: {message}", message=visible(self.message)), err=True, file=file)


class Commands(click.Group):
    """Finds a command's module when it is called, so that help and errors cost nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*HELP_BY_COMMAND]  # the name `list` is that of a command's module here

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in HELP_BY_COMMAND:
            return None
        command: click.Command = import_module(f"proctor.cli.{cmd_name.replace('-', '_')}").command
        if "_PROCTOR_COMPLETE" in os.environ:
            from proctor.cli.completion import complete_values

            complete_values(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in HELP_BY_COMMAND and not args[0].startswith("-"):
            from proctor.registry import unknown

            near = unknown("command", args[0], [*HELP_BY_COMMAND], paths=False, most=0)
            raise UserError(t(near.sentence) + t(" All of them: proctor --help"))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(t("Commands")):
            formatter.write_dl([(name, t(text)) for name, text in HELP_BY_COMMAND.items()])

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

    def _invoke(self, ctx: click.Context) -> Any:
        """Call a command, and have all that it printed written while a failure of that can still be reported."""
        try:
            result = super().invoke(ctx)
        except click.exceptions.Exit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return result


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(package_name="proctor", message="proctor %(version)s")
@click.option("--lang", metavar="en|zh", expose_value=False, help="en | zh")
def app() -> None:
    """Group the commands; their texts are in `HELP_BY_COMMAND`."""


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
    ids = (one.run_id for one in shown if isinstance(one, BadInput | Stopped))
    run_id = next(filter(None, ids), None)
    if run_id is None:
        return []
    if ctx.invoked_subcommand == "tier":
        return [t("Stopped; everything finished is kept. Go on with the same command.")]
    import shlex

    from proctor.cli.options import SHARD, STORE

    if SHARD in ctx.meta:
        run_id = f"{run_id} --shard {shlex.quote(ctx.meta[SHARD])}"
    if STORE in ctx.meta:  # as it has to be named again
        run_id = f"{run_id} --store {shlex.quote(ctx.meta[STORE])}"
    if ctx.invoked_subcommand == "race":
        return [t("Stopped; everything finished is kept. Go on with: proctor race --run {run}", run=run_id)]
    if ctx.invoked_subcommand in JUDGING:
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
