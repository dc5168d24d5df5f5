"""The answer matcher on its labelled pairs, and every scorer that reads free text on replies as chat models write them.

`tests/data/replies` holds the corpora: `tuned` and `unseen`, to which the rules were mended, `third`, of another hand, and `registers`: replies of
developers, assistants, a help desk and teachers. Strangers wrote the others: `stranger_a` to `_f` were read when the rules were mended, all others were
used to fit the model of spans, but for `bench.spans.MEASURED`. From `_ff` to `_qq`, a third of the replies have a rival that was put there to mislead.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.figure import ROUNDS, Figure, seconds_of
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching import cascade, dates, numbers, quantities, similarity, syntax, text, unit_table
from proctor_judging.scorers.answer import answer, match
from proctor_judging.scorers.blanks import blanks
from proctor_judging.scorers.choice import choice
from proctor_judging.scorers.json import json as json_scorer
from proctor_judging.scorers.number import number
from proctor_judging.scorers.refusal import refusal

DATA = Path(__file__).parents[1] / "tests" / "data"
PAIRS = DATA / "answer_pairs.jsonl"
CORPORA = (
    "tuned",
    "unseen",
    "third",
    "registers",
    *(
        f"stranger_{hand}"
        for hand in (*"abcdefghijklmnopqrstuvwxyz", *(2 * letter for letter in "abcdefghijklmnopqrs"))
    ),
)
SCORERS: dict[str, Callable[[Sample, Trajectory], Score | Unscored]] = {
    "answer_en": answer,
    "answer_zh": answer,
    "choice": choice,
    "blanks": blanks,
    "number": number,
    "json": json_scorer,
    "refusal": refusal,
}
FIRST_RULES = ("quasi exact", "numeric", "units", "dates and times")
REMEMBERED = (
    *(text._kept, numbers.read_number, quantities.read_quantity, unit_table.read_unit, dates.read_moments),
    *(similarity.words, syntax.read_tree),
)


class Reading(msgspec.Struct, frozen=True):
    """A pair of the corpora and what the scorer says; `is_accepted` is None without a score. An arguable pair is neither right nor wrong."""

    pair: dict[str, Any]
    is_right: bool | None
    is_accepted: bool | None


class Rates(msgspec.Struct, frozen=True):
    """Shares over the pairs of a corpus that are not arguable, and how many have no score."""

    precision: float
    recall: float
    recall_of_scored: float
    unscored_right: int
    unscored_wrong: int
    arguable: int
    unscored_arguable: int


def read_corpus(corpus: str, name: str, every: int = 1) -> list[Reading]:
    """Score the pairs of one scorer in one corpus, or those of every second or third reply in it."""
    pairs = [json.loads(line) for line in _file_of(corpus, name).read_text(encoding="utf-8").splitlines()]
    replies = dict.fromkeys((pair["question"], pair["answer"]) for pair in pairs)
    chosen = set([*replies][::every])
    return [_read(SCORERS[name], pair) for pair in pairs if (pair["question"], pair["answer"]) in chosen]


def _file_of(corpus: str, name: str) -> Path:
    return DATA / "replies" / corpus / f"{name}.jsonl"


def _read(scorer: Callable[[Sample, Trajectory], Score | Unscored], pair: dict[str, Any]) -> Reading:
    meta = {"options": pair["options"]} if "options" in pair else {}
    sample = Sample.ask("reply", pair["question"], target=pair.get("target"), meta=meta)
    score = scorer(sample, Trajectory.of(pair["answer"]))
    return Reading(pair, pair["same"], score.points == score.out_of if isinstance(score, Score) else None)


def rates(readings: list[Reading]) -> Rates:
    """Return precision and recall, an unscored pair counting as not accepted, and recall among those that are scored."""
    accepted = [reading.is_right for reading in readings if reading.is_accepted and reading.is_right is not None]
    right = [reading for reading in readings if reading.is_right]
    unscored = [reading.is_right for reading in readings if reading.is_accepted is None]
    return Rates(
        precision=sum(accepted) / max(1, len(accepted)),
        recall=sum(accepted) / max(1, len(right)),
        recall_of_scored=sum(accepted) / max(1, len(right) - unscored.count(True)),
        unscored_right=unscored.count(True),
        unscored_wrong=unscored.count(False),
        arguable=sum(reading.is_right is None for reading in readings),
        unscored_arguable=unscored.count(None),
    )


def measure() -> Iterator[Figure]:
    """Precision and recall without a model, and speed with nothing remembered from before."""
    yield from _measure_matcher()
    for corpus in CORPORA:
        for name in (name for name in SCORERS if _file_of(corpus, name).exists()):
            figures = rates(read_corpus(corpus, name))
            for what in Rates.__struct_fields__:
                value = getattr(figures, what)
                unit = "share" if isinstance(value, float) else "pairs"
                yield Figure(what=f"{corpus} {name}: {what.replace('_', ' ')}", value=value, unit=unit)


def _measure_matcher() -> list[Figure]:
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
