"""The official reward: its parts, and their product over the basis of the task.

The oddities are the rule, and are kept: an expected call is matched by one with fewer arguments, by whoever made it,
also one that failed; a text that has to be said cannot hold a comma; a judge that returns no results passes. The state
of the databases and the assertions on it are found by the official code, see `worker_program.evaluate`.

Source: sierra-research/tau2-bench, commit a2c024725189, `src/tau2/evaluator/*.py`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from proctor.core.sample import JsonObject
from proctor_benchmarks.tau2.dataset import ExpectedAction, Tau2Task
from proctor_benchmarks.tau2.messages import OfficialMessage

ENDS = ("user_stop", "agent_stop")  # whatever else ended the conversation makes the reward 0
DB, ASSERTION, ACTION, COMMUNICATE, NL = "DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"
Part = Literal["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What the worker found: digests of the databases at the end and as expected, assertions, and what was raised.

    `hashes` is None where the task expects no state, which passes.
    """

    hashes: tuple[str | None, str | None] | None = None
    gold: tuple[str | None, str | None] | None = None
    assertions: tuple[bool, ...] | None = None
    raised: tuple[str, str] | None = None

    @property
    def db_match(self) -> bool:
        """True if both databases are as expected."""
        return self.hashes == self.gold


class Rewards(msgspec.Struct, frozen=True, kw_only=True):
    """The reward of one conversation and its parts; `nl` is None where no judge was asked.

    Attributes:
        parts: of the basis alone, by name; empty when the conversation ended early.
        needs_judge: the basis has assertions in natural language, and no judge said whether they are met.
    """

    reward: float
    env: float
    action: float
    communicate: float
    parts: Mapping[str, float] = {}
    actions: tuple[bool, ...] | None = None
    communicated: tuple[bool, ...] | None = None
    needs_judge: bool = False

    @property
    def ignoring_basis(self) -> float:
        """Return the product of the rewards that need no judge; the database counts only if the task's basis includes it."""
        return self.env * self.action * self.communicate


EARLY = Rewards(reward=0.0, env=0.0, action=0.0, communicate=0.0)


def rewards(
    task: Tau2Task, messages: Sequence[OfficialMessage], reason: str, found: Replayed, met: Sequence[bool] | None
) -> Rewards:
    """Return the reward of a conversation.

    Args:
        found: of the worker; nothing in it was raised.
        met: what the judge said of each assertion in natural language; None when none was asked.
    """
    if reason not in ENDS:
        return EARLY
    criteria = task.evaluation_criteria
    if criteria is None:
        return Rewards(reward=1.0, env=1.0, action=1.0, communicate=1.0)
    actions = action_checks(task.actions, messages) if task.actions else None
    communicated = communicate_checks(criteria.communicate_info, messages) if criteria.communicate_info else None
    needs_judge = bool(task.judged_assertions) and met is None
    by_part: dict[str, float] = {}
    if found.hashes is not None:
        by_part = {DB: float(found.db_match), ASSERTION: float(all(found.assertions or ()))}
    by_part |= {
        ACTION: float(all(actions or ())),
        NL: float(all(met or ())),
        COMMUNICATE: float(all(communicated or ())),
    }
    parts = {name: value for name, value in by_part.items() if name in criteria.reward_basis}
    return Rewards(
        reward=float(all(parts.values())),
        env=float(all(value for name, value in parts.items() if name in (DB, ASSERTION))),
        action=by_part[ACTION],
        communicate=by_part[COMMUNICATE],
        parts={name: value for name, value in parts.items() if name != NL or not needs_judge},
        actions=actions,
        communicated=communicated,
        needs_judge=needs_judge,
    )


def action_checks(expected: Sequence[ExpectedAction], messages: Sequence[OfficialMessage]) -> tuple[bool, ...]:
    """Say of each expected call whether some call matches it.

    >>> action_checks([ExpectedAction(name="f", arguments={"x": 25})], [{"role": "user", "tool_calls": [{"name": "f", "arguments": {}}]}])
    (True,)
    """
    calls = [call for message in messages if message["role"] != "tool" for call in message.get("tool_calls") or ()]
    return tuple(any(_matches(action, call) for call in calls) for action in expected)


def _matches(action: ExpectedAction, call: JsonObject) -> bool:
    arguments = call["arguments"]
    keys = arguments.keys() if action.compare_args is None else action.compare_args
    return action.name == call["name"] and (
        {key: value for key, value in arguments.items() if key in keys}
        == {key: value for key, value in action.arguments.items() if key in keys}
    )


def communicate_checks(expected: Sequence[str], messages: Sequence[OfficialMessage]) -> tuple[bool, ...]:
    """Say of each text whether the agent said it: lower-cased, within one message, its commas removed.

    >>> communicate_checks(["327", "1,000"], [{"role": "assistant", "content": "13,275 or 1,000"}])
    (True, False)
    """
    said = [message.get("content") or "" for message in messages if message["role"] == "assistant"]
    plain = [text.lower().replace(",", "") for text in said if text.strip()]
    return tuple(any(text.lower() in one for one in plain) for text in expected)


def partial_actions(
    actions: Sequence[bool] | None, task: Tau2Task, types: Mapping[str, str]
) -> dict[str, object] | None:
    """Return how many of the expected calls were made: of all, of those that read, and of those that write."""
    if not actions:
        return None
    kinds = [types.get(action.name) for action in task.actions]
    return {
        "total": _share(actions),
        "read": _share([met for met, kind in zip(actions, kinds, strict=True) if kind == "read"]),
        "write": _share([met for met, kind in zip(actions, kinds, strict=True) if kind == "write"]),
    }


def _share(met: Sequence[bool]) -> dict[str, object] | None:
    return {"correct": sum(met), "count": len(met), "proportion": sum(met) / len(met)} if met else None


def transcript(messages: Sequence[OfficialMessage]) -> str:
    """Return the conversation as the judge reads it: also results of tools, and `None` where a message only calls."""
    return "\n".join(f"{message['role']}: {message.get('content')}" for message in messages)


class _Result(msgspec.Struct, frozen=True):
    expectedOutcome: str  # noqa: N815 (a key of the reply)
    reasoning: str
    metExpectation: bool | int | float | str  # noqa: N815


def judged(reply: str) -> list[bool]:
    """Return what the judge's reply says of each assertion; neither their count nor their texts are checked.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: the reply has not the form that was asked for, or is in a fence.

    >>> judged('{"results": []}'), judged('{"results": [{"expectedOutcome": "", "reasoning": "", "metExpectation": "no"}]}')
    ([], [False])
    """
    results = json.loads(reply).get("results", [])
    for result in results:
        _ = result["expectedOutcome"], result["metExpectation"], result["reasoning"]
    return [_as_bool(msgspec.convert(result, _Result).metExpectation) for result in results]


def _as_bool(value: object) -> bool:
    """Return a truth value as pydantic reads one."""
    text = str(value).lower() if isinstance(value, bool | str) else f"{value:g}"
    if text in ("true", "1", "yes", "on", "t", "y"):
        return True
    if text in ("false", "0", "no", "off", "f", "n"):
        return False
    raise ValueError(f"no truth value: {text}")
