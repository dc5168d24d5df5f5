"""The answer matcher on its labelled pairs: precision, recall, and short answers a second through the first four rules."""

import json
from pathlib import Path
from typing import Any

from bench.figure import ROUNDS, Figure, seconds_of
from proctor_judging.matching import cascade, dates, numbers, quantities, similarity, syntax, text, unit_table
from proctor_judging.scorers.answer import match

PAIRS = Path(__file__).parents[1] / "tests" / "data" / "answer_pairs.jsonl"
FIRST_RULES = ("quasi exact", "numeric", "units", "dates and times")
REMEMBERED = (
    *(text._kept, numbers.read_number, quantities.read_quantity, unit_table.read_unit, dates.read_moments),
    *(similarity.words, syntax.read_tree),
)


def measure() -> list[Figure]:
    """Precision and recall without a model, and speed with nothing remembered from before."""
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    verdicts = [match(pair["answer"], pair["target"]) for pair in pairs]
    accepted = [pair["same"] for pair, verdict in zip(pairs, verdicts, strict=True) if verdict.right]
    same = sum(pair["same"] for pair in pairs)
    short = [pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict.rule in FIRST_RULES]
    return [
        Figure(what="labelled pairs", value=len(pairs), unit="pairs", at_least=300),
        Figure(what="of them to be refused", value=(len(pairs) - same) / len(pairs), unit="share", at_least=0.5),
        Figure(what="precision", value=sum(accepted) / len(accepted), unit="share", at_least=0.99),
        Figure(what="recall", value=sum(accepted) / same, unit="share", at_least=0.9),
        Figure(what="the first four rules, all new", value=_speed(short), unit="answers/s", at_least=10_000),
        Figure(what="all rules, all new", value=_speed(pairs), unit="answers/s"),
    ]


def _speed(pairs: list[dict[str, Any]]) -> float:
    """Answers a second, the best of several rounds."""

    def work() -> None:
        for pair in pairs:
            cascade.match(pair["answer"], pair["target"])

    best = float("inf")
    for _ in range(ROUNDS):
        for remembered in REMEMBERED:
            remembered.cache_clear()
        best = min(best, seconds_of(work))
    return len(pairs) / best
