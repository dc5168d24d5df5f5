"""Our rules against recorded results of the official code, run with scripted players and judges.

A line has an `id`, an `edition`, a `kind` and what that kind needs:

    {"id": "range-3", "edition": "main", "kind": "range", "dimension": "secret", "score": -3, "accepted": -3}
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from proctor.core.parity import Checked
from proctor.runtime.json_file import read_json_lines
from proctor_benchmarks.sotopia import averages, ratings, wording
from proctor_benchmarks.sotopia.actions import (
    SILENCE,
    ActionType,
    Edition,
    PlayerAction,
    UnreadAction,
    read_action,
    read_script,
    read_script_line,
)
from proctor_benchmarks.sotopia.episode import EpisodeRules, Order, SotopiaEpisode, history_for_judge
from proctor_benchmarks.sotopia.scene import Profile, Scene, Setting, rendered

NAMES = ("Ann Lee", "Bob Ray")
DOWN = "!error"  # a request that failed
MARGIN = 0.02  # how far the official margins may be off, as their t is drawn at random: 1.4 % with two episodes
_DONE = "hi"


class SotopiaLine(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded result; which fields there are depends on `kind`."""

    id: str
    edition: Edition
    kind: str
    messages: list[tuple[str, str]] = []
    turn_number: int = 0
    max_turn_number: int = 20
    max_stale_turn: int = 2
    env_agents: list[str] | None = None
    terminated: tuple[bool, str] = (False, "")
    responses: list[tuple[str, tuple[tuple[str, bool | int | float], str]]] = []
    result: Any = None
    dimension: str = ""
    low: int = 0
    high: int = 0
    score: object = None
    accepted: object = None
    replies: list[str] = []
    calls: int = 0
    prompt_sha256: list[str] = []
    history: str = ""
    action: dict[str, object] = {}
    action_type: ActionType = "none"
    argument: str = ""
    to: list[str] = []
    text: str = ""
    parsed: object = None
    actions: Any = None
    viewer: str = ""
    shown: str = ""
    action_order: Order = "round-robin"
    agents: list[str] = []
    goals: list[str] = []
    scenario: str = ""
    relationship: int = 0
    plans: list[list[tuple[ActionType, str]]] = []
    judge: bool = False
    judge_replies: list[str] = []
    judge_calls: int = 0
    model: str = ""
    episodes: list[tuple[str, tuple[str, ...], list[tuple[float, dict[str, float]]]]] = []
    averages: Any = None
    margins_seed0: Any = {}  # of an average that raises there is none


def check_corpus(path: Path, data: str | None = None) -> Iterator[Checked]:  # noqa: ARG001 - the rules need no data
    """Check every line.

    Raises:
        BadInput: a line that cannot be read; names file and line.
    """
    for _, line in read_json_lines(path, SotopiaLine):
        if line.kind not in RULES:
            yield Checked.unknown(msgspec.structs.asdict(line))
            continue
        official, ours = RULES[line.kind](line)
        official, ours = json.loads(json.dumps([official, ours]))
        yield Checked(
            id=line.id,
            agrees=ours == official,
            ours=str(ours)[:400],
            official=str(official)[:400],
            rule=f"{line.edition} {line.kind}",
        )


def _terminate(line: SotopiaLine) -> tuple[object, object]:
    why = ratings.ending(
        line.messages,
        line.turn_number,
        most_turns=line.max_turn_number,
        most_stale=line.max_stale_turn,
        players=line.env_agents,
    )
    return line.terminated, (bool(why), why)


def _aggregate(line: SotopiaLine) -> tuple[object, object]:
    try:
        rates = ratings.aggregate(line.responses)
    except ValueError:
        return _outcome(line.result), RAISES
    return line.result, {**msgspec.to_builtins(rates), "text": rates.words()}


def _range(line: SotopiaLine) -> tuple[object, object]:
    low, high = ratings.RANGES[line.dimension] if line.kind == "range" else (line.low, line.high)
    points = ratings.points(line.score, low, high)
    return line.accepted, "INVALID" if points is None else points


def _judge(line: SotopiaLine) -> tuple[object, object]:
    acts = [(name, _message(name, kind, line.edition)) for name, kind in line.messages]
    inbox = [(name, text) for name, text in acts]
    history = history_for_judge(inbox)
    judged = _Judged(line.replies, line.edition)
    responses = judged.responses(history, len({name for name, _ in acts if name != ratings.ENVIRONMENT}))
    found = [[name, list(rating), why] for name, (rating, why) in responses]
    return (
        [line.calls, line.history, line.prompt_sha256, line.result],
        [judged.calls, history, judged.prompts, found],
    )


def _player(line: SotopiaLine) -> tuple[object, object]:
    calls, action = 0, SILENCE
    for reply in line.replies[: 1 if line.edition == "package" else 2]:
        calls += 1
        if reply == DOWN:
            break
        try:
            action = read_action(reply, line.edition, NAMES, NAMES[0])
            break
        except UnreadAction:
            continue
    return [line.calls, line.action], [calls, _plain(action, line.edition)]


def _script_line(line: SotopiaLine) -> tuple[object, object]:
    try:
        return line.parsed, msgspec.to_builtins(read_script_line(line.text))
    except ValueError:
        return _outcome(line.parsed), RAISES


def _script(line: SotopiaLine) -> tuple[object, object]:
    try:
        pairs = read_script(line.text, NAMES)
    except (ValueError, IndexError):
        return _outcome(line.actions), RAISES
    return line.actions, [[name, action.action_type, action.argument] for name, action in pairs]


def _episode(line: SotopiaLine) -> tuple[object, object]:
    rules = EpisodeRules(
        edition=line.edition, order=line.action_order, max_turns=line.max_turn_number, max_stale=line.max_stale_turn
    )
    profiles = tuple(_profile(name, index) for index, name in enumerate(line.agents))
    setting = Setting(scenario=line.scenario, agent_goals=tuple(line.goals), relationship=line.relationship)
    episode = SotopiaEpisode(Scene(setting=setting, profiles=profiles), rules)
    plans = [iter(plan) for plan in line.plans]
    observed: list[object] = []
    while not episode.ended:
        observed = [[episode.turn, sorted(episode.available(index)), text] for index, text in enumerate(episode.seen)]
        episode.step(
            [
                PlayerAction(*next(plan, ("none", ""))) if may else SILENCE
                for plan, may in zip(plans, episode.may_act, strict=True)
            ]
        )
    ended: ratings.Response = ("environment", (("terminated", True), episode.ended))
    judged = _Judged(line.judge_replies, line.edition)
    asked = line.judge or line.edition == "package"  # the release cannot end an episode without a judge
    speakers = {name for name, _ in episode.inbox if name != ratings.ENVIRONMENT}
    responses = judged.responses(history_for_judge(episode.inbox), len(speakers)) if asked else []
    both = ratings.aggregate([ended]), ratings.aggregate(responses)
    ours = {
        "messages": episode.log,
        "reasoning": both[0].comments + both[1].comments,
        "rewards": [0] * len(line.agents),  # officially always
        "turns": episode.turn,
        "last_aggregates": [{"terminated": one.terminated, "p1_rate": one.p1_rate, "p2_rate": one.p2_rate} for one in both],
        "observed": observed,
    }  # fmt: skip
    return [{name: line.result[name] for name in ours}, line.judge_calls], [ours, judged.calls]


def _benchmark(line: SotopiaLine) -> tuple[object, object]:
    results = [
        averages.EpisodeResult(name, models, tuple(reward for _, reward in both))
        for name, models, both in line.episodes
    ]
    try:
        means, margins = averages.averages(results, line.model)
    except ValueError:
        return _outcome(line.averages), RAISES
    official = {name: round(value, 9) for name, value in line.averages.items()}
    near = {
        name: value if abs(margins[name] - value) <= MARGIN * value + 0.0005 else margins[name]
        for name, value in line.margins_seed0.items()
    }
    return [official, line.margins_seed0], [{name: round(value, 9) for name, value in means.items()}, near]


RAISES = "RAISES"
RULES: Mapping[str, Callable[[SotopiaLine], tuple[object, object]]] = {
    "terminate": _terminate,
    "aggregate": _aggregate,
    "range": _range,
    "range_custom": _range,
    "judge": _judge,
    "player": _player,
    "action_text": lambda line: (
        line.text,
        PlayerAction(line.action_type, line.argument, tuple(line.to)).words(line.edition),
    ),
    "script_line": _script_line,
    "script": _script,
    "render": lambda line: (line.shown, rendered(line.text, line.viewer)),
    "episode": _episode,
    "benchmark": _benchmark,
}


class _Judged:
    """A judge with recorded replies, which keeps how often and with which prompts it was asked."""

    def __init__(self, replies: Sequence[str], edition: Edition) -> None:
        self.calls = 0
        self.prompts: list[str] = []
        self._replies = replies
        self._edition = edition

    def responses(self, history: str, players: int) -> list[ratings.Response]:
        """Return what officially comes of the replies: nothing after any failure, and never anything in `main`."""
        prompt = wording.ask_judge(history, players, self._edition)
        for reply in self._replies[:2]:
            self.calls += 1
            self.prompts.append(sha256(prompt.encode()).hexdigest())
            if reply == DOWN:
                return []
            try:
                read = ratings.read_ratings(reply, self._edition)
            except UnreadAction:
                prompt = wording.ask_again(reply, wording.official().ratings[self._edition])
                continue
            return [] if self._edition == "main" else ratings.responses_of(read[:players])
        return []


def _message(name: str, kind: str, edition: Edition) -> str:
    """Return the text of a message of a recorded judge line: that of an action, but for the environment."""
    if name == ratings.ENVIRONMENT:
        return kind
    return PlayerAction(msgspec.convert(kind, ActionType), _DONE).words(edition)


def _plain(action: PlayerAction, edition: Edition) -> dict[str, object]:
    to = {"to": list(action.to)} if edition == "main" else {}
    return {"action_type": action.action_type, "argument": action.argument, **to}


def _profile(name: str, index: int) -> Profile:
    first, _, last = name.partition(" ")
    return Profile(
        first_name=first,
        last_name=last,
        age=30 + index,
        occupation="Baker",
        gender="Woman",
        gender_pronoun="She/her",
        public_info="Likes tea.",
        personality_and_values="calm",
        secret="owes money",  # noqa: S106 - no password
    )


def _outcome(recorded: object) -> object:
    return RAISES if isinstance(recorded, str) and recorded.startswith(RAISES) else recorded
