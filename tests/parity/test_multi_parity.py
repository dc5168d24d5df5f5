"""Every recorded verdict of the official functions of MULTI is ours too."""

import json
from pathlib import Path

import pytest

from proctor.core.errors import BadInput
from proctor_benchmarks.multi.parity import check_corpus

CORPUS = Path(__file__).parents[1] / "data" / "multi_verdicts.jsonl"


def test_every_line_of_the_corpus_agrees() -> None:
    lines = list(check_corpus(CORPUS))
    assert len(lines) == 120
    assert [
        f"{line.id}: official {line.official}, ours {line.ours} ({line.rule})" for line in lines if not line.agrees
    ] == []


def test_every_whole_reply_is_cleaned_and_scored_as_by_the_original() -> None:
    lines = list(
        check_corpus(CORPUS.with_name("multi_replies.jsonl"))
    )  # recorded from the original's own main function
    assert len(lines) == 600
    assert [f"{one.id}: official {one.official}, ours {one.ours}" for one in lines if not one.agrees] == []


def line(**changes: object) -> dict[str, object]:
    base = {"id": "x", "type": "单选", "prediction": "B", "label": "B", "args": {"answer_position": "start"}}
    return {**base, "score": 1, "total_score": 1, **changes}


@pytest.mark.parametrize(
    ("recorded", "agrees"),
    [
        (line(), True),
        (line(score=0), False),
        (line(total_score=2), False),
        (line(type="论述", score=0, total_score=0), True),
        (line(type="解答", prediction=" ", label="好", score=None, error="ValueError: Hypothesis is empty."), True),
        (line(type="解答", prediction="好", label="好", score=None, error="ValueError"), False),
        (line(args={"answer_position": "middle"}, score=None, error="UnboundLocalError"), True),
        (line(args={"answer_position": "middle"}), False),
        (line(args={"answer_position": "middle"}, prediction="1", score=0), True),
        (line(prediction=None, score=None, error="AttributeError"), True),
        (line(type="解答", prediction="好的", label="好的", score=0.999999995, prediction_tokens=["好的"]), False),
    ],
)
def test_a_line_agrees_when_score_total_error_and_words_do(
    recorded: dict[str, object], agrees: bool, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps(recorded, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [checked.agrees for checked in check_corpus(corpus)] == [agrees]


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps(line()) + '\n{"id": 1}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"corpus\.jsonl, line 2"):
        list(check_corpus(corpus))
