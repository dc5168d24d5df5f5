"""Train the ranker of claims on pairs, and say how well it reads those that it did not see: `python -m bench claim_reader`.

Training sees the keys; reading does not. `python -c "from bench.claim_reader import write; write()"` writes the weights into the package.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import scipy.optimize
import scipy.sparse

import proctor.answer_matching
from bench.figure import Figure
from proctor.answer_matching.asked import read_asked
from proctor.answer_matching.claim_features import Described, describe
from proctor.answer_matching.claim_ranker import readable
from proctor.answer_matching.replies import match_asked
from proctor.answer_matching.verdict import AnswerOptions

DATA = Path(__file__).parents[1] / "tests" / "data"
WEIGHTS = Path(next(iter(proctor.answer_matching.__path__))) / "claim_weights.txt"
FOLDS = 3
PENALTY = 1.0
OF_WORDS = 0.5  # the value of a feature that names words; all others have 1
LEAST, LEAST_OF_WORDS = 2, 3  # examples in which a feature must occur
STEPS = 80
SMALLEST = 0.06  # weights below are not kept
TRIED = 60  # of the examples of `measure`, which is quick


class Example(msgspec.Struct):
    """A reply with its question, what it claims (`answers`, none if nothing), and what it does not."""

    question: str
    reply: str
    answers: list[str] = []
    wrong: list[str] = []
    nothing: bool = False


def examples() -> list[Example]:
    """Return the pairs of the repository that have a question of another kind than yes or no."""
    merged: dict[tuple[str, str], Example] = {}
    for row in _rows():
        example = merged.setdefault((row["question"], row["reply"]), Example(row["question"], row["reply"]))
        example.nothing = example.nothing or ("answer" in row and row["answer"] is None)
        example.answers += [one for one in [row.get("answer")] if one is not None and one not in example.answers]
        example.wrong += [one for one in row.get("wrong", []) if one not in example.wrong]
    return [one for one in merged.values() if read_asked(one.question).kind != "truth"]


def _rows() -> Iterable[dict]:  # type: ignore[type-arg]
    for line in (DATA / "claims.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
    for file in sorted((DATA / "held_out").glob("*_*.jsonl")):
        if file.name.startswith(("answer", "number", "prose")):
            for line in file.read_text(encoding="utf-8").splitlines():
                pair = json.loads(line)
                if pair.get("question", "?") != "?":
                    key = {"answer": pair["target"]} if pair["same"] else {"wrong": [pair["target"]]}
                    yield {"question": pair["question"], "reply": pair["answer"], **key}


def labels(example: Example, texts: Sequence[str]) -> list[int]:
    """Return 1 for each part of a reply that is its answer, -1 for what it does not claim, 0 for others."""
    options = AnswerOptions(ordered=False if read_asked(example.question).several else None)

    def fits(text: str, keys: Sequence[str]) -> bool:
        return any(match_asked(text, key, example.question, options).right for key in keys)

    known = {
        text: 1 if fits(text, example.answers) else -1 if fits(text, example.wrong) else 0
        for text in dict.fromkeys(texts)
    }
    return [known[text] for text in texts]


class Rows(msgspec.Struct):
    """The parts of many replies as rows of a matrix, those of one reply together; the last row of each is that it claims nothing."""

    features: scipy.sparse.csr_matrix
    starts: np.ndarray
    right: np.ndarray
    wrong: np.ndarray

    def of(self, replies: np.ndarray) -> "Rows":
        rows = np.concatenate([np.arange(self.starts[one], self.starts[one + 1]) for one in replies])
        sizes = self.starts[replies + 1] - self.starts[replies]
        return Rows(self.features[rows], np.concatenate([[0], np.cumsum(sizes)]), self.right[rows], self.wrong[rows])


def rows_of(
    those: Sequence[Example], label: Callable[[Example, Sequence[str]], list[int]] = labels
) -> tuple[Rows, list[str]]:
    """Return the rows of examples, and the names of their columns."""
    read = [(one, text := readable(one.reply), describe(text, one.question)) for one in those]
    counts = Counter(name for _, _, described in read for name in _names(described))
    names = [name for name, count in counts.items() if count >= (LEAST_OF_WORDS if name[1] == "@" else LEAST)]
    column = {name: at for at, name in enumerate(names)}
    ends, starts = [0], [0]
    columns: list[int] = []
    right: list[np.ndarray] = []
    wrong: list[np.ndarray] = []
    for example, text, described in read:
        for features in _of_parts(described):
            columns += {column[name] for name in features if name in column}
            ends.append(len(columns))
        marks = np.array([*label(example, [text[start:end] for start, end in described.spans]), int(example.nothing)])
        starts.append(starts[-1] + len(marks))
        right.append(marks == 1)
        wrong.append(marks == -1)
    values = np.array([OF_WORDS if name[1] == "@" else 1.0 for name in names], dtype=np.float32)[columns]
    matrix = scipy.sparse.csr_matrix((values, np.array(columns), np.array(ends)), shape=(len(ends) - 1, len(names)))
    return Rows(
        matrix, np.array(starts), np.concatenate(right).astype(float), np.concatenate(wrong).astype(float)
    ), names


def _of_parts(described: Described) -> Iterable[list[str]]:
    for at, groups in enumerate(described.groups):
        features = [*described.own(at), *(name for group in groups for name in described.shared[group])]
        yield [described.language + name for name in features]
    yield [described.language + name for name in described.nothing]


def _names(described: Described) -> set[str]:
    return {name for features in _of_parts(described) for name in features}


def likelihoods(rows: Rows, weights: np.ndarray) -> np.ndarray:
    scores = rows.features @ weights
    first, reply = rows.starts[:-1], np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
    odds = np.exp(scores - np.maximum.reduceat(scores, first)[reply])
    return np.asarray(odds / np.add.reduceat(odds, first)[reply])


def train(rows: Rows) -> np.ndarray:
    """Return the weights under which the right parts are likeliest; of a reply without one, under which its wrong parts are not."""
    first, reply = rows.starts[:-1], np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
    known = np.add.reduceat(rows.right, first) > 0
    denied = ~known & (np.add.reduceat(rows.wrong, first) > 0)
    transposed = rows.features.T.tocsr()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        likely = likelihoods(rows, weights)
        good = np.maximum(np.add.reduceat(likely * rows.right, first), 1e-12)
        kept = np.maximum(1 - np.add.reduceat(likely * rows.wrong, first), 1e-12)
        slope = known[reply] * (likely - likely * rows.right / good[reply])
        slope += denied[reply] * likely * (rows.wrong - 1 + kept[reply]) / kept[reply]
        value = -np.log(good)[known].sum() - np.log(kept)[denied].sum() + PENALTY * weights @ weights / 2
        return float(value), transposed @ slope + PENALTY * weights

    start = np.zeros(rows.features.shape[1])
    return np.asarray(scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x)


def fold(example: Example) -> int:
    return int(hashlib.sha256(example.question.encode()).hexdigest(), 16) % FOLDS


def accuracy(rows: Rows, likely: np.ndarray) -> float:
    """Return the share of the replies with a right part whose likeliest part is right."""
    places = [
        (int(start), int(end))
        for start, end in zip(rows.starts, rows.starts[1:], strict=False)
        if rows.right[start:end].any()
    ]
    return float(np.mean([rows.right[start + int(likely[start:end].argmax())] for start, end in places]))


def measure(count: int = TRIED) -> list[Figure]:
    """Train on two thirds of some examples and read the others; `measure(10**6)` takes all of them, and minutes."""
    those = sorted(examples(), key=lambda one: hashlib.sha256(one.reply.encode()).hexdigest())[:count]
    rows, names = rows_of(those)
    folds = np.array([fold(one) for one in those])
    shares = [
        accuracy(
            rows.of(np.flatnonzero(folds == one)),
            likelihoods(rows.of(np.flatnonzero(folds == one)), train(rows.of(np.flatnonzero(folds != one)))),
        )
        for one in range(FOLDS)
    ]
    return [
        Figure(what="examples with a question", value=len(those), unit="replies"),
        Figure(what="features", value=len(names), unit="features"),
        Figure(what="the likeliest part is right, unseen questions", value=float(np.mean(shares)), unit="share"),
    ]


def write(label: Callable[[Example, Sequence[str]], list[int]] = labels) -> None:
    """Train on all examples, and write the weights into the package."""
    rows, names = rows_of(examples(), label)
    weights = train(rows)
    kept = {
        name: weight * (OF_WORDS if name[1] == "@" else 1)
        for name, weight in zip(names, weights, strict=True)
        if abs(weight) >= SMALLEST
    }
    lines = sorted(f"{name.replace(chr(10), '⏎').replace(' ', '␣')} {weight:.2f}" for name, weight in kept.items())
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
