"""Check the kinds that are rules alone: scores, aggregates, parsers, windows, and loops with scripted replies."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import JsonObject, Message, Sample
from proctor_benchmarks.agentbench import cards, dataset, db_answer, mind2web, official
from proctor_benchmarks.agentbench.conversation import EMPTY, EndedSample, History, Play, segments, window
from proctor_benchmarks.agentbench.webshop import WebShop

LIMIT, CANCEL = "!limit", "!cancel"
_STATUSES = {LIMIT: "agent context limit", CANCEL: "cancelled", "": EMPTY}  # what takes the place of no reply
Line = JsonObject
Pair = tuple[object, object]


def replay(play: Play, sample: Sample, replies: Sequence[str]) -> tuple[EndedSample | None, History, int]:
    """Play a sample with scripted replies, without an agent; how it ended, the history, and how often the agent was asked.

    When the replies are used up, the agent's context is full. A reply that was cancelled ends the sample as `unknown`, which
    for us is none of the loop's business.
    """
    return asyncio.run(_replay(play, sample, replies))


async def _replay(play: Play, sample: Sample, replies: Sequence[str]) -> tuple[EndedSample | None, History, int]:
    history: History = []
    loop = play(sample, history)
    asked = 0
    try:
        ended = await anext(loop)
        while ended is None:
            reply = replies[asked] if asked < len(replies) else LIMIT
            asked += 1
            history.append(Message.of("assistant", _STATUSES.get(reply, reply)))
            if reply == CANCEL:
                return EndedSample(status="unknown"), history, asked
            ended = await loop.asend(None if reply == LIMIT else reply)
    finally:
        await loop.aclose()
    return ended, history, asked


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _db_hash(line: Line) -> Pair:
    result = {"answer": line["answer"], "type": line["type"]}
    accuracies = db_answer.overall([(result, line["label"])])
    return line["own"], {name: accuracies[f"{name}_accuracy"] for name in line["own"]}


def _db_overall(line: Line) -> Pair:
    rows = [
        (None if answer is None else {"answer": answer, "type": kind}, label) for answer, kind, label in line["rows"]
    ]
    return line["overall"], official.overall("db", rows)


def _db_fc_answer(line: Line) -> Pair:
    answer = line["answer"]
    if isinstance(answer, list):  # JSON knows no tuples, and rows of the database are some
        answer = [tuple(row) if isinstance(row, list) else row for row in answer]
    return line["correct"], db_answer.is_right_with_functions(answer, line["type"], line["label"])


def _overall(part: official.Part) -> Callable[[Line], Pair]:
    def check(line: Line) -> Pair:
        targets = line.get("targets", [None] * len(line["results"]))
        results = [None, *line["results"][1:]] if line.get("first_missing") else line["results"]
        return line["overall"], official.overall(part, list(zip(results, targets, strict=True)))

    return check


def _m2w_overall(line: Line) -> Pair:
    rows = [
        ({"final_prediction": output}, target) for output, target in zip(line["outputs"], line["targets"], strict=True)
    ]
    return line["overall"], official.overall("mind2web", rows)


class _Shop:
    """A shop that only counts."""

    observation = "shop"

    def __init__(self, line: Line) -> None:
        self.actions: list[str] = []
        self._line = line

    def reset(self, goal: int) -> None:
        self.actions.clear()

    def get_available_actions(self) -> dict[str, object]:
        return {"has_search_bar": True, "clickables": []}

    def step(self, action: str) -> tuple[str, float, bool, None]:
        self.actions.append(action)
        done = len(self.actions) >= self._line["done_at"]
        return "shop", self._line["final_reward"] if done else 0.0, done, None


def _ws_episode(line: Line) -> Pair:
    shop = _Shop(line)
    sample = Sample(id="", turns=(), meta={"item": {"goal": 0}})
    ended, _, _ = replay(WebShop(lambda: shop, ()), sample, line["replies"])
    assert ended is not None
    assert ended.result is not None
    ours = {"actions": shop.actions, "status": ended.status, "reward": ended.result["reward"], "turns": len(ended.result["history"])}  # fmt: skip
    return {name: line[name] for name in ours}, ours


_TAIL = 40  # characters


def _window(line: Line) -> Pair:
    contents = line["contents"] or ["word " * count for _, count in line["lengths"]]
    roles: Mapping[str, Literal["user", "assistant"]] = {"user": "user", "agent": "assistant"}
    messages = [Message.of(roles[role], text) for (role, _), text in zip(line["lengths"], contents, strict=True)]
    try:
        seen = window(messages)
    except EnvironmentFailed:
        return line["result"], {"raises": "AssertionError: Invalid message length"}
    names = ["agent" if message.role == "assistant" else "user" for message in seen]
    tail = seen[0].text[-_TAIL:]
    if not line["contents"] and len(messages[0].text) < _TAIL:  # its head is not recorded; the notice is
        official = line["result"].get("first_tail", "")
        tail = official if tail.partition("[NOTICE]")[2] == official.partition("[NOTICE]")[2] else tail
    return line["result"], {"kept": len(seen), "first_tail": tail, "roles": names}


def _validation(line: Line) -> Pair:
    shares = official.validation(line["statuses"], line["history_lengths"])
    return [line["validation"], line["report"]], [shares, official.report(shares)]


def _os_problem(line: Line, root: Path) -> Pair:
    problem = _problems(root, "dev" if line["part"] == "os-dev" else "std")[line["index"]]
    ours = {
        "image": problem["image"],
        "init": len(problem["init"]),
        "start": problem["start"] is not None,
        "evaluation": "check" if problem["check"] else "match",
        "checks": problem["check"] and [script and script[0] for script in problem["check"]],
        "match_keys": problem["match"] and sorted(problem["match"]),
        "description_sha256": sha256(problem["description"]),
    }
    return {name: line[name] for name in ours}, ours


@cache
def _problems(root: Path, split: dataset.Split) -> Mapping[str, JsonObject]:
    return {sample.meta["index"]: sample.meta["item"] for sample in dataset.samples(root, "os", split)}


CHECKS: Mapping[str, Callable[[Line], Pair]] = {
    "db_answer": lambda line: (line["correct"], float(db_answer.is_right(line["answer"], line["type"], line["label"]))),
    "db_hash": _db_hash,
    "db_overall": _db_overall,
    "db_fc_answer": _db_fc_answer,
    "os_overall": _overall("os"),
    "kg_overall": _overall("kg"),
    "cg_overall": _overall("cards"),
    "ltp_overall": _overall("puzzles"),
    "alf_overall": _overall("alfworld"),
    "cg_game": lambda line: (line["for_agent"], [cards.tally(line["games"], player) for player in (0, 1)]),
    "m2w_parse": lambda line: (line["parsed"], list(mind2web.parse(line["text"]))),
    "m2w_f1": lambda line: (line["f1"], official.word_f1(line["pred"], line["label"])),
    "m2w_overall": _m2w_overall,
    "ws_episode": _ws_episode,
    "window": _window,
    "segments": lambda line: (line["count"], segments(line["text"])),
    "validation": _validation,
    "main_metric": lambda line: (
        line["main"],
        official.main_metric(official.part_of(line["task"]), line["overall"]["custom"]),
    ),
}
WITH_CLONE = {"os_problem": _os_problem}
