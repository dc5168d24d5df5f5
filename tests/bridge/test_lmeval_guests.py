"""Tasks of lm-eval, played by a stand-in for lm-eval; the real one is in tests/compat."""

import re
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.core.errors import BadInput
from proctor.core.score import Unscored
from proctor.isolation import WorkerProgram
from proctor_adapters.bridge import lmeval as bridged

PROGRAM = Path(__file__).with_name("lmeval_program_of_tests.py")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridged, "program_of", lambda *_: WorkerProgram(path=PROGRAM))


def adds(question: str) -> str:
    x, y = map(int, re.findall(r"\d+", question))
    if x == 3:
        raise ValueError("out of fingers")
    return str(x + y)


def run_of(task: str, tmp_path: Path, **more: Any) -> Any:
    return proctor.evaluate(f"lmeval:{task}", agent=adds, store=str(tmp_path / "runs.db"), **more)


def test_a_metric_in_which_less_is_better_is_no_points(tmp_path: Path) -> None:
    run = run_of("sums", tmp_path)
    results = [one.result for one in run.store.verdicts(run.id, scorer="length,none@lmeval")]
    assert {type(result) for result in results} == {Unscored}
    assert "Less is better" in str(results[0].reason)


def test_a_metric_of_which_nobody_says_what_is_better_is_named_and_no_points(tmp_path: Path) -> None:
    run = run_of("silent", tmp_path)
    results = [verdict.result for verdict in run.store.verdicts(run.id, scorer="tone,none@lmeval")]
    assert {type(result) for result in results} == {Unscored}
    assert "does not say whether more is better in 'tone,none'" in str(results[0].reason)
    assert any("official figures only: tone,none," in str(note) for note in bridged.task("silent").notes)
    official = {estimate.name: estimate for estimate in run.estimates}
    assert official["tone,none (lm-eval)"].value == 1


def test_a_range_of_the_user_says_that_more_is_better(tmp_path: Path) -> None:
    run = run_of("silent", tmp_path, options={"bridge": {"scale": {"tone,none": "0:2"}}})
    values = {verdict.result.value for verdict in run.store.verdicts(run.id, scorer="tone,none@lmeval")}
    assert values == {0.5}


def test_a_metric_that_the_task_does_not_list_is_an_official_figure_and_no_score(tmp_path: Path) -> None:
    run = run_of("silent", tmp_path)
    official = {estimate.name: estimate for estimate in run.estimates}
    surprise = official["surprise,none (lm-eval)"]
    assert (surprise.value, surprise.scored) == (1.0, 3)
    assert not any(scorer.startswith("surprise") for scorer in run.record.scorers)


def test_a_figure_that_cannot_be_computed_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    run = run_of("sums", tmp_path)
    official = {one.name: one for one in run.estimates if one.name.endswith("(lm-eval)")}
    exact, length = official["exact_match,none (lm-eval)"], official["length,none (lm-eval)"]
    assert (exact.value, exact.scored, exact.planned) == (1.0, 3, 4)
    assert "3 of 4" in str(exact.note)
    assert length.value is None
    assert "ValueError: no" in str(length.note)


def test_values_without_a_known_range_stop_the_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape("--set bridge.scale.rating,none=LOW:HIGH")):
        run_of("rated", tmp_path, concurrency=1)
    run = run_of("rated", tmp_path, options={"bridge": {"scale": {"rating,none": "1:10"}}})
    assert run.estimate("score").value == pytest.approx((0 + 1 + 2) / 9 / 4)


def test_settings_that_differ_between_documents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="for 3 of 4 documents"):
        run_of("moody", tmp_path)


def test_a_note_says_which_settings_are_not_sent() -> None:
    (note,) = bridged.task("sums").notes
    assert "Not sent: top_k;" in str(note)
