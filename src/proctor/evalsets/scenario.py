"""The simulated user of cases that are no conversation but the scenario of one: a model that follows a plan.

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
from proctor.core.errors import PartFailed, UserFailed
from proctor.core.sample import Message, Sample, Turn
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory
from proctor.models import ledger, named

STOP = "</finished>"
MAX_TURNS = 20
PERSONAS = {
    "EXPERT": "You know the subject well. You are precise, give all that is needed at once, and notice mistakes.",
    "NOVICE": "You know little of the subject. You speak vaguely, give details only when asked, and ask what words mean.",
    "EVALUATOR": "You test the agent: you stick to the plan to the letter and accept nothing that is half done.",
}
INSTRUCTIONS = """You play a user who talks with an agent. Say only what the user says next, in the language of the conversation.

Answer what the agent asks, from the plan alone; if the plan does not tell, say that you do not know. When a request is \
fulfilled, go on to the next one of the plan. When the agent is wrong or fails, say so and let it try once more. Reply with \
{stop} and nothing else when all of the plan is done, or when the agent failed twice or cannot go on.

# Plan
{plan}
{persona}"""


class UserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The model of the simulated user, and the turns that a conversation has at most, the first one counted."""

    model: str
    max_turns: Annotated[int, msgspec.Meta(ge=1)] | None = None


class ScenarioUser(named.Opened):
    """Plays the user of every sample that has a scenario; the other samples are over after their own turns."""

    def __init__(self, model: Model, max_turns: int = MAX_TURNS) -> None:
        super().__init__([model])
        self.model = model
        self._max_turns = max_turns

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return what the user says next; None when the conversation is over.

        Raises:
            UserFailed: the model failed, or said nothing.
        """
        scenario = sample.known.scenario
        if scenario is None or 1 + max((step.turn for step in trajectory.steps), default=0) >= self._max_turns:
            return None
        asked = [
            Message.of("system", _instructions(scenario)),
            Message.of("user", "\n\n".join(_history(sample, trajectory)) + "\n\nWhat does the user say next?"),
        ]
        try:
            step = await self.model.complete(asked)
        except PartFailed as error:
            raise UserFailed(error.sentence, kind=error.kind) from error
        ledger.spend(step.usage)
        said = step.message.text.strip()
        if STOP in said.lower():
            return None
        if not said:
            raise UserFailed("The model of the simulated user said nothing ({stop}).", kind="no_reply", stop=step.stop)
        return Turn(messages=(Message.of("user", said),))


def user_of(given: str | Mapping[str, object], max_turns: int | None = None) -> ScenarioUser:
    """Return the user behind `openai:MODEL`, or behind an object with the model, `max_turns` and the options of the model.

    Args:
        max_turns: what the files say, where the object does not.

    Raises:
        BadInput: no such model, or a wrong option.
    """
    given = {"model": given} if isinstance(given, str) else dict(given)
    own = {key: given.pop(key) for key in UserOptions.__struct_fields__ if key in given}
    options = converted(own, UserOptions, "user")
    return ScenarioUser(named.model(options.model, given), options.max_turns or max_turns or MAX_TURNS)


def _instructions(scenario: Mapping[str, object]) -> str:
    persona = scenario.get("user_persona")
    if isinstance(persona, str):
        persona = PERSONAS.get(persona, persona)
    elif persona is not None:
        persona = json.dumps(persona, ensure_ascii=False, indent=1)
    return INSTRUCTIONS.format(
        stop=STOP, plan=scenario["conversation_plan"], persona=f"\n# Who you are\n{persona}\n" if persona else ""
    )


def _history(sample: Sample, trajectory: Trajectory) -> Iterator[str]:
    """Yield what was said so far, without calls and thoughts."""
    yield f"user: {sample.question}"
    for step in trajectory.steps:
        if step.message.role in ("user", "assistant") and step.message.text:
            yield f"{'user' if step.message.role == 'user' else 'agent'}: {step.message.text}"
