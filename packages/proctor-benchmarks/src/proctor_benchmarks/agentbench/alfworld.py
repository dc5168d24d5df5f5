"""Play a game of ALFWorld: the agent picks actions in a household that is described in words.

Source: THUDM/AgentBench, v0.2, commit 41e6807349f7, `src/server/tasks/alfworld/task.py` and `utils.py`; the likeness of
actions is BLEU-4 of NLTK with its smoothing method 4 (Chen and Cherry 2014).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from proctor.core.errors import EnvironmentFailed
from proctor.core.sample import Message, Sample
from proctor.runtime.json_file import read_json
from proctor_benchmarks.agentbench.conversation import EndedSample, History, Loop
from proctor_benchmarks.agentbench.official import Status
from proctor_benchmarks.agentbench.source_texts import SourceTexts

ROUNDS = 35
REPEATS = 3  # equal replies that end a game, once there are more rounds than that
LEAST_LIKENESS = 0.01
FOLDER = "src/server/tasks/alfworld"
PROMPTS = "prompts/alfworld_multiturn_plan_first.json"
READY = "OK. I'll follow your instructions and try my best to solve the task."
ACTIONS = "AVAILABLE ACTIONS"
EXAMPLES = {
    "pick_and_place": "put",
    "pick_clean_then_place": "clean",
    "pick_heat_then_place": "heat",
    "pick_cool_then_place": "cool",
    "look_at_obj": "examine",
    "pick_two_obj": "puttwo",
}
_ORDERS = (1, 2, 3, 4)
_SMOOTHING = 5


class SeenHousehold(msgspec.Struct, frozen=True, kw_only=True):
    """What a household shows: at the start, or after an action."""

    observation: str
    actions: tuple[str, ...] = ()
    won: int = 0
    done: bool = False


class Household(Protocol):
    """A game of one attempt."""

    async def reset(self) -> SeenHousehold: ...

    async def step(self, action: str) -> SeenHousehold: ...


class AlfworldPart:
    """Plays games; `make` opens the household of a game."""

    def __init__(
        self, root: Path, make: Callable[[str], AbstractAsyncContextManager[Household]], rounds: int = ROUNDS
    ) -> None:
        self._instructions = str(SourceTexts(root / FOLDER / "task.py").returned("get_task_instruction"))
        self._examples: Mapping[str, Sequence[str]] = read_json(root / FOLDER / PROMPTS)
        self._make = make
        self._rounds = rounds

    async def __call__(self, sample: Sample, history: History) -> Loop:
        """Play a game.

        The agent sees the list of actions only in the last message: it is removed from the one before.
        """
        game: str = sample.meta["item"]["game"]
        log: list[dict[str, object]] = []
        async with self._make(game) as household:
            seen = await household.reset()
            start = "Here is your task. " + "\n".join(seen.observation.split("\n\n")[1:]) + _offer(seen)
            history += [*self._opening(game), Message.of("user", start)]
            status: Status = "task limit reached"
            while len(log) < self._rounds:
                reply = yield None
                if reply is None:
                    status = "agent context limit"
                    break
                if not (action := choose(reply, seen.actions)):
                    status = "agent invalid action"
                    break
                history[-2] = Message.of("user", history[-2].text.split(ACTIONS)[0])
                offered, seen = seen.actions, await household.step(action)
                observation = shorten(seen.observation)
                history.append(Message.of("user", observation + _offer(seen)))
                log.append({"round": len(log) + 1, "output": reply, "action": action, "admissible_commands": [*offered], "observation": observation, "done": seen.done})  # fmt: skip
                if len(log) > REPEATS and len({entry["output"] for entry in log[-REPEATS:]}) == 1:
                    status = "agent invalid action"
                    break
                if seen.done:
                    status = "completed"
                    break
            won = int(seen.won) if status == "completed" else 0
            yield EndedSample(status=status, result={"log": log, "init_prompt": start, "result": won})

    def _opening(self, game: str) -> list[Message]:
        """Return the instructions, and the example for the kind of a game."""
        name = "/".join(game.split("/")[-3:-1])
        example = next((self._examples[key] for prefix, key in EXAMPLES.items() if name.startswith(prefix)), None)
        if example is None:
            raise EnvironmentFailed("The game {path} cannot be played: {error}", kind="game", path=game, error=name)
        texts = [self._instructions, READY, f"Here is one example.\n{example[0]}", *example[1:]]
        return [Message.of("assistant" if position % 2 else "user", text) for position, text in enumerate(texts)]


def _offer(seen: SeenHousehold) -> str:
    return f" {ACTIONS}: " + "\n".join(seen.actions) + "\n"


def shorten(observation: str) -> str:
    """Return an observation without its first sentence if that says where the agent arrived.

    >>> shorten("You arrive at loc 12. On it you see a mug."), shorten("You arrive at loc 5")
    ('On it you see a mug.', 'ou arrive at loc 5')
    """
    if observation.startswith("You arrive at loc "):
        return observation[observation.find(". ") + 2 :]  # upstream, too, takes one letter away where there is none
    return observation


def choose(text: str, actions: Sequence[str]) -> str | None:
    """Return the action that a reply names, or the one most like it; None if it names none.

    >>> choose("ACTION: put apple 1 in fridge", ["look", "put apple 1 in/on fridge 1"])
    'put apple 1 in/on fridge 1'
    """
    named = re.search("ACTION:(.*)", text)
    if named is None:
        return None
    action = named[1].strip().lower().split("\n")[0]
    if not actions or action in actions:
        return action
    likeness = BleuLikeness(action)
    scores = [likeness.to(one) for one in actions]
    best = max(range(len(scores)), key=scores.__getitem__)
    return actions[best] if scores[best] > LEAST_LIKENESS else action


class BleuLikeness:
    """The smoothed BLEU-4 of the words of a text; of one word, the orders that it does not have are left out."""

    def __init__(self, text: str) -> None:
        words = text.split()
        self._length = len(words)
        self._grams = [_grams(words, order) for order in _ORDERS]

    def to(self, reference: str) -> float:
        """Return how much like a reference the text is, 0 to 1."""
        wanted = reference.split()
        precisions: list[float] = []
        halvings = 1
        for order, counter in zip(_ORDERS, self._grams, strict=True):
            common: float = sum(min(count, counter[gram]) for gram, count in _grams(wanted, order).items())
            if order == 1 and not common:
                return 0.0
            if not common and self._length > 1:
                common = 1 / (2**halvings * _SMOOTHING / math.log(self._length))
                halvings += 1
            if common:
                precisions.append(common / max(1, self._length - order + 1))
        brevity = 1.0 if self._length > len(wanted) else math.exp(1 - len(wanted) / self._length)
        return brevity * math.exp(math.fsum(math.log(precision) / len(_ORDERS) for precision in precisions))


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))
