"""One row for each verdict, or for each trial without one, as CSV or JSON Lines by the suffix of the file.

    run,task,agent,sample,attempt,outcome,stop,scorer,...,tag.category

CSV is safe to open in a spreadsheet: a text that would be read as a formula gets an apostrophe in front.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from proctor.core.errors import BadInput
from proctor.core.parts import ExportPart
from proctor.core.run import RunRecord
from proctor.core.score import Score, Unscored
from proctor.core.task import Store
from proctor.core.trial import Trial, Verdict
from proctor.exports.writing import Options, writing
from proctor.i18n import speak
from proctor.stores.reading import trials_with_verdicts

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # spreadsheets read the wide ones too
NUMBERS = {
    "attempt": "int32", "points": "float64", "out_of": "float64", "value": "float64", "started": "float64", "seconds": "float64",
    "requests": "int64", "input_tokens": "int64", "output_tokens": "int64", "cost": "float64",
}  # fmt: skip
COLUMNS = (
    "run", "task", "agent", "sample", "attempt", "outcome", "stop", "scorer", "scorer_version", "points", "out_of", "value",
    "unscored", "reason", "error_class", "error_type", "question", "target", "answer", "failure_kind", "failure_reason",
    "started", "seconds", "requests", "input_tokens", "output_tokens", "cost",
)  # fmt: skip
OF_VERDICT = COLUMNS[COLUMNS.index("scorer") : COLUMNS.index("question")]
"""The columns of a verdict; the others are of its trial. All that are not in `NUMBERS` hold text."""

Row = dict[str, Any]


def write(record: RunRecord, store: Store, path: Path | TextIO, *, options: Options | None = None) -> list[Path]:
    """Write the table and say where; memory does not grow with the run.

    Args:
        path: a file ending in .csv or .jsonl, or an open text file.
        options: `format` (csv or jsonl) for an open file or another suffix; `lang` of the reasons (default en).

    Raises:
        BadInput: neither suffix nor option is csv or jsonl; the file cannot be written.
    """
    given = options or {}
    format = given.get("format") or (path.suffix.lower().removeprefix(".") if isinstance(path, Path) else "jsonl")
    if format not in ("csv", "jsonl"):
        raise BadInput("A table ends in .csv or .jsonl, not '{format}'.", format=format)
    entries = rows(record, store, given.get("lang", "en"))
    with writing(path, newline="") as file:
        if format == "csv":
            _write_csv(file, entries, columns_of(record, store))
        else:
            file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in entries)
    return [path] if isinstance(path, Path) else []


def safe_cell(value: object) -> Any:
    """Return a cell that no spreadsheet runs: text that begins like a formula gets an apostrophe; numbers stay.

    >>> safe_cell("=1+1"), safe_cell(" @x"), safe_cell(-1), safe_cell("a-b")
    ("'=1+1", "' @x", -1, 'a-b')
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\x00", "␀")
    return "'" + text if text.startswith(FORMULA) or text.lstrip().startswith(FORMULA) else text


def _write_csv(file: TextIO, rows: Iterator[Row], columns: Sequence[str]) -> None:
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([safe_cell(column) for column in columns])
    for row in rows:
        cells = flat_row(row)
        writer.writerow([safe_cell(cells.get(column)) for column in columns])


def rows(record: RunRecord, store: Store, lang: str) -> Iterator[Row]:
    """Yield the rows with the keys of `COLUMNS` and `tags`."""
    for shared, verdicts in rows_by_trial(record, store, lang):
        for verdict in verdicts or [{}]:
            yield shared | verdict


def rows_by_trial(record: RunRecord, store: Store, lang: str) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the row of each trial, with the columns that each of its verdicts sets in it."""
    for trial, verdicts in trials_with_verdicts(store, record.id):
        shared = _trial_columns(record, store, trial, lang)
        yield shared, [_verdict_columns(verdict, lang) for verdict in verdicts]


def flat_row(row: Row) -> Row:
    """Return a row whose tags are columns, and whose lists and objects are JSON."""
    tags = {f"tag.{key}": value for key, value in row["tags"].items()}
    return {key: cell_text(value) for key, value in (row | tags).items() if key != "tags"}


def columns_of(record: RunRecord, store: Store) -> list[str]:
    """Return the columns of flat rows, as far as tags are counted; without a scorer none are, and the samples are read."""
    if record.scorers:
        tags = (slice.partition("=")[0] for slice in store.tallies(record.id, record.scorers[0]) if slice)
    else:
        tags = (key for sample in store.planned(record.id) for key in sample.tags)
    return [*COLUMNS, *(f"tag.{key}" for key in dict.fromkeys(tags))]


def _trial_columns(record: RunRecord, store: Store, trial: Trial, lang: str) -> Row:
    sample, usage, failure = store.sample(record.id, trial.sample_id), trial.usage, trial.failure
    return dict.fromkeys(COLUMNS) | {
        "run": record.id,
        "task": record.task,
        "agent": record.agent,
        "sample": trial.sample_id,
        "attempt": trial.attempt,
        "outcome": trial.outcome,
        "stop": trial.trajectory.stop,
        "question": sample.question if sample is not None else None,
        "target": sample.target if sample is not None else None,
        "answer": trial.trajectory.answer,
        "failure_kind": failure.kind if failure is not None else None,
        "failure_reason": speak(failure.reason, lang) if failure is not None else None,
        "started": trial.started,
        "seconds": trial.seconds,
        "requests": usage.requests,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost": usage.cost,
        "tags": dict(sample.tags) if sample is not None else {},
    }


def _verdict_columns(verdict: Verdict, lang: str) -> Row:
    named: Row = {"scorer": verdict.scorer, "scorer_version": verdict.scorer_version}
    match verdict.result:
        case Unscored(why=why, reason=reason):
            return named | {"unscored": why, "reason": speak(reason, lang)}
        case Score() as score:
            known = score.known
            if score.answer is not None:
                named["answer"] = score.answer
            return named | {
                "points": score.points,
                "out_of": score.out_of,
                "value": score.value,
                "reason": speak(score.reason, lang),
                "error_class": known.error_class or None,
                "error_type": known.error_type or None,
            }


def cell_text(value: object) -> object:
    """Return lists and objects as JSON, and other values unchanged."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value


def as_text(value: object) -> str | None:
    """Return a value as a column of text holds it; what is missing stays None."""
    if isinstance(value, str) and value.isascii():
        return value
    return None if value is None else well_formed(str(cell_text(value)))


def well_formed(text: str) -> str:
    """Return the text with `?` for lone surrogates, which few formats can hold."""
    return text.encode("utf-8", "replace").decode()


PART = ExportPart(write=write, suffix=".csv")
