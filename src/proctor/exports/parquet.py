"""The rows of `table` as one Parquet file, for DuckDB and the like: typed columns, and tags as a map."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from proctor.core.errors import MissingExtra
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.exports import table
from proctor.exports._writing import Options
from proctor.runtime.files import draft_of

ROWS_AT_ONCE = 10_000
NUMBERS = {
    "attempt": "int32",
    "points": "float64",
    "out_of": "float64",
    "value": "float64",
    "started": "float64",
    "seconds": "float64",
    "requests": "int64",
    "input_tokens": "int64",
    "output_tokens": "int64",
    "cost": "float64",
}


def write(record: RunRecord, store: Store, path: Path, *, options: Options | None = None) -> list[Path]:
    """Write the table and return its path; memory does not grow with the run, and the file appears when it is complete.

    Raises:
        BadInput: the extra `parquet` is missing, or the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("parquet", path.name) from None
    fields = [(name, getattr(pyarrow, NUMBERS.get(name, "string"))()) for name in table.COLUMNS]
    schema = pyarrow.schema([*fields, ("tags", pyarrow.map_(pyarrow.string(), pyarrow.string()))])
    rows = table.rows(record, store, (options or {}).get("lang", "en"))
    with draft_of(path) as part, parquet.ParquetWriter(part, schema, compression="zstd") as writer:
        for chunk in _chunks(rows):
            writer.write_table(pyarrow.Table.from_pylist(chunk, schema=schema))
    return [path]


def _chunks(rows: Iterator[table.Row]) -> Iterator[list[dict[str, object]]]:
    while chunk := [_typed_row(row) for row in islice(rows, ROWS_AT_ONCE)]:
        yield chunk


def _typed_row(row: table.Row) -> dict[str, object]:
    tags = {_well_formed(key): _well_formed(value) for key, value in row.pop("tags").items()}
    return {name: value if name in NUMBERS else _text(value) for name, value in row.items()} | {"tags": tags}


def _text(value: Any) -> str | None:
    return None if value is None else _well_formed(str(table.cell_text(value)))


def _well_formed(text: str) -> str:
    return text.encode("utf-8", "replace").decode()  # lone surrogates cannot be written


PART = ExportPart(write=write, suffix=".parquet")
