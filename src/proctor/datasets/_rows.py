"""Rows out of a file: JSON lines, JSON, CSV, TSV, YAML or Parquet; every row with the place where it stands."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import msgspec

from proctor.core.errors import BadInput, MissingExtra
from proctor.core.sentence import Sentence, say
from proctor.datasets._decoding import encoding_of

MOST_BYTES = 200_000_000  # of a file that must be read as a whole
MOST_YAML_BYTES = 20_000_000
CELL_CHARACTERS = 16_000_000
DELIMITERS = ",;\t|"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A row: its number among those that are not blank (from 1), where it stands, and its cells by column."""

    number: int
    where: Sentence
    cells: Mapping[str, Any]


Placed = Iterator[tuple[Sentence, Mapping[str, Any]]]


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file that are not blank, read as they are needed where the format allows it.

    Raises:
        BadInput: the file cannot be read, or a row is malformed; names file and row.
    """
    if not path.is_file():
        raise BadInput("There is no file {path}.", path=path)
    number = 0
    for where, cells in READERS[path.suffix.lower()](path):
        if any(not is_empty(value) for value in cells.values()):
            number += 1
            yield Row(number=number, where=where, cells=cells)


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing: no value, blanks, or the NaN that tables use for it."""
    return value is None or (isinstance(value, str) and not value.strip()) or value != value  # noqa: PLR0124 - NaN


def _json_lines(path: Path) -> Placed:
    with path.open(encoding=encoding_of(path), newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                where = say("{path}, line {line}", path=path.name, line=number)
                yield where, _object(_decoded(line, where), where)


def _json(path: Path) -> Placed:
    value = _decoded(_text(path, MOST_BYTES), say("{path}", path=path.name))
    yield from _listed(value, path)


def _yaml(path: Path) -> Placed:
    import yaml

    try:
        value = yaml.load(_text(path, MOST_YAML_BYTES), Loader=_plain_loader())  # noqa: S506 - a safe one, with fewer types
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 0
        raise BadInput(
            "{path}, line {line}: no valid YAML: {error}.", path=path.name, line=line, error=error.problem
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput("{path} is no valid YAML: {error}.", path=path.name, error=error) from None
    yield from _listed(value, path)


def _plain_loader() -> Any:
    """YAML with the plain types of JSON: `no`, `012` and dates stay text, and aliases, which can explode, are refused."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.MarkedYAMLError(problem="aliases are not read", problem_mark=self.get_mark())
            return super().compose_node(parent, index)

    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in (
        ("bool", "true|false", "tf"),
        ("null", "null|~|", ["n", "~", ""]),
        ("int", "-?(?:0|[1-9][0-9]{0,300})", "-0123456789"),
        ("float", r"-?(?:0|[1-9][0-9]{0,300})\.[0-9]{1,300}", "-0123456789"),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first))
    return Loader


def _listed(value: Any, path: Path) -> Placed:
    """The rows of a list of objects, or of the one list in an object (`{"data": [...]}`)."""
    if isinstance(value, dict):
        lists = [key for key, one in value.items() if isinstance(one, list)]
        if len(lists) != 1:
            raise BadInput(
                "{path} holds an object; a list of objects is needed, or an object with one list.", path=path.name
            )
        value = value[lists[0]]
    if not isinstance(value, list):
        raise BadInput("{path} holds no list of objects.", path=path.name)
    for number, one in enumerate(value, start=1):
        where = say("{path}, entry {number}", path=path.name, number=number)
        yield where, _object(one, where)


def _separated(path: Path, delimiter: str | None = None) -> Placed:
    csv.field_size_limit(CELL_CHARACTERS)  # the module's own limit is 131,072 characters
    with path.open(encoding=encoding_of(path), newline="") as file:
        start = file.readline(CELL_CHARACTERS)
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter or _delimiter(start), strict=True)
        names = _header(_next(reader, path, 1) or [], path)
        line = reader.line_num + 1
        while (cells := _next(reader, path, line)) is not None:
            where = say("{path}, line {line}", path=path.name, line=line)
            line = reader.line_num + 1
            if any(cell.strip() for cell in cells):
                yield where, _named(cells, names, where)


def _tabs(path: Path) -> Placed:
    return _separated(path, "\t")


def _next(reader: Any, path: Path, line: int) -> list[str] | None:
    try:
        cells: list[str] | None = next(reader, None)
    except csv.Error as error:
        raise BadInput(
            "{path}, line {line}: {error}. Is a quotation mark not closed?", path=path.name, line=line, error=error
        ) from None
    return cells


def _delimiter(header: str) -> str:
    """The sign that stands most often outside quotation marks in the first line."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _header(names: list[str], path: Path) -> list[str]:
    names = [name.strip() for name in names]
    if not any(names):
        raise BadInput("{path} begins with no line of column names.", path=path.name)
    for name in names:
        if name and names.count(name) > 1:
            raise BadInput("{path}: two columns are called '{column}'.", path=path.name, column=name)
    return names


def _named(cells: list[str], names: list[str], where: Sentence) -> Mapping[str, Any]:
    extra = [cell for cell in cells[len(names) :] if cell.strip()]
    if extra or len(cells) < len(names):
        raise BadInput(
            "{where}: {cells} cells, but there are {columns} columns. Put quotation marks around a cell with a comma or line break.",
            where=where,
            cells=len(cells),
            columns=len(names),
        )
    found = dict(zip(names, cells, strict=False))
    nameless = [cell for name, cell in zip(names, cells, strict=False) if not name and cell.strip()]
    if nameless:
        raise BadInput("{where}: the cell '{cell}' stands under no column name.", where=where, cell=nameless[0][:60])
    found.pop("", None)
    return found


def _parquet(path: Path) -> Placed:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra("parquet", path.name) from None
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1_000):
                for cells in batch.to_pylist():
                    number += 1
                    yield say("{path}, row {row}", path=path.name, row=number), cells
    except (ArrowException, OSError) as error:
        raise BadInput("{path} is no readable parquet file: {error}.", path=path.name, error=error) from None


def _object(value: Any, where: Sentence) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise BadInput(
            "{where}: expected an object with columns as keys, got {kind}.", where=where, kind=type(value).__name__
        )
    return {key.strip(): one for key, one in value.items()}


def _decoded(text: str, where: Sentence) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError) as error:
        raise BadInput("{where}: no valid JSON: {error}.", where=where, error=error) from None


def _text(path: Path, limit: int) -> str:
    size = path.stat().st_size
    if size > limit:
        raise BadInput(
            "{path} has {size} bytes; above {limit} write it as JSON lines (.jsonl).",
            path=path.name,
            size=size,
            limit=limit,
        )
    file: TextIO
    with path.open(encoding=encoding_of(path)) as file:
        return file.read()


READERS: Mapping[str, Callable[[Path], Placed]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _separated,
    ".tsv": _tabs,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".parquet": _parquet,
}
