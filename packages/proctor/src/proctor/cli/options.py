"""Options that several commands share, each for a decorator, and values like `key=value`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.derived import derived, pairs, several, together
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api import RunOptions
    from proctor.core.run import Budget

F = TypeVar("F", bound=Callable[..., Any])
AT_LEAST_ONE = click.IntRange(min=1)
STORE = "proctor.store"  # where a context's meta keeps the store that was named
SHARD = "proctor.shard"  # and the shard


def _remember_store(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        ctx.meta[STORE] = value
    return value


def _remember_shard(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        ctx.meta[SHARD] = value
    return value


def _decision_files(_: click.Context, __: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        if not path.endswith((".md", ".html", ".json", ".xml")):  # before anything is run
            raise BadInput("A decision is written as .md, .html, .json or .xml, not '{name}'.", name=path)
    return paths


def _page_file(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    if path is not None and not path.endswith((".md", ".html")):
        raise BadInput("A page ends in .md or .html, not '{name}'.", name=path)
    return path


def _seconds(_: click.Context, __: click.Parameter, seconds: float | None) -> dict[str, float] | None:
    return None if seconds is None else {"seconds": seconds}


def _budget(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> "Budget | None":
    from proctor.config import converted
    from proctor.core.run import Budget

    return converted(pairs(values, "--budget"), Budget, "--budget") if values else None


def of_run(names: str) -> Callable[[F], F]:
    """Return a decorator that adds options of a run, named by their fields in `RunFields`, with spaces between."""
    return derived(
        *names.split(),
        callbacks={"store": _remember_store, "shard": _remember_shard, "budget": _budget, "limits": _seconds},
    )


skip_damaged = click.option(
    "--skip-damaged", is_flag=True, help=t("Leave out samples whose record in the store is damaged, and name them.")
)
as_json = click.option("--json", "as_json", is_flag=True, help=t("Print one JSON object instead of a table."))
quiet = click.option("--quiet", is_flag=True, help=t("Show no progress."))
base_url = click.option("--base-url", help=t("The endpoint of an OpenAI-compatible model (else OPENAI_BASE_URL)."))
batch = click.option(
    "--batch",
    is_flag=True,
    default=None,
    help=t("Send the requests of the agent in batches, at half the price; replies may take a day (OpenAI, Anthropic)."),
)
columns = several(
    "--map",
    "columns",
    t(
        "What a column of a file of questions is: question, target, type, options, tag:NAME; may be given several times."
    ),
    "COLUMN=NAME",
)
items = several(
    "--map",
    "columns",
    t("What a column is: id, question, answer, solution, reference, tag:NAME; may be given several times."),
    "COLUMN=NAME",
)
given = click.option(
    "--given",
    metavar="RUN|NAME",
    multiple=True,
    help=t(
        "Adjust the numbers by what this run earned on the same samples, so that intervals become narrower; may be given several times."
    ),
)
dry_run = click.option("--dry-run", is_flag=True, help=t("Show the plan and the first prompt; call nothing."))
reports = click.option(
    "--out",
    "-o",
    "reports",
    metavar="FILE",
    multiple=True,
    help=t("Write a report too: .html, .md, .json or .xml; may be given several times."),
)
reader = click.option(
    "--for",
    "reader",
    type=click.Choice(["developer", "product", "user"]),
    help=t(
        "For whom: developer (failures with commands), product (a decision, risks, money and time), user (one card in plain words)."
    ),
)
decision = click.option(
    "--out",
    "-o",
    metavar="FILE",
    multiple=True,
    callback=_decision_files,
    help=t("Write it too: .html, .md, .json or .xml (JUnit); several times."),
)
workspace = together(
    click.option(
        "--store", "stores", metavar="URL", multiple=True, help=t("A store of runs; may be given several times.")
    ),
    click.option(
        "--agents",
        type=click.Path(path_type=Path),
        help=t("The folder of agents that may be started, as adk web takes it."),
    ),
    click.option("--evalsets", type=click.Path(path_type=Path), help=t("The folder of eval-set files (ADK).")),
)
read_only = click.option("--read-only", is_flag=True, help=t("Show everything, change and start nothing."))
page = click.option("--out", "-o", metavar="FILE", callback=_page_file, help=t("Write a page too: .md or .html."))
showing = together(as_json, quiet)


def nested(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags, with --base-url and --batch among the options of the agent and --map among those of the task."""
    flags = dict(given)
    for group, name in (("agent_options", "base_url"), ("agent_options", "batch"), ("options", "columns")):
        if value := flags.pop(name, None):
            flags[group] = {**(flags.get(group) or {}), name: value}
    return flags


def judge_options(judge: str | None, given: Mapping[str, object] | None) -> dict[str, object] | None:
    """Return what --judge-set says, over the settings of the project; None where neither it nor a judge is given."""
    from proctor.config import settings

    return {**settings().judge_options, **(given or {})} if judge or given else None


def judging(judge: str | None, given: Mapping[str, Any]) -> "RunOptions":
    """Return the options of a command whose judges are asked about answers that exist."""
    from proctor.api import RunOptions

    same = {
        name: given[name] for name in ("store", "concurrency", "budget", "run_id", "accept_changes") if name in given
    }
    return RunOptions(
        agent="recorded:", judge=judge, judge_options=judge_options(judge, given["judge_options"]), **same
    )


def run_options(task: str | None, given: Mapping[str, Any]) -> "tuple[str, RunOptions]":
    """Return the task and the options of a run: the flags, over those of a stored run or the settings of the project."""
    from proctor.api import RunOptions, resumable
    from proctor.config import settings

    flags = nested(given)
    if task is not None:
        return task, RunOptions.usual(settings()).changed(flags)
    if flags["run_id"] is None:
        raise BadInput("Name a task, for example: proctor run bfcl/simple_python --agent openai:MODEL")
    task, stored = resumable(flags["run_id"], flags.pop("store"))
    return task, stored.changed(flags)
