"""Our verdicts against recorded ones of the official code.

A line of the corpus, which may be gzipped:

    {"id": "simple_python_5", "category": "simple_python", "mode": "fc", "model_output": [{"f": "{\"x\": 1}"}],
     "valid": false, "error_type": "simple_function_checker:wrong_func_name"}

`mode` is `prompt`, or `fc` (native calls, dots in names made underscores).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.benchmarks.bfcl import dataset
from proctor.benchmarks.bfcl.checker import check
from proctor.benchmarks.bfcl.formats import wording_of
from proctor.core.parity import Checked
from proctor.core.sentence import say
from proctor.runtime.json_file import read_json_lines


class RecordedVerdict(msgspec.Struct, frozen=True):
    """One recorded verdict."""

    id: str
    category: str
    mode: Literal["prompt", "fc", "native"]
    model_output: Any
    valid: bool
    error_type: str | None = None


Entries = Mapping[str, dataset.Entry]


def check_corpus(path: Path, source: str | None = None) -> Iterator[Checked]:
    """Check every line; lines of categories that are not built are skipped.

    Args:
        path: the corpus.
        source: where the data set is, see `dataset.locate`.

    Raises:
        BadInput: a line that cannot be read, or data that is missing.
    """
    entries_by_category: dict[str, Entries] = {}
    folder: Path | None = None
    for _, line in read_json_lines(path, RecordedVerdict):
        if line.category not in dataset.CATEGORIES:
            yield Checked(id=line.id, agrees=None, official=_verdict(line.valid, line.error_type))
            continue
        if line.category not in entries_by_category:
            folder = folder or dataset.locate(source)
            entries = {entry.id: entry for entry in dataset.entries(folder, line.category)}
            entries_by_category[line.category] = entries
        yield check_line(line, entries_by_category[line.category])


def check_line(line: RecordedVerdict, entries: Entries) -> Checked:
    """Check a line against the entries of its category; both validity and error type have to agree."""
    official = _verdict(line.valid, line.error_type)
    entry = entries.get(line.id)
    if entry is None:
        rule = say("{category} has no sample '{id}'.", category=line.category, id=line.id)
        return Checked(id=line.id, agrees=False, official=official, rule=rule)
    form, category = wording_of(line.category, line.id)
    native = line.mode != "prompt"
    result = check(
        entry.functions,
        entry.answers,
        category,
        line.model_output,
        mode="native" if native else "prompt",
        underscores=native,
        form=form,
    )
    agrees = (result.valid, result.error_type) == (line.valid, line.error_type)
    ours = _verdict(result.valid, result.error_type)
    return Checked(id=line.id, agrees=agrees, ours=ours, official=official, rule="" if agrees else result.reason)


def _verdict(valid: bool, error_type: str | None) -> str:
    return "valid" if valid else (error_type or "invalid")
