"""What is asked of a run, and the numbers that come out of it."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one attempt at one sample."""

    seconds: float = 600.0
    steps: int = 50
    reply_bytes: int = 4_000_000


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the whole run, agent and judges together; None is no bound."""

    money: float | None = None
    tokens: int | None = None
    requests: int | None = None
    minutes: float | None = None


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which samples: `limit` at random with the seed, spread over categories; `first` from the start."""

    limit: int | None = None
    first: int | None = None
    ids: tuple[str, ...] = ()
    tags: Mapping[str, str] = {}


class RunSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is: names and JSON only, so that it can be digested, resumed and shipped."""

    task: str
    agent: str
    task_options: Mapping[str, Any] = {}
    agent_options: Mapping[str, Any] = {}
    scorers: tuple[str, ...] = ()
    attempts: int = 1
    seed: int = 0
    selection: Selection = Selection()
    limits: Limits = Limits()
    budget: Budget = Budget()


RunState = Literal["running", "stopped", "finished", "inconclusive"]


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run as the store keeps it.

    `scorers` are the names in force (with those added by re-scoring), `planned` the number of trials,
    `provenance` where data, code and prompts came from: versions, digests, licences.
    """

    id: str
    spec: RunSpec
    task: str
    task_version: str
    agent: str
    scorers: tuple[str, ...] = ()
    planned: int = 0
    state: RunState = "running"
    created: float = 0.0
    seconds: float = 0.0
    proctor_version: str = ""
    provenance: Mapping[str, Any] = {}


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its interval, denominator and bounds.

    `value` is None when nothing was scored, `low` and `high` when no interval can be given. `slice` is
    '' for the whole run, else 'key=value'. `floor` and `ceiling` are the value if all planned but
    unscored trials were wrong, or right. `standard_error` lets estimates be combined.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    slice: str = ""
    level: float = 0.95
    method: str = ""
    scored: int = 0
    planned: int = 0
    clusters: int = 0
    floor: float | None = None
    ceiling: float | None = None
    standard_error: float | None = None
    note: str = ""
