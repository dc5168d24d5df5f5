"""Options that several commands share, and values like `key=value`."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api import RunOptions
    from proctor.core.run import Budget

F = TypeVar("F", bound=Callable[..., Any])
AT_LEAST_ONE = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
STORE = "proctor.store"  # where a context's meta keeps the store that was named


def store(command: F) -> F:
    """--store"""
    text = t("Where runs are kept: a file or an address (default: PROCTOR_STORE, else one file in your data folder).")
    return click.option("--store", metavar="URL", help=text, callback=_remember_store)(command)


def as_json(command: F) -> F:
    """--json"""
    return click.option("--json", "as_json", is_flag=True, help=t("Print one JSON object instead of a table."))(command)


def quiet(command: F) -> F:
    """--quiet"""
    return click.option("--quiet", is_flag=True, help=t("Show no progress."))(command)


def task_set(command: F) -> F:
    """--set"""
    text = t("An option of the task; may be given several times.")
    return click.option("--set", "options", metavar="KEY=VALUE", multiple=True, callback=_pairs("--set"), help=text)(
        command
    )


def agent_set(command: F) -> F:
    """--agent-set"""
    text = t("An option of the agent, such as temperature=0; may be given several times.")
    return click.option(
        "--agent-set",
        "agent_options",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_pairs("--agent-set"),
        help=text,
    )(command)


def base_url(command: F) -> F:
    """--base-url"""
    text = t("The endpoint of an OpenAI-compatible model (else OPENAI_BASE_URL).")
    return click.option("--base-url", help=text)(command)


def time_limit(command: F) -> F:
    """--time-limit"""
    text = t("Time limit of one sample (default 600).")
    return click.option("--time-limit", "limits", type=SECONDS, metavar="SECONDS", callback=_limits, help=text)(command)


def columns(command: F) -> F:
    """--map"""
    text = t(
        "What a column of a file of questions is: question, target, type, options, tag:NAME; may be given several times."
    )
    return click.option("--map", "columns", metavar="COLUMN=NAME", multiple=True, callback=_texts("--map"), help=text)(
        command
    )


def items(command: F) -> F:
    """--map, for items"""
    text = t("What a column is: id, question, answer, solution, reference, tag:NAME; may be given several times.")
    return click.option("--map", "columns", metavar="COLUMN=NAME", multiple=True, callback=_texts("--map"), help=text)(
        command
    )


def limit(command: F) -> F:
    """--limit"""
    text = t("Take N samples at random (with the seed), in proportion to the categories.")
    return click.option("--limit", type=AT_LEAST_ONE, help=text)(command)


def first(command: F) -> F:
    """--first"""
    return click.option("--first", type=AT_LEAST_ONE, help=t("Take the first N samples."))(command)


def order(command: F) -> F:
    """--order"""
    text = t("The order in which samples are visited: random (with the seed), or that of the task.")
    return click.option("--order", type=click.Choice(["random", "official"]), help=text)(command)


def target(command: F) -> F:
    """--target"""
    text = t("What the intervals are about: samples like these (default), or this very suite.")
    return click.option("--target", type=click.Choice(["samples", "suite"]), help=text)(command)


def seed(command: F) -> F:
    """--seed"""
    return click.option("--seed", type=int, help=t("The seed of every draw (default 0)."))(command)


def scorer(command: F) -> F:
    """--scorer"""
    text = t("A scorer to use instead of the task's own; may be given several times.")
    return click.option("--scorer", "scorers", metavar="NAME", multiple=True, help=text)(command)


def judge(command: F) -> F:
    """--judge and --judge-set"""
    text = t(
        "The model that judges: openai:MODEL, local:NAME, scripted:FILE (else PROCTOR_JUDGE); several for a jury, with commas between."
    )
    return click.option("--judge", metavar="MODEL", help=text)(judge_set(command))


def judge_set(command: F) -> F:
    """--judge-set"""
    text = t("An option of the judge or its model, such as repeats=3 or temperature=0.5; may be given several times.")
    return click.option(
        "--judge-set",
        "judge_options",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_pairs("--judge-set"),
        help=text,
    )(command)


def run(command: F) -> F:
    """--run, for a new run"""
    text = t("The name of the run; that of a stored run goes on with it.")
    return click.option("--run", "run_id", metavar="ID", help=text)(command)


def accept_changes(command: F) -> F:
    """--accept-changes"""
    text = t("When going on with a run, do so although files of the agent, the task, a scorer or the judge changed.")
    return click.option("--accept-changes", is_flag=True, help=text)(command)


def dry_run(command: F) -> F:
    """--dry-run"""
    text = t("Show the plan and the first prompt; call nothing.")
    return click.option("--dry-run", is_flag=True, help=text)(command)


def reports(command: F) -> F:
    """--out"""
    text = t("Write a report too: .html, .md, .json or .xml; may be given several times.")
    return click.option("--out", "-o", "reports", metavar="FILE", multiple=True, help=text)(command)


def concurrency(command: F) -> F:
    """--concurrency"""
    return click.option("--concurrency", type=AT_LEAST_ONE, help=t("How many samples at once."))(command)


def budget(command: F) -> F:
    """--budget"""
    text = t("Stop when this is spent: money=5, tokens=1000000, requests=500, minutes=30; may be given several times.")
    return click.option("--budget", metavar="KIND=AMOUNT", multiple=True, callback=_budget, help=text)(command)


def tags(command: F) -> F:
    """--tag"""
    text = t("Take the samples with this tag; may be given several times.")
    return click.option("--tag", "tags", metavar="KEY=VALUE", multiple=True, callback=_texts("--tag"), help=text)(
        command
    )


def judge_options(judge: str | None, given: Mapping[str, Any] | None) -> dict[str, Any] | None:
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

    flags = dict(given)
    for option, name, value in (
        ("agent_options", "base_url", flags.pop("base_url", None)),
        ("options", "columns", flags.pop("columns", None)),
    ):
        if value:
            flags[option] = {**(flags.get(option) or {}), name: value}
    if task is not None:
        return task, RunOptions.usual(settings()).changed(flags)
    if flags["run_id"] is None:
        raise BadInput("Name a task, for example: proctor run bfcl/simple_python --agent openai:MODEL")
    task, stored = resumable(flags["run_id"], flags.pop("store"))
    return task, stored.changed(flags)


def pairs(values: Iterable[str], flag: str) -> dict[str, Any]:
    """`key=value` texts as a dict; a value that is JSON is read as such, and `a.b=1` nests.

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
    """`key=value` texts as a dict; values stay texts."""
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


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _pairs(flag: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, Any] | None]:
    return lambda _, __, values: pairs(values, flag) if values else None


def _texts(flag: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str] | None]:
    return lambda _, __, values: texts(values, flag) if values else None


def _limits(_: click.Context, __: click.Parameter, seconds: float | None) -> dict[str, float] | None:
    return None if seconds is None else {"seconds": seconds}


def _budget(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> "Budget | None":
    from proctor.config import converted
    from proctor.core.run import Budget

    return converted(pairs(values, "--budget"), Budget, "--budget") if values else None
