"""Where the pages of a run are: its own, the list of its samples, and that of one attempt at a sample."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol
from urllib.parse import quote, urlencode

from proctor.reports.render import EstimateLine, ReportLinks
from proctor_web.samples.listing import NO_CLASS

DOTS = {"", ".", ".."}  # browsers take such parts of a path away
ROWS = 30  # of a section of estimates, until it is opened
FOLDED = "…"  # the type of errors that are counted together


def sample_address(run: str, sample_id: str, attempt: int = 0, query: Mapping[str, object] | None = None) -> str:
    """Return the address of an attempt at a sample; `query` is what else it says, such as a filter.

    >>> sample_address("r1", "math/7 ?"), sample_address("r1", "../x", 1)
    ('/runs/r1/samples/math/7%20%3F', '/runs/r1/samples/?sample=..%2Fx&attempt=1')
    >>> sample_address("r1", "a\\nb")
    '/runs/r1/samples/?sample=a%0Ab'
    """
    return _address(run, "samples", sample_id, attempt, query)


class SampleLinks(NamedTuple):
    """Where a sample is shown: on a page of its own, as the part of one that goes next to the list, and in the list with it open."""

    page: str
    pane: str
    listed: str


class Attempted(Protocol):
    """What names an attempt of a run."""

    @property
    def sample(self) -> str: ...

    @property
    def attempt(self) -> int: ...


def links_of(run: str, one: Attempted, query: Mapping[str, object]) -> SampleLinks:
    """Return the addresses of an attempt, each with the filter of the list."""
    opened = {**query, "open": one.sample, **({"attempt": one.attempt} if one.attempt else {})}
    return SampleLinks(
        sample_address(run, one.sample, one.attempt, query),
        sample_address(run, one.sample, one.attempt, {**query, "part": "pane"}),
        list_address(run, opened),
    )


def list_address(run: str, query: Mapping[str, object] | None = None) -> str:
    text = urlencode(query or {}, errors="replace", doseq=True)
    path = f"/runs/{quote(run, safe='@', errors='replace')}/samples"
    return f"{path}?{text}" if text else path


def attachment_address(run: str, sample_id: str, attempt: int, entry: int, piece: int) -> str:
    return _address(run, "attachments", sample_id, attempt, {"entry": entry, "piece": piece})


def _address(run: str, room: str, sample_id: str, attempt: int, query: Mapping[str, object] | None) -> str:
    fields: dict[str, object] = {"attempt": attempt} if attempt else {}
    path = f"/runs/{quote(run, safe='@', errors='replace')}/{room}/"
    if DOTS & {*sample_id.split("/")} or "\n" in sample_id:  # no route takes a line break
        fields = {"sample": sample_id, **fields}
    else:
        path += quote(sample_id, safe="/", errors="replace")
    text = urlencode({**fields, **(query or {})}, errors="replace", doseq=True)
    return f"{path}?{text}" if text else path


class RunLinks(ReportLinks):
    """Where the parts of a run's page lead in the app: to its samples."""

    def __init__(self, reference: str, opened: str | None = None) -> None:
        """Name a run, and the section of estimates that has all its rows, however many."""
        self.reference = reference
        self.run = f"/runs/{quote(reference, safe='@')}"
        self.opened = opened

    def class_id(self, error_class: str, error_type: str) -> str:
        """Return no anchor: the trials of a class have a page of their own."""
        return ""

    def error(self, error_class: str, error_type: str) -> str:
        if error_type == FOLDED:
            return ""
        return self.samples(error_class=error_class or NO_CLASS, error_type=error_type)

    def outcome(self, name: str) -> str:
        return "" if name == "not_run" else self.samples(outcome=name)

    def slice(self, slice: str) -> str:
        """Return the address of the samples with a tag, given as key=value."""
        return self.samples(tag=slice) if slice else ""

    def sample(self, sample_id: str, attempt: int) -> str:
        return sample_address(self.reference, sample_id, attempt)

    def shown(self, key: str, rows: Sequence[EstimateLine]) -> Sequence[EstimateLine]:
        """Return the rows of a section of estimates that the page shows: the first ones, or all if the section is open."""
        return rows if len(rows) <= ROWS + 1 or key == self.opened else rows[:ROWS]

    def section(self, key: str) -> str:
        return f"{self.run}?{urlencode({'all': key})}#by-{quote(key)}"

    def samples(self, **chosen: str) -> str:
        return list_address(self.reference, {name: value for name, value in chosen.items() if value})
