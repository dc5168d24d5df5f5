"""A reply is read into claims before any target is looked at: by functions that have none, and that no target can change."""

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import proctor.scorers
import proctor_judging.scorers
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.truth import truth_of
from proctor_judging.scorers.answer import answer, match, read_claims
from proctor_judging.scorers.blanks import blanks
from proctor_judging.scorers.choice import choice
from proctor_judging.scorers.json import json as json_scorer
from proctor_judging.scorers.number import number

pytestmark = pytest.mark.usefixtures("replies_read_once")

HELD_OUT = Path(__file__).parents[1] / "data" / "held_out"
KEYS = {"target", "targets", "sample", "expected", "key", "reference", "fits"}
READERS = (  # modules that read what a reply says; who imports one reads free text
    "proctor_judging.matching.claims",
    "proctor_judging.matching.amount_claims",
    "proctor_judging.matching.replies",
    "proctor_judging.matching.filled_blanks",
    "proctor_judging.matching.option_letters",
    "proctor_judging.scorers.refusal_model",
    "proctor_judging.replies.json_values",
)
NO_READERS = {
    "article_settings",  # the rule of an article, kept for parity
    "refusal_model",
    "refusal_features",
}


def _modules() -> list[ModuleType]:
    rooms = (proctor.scorers, proctor_judging.scorers)
    names = [module.name for room in rooms for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")]
    return [importlib.import_module(name) for name in names]


def _reads_free_text(module: ModuleType) -> bool:
    source = inspect.getsource(module)
    return module.__name__.rpartition(".")[2] not in NO_READERS and any(
        f"from {reader} import" in source for reader in READERS
    )


READING = [module for module in _modules() if _reads_free_text(module)]


def test_the_scorers_that_read_free_text_are_found() -> None:
    names = {module.__name__.rpartition(".")[2] for module in READING}
    assert {"answer", "number", "choice", "blanks", "json", "refusal"} <= names


@pytest.mark.parametrize("module", READING, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_scorer_of_free_text_reads_claims_without_a_key(module: ModuleType) -> None:
    reader: Callable[..., object] = module.read_claims
    parameters = inspect.signature(reader).parameters
    assert next(iter(parameters)) == "reply"
    assert not KEYS & parameters.keys()
    assert not any("Sample" in str(one.annotation) for one in parameters.values())


READS = "claims phrase_answers phrase_forms question_gap noun_phrases offered_options stated_words stated_amounts amount_claims sentences truth answer_layout han_answers han_moments han_names han_openings han_question han_truth solutions"


@pytest.mark.parametrize("name", READS.split())
def test_nothing_that_reads_a_reply_has_a_parameter_for_the_key(name: str) -> None:
    module = importlib.import_module(f"proctor_judging.matching.{name}")
    functions = [one for _, one in inspect.getmembers(module, inspect.isfunction) if one.__module__ == module.__name__]
    keyed = [one.__name__ for one in functions if (KEYS - {"fits"}) & inspect.signature(one).parameters.keys()]
    assert not keyed


def _pairs(first: int = 1) -> list[dict[str, str]]:
    files = [file for file in HELD_OUT.glob("answer_*.jsonl") if int(file.stem.rpartition("_")[2]) >= first]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def _accepts(reply: str, target: str, question: str) -> bool:
    score = answer(Sample.ask("s", question, target=target), Trajectory.of(reply))
    return isinstance(score, Score) and score.points == 1


def _one_value(one: str, other: str, reply: str) -> bool:
    """True if two accepted targets say the same: the same value, or one a part of the other, or two names that the reply itself equates."""
    plain, second = one.casefold(), other.casefold()
    return (
        plain in second
        or second in plain
        or match(one, other).right
        or (truth_of(one) is not None and truth_of(one) == truth_of(other))
        or any({one, other} & set(claim.forms) for claim in read_claims(reply).readings)
    )


def test_of_the_targets_of_one_reply_only_those_of_one_claim_are_accepted() -> None:
    targets: dict[tuple[str, str], set[str]] = {}
    for pair in _pairs(first=15):
        targets.setdefault((pair["answer"], pair.get("question", "?")), set()).add(pair["target"])
    for (reply, question), keys in targets.items():
        accepted = [key for key in sorted(keys) if _accepts(reply, key, question)]
        differing = [(one, other) for one in accepted for other in accepted if not _one_value(one, other, reply)]
        assert not differing, reply


NUMBERS = st.integers(2, 900)
NOUNS = st.sampled_from(["cars", "boxes", "pupils", "tickets"])


@settings(max_examples=60, deadline=None)
@given(
    first=NUMBERS,
    second=NUMBERS,
    year=st.integers(1900, 2099),
    form=st.sampled_from(
        [
            "In {year} the plant made {first} {noun}.",
            "{first} {noun} were ordered and {second} {noun} came.",
            "There are {first} {noun} in room {second}.",
            "It rose from {first} to {second}.",
            "{year}年共造车{first}辆。",
            "共有{first}人，其中男生{second}人。",
            "Tom pays {first} euros and gets {second} euros back.",
            "The {noun} cost {first} euros, not {second}.",
        ]
    ),
    noun=NOUNS,
    question=st.sampled_from(["?", "How many are there?", "一共有多少？", "When was it?"]),
)
def test_one_reply_is_right_for_one_number_at_most(
    first: int, second: int, year: int, form: str, noun: str, question: str
) -> None:
    reply = form.format(first=first, second=second, year=year, noun=noun)
    accepted = {value for value in {first, second, year} if _accepts(reply, str(value), question)}
    assert len(accepted) <= 1


def test_a_reply_that_can_be_read_in_two_ways_is_unscored_and_names_both() -> None:
    reply, question = "It was founded in 1985 by Bill Smith.", "?"
    unscored = answer(Sample.ask("s", question, target="Bill Smith"), Trajectory.of(reply))
    assert not isinstance(unscored, Score)
    assert set(unscored.details["readings"]) >= {"Bill Smith"}
    assert "1985" in str(unscored.reason)
    assert isinstance(answer(Sample.ask("s", question, target="Rembrandt"), Trajectory.of(reply)), Score)


SCORERS = {"answer": answer, "number": number, "choice": choice, "blanks": blanks, "json": json_scorer}


@pytest.mark.parametrize("name", SCORERS)
def test_what_is_recorded_as_the_answer_of_a_reply_is_the_same_under_any_target(name: str) -> None:
    """True of what every scorer of free text records: two verdicts on one reply differ in their points only."""
    rows = [
        json.loads(line)
        for file in sorted(HELD_OUT.glob(f"{name}_*.jsonl"))[-4:]
        for line in file.read_text(encoding="utf-8").splitlines()[:15]
    ]
    for place, row in enumerate(rows):
        near = [rows[place - step]["target"] for step in (0, 1, 7)]
        keys = [key for key in near if _gaps(key) == _gaps(row["target"])]
        meta = {"options": row["options"]} if "options" in row else {}
        samples = [Sample.ask("s", row.get("question", "?"), target=key, meta=meta) for key in keys]
        scores = [SCORERS[name](sample, Trajectory.of(row["answer"])) for sample in samples]
        recorded = {score.answer for score in scores if isinstance(score, Score)}
        assert len(recorded) <= 1, (row["answer"], keys)


def _gaps(target: object) -> int:
    """Return how many gaps a target fills: `blanks` knows that of the question, not of the key."""
    return len(target) if isinstance(target, list) else len(str(target).splitlines())
