"""Check our verdicts and requests against recorded ones of the official code; for the lines see `parity_lines`."""

import asyncio
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import msgspec

from proctor.core.parity import Checked
from proctor.core.sentence import say
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.bfcl import dataset
from proctor_benchmarks.bfcl.checker import check
from proctor_benchmarks.bfcl.formats import wording_of
from proctor_benchmarks.bfcl.parity_lines import RecordedVerdict, verdict

AT_ONCE = 400  # lines that are read, and checked side by side where they need a worker


Entries = Mapping[str, dataset.BfclEntry]


def check_corpus(path: Path, source: str | None = None) -> Iterator[Checked]:
    """Check every line; lines of unknown categories are skipped.

    Args:
        path: the corpus.
        source: where the data set is, see `dataset.locate`.

    Raises:
        BadInput: a line that cannot be read, or data that is missing.
    """
    from proctor_benchmarks.bfcl.parity_turns import Player  # imports the engine

    entries_by_category: dict[str, Entries] = {}
    folder: Path | None = None
    lines = (line for _, line in read_json_lines(path, RecordedVerdict))
    with asyncio.Runner() as runner:
        player = Player(source)
        try:
            while batch := list(islice(lines, AT_ONCE)):
                acting = [line for line in batch if needs_player(line)]
                played = iter(runner.run(player.check(acting)) if acting else ())
                for line in batch:
                    if line.category not in dataset.CATEGORIES:
                        yield Checked(
                            id=line.id, agrees=None, rule=say("no rule for the category '{name}'", name=line.category)
                        )
                    elif needs_player(line):
                        yield next(played)
                    else:
                        if line.category not in entries_by_category:
                            folder = folder or dataset.locate(source)
                            entries = {entry.id: entry for entry in dataset.entries(folder, line.category)}
                            entries_by_category[line.category] = entries
                        yield check_line(line, entries_by_category[line.category])
        finally:
            runner.run(player.close())


def needs_player(line: RecordedVerdict) -> bool:
    """True for what is sent, and for verdicts that depend on what calls do."""
    if line.category not in dataset.CATEGORIES:
        return False
    return line.model_output is msgspec.UNSET or line.category in (*dataset.MULTI_TURN, *dataset.AGENTIC)


def check_line(line: RecordedVerdict, entries: Entries) -> Checked:
    """Check the verdict on a single turn against the entries of its category; both validity and error type have to agree."""
    official = verdict(line.valid, line.error_type)
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
    ours = verdict(result.valid, result.error_type)
    return Checked(id=line.id, agrees=agrees, ours=ours, official=official, rule="" if agrees else result.reason)
