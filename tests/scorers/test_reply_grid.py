"""The reader of English replies on the grid of generated ones: kinds of question, and forms of reply as chat models write them.

A part of the grid is read here; the bounds may only rise.
"""

from collections import defaultdict

import pytest
from bench.english_replies import FORMS, Reply, replies

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer

pytestmark = pytest.mark.usefixtures("replies_read_once")

EVERY = 19  # of the replies; no divisor of the number of forms
LEAST_OF_A_FORM = 0.6


@pytest.fixture(scope="module")
def part() -> list[Reply]:
    return list(replies())[::EVERY]


@pytest.fixture(scope="module")
def rights(part: list[Reply]) -> list[bool]:
    """Return whether each reply is right for what it says."""
    return [_accepts(reply, reply.right) for reply in part]


def _accepts(reply: Reply, target: str) -> bool:
    score = answer(Sample.ask("grid", reply.question, target=target), Trajectory.of(reply.text))
    return isinstance(score, Score) and score.points == 1


def test_nearly_all_replies_of_the_grid_are_right_for_what_they_say(rights: list[bool]) -> None:
    assert len(list(replies())) > 4_000
    assert sum(rights) / len(rights) >= 0.96


def test_no_form_of_reply_is_left_unread(part: list[Reply], rights: list[bool]) -> None:
    of_form: dict[str, list[bool]] = defaultdict(list)
    for reply, is_right in zip(part, rights, strict=True):
        of_form[reply.form].append(is_right)
    assert of_form.keys() == FORMS.keys()
    assert {form for form, each in of_form.items() if sum(each) / len(each) < LEAST_OF_A_FORM} == set()


def test_a_reply_of_the_grid_is_hardly_ever_right_for_what_else_it_mentions(part: list[Reply]) -> None:
    accepted = [(reply.text, target) for reply in part for target in reply.wrong if _accepts(reply, target)]
    assert len(accepted) <= 0.005 * len(part)
