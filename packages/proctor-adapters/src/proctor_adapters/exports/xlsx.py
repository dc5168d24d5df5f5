"""The rows of `table` as an Excel workbook; memory does not grow with the run.

A text stays a text: none is read as a formula, not even when its cell is edited. Rows beyond what a sheet holds are in further sheets.
"""

import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proctor.core.errors import needs
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.task import Store
from proctor.exports import table
from proctor.exports.writing import Options
from proctor.runtime.files import draft_of

ROWS_OF_SHEET = 1_048_576
CHARACTERS_OF_CELL = 32_767
CUT = " […]"
UNSAYABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # no XML holds these
ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")  # Excel reads _x0041_ as A


def write(record: RunRecord, store: Store, path: Path, *, options: Options | None = None) -> list[Path]:
    """Write the workbook and return its path; the file appears when it is complete.

    Raises:
        BadInput: the extra `excel` is missing, or the file cannot be written.
    """
    with needs("excel", path.name):
        import openpyxl
    book = openpyxl.Workbook(write_only=True)
    columns = table.columns_of(record, store)
    rows = (table.flat_row(row) for row in table.rows(record, store, (options or {}).get("lang", "en")))
    xml = sys.modules.get("lxml.etree")  # openpyxl writes with it where it is installed
    full: tuple[type[Exception], ...] = () if xml is None else (xml.SerialisationError,)
    with draft_of(path) as draft:
        try:
            _fill(book, columns, ([_value(name, row.get(name)) for name in columns] for row in rows))
            book.save(draft)
        except full as error:
            for sheet in book.worksheets:
                with suppress(*full):  # else it is printed when the sheet is collected
                    sheet.close()
            raise OSError(str(error)) from error
    return [path]


def cell_text(text: str) -> str:
    """Return a text as a cell can hold it: characters that no XML holds as pictures of them, and cut with a mark.

    >>> cell_text("a\\x00b"), len(cell_text("x" * 40_000)), cell_text("x" * 40_000)[-5:]
    ('a␀b', 32767, 'x […]')
    """
    text = UNSAYABLE.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "�", table.well_formed(text))
    text = ESCAPE.sub("_x005F_", text[: CHARACTERS_OF_CELL + 1])
    units = len(text.encode("utf-16-le")) // 2  # what Excel counts
    if units <= CHARACTERS_OF_CELL:
        return text
    cut = text.encode("utf-16-le")[: 2 * (CHARACTERS_OF_CELL - len(CUT))]
    return cut.decode("utf-16-le", "ignore") + CUT


def _fill(book: object, columns: Sequence[str], rows: Iterator[list[object]]) -> None:
    sheet = _new_sheet(book, "trials", columns)
    for number, row in enumerate(rows):
        if number and number % (ROWS_OF_SHEET - 1) == 0:
            sheet = _new_sheet(book, f"trials {number // (ROWS_OF_SHEET - 1) + 1}", columns)
        sheet.append([_cell(sheet, value) for value in row])


def _new_sheet(book: Any, name: str, columns: Sequence[str]) -> Any:
    sheet = book.create_sheet(name)
    sheet.freeze_panes = "A2"
    sheet.append([_cell(sheet, column) for column in columns])
    return sheet


def _value(name: str, value: object) -> object:
    if name == "started":
        return datetime.fromtimestamp(value, UTC).replace(tzinfo=None) if isinstance(value, float) and value else None
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _cell(sheet: object, value: object) -> object:
    from openpyxl.cell import WriteOnlyCell

    if not isinstance(value, str):
        return value
    text = cell_text(value)
    is_safe = table.safe_cell(text) == text
    if is_safe and not text.startswith("#"):
        return text
    cell = WriteOnlyCell(sheet)
    cell.value = text
    cell.data_type = "s"  # it takes what begins with = for a formula, and #N/A for an error
    if not is_safe:
        cell.quotePrefix = True  # so that Excel keeps it a text when its user edits it
    return cell


PART = ExportPart(write=write, suffix=".xlsx")
