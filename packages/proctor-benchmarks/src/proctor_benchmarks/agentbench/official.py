"""The official statuses and aggregates: shares of statuses, one overall result for each part, and one number for all.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/client/task.py`, `src/analysis.py` and `calculate_overall` of each
task. The weights are those of table 3 of the paper (arXiv 2308.03688), of which the code knows nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from proctor.core.errors import BadInput
from proctor.core.sample import JsonObject
from proctor_benchmarks.agentbench import db_answer

Status = Literal[
    "running",
    "completed",
    "agent context limit",
    "agent validation failed",
    "agent invalid action",
    "task limit reached",
    "unknown",
    "task error",
]
STATUSES: tuple[Status, ...] = get_args(Status)
BROKEN: tuple[Status, ...] = ("unknown", "task error", "running")  # of a finished run: something around the agent broke

Part = Literal["os", "db", "kg", "cards", "puzzles", "alfworld", "webshop", "mind2web"]
PARTS: tuple[Part, ...] = get_args(Part)
_PREFIXES: Mapping[Part, tuple[str, ...]] = {  # of official task names, tried in the official order
    "cards": ("cg", "dcg"),
    "alfworld": ("alf",),
    "os": ("os", "operating"),
    "db": ("db", "database"),
    "kg": ("kg", "knowledge"),
    "puzzles": ("ltp", "literal"),
    "mind2web": ("m2w", "mind2web"),
    "webshop": ("ws", "webshop"),
}
TASKS: Mapping[Part, str] = {  # the official name of a task is this and its split
    "os": "os", "db": "dbbench", "kg": "kg", "cards": "cg",
    "puzzles": "ltp", "alfworld": "alfworld", "webshop": "webshop", "mind2web": "m2w",
}  # fmt: skip
MEAN_PERCENT: Mapping[Part, float] = {  # of the models in the paper; an agent as good as they are on average has 1 overall
    "os": 10.8, "db": 13.0, "kg": 13.9, "cards": 12.0,
    "puzzles": 3.5, "alfworld": 13.0, "webshop": 30.7, "mind2web": 11.6,
}  # fmt: skip
CARD_HEALTH = 1600
_KEPT: Mapping[Part, Sequence[str]] = {
    "cards": ("meta",),
    "puzzles": ("progress", "accuracy", "efficiency", "relevance"),
    "webshop": ("reward",),
    "mind2web": ("final_prediction",),
}

Result = Any  # what the official code keeps of a sample: an object, or None
Rows = Sequence[tuple[Result, Any]]  # results with their targets


def part_of(task: str) -> Part:
    """Return the part that an official task name means.

    Raises:
        BadInput: none.

    >>> part_of("dbbench-std"), part_of("KnowledgeGraph-dev"), part_of("CardGame-dev")
    ('db', 'kg', 'cards')
    """
    name = task.lower()
    for part, prefixes in _PREFIXES.items():
        if name.startswith(prefixes) or (part == "cards" and "card" in name):
            return part
    raise BadInput("'{task}' is none of the tasks of AgentBench.", task=task)


def validation(statuses: Sequence[Status], history_lengths: Sequence[int]) -> dict[str, float]:
    """Return the share of each status over all results, and the lengths of their histories."""
    shares: dict[str, float] = {status: statuses.count(status) / len(statuses) for status in STATUSES}
    return {
        **shares,
        "average_history_length": sum(history_lengths) / len(history_lengths),
        "max_history_length": max(history_lengths),
        "min_history_length": min(history_lengths),
    }


def report(shares: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each outcome category of the paper; broken trials count with those that reached the limit."""
    return {
        "Completed": shares["completed"],
        "Context Limit Exceeded": shares["agent context limit"],
        "Invalid Format": shares["agent validation failed"],
        "Invalid Action": shares["agent invalid action"],
        "Task Limit Exceeded": sum(shares[name] for name in ("task limit reached", "unknown", "task error")),
    }


def overall(part: Part, rows: Rows) -> dict[str, object]:
    """Return the official result of a part over its samples, as in `overall.json` under `custom`."""
    return _OVERALL[part](rows)


def main_metric(part: Part, custom: JsonObject) -> float:
    """Return the number of a part that goes into the tables, out of its overall result."""
    match part:
        case "os":
            return float(custom["overall"]["acc"])
        case "db":
            return float(custom["overall_cat_accuracy"])
        case "alfworld":
            return float(custom["overall"]["success_rate"])
        case "cards":
            return float(custom["score"])
        case "webshop":
            return float(custom["reward"])
        case "mind2web":
            return float(custom["step_sr"]) / 100
        case "kg" | "puzzles":
            return float(custom["main"])


def weighted(metric_by_part: Mapping[Part, float]) -> float:
    """Return the overall score of the paper: each part in percent, divided by its mean over the models of the paper.

    GPT-4 of June 2023, as in the paper:

    >>> found = {"os": 42.4, "db": 32.0, "kg": 58.8, "cards": 74.5, "puzzles": 16.6, "alfworld": 78.0, "webshop": 61.1, "mind2web": 29.0}
    >>> round(weighted({part: value / 100 for part, value in found.items()}), 2)
    4.01
    """
    return sum(metric_by_part[part] * 100 / MEAN_PERCENT[part] for part in PARTS) / len(PARTS)


def points(part: Part, result: Result, target: object) -> float:
    """Return what one sample earns, 0 to 1; where the main metric is no mean, it is what the sample alone would have."""
    if not isinstance(result, Mapping):
        return 0.0
    value = _POINTS[part](result, target)
    return min(1.0, max(0.0, value))


def kept(part: Part, result: Result) -> Result:
    """Return as much of a result as the official aggregates read."""
    if not isinstance(result, Mapping) or part not in _KEPT:
        return result
    return {key: result[key] for key in _KEPT[part] if key in result}


def _passes(key: str, is_passed: Callable[[Any], bool]) -> Callable[[Rows], dict[str, object]]:
    def counted(rows: Rows) -> dict[str, object]:
        passed = sum(bool(result) and is_passed(result) for result, _ in rows)
        share = passed / len(rows) if rows else 0
        return {"overall": {"total": len(rows), "pass": passed, "wrong": len(rows) - passed, key: share}}

    return counted


def _is_solved(result: Mapping[str, object]) -> bool:
    return bool(result.get("result", False))


def _is_won(result: Mapping[str, object]) -> bool:
    return bool(int(result.get("result", 0) == 1))


def f1(predicted: Iterable[str], target: Iterable[str]) -> float:
    """Return the F1 of two sets; 0 where they share nothing, also when both are empty.

    >>> f1(["a", "b", "b"], ["a"]), f1([], [])
    (0.6666666666666666, 0.0)
    """
    given, wanted = set(predicted), set(target)
    both = len(given & wanted)
    if not both:
        return 0.0
    precision, recall = both / len(given), both / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _knowledge(rows: Rows) -> dict[str, object]:
    pairs = [(set(result["predict"]), set(target)) for result, target in rows if isinstance(result, dict)]
    score = sum(f1(predicted, wanted) for predicted, wanted in pairs) / len(rows)
    return {
        "main": score,
        "F1": score,
        "EM": sum(predicted == wanted for predicted, wanted in pairs) / len(rows),
        "executability": sum(bool(predicted) for predicted, _ in pairs) / len(rows),
    }


def _cards(rows: Rows) -> dict[str, Any]:
    games = [game for result, _ in rows for game in result["meta"].values()]
    won, played, damage = (sum(game[key] for game in games) for key in ("win_round", "test_times", "damage"))
    if not played:
        return {"win_round": won, "total_round": played, "win_rate": -1, "damage_rate": -1, "score": -1}
    share = damage / (CARD_HEALTH * len(games))
    return {
        "win_round": won,
        "total_round": played,
        "win_rate": won / played,
        "damage_rate": share,
        "score": won / played * 0.7 + min(0.3, share * 0.3),
    }


def _puzzles(rows: Rows) -> dict[str, object]:
    keys = {"main": "progress", "SGA": "accuracy", "RE": "efficiency", "QR": "relevance", "GP": "progress"}
    return {name: sum(result[key] for result, _ in rows if result) / len(rows) for name, key in keys.items()}


def _webshop(rows: Rows) -> dict[str, object]:
    rewards = [result["reward"] for result, _ in rows if result]
    return {"reward": sum(rewards) / len(rewards) if rewards else 0}


def word_f1(predicted: str, target: str) -> float:
    """Return the F1 of the sets of words of two actions; 1 if both have none.

    >>> word_f1("TYPE new york", "TYPE york york new"), word_f1(" ", "CLICK")
    (1.0, 0.0)
    """
    given, wanted = predicted.split(), target.split()
    return 1.0 if not given and not wanted else f1(given, wanted)


def _step(result: Result, target: Any) -> tuple[float, float]:
    prediction = result["final_prediction"]
    if prediction is None or target is None:
        return 0.0, 0.0
    return float(prediction[0] in target["element"]), word_f1(prediction[1], target["action"])


def _mind2web(rows: Rows) -> dict[str, object]:
    steps = [_step(result, target) for result, target in rows]
    solved = sum(element > 0 and action >= 1 for element, action in steps)
    element_sum, action_sum = sum(element for element, _ in steps), sum(action for _, action in steps)
    count = len(steps)
    return {
        "element_acc": element_sum / count * 100,
        "action_f1": action_sum / count * 100,
        "step_sr": solved / count * 100,
    }


_OVERALL: Mapping[Part, Callable[[Rows], dict[str, Any]]] = {
    "os": _passes("acc", _is_solved),
    "db": lambda rows: db_answer.overall([(result, target) for result, target in rows]),
    "kg": _knowledge,
    "cards": _cards,
    "puzzles": _puzzles,
    "alfworld": _passes("success_rate", _is_won),
    "webshop": _webshop,
    "mind2web": _mind2web,
}
_POINTS: Mapping[Part, Callable[[JsonObject, Any], float]] = {
    "os": lambda result, _: float(_is_solved(result)),
    "db": lambda result, target: float(db_answer.is_right(result["answer"], result["type"], target)),
    "kg": lambda result, target: f1(result["predict"], target),
    "cards": lambda result, _: max(0.0, float(_cards([(result, None)])["score"])),
    "puzzles": lambda result, _: float(result["progress"]),
    "alfworld": lambda result, _: float(_is_won(result)),
    "webshop": lambda result, _: float(result["reward"]),
    "mind2web": lambda result, target: float(_step(result, target) == (1.0, 1.0)),
}
