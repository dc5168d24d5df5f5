"""Name what is audited."""

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.core.run import RunRecord, Selection


class TaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is audited, named as `proctor run` names it.

    Attributes:
        options: of the task (`--set`, `--map`).
        further: words of the command line that decide what else is checked and how, such as `--check ./checks.py:mine`.
    """

    task: str
    options: Mapping[str, Any] = {}
    scorers: tuple[str, ...] = ()
    selection: Selection = Selection()
    seed: int = 0
    further: tuple[str, ...] = ()

    @classmethod
    def of_run(cls, record: RunRecord, store: str) -> Self:
        """Return the request of the audit that a run's pages show: the same data, options and scorers, kept next to its store."""
        spec = record.spec
        further = ("--store", store) if Path(store).is_file() else ()
        return cls(task=spec.task, options=spec.task_options, scorers=spec.scorers, further=further)

    @property
    def command(self) -> str:
        """Return the command line of the audit, to which a finding adds `--replay`."""
        words = ["proctor", "audit-task", self.task, *_flags("--scorer", self.scorers)]
        for key, value in self.options.items():
            if key == "columns" and isinstance(value, Mapping):
                words += _flags("--map", (f"{name}={text}" for name, text in value.items()))
            else:
                words += ["--set", f"{key}={_as_flag(value)}"]
        chosen = self.selection
        words += _flags("--tag", (f"{key}={value}" for key, value in chosen.tags.items()))
        words += _flags("--id", chosen.ids)
        numbers = {"--limit": chosen.limit, "--first": chosen.first, "--seed": self.seed or None}
        words += [word for flag, number in numbers.items() if number is not None for word in (flag, str(number))]
        return shlex.join([*words, *self.further])


def _flags(flag: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (flag, value)]


def _as_flag(value: object) -> str:
    """Return a value as `--set` reads it: a text that is no JSON, else JSON."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, ensure_ascii=False)
