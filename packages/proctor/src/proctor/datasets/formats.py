"""Read one file: JSON lines, JSON, CSV, TSV, YAML, Parquet, Arrow or Excel; each row with its file and line."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.errors import BadInput, needs
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor.datasets._decoding import open_text
from proctor.registry import offered

MOST_BYTES = 200_000_000  # of a file that must be read as a whole
MOST_YAML_BYTES = 20_000_000
CELL_CHARACTERS = 16_000_000
LINE_CHARACTERS = 100_000_000
DELIMITERS = ",;\t|"
SPLIT = re.compile(r"(?<![a-z0-9])(train|training|validation|valid|val|dev|test|testing|eval|evaluation)(?![a-z])")
SAME = {"training": "train", "valid": "validation", "val": "validation", "dev": "validation", "testing": "test", "eval": "test", "evaluation": "test"}  # fmt: skip

Placed = Iterator[tuple[Sentence, Mapping[str, object]]]


class FileReading(msgspec.Struct, frozen=True, kw_only=True):
    """The user's options for reading a file.

    Attributes:
        encoding: of a text file; found by its content when None.
        header: False for a CSV file without column names, which are then `column_1`, `column_2`, …
        sheet: of an Excel file.
        split: which part of a folder, or of a JSON file with several lists, such as `test`.
        refuse: is given the error of a row that cannot be read, which is left out then; None raises it.
    """

    encoding: str | None = None
    header: bool = True
    sheet: str | None = None
    split: str | None = None
    refuse: Callable[[BadInput], None] | None = None


def kind_of(path: Path) -> str:
    """Return the suffix that tells the format, in lower case: `.jsonl` of `a.JSONL.gz`; '' for no data file.

    >>> kind_of(Path("a.JSONL.gz")), kind_of(Path("b.csv")), kind_of(Path("c.parquet.gz")), kind_of(Path("d.gz"))
    ('.jsonl', '.csv', '', '')
    """
    suffix = path.suffix.lower()
    if suffix == ".gz":
        inner = Path(path.stem).suffix.lower()
        return inner if inner in PACKED else ""
    return suffix if suffix in READERS else ""


def split_of(name: str) -> str:
    """Return the split in a file's path; '' if it names none.

    >>> split_of("data/train-00000-of-00002.parquet"), split_of("dev.jsonl"), split_of("contest.csv")
    ('train', 'validation', '')
    """
    values = SPLIT.findall(name.lower())
    return same_split(values[-1]) if values else ""


def same_split(name: str) -> str:
    """Return one name for the usual names of a split: `validation` for `dev`."""
    return SAME.get(name, name)


def is_empty(value: object) -> bool:
    """True if a cell holds nothing: no value, whitespace, or the NaN that tables use for it."""
    return value is None or (isinstance(value, str) and not value.strip()) or value != value  # noqa: PLR0124 - NaN


def _json_lines(path: Path, reading: FileReading) -> Placed:
    with open_text(path, reading.encoding, newline="\n") as file:
        number = 0
        while line := file.readline(LINE_CHARACTERS):
            number += 1
            where = say("{path}, line {line}", path=path.name, line=number)
            if len(line) == LINE_CHARACTERS:
                raise BadInput(
                    "{where}: a line above {limit} characters is not read.", where=where, limit=LINE_CHARACTERS
                )
            if line.strip():
                try:
                    cells = _object(_decode(line, where), where)
                except BadInput as error:
                    if reading.refuse is None:
                        raise
                    reading.refuse(error)
                    continue
                yield where, cells


def _json(path: Path, reading: FileReading) -> Placed:
    value = _decode(_text(path, reading, MOST_BYTES), say("{path}", path=path.name))
    yield from _rows_of_value(value, path, reading)


def _yaml(path: Path, reading: FileReading) -> Placed:
    with needs("yaml", path.name):
        import yaml

    text = _text(path, reading, MOST_YAML_BYTES)
    try:
        _refuse_aliases(text)
        value = yaml.load(text, Loader=_plain_loader())  # noqa: S506 - a safe one, with fewer types
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 0
        raise BadInput(
            "{path}, line {line}: no valid YAML: {error}.", path=path.name, line=line, error=error.problem
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput("{path} is no valid YAML: {error}.", path=path.name, error=error) from None
    yield from _rows_of_value(value, path, reading)


def _safe_loader() -> Any:
    """Return the loader in C where there is one: ten times as fast, with a tenth of the memory."""
    import yaml

    return yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


def _refuse_aliases(text: str) -> None:
    """Refuse aliases, which can explode; the events are read without keeping anything."""
    import yaml

    if "*" not in text:
        return
    for event in yaml.parse(text, Loader=_safe_loader()):
        if isinstance(event, yaml.AliasEvent):
            mark: Any = event.start_mark  # of either kind of loader
            raise yaml.MarkedYAMLError(problem="aliases are not read", problem_mark=mark)


def _plain_loader() -> Any:
    """Return a YAML loader with the plain types of JSON: `no`, `012` and dates stay text."""
    import re

    class Loader(_safe_loader()):  # type: ignore[misc]  # one of two
        pass

    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in (
        ("bool", "true|false", "tf"),
        ("null", "null|~|", ["n", "~", ""]),
        ("int", "-?(?:0|[1-9][0-9]{0,300})", "-0123456789"),
        ("float", r"-?(?:0|[1-9][0-9]{0,300})\.[0-9]{1,300}", "-0123456789"),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), list(first))
    return Loader


def _rows_of_value(value: object, path: Path, reading: FileReading) -> Placed:
    """Yield the rows of a list of objects, or of an object that holds them in one of the usual ways."""
    ids: list[str] | None = None
    if isinstance(value, dict):
        value, ids = _rows_of_object(value, path, reading)
    if not isinstance(value, list):
        raise BadInput("{path} holds no list of objects.", path=path.name)
    for number, item in enumerate(value, start=1):
        where = say("{path}, entry {number}", path=path.name, number=number)
        cells = _object(item, where)
        yield where, cells if ids is None or "id" in cells else {"id": ids[number - 1], **cells}


def _rows_of_object(value: Mapping[str, object], path: Path, reading: FileReading) -> tuple[object, list[str] | None]:
    """Return the rows in an object, and their ids where they are its keys.

    `{"data": [{…}]}`, `{"train": [{…}], "test": [{…}]}` with a split named, `{"id1": {…}, "id2": {…}}`, or columns
    `{"question": […], "answer": […]}` of one length.
    """
    if value and all(isinstance(item, dict) for item in value.values()):
        return list(value.values()), list(value)
    lists = {key: entry for key, entry in value.items() if isinstance(entry, list)}
    tables = {key: values for key, values in lists.items() if values and all(isinstance(row, dict) for row in values)}
    if reading.split is not None and reading.split in tables:
        return tables[reading.split], None
    if len(lists) == 1:
        return next(iter(lists.values())), None
    if len(tables) > 1:
        raise BadInput(
            "{path} holds several lists: {known}. Say which: --set split=NAME", path=path.name, known=", ".join(tables)
        )
    if len(tables) == 1:
        return next(iter(tables.values())), None
    if all(lists.values()) and len(lists) == len(value) > 1 and len({len(values) for values in lists.values()}) == 1:
        return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)], None
    raise BadInput(
        "{path} holds an object; a list of objects is needed, or an object with one list, with an object for each id, or with a list for each column.",
        path=path.name,
    )


def column_names(cells: Sequence[str], path: Path) -> list[str]:
    """Return the column names in the first line of a table.

    Raises:
        BadInput: there is none, or two are the same.
    """
    names = [cell.strip() for cell in cells]
    if not any(names):
        raise BadInput("{path} begins with no line of column names.", path=path.name)
    for name, count in Counter(names).items():
        if name and count > 1:
            raise BadInput("{path}: two columns are called '{column}'.", path=path.name, column=name)
    return names


def _csv(path: Path, reading: FileReading, delimiter: str | None = None) -> Placed:
    csv.field_size_limit(CELL_CHARACTERS)  # the module's own limit is 131,072 characters
    with open_text(path, reading.encoding, newline="") as file:
        start = file.readline(CELL_CHARACTERS)
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter or _delimiter(start), strict=True)
        line = 1
        names = column_names(_next(reader, path, 1) or [], path) if reading.header else []
        line = reader.line_num + 1
        while (cells := _next(reader, path, line)) is not None:
            where = say("{path}, line {line}", path=path.name, line=line)
            line = reader.line_num + 1
            if any(cell.strip() for cell in cells):
                names = names or [f"column_{number}" for number in range(1, len(cells) + 1)]
                yield where, _cells_by_name(cells, names, where)


def _next(reader: Any, path: Path, line: int) -> list[str] | None:
    try:
        cells: list[str] | None = next(reader, None)
    except csv.Error as error:
        raise BadInput(
            "{path}, line {line}: {error}. Is a quotation mark not closed?", path=path.name, line=line, error=error
        ) from None
    return cells


def _delimiter(header: str) -> str:
    """Return the character of `DELIMITERS` that occurs most often outside quotation marks in the first line."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _cells_by_name(cells: list[str], names: list[str], where: Sentence) -> Mapping[str, object]:
    extra = [cell for cell in cells[len(names) :] if cell.strip()]
    if extra or len(cells) < len(names):
        raise BadInput(
            "{where}: {cells} cells, but there are {columns} columns. Put quotation marks around a cell with a comma or line break.",
            where=where,
            cells=len(cells),
            columns=len(names),
        )
    by_name = dict(zip(names, cells, strict=False))
    nameless = [cell for name, cell in zip(names, cells, strict=False) if not name and cell.strip()]
    if nameless:
        raise BadInput("{where}: the cell '{cell}' has no column name.", where=where, cell=nameless[0][:60])
    by_name.pop("", None)
    return by_name


def _object(value: object, where: Sentence) -> Mapping[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise BadInput(
            "{where}: expected an object with columns as keys, got {kind}.", where=where, kind=type(value).__name__
        )
    return {key.strip(): entry for key, entry in value.items()}


def _decode(text: str, where: Sentence) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError, ValueError) as error:
        raise BadInput("{where}: no valid JSON: {error}.", where=where, error=in_words(error)) from None


def _text(path: Path, reading: FileReading, limit: int) -> str:
    if path.stat().st_size <= limit:
        with open_text(path, reading.encoding) as file:
            text = file.read(limit + 1)
        if len(text) <= limit:
            return text
    raise BadInput("{path} has more than {limit} bytes; write it as JSON lines (.jsonl).", path=path.name, limit=limit)


def _offered(name: str) -> Callable[[Path, FileReading], Placed]:
    """Return a reader that an installed package brings; looked for when a file is read."""

    def read(path: Path, reading: FileReading) -> Placed:
        placed: Placed = offered("rows", name, needed_for=path.name)(path, reading)
        return placed

    return read


READERS: Mapping[str, Callable[[Path, FileReading], Placed]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": lambda path, reading: _csv(path, reading, "\t"),
    ".yaml": _yaml,
    ".yml": _yaml,
    ".parquet": _offered("parquet"),
    ".arrow": _offered("arrow"),
    ".xlsx": _offered("xlsx"),
}
PACKED = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".yaml", ".yml")  # may end in .gz besides
