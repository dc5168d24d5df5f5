"""The rows of `table` as one Parquet file, for DuckDB and the like: typed columns, and tags as a map."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from proctor.core.errors import needs
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.exports import table
from proctor.exports.writing import Options
from proctor.runtime.files import draft_of

ROWS_AT_ONCE = 10_000


def write(record: RunRecord, store: Store, path: Path, *, options: Options | None = None) -> list[Path]:
    """Write the table and return its path; memory does not grow with the run, and the file appears when it is complete.

    Raises:
        BadInput: the extra `parquet` is missing, or the file cannot be written.
    """
    with needs("parquet", path.name):
        import pyarrow
        from pyarrow import parquet
    fields = [(name, getattr(pyarrow, table.NUMBERS.get(name, "string"))()) for name in table.COLUMNS]
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
    tags = {table.well_formed(key): table.well_formed(value) for key, value in row.pop("tags").items()}
    typed = {name: value if name in table.NUMBERS else table.as_text(value) for name, value in row.items()}
    return typed | {"tags": tags}


PART = ExportPart(write=write, suffix=".parquet")
