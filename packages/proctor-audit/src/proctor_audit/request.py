"""Name what is audited."""

import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from proctor.core.run import Selection


class TaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is audited, named as `proctor run` names it.

    Attributes:
        options: of the task (`--set`, `--map`).
    """

    task: str
    options: Mapping[str, Any] = {}
    scorers: tuple[str, ...] = ()
    selection: Selection = Selection()
    seed: int = 0

    @property
    def command(self) -> str:
        """Return the command line of the audit, to which a finding adds `--replay`."""
        words = ["proctor", "audit-task", self.task, *(word for name in self.scorers for word in ("--scorer", name))]
        for key, value in self.options.items():
            given = value.items() if key == "columns" and isinstance(value, Mapping) else [(key, value)]
            flag = "--map" if key == "columns" else "--set"
            words += [word for name, text in given for word in (flag, f"{name}={text}")]
        return shlex.join(words)
