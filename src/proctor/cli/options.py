"""Options that several commands share, and values like `key=value`."""

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.core.run import Budget

F = TypeVar("F", bound=Callable[..., Any])


def store(command: F) -> F:
    """--store"""
    text = t("Where runs are kept: a file or an address (default: PROCTOR_STORE, else one file in your data folder).")
    return click.option("--store", metavar="URL", help=text)(command)


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


def scorer(command: F) -> F:
    """--scorer"""
    text = t("A scorer to use instead of the task's own; may be given several times.")
    return click.option("--scorer", "scorers", metavar="NAME", multiple=True, help=text)(command)


def concurrency(command: F) -> F:
    """--concurrency"""
    return click.option("--concurrency", type=int, help=t("How many samples at once."))(command)


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


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
