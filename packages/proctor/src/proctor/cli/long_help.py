"""The help of a command with many options: one screen of those that are used most, and all of them with `--help-all`."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click

from proctor.cli.words import t
from proctor.core.sentence import Sentence, say

ALL = "proctor.help-all"  # where a context's meta keeps that all options were asked for


class OptionGroup(NamedTuple):
    """Options that are about one thing, by name, in the order of the help."""

    title: Sentence
    names: str


GROUPS = (
    OptionGroup(
        say("Samples"),
        "limit first more id tag order target attempts num-runs seed count topic near meaning examples",
    ),
    OptionGroup(
        say("Task and data"),
        "set map environment environment-set perturb approve user user-set evalset-file reference labels",
    ),
    OptionGroup(
        say("Agent"),
        "agent agent-dir agent-a2a-url agent-set base-url batch on-agent-error time-limit tries solver solver-set votes",
    ),
    OptionGroup(
        say("Scores"),
        "scorer judge judge-set rubric repeats min min-by metric margin better-by until against error evaluator "
        "config-file-path judge-model-name allow-code tool-score-threshold response-match-score-threshold",
    ),
    OptionGroup(say("Checks"), "check skip list ignore fail-on replay all"),
    OptionGroup(say("Work and cost"), "concurrency workers on shard budget max-failed cache dry-run"),
    OptionGroup(say("Kept runs"), "run store retry-failed accept-changes"),
    OptionGroup(
        say("Users and login"),
        "trusted-header trusted-proxy groups-header grant name url session-hours oidc oidc-client oidc-secret-file "
        "oidc-user oidc-groups",
    ),
    OptionGroup(
        say("Output"),
        "out results junit csv push print-detailed-results json quiet trace-to trace-content",
    ),
)


class LongCommand(click.Command):
    """A command whose help shows the options in `shown`, in this order."""

    def __init__(self, *arguments: Any, shown: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.shown = [f"--{name}" for name in shown.split()]
        everything = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help=t("Show all options, in groups."),
        )
        self.params.append(everything)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        by_name = {
            name: parameter
            for parameter in self.get_params(ctx)
            for name in parameter.opts
            if isinstance(parameter, click.Option)
        }
        if not ctx.meta.get(ALL):
            rows = [_short(by_name[name].get_help_record(ctx)) for name in (*self.shown, "--help-all", "--help")]
            with formatter.section(t("Most used options of {count}", count=len({*by_name.values()}))):
                formatter.write_dl(rows, col_max=26)
            return
        others = dict.fromkeys(by_name.values())
        for group in GROUPS:
            own = [by_name[f"--{name}"] for name in group.names.split() if f"--{name}" in by_name]
            _write(t(group.title), own, ctx, formatter)
            others = {option: None for option in others if option not in own}
        _write(t("Other options"), others, ctx, formatter)


def long_command(shown: str, **settings: Any) -> Callable[[Callable[..., Any]], LongCommand]:
    """Return a decorator that makes a command with many options; `shown` names those that are used most, the most used first."""
    return click.command(cls=LongCommand, shown=shown, **settings)


def _show_all(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from proctor.cli import output

        ctx.meta[ALL] = True
        output.line(ctx.get_help())
        ctx.exit()


def _write(title: str, options: Iterable[click.Option], ctx: click.Context, formatter: click.HelpFormatter) -> None:
    if rows := [_record(option.get_help_record(ctx)) for option in options]:
        with formatter.section(title):
            formatter.write_dl(rows)


def _record(record: tuple[str, str] | None) -> tuple[str, str]:
    assert record is not None  # no option of a long command is hidden
    return record


def _short(record: tuple[str, str] | None) -> tuple[str, str]:
    """Return an option without the remark that it may be repeated."""
    name, text = _record(record)
    several = t("; may be given several times.")
    return name, text.removesuffix(several) + several[-1] if text.endswith(several) else text
