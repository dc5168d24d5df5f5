"""`GAIAMetrics`: figures over the results of an evaluation. Questions that could not be scored are left out of rates; a rate of none is NaN."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median, pstdev, quantiles
from typing import Any

from proctor.core.sample import JsonObject
from proctor_compat.hello_agents._words import NOTHING, share

Rows = Sequence[JsonObject]
Results = JsonObject | Rows


class GAIAMetrics:
    """The figures of the chapter; its methods work on the class too. Results are rows, or the dict that holds them."""

    @staticmethod
    def calculate_exact_match_rate(results: Results) -> float:
        """Return the share of right answers."""
        return float(rates(_rows(results))["exact_match_rate"])

    @staticmethod
    def calculate_partial_match_rate(results: Results) -> float:
        """Return the share of answers that are right or half right."""
        return float(rates(_rows(results))["partial_match_rate"])

    @staticmethod
    def calculate_level_metrics(results: Results, level: int) -> dict[str, object]:
        """Return the figures of one level."""
        return rates([row for row in _rows(results) if str(row.get("level")) == str(level)])

    @staticmethod
    def calculate_average_execution_time(results: Results) -> float:
        """Return the mean of the seconds a question took."""
        return _mean([row["execution_time"] for row in _rows(results) if row.get("execution_time") is not None])

    @staticmethod
    def compute_metrics(results: Results) -> dict[str, Any]:
        rows = _rows(results)
        scored, whole, levels = _scored(rows), rates(rows), _levels(rows)
        right = [row["steps"] for row in scored if row["exact_match"] and row.get("steps")]
        return {
            "total_samples": whole["total"],
            "exact_match_rate": whole["exact_match_rate"],
            "partial_match_rate": whole["partial_match_rate"],
            "average_execution_time": GAIAMetrics.calculate_average_execution_time(rows),
            "average_steps": _mean(right),
            "level_metrics": levels,
            "score_statistics": spread([float(row["score"]) for row in scored]),
            "performance_analysis": {
                "level_performance": {name: level["exact_match_rate"] for name, level in levels.items()},
                "difficulty_progression": _progression(levels),
                "error_analysis": _errors(scored),
            },
        }

    @staticmethod
    def compare_results(results1: Results, results2: Results) -> dict[str, object]:
        """Return the second results minus the first, in total and by level."""
        first, second = (GAIAMetrics.compute_metrics(results) for results in (results1, results2))
        keys = ("exact_match_rate", "partial_match_rate", "average_execution_time")
        levels = sorted({*first["level_metrics"], *second["level_metrics"]})
        differences: dict[str, object] = {f"{key}_diff": second[key] - first[key] for key in keys}
        differences["level_comparison"] = {
            level: {
                f"{key}_diff": second["level_metrics"].get(level, rates([]))[key]
                - first["level_metrics"].get(level, rates([]))[key]
                for key in keys[:2]
            }
            for level in levels
        }
        return differences


def rates(rows: Rows) -> dict[str, Any]:
    """Return how many questions were right, or half right, out of those that could be scored.

    >>> rates([{"exact_match": False, "partial_match": True}])["partial_match_rate"]
    1.0
    """
    scored = _scored(rows)
    exact = sum(bool(row["exact_match"]) for row in scored)
    half = sum(bool(row.get("partial_match") or row["exact_match"]) for row in scored)
    count = len(scored)
    return {
        "total": count,
        "exact_matches": exact,
        "partial_matches": half,
        "exact_match_rate": share(exact, count),
        "partial_match_rate": share(half, count),
    }


def _rows(results: Results) -> Rows:
    return results.get("detailed_results", ()) if isinstance(results, Mapping) else results


def _scored(rows: Rows) -> list[JsonObject]:
    return [row for row in rows if row.get("exact_match") is not None]


def _levels(rows: Rows) -> dict[str, dict[str, object]]:
    levels = sorted({int(row["level"]) for row in rows if str(row.get("level", "")).isdecimal()})
    return {f"Level_{level}": GAIAMetrics.calculate_level_metrics(rows, level) for level in levels}


def _progression(levels: Mapping[str, JsonObject]) -> dict[str, dict[str, float]]:
    """Return the relative drop from each level to the next, (a - b) / a; 0 where the first is 0."""
    found = {}
    for (name, lower), (next_name, higher) in pairwise(levels.items()):
        low, high = lower["exact_match_rate"], higher["exact_match_rate"]
        drop = (low - high) / low if low else 0.0
        found[f"{name}_to_{next_name}"] = {"drop_rate": drop, "relative_drop": drop, "absolute_drop": low - high}
    return found


def _errors(scored: Rows) -> dict[str, object]:
    wrong = [row for row in scored if not row["exact_match"]]
    half = sum(bool(row.get("partial_match")) for row in wrong)
    count = len(scored)
    return {
        "total_errors": len(wrong),
        "partial_correct": half,
        "complete_wrong": len(wrong) - half,
        "error_rate": share(len(wrong), count),
        "partial_correct_rate": share(half, count),
    }


def spread(scores: Sequence[float]) -> dict[str, float]:
    """Return the mean, median, spread and quartiles of scores; nothing of none.

    >>> spread([0.0, 1.0])["q3"]
    0.75
    """
    if not scores:
        return {}
    first, _, third = quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else [scores[0]] * 3
    return {
        "mean": fmean(scores),
        "median": median(scores),
        "std": pstdev(scores),
        "min": min(scores),
        "max": max(scores),
        "q1": first,
        "q3": third,
    }


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else NOTHING
