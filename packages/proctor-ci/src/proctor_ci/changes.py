"""Say what is different in how two runs were made: code, data, options, versions."""

from collections.abc import Iterator, Mapping
from operator import attrgetter

import msgspec

from proctor.core.run import RunRecord
from proctor.reports.build import HIDDEN, is_private
from proctor.reports.pairs import value_text

PACE = (
    "concurrency",
    "workers",
    "budget",
    "until",
)  # these change how fast a run is and when it ends, not what it measures
DEEP = 4
SEPARATOR = " · "
MOST = 60


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of two runs that differs; None where a run does not have it."""

    name: str
    before: str | None
    after: str | None


_RECORDED = tuple(map(attrgetter, ("spec", "provenance", "task_version", "agent", "proctor_version")))


def changes_between(old: RunRecord, new: RunRecord) -> tuple[Change, ...]:
    """Return what differs in what was run; what may be secret is named without its value."""
    if all(of(old) == of(new) for of in _RECORDED):
        return ()
    before, after = (dict(_facts(record)) for record in (old, new))
    return tuple(
        Change(name=name, before=_shown(name, before.get(name)), after=_shown(name, after.get(name)))
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    )[:MOST]


def _shown(name: str, text: str | None) -> str | None:
    return text if text is None or not is_private(name.rpartition(SEPARATOR)[2]) else HIDDEN


def _facts(record: RunRecord) -> Iterator[tuple[str, str]]:
    yield "task version", record.task_version
    yield "agent", record.agent
    yield "Proctor", record.proctor_version
    spec = {name: value for name, value in msgspec.to_builtins(record.spec).items() if name not in PACE}
    yield from _flat(spec, ())
    yield from _flat(record.provenance, ())


def _flat(facts: Mapping[str, object], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key, value in facts.items():
        here = (*path, str(key))
        if isinstance(value, Mapping) and len(path) < DEEP:
            yield from _flat(value, here)
        elif value not in (None, "", [], ()):
            text = value if isinstance(value, str) else value_text(value)
            yield SEPARATOR.join(here), text
