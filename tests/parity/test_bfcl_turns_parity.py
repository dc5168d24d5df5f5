"""Conversations of several turns: verdicts, first requests, and whole recorded conversations are the official ones.

`tests/data/bfcl_transcripts.jsonl.gz` holds, for scripted models, the digest of what the official code sent before each reply.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor_benchmarks.bfcl import dataset
from proctor_benchmarks.bfcl.parity import check_corpus

DATA = Path(__file__).parents[1] / "data"


def of_several_turns(name: str, folder: Path, *, every: int = 1) -> Path:
    """Write every so-manieth line of a corpus that is of several turns."""
    lines = [line for line in gzip.decompress((DATA / name).read_bytes()).splitlines() if b'"multi_turn_' in line]
    path = folder / "corpus.jsonl"
    path.write_bytes(b"\n".join(lines[::every]))
    return path


@pytest.mark.parametrize(
    ("corpus", "every", "count"),
    [("bfcl_verdicts.jsonl.gz", 4, 910), ("bfcl_inputs.jsonl.gz", 1, 260), ("bfcl_transcripts.jsonl.gz", 1, 96)],
)
def test_every_line_agrees(corpus: str, every: int, count: int, tmp_path: Path) -> None:
    checked = list(check_corpus(of_several_turns(corpus, tmp_path, every=every)))
    assert len(checked) == count
    assert not [f"{line.id}: {line.rule}" for line in checked if not line.agrees][:5]


def test_the_transcripts_are_of_all_categories_modes_and_scripts() -> None:
    lines = [
        json.loads(line) for line in gzip.decompress((DATA / "bfcl_transcripts.jsonl.gz").read_bytes()).splitlines()
    ]
    kinds = {(line["category"], line["mode"], line["script"]) for line in lines}
    assert len({kind for kind in kinds if kind[0] in dataset.MULTI_TURN}) == 4 * 2 * 4


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda line: line["replies"].__setitem__(0, "[ls()]"), "messages of request 2"),
        (lambda line: line["queries"][1].update(tools_sha256="0"), "tools of request 2"),
        (lambda line: line["queries"].append(line["queries"][-1]), "requests were made, officially"),
        (lambda line: line["replies"].pop(), "goes on after the last recorded reply"),
        (lambda line: line["result"][-1].append("x"), "The result differs"),
    ],
)
def test_what_differs_is_found(change: Change, rule: str, tmp_path: Path) -> None:
    line = json.loads(of_several_turns("bfcl_transcripts.jsonl.gz", tmp_path).read_bytes().splitlines()[0])
    change(line)
    path = tmp_path / "changed.jsonl"
    path.write_text(json.dumps(line))
    [checked] = check_corpus(path)
    assert checked.agrees is False
    assert rule in str(checked.rule)
