"""Stands in for lm-eval in a worker: the same calls, without its library. The name of the task says how it behaves."""

from typing import Any

BETTER = {"length": False, "exact_match": True, "rating": True}  # of others nobody says it


def plan(task: str, arguments: dict[str, Any]) -> dict[str, Any]:
    metrics = {"rated": ["rating"], "silent": ["exact_match", "tone"]}.get(task, ["exact_match", "length"])
    return {
        "sources": [{"source": "someone/sums", "name": "main", "revision": ""}],
        "documents": [
            {
                "id": str(n),
                "prompt": f"What is {n} + 3?",
                "settings": {"until": [f"{n}"] if task == "moody" else ["\n"], "top_k": 5},
                "target": str(n + 3),
            }
            for n in range(4)
        ],
        "metrics": [{"name": name, "filter": "none", "higher_is_better": BETTER.get(name)} for name in metrics],
    }


def score(task: str, arguments: dict[str, Any], id: str, replies: list[str]) -> dict[str, Any]:
    (reply,) = replies
    rating = {"rating": 1.0 + int(id)}
    exact = {"exact_match": float(reply == str(int(id) + 3))}
    others = {"tone": 1.0, "surprise": float(id)} if task == "silent" else {"length": 0.5}
    return {"none": rating if task == "rated" else {**exact, **others}}


def totals(task: str, arguments: dict[str, Any], values: dict[str, list[Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: {"error": "ValueError: no"} if name.startswith("length") else {"value": sum(items) / len(items)}
        for name, items in values.items()
    }
