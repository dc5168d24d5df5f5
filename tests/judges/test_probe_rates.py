"""How often a probe accuses, by simulation: a judge without bias seldom, one with a large bias nearly always."""

import random
from collections.abc import Sequence

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trial import Verdict
from proctor_judging.tasks.probe_findings import ProbeFinding, findings
from proctor_judging.tasks.probes import KINDS, PROBES

ITEMS = 24
PAIRED = [(probe, kind) for probe in PROBES for kind in KINDS if probe not in ("self", "stability")]


@pytest.mark.slow
@pytest.mark.parametrize("runs", [50, pytest.param(80, marks=pytest.mark.torture)])
@pytest.mark.parametrize("ties", [0.0, 0.9])
@pytest.mark.parametrize("margin", [0.15, 0.01])
def test_an_unbiased_judge_is_accused_in_at_most_six_percent_of_runs(margin: float, ties: float, runs: int) -> None:
    """One that is accused in a sixth of the runs is found out by 50 of them with a probability of 97 %."""
    accused = [_is_accused(_simulated(seed, ties=ties, margin=margin)) for seed in range(runs)]
    assert sum(accused) / len(accused) <= 0.06


def test_a_bias_of_two_percent_of_the_scale_is_no_bias_where_fifteen_matter() -> None:
    for seed in range(20):
        found = _simulated(seed, ties=0.3, bias=0.02, noise=0.02)
        assert not _is_accused(found)
        assert {one.verdict for one in found if one.judged == "points"} == {"fine"}


@pytest.mark.slow
def test_a_large_bias_is_found() -> None:
    accused = [_is_accused(_simulated(seed, ties=0.3, bias=0.45, noise=0.25)) for seed in range(40)]
    assert sum(accused) / len(accused) >= 0.95


def _is_accused(found: Sequence[ProbeFinding]) -> bool:
    return any(one.verdict == "biased" for one in found)


def _simulated(
    seed: int, *, ties: float, bias: float = 0.0, noise: float = 0.15, margin: float = 0.15
) -> list[ProbeFinding]:
    """The findings of a judge that decides pairs by lot, and whose points have that bias and noise."""
    chance = random.Random(seed)
    samples, verdicts = [], []
    for probe, kind in PAIRED:
        for item in range(ITEMS):
            sample = Sample.ask(f"{item}/{probe}/{kind}", "?", cluster=str(item), tags={"probe": probe, "judged": kind})
            if kind == "points":
                effect = min(max(chance.gauss(bias, noise), -1.0), 1.0)
            elif chance.random() < ties:
                effect = 0.0
            else:
                effect = 1.0 if chance.random() < (1 + bias) / 2 else -1.0
            score = Score(points=0.5, details={"first": max(effect, 0.0), "second": max(-effect, 0.0)})
            samples.append(sample)
            verdicts.append(
                Verdict(run_id="r", sample_id=sample.id, attempt=0, scorer="probe", scorer_version="1", result=score)
            )
    found = findings(samples, zip(samples, verdicts, strict=True), margin=margin)
    return [one for one in found if one.verdict != "not_applicable"]
