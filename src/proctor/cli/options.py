"""Options that several commands share, each for a decorator, and values like `key=value`."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api import RunOptions
    from proctor.core.run import Budget

F = TypeVar("F", bound=Callable[..., Any])
Reader = Callable[[Iterable[str], str], Mapping[str, Any]]
AT_LEAST_ONE = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
STORE = "proctor.store"  # where a context's meta keeps the store that was named
SHARD = "proctor.shard"  # and the shard


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return several options as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def pairs(values: Iterable[str], flag: str) -> dict[str, Any]:
    """Return `key=value` texts as a dict; a value that is JSON is read as such, and `a.b=1` nests.

    >>> pairs(["temperature=0", "extra_body.top_k=3", "mode=native"], "--set")
    {'temperature': 0, 'extra_body': {'top_k': 3}, 'mode': 'native'}
    """
    found: dict[str, Any] = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadInput("{flag} takes key=value, not '{text}'.", flag=flag, text=text)
        *path, last = key.split(".")
        place = found
        for part in path:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise BadInput("{flag} {text}: '{part}' has a value already.", flag=flag, text=text, part=part)
        place[last] = _value(value)
    return found


def texts(values: Iterable[str], flag: str) -> dict[str, str]:
    """Return `key=value` texts as a dict; values stay texts."""
    found = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals:
            raise BadInput("{flag} takes key=value, not '{text}'.", flag=flag, text=text)
        found[key] = value
    return found


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


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _budget(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> "Budget | None":
    from proctor.config import converted
    from proctor.core.run import Budget

    return converted(pairs(values, "--budget"), Budget, "--budget") if values else None


def several(flag: str, name: str, text: str, metavar: str = "KEY=VALUE", read: Reader = texts) -> Callable[[F], F]:
    """Return an option that may be given several times, each time with a key and a value; None when it is not given."""
    return click.option(
        flag,
        name,
        metavar=metavar,
        multiple=True,
        callback=lambda _, __, values: read(values, flag) if values else None,
        help=text,
    )


store = click.option(
    "--store",
    metavar="URL",
    callback=_remember_store,
    help=t("Where runs are kept: a file or an address (default: PROCTOR_STORE, else one file in your data folder)."),
)
skip_damaged = click.option(
    "--skip-damaged", is_flag=True, help=t("Leave out samples whose record in the store is damaged, and name them.")
)
as_json = click.option("--json", "as_json", is_flag=True, help=t("Print one JSON object instead of a table."))
quiet = click.option("--quiet", is_flag=True, help=t("Show no progress."))
task_set = several("--set", "options", t("An option of the task; may be given several times."), read=pairs)
agent_set = several(
    "--agent-set",
    "agent_options",
    t("An option of the agent, such as temperature=0; may be given several times."),
    read=pairs,
)
environment = together(
    click.option(
        "--environment",
        metavar="KIND:NAME",
        multiple=True,
        help=t(
            "The tools that the agent acts on: python:./shop.py:Shop, mcp:COMMAND, mcp:URL, process:COMMAND; may be given several times."
        ),
    ),
    several(
        "--environment-set",
        "environment_options",
        t("An option of the environment, such as reset=reset_state; may be given several times."),
        read=pairs,
    ),
)
perturb = several(
    "--perturb",
    "perturb",
    t(
        "Put faults into this share of the calls of tools: errors=0.1, lost=0.1 (carried out, without a result), delays=0.1 (seconds=2), cuts=0.1; may be given several times."
    ),
    "KIND=SHARE",
    read=pairs,
)
approve = click.option(
    "--approve",
    metavar="ask|all|none|NAMES",
    help=t(
        "Who approves calls of the agent that wait for it: ask (the simulated user), all, none, or the names of the tools that are approved, with commas between."
    ),
)
on_agent_error = click.option(
    "--on-agent-error",
    type=click.Choice(["agent", "provider", "ask"]),
    help=t(
        "Whose failure it is when a request of the agent's own code fails and nothing shows whether it asked its model or a tool: agent (counts as 0), provider (not counted), or ask, the default: such trials are counted apart, and this option settles them later."
    ),
)
judge_set = several(
    "--judge-set",
    "judge_options",
    t("An option of the judge or its model, such as repeats=3 or temperature=0.5; may be given several times."),
    read=pairs,
)
judge = together(
    click.option(
        "--judge",
        metavar="MODEL",
        help=t(
            "The model that judges: openai:MODEL, local:NAME, scripted:FILE (else PROCTOR_JUDGE); several for a jury, with commas between."
        ),
    ),
    judge_set,
)
user = together(
    click.option(
        "--user",
        help=t(
            "The simulated user, where the task needs one: model:openai:MODEL, scripted:FILE, adk:openai:MODEL, ./user.py:object."
        ),
    ),
    several(
        "--user-set",
        "user_options",
        t("An option of the simulated user or its model, such as max_turns=10; may be given several times."),
        read=pairs,
    ),
)
base_url = click.option("--base-url", help=t("The endpoint of an OpenAI-compatible model (else OPENAI_BASE_URL)."))
batch = click.option(
    "--batch",
    is_flag=True,
    default=None,
    help=t("Send the requests of the agent in batches, at half the price; replies may take a day (OpenAI, Anthropic)."),
)
time_limit = click.option(
    "--time-limit",
    "limits",
    type=SECONDS,
    metavar="SECONDS",
    callback=lambda _, __, seconds: None if seconds is None else {"seconds": seconds},
    help=t(
        "Time limit of one sample (default 600). Waiting to send a failed request again does not count, but for each request ends after as many seconds, unless the server names a time to come back."
    ),
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
tags = several("--tag", "tags", t("Take the samples with this tag; may be given several times."))
limit = click.option(
    "--limit",
    type=AT_LEAST_ONE,
    help=t("Take N samples at random (with the seed), in proportion to the categories."),
)
more = click.option(
    "--more",
    type=AT_LEAST_ONE,
    help=t(
        "Then take N further samples, most where outcomes are uncertain (with --limit, or for a stored run of some)."
    ),
)
first = click.option("--first", type=AT_LEAST_ONE, help=t("Take the first N samples."))
order = click.option(
    "--order",
    type=click.Choice(["random", "official"]),
    help=t("The order in which samples are visited: random (with the seed), or that of the task."),
)
target = click.option(
    "--target",
    type=click.Choice(["samples", "suite"]),
    help=t("What the intervals are about: samples like these (default), or this very suite."),
)
error = click.option(
    "--error",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    help=t("The greatest chance of a wrong decision to one side (default 0.05)."),
)
until = together(
    click.option(
        "--until",
        metavar="RULE",
        help=t(
            "End as soon as a rule is decided: 'accuracy >= 0.85', or with --against 'accuracy not worse by 0.05', 'accuracy better'; exit code 0 for GO, 1 for NO-GO, 3 else. 'end' runs the rest."
        ),
    ),
    click.option(
        "--against",
        metavar="RUN|NAME",
        help=t("The stored run, or named baseline, that the rule of --until compares with."),
    ),
    error,
)
seed = click.option("--seed", type=int, help=t("The seed of every draw (default 0)."))
scorer = click.option(
    "--scorer",
    "scorers",
    metavar="NAME",
    multiple=True,
    help=t("A scorer to use instead of the task's own; may be given several times."),
)
run = click.option("--run", "run_id", metavar="ID", help=t("The name of the run; that of a stored run resumes it."))
accept_changes = click.option(
    "--accept-changes",
    is_flag=True,
    help=t("Resume a run although files of the agent, the task, a scorer or the judge changed."),
)
given = click.option(
    "--given",
    metavar="RUN|NAME",
    multiple=True,
    help=t(
        "Adjust the numbers by what this run earned on the same samples, so that intervals become narrower; may be given several times."
    ),
)
cache = click.option(
    "--cache",
    is_flag=True,
    help=t("Take the model's replies from the reply cache of this machine where it has them, and keep new ones there."),
)
trace_to = together(
    click.option(
        "--trace-to",
        metavar="URL",
        help=t("Send each trial to this OpenTelemetry collector; env: to that of the OTEL_ variables."),
    ),
    click.option(
        "--trace-content",
        is_flag=True,
        default=None,
        help=t("Send what was said, too, with the arguments and results of tools and the reasons of verdicts."),
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
shard = click.option(
    "--shard",
    metavar="K/N",
    callback=_remember_shard,
    help=t(
        "Play only part K of N of the samples, with the same --run in all parts; `proctor runs merge` puts them together."
    ),
)
concurrency = click.option("--concurrency", type=AT_LEAST_ONE, help=t("How many samples at once."))
budget = click.option(
    "--budget",
    metavar="KIND=AMOUNT",
    multiple=True,
    callback=_budget,
    help=t("Stop when this is spent: money=5, tokens=1000000, requests=500, minutes=30; may be given several times."),
)
spending = together(concurrency, budget)
resuming = together(run, accept_changes, store)
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
