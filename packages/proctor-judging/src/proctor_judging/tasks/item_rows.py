"""Read a file with an item in each row: to be judged, to be probed with, or as evidence."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from proctor.core.errors import BadInput
from proctor.datasets.columns import plain
from proctor.datasets.formats import is_empty
from proctor.datasets.rows import DataRow, T, rows


def items_in(path: Path, make: Callable[[DataRow], T], id_of: Callable[[T], str]) -> Iterator[T]:
    """Yield an item for each row of a file; all ids are different.

    Raises:
        BadInput: the file cannot be read or holds no items, a row is malformed, or an id is used twice; names the row.
    """
    row_by_id: dict[str, int] = {}
    for row in rows(path):
        item = make(row)
        id = id_of(item)
        if id in row_by_id:
            raise BadInput(
                "{where}: the id '{id}' was used already in row {row}.", where=row.where, id=id[:80], row=row_by_id[id]
            )
        row_by_id[id] = row.number
        yield item
    if not row_by_id:
        raise BadInput("{path} holds no items.", path=path)


def filled_column(names: Sequence[str], cells: Mapping[str, object]) -> str | None:
    """Return the column of a row that has the first of these names and is not empty.

    >>> filled_column(("question", "prompt"), {"Prompt": "1 + 1?", "question": ""})
    'Prompt'
    """
    filled = {plain(column): column for column, value in cells.items() if not is_empty(value)}
    return next((filled[name] for name in names if name in filled), None)
