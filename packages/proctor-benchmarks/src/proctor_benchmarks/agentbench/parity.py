"""Our rules against recorded results of the official code.

A line has an `id`, a `kind` and what that kind needs; the check of a kind returns what the official code found, and what ours
does. A reply `!limit` is one that did not fit into the model's context.

    {"id": "db-1", "kind": "db_answer", "type": "counting", "answer": "[\\"5\\"]", "label": ["5.0"], "correct": 1.0}
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from proctor.core.errors import BadInput, EnvironmentFailed
from proctor.core.parity import Checked
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.agentbench import dataset, parity_db, parity_rules, parity_worlds
from proctor_benchmarks.agentbench.parity_rules import Line

Check = Callable[[Line], tuple[object, object]]  # to what the official code found, and what ours does
CheckWithClone = Callable[[Line, Path], tuple[object, object]]
CheckWithTables = Callable[[Line, Path, parity_db.ParityTables], tuple[object, object]]

CHECKS: Mapping[str, Check] = {**parity_rules.CHECKS, **parity_worlds.CHECKS}
WITH_CLONE: Mapping[str, CheckWithClone] = {**parity_rules.WITH_CLONE, **parity_worlds.WITH_CLONE}
WITH_TABLES: Mapping[str, CheckWithTables] = {**parity_db.WITH_TABLES}
KINDS = CHECKS.keys() | WITH_CLONE.keys() | WITH_TABLES.keys()


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:
    """Check every line.

    Args:
        data: a clone of the repository, which some kinds need.

    Raises:
        BadInput: a line that cannot be read, or a kind that needs a clone without one.
    """
    with parity_db.ParityTables() as tables:
        for number, line in read_json_lines(path, dict):
            if "kind" in line and line["kind"] not in KINDS:
                yield Checked.unknown(line)
                continue
            try:
                wanted, ours = _checked(line, data, tables)
            except (KeyError, TypeError, ValueError) as error:
                raise BadInput("{path}, line {line}: no line of a corpus of AgentBench ({error}).", path=path, line=number, error=repr(error)) from error  # fmt: skip
            except (RuntimeError, AssertionError, IndexError, EnvironmentFailed) as error:
                wanted, ours = "recorded", f"{type(error).__name__}: {error}"
            agrees = _same(ours, wanted)
            yield Checked(id=line["id"], agrees=agrees, ours=str(ours)[:300], official=str(wanted)[:300], rule=line["kind"])  # fmt: skip


def _checked(line: Line, data: str | None, tables: parity_db.ParityTables) -> tuple[object, object]:
    kind = line["kind"]
    if kind in CHECKS:
        return CHECKS[kind](line)
    root = dataset.locate(data)
    return WITH_CLONE[kind](line, root) if kind in WITH_CLONE else WITH_TABLES[kind](line, root, tables)


def _same(ours: object, wanted: object) -> bool:
    if isinstance(ours, float | int) and isinstance(wanted, int | float):
        return abs(ours - wanted) < 1e-12
    if isinstance(ours, dict) and isinstance(wanted, dict):
        return ours.keys() == wanted.keys() and all(_same(ours[name], wanted[name]) for name in ours)
    if isinstance(ours, list | tuple) and isinstance(wanted, list | tuple):
        return len(ours) == len(wanted) and all(map(_same, ours, wanted))
    return ours == wanted
