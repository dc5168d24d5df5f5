"""`BFCLMetrics`: figures over results, and over calls alone."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor_benchmarks.bfcl.loose_match import answers_of, calls_of, count_hits, count_right
from proctor_compat.hello_agents._words import NOTHING, share
from proctor_compat.hello_agents.gaia_metrics import spread


class BFCLMetrics:
    """The figures of the chapter. Calls are compared one to one, values as they are or as an answer of version 4 allows."""

    @staticmethod
    def calculate_accuracy(predictions: Sequence[object], references: Sequence[object]) -> float:
        """Return the share of references that equal the prediction at the same index; NaN without any.

        >>> BFCLMetrics.calculate_accuracy([1], [1, 2, 3, 4])
        0.25
        """
        total = max(len(predictions), len(references))
        same = sum(prediction == other for prediction, other in zip(predictions, references, strict=False))
        return share(same, total)

    @staticmethod
    def calculate_ast_match(predicted: object, reference: object) -> float:
        """Return 1 if the calls are the same, however calls and parameters are ordered and values are written, else 0.

        >>> BFCLMetrics.calculate_ast_match("f(a=2+3, s='x')", 'f(s="x", a=5)')
        1.0
        """
        calls, wanted = calls_of(predicted), answers_of(reference)
        return float(calls is not None and len(calls) == len(wanted) and count_hits(calls, wanted) == len(wanted))

    @staticmethod
    def calculate_parameter_accuracy(predicted: object, reference: object) -> float:
        """Return the share of the expected parameters that are right; of dicts of parameters, or of calls.

        >>> BFCLMetrics.calculate_parameter_accuracy({"a": 1, "b": 2}, {"a": 1, "b": 3})
        0.5
        """
        if isinstance(reference, Mapping) and "name" not in reference and not isinstance(predicted, list):
            given = predicted if isinstance(predicted, Mapping) else {}
            right = sum(key in given and given[key] == value for key, value in reference.items())
            return right / len(reference) if reference else float(not given)
        calls, wanted = list(calls_of(predicted) or ()), answers_of(reference)
        right = total = 0
        for answer in wanted:
            for name, allowed in answer.items():
                total += len(allowed)
                counts = [count_right(call["arguments"], allowed) if call["name"] == name else -1 for call in calls]
                if counts and max(counts) >= 0:
                    right += max(counts)
                    del calls[counts.index(max(counts))]
        return right / total if total else float(len(wanted) == len(calls_of(predicted) or ()))

    @staticmethod
    def calculate_precision_recall(predicted: object, reference: object) -> tuple[float, float]:
        """Return the share of the calls made that were expected, and of those expected that were made."""
        calls, wanted = calls_of(predicted) or [], answers_of(reference)
        if not calls and not wanted:
            return 1.0, 1.0
        hits = count_hits(calls, wanted)
        return hits / len(calls) if calls else 0.0, hits / len(wanted) if wanted else 0.0

    @staticmethod
    def calculate_f1_score(precision: float, recall: float) -> float:
        """Return 2PR / (P + R); 0 if both are 0."""
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    @staticmethod
    def calculate_weighted_accuracy(
        accuracy_by_category: Mapping[str, float], weights: Mapping[str, float] | None = None
    ) -> float:
        """Return the sum of w_c times the accuracy of category c; equal weights when None, NaN for no category.

        Raises:
            BadInput: weights that are negative, do not sum to 1, or are not those of just these categories.

        >>> BFCLMetrics.calculate_weighted_accuracy({"simple": 0.9, "parallel": 0.5}, {"simple": 0.75, "parallel": 0.25})
        0.8
        """
        if weights is None:
            return fmean(accuracy_by_category.values()) if accuracy_by_category else NOTHING
        if accuracy_by_category.keys() != weights.keys():
            raise BadInput(
                "Weights are needed of these categories: {wanted}; they were given of {given}.",
                wanted=", ".join(sorted(accuracy_by_category)) or "-",
                given=", ".join(sorted(weights)) or "-",
            )
        total = sum(weights.values())
        if min(weights.values(), default=0) < 0 or not abs(total - 1) < 1e-6:
            raise BadInput(
                "The weights of the categories are 0 or more and sum to 1, not to {total}.", total=f"{total:g}"
            )
        return sum(weights[name] * accuracy for name, accuracy in accuracy_by_category.items())

    def compute_metrics(
        self,
        results: JsonObject | Sequence[JsonObject],
        weights: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """Return all figures of detailed results, or of the dict of an evaluation that holds them.

        Args:
            weights: the weight of each category in `weighted_accuracy`, which sum to 1; equal ones when None.

        Raises:
            BadInput: weights that do not sum to 1, or a category without one.
        """
        rows = results.get("detailed_results", ()) if isinstance(results, Mapping) else results
        counted = [row for row in rows if row.get("success") is not None]
        right = sum(bool(row["success"]) for row in counted)
        accuracy = share(right, len(counted))
        categories = _by_category(counted)
        accuracy_by_category = {name: category["accuracy"] for name, category in categories.items()}
        return {
            "total_samples": len(counted),
            "success_count": right,
            "accuracy": accuracy,
            "ast_match_rate": accuracy,
            "error_rate": 1 - accuracy,
            "weighted_accuracy": self.calculate_weighted_accuracy(accuracy_by_category, weights),
            "parameter_accuracy": _mean(counted, "parameter_accuracy"),
            "f1_score": _mean(counted, "f1"),
            "average_score": _average(counted, "score"),
            "average_execution_time": _average(counted, "execution_time"),
            "category_metrics": categories,
            "category_statistics": categories,
            "function_call_stats": _call_statistics(counted),
            "score_distribution": _distribution([float(row.get("score") or 0) for row in counted]),
        }


def _by_category(rows: Sequence[Mapping[str, object]]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        grouped.setdefault(str(row.get("category", "unknown")), []).append(row)
    return {
        category: {
            "total": len(several),
            "success": sum(bool(row["success"]) for row in several),
            "correct": sum(bool(row["success"]) for row in several),
            "accuracy": sum(bool(row["success"]) for row in several) / len(several),
            "average_score": _average(several, "score"),
        }
        for category, several in grouped.items()
    }


def _call_statistics(rows: Sequence[JsonObject]) -> dict[str, object]:
    pairs = [(row, call) for row in rows for call in row.get("predicted") or ()]
    names = sorted({str(call["name"]) for _, call in pairs})
    return {
        "total_function_calls": len(pairs),
        "successful_calls": sum(bool(row["success"]) for row, _ in pairs),
        "unique_functions": len(names),
        "function_names": names,
        "avg_calls_per_sample": share(len(pairs), len(rows)),
    }


def _distribution(scores: Sequence[float]) -> dict[str, object]:
    if not scores:
        return {}
    figures: dict[str, Any] = spread(scores)
    return figures | {"quartiles": {"q1": figures.pop("q1"), "q2": figures["median"], "q3": figures.pop("q3")}}


def _average(rows: Sequence[Mapping[str, object]], key: str) -> float:
    mean = _mean(rows, key)
    return NOTHING if mean is None else mean


def _mean(rows: Sequence[JsonObject], key: str) -> float | None:
    values = [float(row[key]) for row in rows if row.get(key) is not None]
    return fmean(values) if values else None
