"""Every recorded verdict of google-adk 2.7.1 is ours too."""

import json
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_adapters.evalsets.parity import check_corpus

CORPUS = Path(__file__).parents[1] / "data" / "adk_verdicts.jsonl"


def test_every_line_of_the_adk_corpus_agrees() -> None:
    lines = list(check_corpus(CORPUS))
    assert len(lines) > 200
    assert [
        f"{line.id}: official {line.official}, ours {line.ours} ({line.rule})" for line in lines if not line.agrees
    ] == []


@pytest.mark.parametrize(
    ("change", "agrees"),
    [
        ({"status": "FAILED"}, False),
        ({"scores": [0.0]}, False),
        ({"expected": [[], []], "error": "ValueError"}, True),
        ({"error": "ValueError"}, False),
        ({"match_type": "strict", "error": "ValidationError"}, True),
        ({"actual": [], "expected": [], "scores": [], "overall_score": None, "status": "NOT_EVALUATED"}, True),
        ({"metric": "final_response_match_v2"}, None),
    ],
)
def test_a_line_that_says_otherwise_differs(change: dict[str, object], agrees: bool | None, tmp_path: Path) -> None:
    line = {
        "id": "x", "metric": "tool_trajectory_avg_score", "match_type": "EXACT", "threshold": 1.0,
        "actual": [[{"name": "f", "args": {"x": 1}}]], "expected": [[{"name": "f", "args": {"x": True}}]],
        "scores": [1.0], "overall_score": 1.0, "status": "PASSED",
    }  # fmt: skip
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(line | change))
    assert [one.agrees for one in check_corpus(path)] == [agrees]


@pytest.mark.parametrize("text", ["{", "[1]", '{"id": "x"}', '{"id": "x", "metric": "response_match_score"}'])
def test_a_broken_line_of_the_adk_corpus_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(CORPUS.read_text(encoding="utf-8").splitlines()[0] + "\n" + text + "\n")
    with pytest.raises(BadInput, match="line 2"):
        list(check_corpus(path))
