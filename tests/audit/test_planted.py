"""The bars of the corpus of planted defects: what has to be found, and what must not be."""

from collections import Counter
from pathlib import Path

import pytest

from proctor_audit.corpora import check_corpus

DATA = Path(__file__).parents[1] / "data" / "audit"


def counts(name: str) -> tuple[Counter[str], Counter[str], list[tuple[str, str, str]]]:
    """Return how many lines of a corpus agree and how many there are, by class, and those that differ."""
    agree: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    wrong = []
    for line in check_corpus(DATA / name, None):
        group = line.group.partition(" ")[0] if not line.group.startswith(("clean", "right")) else line.group
        lines[group] += 1
        agree[group] += line.agrees is True
        if not line.agrees:
            wrong.append((line.id, line.official, line.ours))
    return agree, lines, wrong


@pytest.mark.slow
def test_planted_defects_are_found_and_clean_sets_stay_clean() -> None:
    agree, lines, wrong = counts("planted.jsonl.gz")
    assert agree["proved"] == lines["proved"] == 31, wrong
    assert agree["likely"] + agree["look"] == lines["likely"] + lines["look"] == 18, wrong
    assert lines["clean sets: proved"] == 0, wrong
    assert len({id for id, official, _ in wrong if official == "-"}) <= 2, wrong
    assert agree["right sample named"] >= 0.95 * lines["right sample named"], wrong


@pytest.mark.slow
def test_other_sets_that_were_written_before_the_checks_were_read_are_judged_alike() -> None:
    agree, lines, wrong = counts("planted_fresh.jsonl.gz")
    assert agree["proved"] == lines["proved"] == 15, wrong
    assert agree["likely"] + agree["look"] == lines["likely"] + lines["look"] == 15, wrong
    assert lines["clean sets"] == agree["clean sets"] == 30, wrong
    assert agree["right sample named"] == lines["right sample named"] == 23, wrong
