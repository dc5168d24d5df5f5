"""Decide when an episode ends, read what the judge gives, and add it up, as officially.

Source: sotopia 0.1.5 (`package`) and a0aaafb440e5 (`main`), `envs/evaluators.py`, `database/evaluation_dimensions.py`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from proctor_benchmarks.sotopia.actions import Edition, UnreadAction, read_object

ENVIRONMENT = "Environment"
RANGES: Mapping[str, tuple[int, int]] = {
    "believability": (0, 10),
    "relationship": (-5, 5),
    "knowledge": (0, 10),
    "secret": (-10, 0),
    "social_rules": (-10, 0),
    "financial_and_material_benefits": (-5, 5),
    "goal": (0, 10),
}
OVERALL = "overall_score"
MOST_TURNS, MOST_STALE = 20, 2
TOO_LONG = "The conversation is too long; "
TOO_FEW = "Too few active agents; "
STALE = "The conversation stales for too long; "

_WHOLE = re.compile(r"\s*[+-]?[0-9]+(_[0-9]+)*(\.0+)?\s*\Z")  # the whole numbers that pydantic reads in strings

Rating = tuple[str, int | float | bool]
Response = tuple[str, tuple[Rating, str]]


def ending(
    acts: Sequence[tuple[str, str]],
    turn: int,
    *,
    most_turns: int = MOST_TURNS,
    most_stale: int = MOST_STALE,
    players: Sequence[str] | None = None,
) -> str:
    """Return why an episode is over, '' while it goes on.

    Args:
        acts: the messages so far, each with who speaks and what kind of action it is.
        players: who is there, in `main`; without it, those who were seen.
    """
    said = [(name, kind) for name, kind in acts if name != ENVIRONMENT]
    last = dict(said)  # of each player, the latest
    everyone = set(players if players is not None else last)
    active = sum(last.get(name, "speak") != "leave" for name in everyone) if everyone else 2
    stale = 0
    for _, kind in reversed(said):
        if kind != "none":
            break
        stale += 1
    return (
        (TOO_LONG if turn >= most_turns else "")
        + (TOO_FEW if active < 2 else "")
        + (STALE if stale > most_stale else "")
    )


def points(value: object, low: int, high: int) -> int | None:
    """Return the points that a value of a judge is read as; None if it is none, or out of its range.

    >>> points("5.0", 0, 10), points(True, 0, 10), points(4.5, 0, 10), points(11, 0, 10)
    (5, 1, None, None)
    """
    if isinstance(value, str):
        value = int(float(value)) if len(value) < 50 and _WHOLE.match(value) else None
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if isinstance(value, int) and low <= value <= high else None


def read_ratings(reply: str, edition: Edition) -> list[dict[str, tuple[str, int]]]:
    """Return reasons and points by dimension of each player, in the order of the reply.

    Raises:
        Unread: something in it is missing or out of its range, which spoils all of it.
    """
    value, _ = read_object(reply, edition)
    given = value.get("evaluations")
    if not isinstance(given, dict) or (edition == "main" and len(value) > 1):
        raise UnreadAction("no evaluations, or something next to them")
    return [_of_player(entry, edition) for entry in given.values()]


def responses_of(read: Sequence[Mapping[str, tuple[str, float]]]) -> list[Response]:
    """Return the ratings of the players, in their order, as responses to be added up."""
    return [
        (f"agent_{number}", ((name, value), why))
        for number, one in enumerate(read, 1)
        for name, (why, value) in one.items()
    ]


def _of_player(given: object, edition: Edition) -> dict[str, tuple[str, int]]:
    if not isinstance(given, dict) or (edition == "main" and not given.keys() <= RANGES.keys()):
        raise UnreadAction("no ratings of a player")
    found: dict[str, tuple[str, int]] = {}
    for name, (low, high) in RANGES.items():
        reason, value = _pair(given.get(name), edition)
        read = points(value, low, high)
        if read is None or not isinstance(reason, str):
            raise UnreadAction(f"no points of {name}")
        found[name] = (reason, read)
    return found


def _pair(value: object, edition: Edition) -> tuple[object, object]:
    if edition == "package":
        return (value[0], value[1]) if isinstance(value, list) and len(value) == 2 else (None, None)
    is_pair = isinstance(value, dict) and value.keys() == {"reasoning", "score"}
    return (value["reasoning"], value["score"]) if isinstance(value, dict) and is_pair else (None, None)


class Rates(msgspec.Struct, frozen=True):
    """What all evaluators said together: whether it is over, and the ratings of the first two players."""

    terminated: bool
    p1_rate: tuple[float, dict[str, float | bool]] | None
    p2_rate: tuple[float, dict[str, float | bool]] | None
    comments: str

    def words(self) -> str:
        """Return the rating in the words of the official log."""
        lines = (
            "Environment response:",
            "The conversation is terminated." if self.terminated else "",
            f"Rating of participant 1{self.p1_rate}" if self.p1_rate is not None else "",
            f"Rating of participant 2{self.p2_rate}" if self.p2_rate is not None else "",
            *self.comments.split("\n"),
        )
        text = "\n".join(line.lstrip(" ") for line in lines).strip()
        return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


def aggregate(responses: Sequence[Response]) -> Rates:
    """Add up responses; the overall score of a player is the plain mean over dimensions, whatever their ranges.

    Raises:
        ValueError: a response of another than `environment` and `agent_…`, or `terminated` is no truth value.
    """
    by_player: dict[str, list[tuple[Rating, str]]] = {}
    for name, response in responses:
        if name != "environment" and not name.startswith("agent"):
            raise ValueError(f"'{name}' is neither environment nor agent")
        if response[0][0] == "terminated" and not isinstance(response[0][1], bool):
            raise ValueError("'terminated' is no truth value")
        by_player.setdefault(name, []).append(response)
    reduced = {name: _reduced(pairs) for name, pairs in by_player.items()}
    over, reasons = reduced.pop("environment", ({}, ""))
    comments = f"Environment comments: {reasons}\n" if reasons else ""
    for name, (_, said) in reduced.items():
        comments += f"{name.replace('_', ' ').title()} comments:\n{said}\n" if said else ""
    return Rates(
        bool(over.get("terminated", False)), _rate(reduced.get("agent_1")), _rate(reduced.get("agent_2")), comments
    )


def _reduced(found: Sequence[tuple[Rating, str]]) -> tuple[dict[str, float | bool], str]:
    values: dict[str, list[float]] = {}
    said: dict[str, str] = {}
    for (name, value), reason in found:
        values.setdefault(name, []).append(value)
        said[name] = said.get(name, "") + reason
    made: dict[str, float | bool] = {
        name: any(each) if name == "terminated" else sum(each) / len(each) for name, each in values.items()
    }
    scores = [value for name, value in made.items() if name != "terminated"]
    if scores and OVERALL not in made:
        made[OVERALL] = sum(scores) / len(scores)
    return made, "\n".join(f"{name}: {reason}" for name, reason in said.items())


def _rate(reduced: tuple[dict[str, float | bool], str] | None) -> tuple[float, dict[str, Any]] | None:
    if reduced is None or reduced == ({}, ""):
        return None
    values = {name: float(value) for name, value in reduced[0].items()}
    return values.get(OVERALL, 0), values
