"""Compute what a run cost per goal, and how much of it was wasted: ratios of sums, with intervals over clusters.

    messages_per_goal    messages of all attempts / goals reached in them
    tokens_per_goal      tokens / goals reached, over the attempts whose tokens were recorded
    redundancy           messages and calls that repeat earlier ones / all of them
    handoff_failures     hand-offs that were not taken / all of them

What a team spent on goals that it missed counts, so giving up early is not efficient. The interval is that of a ratio,
linearised over clusters of samples, on the scale of logarithms (of log-odds for shares), with t at clusters - 1; it
needs three clusters. Source: Cochran 1977, "Sampling Techniques", chapter 6.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.task import Judged
from proctor.stats.distributions import t_quantile
from proctor_benchmarks.collaboration.scorer import KEY

LEVEL = 0.95
METHOD = "ratio, linearised over clusters"
FEWEST_CLUSTERS = 3
MAIN = "collaboration"

Pair = tuple[float, float]  # what is counted, and what it is divided by


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:  # noqa: ARG001 - they are means over trials
    """Return the figures of the whole run; those that nothing is known of are left out."""
    by_name: dict[str, dict[str, list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for sample, verdict in judged():
        work = verdict.result.details.get(KEY) if verdict.scorer == MAIN else None
        if work is None:
            continue
        cluster = sample.cluster or sample.id
        if isinstance(verdict.result, Score):
            reached = verdict.result.points
            by_name["messages_per_goal"][cluster].append((work["messages"], reached))
            if work["tokens"] is not None:
                by_name["tokens_per_goal"][cluster].append((work["tokens"], reached))
        by_name["redundancy"][cluster].append((work["repeated"], work["messages"] + work["calls"]))
        failed = sum(handoff["ending"] != "taken" for handoff in work["handoffs"])
        by_name["handoff_failures"][cluster].append((failed, len(work["handoffs"])))
    figures = [_ratio(name, by_cluster) for name, by_cluster in by_name.items()]
    return [estimate for estimate in figures if estimate.value is not None or estimate.note]


def _ratio(name: str, by_cluster: dict[str, list[Pair]]) -> Estimate:
    is_share = not name.endswith("_per_goal")
    sums = [(math.fsum(over for over, _ in pairs), math.fsum(under for _, under in pairs)) for pairs in by_cluster.values()]  # fmt: skip
    over, under = math.fsum(each for each, _ in sums), math.fsum(each for _, each in sums)
    count = sum(map(len, by_cluster.values()))
    value = over / under if under else None
    note = say("no goal was reached") if not is_share and not under else ""
    estimate = Estimate(name=name, value=value, scored=count, planned=count, clusters=len(sums), note=note, unit="share" if is_share else "number")  # fmt: skip
    scale = value * (1 - value) if value is not None and is_share else value
    if value is None or not scale or len(sums) < FEWEST_CLUSTERS:
        return estimate
    squares = math.fsum((over - value * under) ** 2 for over, under in sums)
    error = math.sqrt(len(sums) / (len(sums) - 1) * squares) / under
    # the derivative of the logarithm, or of the log-odds
    half = t_quantile(0.5 + LEVEL / 2, len(sums) - 1) * error / scale
    half = min(half, 700.0)  # what exp takes
    if is_share:
        odds = value / (1 - value)
        low, high = odds / (odds + math.exp(half)), odds / (odds + math.exp(-half))
    else:
        low, high = value * math.exp(-half), value * math.exp(half)
    return _with_interval(estimate, low, high, error)


def _with_interval(one: Estimate, low: float, high: float, error: float) -> Estimate:
    from msgspec.structs import replace

    return replace(one, low=low, high=high, method=METHOD, standard_error=error, degrees=float(one.clusters - 1))
