"""The same answer said in another form is right; another answer, a guess or a condition in the same form is not."""

import pytest
from answer_points import points

from proctor_judging.matching.replies import match_claim
from proctor_judging.matching.verdict import AnswerOptions


@pytest.mark.parametrize(
    ("question", "said", "same", "another"),
    [
        ("Which strait is it?", "the Strait of Gibraltar", "Gibraltar", "the Strait of Malacca"),
        ("Which lake is the deepest?", "Long Lake", "Long", "Silver Lake"),
        ("Which lake is the deepest?", "Lake Victoria", "Victoria", "Victoria Falls"),
        ("Which university is it?", "University of Miami", "Miami", "Miami University"),
        ("What causes tides?", "the gravity of the Moon", "the Moon's gravity", "the Sun's gravity"),
        ("Why is it late?", "a safety certificate is missing", "missing safety certificate", "missing safety report"),
        ("Why was it held?", "the credit limit had been exceeded", "credit limit exceeded", "credit limit not exceeded"),
        ("Where does he live?", "221B Baker Street in London", "221B Baker Street, London", "221B Baker Street, Leeds"),
        ("Which flight is it?", "KL 601", "KL601", "KL 602"),
        ("Which king was it?", "Henry VIII", "Henry the Eighth", "Henry the Seventh"),
        ("Which method adds an item?", "list.append(x)", "append", "list"),
        ("Which method adds an item?", "list.append(x)", "list.append()", "list.append(y)"),
        ("Which file fails?", "tests/unit/test_store.py", "test_store.py", "tests/test_store.py"),
        ("Which variable is set?", "APP_LEVEL=debug", "APP_LEVEL", "debug"),
        ("What is the sum?", "11/12", "11/12", "9/12"),
        ("How much did the tunnel cost?", "340000000 kronor", "340 million kronor", "340 kronor"),
        ("What time is check-out?", "11 in the morning", "11 am", "11 pm"),
    ],
)  # fmt: skip
def test_another_wording_of_an_answer_is_the_same_and_another_answer_is_not(
    question: str, said: str, same: str, another: str
) -> None:
    assert match_claim(said, same, question, AnswerOptions()).right
    assert not match_claim(said, another, question, AnswerOptions()).right


@pytest.mark.parametrize(
    ("question", "reply", "said"),
    [
        ("Can a user delete it?", "Unfortunately no; only owners have permission to delete it.", "no"),
        ("Can one person install it alone?", "According to these instructions, no: two people are needed.", "no"),
        ("Can I freeze cooked rice?", "Sure can 👍 Let it cool and use it within a month.", "yes"),
        ("Are bananas berries?", "Weirdly enough, they are 🍌 Strawberries, on the other hand, aren't.", "yes"),
        ("If I pay on the 4th, am I late?", "The 4th is inside the grace window, so you're not late.", "no"),
        ("Am I eligible for leave?", "Based on the handbook, you are eligible. The minimum is six months.", "yes"),
        ("Has a woman ever won the medal?", "Certainly. Maryam Mirzakhani received it in 2014.", "yes"),
        ("Did they perform at Woodstock?", "I'm afraid they didn't. The Who were on the bill.", "no"),
        ("Will my points expire?", "They won't. Your points stay active.", "no"),
        ("Did Gandhi win the prize?", "Although he was nominated several times, he never received it.", "no"),
        ("Do I need a visa?", "No visa needed! As a citizen you're covered.", "no"),
        ("Can you see the wall from space?", "That one's a myth! It's too narrow.", "no"),
        ("Is everything in stock?", "Not everything, no: the chair is out of stock.", "no"),
    ],
)
def test_yes_and_no_are_read_in_the_words_of_a_pronoun_and_after_an_adverb(
    question: str, reply: str, said: str
) -> None:
    assert points(question, reply, said) == 1
    assert points(question, reply, {"yes": "no", "no": "yes"}[said]) == 0


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Am I late?", "You're late if you pay after the 7th."),
        ("Am I late?", "Some say you're late."),
        ("Am I late?", "You could be late."),
        ("Is it legal in Spain?", "It is legal in Portugal."),
        ("Will it rain tomorrow?", "It will rain today."),
        ("Is he older than Tom?", "He is older than Jim."),
    ],
)
def test_a_condition_a_guess_and_another_thing_are_no_yes(question: str, reply: str) -> None:
    assert points(question, reply, "yes") != 1


def test_a_denial_after_a_polite_word_is_no() -> None:
    assert points("Did Rome fall in 476?", "Certainly. Rome did not fall in 476.", "yes") == 0


@pytest.mark.parametrize(
    ("question", "reply", "right", "wrong"),
    [
        ("Which country gave the Statue of Liberty to the United States?", "It was a gift from the people of France.", "France", "people"),
        ("In what year was the phone released?", "The phone was announced in January 2007 and went on sale on June 29, 2007.", "2007", "January 2007"),
        ("When does my plan renew?", "Your plan renews on 1 May.", "1 May", "1"),
        ("What was the population in 2020?", "It stood at 430, down from 1,210 seven decades before.", "430", "1,210"),
    ],
)  # fmt: skip
def test_a_claim_with_more_or_fewer_words_is_one_claim_and_its_owner_or_a_rival_is_another(
    question: str, reply: str, right: str, wrong: str
) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


def test_whose_assistant_it_was_did_not_do_it() -> None:
    assert (
        points("Who discovered penicillin?", "Alexander Fleming's assistant discovered it.", "Alexander Fleming") != 1
    )
