"""What the script of a user and earlier results decide, and what nobody says."""

import json

import pytest

from proctor.core.sample import Sample
from proctor_audit.playing import PlayedCall
from proctor_audit.unsaid import categories, script_of, undecided_choice, unsaid_category, unsaid_number

PROFILE = PlayedCall(
    name="get_user",
    result=json.dumps({"cards": {"credit_card_17": {"brand": "visa"}, "gift_card_23": {"amount": 40}}, "age": 31}),
)


@pytest.mark.parametrize(
    ("script", "undecided"),
    [
        ("please refund me", ["gift_card_23"]),
        ("to my gift card, please", []),
        ("use gift_card_23", []),
        ("to my visa", ["gift_card_23"]),
        ("to the one with 40 dollars", []),
    ],
)
def test_one_of_several_records_is_decided_by_its_name_or_by_what_it_holds(script: str, undecided: list[str]) -> None:
    call = PlayedCall(name="refund", arguments={"to": "gift_card_23", "order": "W1"})
    assert [value for _, value in undecided_choice(call, script, [PROFILE])] == undecided


@pytest.mark.parametrize(
    ("script", "results", "unsaid"), [("50 please", "", []), ("now", '{"a": 50}', []), ("150", "", [50])]
)
def test_a_number_stands_in_the_script_or_in_a_result(script: str, results: str, unsaid: list[int]) -> None:
    call = PlayedCall(name="give", arguments={"amount": 50, "bags": 1})
    assert [value for _, value in unsaid_number(call, script, results)] == unsaid


def test_a_reason_of_a_few_kinds_has_to_be_said_and_free_words_need_not() -> None:
    calls = [
        PlayedCall(name="cancel", arguments={"reason": "ordered by mistake", "note": f"note {n}"}) for n in range(2)
    ]
    known = categories([[call] for call in calls])
    assert [name for name, _ in unsaid_category(calls[0], "cancel it", "", known)] == ["reason"]
    assert [*unsaid_category(calls[0], "i ordered it by mistake", "", known)] == []
    assert [*unsaid_category(calls[0], "cancel it", "Ordered by mistake?", known)] == []


def test_the_script_of_a_simulated_user_counts_and_the_criteria_do_not() -> None:
    meta = {"task": {"user_scenario": {"instructions": ["Ask for 50."]}, "criteria": {"amount": "77"}}}
    sample = Sample(id="a", turns=(), meta=meta)
    assert "50" in script_of(sample)
    assert "77" not in script_of(sample)
