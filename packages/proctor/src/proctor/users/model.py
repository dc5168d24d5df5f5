"""`model:openai:MODEL`: a chat model that plays the user of a scenario.

    {"goal": "Move my flight to Friday", "knows": "booking K7; economy; at most 80 euros", "persona": "in a hurry"}

It sees the conversation as the user does: its own words, and the agent's without calls and thoughts. Samples without a
scenario are over after their own turns, unless a goal for all is given.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from proctor.chat.message_text import is_chinese
from proctor.config import converted
from proctor.core.declared import ModelInfo, declared
from proctor.core.errors import BadInput, PartFailed, UserFailed
from proctor.core.parts import UserPart
from proctor.core.sample import Message, Sample, Turn
from proctor.core.scenario import Scenario, begin, scenario_of
from proctor.core.task import Model
from proctor.core.trajectory import Trajectory
from proctor.models import cache, ledger, named
from proctor.users.conduct import MOST_TURNS, AtLimit, UserExchange, check_limit, check_words, cleaned

STOP = "[DONE]"
RULES = {
    "en": (
        "You play a person who chats with an assistant; you are never the assistant.",
        "Write the person's next message and nothing else: no name before it, no quotation marks, no remarks about your role.",
        "Stay with your goal, in your own words, and mention no more of it at once than a person would.",
        "Answer what the assistant asks from what you know; what is not there you do not know, and you invent nothing.",
        "When the assistant is wrong, say so once and let it try again.",
    ),
    "zh": (
        "你扮演一个正在与助手聊天的人，你永远不是助手。",
        "只写这个人接下来要说的话：前面不加名字，不加引号，也不谈论你的角色。",
        "围绕你的目标，用自己的话说，一次不要说出比普通人更多的内容。",
        "助手问什么，就根据你所知道的回答；那里没有的你就不知道，不要编造。",
        "助手弄错时指出一次，让它再试。",
    ),
}
ENDING = {
    "en": "Reply with {stop} alone as soon as the goal is reached, or when the assistant cannot reach it or failed at the same thing twice.",
    "zh": "一旦目标达成，或者助手做不到、在同一件事上失败两次，就只回复 {stop}。",
}
SPEAK = {"en": "Speak {language}.", "zh": "请说{language}。"}
TITLES = {"en": ("Your goal", "What you know", "Who you are"), "zh": ("你的目标", "你所知道的", "你是谁")}
BEGIN = {"en": "(The chat is open. What does the person write first?)", "zh": "（聊天已打开。这个人先写什么？）"}
SILENCE = {"en": "(The assistant wrote nothing.)", "zh": "（助手什么也没写。）"}
LANGUAGES = {
    "en": "en",
    "english": "en",
    "英语": "en",
    "英文": "en",
    "zh": "zh",
    "chinese": "zh",
    "中文": "zh",
    "汉语": "zh",
}


class ModelUserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set for a user that is a model, besides the options of the model.

    Attributes:
        goal, knows, persona, language, stop: as in a scenario, for the samples that do not say.
        max_turns: turns of a conversation at most, the first one counted, where the scenario does not say.
        at_limit: a conversation that has come to no end by then is the user's failure ("fail"), or is scored ("score").
    """

    goal: str = ""
    knows: str = ""
    persona: str = ""
    language: str = ""
    stop: str = STOP
    max_turns: Annotated[int, msgspec.Meta(ge=1)] = MOST_TURNS
    at_limit: AtLimit = "fail"


def make(argument: str, options: Mapping[str, object], *, seed: int = 0) -> "ModelUser":
    """Return the user `model:MODEL`.

    Args:
        seed: that of the run, for models that take one; 0 is none.

    Raises:
        BadInput: no such model, or a wrong option.
    """
    if not argument:
        raise BadInput("A simulated user needs a model. Name one, for example --user model:openai:MODEL")
    rest = dict(options)
    own = {key: rest.pop(key) for key in ModelUserOptions.__struct_fields__ if key in rest}
    model = named.model(argument, rest, defaults={"seed": seed} if seed else {})
    return ModelUser(model, converted(own, ModelUserOptions, "user"))


class ModelUser(named.OpenedModels):
    """Plays the user of every sample that has a scenario.

    Attributes:
        unpriced: its model, if the price is not known.
    """

    def __init__(self, model: Model, options: ModelUserOptions = ModelUserOptions()) -> None:  # noqa: B008 - frozen
        super().__init__([model])
        self.model = model
        self.unpriced = ledger.unpriced(model)
        self._options = options

    async def reply(self, sample: Sample, trajectory: Trajectory) -> Turn | None:
        """Return what the user says next; None when the conversation is over.

        Raises:
            UserFailed: the model failed, or did not do as a user does.
            EpisodeOver: the limit of turns is reached, and the conversation is to be scored.
        """
        scenario = self._scenario(sample)
        if scenario is None:
            return None
        said = UserExchange(sample, trajectory)
        check_limit(said, scenario.max_turns or self._options.max_turns, self._options.at_limit)
        if not said.turns and scenario.opening:
            return begin(scenario, scenario.opening)
        lang = _language(scenario)
        text = await ask(self.model, [Message.of("system", _instructions(scenario, lang)), *_chat(said, lang)])
        if scenario.stop.casefold() in text.casefold():
            return None
        text = cleaned(text)
        check_words(text, said, RULES[lang])
        return Turn(messages=(Message.of("user", text),)) if said.turns else begin(scenario, text)

    def _scenario(self, sample: Sample) -> Scenario | None:
        usual = {name: getattr(self._options, name) for name in ("goal", "knows", "persona", "language", "stop")}
        scenario = scenario_of(sample) or Scenario()
        whole = msgspec.structs.replace(scenario, **{name: getattr(scenario, name) or usual[name] for name in usual})
        return whole if whole.goal else None


async def ask(model: Model, messages: list[Message]) -> str:
    """Return what a model says as the user, and count its cost.

    Raises:
        UserFailed: the model failed; its kind is that of the failure.
    """
    about, attempt = declared(ModelInfo, model), cache.attempt()
    more: dict[str, Any] = {} if about.seed is None or not attempt else {"seed": about.seed + attempt}
    try:
        step = await model.complete(messages, **more)
    except PartFailed as error:
        raise UserFailed(error.sentence, kind=error.kind) from error
    ledger.spend(step.usage, model=model.name)
    return step.message.text.strip()


def _language(scenario: Scenario) -> str:
    """Return the language of the instructions: English ones tell a model to speak any other language."""
    known = LANGUAGES.get(scenario.language.casefold())
    return known or ("zh" if is_chinese(scenario.goal) else "en")


def _instructions(scenario: Scenario, lang: str) -> str:
    rules = [*RULES[lang], ENDING[lang].format(stop=scenario.stop)]
    if scenario.language and scenario.language.casefold() not in LANGUAGES:
        rules.append(SPEAK[lang].format(language=scenario.language))
    texts = zip(TITLES[lang], (scenario.goal, scenario.knows, scenario.persona), strict=True)
    return "\n\n".join(["\n".join(rules), *(f"# {title}\n{text}" for title, text in texts if text)])


def _chat(said: UserExchange, lang: str) -> Iterator[Message]:
    """Yield the conversation as the user's model sees it: its own words are those of the assistant's role."""
    yield Message.of("user", BEGIN[lang])
    for own, answer in zip(said.user, said.agent, strict=True):
        yield Message.of("assistant", own)
        yield Message.of("user", answer or SILENCE[lang])


PART = UserPart(make=make, options=ModelUserOptions, is_seeded=True)
