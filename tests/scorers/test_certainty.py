"""What a reply says for sure, what is left open where it does not, and that what is nowhere in it is wrong."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.scorers.answer import answer
from proctor.scorers.choice import choice

CAPITAL = "What is the capital of Australia?"
PAGES = "这本书多少页？"


def _answer(question: str, reply: str, target: str) -> Score | Unscored:
    return answer(Sample.ask("s", question, target=target), Trajectory.of(reply))


def _choice(
    reply: str, target: str, options: dict[str, str] | None = None, question: str = "Which?"
) -> Score | Unscored:
    return choice(Sample.ask("s", question, target=target, meta={"options": options or {}}), Trajectory.of(reply))


@pytest.mark.parametrize(
    ("question", "reply", "said"),
    [
        (CAPITAL, "Canberra", "Canberra"),
        (CAPITAL, "The capital of Australia is Canberra.", "Canberra"),
        (CAPITAL, "**Canberra**. It was chosen between Sydney and Melbourne.", "Canberra"),
        (CAPITAL, "Sydney is larger. Final answer: Canberra", "Canberra"),
        (CAPITAL, "The capital is Canberra, not Sydney.", "Canberra"),
        (PAGES, "全书共三百一十二页。", "312页"),
        (PAGES, "上册读了100页，下册读了212页，所以全书312页。", "312页"),
    ],
)
def test_a_sure_form_is_right_for_what_it_says_and_wrong_for_what_it_does_not_hold(
    question: str, reply: str, said: str
) -> None:
    right, wrong = _answer(question, reply, said), _answer(question, reply, "Perth" if said.isascii() else "999页")
    assert isinstance(right, Score)
    assert right.points == 1
    assert isinstance(wrong, Score)
    assert wrong.points == 0


@pytest.mark.parametrize(
    ("question", "reply", "held"),
    [
        (CAPITAL, "Many would say Sydney, yet the seat of government was put in Canberra.", ["Sydney", "Canberra"]),
        (CAPITAL, "Sydney was it until 1908, when the choice fell on Canberra.", ["Sydney", "Canberra"]),
        (PAGES, "上册312页，下册288页。", ["312页", "288页"]),
    ],
)
def test_a_reply_that_is_not_surely_read_is_unscored_for_each_of_its_parts_and_wrong_for_others(
    question: str, reply: str, held: list[str]
) -> None:
    for target in held:
        score = _answer(question, reply, target)
        assert isinstance(score, Unscored)
        assert len(score.details["readings"]) == 2
    other = _answer(question, reply, "Perth" if reply.isascii() else "999页")
    assert isinstance(other, Score)
    assert other.points == 0


def test_a_part_of_a_longer_claim_is_left_open() -> None:
    question = "Where is insulin made?"
    assert isinstance(_answer(question, "It is made in the beta cells of the pancreas.", "beta cells"), Unscored)


FOUR = {"A": "Liver", "B": "Kidney", "C": "Pancreas", "D": "Spleen"}


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("The last one, as the text says.", "D"),
        ("The second option.", "B"),
        ("第三项。", "C"),
        ("最后一项。", "D"),
        ("A, B and D are all wrong.", "C"),
        ("ACD都不是，排除之后就剩一个了。", "B"),
        ("All but D are true.", "ABC"),
        ("除了C，其余都是。", "ABD"),
        ("A、B、D 三项，C 不算。", "ABD"),
    ],
)
def test_options_are_chosen_by_their_place_and_by_leaving_others_out(reply: str, chosen: str) -> None:
    score = _choice(reply, chosen, FOUR)
    assert isinstance(score, Score)
    assert (score.points, score.answer) == (1, chosen)


def test_the_place_of_an_option_says_nothing_where_it_is_not_known_how_many_there_are() -> None:
    score = _choice("The last one.", "D")
    assert isinstance(score, Score)
    assert score.points == 0


def test_a_choice_among_several_letters_that_are_only_named_is_left_open() -> None:
    reply = "Statement D was what Lee said, and these lines came from C."
    texts = {"A": "Li Bai", "B": "Du Fu", "C": "Xin Qiji", "D": "Su Shi"}
    for target in "CD":
        assert not isinstance(score := _choice(reply, target, texts), Score) or score.points == 0


def test_a_part_of_the_text_of_an_option_is_left_open() -> None:
    options = {"A": "The railway ruined the farms", "B": "The mine was planned and never dug"}
    assert isinstance(_choice("The railway was the end of many of the farms.", "A", options), Unscored)
    other = _choice("The railway was the end of many of the farms.", "B", options)
    assert isinstance(other, Score)
    assert other.points == 0
