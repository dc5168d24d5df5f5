"""What is left open because a reply says a part of the target, or more; and options chosen by their place or by exclusion."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer
from proctor_judging.scorers.choice import choice


def _answer(question: str, reply: str, target: str) -> Score | Unscored:
    return answer(Sample.ask("s", question, target=target), Trajectory.of(reply))


def _choice(
    reply: str, target: str, options: dict[str, str] | None = None, question: str = "Which?"
) -> Score | Unscored:
    return choice(Sample.ask("s", question, target=target, meta={"options": options or {}}), Trajectory.of(reply))


def test_a_part_of_a_longer_claim_is_left_open() -> None:
    question = "Where is insulin made?"
    reply = "It is made in the beta cells of the pancreas."
    left = _answer(question, reply, "pancreas")
    assert isinstance(left, Unscored)
    assert left.details["readings"] == ["the beta cells of the pancreas", "pancreas"]
    right = _answer(question, reply, "beta cells")
    assert isinstance(right, Score)
    assert right.points == 1
    for target in ("the liver", "alpha cells"):
        other = _answer(question, reply, target)
        assert isinstance(other, Score)
        assert other.points == 0


def test_a_part_of_an_amount_is_wrong() -> None:
    other = _answer("How many people came?", "Between 50 and 60 people came.", "50")
    assert isinstance(other, Score)
    assert other.points == 0


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
