"""Options that several commands share, and values like `key=value`."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.core.run import Budget, Limits

F = TypeVar("F", bound=Callable[..., Any])
AT_LEAST_ONE = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
STORE = "proctor.store"  # where a context's meta keeps the store that was named


def store(command: F) -> F:
    """--store"""
    text = t("Where runs are kept: a file or an address (default: PROCTOR_STORE, else one file in your data folder).")
    return click.option("--store", metavar="URL", help=text, callback=_remember_store)(command)


def limits_of(seconds: float | None, kept: "Limits | None") -> "Limits | None":
    """Return the limits with the time that was given; None where nothing was said, so that a stored run keeps its own."""
    from proctor.core.run import Limits

    return kept if seconds is None else replace(kept or Limits(), seconds=seconds)


def as_json(command: F) -> F:
    """--json"""
    return click.option("--json", "as_json", is_flag=True, help=t("Print one JSON object instead of a table."))(command)


def quiet(command: F) -> F:
    """--quiet"""
    return click.option("--quiet", is_flag=True, help=t("Show no progress."))(command)


def task_set(command: F) -> F:
    """--set"""
    text = t("An option of the task; may be given several times.")
    return click.option("--set", "task_set", metavar="KEY=VALUE", multiple=True, help=text)(command)


def columns(command: F) -> F:
    """--map"""
    text = t(
        "What a column of a file of questions is: question, target, type, options, tag:NAME; may be given several times."
    )
    return click.option("--map", "mapped", metavar="COLUMN=NAME", multiple=True, help=text)(command)


def items(command: F) -> F:
    """--map, for items"""
    text = t("What a column is: id, question, answer, solution, reference, tag:NAME; may be given several times.")
    return click.option("--map", "mapped", metavar="COLUMN=NAME", multiple=True, help=text)(command)


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
    return click.option("--judge-set", metavar="KEY=VALUE", multiple=True, help=text)(command)


def run(command: F) -> F:
    """--run, for a new run"""
    text = t("The name of the run; that of a stored run goes on with it.")
    return click.option("--run", "run_id", metavar="ID", help=text)(command)


def accept_changes(command: F) -> F:
    """--accept-changes"""
    text = t("When going on with a run, do so although files of the agent, the task, a scorer or the judge changed.")
    return click.option("--accept-changes", is_flag=True, help=text)(command)


def judge_of(judge: str | None, values: tuple[str, ...]) -> dict[str, Any]:
    """What --judge and --judge-set say, over the settings of the project."""
    from proctor.config import settings

    return {
        "judge": judge,
        "judge_options": {**settings().judge_options, **pairs(values, "--judge-set")} if judge or values else None,
    }


def how_of(judge: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that all commands give on which ask judges: the judge, the store, and what the run may use."""
    return {
        **judge_of(judge, given["judge_set"]),
        "store": given["store"],
        "concurrency": given["concurrency"],
        "budget": budget_of(given["budget"]),
    }


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
    return click.option("--budget", metavar="KIND=AMOUNT", multiple=True, help=text)(command)


def budget_of(values: tuple[str, ...]) -> "Budget | None":
    """What --budget says; None where it is not given."""
    from proctor.config import converted
    from proctor.core.run import Budget

    return converted(pairs(values, "--budget"), Budget, "--budget") if values else None


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
