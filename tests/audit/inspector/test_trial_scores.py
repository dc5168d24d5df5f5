"""What findings do to a score, and how frequent they are."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import proctor
from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor_audit.check import AuditCheck
from proctor_audit.inspector.inspecting import inspect
from proctor_audit.inspector.inspection import Inspection, make_inspection
from proctor_audit.inspector.review_order import flags_of
from proctor_audit.inspector.sources import count_unplayed, read_sources
from proctor_audit.inspector.telling import lines_of_inspection
from proctor_audit.inspector.trial_scores import prevalence_of
from proctor_audit.inspector.view import InspectedTrial, TrialEvent, TrialStep


def trial(id: str, text: str = "") -> InspectedTrial:
    return InspectedTrial(id=id, steps=(TrialStep(index=0, author="agent", text=text),), calls=())


def find_word(trial: InspectedTrial) -> Iterator[TrialEvent]:
    if trial.steps[-1].text == "raise":
        raise ValueError("no word")
    if trial.steps[-1].text == "word":
        yield TrialEvent(steps=(len(trial.steps) - 1,), span="word", sentence=say("A word."))


CHECK = AuditCheck(
    name="word",
    group="I1",
    cls="likely",
    title=say("A word."),
    find=find_word,
    invalidates="failure",
)


def test_a_trial_in_which_a_check_raised_counts_neither_way() -> None:
    texts = ["word", "", "raise", "raise"]
    done = inspect([(trial(f"t{number}", text), None) for number, text in enumerate(texts)], [CHECK])
    share = prevalence_of(done.lines, ["word"], {})[0].share
    assert (share.value, share.scored) == (0.5, 2)
    assert flags_of(done.lines, "word") == {"t0": True, "t1": False}
    assert [str(each.reason) for each in done.not_checked] == ["the check raised ValueError: no word; trials: 2"]


def grade(sample: Sample, trajectory: Trajectory) -> proctor.Score | proctor.Unscored:
    match sample.id:
        case "unfit":
            return proctor.Unscored(why="not_applicable")
        case "right":
            return proctor.Score(points=1)
    if trajectory.answer == "broken":
        return proctor.Unscored(why="judge_failed")
    return proctor.Score(points=0)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> proctor.Run:
    """Three samples are scored: one in each of three attempts, one in a single one, and one in none; one is unfit."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "runs.db"))
    rows = [{"id": id, "question": id, "answer": "-"} for id in ("right", "wrong", "lost", "unfit")]
    Path("exam.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    replies = {"wrong": iter(["word", "broken", "broken"]), "lost": iter(["broken"] * 3)}

    def answer(question: str) -> str:
        return next((next(texts) for name, texts in replies.items() if name in question), "fine")

    return proctor.evaluate("exam.jsonl", agent=answer, scorers=[grade], attempts=3)


def inspection_of(run: proctor.Run) -> Inspection:
    return make_inspection(run.id, read_sources([run.id]), [CHECK], unplayed=count_unplayed([run.id]))


def test_the_score_is_the_official_one_with_its_interval_and_bounds(run: proctor.Run) -> None:
    official, scores = run.estimate("accuracy"), inspection_of(run).scores
    assert scores is not None
    for name in ("value", "low", "high", "floor", "ceiling", "scored"):
        assert getattr(scores.whole, name) == getattr(official, name), name
    assert (scores.whole.value, scores.whole.scored, scores.whole.planned) == (0.5, 4, 9)


def test_trials_without_a_score_are_counted_where_the_score_is_printed(run: proctor.Run) -> None:
    lines = [*lines_of_inspection(inspection_of(run), seconds=0.0)]
    assert "without a score     5; if all those were wrong, or right: 33.3 to 88.9 %" in lines


def test_trials_that_were_never_played_are_without_a_score(run: proctor.Run) -> None:
    scores = make_inspection(run.id, read_sources([run.id]), [CHECK], unplayed=3).scores
    assert scores is not None
    assert (scores.whole.planned, scores.whole.floor) == (12, 0.25)


def test_a_sample_in_doubt_counts_once_however_many_attempts_others_have(run: proctor.Run) -> None:
    scores = inspection_of(run).scores
    assert scores is not None
    assert (scores.valid.value, scores.low, scores.high, scores.failures) == (1.0, 0.5, 1.0, 1)


def test_a_failure_that_counts_nowhere_is_laid_at_nobody() -> None:
    failed = InspectedTrial(id="t", steps=(), calls=(), outcome="provider_failed", score=0.0)
    assert sum(make_inspection("x", [(failed, None)], []).blame.values()) == 0
