"""Turn a row into a sample: question, answer, tags, attachments."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sample import Message, Sample, Tool, ToolCall, Turn
from proctor.core.scenario import read_scenario
from proctor.core.trajectory import Step, Trajectory
from proctor.core.validation import in_words
from proctor.datasets import _inline
from proctor.datasets._chat import ChatRow, chat_of
from proctor.datasets._options import RowOptions, Style, as_letters, choices_of, with_options
from proctor.datasets.columns import LETTERS, FileColumns
from proctor.datasets.formats import is_empty
from proctor.datasets.rows import DataRow
from proctor.runtime.file_names import can_be_a_file

T = TypeVar("T")

MOST_ATTACHMENT_BYTES = 50_000_000
TAG_CHARACTERS = 100
FIELD = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")
FORMS = {  # usual ways to write the answer at the end of a solution
    "gsm8k": re.compile(r"####[ \t]*(\S.*?)\s*\Z"),  # openai/grade-school-math: `#### 72` is the last line
    "boxed": re.compile(r"\\boxed\b"),  # hendrycks/math: `\boxed{72}`, the last one counts
}


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by which rows become samples: the role of each column, and the form of questions and answers.

    Attributes:
        folder: where attachments lie.
        answers: False if rows have no right answers.
        style: how answers name options.
        form: the pattern that takes the answer out of a target; a key of FORMS or a regular expression.
        template: makes the question out of columns, `{context}\\n\\n{question}`.
    """

    columns: FileColumns
    folder: Path
    answers: bool = True
    style: Style = "named"
    form: str | None = None
    template: str | None = None

    @property
    def begins_with_user(self) -> bool:
        """True if rows have no question, as a simulated user begins."""
        return not self.columns.question and self.template is None


def sample_of(row: DataRow, shape: Shape) -> Sample:
    """Make the sample of a row.

    Raises:
        BadInput: names row and column.
    """
    columns = shape.columns
    meta = {key: _plain(row.cell(name), row, name) for key, name in columns.meta.items() if not _missing(row, name)}
    chat = _chat(row, shape)
    choices = options_in(row, columns)
    target = _target(row, shape, chat, choices)
    if choices is not None:
        meta["options"] = dict(zip(LETTERS, choices.texts, strict=False))
    tags = {tag: _tag(row.cell(name)) for tag, name in columns.tags.items() if not _missing(row, name)}
    if columns.type is not None and not _missing(row, columns.type):
        tags["type"] = meta["type"] = _text(row, columns.type)
    elif columns.type or columns.options or columns.letters:
        meta["type"] = "choice" if choices is not None else "answer"
    if files := [*map(_inline.store, chat.files), *_files(row, columns.files, shape.folder)]:
        meta["files"] = files
    if columns.scenario is not None and not _missing(row, columns.scenario):
        meta["scenario"] = _scenario(row, shape)
    if columns.state is not None and not _missing(row, columns.state):
        meta["state"] = _plain(row.cell(columns.state), row, columns.state)
    sample = Sample.ask(
        _text(row, columns.id) if columns.id is not None else f"row-{row.number}",
        chat.question if choices is None else with_options(chat.question, choices.texts),
        target=target,
        cluster=None if columns.cluster is None or _missing(row, columns.cluster) else _text(row, columns.cluster),
        tags=tags,
        meta=meta,
    )
    if shape.begins_with_user:
        return replace(sample, turns=())
    sample = _following(sample, chat.before) if chat.before else sample
    return _with_tools(sample, row, columns) if columns.tools or columns.calls else sample


def calls_of(sample: Sample) -> Trajectory:
    """Return the calls that a row expects, as an agent would make them."""
    expected = msgspec.convert(sample.turns[-1].reference or [], list[ToolCall])
    return Trajectory(steps=(Step(message=Message(role="assistant", parts=tuple(expected))),), tools="native")


def _with_tools(sample: Sample, row: DataRow, columns: FileColumns) -> Sample:
    """Return the sample with the tools that it offers and the calls that it expects.

    Raises:
        BadInput: one of them is malformed; names row and column.
    """
    turn = sample.turns[-1]
    if columns.tools is not None and not _missing(row, columns.tools):
        turn = replace(turn, tools=tuple(_converted(row, columns.tools, list[Tool])))
    if columns.calls is not None:
        calls = _plain(row.cell(columns.calls), row, columns.calls) or []
        _converted(row, columns.calls, list[ToolCall])
        turn = replace(turn, reference=calls)
        sample = sample if sample.target is not None else replace(sample, target=calls)
    return replace(sample, turns=(*sample.turns[:-1], turn))


def _converted(row: DataRow, column: str, kind: type[T]) -> T:
    try:
        return msgspec.convert(_plain(row.cell(column), row, column) or [], kind)
    except msgspec.ValidationError as error:
        raise BadInput(
            "{where}: the column '{column}': {error}.", where=row.where, column=column, error=in_words(error)
        ) from None


def options_in(row: DataRow, columns: FileColumns) -> RowOptions | None:
    """Return the options of a row; None if it has none."""
    if columns.options is not None:
        return choices_of(row.cell(columns.options), row.where, columns.options)
    values = [row.cell(name) for name in columns.letters]
    while values and is_empty(values[-1]):  # a question with fewer options than others
        values.pop()
    return choices_of(["" if is_empty(value) else str(value) for value in values] or None, row.where, "A, B …")


def plain_target(row: DataRow, shape: Shape) -> object:
    """Return the answer as written in the file, or extracted from a solution if `form` says so; None if it is empty.

    Raises:
        BadInput: the pattern of `form` is not in it.
    """
    column = shape.columns.target
    value = None if column is None else row.cell(column)
    if column is None or is_empty(value) or value == []:
        return None
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):  # SQuAD: any of several spans
        return list(dict.fromkeys(value["text"])) or None
    value = _plain(value, row, column)
    if isinstance(value, bool):  # texts, as an agent would say them
        return str(value).lower()
    if shape.form is None or not isinstance(value, str):
        return value
    text = extract(value, shape.form)
    if text is None:
        raise BadInput(
            "{where}: the column '{column}' does not hold what answers are taken out of: {pattern}.",
            where=row.where,
            column=column,
            pattern=shape.form,
        )
    return text


def extract(text: str, form: str) -> str | None:
    """Extract the answer from a solution: the first group of the last match, or the match.

    >>> extract("6 * 7 = 42\\n#### 42", "gsm8k"), extract(r"so \\boxed{\\frac{1}{2}}.", "boxed")
    ('42', '\\\\frac{1}{2}')
    >>> extract("Answer: 42", "Answer: (.*)"), extract("none", "gsm8k")
    ('42', None)
    """
    if form == "boxed":
        return _last_boxed(text)
    pattern = FORMS.get(form) or re.compile(form)
    matches = list(pattern.finditer(text))
    return str(matches[-1][1] if pattern.groups else matches[-1][0]).strip() if matches else None


def _last_boxed(text: str) -> str | None:
    start = text.rfind("\\boxed")
    if start < 0:
        return None
    rest = text[start + len("\\boxed") :].lstrip()
    if not rest.startswith("{"):
        return rest[:1] or None
    depth = 0
    for index, letter in enumerate(rest):
        depth += (letter == "{") - (letter == "}")
        if not depth:
            return rest[1:index].strip()
    return None


def fields_of(template: str) -> list[str]:
    """Return the columns that a template uses.

    >>> fields_of("{context}\\n\\n{question} {{as is}}")
    ['context', 'question']
    """
    return [match[1].strip() for match in FIELD.finditer(template) if match[1] is not None]


def _fill(template: str, row: DataRow) -> str:
    def put(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        value = row.cell(found[1].strip())
        return "" if is_empty(value) else str(value).strip()

    return FIELD.sub(put, template.replace("\\n", "\n")).strip()


def _chat(row: DataRow, shape: Shape) -> ChatRow:
    """Return the question of a row with the messages that precede it; none where a simulated user begins."""
    columns = shape.columns
    if shape.begins_with_user:
        return ChatRow(before=(), question="")
    if shape.template is not None:
        chat = ChatRow(before=(), question=_fill(shape.template, row))
        if not chat.question:
            raise BadInput("{where}: the template makes an empty question.", where=row.where)
    else:
        chat = chat_of(row.cell(columns.question), row.where, columns.question) or ChatRow(
            before=(), question=_text(row, columns.question)
        )
    if columns.context is not None and not _missing(row, columns.context):
        chat = replace(chat, question=f"{_text(row, columns.context)}\n\n{chat.question}")
    if columns.system is not None and not _missing(row, columns.system):
        chat = replace(chat, before=(Message.of("system", _text(row, columns.system)), *chat.before))
    return chat


def _scenario(row: DataRow, shape: Shape) -> Mapping[str, object]:
    """Return the scenario of a row, with what other columns tell of it.

    Raises:
        BadInput: it is malformed; names the row.
    """
    columns = shape.columns
    given = _plain(row.cell(columns.scenario or ""), row, columns.scenario or "")
    if isinstance(given, str) and given[:1] in ("{", "["):  # of a CSV file
        with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
            given = msgspec.json.decode(given)
    whole = {**given} if isinstance(given, Mapping) else {"script" if isinstance(given, list) else "goal": given}
    first = {"system": columns.system} if shape.begins_with_user else {}
    for key, column in {"knows": columns.knows, "persona": columns.persona, **first}.items():
        if column is not None and not _missing(row, column):
            whole.setdefault(key, _plain(row.cell(column), row, column))
    read_scenario(whole, row.where)
    return whole


def _following(sample: Sample, before: tuple[Message, ...]) -> Sample:
    turn = sample.turns[0]
    return replace(sample, turns=(Turn(messages=(*before, *turn.messages), reference=turn.reference),))


def _missing(row: DataRow, column: str) -> bool:
    return is_empty(row.cell(column))


def _text(row: DataRow, column: str) -> str:
    value = row.cell(column)
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


def _target(row: DataRow, shape: Shape, chat: ChatRow, choices: RowOptions | None) -> Any:
    column = shape.columns.target
    if column is None:
        if choices is not None and choices.right:
            return "".join(LETTERS[index] for index in choices.right)
        if chat.answer is None and shape.answers:
            raise BadInput("{where}: there is no answer.", where=row.where)
        return chat.answer
    if chat.answer is not None:
        raise BadInput(
            "{where}: the conversation ends with an answer, and there is one in '{column}' too. Say which counts: --map {column}=ignore, or leave the last message out.",
            where=row.where,
            column=column,
        )
    value = plain_target(row, shape)
    if value is None:
        if not shape.answers:
            return None
        raise BadInput("{where}: the column '{column}' is empty.", where=row.where, column=column)
    return value if choices is None else as_letters(value, choices, shape.style, row.where, column)


def _files(row: DataRow, column: str | None, folder: Path) -> list[str]:
    """Yield attachments: by their paths from the data folder, which they cannot leave; by address; or by their name in the cache."""
    if column is None or _missing(row, column):
        return []
    return [_file_name(value, row, folder) for value in _cells_of(row.cell(column))]


def _cells_of(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    if not isinstance(value, str) or _inline.file_of(value) is not None:
        return [value]
    return [name.strip() for name in value.replace(";", "|").split("|")]


def _file_name(value: object, row: DataRow, folder: Path) -> str:
    file = _inline.file_of(value)
    if file is not None:
        if file.data is not None and len(file.data) > MOST_ATTACHMENT_BYTES:
            raise _too_large(file.name, row)
        return _inline.store(file)
    name = str(value.get("path") if isinstance(value, Mapping) else value).strip()
    if not can_be_a_file(name):
        raise BadInput(
            "{where}: the attachment '{name}' is not in {folder}.", where=row.where, name=name[:200], folder=folder
        )
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise BadInput("{where}: the attachment '{name}' lies outside the data folder.", where=row.where, name=name)
    if not path.is_file():
        raise BadInput(
            "{where}: the attachment '{name}' is not in {folder}.", where=row.where, name=name, folder=folder
        )
    if path.stat().st_size > MOST_ATTACHMENT_BYTES:
        raise _too_large(name, row)
    return path.relative_to(folder.resolve()).as_posix()


def _too_large(name: str, row: DataRow) -> BadInput:
    return BadInput(
        "{where}: the attachment '{name}' is larger than {limit} bytes.",
        where=row.where,
        name=name,
        limit=MOST_ATTACHMENT_BYTES,
    )


def attachment_digest(name: str, folder: Path) -> str:
    """Return the sha256 of an attachment; of an address, that of the address."""
    return _inline.digest_of(name) or hashlib.sha256((folder / name).read_bytes()).hexdigest()


def _tag(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text.strip()[:TAG_CHARACTERS]


def _plain(value: object, row: DataRow, column: str) -> object:
    """Return a cell as JSON data: times and decimal numbers of Parquet become texts."""
    try:
        return msgspec.to_builtins(value.strip() if isinstance(value, str) else value, str_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            "{where}: the column '{column}': {error}.", where=row.where, column=column, error=error
        ) from None
