"""A run as a data frame of pandas or polars: one row a trial, with the columns of each scorer.

    run, task, agent, sample, attempt, outcome, …, exact.value, exact.points, …, tag.category

What is missing is missing, never 0: columns are of types that know it. A trial in which the agent failed has the value 0, as in every
mean of a report, and no points. Frames are made of pieces of `ROWS_AT_ONCE` trials, so that
next to the frame itself only one piece is held as Python objects; texts are kept as Arrow, by pandas where `pyarrow` is there.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from proctor.core.errors import needs
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.exports import table

if TYPE_CHECKING:
    import pandas
    import polars

ROWS_AT_ONCE = 10_000
STARTED = "started"
OF_TRIAL = tuple(name for name in table.COLUMNS if name not in table.OF_VERDICT)
OF_SCORER = ("value", *(name for name in table.OF_VERDICT if name not in ("scorer", "value")), "answer")

Columns = dict[str, list[object]]


def to_pandas(record: RunRecord, store: Store, lang: str) -> "pandas.DataFrame":
    """Return the frame; its types are `Int32`, `Int64`, `Float64`, `string`, and moments in UTC.

    Raises:
        MissingExtra: pandas is not installed.
    """
    with needs("frames", "to_pandas"):
        import pandas

    def typed(name: str) -> str:
        number = table.NUMBERS.get(_plain(name), "string")
        return "datetime64[us, UTC]" if name == STARTED else number if number == "string" else number.capitalize()

    pieces = [
        pandas.DataFrame({name: pandas.array(values, dtype=typed(name)) for name, values in columns.items()})
        for columns in _pieces(record, store, lang)
    ]
    return pandas.concat(pieces, ignore_index=True)


def to_polars(record: RunRecord, store: Store, lang: str) -> "polars.DataFrame":
    """Return the frame; its types are `Int32`, `Int64`, `Float64`, `String`, and moments in UTC.

    Raises:
        MissingExtra: polars is not installed.
    """
    with needs("frames", "to_polars"):
        import polars
    types = {"int32": polars.Int32, "int64": polars.Int64, "float64": polars.Float64, "string": polars.String}

    def typed(name: str) -> "polars.datatypes.DataType | type[polars.DataType]":
        return polars.Datetime("us", "UTC") if name == STARTED else types[table.NUMBERS.get(_plain(name), "string")]

    pieces = [
        polars.DataFrame(columns, schema={name: typed(name) for name in columns})
        for columns in _pieces(record, store, lang)
    ]
    return polars.concat(pieces, how="diagonal", rechunk=True)


def _pieces(record: RunRecord, store: Store, lang: str) -> Iterator[Columns]:
    """Yield the columns of some trials at a time; the first piece has those of all scorers, and may have no rows."""
    fixed = [*OF_TRIAL, *(f"{scorer}.{name}" for scorer in record.scorers for name in OF_SCORER)]
    values = [f"{scorer}.value" for scorer in record.scorers]
    rows = (_flat(*pair, values) for pair in table.rows_by_trial(record, store, lang))
    piece = [*islice(rows, ROWS_AT_ONCE)]
    while True:
        names = dict.fromkeys([*fixed, *chain.from_iterable(piece)])
        yield {table.well_formed(name): _column(name, [row.get(name) for row in piece]) for name in names}
        if not (piece := [*islice(rows, ROWS_AT_ONCE)]):
            return


def _flat(row: table.Row, verdicts: list[table.Row], values: list[str]) -> table.Row:
    flat = {name: row[name] for name in OF_TRIAL}
    for verdict in verdicts:
        flat |= {f"{verdict['scorer']}.{name}": verdict.get(name) for name in OF_SCORER}
    if row["outcome"] != "scored":  # as in every mean: the agent's failure is 0, anybody else's is missing
        flat |= dict.fromkeys(values, 0.0 if row["outcome"] == "agent_failed" else None)
    return flat | {f"tag.{key}": value for key, value in row["tags"].items()}


def _column(name: str, values: list[Any]) -> list[object]:
    """Return a column as its type takes it: moments, numbers, and texts that can be written as UTF-8."""
    if name == STARTED:
        return [datetime.fromtimestamp(value, UTC) if value else None for value in values]
    if _plain(name) in table.NUMBERS:
        return values
    return [table.as_text(value) for value in values]


def _plain(name: str) -> str:
    """Return the name of a column without its scorer; a tag is text, whatever it is called."""
    return name if name.startswith("tag.") else name.rpartition(".")[2]
