"""Runs, numbers and comparisons print as a person reads them."""

import pytest

import proctor
from proctor import Sample, Task

TASK = Task(name="t", samples=[Sample.ask(str(n), str(n), target=str(n)) for n in range(8)], scorers=["exact"])


@pytest.fixture(scope="module")
def runs() -> tuple[proctor.Run, proctor.Run]:
    one = proctor.evaluate(TASK, agent=lambda question: question, store=":memory:", run_id="one")
    other = proctor.evaluate(TASK, agent=lambda question: "<b>" + question, store=":memory:", run_id="other")
    return one, other


def test_a_number_prints_with_its_interval_and_its_denominator(runs: tuple[proctor.Run, proctor.Run]) -> None:
    assert str(runs[0].estimate("accuracy")) == "accuracy: 100.0%, 95% interval 67.6% to 100.0%, 8 of 8 scored"


def test_a_run_prints_its_table(runs: tuple[proctor.Run, proctor.Run], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "accuracy" in str(runs[0])
    assert "100.0%" in str(runs[0])
    assert runs[1]._repr_html_().startswith("<div>")
    monkeypatch.setenv("PROCTOR_LANG", "zh")
    assert "运行 one" in str(runs[0])


def test_a_comparison_prints_its_verdict_in_a_page_at_most(runs: tuple[proctor.Run, proctor.Run]) -> None:
    comparison = proctor.compare(*runs)
    assert repr(comparison) == "<Comparison of other with one: accuracy 1.000 -> 0.000, worse>"
    assert "the second is worse" in str(comparison)
    assert len(str(comparison)) < 3000
    assert "<b>" not in comparison._repr_html_()
