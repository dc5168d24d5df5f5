"""The official aggregate: weighted means of category accuracies.

    simple      = mean(simple_python, simple_java, simple_javascript)
    non_live    = mean(simple, multiple, parallel, parallel_multiple)
    live        = accuracy over live_simple, live_multiple, live_parallel, live_parallel_multiple, by count
    irrelevance = mean(irrelevance, live_irrelevance)
    multi_turn  = mean(base, miss_func, miss_param, long_context)
    agentic     = mean(mean of web search, mean of memory)
    overall     = 0.1 non_live + 0.1 live + 0.1 irrelevance + 0.3 multi_turn + 0.4 agentic

The official tool counts a category that was not run as 0. Here such an aggregate has no value: bounds say what it can
still be, a note names what is missing, and the number of the official tool stands beside it as `official_...`.
`live_relevance` and format sensitivity enter none of them.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/eval_runner_helper.py`, `generate_leaderboard_csv`.
"""

from collections.abc import Mapping, Sequence

from proctor.benchmarks.bfcl.dataset import CATEGORIES, COLLECTIONS, MEMORY, MULTI_TURN, WEB_SEARCH
from proctor.core.run import Estimate
from proctor.core.sentence import say
from proctor.core.task import Judged
from proctor.stats.estimate import combine

_LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_NO_OFFICIAL = ("simple", "irrelevance")  # the official tool prints N/A for these when a part is missing
_NOT_RUN = Estimate(name="accuracy", value=None)

Weights = Mapping[str, float]


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:  # noqa: ARG001 - estimates say it all
    """Every aggregate of which at least one category was run, and always `overall` and `official_overall`.

    Args:
        estimates: those of the metric `accuracy`, whole and by slice; the slices `category=...` are used.
    """
    found = {
        estimate.slice.removeprefix("category="): estimate
        for estimate in estimates
        if estimate.name in ("accuracy", "bfcl.accuracy") and estimate.slice.startswith("category=")
    }
    run = {category: estimate for category, estimate in found.items() if estimate.value is not None}
    aggregates: list[Estimate] = []
    for name, weights in weights_by_aggregate(run).items():
        if not run.keys() & weights.keys() and name != "overall":
            continue
        missing = [category for category in weights if category not in run]
        parts = [(weight, found.get(part, _NOT_RUN)) for part, weight in weights.items()]
        aggregates.append(
            combine(name, "", parts, note=say("not run: {categories}", categories=_short(missing)) if missing else "")
        )
        if name == "overall" or (missing and name not in _NO_OFFICIAL):
            aggregates.append(_official(aggregates[-1], parts, missing))
    return aggregates


def weights_by_aggregate(run: Mapping[str, Estimate]) -> dict[str, Weights]:
    """The weight of each category in each aggregate; they sum to 1. Live ones depend on how many were scored."""
    counts = {name: run[name].scored if name in run else CATEGORIES[name].size for name in _LIVE}
    simple = _mean("simple_python", "simple_java", "simple_javascript")
    non_live = _blend((0.25, simple), *((0.25, {name: 1.0}) for name in ("multiple", "parallel", "parallel_multiple")))
    live = {name: count / sum(counts.values()) for name, count in counts.items()}
    irrelevance = _mean("irrelevance", "live_irrelevance")
    multi_turn = _mean(*MULTI_TURN)
    agentic = _blend((0.5, _mean(*WEB_SEARCH)), (0.5, _mean(*MEMORY)))
    parts = ((0.1, non_live), (0.1, live), (0.1, irrelevance), (0.3, multi_turn), (0.4, agentic))
    return {
        "simple": simple,
        "non_live": non_live,
        "live": live,
        "irrelevance": irrelevance,
        "multi_turn": multi_turn,
        "agentic": agentic,
        "overall": _blend(*parts),
    }


def _mean(*names: str) -> Weights:
    return {name: 1 / len(names) for name in names}


def _blend(*parts: tuple[float, Weights]) -> Weights:
    return {name: share * weight for share, weights in parts for name, weight in weights.items()}


def _official(ours: Estimate, parts: Sequence[tuple[float, Estimate]], missing: Sequence[str]) -> Estimate:
    """The number the official tool prints: what was not run counts as 0, so there is no interval."""
    return Estimate(
        name=f"official_{ours.name}",
        value=sum(weight * (part.value or 0.0) for weight, part in parts),
        method="official weights",
        scored=ours.scored,
        planned=ours.planned,
        clusters=ours.clusters,
        note=say("counted as 0, as the official tool does: {categories}", categories=_short(missing))
        if missing
        else "",
    )


def _short(missing: Sequence[str]) -> str:
    """Names of categories, whole collections by one name."""
    left, names = list(missing), []
    for collection in ("non_live", "live", "multi_turn", "agentic"):
        members = [name for name in COLLECTIONS[collection] if name != "live_relevance"]
        if set(members) <= set(left):
            names.append(collection)
            left = [name for name in left if name not in members]
    return ", ".join([*left, *names])
