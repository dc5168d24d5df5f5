"""Put runs in the order of a list, begin where a page before it ended, and look back at earlier runs."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.errors import BadInput
from proctor_web.runs.numbers import RunNumbers, numbers_soon
from proctor_web.workspace import Found, Workspace

SIZE = 50
EARLIER = 11  # runs of the same task and agent that the history of a run goes back
RunOrder = Literal["", "run", "-run", "task", "-task", "agent", "-agent", "result", "-result", "cost", "-cost", "seconds", "-seconds", "created"]  # fmt: skip


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are listed, and how; what is empty filters nothing.

    Attributes:
        text: words that the name, task, agent, tags or notes of a run have, in any order.
        since, until: days, as 2026-01-31, both included.
        order: by which column, the greatest first after a minus; empty is the newest first.
        group: the runs of one task or agent stand together.
        after: the `next` of the page before.
    """

    task: str = ""
    agent: str = ""
    state: str = ""
    tag: str = ""
    text: str = ""
    since: str = ""
    until: str = ""
    order: RunOrder = ""
    group: Literal["", "task", "agent"] = ""
    after: str = ""
    size: int = SIZE


def _key(found: Found) -> tuple[float, str]:
    """Return by what runs are ordered: the newest first, then by name."""
    return -found.record.created, found.reference


_TEXTS: Mapping[str, Callable[[Found], str]] = {
    "run": lambda found: found.record.id.casefold(),
    "task": lambda found: found.record.spec.task.casefold(),
    "agent": lambda found: found.record.agent.casefold(),
}


def in_order(workspace: Workspace, found: Sequence[Found], given: RunFilter) -> Sequence[Found]:
    """Return runs in the order of a filter; those without a number come last."""
    name, is_falling = given.order.removeprefix("-"), given.order.startswith("-")
    ranked = sorted(found, key=_key, reverse=name == "created")
    if name in _TEXTS:
        ranked.sort(key=_TEXTS[name], reverse=is_falling)
    elif name in ("result", "cost", "seconds"):
        amounts = {run.reference: _amount(workspace, run, name) for run in ranked}
        known = [run for run in ranked if amounts[run.reference] is not None]
        known.sort(key=lambda one: amounts[one.reference] or (), reverse=is_falling)
        ranked = known + [run for run in ranked if amounts[run.reference] is None]
    if given.group:
        first: dict[str, int] = {}
        for at, one in enumerate(ranked):
            first.setdefault(_TEXTS[given.group](one), at)
        ranked.sort(key=lambda one: first[_TEXTS[given.group](one)])
    return ranked


def _amount(workspace: Workspace, found: Found, name: str) -> tuple[float, ...] | None:
    """Return what a run is ordered by; None where it is not known yet, or there is none.

    A run without a price is dearer than any that has one.
    """
    if name == "seconds":
        return (found.record.seconds,)
    known = _known(workspace, found)
    if known is None:
        return None
    if name == "cost":
        cost = math.inf if known.usage.cost is None else known.usage.cost
        return cost, known.usage.input_tokens + known.usage.output_tokens
    return (known.headline.value,) if known.headline and known.headline.value is not None else None


def _known(workspace: Workspace, found: Found) -> RunNumbers | None:
    """Return the numbers of a run that is over, without waiting for them."""
    return numbers_soon(workspace, found, seconds=0) if found.record.state != "running" else None


def begin_after(ranked: Sequence[Found], given: RunFilter) -> int:
    """Return where a page begins: after the last run of the one before, which may have been deleted since."""
    created, reference = _cursor(given.after)
    if not given.after:
        return 0
    for at, run in enumerate(ranked):
        if run.reference == reference:
            return at + 1
    if given.order or given.group:
        raise BadInput("The run '{run}' is not in this list any more. Begin with its first page.", run=reference)
    return next((at for at, run in enumerate(ranked) if _key(run) > (created, reference)), len(ranked))


def cursor_of(found: Found) -> str:
    """Return what `after` has to be for the page that follows a run."""
    return f"{found.record.created!r}~{found.reference}"


def _cursor(text: str) -> tuple[float, str]:
    created, _, reference = text.partition("~")
    try:
        return (-float(created), reference) if text else (float("-inf"), "")
    except ValueError:
        raise BadInput("'{text}' does not come from a page of runs.", text=text) from None


class EarlierRuns:
    """The earlier runs of the same task and agent, which give the history of a run and what was changed."""

    def __init__(self, workspace: Workspace, found: Sequence[Found]) -> None:
        self._workspace = workspace
        self._values: dict[str, float | None] = {}
        self._alike: dict[tuple[str, str], list[Found]] = defaultdict(list)
        for run in reversed(found):  # the oldest first
            self._alike[run.record.spec.task, run.record.agent].append(run)

    def until(self, found: Found) -> Sequence[Found]:
        """Return the last runs up to this one, which comes last."""
        alike = self._alike[found.record.spec.task, found.record.agent]
        at = alike.index(found)
        return alike[max(0, at - EARLIER) : at + 1]

    def history(self, found: Found) -> tuple[float | None, ...]:
        """Return the main numbers of these, as far as they are known already; none where the run is the first, or under way."""
        alike = self.until(found)
        return tuple(map(self.value, alike)) if len(alike) > 1 and found.record.state != "running" else ()

    def value(self, found: Found) -> float | None:
        """Return the main number of a run, as far as it is known already."""
        if found.reference not in self._values:
            known = _known(self._workspace, found)
            self._values[found.reference] = known.headline.value if known and known.headline else None
        return self._values[found.reference]
