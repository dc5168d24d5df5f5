"""Read logs of other evaluation programs as runs: one file for each format, known by its content."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from proctor import registry
from proctor.core.errors import BadInput
from proctor.core.parts import ImportPart
from proctor.core.sample import Sample
from proctor_adapters.imports._foreign import ForeignRun, ForeignTrial, LogReading
from proctor_adapters.imports._source import ImportSource

__all__ = ["ForeignRun", "LogReading", "read"]


def read(path: Path, format: str | None = None, how: LogReading = LogReading()) -> Sequence[ForeignRun]:  # noqa: B008 - frozen
    """Return the runs that a log holds; their trials are read when they are asked for, as often as they are.

    Args:
        format: the name of a format, where the file is not to be recognised by its content.

    Raises:
        BadInput: the file cannot be read, is of no known format, or does not hold what its format promises.
    """
    source = ImportSource(path)
    runs = _part(source, format).read(source, how if how.id is None else replace(how, tags=(*how.tags, how.id)))
    return runs if how.id is None else [_rename(run, how.id, is_tag=how.id in how.tags) for run in runs]


def _part(source: ImportSource, format: str | None) -> ImportPart:
    if format is not None:
        return registry.IMPORTS.find(format)
    for _, part in registry.IMPORTS.each():
        if part.knows(source):
            return part
    raise BadInput(
        "{path} is no log that is known by its content. Name its format with --format: {known}.",
        path=source.path,
        known=", ".join(registry.IMPORTS.names()),
    )


def _rename(run: ForeignRun, key: str, *, is_tag: bool) -> ForeignRun:
    """Return a run whose samples are named by a tag; one that was planned and not run has none, and keeps its name."""
    names = {trial.sample.id: _name(trial.sample, key) for trial in run.trials()} if run.planned else {}
    planned = tuple(names.get(id, id) for id in run.planned)
    return replace(run, trials=partial(_renamed, run, key, is_tag=is_tag), planned=planned)


def _renamed(run: ForeignRun, key: str, *, is_tag: bool) -> Iterator[ForeignTrial]:
    for trial in run.trials():
        sample = trial.sample
        tags = {name: value for name, value in sample.tags.items() if is_tag or name != key}
        yield replace(trial, sample=replace(sample, id=_name(sample, key), tags=tags))


def _name(sample: Sample, key: str) -> str:
    if sample.tags.get(key):
        return sample.tags[key]
    metadata = sample.meta.get("metadata")
    entries = dict(metadata) if isinstance(metadata, Mapping) else {}
    variables = entries.get("vars")  # of promptfoo
    entries |= variables if isinstance(variables, Mapping) else {}
    known = [name for name, value in entries.items() if isinstance(value, str | int | float)]
    raise BadInput(
        "The sample '{id}' of the log has no '{key}' in its metadata, to be named by. Known: {known}.",
        id=sample.id[:100],
        key=key[:100],
        known=", ".join(known)[:1_000],
    )
