"""Read a matrix of samples and systems: a table with a column for each system, or lines that say who passed; a run for each system.

    id,level,gpt-5,claude-opus-4-5
    q1,easy,1,0.5
    {"id": "q1", "passed": ["gpt-5"], "failed": ["claude-opus-4-5"]}
    {"id": "q1", "runs": {"gpt-5": [{"success": true}, {"success": false}]}}

An empty cell is a sample that the system was not given.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.parts import ImportPart
from proctor.core.sample import JsonObject, Sample
from proctor.core.sentence import say
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading
from proctor_adapters.imports._source import ImportSource
from proctor_adapters.imports._values import WORDS, by_name, number, scores, tags

ID = "id"  # the column that names the sample; without it, the first one
SCORER = "outcome"
MOST_RUNS = 200


def knows(source: ImportSource) -> bool:
    """True if a file has lines that say who passed, or is a table whose first sample has a number from 0 to 1."""
    if source.is_csv:
        first: Mapping[str, object] = next(source.rows(), {})
        cells = [cell for column, cell in first.items() if column != _id_column(first)]
        return None not in first and any(_is_value(cell) and 0 <= (number(cell) or 0) <= 1 for cell in cells)
    keys = source.head.keys()
    return ID in keys and ("runs" in keys or {"passed", "failed"} <= keys)


def read(source: ImportSource, how: LogReading) -> list[ForeignRun]:
    """Return a run for each system, in the order in which they come.

    Raises:
        BadInput: there are no systems, or too many; or a line is not of the form.
    """
    has_text: dict[str, bool] = {}
    ids: dict[str, None] = {}
    for id, _, outcomes in _lines(source, how):
        if id in ids:
            raise BadInput("{path} has the sample '{id}' twice.", path=source.path, id=id[:100])
        ids[id] = None
        for system, values in outcomes.items():
            is_text = not all(value is None or _is_value(value) for value in values)
            if values:
                has_text[system] = has_text.get(system, False) or is_text
    systems = [system for system, is_text in has_text.items() if not is_text]
    if not 0 < len(systems) <= MOST_RUNS:
        raise BadInput(
            "{path} has {count} systems; from 1 to {most} are read. In a table each has a column with a number from 0 to 1 for each sample.",
            path=source.path,
            count=len(systems),
            most=MOST_RUNS,
        )
    texts = ", ".join(system for system, is_text in has_text.items() if is_text)
    notes = (say("Columns with texts are no systems: {columns}.", columns=texts),) if texts else ()
    return [
        ForeignRun(
            format="matrix",
            task=source.name.split(".")[0],
            agent=system,
            trials=partial(_trials, source, how, system),
            planned=tuple(ids),
            notes=notes,
        )
        for system in systems
    ]


def outcomes_of(line: JsonObject) -> dict[str, list[object]]:
    """Return the outcomes of each system on a sample, one for each attempt, as a line has them.

    >>> outcomes_of({"id": "q", "passed": ["a"], "failed": ["b"]})
    {'a': [True], 'b': [False]}
    >>> outcomes_of({"id": "q", "runs": {"a": [{"success": True}, {"success": 0.5}], "b": []}})
    {'a': [True, 0.5], 'b': []}

    Raises:
        BadInput: a system both passed and failed, or the line is not of the form.
    """
    runs, votes = line.get("runs"), [line.get(key) for key in ("passed", "failed")]
    if isinstance(runs, Mapping) and all(isinstance(attempts, list) for attempts in runs.values()):
        return {system: [_success(attempt) for attempt in attempts] for system, attempts in runs.items()}
    if "runs" in line or not all(isinstance(systems, list | Mapping) for systems in votes):
        raise BadInput("it has neither `runs` with a list of attempts for each system, nor `passed` and `failed` with systems")  # fmt: skip
    passed, failed = (dict.fromkeys(map(str, systems or ())) for systems in votes)
    if both := passed.keys() & failed.keys():
        raise BadInput("'{system}' both passed and failed", system=min(both))
    return {system: [system in passed] for system in (*passed, *failed)}


def _success(attempt: object) -> object:
    return attempt.get("success") if isinstance(attempt, Mapping) else attempt


def _lines(source: ImportSource, how: LogReading) -> Iterator[tuple[str, JsonObject, dict[str, list[Any]]]]:
    """Yield the id of each sample, its line, and the outcomes of the systems; a column of tags is no system."""
    if source.is_csv:
        for row in source.rows():
            if None in row:
                raise BadInput("{path} has a row with more cells than columns.", path=source.path)
            column = _id_column(row)
            cells = {system: [cell] for system, cell in row.items() if system and cell and system != column}
            yield str(row.get(column) or ""), row, {key: cell for key, cell in cells.items() if key not in how.tags}
        return
    for number_of_line, line in enumerate(source.records(dict[str, Any]), start=1):
        try:
            yield str(line.get(ID, "")), line, outcomes_of(line)
        except BadInput as error:
            where = f", {number_of_line}"
            raise BadInput("{path}{where}: {problem}.", path=source.path, where=where, problem=error.sentence) from None


def _trials(source: ImportSource, how: LogReading, system: str) -> Iterator[ForeignTrial]:
    for id, line, outcomes in _lines(source, how):
        sample = Sample(id=id, turns=(), tags=tags(line, how.tags))
        for attempt, value in enumerate(outcomes.get(system, ())):
            scored = by_name(scores(SCORER, value, how.scales))
            yield ForeignTrial(sample=sample, attempt=attempt, scores=scored)


def _id_column(line: Mapping[str, object]) -> str:
    return ID if ID in line else next(iter(line), ID)


def _is_value(cell: object) -> bool:
    return number(cell) is not None or str(cell).lower() in WORDS


PART = ImportPart(read=read, knows=knows)
