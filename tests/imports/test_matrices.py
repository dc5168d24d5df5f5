"""A matrix of samples and systems is a run for each system, and tells later runs how hard each sample is."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from proctor import Sample, Task, evaluate
from proctor.api.run import Run
from proctor.cli import app
from proctor.core.errors import BadInput
from proctor.core.score import Score
from proctor.core.task import Store
from proctor.stores import open_store
from proctor_adapters.importing import import_log
from proctor_adapters.imports import LogReading

TABLE = """\
level,id,note,alpha,β 7b
easy,q/1,fine,1,0.25
hard,q 2,,0,
hard,"q,3",?,true,0
"""


@pytest.fixture
def store() -> Store:
    return open_store(":memory:")


def earned(run: Run) -> dict[tuple[str, int], float | str]:
    return {
        (verdict.sample_id, verdict.attempt): verdict.result.value
        if isinstance(verdict.result, Score)
        else verdict.result.why
        for verdict in run.verdicts()
    }


def test_a_table_has_a_run_for_each_column_of_numbers(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text(TABLE)
    alpha, beta = import_log(path, store=store, how=LogReading(tags=("level",)))
    assert (alpha.format, alpha.run.record.task, alpha.run.record.agent) == ("matrix", "quiz", "alpha")
    assert earned(alpha.run) == {("q/1", 0): 1, ("q 2", 0): 0, ("q,3", 0): 1}
    assert earned(beta.run) == {("q/1", 0): 0.25, ("q,3", 0): 0}
    assert str(alpha.run.record.warnings[0]) == "Columns with texts are no systems: note."


def test_an_empty_cell_is_a_sample_that_was_not_run(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text(TABLE)
    run = import_log(path, store=store, how=LogReading(tags=("level",)))[1].run
    estimate = run.estimate("score")
    assert (run.record.planned, estimate.scored, estimate.planned) == (3, 2, 3)
    assert estimate.floor is not None
    assert estimate.ceiling is not None
    assert estimate.floor < estimate.ceiling


def test_lines_say_who_passed_or_hold_attempts(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "outcomes.jsonl"
    path.write_text('{"id": 1, "passed": ["a"], "failed": {"b": ["digest", "kind"]}}\n')
    assert [earned(each.run) for each in import_log(path, store=store)] == [{("1", 0): 1}, {("1", 0): 0}]
    runs = {"a": [{"success": True}, {"success": 0.5}, {"success": None}], "never run": []}
    path.write_text(json.dumps({"id": "x", "service": "s", "runs": runs}))
    (found,) = import_log(path, store=store)
    assert earned(found.run) == {("x", 0): 1, ("x", 1): 0.5, ("x", 2): "scorer_failed"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": "x", "passed": 1, "failed": "a"}', "1: it has neither"),
        ('{"id": "x", "runs": 1}', "1: it has neither"),
        ("id,a\nx,1\nx,0\n", "'x' twice"),
        ("id,a\nx,1\ny,0,1\n", "more cells than columns"),
        ("id,question\nx,what?\n", "no log that is known"),
        ('{"id": "x", "passed": ["a"], "failed": ["a"]}', "'a' both passed and failed"),
        ('{"id": "x", "runs": {"a": true}}', "1: it has neither"),
        ('{"id": "x", "passed": [], "failed": []}', "0 systems"),
        ("id," + ",".join(f"s{at}" for at in range(201)) + "\nx" + ",1" * 201, "201 systems"),
    ],
)
def test_what_is_no_matrix_is_refused_and_leaves_nothing(tmp_path: Path, store: Store, text: str, words: str) -> None:
    path = tmp_path / ("m.csv" if text.startswith("id,") else "m.jsonl")
    path.write_text(text)
    with pytest.raises(BadInput, match=words):
        import_log(path, store=store)
    assert store.runs() == []


def test_a_value_on_no_known_scale_is_no_score(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "m.csv"
    path.write_text("id,a\nx,7\ny,1\n")
    (found,) = import_log(path, store=store, format="matrix")
    assert earned(found.run) == {("x", 0): "not_applicable", ("y", 0): "not_applicable"}
    how = LogReading(scales={"outcome": (0, 10)})
    (found,) = import_log(path, store=store, run_id="again", format="matrix", how=how)
    assert earned(found.run) == {("x", 0): 0.7, ("y", 0): 0.1}


def test_a_matrix_feeds_the_draw(tmp_path: Path) -> None:
    samples = [Sample.ask(f"q{number}", str(number), target="yes") for number in range(200)]
    path, store = tmp_path / "old.csv", str(tmp_path / "runs.db")
    rows = [f"q{at},{int(at < 110)},{int(at < 90)},{int(at < 150)}" for at in range(200)]
    path.write_text("\n".join(["id,a,b,c", *rows]))
    import_log(path, store=store, how=LogReading(task="quiz"))
    task = Task(name="quiz", samples=samples, scorers=["exact"])
    run = evaluate(task, agent=lambda question: "yes" if int(question) < 120 else "no", store=store, limit=40)
    assert str(run.estimate("accuracy").note).startswith("3 stored runs know these samples: as good as")


def test_a_system_may_be_called_as_a_key_of_the_lines(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "m.csv"
    path.write_text("id,passed,runs\nx,1,0\ny,0,0\nz,1\n")
    passed, runs = import_log(path, store=store)
    assert (earned(passed.run), runs.run.record.agent) == ({("x", 0): 1, ("y", 0): 0, ("z", 0): 1}, "runs")


def test_explain_says_what_other_systems_earned_on_a_sample(tmp_path: Path) -> None:
    path, store = tmp_path / "old.csv", str(tmp_path / "runs.db")
    rows = [f"q{at}," + ",".join(str(int(at < 3 * system)) for system in range(10)) for at in range(30)]
    path.write_text("\n".join(["id," + ",".join(f"s{system}" for system in range(10)), *rows]))
    import_log(path, store=store, how=LogReading(task="quiz"))
    samples = [Sample.ask(f"q{number}", str(number), target="yes") for number in range(30)]
    evaluate(Task(name="quiz", samples=samples, scorers=["exact"]), agent=lambda _: "yes", store=store, run_id="mine")
    call = ["runs", "explain", "mine", "q10", "--store", store]
    said = "Other systems in stored runs (10) earned 60 % here; the correlation with what they earn elsewhere is 0.8"
    assert said in " ".join(CliRunner().invoke(app, call).output.split())
    others = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)["others"]
    assert (others["systems"], others["mean"]) == (10, 0.6)
