"""Is the estimate of a run unbiased that drew further samples where outcomes were uncertain? By simulation, with a seed."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from bench.figure import Figure
from proctor.core.run import RunStage, Strata
from proctor.core.tally import Case, Tally, tally
from proctor.stats.allocation import allocate, name_in_stage, stage_sizes
from proctor.stats.strata import MeasuredStratum, estimate

ROUNDS = 10_000
SIZES = {"a": 1_000, "b": 500, "c": 500}
TASKS = {
    "one hard category": (0.97, 0.95, 0.5),
    "all alike": (0.7, 0.7, 0.7),
    "nearly all right": (0.99, 0.97, 0.9),
}
FIRST, LATER = 60, 180


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The mean error of the estimate with the standard error of that, how often its interval holds the truth, and its squared error."""

    bias: float
    bias_error: float
    coverage: float
    square: float


def measure() -> Iterator[Figure]:
    """Bias and coverage, and the variance compared with a draw in proportion and with the mean over all samples of a stratum."""
    for name, rates in TASKS.items():
        staged, alone, pooled = (simulate(rates, ROUNDS, how) for how in ("stages", "proportional", "pooled"))
        yield Figure(what=f"bias in standard errors: {name}", value=abs(staged.bias) / staged.bias_error, at_most=3.0)
        yield Figure(what=f"bias without weights of stages: {name}", value=100 * pooled.bias, unit="points")
        yield Figure(what=f"coverage: {name}", value=staged.coverage, unit="", at_least=0.93)
        yield Figure(what=f"variance beside a draw in proportion: {name}", value=staged.square / alone.square)


def simulate(rates: Sequence[float], rounds: int, how: str = "stages", seed: int = 0) -> Result:
    """Run two stages so many times; the truth is the mean of the rates, each weighted by the size of its stratum."""
    source = np.random.default_rng(seed)
    by_name = dict(zip(SIZES, rates, strict=True))
    truth = sum(SIZES[name] * rate for name, rate in by_name.items()) / sum(SIZES.values())
    errors, held = [], 0
    for _ in range(rounds):
        first = _draw(_in_proportion(FIRST), by_name, source)
        counts = {name: one.samples for name, one in first.items()}
        more = _in_proportion(LATER) if how == "proportional" else allocate(SIZES, counts, first, LATER)
        later = _draw(more, by_name, source)
        if how == "stages":
            known = Strata(by="of", sizes=SIZES, stages=(RunStage(counts=counts), RunStage(counts=more)))
            sizes: Mapping[str, float] = stage_sizes(known)
            tallies = {
                name_in_stage(name, at): one for at, each in enumerate((first, later)) for name, one in each.items()
            }
        else:
            sizes, tallies = SIZES, {name: _sum(first[name], later[name]) for name in SIZES}
        found = estimate(
            "", [MeasuredStratum(name=name, size=size, tally=tallies[name]) for name, size in sizes.items()]
        )
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        errors.append(found.value - truth)
        held += found.low <= truth <= found.high
    spread = float(np.std(errors))
    return Result(
        bias=float(np.mean(errors)), bias_error=spread / rounds**0.5, coverage=held / rounds, square=spread**2
    )


def _in_proportion(count: int) -> dict[str, int]:
    return {name: round(count * size / sum(SIZES.values())) for name, size in SIZES.items()}


def _draw(counts: Mapping[str, int], rates: Mapping[str, float], source: np.random.Generator) -> dict[str, Tally]:
    return {
        name: tally(
            Case(cluster=f"{name}{at}", values=(float(value),), planned=1)
            for at, value in enumerate(source.random(count) < rates[name])
        )
        for name, count in counts.items()
    }


def _sum(one: Tally, other: Tally) -> Tally:
    added = {
        name: getattr(one, name) + getattr(other, name)
        for name in Tally.__struct_fields__
        if name not in ("binary", "all_or_nothing")
    }
    return Tally(**added)
