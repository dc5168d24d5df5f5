"""What a simulated user does wrong by rule."""

from typing import Any

import pytest

from proctor.core.errors import EpisodeOver, UserFailed
from proctor.core.sample import Message, Sample
from proctor.core.trajectory import Step, Trajectory
from proctor.users.conduct import UserExchange, check_limit, check_words, cleaned
from proctor.users.model import RULES

ANSWER = "I can book a room in Rome for you from Friday to Sunday."


def talk(*texts: str) -> UserExchange:
    """The first text is the sample's question, then agent and user take turns."""
    steps = [
        Step(
            message=Message.of("user" if number % 2 else "assistant", text),
            turn=(number + 1) // 2,
            author="user" if number % 2 else "agent",
        )
        for number, text in enumerate(texts[1:])
    ]
    return UserExchange(Sample.ask("a", texts[0]), Trajectory(steps=tuple(steps)))


def kind_of(text: str, said: UserExchange, *instructions: str) -> str | None:
    try:
        check_words(text, said, instructions)
    except UserFailed as error:
        return error.kind
    return None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Two nights, please.", None),
        ("Can you help me with a room?", None),
        ("I know that you are an AI model, just book it.", None),
        ("帮我订一间房。", None),
        ("", "empty"),
        ("Well. " * 4_000, "too_long"),
        ("Sure! How can I help you today?", "role"),
        ("As an AI language model, I cannot travel.", "role"),
        ("I'm an AI assistant.", "role"),
        ("您好，请问有什么可以帮您？", "role"),
        ("作为一个人工智能助手，我不能旅行。", "role"),
        ("Two nights.\nAssistant: Booked!", "role"),
        ("订两晚。\n助手：订好了。", "role"),
        (ANSWER.upper(), "role"),
    ],
)
def test_words_of_the_assistant_are_not_those_of_a_user(text: str, kind: str | None) -> None:
    assert kind_of(text, talk("A room?", ANSWER)) == kind


def test_a_short_answer_may_be_the_agents_own() -> None:
    assert kind_of("Rome.", talk("A room?", "Rome.")) is None


@pytest.mark.parametrize("lang", RULES)
def test_a_sentence_of_the_instructions_is_a_leak_in_any_layout(lang: str) -> None:
    for rule in RULES[lang]:
        assert kind_of(f"Ok. {rule.replace(' ', chr(10))} !", talk("A room?", ANSWER), *RULES[lang]) == "leak"


def test_the_same_three_times_in_a_row_is_a_fault_unless_the_agent_began() -> None:
    assert kind_of("Yes.", talk("Yes.", "When?")) is None
    assert kind_of("Yes.", talk("Yes.", "When?", " yes. ", "Where?")) == "repeats"
    with pytest.raises(EpisodeOver):
        check_words("Yes.", talk("Yes.", "When?", "Yes.", "When?"))


@pytest.mark.parametrize(("how", "raised"), [("fail", UserFailed), ("score", EpisodeOver)])
def test_the_limit_counts_all_turns(how: Any, raised: type[Exception]) -> None:
    said = talk("A?", "1", "B?", "2")
    check_limit(said, 3, how)
    with pytest.raises(raised):
        check_limit(said, 2, how)


def test_a_conversation_in_which_the_agent_goes_round_is_scored_at_its_limit() -> None:
    with pytest.raises(EpisodeOver):
        check_limit(talk("A?", "Say that again.", "B?", "say that again. "), 2)


@pytest.mark.parametrize("text", ["User: Rome", "**Customer:** Rome", "用户：Rome", " Rome "])
def test_the_label_before_the_words_is_left_out(text: str) -> None:
    assert cleaned(text) == "Rome"


def test_words_and_answers_are_sorted_by_turn() -> None:
    said = talk("A?", "1", "B?", "2")
    assert (said.user, said.agent, said.turns, said.answer) == (["A?", "B?"], ["1", "2"], 2, "2")
    assert UserExchange(Sample(id="a", turns=()), Trajectory()).turns == 0
