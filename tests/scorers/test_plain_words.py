"""Idioms that deny only in form, and equations with the amount that is asked for on either side."""

import pytest
from answer_points import points

WHO, WHICH, TEA = "Who won the prize?", "Which one should I buy?", "How many teaspoons are in a tablespoon?"
RIGHT = [
    (WHO, "There's no question that Ann won.", "Ann"),
    (WHO, "It is none other than Ann.", "Ann"),
    (WHO, "I can't help but say Ann.", "Ann"),
    (WHO, "I don't mind telling you that it was Ann.", "Ann"),
    (WHICH, "You can't go wrong with the Dell.", "the Dell"),
    (WHICH, "I can't recommend the Dell highly enough.", "the Dell"),
    (WHICH, "Nothing beats the Dell.", "the Dell"),
    ("Which door should I use?", "I couldn't be happier to help: use the side door.", "the side door"),
    ("谁赢了？", "毫无疑问是安娜。", "安娜"),
    ("谁赢了？", "非安娜莫属。", "安娜"),
    (TEA, "3 teaspoons = 1 tablespoon", "3"),
    (TEA, "1 tablespoon = 3 teaspoons", "3"),
    ("1米等于多少厘米？", "100厘米等于1米", "100厘米"),
]
RIGHT += [  # a bound that is asked for is the amount
    ("How many items can a member borrow?", "Up to 8 items at a time, for three weeks.", "8"),
    ("About how far is it?", "It is roughly 344 km as the crow flies.", "344 km"),
]
NOT_RIGHT = [
    ("How many items can a member borrow?", "Up to 8 items at a time, for three weeks.", "3"),
    (TEA, "3 teaspoons = 1 tablespoon", "1 tablespoon"),
    ("How many inches are in a foot?", "12 inches = 1 foot", "1"),
    (WHICH, "I can't recommend the Dell.", "the Dell"),
    (WHO, "There is no question that remains.", "remains"),
    (WHICH, "I can't recommend the Dell; it isn't good enough.", "the Dell"),
    (WHICH, "I can't recommend the Dell, as it is not reliable enough.", "the Dell"),
    ("Which one should I avoid?", "You can't go wrong with the Dell.", "the Dell"),
    ("What beats a royal flush?", "Nothing beats a royal flush.", "a royal flush"),
    ("谁赢了？", "不是安娜。", "安娜"),
]


@pytest.mark.parametrize(("question", "reply", "target"), RIGHT)
def test_what_is_denied_only_in_form_is_claimed(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) == 1


@pytest.mark.parametrize(("question", "reply", "target"), NOT_RIGHT)
def test_what_is_denied_or_given_for_something_else_is_not_right(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) != 1
