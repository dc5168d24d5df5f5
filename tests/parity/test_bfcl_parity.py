"""Every recorded verdict of the official code is ours too, validity and error type.

`tests/data/bfcl_verdicts.jsonl.gz` was made by running bfcl-eval 2026.3.23. The data set is the pinned package, fetched
once and cached.
"""

import time
from collections import Counter
from pathlib import Path

import pytest

from proctor.core.parity import Checked
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.bfcl import dataset
from proctor_benchmarks.bfcl.checker import check
from proctor_benchmarks.bfcl.parity import check_line
from proctor_benchmarks.bfcl.parity_lines import RecordedVerdict

pytestmark = pytest.mark.xdist_group("bfcl-corpus")

CORPUS = Path(__file__).parents[1] / "data" / "bfcl_verdicts.jsonl.gz"
UNREACHABLE = {
    "live_simple_106-63-0",
    "live_simple_112-68-0",
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
    "simple_java_36",
    "simple_java_65",
}
ONE_TURN = (*dataset.SINGLE_TURN, "format_sensitivity")

Entries = dict[str, dict[str, dataset.BfclEntry]]


@pytest.fixture(scope="module")
def entries() -> Entries:
    folder = dataset.locate()
    return {name: {entry.id: entry for entry in dataset.entries(folder, name)} for name in ONE_TURN}


@pytest.fixture(scope="module")
def replayed(entries: Entries) -> list[tuple[str, Checked]]:
    return [
        (line.category, check_line(line, entries[line.category]))
        for _, line in read_json_lines(CORPUS, RecordedVerdict)
        if line.category in entries
    ]


def test_every_line_of_the_corpus_agrees(replayed: list[tuple[str, Checked]]) -> None:
    differing = [
        f"{line.id}: official {line.official}, ours {line.ours} ({line.rule})"
        for _, line in replayed
        if not line.agrees
    ]
    assert len(replayed) == 92_538
    assert not differing, differing[:10]


def test_the_corpus_covers_every_category_and_most_error_types(replayed: list[tuple[str, Checked]]) -> None:
    assert {category for category, _ in replayed} == set(ONE_TURN)
    seen = Counter(line.official for _, line in replayed)
    assert len(seen) == 23
    assert seen["valid"] > 20_000


def test_the_samples_that_nothing_can_pass_are_never_passed(replayed: list[tuple[str, Checked]]) -> None:
    assert not [line for _, line in replayed if line.id in UNREACHABLE and line.ours == "valid"]


def test_checking_costs_no_more_than_a_few_times_reading(entries: Entries) -> None:
    import ast

    sample = [
        line
        for _, line in read_json_lines(CORPUS, RecordedVerdict)
        if line.category == "live_multiple" and line.mode == "prompt"
    ][:4_000]
    texts = [line.model_output for line in sample if isinstance(line.model_output, str)]

    def parse() -> None:
        for text in texts:
            try:
                ast.parse(text, mode="eval")
            except (SyntaxError, ValueError):
                continue

    def judge() -> None:
        for line in sample:
            entry = entries[line.category][line.id]
            check(entry.functions, entry.answers, line.category, line.model_output, mode="prompt", underscores=False)

    assert seconds(judge) < 4 * seconds(parse)


def seconds(work: object) -> float:
    assert callable(work)
    before = time.process_time()
    work()
    return time.process_time() - before
