"""The bars of the corpora of planted defects: what has to be found, and what must not be.

A set in Python needs three to five workers of its own, which take two seconds. Without `--torture`, one of each kind that only
they have is judged, of the fresh corpus where it has that kind, and a clean one of each corpus.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import simulated

from proctor_audit.corpora import check_corpus

DATA = Path(__file__).parents[1] / "data" / "audit"
PLANTED, FRESH = "planted.jsonl.gz", "planted_fresh.jsonl.gz"
CLEAN = 1


def sets_of(name: str) -> list[Mapping[str, Any]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def kinds_of(sets: Iterable[Mapping[str, Any]]) -> set[str]:
    return {label["kind"] for each in sets for label in each["labels"]}


def is_quick(each: Mapping[str, Any]) -> bool:
    return ".py:" not in each["entry"]


def short_form(name: str) -> list[Mapping[str, Any]]:
    """Return the sets of a corpus that are judged without `--torture`."""
    sets = sets_of(name)
    kinds = kinds_of(filter(is_quick, sets_of(PLANTED) + sets_of(FRESH)))
    if name == PLANTED:
        kinds |= kinds_of(sets_of(FRESH))
    chosen = [each for each in sets if is_quick(each)]
    slow = [each for each in sets if not is_quick(each)]
    chosen += [each for each in slow if not each["clean"] and not kinds_of([each]) <= kinds]
    return chosen + [each for each in slow if each["clean"]][:CLEAN]


def counts(name: str, folder: Path) -> tuple[Counter[str], Counter[str], list[tuple[str, str, str]]]:
    """Return how many lines of a corpus agree and how many there are, by class, and those that differ."""
    path = DATA / name
    if not simulated.long:
        path = folder / "short.jsonl"
        path.write_text("".join(f"{json.dumps(each)}\n" for each in short_form(name)), encoding="utf-8")
    agree: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    wrong = []
    for line in check_corpus(path, None):
        group = line.group.partition(" ")[0] if not line.group.startswith(("clean", "right")) else line.group
        lines[group] += 1
        agree[group] += line.agrees is True
        if not line.agrees:
            wrong.append((line.id, line.official, line.ours))
    return agree, lines, wrong


@pytest.mark.slow
def test_planted_defects_are_found_and_clean_sets_stay_clean(tmp_path: Path) -> None:
    agree, lines, wrong = counts(PLANTED, tmp_path)
    assert agree["proved"] == lines["proved"] == (31 if simulated.long else 18), wrong
    assert agree["likely"] + agree["look"] == lines["likely"] + lines["look"] == (18 if simulated.long else 15), wrong
    assert lines["clean sets: proved"] == 0, wrong
    assert len({id for id, official, _ in wrong if official == "-"}) <= 2, wrong
    assert agree["right sample named"] >= 0.95 * lines["right sample named"], wrong


@pytest.mark.slow
def test_other_sets_that_were_written_before_the_checks_were_read_are_judged_alike(tmp_path: Path) -> None:
    agree, lines, wrong = counts(FRESH, tmp_path)
    assert agree["proved"] == lines["proved"] == (15 if simulated.long else 12), wrong
    assert agree["likely"] + agree["look"] == lines["likely"] + lines["look"] == 15, wrong
    assert lines["clean sets"] == agree["clean sets"] == (30 if simulated.long else 17), wrong
    assert agree["right sample named"] == lines["right sample named"] == (23 if simulated.long else 20), wrong
