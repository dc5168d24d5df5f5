"""The simulated user of τ²-bench: a model with the official instructions, and with tools of its own where the task has some.

It sees its own words and calls and what the agent says to it, never the agent's calls. It also brings the agent's first
turn: the policy, the greeting or the history, and its own first words.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from proctor.core.errors import AgentFailed, BadInput, EpisodeOver, PartFailed, UserFailed
from proctor.core.sample import Message, Reasoning, Sample, Turn
from proctor.core.task import Environment, Model
from proctor.core.trajectory import Step, Trajectory
from proctor.engine.acting import Acting
from proctor.models import ledger
from proctor.models.named import OpenedModels, model
from proctor_benchmarks.tau2.environment import Tau2Environment
from proctor_benchmarks.tau2.gold import GoldModel
from proctor_benchmarks.tau2.messages import flipped, from_official, is_blank
from proctor_benchmarks.tau2.wording import Role

GOLD = "gold"


class Tau2User(OpenedModels):
    """Plays the users of all samples, each attempt with a memory of its own.

    Attributes:
        unpriced: its model, if the price is not known.
    """

    def __init__(self, given: str | Mapping[str, object] | Model | None, role: Role) -> None:
        self._model = _model_of(given)
        self._role = role
        self.unpriced = ledger.unpriced(self._model) if isinstance(self._model, Model) else ()
        super().__init__([self._model])

    def as_expected(self) -> "Tau2User":
        """Return a user that makes the expected calls, and asks no model."""
        return Tau2User(GOLD, self._role)

    def open(self, sample: Sample, environment: Environment | None) -> "Conversing":
        """Return the user of one attempt.

        Raises:
            BadInput: nobody named the model that plays it.
        """
        environment = environment.environment if isinstance(environment, Acting) else environment
        assert isinstance(environment, Tau2Environment)
        if self._role == "solo":
            return Conversing(environment, self._role, None)
        if self._model is None:
            raise BadInput(
                "tau2 needs a model that plays the user: --set user=openai:MODEL, or user=gold for the expected actions."
            )
        model = GoldModel(sample) if isinstance(self._model, str) else self._model
        return Conversing(environment, self._role, model)

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        raise AssertionError("the user of a sample is opened first")


def _model_of(given: str | Mapping[str, object] | Model | None) -> Model | str | None:
    if given is None or given == GOLD or isinstance(given, Model):
        return given
    options = {"model": given} if isinstance(given, str) else dict(given)
    return model(str(options.pop("model", "")), options, defaults={"temperature": 0.0})


class Conversing:
    """The user of one attempt.

    Attributes:
        steps: what it did since it was asked: its own calls with their results, and the words that end the conversation.
    """

    def __init__(self, environment: Tau2Environment, role: Role, model: Model | None) -> None:
        self.steps: list[Step] = []
        self._environment = environment
        self._role = role
        self._model = model
        self._messages: list[Message] = []
        self._has_begun = False

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return the next turn of the agent; None when the conversation is over by its rules.

        Raises:
            UserFailed: its model failed, said nothing, or made a call without arguments that are an object.
            AgentFailed: the agent said nothing at all, or spoke where nobody listens.
        """
        self.steps = []
        if not self._has_begun:
            self._has_begun = True
            return await self._first_turn()
        progress = self._environment.progress
        if progress.reason is None:
            said = trajectory.steps[-1].message if trajectory.steps else Message(role="assistant")
            self._refuse(said)
            progress.note_message("assistant", said.text, ())
            self._messages.append(flipped(said))
        if progress.reason is not None:
            return None
        words = await self._speak()
        return None if words is None else Turn(messages=(words,))

    def _refuse(self, said: Message) -> None:
        if said.role != "assistant" or is_blank(said):
            raise AgentFailed("The agent said nothing and called nothing, which ends an official run.", kind="empty")
        if said.calls:
            raise AgentFailed("The agent's reply was cut off before its calls could be run.", kind="cut_off")
        if self._role == "solo":
            raise AgentFailed("The agent made no call, and there is no user who could read its words.", kind="no_call")

    async def _first_turn(self) -> Turn | None:
        environment = self._environment
        words = environment.upstream.words
        history = environment.task.history
        shown = [message for message in history if is_for_agent(message)]
        heard = [message for message in history if is_for_user(message)]
        if not history and self._role != "solo":
            shown = heard = [{"role": "assistant", "content": words.greeting}]
        self._messages = [flipped(from_official(message)) for message in heard]
        system = words.agent_system(self._role, environment.described.policy, environment.task)
        turn = Turn(messages=(Message.of("system", system), *map(from_official, shown)), tools=tuple(environment.tools))
        last = history[-1] if history else {"role": "assistant"}
        asks_user = last["role"] == "assistant" or last.get("requestor") == "user"
        if self._role == "solo" or not asks_user:
            return turn
        said = await self._speak()
        return None if said is None else replace(turn, messages=(*turn.messages, said))

    async def _speak(self) -> Message | None:
        """Return what the user says next, after its calls; None when that, or a limit, ends the conversation."""
        progress = self._environment.progress
        while True:
            said = await self._ask()
            self._messages.append(flipped(said))
            progress.note_message("user", said.text, [call.name for call in said.calls])
            if progress.reason is not None or said.calls:
                self.steps.append(Step(message=said, author="user"))
            elif not said.calls:
                return said
            if progress.reason is not None or not await self._act(said):
                return None

    async def _act(self, said: Message) -> bool:
        """Run the calls of a message of the user; False if a limit is reached with them."""
        goes_on = True
        try:
            results = await self._environment.call_for_user(said)
        except EpisodeOver as over:
            results, goes_on = over.results, False
        for result in results:
            message = Message(role="tool", parts=(result,))
            self._messages.append(message)
            self.steps.append(Step(message=message, author="user"))
        return goes_on

    async def _ask(self) -> Message:
        assert self._model is not None, "an agent without a user is never answered"
        tools = self._environment.user_tools
        words = self._environment.upstream.words
        system = words.user_system(self._environment.task.user_scenario, tools=bool(tools))
        try:
            step = await self._model.complete([Message.of("system", system), *self._messages], tools)
        except PartFailed as error:
            raise UserFailed(error.sentence, kind=error.kind) from error
        ledger.spend(step.usage, model=self._model.name)
        parts = tuple(part for part in step.message.parts if not isinstance(part, Reasoning))
        said = Message(role="user", parts=parts)
        if is_blank(said):
            raise UserFailed("The model of the simulated user said nothing ({stop}).", kind="no_reply", stop=step.stop)
        return said


def is_for_agent(message: Mapping[str, object]) -> bool:
    """True if the agent is shown a message of the history."""
    role = message["role"]
    return role == "assistant" or (
        not message.get("tool_calls") if role == "user" else message.get("requestor", "assistant") == "assistant"
    )


def is_for_user(message: Mapping[str, object]) -> bool:
    """True if the user is shown a message of the history."""
    role = message["role"]
    return role == "user" or (
        not message.get("tool_calls") if role == "assistant" else message.get("requestor") == "user"
    )
