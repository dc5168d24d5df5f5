"""Recognise what a simulated user does wrong by rule: such a conversation says nothing of the agent.

    empty      it said nothing
    too_long   it said more than a person would write
    role       it spoke as the assistant: in its set phrases, for both sides, or by repeating the agent's words
    leak       it said a sentence of its own instructions
    repeats    it said the same three times in a row, to different answers
    endless    it went on past the limit of turns

Two answers of the agent that are the same are the agent's own circle: then the conversation is over, and scored.
"""

import re
from collections.abc import Sequence
from typing import Literal

from proctor.core.errors import EpisodeOver, UserFailed
from proctor.core.sample import Sample
from proctor.core.trajectory import ASKING, Trajectory

MOST_TURNS = 20
MOST_CHARACTERS = 20_000  # of one message
REPEATS = 3
ECHO_CHARACTERS = 40  # a short answer such as "Yes." may be the same on both sides
LEAK_CHARACTERS = 12
AtLimit = Literal["fail", "score"]

_ASSISTANT = re.compile(
    r"\bas an ai (?:language )?(?:model|assistant)\b|\bI(?:'|’| a)m an ai (?:language )?(?:model|assistant)\b"
    r"|\bhow (?:can|may) I (?:help|assist) you\b|\bis there anything else I can (?:help|assist)\b"
    r"|作为(?:一个|一名)?(?:人工智能|AI|ai)(?:语言)?(?:模型|助手)|我是(?:一个|一名)?(?:人工智能|AI|ai)(?:语言)?(?:模型|助手)"
    r"|(?:请问)?(?:有什么|还有什么)(?:可以|能)帮(?:助)?[你您]",
    re.IGNORECASE,
)
_BOTH_SIDES = re.compile(r"^\W*(?:assistant|agent|助手|智能体|客服)\W*[:：]", re.IGNORECASE | re.MULTILINE)
_OWN_LABEL = re.compile(r"^\s*\**(?:user|customer|用户|顾客)\**\s*[:：]\**\s*", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


class UserExchange:
    """What user and agent said: in each exchange the user's words, and all words of the agent's answer to them.

    An exchange is a turn, which ends early where the user is asked to approve a call.

    Attributes:
        answered: the words of the agent that the simulated user answered, and at the end those that it answers now.
        is_asked_to_approve: True if a call waits for what the user says now.
    """

    def __init__(self, sample: Sample, trajectory: Trajectory) -> None:
        own = [
            "\n\n".join(message.text for message in turn.messages if message.role == "user" and message.text)
            for turn in sample.turns
        ]
        turns = 1 + max((step.turn for step in trajectory.steps), default=len(own) - 1)
        by_user: list[list[str]] = []
        by_agent: list[list[str]] = []
        answered: list[int] = []
        steps = iter([*trajectory.steps, None])
        step = next(steps)
        for turn in range(turns):
            if turn >= len(own):
                answered.append(len(by_agent) - 1)
            by_user.append([own[turn]] if turn < len(own) and own[turn] else [])
            by_agent.append([])
            while step is not None and step.turn <= turn:
                role, text = step.message.role, step.message.text
                if role == "user" and text and by_agent[-1]:  # it approved a call, or did not
                    answered.append(len(by_agent) - 1)
                    by_user.append([])
                    by_agent.append([])
                if role in ("user", "assistant") and text:
                    (by_user if role == "user" else by_agent)[-1].append(text)
                step = next(steps)
        self.user = ["\n\n".join(texts) for texts in by_user]
        self.agent = ["\n\n".join(texts) for texts in by_agent]
        self.answered = [self.agent[index] if index >= 0 else "" for index in (*answered, len(by_agent) - 1)]
        self.is_asked_to_approve = bool(trajectory.steps) and trajectory.steps[-1].author == ASKING

    @property
    def turns(self) -> int:
        """Return how many exchanges there were."""
        return len(self.user)

    @property
    def answer(self) -> str:
        """Return the agent's last words."""
        return self.agent[-1] if self.agent else ""


def cleaned(text: str) -> str:
    """Return the user's words without the label that some models put in front of them.

    >>> cleaned(" User: Rome, please. ")
    'Rome, please.'
    """
    return _OWN_LABEL.sub("", text).strip()


def check_words(text: str, said: UserExchange, instructions: Sequence[str] = ()) -> None:
    """Refuse words that are not those of a user.

    Args:
        instructions: sentences that a user would never say, as they are the model's.

    Raises:
        UserFailed: names what is wrong, with a kind to count by.
        EpisodeOver: both sides are going round in a circle that the agent began.
    """
    if not text:
        raise UserFailed("The simulated user said nothing.", kind="empty")
    if len(text) > MOST_CHARACTERS:
        raise UserFailed("The simulated user said {count} characters.", kind="too_long", count=len(text))
    if _ASSISTANT.search(text) or _BOTH_SIDES.search(text) or _is_echo(text, said.answer):
        raise UserFailed("The simulated user spoke as the assistant: {text}", kind="role", text=shortened(text))
    plain = _plain(text)
    if any(len(instruction) >= LEAK_CHARACTERS and _plain(instruction) in plain for instruction in instructions):
        raise UserFailed("The simulated user said its own instructions: {text}", kind="leak", text=shortened(text))
    if said.is_asked_to_approve:  # "yes" to each of many calls is no circle
        return
    before = [_plain(one) for one in said.user[1 - REPEATS :]]
    if len(before) == REPEATS - 1 and all(one == plain for one in before):
        _end_of_circle(said)
        raise UserFailed(
            "The simulated user said the same {count} times in a row: {text}",
            kind="repeats",
            count=REPEATS,
            text=shortened(text),
        )


def check_limit(said: UserExchange, most: int, at_limit: AtLimit = "fail") -> None:
    """Refuse another turn beyond the most that a conversation has.

    Raises:
        UserFailed: the user has not come to an end.
        EpisodeOver: such a conversation is to be scored, or the agent only repeats itself.
    """
    if said.turns < most:
        return
    if at_limit == "score":
        raise EpisodeOver("the conversation has as many turns as it may have")
    _end_of_circle(said)
    raise UserFailed("The simulated user came to no end in {count} turns.", kind="endless", count=said.turns)


def shortened(text: str) -> str:
    """Return the beginning of a text, for a message."""
    text = _SPACE.sub(" ", text)
    return text if len(text) <= 120 else f"{text[:119]}…"


def _end_of_circle(said: UserExchange) -> None:
    answers = [_plain(text) for text in said.agent[-2:]]
    if len(answers) == 2 and answers[0] == answers[1]:
        raise EpisodeOver("the agent repeats itself")


def _is_echo(text: str, answer: str) -> bool:
    return len(text) >= ECHO_CHARACTERS and _plain(text) == _plain(answer)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
