"""The line that shows how far a run is."""

import re
import time

import pytest

from proctor.cli import words
from proctor.cli.output import status
from proctor.core.run import Budget
from proctor.core.score import Score
from proctor.core.trajectory import Usage
from proctor.core.trial import Trial, Verdict
from proctor.engine.budget import BudgetTracker
from proctor.engine.progress import Progress
from proctor.engine.status import RunStatus
from proctor.transport.retry import Wait


def progress(done: int, total: int, budget: Budget | None = None) -> RunStatus:
    shown = RunStatus(Progress())
    shown.begin(total, 0, BudgetTracker(budget or Budget()))
    for number in range(done):
        usage = Usage(input_tokens=900, output_tokens=100, requests=1, cost=0.01)
        outcome = "scored" if number % 4 else "provider_failed"
        trial = Trial(run_id="r", sample_id=str(number), outcome=outcome, usage=usage)  # type: ignore[arg-type]
        result = Verdict(run_id="r", sample_id=str(number), scorer="exact", result=Score(points=number % 2))
        shown.add(trial, [result] if outcome == "scored" else [])
    return shown


@pytest.fixture(autouse=True)
def english() -> None:
    words.choose("en")


def test_it_says_done_rate_failures_tokens_spend_and_time_left() -> None:
    line = status(progress(8, 100))
    for part in (
        "8 of 100 samples",
        "a second",
        "provider failed 2",
        "8,000 tokens",
        "spent 0.0800 of about 1.0000",
        "left",
    ):
        assert part in line


def test_it_warns_when_the_budget_will_not_do() -> None:
    assert "will not fit the budget" in status(progress(8, 100, Budget(money=0.5)))
    assert "will not fit the budget" in status(progress(8, 100, Budget(tokens=50_000)))
    assert "will not fit the budget" not in status(progress(8, 100, Budget(money=5.0)))


def test_before_the_first_samples_it_promises_nothing() -> None:
    assert status(Progress().status) == "Getting ready …"
    assert "left" not in status(progress(0, 100))


def test_failures_are_named_in_the_language() -> None:
    words.choose("zh")
    assert "服务商故障 2" in status(progress(8, 100))
    assert not re.search("[a-z]+ failed", status(progress(8, 100)))


def test_days_are_counted_in_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: started - 3600)
    shown = progress(1, 100)
    monkeypatch.setattr(time, "monotonic", lambda: started)
    assert "98:5" in status(shown) or "99:0" in status(shown)


def test_the_mean_counts_what_the_agent_failed_as_0() -> None:
    shown = progress(5, 10)  # of which 2 of 3 that were scored earned a point
    failed = Trial(run_id="r", sample_id="9", outcome="agent_failed")
    shown.add(failed, [])
    assert "mean 50.0%" in status(shown)


def test_it_says_which_requests_wait_for_how_long_and_why() -> None:
    shown = progress(1, 100)
    until = time.monotonic() + 20
    asked = Wait(host="bot.example:443", cause="status", status=429, until=until, asked=20.0)
    shown.waits = lambda: [asked, Wait(host="bot.example:443", cause="status", status=500, until=until - 10)]
    assert "requests that wait: 2; bot.example:443 asked for 20 s (429), 20 s more" in status(shown)
    shown.waits = lambda: [Wait(host="bot.example:443", cause="connection", status=None, until=until)]
    assert "requests that wait to be sent again: 1; bot.example:443 failed (connection), 20 s more" in status(shown)
    shown.waits = list
    assert "wait" not in status(shown)
