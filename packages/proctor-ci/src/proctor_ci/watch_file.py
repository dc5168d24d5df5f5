"""Read `watch.toml`: what is run when, and where alerts go.

    channels = ["TEAM_ALERTS"]
    quiet = "22:00-08:00"

    [[watch]]
    name = "nightly"
    tier = "standard"
    agent = "./agent.py:agent"
    schedule = "0 3 * * *"
    signals = ["git", "prompts/*.md", "https://models.example/v1/models#/data/0/id"]

Everything that can be wrong with it is found here, before anything is run. Addresses of channels are secrets: the file names
the environment variables that hold them.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.run import Budget
from proctor_ci.schedule import Quiet, Schedule
from proctor_ci.tiers import Tier, TierTask, find_tier

FILE = "watch.toml"
MOST_BYTES = 1_000_000
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class WatchRule(msgspec.Struct, frozen=True, kw_only=True):
    """What is run, when, and what is worth an alert.

    Attributes:
        tier: of the project; or `task`, with `limit`, `attempts` and `gate` as a tier would have them.
        agent: as for `proctor run`; by default that of the project.
        schedule: five fields, as in crontab; '' where only signals count.
        signals: `git` for a new commit, a pattern of files, or an address, whose reply (or the part of it that a JSON
            pointer after # names) is another one.
        controls: recorded replies to some samples of the (first) task, which are scored after each run: when their number
            moves, it is the judge.
        drop: the least fall that is reported, as a share.
        false_alarms_per_year: how many falls may be reported in a year in which nothing changes, on average.
        failed: the share of trials lost to infrastructure from which on that is reported.
        failures: how many runs in a row must fail for that to be reported.
        per_month: what may be spent in a calendar month before that is reported.
    """

    name: str
    tier: str = ""
    task: str = ""
    limit: int | None = None
    attempts: int | None = None
    gate: str = ""
    agent: str | None = None
    schedule: str = ""
    signals: tuple[str, ...] = ()
    controls: str = ""
    drop: float = 0.03
    false_alarms_per_year: float = 1.0
    failed: float = 0.05
    failures: int = 2
    per_month: Mapping[str, float] = {}

    def find_tier(self) -> Tier:
        """Return what is run, as the project says now.

        Raises:
            BadInput: the project has no such tier.
        """
        if self.tier:
            return find_tier(self.tier)
        task = TierTask(task=self.task, limit=self.limit, attempts=self.attempts, gate=self.gate)
        return Tier(name=self.name, tasks=(task,))

    @property
    def budget(self) -> Budget:
        """Return what may be spent in a month."""
        return converted(self.per_month, Budget, "per_month")


class WatchFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of watches."""

    path: Path
    watches: tuple[WatchRule, ...]
    schedules: Mapping[str, Schedule]
    channels: tuple[str, ...] = ()
    quiet: Quiet | None = None
    zone: tzinfo | None = None


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    watch: tuple[Mapping[str, Any], ...] = ()
    channels: tuple[str, ...] = ()
    quiet: str = ""
    timezone: str = ""


def read_watch_file(path: str | Path) -> WatchFile:
    """Read and check a file of watches.

    Raises:
        BadInput: it cannot be read, or something in it cannot be right; names the watch.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
        table = tomllib.loads(data.decode()) if len(data) <= MOST_BYTES else {}
    except FileNotFoundError:
        raise BadInput("There is no {path}. `proctor init watch` writes one to start from.", path=path) from None
    except (OSError, ValueError) as error:
        raise BadInput("{path} cannot be read: {error}.", path=path, error=error) from None
    found = converted(table, _Table, str(path))
    if not found.watch:
        raise BadInput("{path} has no [[watch]], so there is nothing to do.", path=path)
    zone = _zone(found.timezone, path)
    watches = tuple(_watch(values, path) for values in found.watch)
    names = [watch.name for watch in watches]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadInput("{path}: two watches are called '{name}'.", path=path, name=twice)
    return WatchFile(
        path=path,
        watches=watches,
        schedules={watch.name: Schedule(watch.schedule, zone) for watch in watches if watch.schedule},
        channels=_channels(found.channels, path),
        quiet=Quiet.read(found.quiet, zone) if found.quiet else None,
        zone=zone,
    )


def _watch(table: Mapping[str, object], path: Path) -> WatchRule:
    where = f"{path.name} [[watch]] {table.get('name', '')}".strip()
    rule = converted(table, WatchRule, where)
    if not rule.name.strip() or not rule.name.isprintable() or len(rule.name) > 100:
        raise BadInput("{place}: give it a name of 1 to 100 characters.", place=where)
    if bool(rule.tier) == bool(rule.task):
        raise BadInput("{place}: name either a tier or a task.", place=where)
    if rule.tier and (rule.gate or rule.limit is not None or rule.attempts is not None):
        raise BadInput("{place}: limit, attempts and gate of a tier are in proctor.toml.", place=where)
    if not rule.schedule and not rule.signals:
        raise BadInput('{place}: it would never run. Give it a schedule, such as "0 3 * * *", or signals.', place=where)
    for name, value in (("drop", rule.drop), ("failed", rule.failed)):
        if not 0 < value < 1:
            raise BadInput(
                "{place}: {name} is a share between 0 and 1, not {value}.", place=where, name=name, value=value
            )
    if not 0 < rule.false_alarms_per_year < float("inf") or rule.failures < 1:
        raise BadInput("{place}: false_alarms_per_year lies above 0, and failures is at least 1.", place=where)
    for name in ("limit", "attempts"):
        value = getattr(rule, name)
        if value is not None and value < 1:
            raise BadInput("{name} must be at least 1, not {value}.", name=f"{where}: {name}", value=value)
    if rule.controls and not Path(rule.controls).is_file():
        raise BadInput("{place}: there is no file {path}.", place=where, path=rule.controls)
    converted(rule.per_month, Budget, f"{where}: per_month")
    rule.find_tier()
    return rule


def _channels(names: tuple[str, ...], path: Path) -> tuple[str, ...]:
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise BadInput(
                "{path}: a channel is the name of an environment variable that holds the address, not the address, which is a secret.",
                path=path,
            )
        if not os.environ.get(name, "").strip():
            raise BadInput("{path}: the environment variable {name} holds no address.", path=path, name=name)
    return names


def _zone(name: str, path: Path) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(
            "{path}: no time zone is called '{name}'; write it as Asia/Shanghai.", path=path, name=name
        ) from None
