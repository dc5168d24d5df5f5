"""Gather what trackers of experiments keep of a run: numbers by name, conditions, and its report."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from proctor.core.digest import digest
from proctor.core.run import Estimate, RunRecord
from proctor.core.task import Store
from proctor.transport.redact import quoted, redact

MOST_NAME = 250  # characters, of MLflow
MOST_TEXT = 500
_UNUSUAL = re.compile(r"[^\w.\- ]")


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a run adds up to.

    Attributes:
        options: by name, without keys.
        write_report: writes it as a page.
        model: the name of the model, where the user gave one.
    """

    estimates: Sequence[Estimate]
    options: Mapping[str, str]
    write_report: Callable[[Path], Path]
    model: str


def key_of(record: RunRecord) -> str:
    """Return what a run is found by again: the same for the same run, another one for a run of the same name made later."""
    return digest([record.id, record.created])


def metrics(record: RunRecord, store: Store, summary: Summary) -> dict[str, float]:
    """Return the numbers of a run by name; what has no value is left out, never 0.

    `accuracy`, `accuracy.low`, `accuracy.high`, and `accuracy/category/simple` for a slice.
    """
    by_name: dict[str, float] = {}
    for estimate in summary.estimates:
        key, _, value = estimate.slice.partition("=")
        name = "/".join(_plain(part) for part in (estimate.name, *((key, value) if estimate.slice else ())))
        numbers = {"": estimate.value, ".low": estimate.low, ".high": estimate.high, ".scored": float(estimate.scored)}
        if not estimate.slice:
            numbers |= {".planned": float(estimate.planned), ".floor": estimate.floor, ".ceiling": estimate.ceiling}
        for suffix, number in numbers.items():
            if number is not None:
                _put(by_name, name + suffix, number, of=estimate.name + estimate.slice)
    usage = store.usage(record.id)
    for name, count in store.outcomes(record.id).items():
        by_name[f"outcomes/{name}"] = float(count)
    by_name |= {f"usage/{name}": float(getattr(usage, name)) for name in ("requests", "input_tokens", "output_tokens")}
    if usage.cost is not None:
        by_name["usage/cost"] = usage.cost
    by_name["seconds"] = record.seconds
    return by_name


def conditions(record: RunRecord, summary: Summary) -> dict[str, str]:
    """Return the conditions of a run (versions, options, seed) as texts, with keys of providers hidden."""
    spec = record.spec
    fields: dict[str, object] = {
        "task": record.task,
        "task_version": record.task_version,
        "agent": record.agent,
        "scorers": ", ".join(record.scorers),
        "attempts": spec.attempts,
        "planned": record.planned,
        "seed": spec.seed,
        "limit": spec.selection.limit,
        "proctor_version": record.proctor_version,
        **{f"options/{_plain(name)}": text for name, text in summary.options.items()},
    }
    return {
        name[:MOST_NAME]: redact(str(value))[:MOST_TEXT] for name, value in fields.items() if value not in (None, "")
    }


def host_of(address: str) -> str:
    """Return the host of an address, for people; an address without one is shown without keys."""
    try:
        host = urlsplit(address).netloc.rpartition("@")[2]
    except ValueError:  # brackets that do not close
        host = ""
    return redact(host or address)


def one_line(error: BaseException) -> str:
    """Return what the library of a tracker says of a failure: in one line, short, without keys; some quote whole pages."""
    return " ".join(quoted(error).split())


def _put(found: dict[str, float], name: str, value: float, *, of: str) -> None:
    """Add a number; two names that are alike only once they are plain stay two."""
    short = name[:MOST_NAME]
    found[f"{short[: MOST_NAME - 9]}-{digest(of)[:8]}" if short in found else short] = value


def _plain(text: str) -> str:
    """Return a part of a name as every tracker accepts it."""
    return _UNUSUAL.sub("_", text).strip(".") or "_"
