"""`adk:openai:MODEL`: the user of a conversation scenario of google-adk, a model that follows its plan.

    {"eval_id": "trip", "conversation_scenario": {"starting_prompt": "I want to travel.",
     "conversation_plan": "Ask for a hotel in Rome below 100, and book it.", "user_persona": "NOVICE"}}

The rules are those of google-adk: the starting prompt is said as it is, `</finished>` ends the conversation, and it has 20
turns at most (src/google/adk/evaluation/simulation/llm_backed_user_simulator.py, release 2.7.1).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec

from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.parts import UserPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory
from proctor.models import ledger, named
from proctor.users.conduct import UserExchange, check_words
from proctor.users.model import ask

STOP = "</finished>"
MAX_TURNS = 20
PERSONAS = {
    "EXPERT": "You know the subject well. You are precise, give all that is needed at once, and notice mistakes.",
    "NOVICE": "You know little of the subject. You speak vaguely, give details only when asked, and ask what words mean.",
    "EVALUATOR": "You test the agent: you stick to the plan to the letter and accept nothing that is half done.",
}
RULES = (
    "You play a user who talks with an agent. Say only what the user says next, in the language of the conversation.",
    "Answer what the agent asks, from the plan alone; if the plan does not tell, say that you do not know. When a request is "
    "fulfilled, go on to the next one of the plan. When the agent is wrong or fails, say so and let it try once more.",
)
ENDING = (
    "Reply with {stop} and nothing else when all of the plan is done, or when the agent failed twice or cannot go on."
)


class AdkUserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The turns that a conversation has at most, the first one counted; the other options are those of the model."""

    max_turns: Annotated[int, msgspec.Meta(ge=1)] | None = None


class AdkUserModelOptions(AdkUserOptions, frozen=True, kw_only=True):
    """The same with the name of the model."""

    model: str


def make(argument: str, options: Mapping[str, object], *, seed: int = 0) -> "ScenarioUser":
    """Return the user `adk:MODEL`.

    Raises:
        BadInput: no such model, or a wrong option.
    """
    if not argument:
        raise BadInput("A simulated user needs a model. Name one, for example --user adk:openai:MODEL")
    rest = dict(options)
    own = converted({key: rest.pop(key) for key in ("max_turns",) if key in rest}, AdkUserOptions, "user")
    return ScenarioUser(named.model(argument, rest, defaults={"seed": seed} if seed else {}), own.max_turns)


def user_of(given: str | Mapping[str, object], max_turns: int | None = None) -> "ScenarioUser":
    """Return the user behind `openai:MODEL`, or behind an object with the model, `max_turns` and the options of the model.

    Args:
        max_turns: what the files say, where the object does not.

    Raises:
        BadInput: no such model, or a wrong option.
    """
    given = {"model": given} if isinstance(given, str) else dict(given)
    own = {key: given.pop(key) for key in AdkUserModelOptions.__struct_fields__ if key in given}
    options = converted(own, AdkUserModelOptions, "user")
    return ScenarioUser(named.model(options.model, given), options.max_turns or max_turns)


class ScenarioUser(named.OpenedModels):
    """Plays the user of every sample that has a scenario; the other samples are over after their own turns.

    Attributes:
        unpriced: its model, if the price is not known.
    """

    def __init__(self, model: Model, max_turns: int | None = None) -> None:
        super().__init__([model])
        self.model = model
        self.unpriced = ledger.unpriced(model)
        self.max_turns = max_turns

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return what the user says next; None when the conversation is over.

        Raises:
            UserFailed: the model failed, or did not do as a user does.
        """
        scenario, said = sample.known.scenario, UserExchange(sample, trajectory)
        if scenario is None or said.turns >= (self.max_turns or MAX_TURNS):
            return None
        asked = [
            Message.of("system", _instructions(scenario)),
            Message.of("user", "\n\n".join(_history(sample, trajectory)) + "\n\nWhat does the user say next?"),
        ]
        text = await ask(self.model, asked)
        if STOP in text.lower():
            return None
        check_words(text, said, RULES)
        return Turn(messages=(Message.of("user", text),))


def _instructions(scenario: Mapping[str, object]) -> str:
    persona = scenario.get("user_persona")
    if isinstance(persona, str):
        persona = PERSONAS.get(persona, persona)
    elif persona is not None:
        persona = json.dumps(persona, ensure_ascii=False, indent=1)
    about = f"\n# Who you are\n{persona}\n" if persona else ""
    first, rest = RULES
    return f"{first}\n\n{rest} {ENDING.format(stop=STOP)}\n\n# Plan\n{scenario['conversation_plan']}\n{about}"


def _history(sample: Sample, trajectory: Trajectory) -> Iterator[str]:
    """Yield what was said so far, without calls and thoughts."""
    yield f"user: {sample.question}"
    for step in trajectory.steps:
        if step.message.role in ("user", "assistant") and step.message.text:
            yield f"{'user' if step.message.role == 'user' else 'agent'}: {step.message.text}"


PART = UserPart(make=make, options=AdkUserOptions, is_seeded=True)
