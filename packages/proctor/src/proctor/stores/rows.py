"""Decode rows of a database into our types."""

import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.trial import Value
from proctor.stores.blobs import unpack

T = TypeVar("T")


class DamagedRecord(BadInput):
    """A record of a store cannot be read: the disk, or another program, changed it."""


def decode(data: bytes | None, kind: type[T]) -> T:
    """Decode a record, sample, trial or verdict.

    Raises:
        DamagedRecord: it cannot be, or is missing.
    """
    return decode_by(data, lambda record: msgspec.json.decode(record, type=kind))


def decode_by(data: bytes | None, read: Callable[[bytes], T]) -> T:
    """Decode a record by a function.

    Raises:
        DamagedRecord: it cannot be, or is missing.
    """
    try:
        if data is None:
            raise ValueError("it is missing")
        return read(unpack(data))
    except (ValueError, zlib.error, RecursionError) as error:  # msgspec's errors are ValueErrors, as those of UTF-8 are
        raise DamagedRecord(
            "A record of the store is damaged: {error}. `proctor runs check` lists what is.", error=str(error)[:200]
        ) from error


NOT_SCORED = "not_scored"  # the scorer never saw it: it was added later, and its scoring was cut off


def value(
    name: str, cluster: str | None, tags: str, outcome: str, share: float | None, why: str | None, *, attempt: int
) -> Value:
    """Decode what an attempt earned."""
    if outcome == "agent_failed":
        share, why = 0.0, None
    elif outcome != "scored":
        share, why = None, outcome
    elif share is None and why is None:
        why = NOT_SCORED
    return Value(
        sample_id=name, attempt=attempt, cluster=cluster or name, tags=tags_of(tags), value=share, why=why or ""
    )


def planned_sample(name: str, cluster: str | None, tags: str, data: bytes | None) -> Sample:
    """Decode a sample of the plan, with its turns if it was stored."""
    if data is not None:
        return decode(data, Sample)
    return Sample(id=name, turns=(), cluster=cluster, tags=tags_of(tags))


@lru_cache(maxsize=1_000)
def tags_of(tags: str) -> Mapping[str, str]:
    return msgspec.json.decode(tags, type=dict[str, str])
