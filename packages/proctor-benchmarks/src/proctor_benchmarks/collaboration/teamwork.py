"""Measure how several agents worked together, from what they said, called and handed over.

    turn       consecutive steps of one agent: it has the floor (Sacks, Schegloff and Jefferson 1974)
    message    a step with text, or one that hands over
    balance    Pielou's evenness of the turns, H / ln(agents): 1 if all had as many, 0 if one had all (Pielou 1966)
    repeat     a message nearly equal to an earlier one, or a call equal to an earlier one with the same result
               (step repetition, FM-1.3 of MAST: Cemri et al. 2025, arXiv 2503.13657)
    hand-off   a call that passes the floor (`transfer_to_NAME`) or asks another agent (`delegate_work_to_coworker`);
               taken if that agent acts before its giver does again, or answers a question
    failure    a tool's error or a hand-off that was not taken; recovered if the same tool later answers, or the agent acts

`docs/collaboration.md` has the definitions with examples.
"""

import math
import re
import unicodedata
from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.sample import ToolCall, ToolResult
from proctor.core.trajectory import Trajectory
from proctor.trajectory_matching.arguments import canonical
from proctor_benchmarks.collaboration.goals import is_failure, plain_name, result_by_call

Ending = Literal["taken", "refused", "dropped", "returned"]

NEAR = 0.8  # of all runs of three words in either of two messages, the share in both, from which one repeats the other
WORDS_FOR_NEAR = 8  # shorter messages have to be equal
MOST_CHARACTERS = 5_000  # of a message that is compared
MOST_COMPARED = 100  # latest different messages; equal ones are found however long ago they were

_TRANSFER = re.compile(r"(?:transfer|hand_?off|hand_?over)_(?:back_)?to_(.+)")
_DELEGATIONS = ("delegate_work_to_coworker", "ask_question_to_coworker")  # CrewAI
_RECEIVER = ("agent_name", "agent", "coworker", "co_worker", "target", "to", "name", "recipient")
_BOILERPLATE = re.compile(r"transferring (?:back )?to \S+", re.IGNORECASE)  # what langgraph-supervisor adds itself
_UNIT = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]", re.IGNORECASE)  # a word, or one character of other scripts


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """A hand-off: `refused` by its tool or for an agent that is not there, `dropped` by its receiver, `returned` without work."""

    giver: str
    receiver: str
    ending: Ending


class Share(msgspec.Struct, kw_only=True):
    """What one agent did; its own calls only, without hand-offs."""

    turns: int = 0
    messages: int = 0
    calls: int = 0
    tokens: int = 0


class Teamwork(msgspec.Struct, frozen=True, kw_only=True):
    """What a team did in one attempt; `tokens` is None where nothing was recorded.

    Attributes:
        failures, recovered: errors of tools and hand-offs that were not taken, and how many were made good.
    """

    agents: Mapping[str, Share]
    messages: int
    calls: int
    tokens: int | None
    handoffs: tuple[Handoff, ...]
    failures: int
    recovered: int

    @property
    def balance(self) -> float | None:
        """Return the evenness of the turns; None for fewer than two agents, or none that acted."""
        turns = [share.turns for share in self.agents.values()]
        if len(turns) < 2 or not sum(turns):
            return None
        shares = [count / sum(turns) for count in turns if count]
        return min(1.0, max(0.0, -sum(share * math.log(share) for share in shares) / math.log(len(turns))))

    def details(self) -> dict[str, object]:
        """Return all of it as JSON values."""
        fields: dict[str, object] = msgspec.to_builtins(self)
        return fields | {"turns_balance": self.balance}


class _Act(msgspec.Struct, frozen=True, kw_only=True):
    """A step of an agent: its text, its own calls and its hand-offs, each with its result."""

    author: str
    text: str = ""
    calls: tuple[tuple[ToolCall, ToolResult | None], ...] = ()
    given: tuple[tuple[str, bool, ToolResult | None], ...] = ()  # the receiver, if it is asked only, and the result
    tokens: int | None = None

    @property
    def says_something(self) -> bool:
        return bool(self.text or self.calls or self.given)

    @property
    def only_gives(self) -> bool:
        return bool(self.given) and not self.calls and (not self.text or bool(_BOILERPLATE.fullmatch(self.text)))


def measure(trajectory: Trajectory, team: Sequence[str] = (), tools: Sequence[str] = ()) -> Teamwork:
    """Return what a team did.

    Args:
        team: the agents there are; those that act, when none are named.
        tools: names of further tools that hand over.
    """
    every = list(_acts(trajectory, team, tools))
    acts = [act for act in every if act.says_something]
    names = {plain_name(name): name for name in reversed([*team, *(act.author for act in acts)])}
    shares: dict[str, Share] = {name: Share() for name in [names[plain_name(member)] for member in team]}
    previous = ""
    for act in every:
        share = shares.setdefault(names.get(plain_name(act.author), act.author), Share())
        share.tokens += act.tokens or 0
        if act.says_something:
            share.turns += plain_name(act.author) != previous
            share.messages += bool(act.text or act.given)
            share.calls += len(act.calls)
            previous = plain_name(act.author)
    shares = {name: share for name, share in shares.items() if share.turns or plain_name(name) in map(plain_name, team)}
    handoffs = list(_handoffs(acts, team))
    failed = [*_tool_failures(acts), *_handoff_failures(acts, handoffs)]
    counted = [act.tokens for act in every if act.tokens is not None]
    return Teamwork(
        agents=shares,
        messages=sum(share.messages for share in shares.values()),
        calls=sum(share.calls for share in shares.values()),
        tokens=sum(counted) if counted else None,
        handoffs=tuple(handoff for _, handoff in handoffs),
        failures=len(failed),
        recovered=sum(failed),
    )


def count_repeats(trajectory: Trajectory, team: Sequence[str] = (), tools: Sequence[str] = ()) -> int:
    """Return how many messages and calls repeat earlier ones, of all that `measure` counts; it takes longer than the rest."""
    acts = [act for act in _acts(trajectory, team, tools) if act.says_something]
    return _repeated_texts(acts) + _repeated_calls(acts)


def _acts(trajectory: Trajectory, team: Sequence[str], tools: Sequence[str]) -> Iterator[_Act]:
    result_of = result_by_call(trajectory)
    speakers = {plain_name(step.author) for step in trajectory.steps}
    for number, step in enumerate(trajectory.steps):
        if step.message.role != "assistant" or step.author == "user":
            continue
        calls, given = [], []
        for index, call in enumerate(step.message.calls):
            result = result_of.get((number, index))
            receiver, is_asked = _receiver(call, team, tools)
            if receiver:
                given.append((receiver, is_asked, result))
            else:
                calls.append((call, result))
        tokens = None if step.usage is None else step.usage.input_tokens + step.usage.output_tokens
        yield _Act(author=step.author, text=step.message.text.strip(), calls=tuple(calls), given=tuple(given), tokens=tokens)  # fmt: skip
        for receiver, is_asked, result in given:  # what an agent answers as a tool is its message, if it has no steps
            if is_asked and result is not None and not is_failure(result) and plain_name(receiver) not in speakers:
                yield _Act(author=receiver, text=result.content.strip())


def _receiver(call: ToolCall, team: Sequence[str], tools: Sequence[str]) -> tuple[str, bool]:
    """Return whom a call hands over to, and whether that agent is only asked; '' if it is no hand-off."""
    name = re.sub(r"\W+", "_", call.name.strip()).strip("_").lower()
    named = next((str(call.arguments[key]).strip() for key in _RECEIVER if call.arguments.get(key)), "")
    if name in _DELEGATIONS:
        return named or "?", True
    match = _TRANSFER.fullmatch(name)
    if match is not None:
        return (named or "?" if match[1] in ("agent", "coworker") else match[1]), False
    if call.name in tools:
        return named or "?", False
    member = next((each for each in team if plain_name(each) == plain_name(call.name)), "")  # an agent that is a tool
    return member, bool(member)


def _handoffs(acts: Sequence[_Act], team: Sequence[str]) -> Iterator[tuple[int, Handoff]]:
    """Yield every hand-off with the number of its act."""
    known = {plain_name(name): name for name in reversed([*(act.author for act in acts), *team])}
    next_by_author = _next_by_author(acts)
    for number, act in enumerate(acts):
        for receiver, is_asked, result in act.given:
            giver, to = plain_name(act.author), plain_name(receiver)
            begun = next_by_author[number].get(to, len(acts))
            again = next_by_author[number].get(giver, len(acts))
            ending: Ending
            if (result is not None and is_failure(result)) or to == giver or (team and to not in map(plain_name, team)):
                ending = "refused"
            elif is_asked and result is not None:
                ending = "taken" if result.content.strip() else "dropped"
            elif begun >= again:
                ending = "dropped"
            else:
                ending = "returned" if _is_returned(acts, begun, giver) else "taken"
            yield number, Handoff(giver=act.author, receiver=known.get(to, receiver), ending=ending)


def _next_by_author(acts: Sequence[_Act]) -> list[Mapping[str, int]]:
    """Return for each act that hands over where its own agent and those it hands over to act next."""
    coming: dict[str, int] = {}
    entries: list[Mapping[str, int]] = []
    for number in reversed(range(len(acts))):
        act = acts[number]
        asked = (act.author, *(receiver for receiver, _, _ in act.given)) if act.given else ()
        entries.append({key: coming[key] for key in map(plain_name, asked) if key in coming})
        coming[plain_name(act.author)] = number
    return entries[::-1]


def _is_returned(acts: Sequence[_Act], begun: int, giver: str) -> bool:
    """True if all the receiver does with the floor is to hand back."""
    floor = acts[begun]
    ends = begun + 1 == len(acts) or plain_name(acts[begun + 1].author) != plain_name(floor.author)
    return ends and floor.only_gives and all(plain_name(receiver) == giver for receiver, _, _ in floor.given)


def _tool_failures(acts: Sequence[_Act]) -> Iterator[bool]:
    """Yield for each error of a tool whether the same tool answered later."""
    results = [(call.name, result) for act in acts for call, result in act.calls if result is not None]
    answered: set[str] = set()
    for name, result in reversed(results):
        if is_failure(result):
            yield name in answered
        else:
            answered.add(name)


def _handoff_failures(acts: Sequence[_Act], handoffs: Sequence[tuple[int, Handoff]]) -> Iterator[bool]:
    """Yield for each hand-off not taken whether its receiver worked later, or its giver later found another."""
    last_taken = {plain_name(handoff.giver): number for number, handoff in handoffs if handoff.ending == "taken"}
    last_work = {plain_name(act.author): number for number, act in enumerate(acts) if not act.only_gives}
    for number, handoff in handoffs:
        if handoff.ending != "taken":
            yield max(last_taken.get(plain_name(handoff.giver), -1), -1 if handoff.ending == "refused" else last_work.get(plain_name(handoff.receiver), -1)) > number  # fmt: skip


def _repeated_texts(acts: Sequence[_Act]) -> int:
    known: set[str] = set()
    latest: deque[frozenset[tuple[str, ...]]] = deque(maxlen=MOST_COMPARED)
    count = 0
    for act in acts:
        if not act.text or act.only_gives:
            continue
        units = _UNIT.findall(unicodedata.normalize("NFKC", act.text[:MOST_CHARACTERS]).casefold())
        mark = " ".join(units) or act.text
        runs = frozenset(zip(units, units[1:], units[2:], strict=False)) if len(units) >= WORDS_FOR_NEAR else frozenset()  # fmt: skip
        if mark in known or (runs and any(_is_near(runs, other) for other in latest)):
            count += 1
        elif runs:
            latest.append(runs)
        known.add(mark)
    return count


def _is_near(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    if not NEAR * len(other) <= len(one) <= len(other) / NEAR:
        return False
    both = len(one & other)
    return both >= NEAR * (len(one) + len(other) - both)


def _repeated_calls(acts: Sequence[_Act]) -> int:
    """Count calls that brought nothing new; one that failed before is tried again, which is no repeat."""
    known: dict[Hashable, str | None] = {}
    count = 0
    for act in acts:
        for call, result in act.calls:
            mark = (call.name, call.raw if call.raw is not None else canonical(call.arguments))
            content = None if result is None else result.content
            if result is not None and is_failure(result):
                continue
            count += mark in known and known[mark] == content
            known[mark] = content
    return count
