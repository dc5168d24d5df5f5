"""The figures: clustered both ways, and never narrower than by user task alone."""

import random
from collections.abc import Iterator
from statistics import fmean

import pytest

from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.tally import Case, tally
from proctor.core.trial import Verdict
from proctor.stats.estimate import estimate
from proctor_benchmarks.agentdojo.summary import SummaryCell, summarise, two_way_error, widened

SCENE = {"version": "v1.2.2", "suite": "s"}


def grid(source: random.Random, users: int = 20, injections: int = 8) -> list[SummaryCell]:
    """Make 0/1 values of which half of the variance is that of the injections, and some that of the users."""
    hard = [source.random() for _ in range(injections)]
    able = [source.uniform(-0.2, 0.2) for _ in range(users)]
    return [
        SummaryCell(
            user=f"s/{user}", injection=f"s/{injection}", value=float(source.random() < hard[injection] + able[user])
        )
        for user in range(users)
        for injection in range(injections)
    ]


def one_way(cells: list[SummaryCell]) -> Estimate:
    cases = [Case(cluster=cell.user, values=(cell.value,), planned=1, points=cell.value, out_of=1) for cell in cells]
    return estimate("x", tally(cases))


def test_the_interval_covers_the_rate_over_other_injections_and_by_user_alone_does_not() -> None:
    source = random.Random(1)
    truth = fmean(fmean(cell.value for cell in grid(source, 20, 8)) for _ in range(2_000))
    covered = [0, 0]
    for _ in range(300):
        cells = grid(source)
        plain = one_way(cells)
        for at, found in enumerate((plain, widened(plain, cells))):
            assert found.low is not None
            assert found.high is not None
            covered[at] += found.low <= truth <= found.high
    assert covered[0] / 300 < 0.7
    assert covered[1] / 300 > 0.9


def test_the_error_is_no_smaller_than_by_either_side() -> None:
    cells = [
        SummaryCell(user=f"s/{u}", injection=f"s/{i}", value=float((u + i) % 2)) for u in range(4) for i in range(4)
    ]
    error, clusters = two_way_error(cells)
    assert (error, clusters) == (0.0, 4)


def judged(lost: int) -> Iterator[tuple[Sample, Verdict]]:
    """Four user tasks with three injections; all are done, but under attack the first `lost` pairs are not."""
    for user in range(4):
        for injection in (None, 0, 1, 2):
            attack = {} if injection is None else {"injection_task": f"i{injection}", "attack": "direct"}
            sample = Sample(
                id=f"{user}{injection}",
                turns=(),
                tags={"setting": "attacked" if attack else "clean"},
                meta={"scene": {**SCENE, "user_task": f"u{user}", **attack}},
            )
            done = injection is None or user * 3 + injection >= lost
            yield sample, Verdict(run_id="r", sample_id=sample.id, scorer="utility", result=Score(points=int(done)))


@pytest.mark.parametrize(("lost", "value"), [(0, 0.0), (6, 0.5), (12, 1.0)])
def test_what_is_lost_is_paired_with_the_same_user_task(lost: int, value: float) -> None:
    (found,) = summarise([], lambda: judged(lost))
    assert (found.name, found.value, found.scored) == ("utility_lost", value, 12)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= value <= found.high
    assert found.high - found.low > 0.1


def test_figures_name_their_version_and_attack() -> None:
    clean = Estimate(name="accuracy", value=1.0, slice="setting=clean", scored=4, planned=4)
    found = summarise([clean], lambda: judged(0))
    assert {str(one.note) for one in found} == {"AgentDojo v1.2.2, attack direct"}
    assert [one.name for one in found] == ["utility", "utility_lost"]
