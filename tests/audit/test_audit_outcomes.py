"""What stored runs say of samples: the ranking by consensus on the corpora of keys and golds."""

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import proctor
from proctor import Sample, Task
from proctor.api.resolve import scorers_of
from proctor.cli import app
from proctor.engine.scoring import BoundScorer
from proctor_adapters.importing import import_log
from proctor_adapters.imports import LogReading
from proctor_audit.consensus import family_of
from proctor_audit.corpora import check_corpus
from proctor_audit.outcomes import read_outcomes

DATA = Path(__file__).parents[1] / "data" / "audit"


SYSTEMS = ("gpt-5", "gpt-6", "claude-4", "claude-5", "qwen-3", "qwen-4", "glm-5", "glm-6")


def samples_of(task: Task) -> list[Sample]:
    return list(task.samples)  # type: ignore[arg-type]  # a list


def bound(task: Task) -> BoundScorer:
    [scorer] = scorers_of(task, task.scorers)
    return scorer


def exam(count: int = 50) -> Task:
    samples = [Sample.ask(str(n), f"How much is {n} + 1?", target=str(n + 2)) for n in range(count)]
    return Task(name="exam", samples=samples, scorers=["exact"])


def log_of(folder: Path, system: str, **changed: str) -> Path:
    """Write a log of lm-evaluation-harness in which a system answers the sum, and says so to a changed question or target."""
    path = folder / system / "samples_exam_2026-01-01T00-00-00.000000.jsonl"
    path.parent.mkdir(parents=True)
    lines = []
    for n in range(50):
        target, asked = str(n + 2), f"Question: How much is {n} + 1?\nAnswer:"
        if n == 7:
            target, asked = changed.get("target", target), changed.get("asked", asked)
        arguments = {"gen_args_0": {"arg_0": asked, "arg_1": {}}}
        lines.append({"doc_id": n, "doc": {"n": n}, "target": target, "arguments": arguments, "resps": [[str(n + 1)]], "filtered_resps": [str(n + 1)], "exact_match": 0.0})  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def imported(folder: Path, system: str, scorers: tuple[str, ...] = ("exact",), **changed: str) -> str:
    path, how = log_of(folder, system, **changed), LogReading(task="exam", agent=system)
    [log] = import_log(path, store=str(folder / "r.db"), how=how, scorers=scorers, run_id=system)
    return log.run.id


def test_imported_runs_vote_where_task_data_and_scorer_are_the_same(tmp_path: Path) -> None:
    for system in SYSTEMS:
        imported(tmp_path, system)
    imported(tmp_path, "grok-1", target="a town")
    imported(tmp_path, "grok-2", asked="Which town is it?")
    imported(tmp_path, "grok-3", scorers=())
    task = exam()
    reading = read_outcomes(task, samples_of(task), bound(task), [], str(tmp_path / "r.db"))
    assert reading.outcomes is not None
    assert sorted(reading.outcomes.families) == sorted(SYSTEMS)
    assert [str(reason) for reason in reading.left_out] == [
        "grok-1, grok-2: left out, as the sample 7 is another one there",
        "grok-3: left out, as its verdicts are not those of exact as it is now",
    ]
    other = replace(task, samples=[replace(sample, id=f"q{sample.id}") for sample in samples_of(task)])
    reading = read_outcomes(other, samples_of(other), bound(other), [], str(tmp_path / "r.db"))
    assert reading.outcomes is None
    assert [str(reason).partition(": ")[2] for reason in reading.left_out] == [
        "left out, as it has none of the samples"
    ]


def test_runs_of_another_version_of_data_or_scorer_are_left_out_and_named(tmp_path: Path) -> None:
    task, store = exam(3), str(tmp_path / "r.db")
    proctor.evaluate(task, agent=lambda _: "no", store=store, run_id="a")
    newer = replace(task, version="2")
    reading = read_outcomes(newer, samples_of(newer), bound(newer), [], store)
    assert [str(reason) for reason in reading.left_out] == [
        "a: left out, as made with other data than the task has now"
    ]
    reading = read_outcomes(task, samples_of(task), replace(bound(task), version="other"), [], store)
    assert [str(reason) for reason in reading.left_out] == [
        "a: left out, as its verdicts are not those of exact as it is now"
    ]


def test_the_audit_names_imported_runs_that_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "question": f"How much is {n} + 1?", "answer": str(n + 2)} for n in range(50)]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    runs = [imported(tmp_path, system) for system in SYSTEMS]
    words = ("audit-task", "exam.jsonl", "--scorer", "exact", "--store", "r.db", "--json", "--check", "A5")
    report = json.loads(CliRunner().invoke(app, [*words, "--runs", ",".join(runs)]).stdout)
    assert {each["check"] for each in report["findings"]} == {"consensus"}
    other = imported(tmp_path, "grok-1", target="a town")
    result = CliRunner().invoke(app, [*words, "--runs", ",".join([*runs, other])])
    assert result.exit_code == 2
    assert "grok-1: left out, as the sample 7 is another one there" in result.output


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
    reading = read_outcomes(task, samples_of(task), bound(task), [], store)
    assert reading.outcomes is None
    assert "1 runs of 1 makers on 3 samples" in str(reading.why)
    assert family_of("openai:gpt-5") == family_of("azure:gpt-4o") != family_of("mine")
