"""Fit the weights with which `refusal` reads a reply, and measure them on replies they were not fitted to.

`python -m bench.refusals fit` writes `packages/proctor-judging/src/proctor_judging/scorers/refusal_weights.txt`. Only whether a reply declines is known, not which of its
sentences does: each round takes the sentence that the weights of the last one find most, and all sentences of the replies that do not.
"""

import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.figure import Figure
from bench.refusal_replies import replies
from proctor_judging.scorers import refusal_model
from proctor_judging.scorers.refusal_features import read_features
from proctor_judging.scorers.refusal_model import ANSWERS, DECLINES, RENDERS

DATA = Path(__file__).parents[1] / "tests" / "data"
FOLDER = DATA / "held_out"
# folders of `replies`; those in `third` are never fitted
CHAT_REPLIES = ("tuned", "unseen", "stranger_a", "stranger_b", "stranger_c")
WEIGHTS = Path(refusal_model.__file__).with_name("refusal_weights.txt")
ROUNDS, EPOCHS = 4, 12
RATE, SHRINKAGE = 0.05, 0.002
LEAST = 0.03  # weights nearer to 0 are left out
STEP = 0.02
FRESH = 23  # batches from this one on are longer replies to questions
FOLDS = 5


class Pair(msgspec.Struct, frozen=True):
    """A reply: the features of each sentence, whether it declines, and how much it counts."""

    batch: str
    sentences: tuple[frozenset[str], ...]
    declines: bool
    importance: float


def read_pairs() -> list[Pair]:
    """Return the pairs of all batches, the generated ones, and replies of other scorers that deny nothing."""
    pairs = []
    for file in sorted(FOLDER.glob("refusal_*.jsonl")):
        number = int(file.stem.rpartition("_")[2])
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            pairs.append(_pair(row, file.stem, row["same"], 1 if number >= FRESH else 0.6))
    for corpus in CHAT_REPLIES:
        text = (DATA / "replies" / corpus / "refusal.jsonl").read_text(encoding="utf-8")
        rows = [row for row in map(json.loads, text.splitlines()) if row["same"] is not None]
        pairs += [_pair(row, corpus, row["same"], 1) for row in rows if not RENDERS.search(row["question"])]
    pairs += [
        _pair({"question": reply.question, "answer": reply.answer}, "grid", reply.declines, 1) for reply in replies()
    ]
    others = [json.loads(line) for name in ("number_22", "answer_18", "answer_22") for line in _lines(name)]
    pairs += [_pair(row, "others", False, 0.4) for row in others if row.get("same") and len(row["answer"]) > 25]
    return [pair for pair in pairs if pair.sentences]


def _lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def _pair(row: Mapping[str, str], batch: str, declines: bool | str, importance: float) -> Pair:
    read = read_features(row["answer"], row.get("question", ""))
    return Pair(batch, tuple(frozenset(found) for _, found in read), bool(declines), importance)


def fit(pairs: Sequence[Pair], seed: int = 0) -> dict[str, float]:
    """Return the weights of a logistic model by AdaGrad; `constant` is among them."""
    source = random.Random(seed)
    counted = Counter(name for pair in pairs for name in frozenset().union(*pair.sentences))
    known = {name for name, count in counted.items() if count > 1}
    bags = [([[name for name in sorted(found) if name in known] for found in pair.sentences], pair) for pair in pairs]
    weights: dict[str, float] = defaultdict(float, constant=-1.0)
    squares: dict[str, float] = defaultdict(lambda: 0.01)
    for number in range(ROUNDS):
        chosen = [one for sentences, pair in bags for one in _choose(sentences, pair, weights, is_first=number == 0)]
        for _ in range(EPOCHS):
            source.shuffle(chosen)
            for names, declines, importance in chosen:
                error = (_chance(weights, names) - declines) * importance
                weights["constant"] -= 0.02 * error
                for name in names:
                    slope = error + SHRINKAGE * weights[name]
                    squares[name] += slope * slope
                    weights[name] -= RATE * slope / math.sqrt(squares[name])
    return weights


Chosen = tuple[list[str], bool, float]


def _choose(
    sentences: list[list[str]], pair: Pair, weights: Mapping[str, float], *, is_first: bool
) -> Iterator[Chosen]:
    ordered = sorted(sentences, key=lambda names: sum(weights.get(name, 0.0) for name in names))
    if not pair.declines:
        yield from ((names, False, pair.importance) for names in (sentences if is_first else ordered[-3:]))
    elif not is_first:
        yield ordered[-1], True, pair.importance
    else:  # nothing is known yet: those that deny something
        denying = [names for names in sentences if "kind:selfneg" in names]
        denying = (
            denying or [names for names in sentences if "kind:neg" in names or "kind:self,neg" in names] or sentences
        )
        yield from ((names, True, pair.importance / min(2, len(denying))) for names in denying[:2])


def _chance(weights: Mapping[str, float], names: Sequence[str]) -> float:
    total = weights["constant"] + sum(weights[name] for name in names)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def amount_of(weights: Mapping[str, float], pair: Pair) -> float:
    """Return how much a reply declines."""
    return weights["constant"] + max(sum(weights.get(name, 0.0) for name in found) for found in pair.sentences)


def write(weights: Mapping[str, float]) -> None:
    """Write the weights, rounded; those that are equal stand in one line."""
    rounded: dict[float, list[str]] = defaultdict(list)
    for name, weight in weights.items():
        if abs(weight) >= LEAST:
            rounded[round(round(weight / STEP) * STEP, 2)].append(name)
    lines = ["# The weight of features of sentences for `refusal`; written by `python -m bench.refusals fit`."]
    lines += ["\t".join([f"{weight:g}", *sorted(rounded[weight])]) for weight in sorted(rounded)]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure() -> Iterator[Figure]:
    """Measure precision and recall of each fresh batch by weights that were fitted without a fifth of them, or without the whole batch."""
    pairs = read_pairs()
    fresh = [pair for pair in pairs if pair.importance == 1]
    held: list[tuple[float, bool]] = []
    for fold in range(FOLDS):
        left_out = {id(pair) for pair in fresh[fold::FOLDS]}
        weights = fit([pair for pair in pairs if id(pair) not in left_out])
        held += [(amount_of(weights, pair), pair.declines) for pair in fresh[fold::FOLDS]]
    yield from _figures("a fifth of the pairs left out", held)
    for batch in sorted({pair.batch for pair in fresh}):
        weights = fit([pair for pair in pairs if pair.batch != batch])
        yield from _figures(
            f"{batch} left out", [(amount_of(weights, pair), pair.declines) for pair in fresh if pair.batch == batch]
        )


def _figures(what: str, held: Sequence[tuple[float, bool]]) -> Iterator[Figure]:
    accepted = [declines for amount, declines in held if amount >= DECLINES]
    unsure = sum(ANSWERS < amount < DECLINES for amount, _ in held)
    yield Figure(what=f"{what}: precision", value=sum(accepted) / max(1, len(accepted)), unit="")
    yield Figure(what=f"{what}: recall", value=sum(accepted) / max(1, sum(declines for _, declines in held)), unit="")
    yield Figure(what=f"{what}: unscored", value=unsure / len(held), unit="")


if __name__ == "__main__":
    if sys.argv[1:] != ["fit"]:
        sys.exit("python -m bench.refusals fit")
    write(fit(read_pairs()))
