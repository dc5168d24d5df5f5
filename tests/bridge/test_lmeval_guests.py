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
