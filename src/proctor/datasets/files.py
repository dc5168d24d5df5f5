"""A file of questions as a task: JSON lines, JSON, CSV, TSV, YAML or Parquet; names of columns in English or Chinese.

{"id": "fr", "question": "Capital of France?", "answer": "Paris", "level": 1}
"""

import hashlib
import mimetypes
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import File, Sample, Text
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task
from proctor.datasets._columns import LETTERS, Columns, told, understood
from proctor.datasets._options import as_letters, options_of, with_options
from proctor.datasets._rows import READERS, Row, is_empty, rows

MOST_ATTACHMENT_BYTES = 50_000_000
TAG_CHARACTERS = 100
SPREAD = ("category", "subject", "type", "level", "difficulty", "topic", "domain")


def is_data_file(name: str) -> bool:
    """Whether a name of a task means a file of questions.

    >>> is_data_file("questions.jsonl"), is_data_file("bfcl/simple_python"), is_data_file("shop.evalset.json")
    (True, False, False)
    """
    return Path(name).suffix.lower() in READERS and not name.endswith((".evalset.json", ".test.json"))


def task_from_file(path: str | Path, *, columns: Mapping[str, str] | None = None, answers: bool = True) -> Task:
    """The task behind a file. Every row is read and checked at once; nothing is kept of it.

    A column `type` chooses the scorer of each row (`by_type`), options are scored by `choice`, all else by `answer`.

    Args:
        path: the file; attachments lie in its folder.
        columns: what a column is, where its name does not tell: `id`, `question`, `target`, `type`, `options`,
            `files`, `cluster`, `tag:NAME`, `meta:NAME` or `ignore`.
        answers: False for questions without right answers, for scorers that need none.

    Raises:
        BadInput: names file, row and column.
    """
    path = Path(path).expanduser()
    found = layout(path, columns)
    if answers and found.target is None:
        raise BadInput(
            "{path}: no column holds the answer. It has: {known}. Say which: --map COLUMN=target; or that there are none: --set answers=false",
            path=path.name,
            known=", ".join(_scan(*_identity(path)).names),
        )
    checked = _checked(path, found, answers)
    return Task(
        name=path.stem,
        version=checked.digest[:12],
        samples=lambda: _samples(path, found, answers),
        scorers=_scorers(found, checked),
        present=(lambda sample: _with_files(sample, path.parent)) if found.files is not None else None,
        provenance={"file": path.name, "sha256": checked.digest, "columns": told(found), **checked.attachments},
        spread_by=next((tag for tag in SPREAD if tag in found.tags or (tag == "type" and found.type)), None),
        planned=checked.count,
    )


def layout(path: str | Path, columns: Mapping[str, str] | None = None) -> Columns:
    """Which column of a file is what.

    Raises:
        BadInput: the file cannot be read, or no column holds the question.
    """
    path = Path(path).expanduser()
    return understood(_scan(*_identity(path)).names, columns, path.name)


def layout_told(path: str | Path, columns: Mapping[str, str] | None = None) -> Sentence:
    """The same for a person."""
    found = layout(path, columns)
    return say(
        "{path}: {columns}. Not used: {unused}.",
        path=Path(path).name,
        columns=", ".join(f"{role} ← {name}" for role, name in told(found).items()),
        unused=", ".join(found.unused) or "-",
    )


class _Scan(msgspec.Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    digest: str


class _Checked(msgspec.Struct, frozen=True, kw_only=True):
    digest: str
    count: int
    with_options: int
    attachments: Mapping[str, str]


def _identity(path: Path) -> tuple[Path, int, int]:
    try:
        status = path.stat()
    except OSError:
        raise BadInput("There is no file {path}.", path=path) from None
    return path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _scan(path: Path, changed: int, size: int) -> _Scan:  # noqa: ARG001 - they tell one state of a file from another
    names: dict[str, None] = {}
    for row in rows(path):
        names |= dict.fromkeys(row.cells)
    if not names:
        raise BadInput("{path} holds no rows.", path=path)
    with path.open("rb") as file:
        return _Scan(names=tuple(names), digest=hashlib.file_digest(file, "sha256").hexdigest())


def _checked(path: Path, columns: Columns, answers: bool) -> _Checked:
    row_by_id: dict[str, int] = {}
    attached: dict[str, str] = {}
    with_options = 0
    for row in rows(path):
        sample = _sample(row, columns, path.parent, answers)
        if sample.id in row_by_id:
            raise BadInput(
                "{where}: the id '{id}' was used already in row {row}.",
                where=row.where,
                id=sample.id,
                row=row_by_id[sample.id],
            )
        row_by_id[sample.id] = row.number
        with_options += "options" in sample.meta
        for name in sample.meta.get("files", ()):
            if name not in attached:
                attached[name] = hashlib.sha256((path.parent / name).read_bytes()).hexdigest()
    together = hashlib.sha256("".join(f"{name}\0{attached[name]}\n" for name in sorted(attached)).encode()).hexdigest()
    return _Checked(
        digest=_scan(*_identity(path)).digest,
        count=len(row_by_id),
        with_options=with_options,
        attachments={"attachments_sha256": together} if attached else {},
    )


def _scorers(columns: Columns, checked: _Checked) -> tuple[str, ...]:
    if columns.target is None:
        return ()
    if columns.type is not None or 0 < checked.with_options < checked.count:
        return ("by_type",)
    return ("choice",) if checked.with_options else ("answer",)


def _samples(path: Path, columns: Columns, answers: bool) -> Iterator[Sample]:
    return (_sample(row, columns, path.parent, answers) for row in rows(path))


def _sample(row: Row, columns: Columns, folder: Path, answers: bool) -> Sample:
    meta = {key: _plain(row.cells[name], row, name) for key, name in columns.meta.items() if not _missing(row, name)}
    question = _text(row, columns.question)
    options = _options(row, columns)
    target = _target(row, columns, answers)
    if options:
        meta["options"] = dict(zip(LETTERS, options, strict=False))
        if target is not None:
            target = as_letters(target, options, row.where, columns.target or "")
    tags = {tag: _tag(row.cells[name]) for tag, name in columns.tags.items() if not _missing(row, name)}
    if columns.type is not None and not _missing(row, columns.type):
        tags["type"] = meta["type"] = _text(row, columns.type)
    elif columns.type or columns.options or columns.letters:
        meta["type"] = "choice" if options else "answer"
    if files := _files(row, columns.files, folder):
        meta["files"] = files
    return Sample.ask(
        _text(row, columns.id) if columns.id is not None else f"row-{row.number}",
        with_options(question, options) if options else question,
        target=target,
        cluster=None if columns.cluster is None or _missing(row, columns.cluster) else _text(row, columns.cluster),
        tags=tags,
        meta=meta,
    )


def _missing(row: Row, column: str) -> bool:
    return is_empty(row.cells.get(column))


def _text(row: Row, column: str) -> str:
    value = row.cells.get(column)
    if is_empty(value):
        raise BadInput("{where}: the column '{column}' is empty.", where=row.where, column=column)
    if isinstance(value, list | dict | bytes):
        raise BadInput(
            "{where}: the column '{column}' holds {kind} where text is needed.",
            where=row.where,
            column=column,
            kind=type(value).__name__,
        )
    return str(value).strip()


def _target(row: Row, columns: Columns, answers: bool) -> Any:
    """The answer; true and false are texts, as an agent would say them."""
    if columns.target is None or (not answers and _missing(row, columns.target)):
        return None
    value = row.cells.get(columns.target)
    if is_empty(value) or value == []:
        raise BadInput("{where}: the column '{column}' is empty.", where=row.where, column=columns.target)
    value = _plain(value, row, columns.target)
    return str(value).lower() if isinstance(value, bool) else value


def _options(row: Row, columns: Columns) -> tuple[str, ...]:
    if columns.options is not None:
        return options_of(row.cells.get(columns.options), row.where, columns.options)
    values = [row.cells.get(name) for name in columns.letters]
    while values and is_empty(values[-1]):  # a question with fewer options than others
        values.pop()
    return options_of(["" if is_empty(value) else str(value) for value in values] or None, row.where, "A, B …")


def _files(row: Row, column: str | None, folder: Path) -> list[str]:
    """The attachments by their paths from the data folder, which they cannot leave."""
    if column is None or _missing(row, column):
        return []
    value = row.cells[column]
    names = value if isinstance(value, list) else str(value).replace(";", "|").split("|")
    found = []
    for name in (str(one).strip() for one in names):
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise BadInput("{where}: the attachment '{name}' lies outside the data folder.", where=row.where, name=name)
        if not path.is_file():
            raise BadInput(
                "{where}: the attachment '{name}' is not in {folder}.", where=row.where, name=name, folder=folder
            )
        if path.stat().st_size > MOST_ATTACHMENT_BYTES:
            raise BadInput(
                "{where}: the attachment '{name}' is larger than {limit} bytes.",
                where=row.where,
                name=name,
                limit=MOST_ATTACHMENT_BYTES,
            )
        found.append(path.relative_to(folder.resolve()).as_posix())
    return found


def _tag(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.strip()[:TAG_CHARACTERS]


def _plain(value: Any, row: Row, column: str) -> Any:
    """A cell as JSON data: times and decimal numbers of Parquet become texts."""
    try:
        return msgspec.to_builtins(value.strip() if isinstance(value, str) else value, str_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            "{where}: the column '{column}': {error}.", where=row.where, column=column, error=error
        ) from None


def _with_files(sample: Sample, folder: Path) -> Sample:
    """The sample with its attachments, read when its turn comes."""
    names = sample.meta.get("files", ())
    if not names:
        return sample
    first, *rest = sample.turns
    parts = (Text(text=sample.question), *(_file(folder / name, name) for name in names))
    *before, asked = first.messages
    return replace(sample, turns=(replace(first, messages=(*before, replace(asked, parts=parts))), *rest))


def _file(path: Path, name: str) -> File:
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(name=path.name, media_type=media_type, data=path.read_bytes(), path=name)
