"""Check the goals of a scenario on a trajectory, by rules that need no model."""

import re
import unicodedata
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from proctor.core.sample import ToolCall, ToolResult
from proctor.core.trajectory import Step, Trajectory
from proctor.trajectory_matching.arguments import canonical


class Goal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that has to be reached; all conditions that are named have to hold.

    Attributes:
        answer: any of these phrases in the last message.
        said: any of these phrases in a message.
        call, arguments, texts: the tool that was called and reported no error, with at least these arguments, and with all
            of these phrases in an argument that is text.
        state, equals: the value at a dotted path of the environment's state at the end.
        by: the agent whose messages and calls count; any when empty.
    """

    name: str
    answer: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    call: str = ""
    arguments: Mapping[str, object] = {}
    texts: Mapping[str, tuple[str, ...]] = {}
    state: str = ""
    equals: object = None
    by: str = ""

    def __post_init__(self) -> None:
        if not (self.answer or self.said or self.call or self.state):
            raise ValueError(f"the goal '{self.name}' has no condition: answer, said, call or state")
        if not all(phrase.strip() for phrase in (*self.answer, *self.said)):
            raise ValueError(f"the goal '{self.name}' has an empty phrase")


def is_reached(goal: Goal, trajectory: Trajectory) -> bool:
    """True if all conditions of the goal hold."""
    steps = [step for step in trajectory.steps if step.author != "user" and step.message.role != "user"]
    texts = [step.message.text for step in steps if step.message.role == "assistant" and is_by(step, goal.by)]
    return (
        (not goal.answer or any(occurs(phrase, trajectory.answer) for phrase in goal.answer))
        and (not goal.said or any(occurs(phrase, text) for phrase in goal.said for text in texts))
        and (not goal.call or _is_called(goal, trajectory))
        and (not goal.state or _has(trajectory.state, goal.state, goal.equals))
    )


def is_by(step: Step, agent: str) -> bool:
    """True if the step is by the agent, whose name hand-off tools may write in another way; '' is any."""
    return not agent or plain_name(step.author) == plain_name(agent)


@lru_cache(maxsize=1_000)
def plain_name(name: str) -> str:
    """Return a name as far as it tells agents apart.

    >>> plain_name("Price Analyst") == plain_name("price_analyst")
    True
    """
    return re.sub(r"[\W_]+", "", name).casefold()


def occurs(phrase: str, text: str) -> bool:
    """True if a phrase is in a text, in upper or lower case, and not as a part of a longer word or number.

    >>> occurs("49", "It costs 49 euros."), occurs("49", "149"), occurs("49", "49.50"), occurs("49", "共49元")
    (True, False, False, True)
    """
    wanted, text = (" ".join(unicodedata.normalize("NFKC", one).casefold().split()) for one in (phrase, text))
    before = r"(?<![a-z0-9])(?<![0-9][.,])" if re.match(r"[a-z0-9]", wanted) else ""
    after = r"(?![a-z0-9])(?![.,][0-9])" if re.search(r"[a-z0-9]$", wanted) else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", text) is not None  # a plain phrase: linear


def result_by_call(trajectory: Trajectory) -> dict[tuple[int, int], ToolResult]:
    """Return the result of each call, by the numbers of its step and of the call: that with its id, else the next of its name."""
    waiting: dict[str, deque[tuple[int, int]]] = {}
    results: dict[tuple[int, int], ToolResult] = {}
    for number, step in enumerate(trajectory.steps):
        if step.author == "user":
            continue
        for index, call in enumerate(step.message.calls):
            for key in (f"id {call.id}", f"name {call.name}"):
                waiting.setdefault(key, deque()).append((number, index))
        for part in step.message.parts:
            if isinstance(part, ToolResult):
                for key in (f"id {part.id}", f"name {part.name}"):
                    queue = waiting.get(key, deque())
                    while queue and queue[0] in results:
                        queue.popleft()
                    if queue and key != "id ":
                        results[queue.popleft()] = part
                        break
    return results


def is_failure(result: ToolResult) -> bool:
    """True if the tool reported an error; CrewAI does so in words."""
    return result.is_error or result.content.lstrip().startswith("Error executing t")


def _is_called(goal: Goal, trajectory: Trajectory) -> bool:
    results = result_by_call(trajectory)
    return any(
        call.name == goal.call
        and _fits(call, goal)
        and not ((number, index) in results and is_failure(results[number, index]))
        for number, step in enumerate(trajectory.steps)
        if step.author != "user" and is_by(step, goal.by)
        for index, call in enumerate(step.message.calls)
    )


def _fits(call: ToolCall, goal: Goal) -> bool:
    arguments = call.arguments
    return all(
        name in arguments and canonical(arguments[name]) == canonical(value) for name, value in goal.arguments.items()
    ) and all(
        occurs(phrase, str(arguments.get(name, ""))) for name, phrases in goal.texts.items() for phrase in phrases
    )


def _has(state: Mapping[str, object] | None, path: str, wanted: object) -> bool:
    here: object = state
    for name in path.split("."):
        if isinstance(here, Mapping) and name in here:
            here = here[name]
        elif (
            isinstance(here, Sequence) and not isinstance(here, str) and name.isdecimal() and int(name[:9]) < len(here)
        ):
            here = here[int(name)]
        else:
            return False
    return canonical(here) == canonical(wanted)
