"""Read the items to judge from a data file: the role of each column, and every row checked before a model is asked."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.digest import digest_file
from proctor.core.errors import BadInput
from proctor.core.run import Limits
from proctor.datasets.columns import ITEM_NAMES, assign_columns, show_mapping
from proctor.datasets.formats import is_empty
from proctor.datasets.rows import DataRow, rows
from proctor_judging.tasks.item_rows import items_in

ROLES = {role: ITEM_NAMES[role] for role in ("id", "question", "reference", "answer", "solution", "cluster")}
ROLES["answer"] = (*ITEM_NAMES["answer"], *ITEM_NAMES["document"])
MOST_CHARACTERS = Limits().reply_bytes - 1_000  # of an item, with the words between its fields
JUDGED = ("question", "answer", "solution")
TITLES = {"answer": "Answer", "solution": "Solution"}


class ItemFields(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a file by their role."""

    roles: Mapping[str, str]
    tags: Mapping[str, str]
    unused: tuple[str, ...] = ()


class JudgedItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item: its texts by role, the tags to report by, and whether the file names it."""

    id: str
    texts: Mapping[str, str]
    cluster: str | None = None
    tags: Mapping[str, str] = {}
    is_named: bool = True

    def text(self, roles: Sequence[str] = JUDGED) -> str:
        """Join the texts of these roles, with titles, for a reader.

        >>> print(JudgedItem(id="a", texts={"question": "1 + 1?", "answer": "2"}).text())
        1 + 1?
        <BLANKLINE>
        Answer: 2
        """
        told = [(role, self.texts[role]) for role in roles if role in self.texts]
        if len(told) == 1:
            return told[0][1]
        return "\n\n".join(f"{TITLES[role]}: {text}" if role in TITLES else text for role, text in told)


class ItemsFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of items whose rows have all been checked; each iteration reads the items again."""

    path: Path
    fields: ItemFields
    count: int
    digest: str

    def read(self) -> Iterator[JudgedItem]:
        return (_item(row, self.fields) for row in rows(self.path))

    @property
    def roles(self) -> list[str]:
        """The fields of its items that can be judged."""
        return [role for role in JUDGED if role in self.fields.roles]


def items_of(path: str | Path, columns: Mapping[str, str] | None = None) -> ItemsFile:
    """Read the items of a file through, and check each: JSON, JSON lines, CSV, TSV, YAML or Parquet.

    Raises:
        BadInput: no such file, nothing in it, no column to judge, a missing field, or an id twice; names file and row.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise BadInput("There is no file {path}.", path=path)
    status = path.stat()
    return _checked(path, tuple((columns or {}).items()), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _checked(path: Path, columns: tuple[tuple[str, str], ...], changed: int, size: int) -> ItemsFile:  # noqa: ARG001 - they tell one state of a file from another
    names = list(dict.fromkeys(name for row in rows(path) for name in row.cells))
    if not names:
        raise BadInput("{path} holds no items.", path=path)
    fields = _understood(names, dict(columns), path)
    count = sum(1 for _ in items_in(path, lambda row: _item(row, fields), lambda item: item.id))
    return ItemsFile(path=path, fields=fields, count=count, digest=digest_file(path))


def _understood(names: list[str], mapped: Mapping[str, str], path: Path) -> ItemFields:
    roles, tags, _ = assign_columns(names, mapped, path.name, ROLES, many=("tag",))
    if not any(role in roles for role in JUDGED):
        raise BadInput(
            "{path}: no column holds what is judged. It has: {known}. Say which: {map} (or question, solution)",
            path=path.name,
            known=", ".join(names),
            map=show_mapping(names, ["answer"]),
        )
    used = {*mapped, *roles.values(), *tags.values()}
    return ItemFields(roles=roles, tags=tags, unused=tuple(name for name in names if name not in used))


def _item(row: DataRow, fields: ItemFields) -> JudgedItem:
    roles = fields.roles
    texts = {role: _text(row, roles[role]) for role in ("question", "reference", "answer", "solution") if role in roles}
    for role in ("question", "answer"):
        if texts.get(role) == "":
            raise BadInput("{where}: the column '{column}' is empty.", where=row.where, column=roles[role])
    texts = {role: text for role, text in texts.items() if text}
    if not any(role in texts for role in JUDGED):
        raise BadInput("{where}: there is nothing to judge.", where=row.where)
    size = sum(map(len, texts.values()))
    if size > MOST_CHARACTERS:
        raise BadInput(
            "{where}: the item has {size} characters; more than {limit} cannot be judged.",
            where=row.where,
            size=size,
            limit=MOST_CHARACTERS,
        )
    named = "id" in roles
    name = _text(row, roles["id"]) if named else f"row-{row.number}"
    if not name:
        raise BadInput("{where}: the column '{column}' is empty.", where=row.where, column=roles["id"])
    cluster = _text(row, roles["cluster"]) if "cluster" in roles else ""
    tags = {tag: _text(row, name)[:100] for tag, name in fields.tags.items() if _text(row, name)}
    return JudgedItem(id=name, texts=texts, cluster=cluster or None, tags=tags, is_named=named)


def _text(row: DataRow, column: str) -> str:
    """Return a cell as text; lists and objects as JSON."""
    value: Any = row.cells.get(column)
    if is_empty(value):
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bytes):
        raise BadInput(
            "{where}: the column '{column}' holds {kind} where text is needed.",
            where=row.where,
            column=column,
            kind=type(value).__name__,
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            "{where}: the column '{column}': {error}.", where=row.where, column=column, error=error
        ) from None
