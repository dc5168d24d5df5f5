"""Read rows out of binary tables: Parquet, Arrow files of Hugging Face `datasets`, and Excel workbooks."""

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from proctor.core.errors import BadInput, needs
from proctor.core.sentence import Sentence, say
from proctor.datasets.formats import FileReading, Placed, column_names

BATCH = 1_000
MOST_ROW_BYTES = 64_000_000
MOST_RATIO = 500  # of all that a file unpacks to, to its own size: tables of text are below 50
LEAST_ALLOWED_BYTES = 256_000_000


def parquet(path: Path, reading: FileReading) -> Placed:  # noqa: ARG001 - as `excel`
    """Yield the rows of a Parquet file, a batch in memory at a time.

    Raises:
        BadInput: the file is damaged, or unpacks to too much.
        MissingExtra: pyarrow is not installed.
    """
    with needs("parquet", path.name):
        from pyarrow import ArrowException
        from pyarrow import parquet as reader
    try:
        with reader.ParquetFile(path) as file:
            columns = [file.schema.column(index) for index in range(len(file.schema))]
            groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
            _check_size(path, sum(group.total_byte_size for group in groups))
            schema = file.schema_arrow
        texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
        with reader.ParquetFile(path, read_dictionary=texts) as file:  # a text that is repeated is in memory once
            yield from _number_rows(path, _unpacked(path, file.iter_batches(batch_size=BATCH), schema))
    except (ArrowException, OSError) as error:
        raise BadInput("{path} is no readable parquet file: {error}.", path=path.name, error=error) from None


def arrow(path: Path, reading: FileReading) -> Placed:  # noqa: ARG001 - as `excel`
    """Yield the rows of an Arrow stream or file, as `save_to_disk` of `datasets` writes them.

    Raises:
        BadInput: the file is damaged, or unpacks to too much.
        MissingExtra: pyarrow is not installed.
    """
    with needs("parquet", path.name):
        import pyarrow
        from pyarrow import ipc
    try:
        with pyarrow.memory_map(str(path)) as source:
            if source.read(6) == b"ARROW1":
                file = ipc.open_file(source)
                batches = (file.get_batch(number) for number in range(file.num_record_batches))
            else:
                source.seek(0)
                batches = iter(ipc.open_stream(source))
            yield from _number_rows(path, _unpacked(path, batches))
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInput("{path} is no readable arrow file: {error}.", path=path.name, error=error) from None


def excel(path: Path, reading: FileReading) -> Placed:
    """Yield the rows of a sheet; values of formulas are those that were saved last.

    Raises:
        BadInput: the file is damaged, unpacks to too much, or several sheets hold rows and none is named.
        MissingExtra: openpyxl is not installed.
    """
    import zipfile  # only where it is needed: it takes a while

    with needs("excel", path.name):
        import openpyxl
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(path, sum(entry.file_size for entry in archive.infolist()))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, zipfile.BadZipFile) as error:
        raise BadInput("{path} is no readable Excel file: {error}.", path=path.name, error=error) from None
    try:
        yield from _of_sheet(path, _chosen_sheet(path, book.worksheets, reading.sheet), reading.header)
    finally:
        book.close()


def _number_rows(path: Path, batches: Iterator[list[dict[str, object]]]) -> Placed:
    number = 0
    for batch in batches:
        for cells in batch:
            number += 1
            yield say("{path}, row {row}", path=path.name, row=number), cells


def _unpacked(path: Path, batches: Iterable[Any], schema: Any = None) -> Iterator[list[dict[str, object]]]:
    """Yield the rows of record batches, at most 64 MB of them at a time.

    Args:
        schema: that of the batches without dictionaries, whose rows are made several times as quickly.

    Raises:
        BadInput: one row is larger, or all of them are more than `_check_size` allows.
    """
    total = 0
    for batch in batches:
        parts = [batch]
        while parts:
            part = parts.pop()
            size = sum(map(_unpacked_bytes, part.columns))
            if size > MOST_ROW_BYTES and part.num_rows > 1:
                half = part.num_rows // 2
                parts += [part.slice(half), part.slice(0, half)]
                continue
            if size > MOST_ROW_BYTES:
                raise BadInput(
                    "{path}: a row is larger than {limit} MB.", path=path.name, limit=MOST_ROW_BYTES // 10**6
                )
            total += size
            _check_size(path, total)
            yield (part if schema is None else part.cast(schema)).to_pylist()


def _unpacked_bytes(column: Any) -> int:
    """Return the size of an Arrow array as values of their own, where a dictionary holds each text once."""
    import pyarrow
    from pyarrow import compute

    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        lengths = compute.binary_length(column.dictionary) if _is_text(kind.value_type) else None
        each = column.dictionary.nbytes if lengths is None else compute.sum(lengths.take(column.indices)).as_py()
        return (each or 0) + int(column.indices.nbytes)
    if pyarrow.types.is_struct(kind) or pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        inner = column.flatten()
        return sum(map(_unpacked_bytes, inner if isinstance(inner, list) else [inner]))
    return int(column.nbytes)


def _is_text(kind: object) -> bool:
    from pyarrow import types

    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    )


def _check_size(path: Path, size: int) -> None:
    limit = max(LEAST_ALLOWED_BYTES, MOST_RATIO * path.stat().st_size)
    if size > limit:
        raise BadInput(
            "{path} unpacks to more than {limit} MB. If it is your own, save it as JSON Lines.",
            path=path.name,
            limit=limit // 10**6,
        )


def _chosen_sheet(path: Path, sheets: list[Any], wanted: str | None) -> object:
    by_name = {sheet.title: sheet for sheet in sheets if hasattr(sheet, "iter_rows")}  # charts have no rows
    if wanted is not None:
        if wanted not in by_name:
            raise BadInput(
                "{path} has no sheet '{sheet}'. It has: {known}.",
                path=path.name,
                sheet=wanted,
                known=", ".join(by_name),
            )
        return by_name[wanted]
    filled = [name for name, sheet in by_name.items() if any(any(cell is not None for cell in row) for row in sheet.iter_rows(max_row=50, values_only=True))]  # fmt: skip
    if len(filled) > 1:
        raise BadInput(
            "{path} has several sheets: {known}. Say which: --set sheet=NAME", path=path.name, known=", ".join(filled)
        )
    if not filled:
        raise BadInput("{path} holds no rows.", path=path.name)
    return by_name[filled[0]]


def _of_sheet(path: Path, sheet: Any, header: bool) -> Placed:
    names: list[str] = []
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        if all(cell is None for cell in cells):
            continue
        where = say("{path}, row {row}", path=path.name, row=number)
        if not names:
            names = [f"column_{index}" for index in range(1, len(cells) + 1)]
            if header:
                names = column_names(["" if cell is None else str(cell) for cell in cells], path)
                continue
        yield where, _cells(cells, names, where)


def _cells(values: tuple[object, ...], names: list[str], where: Sentence) -> dict[str, object]:
    fields: dict[str, object] = {}
    for index, value in enumerate(values):
        name = names[index] if index < len(names) else ""
        if name:
            fields[name] = _plain(value)
        elif value is not None:
            raise BadInput("{where}: the cell '{cell}' has no column name.", where=where, cell=str(value)[:60])
    return fields


def _plain(value: object) -> object:
    """Return a cell as a value of JSON; Excel keeps whole numbers and dates as floats and times."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return str(value)
    return value
