"""Decode rows of a database into our types."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

import msgspec

from proctor.core.sample import Sample
from proctor.core.trial import Value
from proctor.stores.blobs import unpack

T = TypeVar("T")


def decode(data: bytes, kind: type[T]) -> T:
    """Decode a record, sample, trial or verdict."""
    return msgspec.json.decode(unpack(data), type=kind)


def value(
    name: str, cluster: str | None, tags: str, outcome: str, share: float | None, why: str | None, *, attempt: int
) -> Value:
    """Decode what an attempt earned."""
    if outcome == "agent_failed":
        share, why = 0.0, None
    elif outcome != "scored":
        share, why = None, outcome
    elif share is None and why is None:
        why = "not_applicable"  # the scorer never saw it
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
    """Decode a set of tags."""
    return msgspec.json.decode(tags, type=dict[str, str])
