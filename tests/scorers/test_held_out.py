"""Replies that were written before the rules were read: precision and recall of each text scorer over all kinds of them.

`tests/data/held_out/SCORER_N.jsonl` holds a pair a line: reply, target, whether it is right (a refusal), the kind, and the question
or options where they are needed. Each batch was written after the rules were tuned on those before it. The weights of `refusal` are fitted
to all of its batches; `python -m bench refusals` says how it reads those that are left out of the fit. Without `--torture`, every second
reply is read, but for those whose bounds are too close for a half.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import simulated

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer
from proctor_judging.scorers.blanks import blanks
from proctor_judging.scorers.choice import choice
from proctor_judging.scorers.json import json as json_scorer
from proctor_judging.scorers.number import number
from proctor_judging.scorers.refusal import refusal

pytestmark = pytest.mark.usefixtures("replies_read_once")

FOLDER = Path(__file__).parents[1] / "data" / "held_out"
Scorer = Callable[[Sample, Trajectory], Score | Unscored]
SCORERS: dict[str, tuple[Scorer, float, float]] = {  # the scorer, and the least precision and recall
    "answer": (answer, 0.98, 0.92),
    "choice": (choice, 0.98, 0.92),
    "blanks": (blanks, 0.98, 0.92),
    "number": (number, 0.98, 0.92),
    "refusal": (refusal, 0.98, 0.92),
    "json": (json_scorer, 0.98, 0.92),
}
WHOLE = ("number", "json", "prose_en")


def _pairs(name: str, first: int = 1) -> list[dict[str, Any]]:
    files = [file for file in sorted(FOLDER.glob(f"{name}_*.jsonl")) if int(file.stem.rpartition("_")[2]) >= first]
    pairs = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    replies = dict.fromkeys((pair.get("question"), pair["answer"]) for pair in pairs)
    chosen = set([*replies][:: 1 if simulated.long or name in WHOLE else 2])
    return [pair for pair in pairs if (pair.get("question"), pair["answer"]) in chosen]


@cache
def _accepts(scorer: Scorer, line: str) -> bool:
    """Score a line once for all tests that count it."""
    pair = json.loads(line)
    meta = {"options": pair["options"]} if "options" in pair else {}
    sample = Sample.ask("held-out", pair.get("question", "?"), target=pair.get("target"), meta=meta)
    score = scorer(sample, Trajectory.of(pair["answer"]))
    return isinstance(score, Score) and score.points == score.out_of


def _figures(pairs: Sequence[dict[str, Any]], scorer: Scorer) -> tuple[float, float]:
    accepted = [pair["same"] for pair in pairs if _accepts(scorer, json.dumps(pair))]
    right = sum(pair["same"] for pair in pairs)
    return sum(accepted) / max(len(accepted), 1), sum(accepted) / max(right, 1)


@pytest.mark.parametrize("name", SCORERS)
def test_precision_and_recall_over_all_kinds(name: str) -> None:
    scorer, least_precision, least_recall = SCORERS[name]
    precision, recall = _figures(_pairs(name), scorer)
    assert precision >= least_precision
    assert recall >= least_recall


@pytest.mark.parametrize("name", ["answer", "choice", "blanks"])
def test_precision_and_recall_on_wrong_replies_that_look_right(name: str) -> None:
    precision, recall = _figures(_pairs(name, first=12), SCORERS[name][0])
    assert precision >= 0.98
    assert recall >= 0.92


def test_plain_sentences_are_right_and_those_that_take_their_words_back_are_not() -> None:
    pairs = _pairs("answer")
    sentences = [pair for pair in pairs if pair["kind"] in ("sentence_en", "sentence_zh", "echo")]
    withdrawn = [pair for pair in pairs if pair["kind"] == "negation_hedge"]
    assert _figures(sentences, answer)[1] >= 0.9
    assert _figures(withdrawn, answer)[0] >= 0.9


@pytest.mark.parametrize("language", ["en", "zh"])
def test_answers_in_each_language_are_right_and_found(language: str) -> None:
    pairs = [pair for pair in _pairs("answer", first=18) if pair["lang"] == language]
    precision, recall = _figures(pairs, answer)
    assert precision >= 0.98
    assert recall >= 0.9


def test_answers_in_roundabout_english_are_read() -> None:
    """The bounds are those that hold now: they may only rise."""
    precision, recall = _figures(_pairs("prose_en"), answer)
    assert precision >= 0.99
    assert recall >= 0.84


def test_chinese_clauses_are_read_by_the_gap_of_their_question() -> None:
    """The bounds are what the rules reach; they may only rise."""
    precision, recall = _figures([pair for pair in _pairs("answer") if pair["kind"] == "han_clause"], answer)
    assert precision >= 0.99
    assert recall >= 0.92
