"""`number` on the grid of generated replies: derivations, facts with a remark, conclusions, checks. The bounds may only rise."""

from collections import defaultdict

import pytest
from bench.amount_replies import AmountReply, replies

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.amount_layout import answering, is_operand, is_result, last_step
from proctor_judging.scorers.number import number, read_claims

EVERY = 5  # of the replies; no divisor of the number of forms
LEAST_OF_A_FORM = 0.8
PART = list(replies())[::EVERY]


def _accepts(reply: AmountReply, target: str) -> bool:
    score = number(Sample.ask("grid", reply.question, target=target), Trajectory.of(reply.text))
    return isinstance(score, Score) and score.points == 1


def test_nearly_all_replies_of_the_grid_are_right_in_every_form() -> None:
    of_form: dict[str, list[bool]] = defaultdict(list)
    for reply in PART:
        of_form[reply.form].append(_accepts(reply, reply.right))
    rights = [right for form in of_form.values() for right in form]
    assert sum(rights) / len(rights) >= 0.98
    assert {form for form, right in of_form.items() if sum(right) / len(right) < LEAST_OF_A_FORM} == set()


def test_a_reply_of_the_grid_is_hardly_ever_right_for_what_else_it_mentions() -> None:
    accepted = [(reply.text, target) for reply in PART for target in reply.wrong if _accepts(reply, target)]
    assert len(accepted) <= 0.01 * len(PART)


@pytest.mark.parametrize(
    ("question", "reply", "amount"),
    [
        ("What is the median of 3, 9, 5, 7, 21?", "Sorted: 3, 5, 7, 9, 21. The middle value is 7.", "7"),
        ("Jack is 4 years older than Mia. Together they are 30. How old is Jack?", "2m = 26 and m = 13. Jack is therefore 17.", "17"),
        ("What is the square root of 196?", "The square root of 196 is 14, since 14 × 14 = 196.", "14"),
        ("8个苹果吃了5个，还剩几个？", "先算5个已吃，8-5=3个。一共吃了5个。", "3"),
        ("How many GB are free?", "600 GB are free. (1.5 TB = 1,500 GB, minus 900 GB in use.)", "600 GB are"),
        ("该市人口2022年310万，2023年325万，增加了多少万？", "由310万增至325万，增加了15万人。", "15万人"),
    ],
)  # fmt: skip
def test_the_amount_that_a_derivation_comes_to_is_the_answer(question: str, reply: str, amount: str) -> None:
    assert [claim.text for claim in read_claims(reply, question).amounts] == [amount]


def test_what_is_alone_at_the_start_or_the_end_of_a_reply_answers() -> None:
    assert answering(["5 slices", "They ate 7 in all"]) == ["5 slices"]
    assert answering(["They ate 7", "5 slices"]) == ["5 slices"]
    assert answering(["5 cats", "3 dogs"]) == ["5 cats", "3 dogs"]
    assert last_step("1. 4 + 3 = 7\n2. 12 - 7 = 5") == ["12 - 7 = 5"]
    assert last_step("- 5 cats\n- 3 dogs") == []


def test_arithmetic_has_operands_and_a_result() -> None:
    clause = "12 - 7 = 5"
    assert [is_operand(clause, *ends) for ends in ((0, 2), (5, 6), (9, 10))] == [True, True, False]
    assert [is_result(clause, at) for at in (0, 5, 9)] == [False, False, True]
    assert not is_operand("from 5 - 7 people", 5, 6)
