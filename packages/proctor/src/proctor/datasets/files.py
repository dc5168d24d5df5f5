"""Make a task of a file of questions, or of a folder of such files; names of columns are English or Chinese.

{"id": "fr", "question": "Capital of France?", "answer": "Paris", "level": 1}
"""

import hashlib
import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.errors import BadInput
from proctor.core.near import did_you_mean, near
from proctor.core.sample import File, Sample, Text
from proctor.core.sentence import Sentence, say
from proctor.core.task import Task, User
from proctor.datasets import _inline
from proctor.datasets._folder import files_in, is_data_folder, known_kinds
from proctor.datasets._options import STYLES, TRIED, OptionsRow, Style, named_options, style_of
from proctor.datasets._sampling import (
    FORMS,
    Shape,
    attachment_digest,
    calls_of,
    extract,
    fields_of,
    options_in,
    plain_target,
    sample_of,
)
from proctor.datasets.columns import FileColumns, describe, find_columns, is_companion, show_mapping
from proctor.datasets.formats import FileReading, is_empty, kind_of
from proctor.datasets.rows import DataRow, rows
from proctor.registry import offered

STRUCTURED = ("tools", "calls", "state")  # columns that are understood where each cell is a list or an object
HUB = "hub:"  # begins the name of a data set of the hub
NO_USER = "model:"  # which has no model yet, so that it says what to name
SPREAD = ("category", "subject", "type", "level", "difficulty", "topic", "domain")
DEEPEST = 3  # levels of objects in a cell whose keys can be mapped
MOST_NESTED = 200
REFUSED = {".xls": "Save it as .xlsx or .csv.", ".docx": "Save its table as .xlsx or .csv.", ".zip": "Unpack it first.", ".txt": "Write a row for each question, as .csv or .jsonl.", ".md": "Write a row for each question, as .csv or .jsonl.", ".pdf": "Write a row for each question, as .csv or .jsonl.", ".ipynb": "Write the questions to a .csv or .jsonl file; in the notebook: proctor.evaluate(FILE, agent=FUNCTION)."}  # fmt: skip


@contextmanager
def refusing(refuse: Callable[[BadInput], None]) -> Iterator[None]:
    """Within it, tasks are made of the rows that can be read, and `refuse` is given the error of each other one."""
    token = around.set(replace(around.get(), refuse=refuse))
    try:
        yield
    finally:
        around.reset(token)


def is_data_file(name: str) -> bool:
    """True if a task of this name is a file of questions.

    >>> is_data_file("questions.jsonl"), is_data_file("bfcl/simple_python"), is_data_file("shop.evalset.json")
    (True, False, False)
    """
    return bool(kind_of(Path(name))) and not name.endswith((".evalset.json", ".test.json"))


def is_data(name: str) -> bool:
    """True if a task of this name is a file of questions, a folder that holds some, or a data set of the hub."""
    return name.startswith(HUB) or is_data_file(name) or is_data_folder(Path(name).expanduser())


def check_kind(name: str) -> None:
    """Refuse a file that people have questions in, but that is not read here.

    Raises:
        BadInput: says what to do with it.
    """
    suffix = Path(name).suffix.lower()
    if suffix in REFUSED or (Path(name).is_file() and suffix not in (".py", "")):
        raise BadInput(
            "{path} is no data file that is read here: {known}. {advice}",
            path=Path(name).name,
            known=known_kinds(),
            advice=say(REFUSED[suffix]) if suffix in REFUSED else "",
        )
    folder = Path(name).parent
    if suffix and ":" not in name and not Path(name).exists() and folder.is_dir():
        there = [path.name for path in folder.iterdir() if is_data_file(str(path))]
        if similar := near(Path(name).name, there):
            raise BadInput("There is no file {path}.{near}", path=name, near=did_you_mean(similar))


def task_from_file(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    answers: bool | str = True,
    prompt: str | None = None,
    target_pattern: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    sheet: str | None = None,
    split: str | None = None,
    user: str | User | None = None,
    allow_code: bool = False,
) -> Task:
    """Make the task of a file or folder. Every row is read and checked at once; nothing is kept of it.

    A column `type` chooses the scorer of each row (`by_type`), options are scored by `choice`, all else by `answer`.

    Args:
        path: the file, or `hub:OWNER/NAME`; attachments lie in its folder.
        columns: what a column is, where its name does not tell: `id`, `question`, `target`, `type`, `options`,
            `files`, `cluster`, `system`, `context`, `tag:NAME`, `meta:NAME` or `ignore`. `data.question` is the key
            `question` of the objects in the column `data`.
        answers: False for questions without right answers, for scorers that need none. `letter`, `text`, `index0` or
            `index1`: how answers name options, where the file fits more than one way.
        prompt: makes the question out of columns: `{context}\\n\\n{question}`.
        target_pattern: takes the answer out of the target: a regular expression, `gsm8k` (`#### 72`) or `boxed`.
        encoding: of a text file, where its content does not tell.
        header: False for a CSV file or sheet without column names; they are `column_1`, `column_2`, … then.
        sheet: of an Excel file with several.
        split: of a folder, or of a JSON file with several lists: `test`.
        user: the simulated user that plays the scenarios of the rows; a column `scenario` next to a question is one only then.
        allow_code: functions that matchers of the file name may run.

    Raises:
        BadInput: names file, row and column.
    """
    name, path, fetched = _locate(path, split)
    reading = FileReading(
        encoding=encoding, header=header, sheet=sheet, split=None if fetched else split, refuse=around.get().refuse
    )
    shape = _shape(path, reading, columns, answers, prompt, target_pattern, simulated=user is not None)
    checked = _check_rows(path, reading, shape, allow_code=allow_code)
    return Task(
        name=name,
        version=checked.digest[:12],
        samples=lambda: (sample_of(row, shape) for row in rows(path, reading) if row.number not in checked.refused),
        oracle=calls_of if shape.columns.calls else None,
        scorers=_scorers(shape.columns, checked),
        user=user or NO_USER if shape.columns.scenario is not None else None,
        present=(lambda sample: _with_files(sample, shape.folder)) if checked.attachments else None,
        provenance={
            **(fetched or {"file": path.name}),
            "sha256": checked.digest,
            "columns": describe(shape.columns),
            **_settings(shape),
            **checked.attachments,
        },
        spread_by=next(
            (tag for tag in SPREAD if tag in shape.columns.tags or (tag == "type" and shape.columns.type)), None
        ),
        planned=checked.count,
        notes=[_layout(name if fetched else path.name, shape)],
    )


def _layout(name: str, shape: Shape) -> Sentence:
    """Say which columns were understood as what, and how the answer is read."""
    notes = {**describe(shape.columns), **_settings(shape)}
    return say(
        "{path}: {columns}.{unused}",
        path=name,
        columns=", ".join(f"{role} ← {name}" for role, name in notes.items()),
        unused=say(" Not used: {unused}.", unused=", ".join(shape.columns.unused)) if shape.columns.unused else "",
    )


def _locate(path: str | Path, split: str | None) -> tuple[str, Path, dict[str, str]]:
    """Return the name of the task, where its files are, and what is recorded of those of the hub."""
    if str(path).startswith(HUB):
        data_set = offered("hub", "task", needed_for=str(path))(str(path), split)
        return str(path).removeprefix(HUB), data_set.folder, data_set.provenance
    path = Path(path).expanduser()
    return path.stem if path.is_file() else path.resolve().name, path, {}


class _Survey(msgspec.Struct, frozen=True, kw_only=True):
    """Collects what all rows of a file have in common.

    Attributes:
        filled: columns that hold something in some row.
        nested: keys of objects in cells, such as `data.question`.
        structured: columns whose cells are lists or objects.
        forms: for each column of texts, the names in FORMS that fit every one of them.
    """

    names: tuple[str, ...]
    filled: frozenset[str]
    nested: tuple[str, ...]
    structured: frozenset[str]
    forms: Mapping[str, frozenset[str]]
    digest: str


class _Checked(msgspec.Struct, frozen=True, kw_only=True):
    digest: str
    count: int
    with_options: int
    attachments: Mapping[str, str]
    refused: frozenset[int]


def _shape(
    path: Path,
    reading: FileReading,
    columns: Mapping[str, str] | None,
    answers: bool | str,
    template: str | None,
    form: str | None,
    *,
    simulated: bool,
) -> Shape:
    survey = _survey(path, reading)
    file_columns = find_columns(
        survey.names, columns, path.name, nested=survey.nested, templated=template is not None, simulated=simulated
    )
    file_columns = _structured(file_columns, survey)
    asked_for = fields_of(template or "")
    _check_shown(path, file_columns, survey, template)
    file_columns = replace(file_columns, unused=tuple(name for name in file_columns.unused if name not in asked_for))
    if file_columns.target is not None and form is None:
        fitting = survey.forms.get(file_columns.target, frozenset())
        form = next((name for name in FORMS if name in fitting), None)
    _check_form(form)
    shape = Shape(
        columns=file_columns,
        folder=path if path.is_dir() else path.parent,
        answers=answers is not False
        and (file_columns.target is not None or (file_columns.scenario is None and file_columns.calls is None)),
        style=_style(answers),
        form=form,
        template=template,
    )
    if shape.answers:
        _check_answers(path, reading, shape, survey)
    if (
        file_columns.target is not None
        and (file_columns.options or file_columns.letters)
        and not isinstance(answers, str)
    ):
        shape = replace(shape, style=style_of(_answered_rows(path, reading, shape), file_columns.target))
    return shape


def _check_shown(path: Path, columns: FileColumns, survey: _Survey, template: str | None) -> None:
    """Refuse a template with columns that are not there, and a file whose questions may need a column that is not shown."""
    for name in fields_of(template or ""):
        if name not in survey.names and name not in survey.nested:
            raise BadInput(
                "The template asks for the column '{column}'. {path} has: {known}.",
                column=name,
                path=path.name,
                known=", ".join([*survey.names, *survey.nested]),
            )
    for name in columns.unused:
        if template is None and is_companion(name) and name in survey.filled:
            raise BadInput(
                "{path} has a column '{column}', which the question may need. Show it above the question: --map {column}=context; or leave it out: --map {column}=ignore",
                path=path.name,
                column=name,
            )


def _structured(columns: FileColumns, survey: _Survey) -> FileColumns:
    """Return the columns with those of tools, calls and state that nothing else uses and that hold what they should."""
    own = {role: role for role in STRUCTURED if role in columns.unused and role in survey.structured}
    own = {role: name for role, name in own.items() if getattr(columns, role) is None}
    unused = tuple(name for name in columns.unused if name not in own)
    return replace(columns, **own, unused=unused) if own else columns


def _style(answers: bool | str) -> Style:
    if isinstance(answers, bool):
        return "named"
    if answers not in STYLES:
        raise BadInput("answers={answers} is unknown. Known: false, {known}.", answers=answers, known=", ".join(STYLES))
    return answers


def _check_form(form: str | None) -> None:
    try:
        re.compile(form or "")
    except re.error as error:
        raise BadInput("The target_pattern '{pattern}' is no regular expression: {error}.", pattern=form, error=error) from None  # fmt: skip


def _check_answers(path: Path, reading: FileReading, shape: Shape, survey: _Survey) -> None:
    """Refuse a file without answers; a conversation may end with one, and options may be marked right."""
    if shape.columns.target is not None or shape.columns.calls is not None:
        return
    first = next(rows(path, reading))
    choices = options_in(first, shape.columns)
    if choices is not None and choices.right:
        return
    if isinstance(first.cell(shape.columns.question), list):  # checked row by row
        return
    raise BadInput(
        "{path}: no column holds the answer. It has: {known}. Say which: {map}; or that there are none: --set answers=false",
        path=path.name,
        known=", ".join([*survey.names, *survey.nested]),
        map=show_mapping(shape.columns.unused, ["target"]),
    )


def _answered_rows(path: Path, reading: FileReading, shape: Shape) -> Iterator[OptionsRow]:
    for row in rows(path, reading):
        try:
            choices, answer = options_in(row, shape.columns), plain_target(row, shape)
        except BadInput:
            if reading.refuse is None:
                raise
            continue  # refused where rows are checked
        if choices is None or answer is None:
            continue
        if reading.refuse is None or any(named_options(answer, choices, style) for style in TRIED):
            yield OptionsRow(where=row.where, choices=choices, answer=answer)


def _identity(path: Path, reading: FileReading) -> tuple[tuple[Path, int, int], ...]:
    return tuple((file, status.st_mtime_ns, status.st_size) for file in files_in(path, reading) for status in [file.stat()])  # fmt: skip


def _survey(path: Path, reading: FileReading) -> _Survey:
    return _survey_files(path, reading, _identity(path, reading))


@lru_cache(maxsize=8)
def _survey_files(path: Path, reading: FileReading, files: tuple[tuple[Path, int, int], ...]) -> _Survey:
    names: dict[str, None] = {}
    filled: set[str] = set()
    plain: set[str] = set()
    nested: dict[str, None] = {}
    forms: dict[str, set[str]] = {}
    for row in rows(path, reading):
        for name, value in row.cells.items():
            if name not in names:
                names[name] = None
                forms[name] = set(FORMS)
            if is_empty(value):
                continue
            filled.add(name)
            if not isinstance(value, Mapping | list):
                plain.add(name)
            if isinstance(value, Mapping):
                _note_keys(name, value, nested)
            if forms[name]:
                fits = isinstance(value, str)
                forms[name] = {form for form in forms[name] if fits and FORMS[form].search(value) and extract(value, form)}  # fmt: skip
    if not names:
        raise BadInput("{path} holds no rows.", path=path.name)
    return _Survey(
        names=tuple(names),
        filled=frozenset(filled),
        nested=tuple(nested),
        structured=frozenset(filled - plain),
        forms={name: frozenset(forms[name]) for name in filled},
        digest=_digest([file for file, _, _ in files]),
    )


def _note_keys(prefix: str, value: Mapping[str, object], nested: dict[str, None], depth: int = 1) -> None:
    for key, inner in value.items():
        if len(nested) < MOST_NESTED:
            nested[f"{prefix}.{key}"] = None
            if isinstance(inner, Mapping) and depth < DEEPEST:
                _note_keys(f"{prefix}.{key}", inner, nested, depth + 1)


def _digest(files: Sequence[Path]) -> str:
    """Return the sha256 of a file; of several, that of their digests in order."""
    digests = []
    for path in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _check_rows(path: Path, reading: FileReading, shape: Shape, *, allow_code: bool) -> _Checked:
    row_by_id: dict[str, int] = {}
    attached: dict[str, str] = {}
    with_options = 0
    refused: set[int] = set()
    for row in rows(path, reading):
        try:
            sample = _check_row(row, shape, row_by_id, allow_code=allow_code)
        except BadInput as error:
            if reading.refuse is None:
                raise
            reading.refuse(error)
            refused.add(row.number)
            continue
        with_options += "options" in sample.meta
        for name in sample.meta.get("files", ()):
            if name not in attached:
                attached[name] = attachment_digest(name, shape.folder)
    together = hashlib.sha256("".join(f"{name}\0{attached[name]}\n" for name in sorted(attached)).encode()).hexdigest()
    return _Checked(
        digest=_survey(path, reading).digest,
        count=len(row_by_id),
        with_options=with_options,
        attachments={"attachments_sha256": together} if attached else {},
        refused=frozenset(refused),
    )


def _check_row(row: DataRow, shape: Shape, row_by_id: dict[str, int], *, allow_code: bool) -> Sample:
    sample = sample_of(row, shape)
    if sample.id in row_by_id:
        raise BadInput(
            "{where}: the id '{id}' was used already in row {row}.",
            where=row.where,
            id=sample.id,
            row=row_by_id[sample.id],
        )
    row_by_id[sample.id] = row.number
    _check_matchers(sample, row.where, allow_code=allow_code)
    return sample


def _check_matchers(sample: Sample, where: object, *, allow_code: bool) -> None:
    references = [
        value for value in (sample.target, sample.meta.get("trajectory")) if not isinstance(value, str | None)
    ]
    if references:
        from proctor.trajectory_matching.arguments import check_matchers  # slow to load, and most targets are texts

        check_matchers(*references, where=where, allow_code=allow_code)


def _scorers(columns: FileColumns, checked: _Checked) -> tuple[str, ...]:
    if columns.calls is not None and columns.target is None:
        return ("trajectory:any_order",)
    if columns.target is None and not checked.with_options:
        return ()
    if columns.type is not None or 0 < checked.with_options < checked.count:
        return ("by_type",)
    return ("choice",) if checked.with_options else ("answer",)


def _settings(shape: Shape) -> dict[str, str]:
    """Return the settings, other than columns, that change what is asked or compared, whether given or inferred."""
    settings = {}
    if shape.template is not None:
        settings["prompt"] = shape.template
    if shape.form is not None:
        settings["target_pattern"] = shape.form
    if shape.style not in ("named",):
        settings["answers"] = shape.style
    return settings


def _with_files(sample: Sample, folder: Path) -> Sample:
    """Return the sample with its attachments, read when its turn comes."""
    names = sample.meta.get("files", ())
    if not names or not sample.turns:
        return sample
    first, *rest = sample.turns
    parts = (Text(text=sample.question), *(_file(folder, name) for name in names))
    *before, asked = first.messages
    return replace(sample, turns=(replace(first, messages=(*before, replace(asked, parts=parts))), *rest))


def _file(folder: Path, name: str) -> File:
    inline = _inline.load(name)
    if inline is not None:
        return inline
    path = folder / name
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(name=path.name, media_type=media_type, data=path.read_bytes(), path=name)
