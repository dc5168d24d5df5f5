"""What a reply says of its own answer: that it is the tempting one, unknown, inexact, or neither; and which of two amounts concludes it."""

import pytest
from answer_points import points

BALL = "A bat and a ball cost $1.10. The bat costs $1.00 more than the ball. How much does the ball cost?"
BALL_REPLY = "The intuitive answer is 10 cents, but that doesn't work.\n\nThe ball costs **5 cents**."
RETURN = "Returns: 30 days. Electronics: 14 days.\nQuestion: How long do I have to return a laptop?"
RETURN_REPLY = (
    "Laptops fall under electronics, so you'd have 14 days. The general 30-day window applies to other items."
)
RIVER = "Traditionally it's the Nile, but some claim the Amazon is longer. I can't say definitively which of the two is right."
JUDGES = "Nine, i.e. one Chief Justice and eight Associate Justices. The number's been fixed since 1869."
RIGHT = [
    (BALL, BALL_REPLY, "5 cents"),
    (RETURN, RETURN_REPLY, "14 days"),
    ("How many justices sit on the US Supreme Court?", JUDGES, "9"),
    ("What is the minimum age?", "You must be at least 35 years old, and a resident for 14 years.", "35"),
]
NOT_RIGHT = [
    (BALL, BALL_REPLY, "10 cents"),
    (RETURN, RETURN_REPLY, "30 days"),
    ("Which is the longest river in the world?", RIVER, "Nile"),
    ("How many justices sit on the US Supreme Court?", JUDGES, "8"),
    ("What is the minimum age?", "You must be at least 35 years old, and a resident for 14 years.", "14"),
    ("Is there a free trial?", "I wasn't able to find any information about a free trial in our plans.", "No"),
    ("Which side has more points?", "- Ash: 18 + 2 = 20\n- Elm: 15 + 5 = 20\n\nSo neither: they're level on 20 points.", "Ash"),
    ("How long was it?", "At most 40 minutes on a good day, and the way back took 55 minutes.", "55 minutes"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "reply", "target"), RIGHT)
def test_what_a_reply_concludes_is_right(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) == 1


@pytest.mark.parametrize(("question", "reply", "target"), NOT_RIGHT)
def test_what_a_reply_sets_aside_or_leaves_open_is_not_right(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) != 1
