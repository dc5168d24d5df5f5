"""The score of a stored run with and without the samples that proved findings concern."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import proctor
from proctor import Sample, Task
from proctor.api import Run
from proctor.api.numbers import headline
from proctor.cli import app
from proctor_audit.audited_runs import AuditedRun, measure_runs
from proctor_audit.findings import AuditFinding, FindingClass, FindingIgnored

FAULTY = ("q1", "q4", "q7", "q12")


def samples(count: int = 40, without: tuple[str, ...] = ()) -> list[Sample]:
    made = [
        Sample.ask(f"q{n}", f"{n}?", target=str(n % 3), tags={"level": "abc"[n % 3]}, cluster=f"c{n // 2}")
        for n in range(count)
    ]
    return [sample for sample in made if sample.id not in without]


def agent(question: str) -> str:
    number = int(question.rstrip("?"))
    if number == 4:
        raise ValueError("I give up.")  # counts as wrong, and has no verdict
    return str(number % 4)


def run(id: str, without: tuple[str, ...] = (), **options: Any) -> Run:
    task = Task(name="t", samples=samples(without=without), scorers=["exact"], spread_by="level")
    return proctor.evaluate(task, agent=agent, store="runs.db", run_id=id, on_agent_error="agent", **options)


def finding(*ids: str, check: str = "gold-fails", cls: FindingClass = "proved", ignored: bool = False) -> AuditFinding:
    return AuditFinding(
        id=check,
        check=check,
        group="A4",
        cls=cls,
        scope="sample",
        samples=ids,
        sentence=proctor.core.sentence.say("there is no target"),
        witness={},
        ignored=FindingIgnored(reason="known") if ignored else None,
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def measured(whole: Run, *findings: AuditFinding) -> AuditedRun:
    [entry] = measure_runs(samples(), samples(), findings, [whole])
    return entry


@pytest.mark.parametrize("options", [{}, {"attempts": 3}])
def test_the_score_without_samples_is_that_of_a_run_that_never_had_them(options: dict[str, Any]) -> None:
    whole, other = run("whole", **options), run("other", without=FAULTY, **options)
    entry = measured(whole, finding(*FAULTY[:2]), finding(*FAULTY[1:], check="gold-against-schema"))
    assert entry.whole == headline(whole.record, whole.store)
    assert entry.sound == headline(other.record, other.store)
    assert (entry.left_out, entry.samples, entry.audited) == (4, 40, 40)


def test_a_drawn_run_weighs_what_the_audit_leaves_of_each_stratum() -> None:
    whole = run("drawn", limit=16, seed=3)
    assert {sample.id for sample in whole.store.planned("drawn")} & {"q9", "q15"}
    sound = {sample.id: sample for sample in samples(without=("q9", "q15"))}
    earned = {entry.sample_id: entry.value for entry in whole.store.values("drawn", "exact")}
    mean = 0.0
    for level in "abc":
        of_level = [id for id, sample in sound.items() if sample.tags["level"] == level]
        drawn = [earned[id] or 0.0 for id in of_level if id in earned]
        mean += len(of_level) / len(sound) * sum(drawn) / len(drawn)
    entry = measured(whole, finding("q9", "q15"))
    assert entry.sound is not None
    assert entry.sound.value == pytest.approx(mean)


def test_only_proved_findings_that_nobody_accepted_leave_a_sample_out() -> None:
    whole = run("whole")
    for other in (
        finding("q1", cls="likely"),
        finding("q1", ignored=True),
        finding("q1", "q2", check="duplicate"),
        finding("of another task"),
    ):
        assert measured(whole, other).sound is None
        assert measured(whole, other).left_out == 0
    everything = measured(whole, finding(*(sample.id for sample in samples())))
    assert (everything.left_out, everything.sound) == (40, None)


def test_what_not_every_check_read_is_not_counted_as_audited() -> None:
    [entry] = measure_runs(samples(), samples()[:30], [finding("q1")], [run("whole")])
    assert (entry.audited, entry.samples) == (30, 40)


def test_the_command_shows_it_of_runs_that_are_named() -> None:
    rows = [{"id": f"q{n}", "question": f"{n}?", "answer": str(n % 3)} for n in range(6)]
    rows.append({"id": "q9", "question": "1?", "answer": "2"})
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    proctor.evaluate("exam.jsonl", agent=lambda question: str(int(question[0]) % 3), store="runs.db", run_id="r")

    def audit(*words: str) -> str:
        result = CliRunner().invoke(
            app, ["audit-task", "exam.jsonl", "--store", "runs.db", "--fail-on", "never", *words]
        )
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "proved findings concern" not in audit()
    shown = " ".join(audit("--runs", "r", "-o", "a.html").split())
    assert "r: 85.7 %" in shown
    assert "on 7 samples; without the 2 that proved findings concern 100.0 %" in shown
    assert "without the 2 that proved findings concern" in Path("a.html").read_text(encoding="utf-8")
    [entry] = json.loads(audit("--runs", "r", "--json"))["runs"]
    assert (entry["left_out"], entry["sound"]["value"]) == (2, 1.0)
    assert "of its 7 samples 1 were audited" in " ".join(audit("--runs", "r", "--id", "q1").split())


def test_a_run_of_another_scorer_or_of_other_data_is_refused_before_anything_is_scored() -> None:
    rows = [{"id": f"q{n}", "question": f"{n}?", "answer": "1"} for n in range(4)]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    proctor.evaluate("exam.jsonl", agent=lambda _: "1", scorers=["exact"], store="runs.db", run_id="r")

    def audit(*words: str) -> Any:
        return CliRunner().invoke(app, ["audit-task", "exam.jsonl", "--store", "runs.db", "--runs", "r", *words])

    assert audit().exit_code == 2
    assert "is that of the scorer exact, and answer is audited: --scorer exact" in " ".join(audit().output.split())
    assert audit("--scorer", "exact", "--fail-on", "never").exit_code == 0
    Path("exam.jsonl").write_text(json.dumps({**rows[0], "answer": "2"}) + "\n", encoding="utf-8")
    assert audit("--scorer", "exact").exit_code == 2
    assert "made with other data" in audit("--scorer", "exact").output
