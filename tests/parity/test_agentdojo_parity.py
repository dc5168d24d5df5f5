"""Verdicts, messages, tool results and environments are those of the official code, through the loop of real models.

The lines are from recorded runs of agentdojo 0.1.35, version v1.2.2 of the benchmark: of every kind of scripted agent two suites.
"""

from pathlib import Path
from typing import Any

import pytest

from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.agentdojo import official, parity

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("corpus", ["agentdojo_verdicts.jsonl.gz", "agentdojo_inputs.jsonl.gz"])
def test_every_line_of_the_corpus_agrees(corpus: str) -> None:
    differing = [line for line in parity.check_corpus(DATA / corpus) if not line.agrees]
    assert not differing, "\n".join(f"{line.id}: official {line.official}, ours {line.ours}" for line in differing)


CHANGES: dict[str, Any] = {
    "utility": None,
    "security": None,
    "runs": 7,
    "queries": [],
    "post_env": "0",
    "messages_sha256": "0",
    "tool_results": ["0"] * 9,
}


def test_a_field_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each field, and the line itself, checked in one worker."""
    _, line = next(iter(read_json_lines(DATA / "agentdojo_verdicts.jsonl.gz", dict)))
    lines = [line, *({**line, field: value} for field, value in CHANGES.items())]
    monkeypatch.setattr(parity, "read_json_lines", lambda *_: enumerate(lines, 1))
    agree = [checked.agrees for checked in parity.check_corpus(Path("corpus"), str(official.locate()))]
    assert dict(zip(["", *CHANGES], agree, strict=True)) == {"": True, **dict.fromkeys(CHANGES, False)}
