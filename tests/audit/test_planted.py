"""The bars of the corpus of planted defects: what has to be found, and what must not be."""

from collections import Counter
from pathlib import Path

import pytest

from proctor_audit.corpora import check_corpus

CORPUS = Path(__file__).parents[1] / "data" / "audit" / "planted.jsonl.gz"


@pytest.mark.slow
def test_planted_defects_are_found_and_clean_sets_stay_clean() -> None:
    agree: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    wrong = []
    for line in check_corpus(CORPUS, None):
        name = line.group.partition(" ")[0] if not line.group.startswith(("clean", "right")) else line.group
        lines[name] += 1
        agree[name] += line.agrees is True
        if not line.agrees:
            wrong.append((line.id, line.official, line.ours))
    assert agree["proved"] == lines["proved"] == 31, wrong
    assert agree["likely"] + agree["look"] == lines["likely"] + lines["look"] == 18, wrong
    assert lines["clean sets: proved"] == 0, wrong
    assert len({id for id, official, _ in wrong if official == "-"}) <= 2, wrong
    assert agree["right sample named"] >= 0.95 * lines["right sample named"], wrong
