"""Check the kinds of the parts that act: a shell, a knowledge base, puzzles and a household, with scripted replies and worlds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path

from proctor.core.sample import JsonObject, Message, Sample
from proctor_benchmarks.agentbench import alfworld, dataset, os_loop, puzzles
from proctor_benchmarks.agentbench.conversation import EndedSample, Play
from proctor_benchmarks.agentbench.knowledge import KnowledgePart, Ontology
from proctor_benchmarks.agentbench.os_loop import OsScript, Ran
from proctor_benchmarks.agentbench.parity_rules import CANCEL, LIMIT, Line, Pair, replay

_ontology = cache(Ontology)
_wording = cache(puzzles.PuzzleWording)


def _play(play: Play, item: Mapping[str, object], replies: Sequence[str]) -> tuple[EndedSample, list[list[str]], int]:
    """Return how an item ends, its history by the official names of roles, and how often the agent was asked.

    A cancelled reply ends a sample as one that does not fit, but for the status.
    """
    given = [LIMIT if reply == CANCEL else reply for reply in replies]
    ended, history, asked = replay(play, Sample(id="", turns=(), meta={"item": item}), given)
    assert ended is not None
    messages = [["agent" if message.role == "assistant" else "user", message.text] for message in history]
    if CANCEL in replies[:asked]:
        messages[-1][1] = "cancelled"
        ended = EndedSample(status="unknown", result=ended.result)
    return ended, messages, asked


class _Machine:
    """A machine that prints what is in the line."""

    def __init__(self, line: Line) -> None:
        self.calls: list[list[object]] = []
        self._outputs = list(line["os_outputs"])
        self._results = list(line["check_results"])

    async def type(self, command: str) -> str:
        self.calls.append(["execute", command])
        return self._outputs.pop(0) if self._outputs else ""

    async def run(self, script: OsScript, *arguments: str) -> Ran:
        self.calls.append(["check", [script.language, script.code], list(arguments)])
        code, output = self._results.pop(0) if self._results else (0, "")
        return Ran(code=code, output=output)


def _os_action(line: Line) -> Pair:
    action = os_loop.read_action(line["text"])
    wanted = {name: line["parsed"][name] for name in ("action", "content")}
    return wanted, {"action": action.name, "content": action.content}


def _os_episode(line: Line, root: Path) -> Pair:
    machine = _Machine(line)
    part = os_loop.OsPart(root, lambda: nullcontext(machine), rounds=line["round_limit"])
    item = {"match": line["match"], "check": line["check"], "example": ["bash", "example"]}
    ended, messages, asked = _play(part, item, line["replies"])
    result = line.get("result", ended.result)  # none is recorded where the official code raised
    return (
        [line["status"], result, line["calls"], line["new_history"], line["asked"]],
        [ended.status, ended.result, machine.calls, messages[-len(line["new_history"]) :], asked],
    )


class _Base:
    """A knowledge base that finds the same for every query."""

    def __init__(self, found: Sequence[str]) -> None:
        self.queries = 0
        self._found = found

    async def relations(self, entity: str) -> Sequence[str]:
        self.queries += 1
        return self._found

    async def find(self, program: str) -> Sequence[str]:
        return await self.relations(program)

    relations_of_all = find


@cache
def _questions(root: Path) -> Sequence[JsonObject]:
    return [sample.meta["item"] for sample in dataset.samples(root, "kg", "dev")]


def _kg_episode(line: Line, root: Path) -> Pair:
    base = _Base(line["kb"])
    part = KnowledgePart(root, _ontology(root), base, rounds=line["round"])
    item = _questions(root)[line["index"]]
    ended, messages, asked = _play(part, item, line["replies"])
    return (
        [line["status"], line["result"], line["queries"], line["new_history"], line["asked"]],
        [ended.status, ended.result, base.queries, messages[-len(line["new_history"]) :], asked],
    )


def _ltp_episode(line: Line, root: Path) -> Pair:
    said = iter(line["host_replies"])
    asked_host: list[str] = []

    async def ask(messages: Sequence[Message]) -> str:
        asked_host.append(messages[-1].text[:60])
        return str(next(said)).strip()

    names = ("story", "truth", "story_key", "answer_key")
    item = dict(zip(names, line["item"], strict=True))
    part = puzzles.PuzzlesPart(_wording(root), ask, rounds=line["rounds"])
    ended, _, asked = _play(part, item, line["replies"])
    return (
        [line["status"], line["result"], line["host_calls"], line["asked"]],
        [ended.status, ended.result, asked_host, asked],
    )


class _Household:
    """A household that only counts."""

    def __init__(self, line: Line) -> None:
        self.actions: list[str] = []
        self._line = line

    async def reset(self) -> alfworld.SeenHousehold:
        return self._seen()

    async def step(self, action: str) -> alfworld.SeenHousehold:
        self.actions.append(action)
        return self._seen()

    def _seen(self) -> alfworld.SeenHousehold:
        count, line = len(self.actions), self._line
        won = count >= line["won_at"]
        return alfworld.SeenHousehold(
            observation="seen", actions=tuple(line["choices"]), won=won, done=won or count >= line["env_ends_at"]
        )


def _alf_episode(line: Line, root: Path) -> Pair:
    household = _Household(line)
    part = alfworld.AlfworldPart(root, lambda _: nullcontext(household), rounds=line["max_step"])
    ended, _, _ = _play(part, {"game": "pick_and_place/trial/game.tw-pddl"}, line["replies"])
    assert ended.result is not None
    return (
        [line["status"], line["result"], line["actions"], line["rounds"]],
        [ended.status, ended.result["result"], household.actions, len(ended.result["log"])],
    )


CHECKS: Mapping[str, Callable[[Line], Pair]] = {
    "os_action": _os_action,
    "alf_action": lambda line: (line["action"] or None, alfworld.choose(line["text"], line["choices"]) or None),
    "alf_observation": lambda line: (line["shown"], alfworld.shorten(line["raw"])),
}
WITH_CLONE = {
    "os_episode": _os_episode,
    "kg_episode": _kg_episode,
    "ltp_episode": _ltp_episode,
    "alf_episode": _alf_episode,
}
