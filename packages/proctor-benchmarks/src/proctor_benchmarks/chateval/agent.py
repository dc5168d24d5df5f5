"""An agent that is a debate of referees: `debate:openai:MODEL`, or several models with commas between them.

It plays the debate that a sample brings (`meta["debate"]`, see `models.debate`): the models sit down in turn at its seats.
What officially counts is left as its state, {"evaluation": [{"role": …, "evaluation": …}], "complete": true}.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext

import msgspec

from proctor.core.errors import BadInput
from proctor.core.parts import AgentPart
from proctor.core.sample import JsonObject, Message, Sample, Turn
from proctor.core.task import Environment, Model, Session
from proctor.core.trajectory import Step, ToolStyle
from proctor.core.validation import in_words
from proctor.models.named import OpenedModels, model
from proctor_judging.judges.debating import SUMMARIZER, Assignment, Referee, Speech, debate, summary_request


def make(argument: str, options: Mapping[str, object]) -> "DebateAgent":
    """Return the agent `debate:MODEL[,MODEL]`; the options are those of the models, whose temperature is 0 by default.

    Raises:
        BadInput: no model is named, or there is no such model or option.
    """
    names = [name.strip() for name in argument.split(",") if name.strip()]
    if not names:
        raise BadInput("Name the models that debate, for example debate:openai:MODEL.")
    return DebateAgent(
        [model(name, options, defaults={"temperature": 0.0}) for name in names], name=f"debate:{argument}"
    )


class DebateAgent(OpenedModels):
    """Referees that debate; use it in `async with`, so that servers of their models stop with the run."""

    tools: ToolStyle = "text"

    def __init__(self, models: Sequence[Model], *, name: str) -> None:
        super().__init__(models)
        self.name = name
        self.model = models[0].name
        self._models = models

    def open(self, sample: Sample, environment: Environment | None) -> AbstractAsyncContextManager[Session]:
        """Return the debate that a sample brings.

        Raises:
            BadInput: it brings none.
        """
        try:
            assignment = msgspec.convert(sample.meta.get("debate"), Assignment)
        except msgspec.ValidationError as error:
            raise BadInput(
                "The sample '{id}' brings no debate for the agent {agent}: {error}. Tasks such as chateval do.",
                id=sample.id,
                agent=self.name,
                error=in_words(error),
            ) from None
        return nullcontext(_Debate(self._models, assignment))


class _Debate:
    """One debate, as a session of one turn.

    Attributes:
        received: the speeches so far, for a time limit that ends the turn.
        state: what officially counts.
    """

    def __init__(self, models: Sequence[Model], assignment: Assignment) -> None:
        self._models = models
        self._assignment = assignment
        self.received: list[Step] = []
        self.state: JsonObject | None = None

    async def send(self, turn: Turn) -> Sequence[Step]:
        """Play the debate and return its speeches, those that could not be used too."""
        seats, rules = self._assignment.seats, self._assignment.rules

        async def ask(number: int, messages: Sequence[Message]) -> str:
            return await self._speak(number, seats[number].name, messages)

        async def summarise(said: Sequence[Speech]) -> str:
            return await self._speak(0, SUMMARIZER, summary_request(said))

        played = await debate([Referee(seat) for seat in seats], rules, ask, summarise=summarise)
        evaluation = [{"role": speech.role, "evaluation": speech.text} for speech in played.evaluation]
        self.state = {"evaluation": evaluation, "complete": played.complete}
        return self.received

    async def _speak(self, number: int, author: str, messages: Sequence[Message]) -> str:
        asked = self._models[number % len(self._models)]
        step = await asked.complete(messages)
        self.received.append(msgspec.structs.replace(step, author=author))
        return step.message.text


PART = AgentPart(make=make)
