"""`choice` on the grid of generated replies: letters, texts, clauses, conclusions, with a remark about another option. The bounds may only rise."""

from collections import defaultdict

import pytest
from bench.choice_replies import ChoiceReply, replies

from proctor_judging.matching.option_letters import claimed_by_text, read_choice
from proctor_judging.scorers.choice import OptionClaims, read_claims

EVERY = 3  # of the replies


def _read(reply: ChoiceReply) -> OptionClaims:
    return read_claims(reply.text, reply.item.asked, options=list(reply.item.options))


def test_nearly_all_replies_of_the_grid_choose_what_they_say_and_none_another_option() -> None:
    of_form: dict[str, list[bool]] = defaultdict(list)
    wrong = []
    for reply in list(replies())[::EVERY]:
        readings = _read(reply).readings
        of_form[reply.form].append(readings == (reply.item.right,))
        wrong += [reply.text for reading in readings[:1] if len(readings) == 1 and reading != reply.item.right]
    assert {form for form, rights in of_form.items() if sum(rights) / len(rights) < 0.96} == set()
    assert wrong == []


SHAPES = ["Parallelogram", "Trapezoid", "Rhombus", "Rectangle"]


@pytest.mark.parametrize(
    ("question", "options", "reply", "letter"),
    [
        ("Which is NOT a language?", ["Python", "Java", "HTML", "Rust"], "Python, Java and Rust are languages. HTML is markup, so the one that isn't is C.", "C"),
        ("Which is renewable?", ["Coal", "Gas", "Wind", "Oil"], "C. Coal, gas and oil are fossil fuels.", "C"),
        ("Which shape has one pair of parallel sides?", SHAPES, "At first A looks possible, but a parallelogram has two. The right choice is B, trapezoid.", "B"),
        ("Which is the largest mammal?", ["Elephant", "Blue whale"], "The blue whale is the largest mammal. The elephant (A) is the largest on land.", "B"),
        ("抗战胜利是在哪一年？", ["1937年", "1943年", "1945年"], "抗战全面爆发于1937年，胜利于1945年。", "C"),
        ("维生素C缺乏会导致？", ["夜盲症", "坏血病"], "缺乏维生素C会导致坏血病（B）。夜盲症是缺维生素A。", "B"),
        ("Which number is divisible by 9?", ["124", "235", "378"], "- A: 7\n- B: 10\n- C: 18\n\nOnly C works.", "C"),
    ],
)  # fmt: skip
def test_what_is_announced_or_said_in_the_words_of_the_question_is_chosen(
    question: str, options: list[str], reply: str, letter: str
) -> None:
    asked = "\n".join([question, *(f"{label}. {text}" for label, text in zip("ABCD", options, strict=False))])
    assert read_claims(reply, asked, options=options).readings == (letter,)


def test_a_letter_with_the_text_of_another_option_stays_open_and_a_remark_about_it_does_not() -> None:
    options = ["Nice", "Lyon"]
    assert len(read_claims("A. Lyon", "Where?", options=options).readings) == 2
    assert read_claims("A. Lyon has a museum of silk.", "Which city is on the sea?", options=options).readings == ("A",)


def test_an_announced_choice_is_marked() -> None:
    assert read_choice("The answer is B.", "ABCD").marked
    assert not read_choice("I like B a lot, more than A.", "ABCD").marked
    texts = {"A": "shark", "B": "dolphin"}
    assert claimed_by_text("Dolphin. A shark is a fish.", "AB", texts, "Which is a mammal?") == "B"
