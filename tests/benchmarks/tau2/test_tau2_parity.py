"""Recorded verdicts, prompts and conversations of the official code come out the same here.

`tests/data/tau2/*.jsonl.gz` were made by running tau2-bench at commit a2c024725189.
"""

from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_benchmarks.tau2.parity import check_corpus

CORPORA = Path(__file__).parents[2] / "data" / "tau2"


@pytest.mark.parametrize(("corpus", "count"), [("inputs", 39), ("transcripts", 101), ("verdicts", 267)])
def test_every_line_of_a_corpus_agrees(tau2_root: Path, corpus: str, count: int) -> None:
    checked = list(check_corpus(CORPORA / f"{corpus}.jsonl.gz", str(tau2_root)))
    differing = [f"{line.id}: official {line.official}, ours {line.ours}" for line in checked if not line.agrees]
    assert len(checked) == count
    assert not differing, differing[:5]


def test_an_altered_line_differs_and_says_in_what(tau2_root: Path, tmp_path: Path) -> None:
    line = '{"id": "x", "domain": "mock", "task_id": "create_task_1", "kind": "exact", "termination_reason": "max_steps", "messages": [], "rewards": {"all": 1.0}}'
    (tmp_path / "one.jsonl").write_text(line, encoding="utf-8")
    (checked,) = check_corpus(tmp_path / "one.jsonl", str(tau2_root))
    assert checked.agrees is False
    assert "rewards" in str(checked.rule)


def test_a_line_of_another_corpus_is_refused(tau2_root: Path, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"id": "x", "model_output": []}', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1: no line of a corpus of tau2"):
        list(check_corpus(tmp_path / "one.jsonl", str(tau2_root)))
