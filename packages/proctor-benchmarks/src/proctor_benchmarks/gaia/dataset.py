"""Read GAIA from a folder in either published layout, or fetch it from its hub with the user's token.

One record of metadata.jsonl:
{"task_id": "c61d22de-…", "Question": "…", "Level": 2, "Final answer": "egalitarian", "file_name": "",
 "Annotator Metadata": {"Steps": "1. …", "Number of steps": "12", "Tools": "1. Web browser", …}}
"""

import mimetypes
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.core.digest import digest_file
from proctor.core.errors import BadInput, needs
from proctor.core.sample import File
from proctor.core.validation import in_words
from proctor.runtime.file_names import can_be_a_file

Split = Literal["validation", "test"]
PLACEHOLDER = "0-0-0-0-0"
HIDDEN = "?"  # the answer of every item of the test split
SPELLINGS = {
    "task_id": ("task_id",),
    "question": ("Question", "question"),
    "level": ("Level", "level"),
    "answer": ("Final answer", "final_answer"),
    "file_name": ("file_name",),
    "file_path": ("file_path",),
    "annotator": ("Annotator Metadata", "annotator_metadata"),
}
REQUIRED = ("task_id", "question", "level")
MEDIA_TYPES = {".md": "text/markdown"}  # not every system's table knows them
METADATA = ("metadata.jsonl", "metadata.parquet")


class GaiaItem(msgspec.Struct, frozen=True, kw_only=True):
    """One question; `answer` is None in the test split, `steps` None where the annotator gave no number."""

    id: str
    question: str
    level: int
    answer: str | None
    attachment: Path | None = None
    steps: int | None = None
    tools: str = ""


def items(root: Path, split: Split) -> Iterator[GaiaItem]:
    """Yield the questions of a split, in file order; the placeholder item is left out.

    Raises:
        BadInput: no metadata file, a malformed line, a missing field, a level that is no number, the same id
            twice, an attachment that is missing or outside the folder.
    """
    folder = split_folder(root, split)
    seen: dict[str, str] = {}
    for where, raw in records(folder):
        item = item_of(decode_record(raw, where), where, folder, root)
        if item.id == PLACEHOLDER:
            continue
        if item.id in seen:
            raise BadInput(
                "{where}: the id '{id}' was used already at {first}.", where=where, id=item.id, first=seen[item.id]
            )
        seen[item.id] = where
        yield item


def split_folder(root: Path, split: Split) -> Path:
    """Return the folder with the metadata of a split: `<root>/2023/<split>`, `<root>/<split>` or the folder itself.

    Raises:
        BadInput: it does not exist; the message names the expected path.
    """
    for folder in (root / "2023" / split, root / split, root):
        if any((folder / name).is_file() for name in METADATA):
            return folder
    raise BadInput(
        "{root} is no GAIA folder: neither 2023/{split}/metadata.jsonl nor metadata.parquet is in it.",
        root=root,
        split=split,
    )


def metadata_digest(root: Path, split: Split) -> str:
    """Return the fingerprint of the file with the questions."""
    folder = split_folder(root, split)
    return digest_file(next(folder / name for name in METADATA if (folder / name).is_file()))


def attachment_part(path: Path) -> File:
    """Return an attachment as a part of a message, read when its turn comes."""
    media_type = MEDIA_TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0]
    media_type = media_type or "application/octet-stream"
    return File(name=path.name, media_type=media_type, data=path.read_bytes(), path=str(path))


def records(folder: Path) -> Iterator[tuple[str, Mapping[str, object] | bytes]]:
    """Yield the location of each record of a split, and the record: JSON lines not decoded yet, see `decode_record`."""
    lines = folder / "metadata.jsonl"
    if lines.is_file():
        with lines.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield f"{lines}, line {number}", line
    else:
        table = folder / "metadata.parquet"
        for number, record in enumerate(_parquet(table), start=1):
            yield f"{table}, row {number}", record


def decode_record(raw: Mapping[str, object] | bytes, where: str) -> Mapping[str, object]:
    """Return a record as a mapping.

    Raises:
        BadInput: a line that is no JSON object.
    """
    if not isinstance(raw, bytes):
        return raw
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise BadInput("{where}: {error}.", where=where, error=in_words(error)) from None


def _parquet(path: Path) -> Iterator[Mapping[str, object]]:
    with needs("parquet", str(path)):
        from pyarrow import ArrowException, parquet
    try:
        table = parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise BadInput("{path} is no readable parquet file: {error}.", path=path, error=error) from None
    yield from table.to_pylist()


def item_of(record: Mapping[str, object], where: str, folder: Path, root: Path) -> GaiaItem:
    """Return a record as a question.

    Raises:
        BadInput: a missing field, a level that is no number, an attachment that is missing or outside the folder.
    """
    values = {name: _first(record, keys) for name, keys in SPELLINGS.items()}
    for name in REQUIRED:
        if values[name] is None or not str(values[name]).strip():
            raise BadInput("{where}: the field '{field}' is missing.", where=where, field=SPELLINGS[name][0])
    annotator = values["annotator"] if isinstance(values["annotator"], Mapping) else {}
    answer = values["answer"]
    return GaiaItem(
        id=str(values["task_id"]),
        question=str(values["question"]),
        level=_level(values["level"], where),
        answer=None if answer in (None, HIDDEN) else str(answer),
        attachment=_attachment(values["file_name"], values["file_path"], where, folder, root),
        steps=_count(annotator.get("Number of steps")),
        tools=str(annotator.get("Tools") or ""),
    )


def _first(record: Mapping[str, object], keys: tuple[str, ...]) -> object:
    return next((record[key] for key in keys if key in record), None)


def _level(value: object, where: str) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise BadInput("{where}: the level '{level}' is no whole number.", where=where, level=value) from None


def _count(value: object) -> int | None:
    text = str(value or "").strip()
    return int(text) if text.isdecimal() else None


def _attachment(name: object, path: object, where: str, folder: Path, root: Path) -> Path | None:
    """Return the file, which must lie in the folder of the split (or, by `file_path`, of the data set)."""
    if not name and not path:
        return None
    shown = str(name or path)
    if not (can_be_a_file(str(name)) and can_be_a_file(str(path))):
        raise BadInput(
            "{where}: the attachment '{name}' is not in {folder}.", where=where, name=shown[:200], folder=folder
        )
    for candidate, home in ((folder / str(name), folder), (root / str(path), root)):
        resolved = candidate.resolve()
        if resolved.is_file() and resolved.is_relative_to(home.resolve()):
            if resolved.name in METADATA:
                raise BadInput("{where}: the attachment '{name}' holds the answers.", where=where, name=resolved.name)
            return resolved
    if ".." in Path(shown).parts or Path(shown).is_absolute():
        raise BadInput("{where}: the attachment '{name}' lies outside the data folder.", where=where, name=shown)
    raise BadInput("{where}: the attachment '{name}' is not in {folder}.", where=where, name=shown, folder=folder)
