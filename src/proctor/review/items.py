"""The items of a data file as a reviewer sees them; one that lacks a field is shown without it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.digest import digest
from proctor.core.errors import BadInput
from proctor.core.sentence import Sentence, say
from proctor.datasets.formats import READERS, is_empty
from proctor.datasets.rows import rows

COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ("id", "problem_id", "item_id", "sample_id", "task_id", "question_id", "编号", "题号"),
    "problem": ("problem", "question", "prompt", "instruction", "query", "input", "task", "问题", "题目", "题干", "指令", "输入"),
    "answer": ("answer", "final_answer", "target", "expected", "reference", "ground_truth", "output", "response", "答案", "参考答案", "输出"),
    "solution": ("solution", "explanation", "reasoning", "rationale", "解答", "解析", "解题过程", "解题步骤"),
    "topic": ("topic", "subject", "category", "domain", "主题", "知识点", "学科", "类别"),
}  # fmt: skip
FIELDS = {"problem": say("Problem"), "answer": say("Answer"), "solution": say("Solution")}  # what is judged


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One item: its place in the file from 1, what is judged, and the other columns; '' where a field is missing."""

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
        """The fields that are judged and not there."""
        return tuple(name for name in FIELDS if not getattr(self, name))


def items(path: Path) -> list[Item]:
    """Every item of a data file.

    An item without an id is called after its place, `item-3`.

    Raises:
        BadInput: the file cannot be read, is empty, or an id stands in it twice; names the places.
    """
    if path.suffix.lower() not in READERS:
        raise BadInput(
            "{path} is no data file that can be reviewed; its name ends in one of: {known}.",
            path=path,
            known=", ".join(READERS),
        )
    found: list[Item] = []
    place_by_id: dict[str, Sentence] = {}
    for row in rows(path):
        item = _item(row.number, row.cells)
        if item.id in place_by_id:
            raise BadInput(
                "{where}: the id '{id}' stands already in {first}. Give each item an id of its own.",
                where=row.where,
                id=item.id[:80],
                first=place_by_id[item.id],
            )
        place_by_id[item.id] = row.where
        found.append(item)
    if not found:
        raise BadInput("{path} holds no items.", path=path)
    return found


def text_digest(texts: Mapping[str, str]) -> str:
    """The fingerprint of what was judged of an item, by the names in `FIELDS`; a label keeps it."""
    return digest(texts)[:16]


def notes(found: Sequence[Item]) -> list[Sentence]:
    """What a reviewer should know of the data before they begin."""
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


def _item(number: int, cells: Mapping[str, Any]) -> Item:
    rest = dict(cells)
    told = {name: _text(rest.pop(column)) for name in COLUMNS if (column := _column(name, rest)) is not None}
    judged = {name: told.get(name, "") for name in FIELDS}
    more = {name: _text(value) for name, value in rest.items() if not is_empty(value)}
    return Item(
        number=number,
        id=told.get("id") or f"item-{number}",
        topic=told.get("topic", ""),
        more=more,
        digest=text_digest(judged if any(judged.values()) else more),
        **judged,
    )


def _column(name: str, cells: Mapping[str, Any]) -> str | None:
    filled = {column.strip().lower(): column for column, value in cells.items() if not is_empty(value)}
    return next((filled[one] for one in COLUMNS[name] if one in filled), None)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "\n\n".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(value)
