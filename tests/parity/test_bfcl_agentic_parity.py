"""Memory and web search: verdicts, first requests, and conversations that share a memory are the official ones.

`tests/data/bfcl_memory_transcripts.jsonl.gz` holds two scenarios with two kinds of memory; their lines share memory in their order.
"""

import gzip
from pathlib import Path

import pytest

from proctor_benchmarks.bfcl.parity import check_corpus

DATA = Path(__file__).parents[1] / "data"


def agentic(name: str, folder: Path) -> Path:
    lines = gzip.decompress((DATA / name).read_bytes()).splitlines()
    path = folder / "corpus.jsonl"
    path.write_bytes(
        b"\n".join(line for line in lines if b'"category": "memory_' in line or b'"category": "web_' in line)
    )
    return path


@pytest.mark.parametrize(
    ("corpus", "count"),
    [("bfcl_verdicts.jsonl.gz", 2046), ("bfcl_inputs.jsonl.gz", 186), ("bfcl_memory_transcripts.jsonl.gz", 39)],
)
def test_every_line_agrees(corpus: str, count: int, tmp_path: Path) -> None:
    checked = list(check_corpus(agentic(corpus, tmp_path)))
    assert len(checked) == count
    assert not [f"{line.id}: {line.rule}" for line in checked if not line.agrees][:5]


def test_a_conversation_that_another_memory_went_before_is_found_to_differ(tmp_path: Path) -> None:
    lines = agentic("bfcl_memory_transcripts.jsonl.gz", tmp_path).read_bytes().splitlines()
    first, second = (line for line in lines[:2])
    path = tmp_path / "swapped.jsonl"
    path.write_bytes(b"\n".join([second, first]))
    assert not next(iter(check_corpus(path))).agrees
