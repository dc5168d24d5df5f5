"""What stored runs say of samples: the ranking by consensus on the corpora of keys and golds."""

from collections import Counter
from pathlib import Path

import proctor
from proctor import Sample, Task
from proctor_audit.consensus import family_of
from proctor_audit.corpora import check_corpus
from proctor_audit.outcomes import read_outcomes

DATA = Path(__file__).parents[1] / "data" / "audit"


def counts(name: str) -> tuple[Counter[str], Counter[str]]:
    agree: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for line in check_corpus(DATA / name, None):
        lines[line.group] += 1
        agree[line.group] += line.agrees is True
    return agree, lines


def test_the_first_of_the_ranking_are_flawed_as_often_as_is_said() -> None:
    agree, lines = counts("keys.jsonl.gz")
    assert agree["precision at 50"] >= 0.5 * 50
    assert agree["precision at 100"] >= 0.42 * 100
    assert agree["wrong keys among the first 100"] >= 0.54 * lines["wrong keys among the first 100"]
    assert agree["stated precision holds"] == lines["stated precision holds"] == 4


def test_golds_that_contradict_their_schema_are_proved_and_others_are_not() -> None:
    found = {(line.group[:9], line.id) for line in check_corpus(DATA / "outcomes_bfcl.jsonl.gz", None) if line.ours}
    of_today = {"bfcl-parallel-102", "bfcl-parallel_multiple-12", "bfcl-parallel_multiple-94", "bfcl-simple_python-122"}
    changed = {"bfcl-parallel_multiple-3", "bfcl-simple_python-363"}
    assert {id for year, id in found if year == "gold_2026"} == of_today
    assert {id for year, id in found if year == "gold_2024"} == of_today | changed
    agree, _ = counts("outcomes_bfcl.jsonl.gz")
    assert agree["changed golds among the first 40"] >= 5


def test_a_family_has_one_vote_and_few_runs_are_too_few(tmp_path: Path) -> None:
    task = Task(name="t", samples=[Sample.ask(str(n), str(n), target="yes") for n in range(3)], scorers=["exact"])
    store = str(tmp_path / "r.db")
    proctor.evaluate(task, agent=lambda _: "no", store=store, run_id="a")
    found, why = read_outcomes(task, "exact", [], store)
    assert found is None
    assert "1 runs of 1 makers on 3 samples" in str(why)
    assert family_of("openai:gpt-5") == family_of("azure:gpt-4o") != family_of("mine")
