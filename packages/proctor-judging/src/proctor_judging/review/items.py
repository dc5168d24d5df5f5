"""The items of a data file as a reviewer sees them; one that lacks a field is shown without it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.digest import digest
from proctor.core.sentence import Sentence, say
from proctor.datasets.columns import ITEM_NAMES
from proctor.datasets.formats import is_empty
from proctor.datasets.rows import DataRow
from proctor_judging.tasks.item_rows import filled_column, items_in

COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ITEM_NAMES["id"],
    "problem": ITEM_NAMES["question"],
    "answer": ("answer", "final_answer", *ITEM_NAMES["reference"], *ITEM_NAMES["answer"]),
    "solution": ITEM_NAMES["solution"],
    "topic": ITEM_NAMES["topic"],
}
FIELDS = {"problem": say("Problem"), "answer": say("Answer"), "solution": say("Solution")}  # what is judged


class ReviewItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item: its number in the file from 1, the texts to judge, and the other columns; '' for a missing field."""

    number: int
    id: str
    problem: str = ""
    answer: str = ""
    solution: str = ""
    topic: str = ""
    more: Mapping[str, str] = {}
    digest: str

    @property
    def lacks(self) -> tuple[str, ...]:
        """The fields to judge that the item lacks."""
        return tuple(name for name in FIELDS if not getattr(self, name))


def items(path: Path) -> list[ReviewItem]:
    """Return every item of a data file; one without an id is called by its number, `item-3`.

    Raises:
        BadInput: the file cannot be read, is empty, or an id is used twice; names the row.
    """
    return list(items_in(path, _item, lambda item: item.id))


def text_digest(texts: Mapping[str, str]) -> str:
    """Return the fingerprint of what was judged of an item, by the names in `FIELDS`; a label keeps it."""
    return digest(texts)[:16]


def notes(found: Sequence[ReviewItem]) -> list[Sentence]:
    """Return what a reviewer should know of the data before they begin."""
    lacking = {name: [item.id[:40] for item in found if name in item.lacks] for name in FIELDS}
    return [
        say(
            "{field}: missing in {count} of {total} items: {ids}",
            count=len(ids),
            total=len(found),
            field=FIELDS[name],
            ids=", ".join(ids[:3]) + (" …" if len(ids) > 3 else ""),
        )
        for name, ids in lacking.items()
        if ids
    ]


def _item(row: DataRow) -> ReviewItem:
    rest = dict(row.cells)
    texts = {
        name: _text(rest.pop(column))
        for name, names in COLUMNS.items()
        if (column := filled_column(names, rest)) is not None
    }
    judged = {name: texts.get(name, "") for name in FIELDS}
    more = {name: _text(value) for name, value in rest.items() if not is_empty(value)}
    return ReviewItem(
        number=row.number,
        id=texts.get("id") or f"item-{row.number}",
        topic=texts.get("topic", ""),
        more=more,
        digest=text_digest(judged if any(judged.values()) else more),
        **judged,
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n\n".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)
