"""The ranker of the parts of a reply: what it reads, and that its work is bounded."""

import time

import pytest

from proctor.answer_matching.claim_ranker import MOST_WEIGHED, rank, readable
from proctor.answer_matching.claim_spans import MOST_SPANS
from proctor.answer_matching.claims import Claim, read_claims, settle

HOSTILE = [
    "a " * 30_000,
    "1, " * 20_000,
    "=" * 30_000,
    "(" * 10_000 + "x" + ")" * 10_000,
    "的" * 30_000,
    "甲、" * 20_000,
    "Smith and " * 8_000,
    "\\frac{" * 5_000,
]


@pytest.mark.parametrize("reply", HOSTILE, ids=lambda reply: reply[:6])
def test_the_work_for_a_hostile_reply_is_bounded(reply: str) -> None:
    began = time.process_time()
    ranking = rank(reply, "Which of them is it, 甲 or Smith?")
    assert time.process_time() - began < 1
    assert ranking is None or len(ranking.spans) <= MOST_SPANS
    assert ranking is None or sum(one > 0 for one in ranking.likelihoods) <= MOST_WEIGHED


def test_the_forms_of_a_claim_are_parts_of_one_another() -> None:
    ranking = rank("The capital of Peru is the old city of Lima, on the coast.", "What is the capital of Peru?")
    assert ranking is not None
    assert all(one in other or other in one for one in ranking.forms for other in ranking.forms)


def test_a_contrast_is_read_by_its_own_half() -> None:
    reply = "It was put up in 1961 and came down in 1989."
    assert [str(claim) for claim in read_claims(reply, "When was it put up?").readings] == ["1961"]
    assert [str(claim) for claim in read_claims(reply, "When did it come down?").readings] == ["1989"]


def test_what_says_yes_or_no_is_left_to_the_rules() -> None:
    readings = (Claim(truth=False),)
    assert settle(readings, "No, whales are mammals.", "Is a whale a fish?") == readings


def test_thoughts_and_the_middle_of_a_long_reply_are_not_read() -> None:
    assert readable("<think>Rome</think>Paris") == "Paris"
    assert len(readable("a" * 9_000)) < 2_000
