"""Play an episode with the agent: ask it and its partner in turn, and end by the official rules.

The environment holds the episode; the simulated user is the partner, and shows the agent each of its turns as a
conversation of its own, as officially. An official episode makes silence of all that cannot be read, and of services that
fail; here a service that fails, or a player of whom nothing could ever be read, ends the attempt as a failure of its own.
"""

import random
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from proctor.core.errors import AgentFailed, BadInput, EpisodeOver, PartFailed, UserFailed
from proctor.core.sample import FreshTurn, JsonObject, Message, Sample, ToolCall, ToolResult, Turn
from proctor.core.sentence import say
from proctor.core.task import Environment
from proctor.core.trajectory import Step, Trajectory
from proctor.engine.acting import Acting
from proctor.models import ledger
from proctor.models.named import OpenedModels, model
from proctor.transport.faults import NotAccepted
from proctor_benchmarks.sotopia.actions import SILENCE, Edition, PlayerAction, UnreadAction, read_action
from proctor_benchmarks.sotopia.dataset import scene_of
from proctor_benchmarks.sotopia.episode import SotopiaEpisode
from proctor_benchmarks.sotopia.wording import ask_again, ask_player, official


class EpisodeStage:
    """The environment of a sample: an episode, without tools.

    Attributes:
        episode: the episode under way.
        done: what each player did, by turn.
        asked, unread: how often each player was asked, and how often its reply could not be read.
    """

    def __init__(self, sample: Sample) -> None:
        self.scene, self.seat, self.rules = scene_of(sample)
        self.episode = begun(sample)
        self.done: list[list[PlayerAction]] = []
        self.asked = [0] * len(self.scene.names)
        self.unread = [0] * len(self.scene.names)

    def step(self, actions: list[PlayerAction]) -> None:
        self.done.append(actions)
        self.episode.step(actions)

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult(name=call.name, id=call.id, content=f"There is no tool {call.name}.", is_error=True)

    def state(self) -> JsonObject:
        """Return what the players did, from which the whole episode can be played again."""
        return {
            "done": msgspec.to_builtins(self.done),
            "ended": self.episode.ended,
            "asked": list(self.asked),
            "unread": list(self.unread),
        }


def begun(sample: Sample) -> SotopiaEpisode:
    """Return a new episode of a sample; its random choices are the same in every attempt."""
    scene, _, rules = scene_of(sample)
    return SotopiaEpisode(scene, rules, random.Random(sample.id))  # noqa: S311 - no secret


def replayed(sample: Sample, state: Mapping[str, object]) -> SotopiaEpisode:
    """Return the episode that led to a state."""
    episode = begun(sample)
    for actions in msgspec.convert(state.get("done", []), list[list[PlayerAction]]):
        episode.step(actions)
    return episode


class Partner(OpenedModels):
    """Plays all but the agent, in all samples.

    Attributes:
        unpriced: its model, if the price is not known.
    """

    def __init__(self, given: str | Mapping[str, object] | None) -> None:
        options = {"model": given} if isinstance(given, str) else dict(given or {})
        name = str(options.pop("model", ""))
        self._model = model(name, options, defaults={"temperature": 0.7}) if name else None  # the official temperature
        self._takes_schema = True
        self.unpriced = ledger.unpriced(self._model) if self._model is not None else ()
        super().__init__([self._model])

    def open(self, sample: Sample, environment: Environment | None) -> "Playing":
        """Return the partner of one attempt.

        Raises:
            BadInput: nobody named the model that plays it.
        """
        stage = environment.environment if isinstance(environment, Acting) else environment
        assert isinstance(stage, EpisodeStage)
        if self._model is None:
            raise BadInput("sotopia needs a model that plays the partner: --set partner=openai:MODEL")
        return Playing(stage, self._ask)

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        raise AssertionError("the partner of a sample is opened first")

    async def _ask(self, prompt: str, edition: Edition) -> str:
        """Return the reply of the model, which officially is bound to the schema of an action."""
        assert self._model is not None
        messages = [Message.of("user", prompt)]
        schema = {**official().action[edition], "additionalProperties": False}
        form = {"type": "json_schema", "json_schema": {"name": "AgentAction", "strict": True, "schema": schema}}
        try:
            try:
                step = await self._model.complete(messages, response_format=form if self._takes_schema else None)
            except NotAccepted:  # perhaps of the schema: the prompt tells it too
                step = await self._model.complete(messages)
                self._takes_schema = False
        except PartFailed as error:
            raise UserFailed(error.sentence, kind=error.kind) from error
        ledger.spend(step.usage, model=self._model.name)
        return step.message.text


class Playing:
    """The simulated partner, for one attempt at a sample.

    Attributes:
        steps: what it did since it was asked.
    """

    def __init__(self, stage: EpisodeStage, ask: Callable[[str, Edition], Awaitable[str]]) -> None:
        self.steps: list[Step] = []
        self._stage = stage
        self._ask = ask
        self._chosen: PlayerAction | None = None  # by the agent, for the turn under way
        self._again = False

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn:
        """Return the agent's next turn.

        Raises:
            UserFailed: the partner's model failed, or nothing that it said could be read.
            AgentFailed: nothing that the agent said could be read.
            EpisodeOver: the episode is over, perhaps before the agent had a turn.
        """
        self.steps = []
        stage, seat = self._stage, self._stage.seat
        if stage.asked[seat] and (turn := self._take(trajectory)):
            return turn
        episode = stage.episode
        while not episode.ended:
            if episode.may_act[seat] and self._chosen is None:
                stage.asked[seat] += 1
                return _turn(self._prompt(seat))
            stage.step([await self._action_of(index) for index in range(len(episode.names))])
            self._chosen = None
        self._refuse_unreadable()
        raise EpisodeOver(episode.ended)

    def _take(self, trajectory: Trajectory) -> Turn | None:
        """Read what the agent said; in `main` it is asked once to bring it into the form."""
        stage, seat = self._stage, self._stage.seat
        last = trajectory.steps[-1].message if trajectory.steps else Message(role="assistant")
        text = last.text if last.role == "assistant" else ""
        try:
            self._chosen = self._read(text, seat)
        except UnreadAction:
            if stage.rules.edition == "main" and not self._again:
                self._again = True
                return _turn(ask_again(text, official().action["main"]))
            stage.unread[seat] += 1
            self._chosen = SILENCE
        self._again = False
        return None

    async def _action_of(self, index: int) -> PlayerAction:
        stage = self._stage
        if index == stage.seat or not stage.episode.may_act[index]:
            return self._chosen if index == stage.seat and self._chosen is not None else SILENCE
        stage.asked[index] += 1
        text = await self._ask(self._prompt(index), stage.rules.edition)
        try:
            try:
                action = self._read(text, index)
            except UnreadAction:
                if stage.rules.edition == "package":
                    raise
                action = self._read(await self._ask(ask_again(text, official().action["main"]), "main"), index)
        except UnreadAction:
            stage.unread[index] += 1
            action = SILENCE
        name = stage.episode.names[index]
        words = f"{name} {action.words(stage.rules.edition).strip()}"
        self.steps.append(Step(message=Message.of("user", words), author=name))
        return action

    def _prompt(self, index: int) -> str:
        episode = self._stage.episode
        return ask_player(
            episode.names[index],
            episode.histories[index],
            episode.turn,
            episode.available(index),
            self._stage.rules.edition,
        )

    def _read(self, text: str, index: int) -> PlayerAction:
        names = self._stage.episode.names
        return read_action(text, self._stage.rules.edition, names, names[index])

    def _refuse_unreadable(self) -> None:
        stage = self._stage
        for index, (asked, unread) in enumerate(zip(stage.asked, stage.unread, strict=True)):
            if asked and asked == unread:
                name = stage.episode.names[index]
                why = say("No reply of {name} was an action in the required form, of {count}.", name=name, count=asked)
                raise (AgentFailed if index == stage.seat else UserFailed)(why, kind="unreadable")


def _turn(prompt: str) -> Turn:
    return FreshTurn(messages=(Message.of("user", prompt),))
