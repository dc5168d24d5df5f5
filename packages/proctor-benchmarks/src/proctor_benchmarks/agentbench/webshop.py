"""Play WebShop by the official loop, in a shop that the user brings.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/webshop/__init__.py`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from proctor.core.sample import Message, Sample
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_benchmarks.agentbench.official import Status

ROUNDS = 10
_ACTION = re.compile(r"[Aa]ction: *\n* *((search|click)\[.+?])")


class Shop(Protocol):
    """The environment of the official package: `WebAgentTextEnv` with `observation_mode="text"` and `human_goals=True`."""

    observation: str

    def reset(self, goal: int) -> object: ...

    def get_available_actions(self) -> Mapping[str, object]: ...

    def step(self, action: str) -> tuple[str, float, bool, object]: ...


def action_of(reply: str) -> str | None:
    """Return the first action in a reply, up to its first closing bracket.

    >>> action_of("Thought:\\nI think\\n\\nAction:\\nsearch[red [x] shoe]"), action_of("ACTION: click[b]")
    ('search[red [x]', None)
    """
    match = _ACTION.search(reply)
    return match.group(1) if match else None


class WebShop:
    """Plays samples in shops, one for each attempt."""

    def __init__(self, make_shop: Any, opening: Sequence[Message]) -> None:
        self._make_shop = make_shop
        self._opening = opening

    async def __call__(self, sample: Sample, history: History) -> Loop:
        """Play one sample; a reply that did not fit counts as one without an action, as officially."""
        shop: Shop = self._make_shop()
        shop.reset(sample.meta["item"]["goal"])
        history += self._opening
        observation, reward = shop.observation, 0.0
        status: Status = "task limit reached"
        rounds: list[dict[str, object]] = []
        for _ in range(ROUNDS):
            available = shop.get_available_actions()
            history.append(Message.of("user", f"Observation:\n{observation}\n\nAvailable Actions:\n{available}"))
            reply = yield None
            action = action_of(reply or "")
            rounds.append({"observation": observation, "available_actions": available, "response": reply, "action": action})  # fmt: skip
            if action is None:
                reward, status = 0.0, "agent validation failed"
                break
            observation, reward, done, _ = shop.step(action)
            rounds[-1] |= {"reward": reward, "done": done}
            if done:
                status = "completed"
                break
        yield EndedSample(status=status, result={"reward": reward, "history": rounds})
