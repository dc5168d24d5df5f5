"""Our rules against recorded results of the official code: speeches, debates, predictions and agreement.

A line has an `id`, a `kind` and what that kind needs:

    {"id": "kappa-0", "kind": "kappa", "predictions": ["tie"], "targets": ["gpt35"], "kappa": 0.0}

The official code keeps for the next item who heard whom; debates of several items are played with that too.
"""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.core.parity import Checked
from proctor.core.sample import Message
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.chateval import verdicts
from proctor_judging.judges.debating import DebateRules, DebateSeat, Referee, debate, has_scores

CLOSING = "END with two score lines."
_VISIBILITY = {"llmeval_blind_judge": "blind_judge"}
_DOWN, _RATE = "!down", "!rate"


class ChatEvalLine(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded result; which fields there are depends on `kind`."""

    id: str
    kind: str
    text: str = ""
    turn: int = 0
    max_turns: int = 4
    referees: int | tuple[str, ...] = 0
    accepted: bool | str = False
    order: Literal["sequential", "concurrent", "random"] = "sequential"
    visibility: str = "all"
    items: int = 1
    replies: dict[str, list[str]] = {}
    asked: tuple[str, ...] = ()
    sent: list[object] = []
    method: verdicts.Method = "majority_vote"
    human: tuple[str, ...] = ()
    results: tuple[Any, ...] = ()
    reversed_results: tuple[tuple[str, ...], ...] = ()
    result: dict[str, Any] = {}
    predictions: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    kappa: float | str | None = None


KINDS = ("reply_check", "debate", "kappa", "score", "vote")


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - the rules need no data
    """Check every line.

    Raises:
        BadInput: a line that cannot be read; names file and line.
    """
    for _, line in read_json_lines(path, ChatEvalLine):
        if line.kind not in KINDS:
            yield Checked.unknown(msgspec.structs.asdict(line))
            continue
        official, ours = _both(line)
        yield Checked(
            id=line.id, agrees=_same(ours, official), ours=str(ours)[:200], official=str(official)[:200], rule=line.kind
        )


def _both(line: ChatEvalLine) -> tuple[object, object]:
    """Return the official result of a line, and ours."""
    match line.kind:
        case "reply_check":
            assert isinstance(line.referees, int)
            is_last = line.turn >= line.max_turns - line.referees
            return line.accepted is True, has_scores(line.text, is_last=is_last)  # else what the official code raised
        case "kappa":
            return line.kappa, _kappa(line)
        case "debate":
            return (
                {"asked": list(line.asked), "sent": line.sent, "results": list(line.results)},
                asyncio.run(_play(line)),
            )
        case _:
            predictions = verdicts.predictions(line.method, line.results, line.reversed_results)
            labels = line.human * 2 if line.method == "adversarial" else line.human
            ours = {"accuracy": verdicts.accuracy(predictions, labels), "predictions": predictions}
            if "kappa" in line.result:
                ours["kappa"] = verdicts.kappa(predictions, labels)
            return line.result, ours


def _kappa(line: ChatEvalLine) -> float | str | None:
    try:
        return verdicts.kappa(line.predictions, line.targets)
    except ValueError:
        return "RAISES"


async def _play(line: ChatEvalLine) -> dict[str, object]:
    """Play the debates of a line with its recorded replies."""
    assert isinstance(line.referees, tuple)
    names = line.referees
    left = {name: list(line.replies.get(name, ())) for name in names}
    asked: list[str] = []
    sent: list[list[object]] = []

    async def ask(number: int, messages: Sequence[Message]) -> str | None:
        while True:  # a rate limit begins the tries again, for ever
            asked.append(names[number])
            heard = [message.text for message in messages[1:-1]]
            sent.append([len(messages), messages[-1].text, CLOSING in messages[0].text, heard])
            reply = left[names[number]].pop(0) if left[names[number]] else ""
            if reply == _DOWN:
                return None
            if reply != _RATE:
                return reply

    players = [Referee(DebateSeat(name=name, opening="", last_opening=CLOSING, closing=CLOSING)) for name in names]
    rules = DebateRules(
        order=line.order,
        visibility=msgspec.convert(_VISIBILITY.get(line.visibility, line.visibility), Literal["all", "oneself", "blind_judge"]),
        turns=line.max_turns,
    )  # fmt: skip
    results = []
    for _ in range(line.items):
        played = await debate(players, rules, ask)
        evaluation = [{"role": speech.role, "evaluation": speech.text} for speech in played.evaluation]
        results.append({"evaluation": evaluation, "memory_sizes": [len(player.memory) for player in players]})
    return {"asked": asked, "sent": sent, "results": results}


def _same(ours: object, official: object) -> bool:
    if isinstance(ours, float) and isinstance(official, int | float):
        return abs(ours - official) < 1e-12
    if isinstance(ours, dict) and isinstance(official, dict):
        return ours.keys() == official.keys() and all(_same(ours[name], official[name]) for name in ours)
    return ours == official or (ours == "RAISES" and str(official).startswith("RAISES"))
