"""The labelled pairs: half of them the same in meaning, half not, in English and Chinese."""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proctor_judging.scorers.answer import match

FILE = Path(__file__).parents[1] / "data" / "answer_pairs.jsonl"
KINDS = ["number", "units", "dates", "mathematics", "lists", "names", "text"]


@cache
def _pairs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_there_are_enough_pairs_and_half_of_them_must_be_refused() -> None:
    counts = Counter(pair["same"] for pair in _pairs())
    assert len(_pairs()) >= 400
    assert counts[False] * 2 >= len(_pairs())
    assert Counter(pair["lang"] for pair in _pairs())["zh"] >= 300
    assert {pair["kind"] for pair in _pairs()} == set(KINDS)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind_nearly_all_are_found_and_hardly_any_wrongly(kind: str, language: str) -> None:
    pairs = [pair for pair in _pairs() if pair["kind"] == kind and pair["lang"] == language]
    right = [pair["same"] for pair in pairs if match(pair["answer"], pair["target"]).right]
    wrongly = [pair for pair in pairs if match(pair["answer"], pair["target"]).right and not pair["same"]]
    assert not wrongly
    assert sum(right) >= 0.9 * sum(pair["same"] for pair in pairs)


def test_precision_and_recall_over_all_pairs() -> None:
    accepted = [pair["same"] for pair in _pairs() if match(pair["answer"], pair["target"]).right]
    assert sum(accepted) / len(accepted) >= 0.99
    assert sum(accepted) / sum(pair["same"] for pair in _pairs()) >= 0.9


def test_no_pair_is_right_in_one_direction_only() -> None:
    one_way = [
        pair
        for pair in _pairs()
        if match(pair["answer"], pair["target"]).right != match(pair["target"], pair["answer"]).right
    ]
    assert not one_way


def test_every_verdict_names_a_rule_and_gives_a_reason() -> None:
    rules = {
        "quasi exact",
        "numeric",
        "units",
        "dates and times",
        "ranges",
        "mathematics",
        "lists",
        "names",
        "similarity",
    }
    verdicts = [match(pair["answer"], pair["target"]) for pair in _pairs()]
    assert {verdict.rule for verdict in verdicts} == rules
    assert all(str(verdict.reason) for verdict in verdicts)
    assert not [verdict for verdict in verdicts if verdict.right and verdict.ambiguous]
