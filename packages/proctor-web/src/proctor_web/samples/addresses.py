"""Where the page of one attempt at a sample is."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol
from urllib.parse import quote, urlencode

DOTS = {"", ".", ".."}  # browsers take such parts of a path away


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
    """Return the address of the list of a run's samples."""
    text = urlencode(query or {}, errors="replace", doseq=True)
    path = f"/runs/{quote(run, safe='@', errors='replace')}/samples"
    return f"{path}?{text}" if text else path


def attachment_address(run: str, sample_id: str, attempt: int, entry: int, piece: int) -> str:
    """Return the address of a file in the conversation of an attempt."""
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
