"""Compute the official aggregates: weighted means of category accuracies.

    simple      = mean(simple_python, simple_java, simple_javascript)
    non_live    = mean(simple, multiple, parallel, parallel_multiple)
    live        = mean(live_simple, live_multiple, live_parallel, live_parallel_multiple), weighted by official size
    irrelevance = mean(irrelevance, live_irrelevance)
    multi_turn  = mean(base, miss_func, miss_param, long_context)
    agentic     = mean(mean of web search, mean of memory)
    overall     = 0.1 non_live + 0.1 live + 0.1 irrelevance + 0.3 multi_turn + 0.4 agentic

The four multi-turn categories are variants of the same 200 conversations, both of web search ask the same 100 questions, and
the three memory categories ask the same questions about the same five scenarios: their samples share clusters, so these
categories are not independent. Over clusters c, with r_kc what the samples of c in category k add to the deviation of their mean,

    SE^2 = sum_c (sum_k w_k r_kc)^2 = sum_k w_k^2 Var_k + 2 sum_{k<l} w_k w_l Cov_kl

which is the clustered error of all samples of these categories together, as the weights within such a group are equal: that of
the slice `group=...`. Between groups nothing is shared.

The official tool weights `live` by how many samples were run, which for whole categories is the same; from a draw, the
official sizes say what the whole would be. It counts a category that was not run as 0. Here such an aggregate is left out,
and `overall` says which categories those are; the number of the official tool is `official_...` where more than
one category was run.
`live_relevance` and format sensitivity enter none of them.

Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/eval_runner_helper.py`, `generate_leaderboard_csv`.
"""

import statistics
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.sentence import say
from proctor.core.task import Judged
from proctor.stats.estimate import PART_MISSING, combine
from proctor_benchmarks.bfcl.dataset import CATEGORIES, COLLECTIONS, MEMORY, MULTI_TURN, WEB_SEARCH
from proctor_benchmarks.bfcl.formats import FORMATS

NOISY_MEANS = "no interval: a spread of noisy means"

_ACCURACY = ("accuracy", "bfcl.accuracy")
_LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_NO_OFFICIAL = ("simple", "irrelevance")  # the official tool prints N/A for these when a part is missing

_SAME = 1e-9
_SHARING = {"multi_turn": MULTI_TURN, "memory": MEMORY, "web_search": WEB_SEARCH}
_SHARED = {category: group for group, members in _SHARING.items() for category in members}
_PARTS_OF_THE_OVERALL = {name: COLLECTIONS[name] for name in ("non_live", "live", "multi_turn", "agentic")}

Weights = Mapping[str, float]
Parts = Sequence[tuple[float, Estimate]]


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:  # noqa: ARG001 - estimates say it all
    """Return every aggregate whose categories were all run, what `overall` lacks, and the numbers of the official tool.

    `overall` is left out while only one group was run, as most of it would be about samples that were not.

    Args:
        estimates: those of the metric `accuracy`, whole and by slice; the slices `category=...`, `group=...` and
            `format=...` are used.
    """
    by_category, by_group = _by_tag(estimates, "category="), _by_tag(estimates, "group=")
    run = {group for name in by_category for group, members in _PARTS_OF_THE_OVERALL.items() if name in members}
    aggregates: list[Estimate] = []
    for name, weights in WEIGHTS.items():
        parts = _parts(weights, by_category, by_group)
        missing = [category for category in weights if category not in by_category]
        if not parts or (name == "overall" and len(run) < 2):
            continue
        if not missing:
            aggregates.append(_whole(name, parts))
        elif name == "overall":
            aggregates.append(_without_value(name, parts, missing))
        is_printed = name == "overall" or (missing and name not in _NO_OFFICIAL)
        if is_printed and len(by_category) > 1:
            aggregates.append(_as_printed(name, parts, missing))
    return [*aggregates, *_format_sensitivity(estimates)]


def _by_tag(estimates: Sequence[Estimate], prefix: str) -> dict[str, Estimate]:
    return {
        estimate.slice.removeprefix(prefix): estimate
        for estimate in estimates
        if estimate.name in _ACCURACY and estimate.slice.startswith(prefix)
    }


def _parts(weights: Weights, by_category: Mapping[str, Estimate], by_group: Mapping[str, Estimate]) -> Parts:
    """Return the categories that were run with their weights; those of a group that share clusters as one part."""
    pairs: list[tuple[float, Estimate]] = []
    for members in (*_SHARING.values(), *((name,) for name in weights if name not in _SHARED)):
        parts = [(weights[name], by_category[name]) for name in members if name in weights and name in by_category]
        group = by_group.get(_SHARED[members[0]]) if members[0] in _SHARED else None
        if not parts or group is None:
            pairs += parts
        else:
            pairs.append((sum(weight for weight, _ in parts), _of_group(parts, group)))
    return pairs


def _of_group(parts: Parts, group: Estimate) -> Estimate:
    """Return the mean of categories that share clusters, with the error of all their samples together."""
    mean = combine("", "", parts)
    errors = {name: getattr(group, name) for name in ("method", "clusters", "standard_error", "degrees")}
    estimate = replace(mean, **errors)
    if mean.value is None or group.value is None:
        return mean
    if abs(mean.value - group.value) < _SAME:
        return replace(estimate, low=group.low, high=group.high)
    return combine("", "", [(1.0, estimate)])


def _whole(name: str, parts: Parts) -> Estimate:
    return replace(parts[0][1], name=name, slice="") if len(parts) == 1 else combine(name, "", parts)


def _format_sensitivity(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return how far the accuracies of the prompt formats lie apart: the largest less the smallest, and their deviation.

    Neither has an interval. The largest of 26 noisy accuracies is too large and the smallest too small, so both figures
    are above 0 where formats make no difference at all; an interval around them would not contain what it is about.

    Source: bfcl-eval 2026.3.23, `bfcl_eval/eval_checker/eval_runner.py`, `format_sensitivity_runner`.
    """
    parts = [estimate for estimate in estimates if estimate.name in _ACCURACY and estimate.slice.startswith("format=")]
    values = [part.value for part in parts if part.value is not None]
    if len(values) < 2:
        return []
    figures = {"max_delta": max(values) - min(values), "std": statistics.stdev(values)}
    return [
        Estimate(
            name=f"format_{name}",
            value=value,
            method=NOISY_MEANS,
            scored=sum(part.scored for part in parts),
            planned=sum(part.planned for part in parts),
            note=say("over {count} of {all} prompt formats", count=len(values), all=len(FORMATS)),
        )
        for name, value in figures.items()
    ]


def _without_value(name: str, parts: Parts, missing: Sequence[str]) -> Estimate:
    return Estimate(
        name=name,
        value=None,
        method=PART_MISSING,
        scored=sum(part.scored for _, part in parts),
        planned=sum(part.planned for _, part in parts),
        note=say("not run: {categories}", categories=_short_names(missing)),
    )


def _as_printed(name: str, parts: Parts, missing: Sequence[str]) -> Estimate:
    """Return the number that the official tool prints: what was not run counts as 0."""
    note = (
        say("counted as 0, as the official tool does: {categories}", categories=_short_names(missing))
        if missing
        else ""
    )
    run = replace(_whole(f"official_{name}", parts), note=note)
    weight = sum(weight for weight, _ in parts)
    ends = ("value", "low", "high", "floor", "ceiling", "standard_error")
    return replace(run, **{end: at * weight for end in ends if (at := getattr(run, end)) is not None})


def _mean(*names: str) -> Weights:
    return {name: 1 / len(names) for name in names}


def _blend(*parts: tuple[float, Weights]) -> Weights:
    return {name: share * weight for share, weights in parts for name, weight in weights.items()}


def _short_names(missing: Sequence[str]) -> str:
    """Return the names of categories, whole collections by one name."""
    left, names = list(missing), []
    for collection in ("non_live", "live", "multi_turn", "agentic"):
        members = [name for name in COLLECTIONS[collection] if name != "live_relevance"]
        if set(members) <= set(left):
            names.append(collection)
            left = [name for name in left if name not in members]
    return ", ".join([*left, *names])


def _weights() -> dict[str, Weights]:
    """Return the weight of each category in each aggregate; they sum to 1."""
    size = {name: CATEGORIES[name].size for name in _LIVE}
    simple = _mean("simple_python", "simple_java", "simple_javascript")
    non_live = _blend((0.25, simple), *((0.25, {name: 1.0}) for name in ("multiple", "parallel", "parallel_multiple")))
    live = {name: size[name] / sum(size.values()) for name in _LIVE}
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


WEIGHTS = _weights()
