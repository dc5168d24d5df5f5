"""What a question asks for, and replies that say yes or no, in the words that people and models use."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.english_replies import read_english_reply
from proctor_judging.matching.english_spans import read_english_spans
from proctor_judging.matching.replies import match_claim
from proctor_judging.matching.verdict import AnswerOptions
from proctor_judging.matching.weighed_claims import read_weighed_claims
from proctor_judging.scorers.answer import answer

PASSAGE = "The fox borrowed the tail, which he never gave back. Those who ask him hear nothing.\n\n"


@pytest.mark.parametrize(
    ("question", "kind", "clause"),
    [
        (PASSAGE + "Was the tail ever returned?", "truth", "Was the tail ever returned?"),
        (PASSAGE + "Who has the tail?", "words", "Who has the tail?"),
        (PASSAGE + "Am I right?", "truth", "Am I right?"),
        (PASSAGE + "So did he keep it?", "truth", "So did he keep it?"),
        ('The actor in "When Harry Met Sally..." had what first name?', "", None),
        ("Tell me whether the key has expired.", "truth", None),
        ("is pluto still a planet or nah", "truth", None),
        ("Rent is due on the 1st. If I pay on the 4th, am I late?", "truth", None),
        ("Isn't it red?", "truth", None),
        ("How much memory, in bytes, does a C array take?", "amount", None),
        ("my wall is 190 cm wide, will a 2 meter sofa fit", "truth", None),
        ("What product did customer 1108 return?", "", None),
        ("What is the product of 3 and 4?", "amount", None),
        ("What time zone is Phoenix in?", "", None),
        ("What time is it in Phoenix?", "moment", None),
        ("Name the algorithm that is used when weights are negative.", "", None),
        ("Name the year when the war ended.", "moment", None),
    ],
)
def test_what_is_asked_for(question: str, kind: str, clause: str | None) -> None:
    asked = read_asked(question)
    assert asked.kind == kind
    assert clause is None or asked.clause == clause


@pytest.mark.parametrize(
    ("reply", "truth"),
    [
        ("Plenty of people would answer yes, but it's a no: bats form an order of their own.", False),
        ("It needs a medium. In a vacuum there are no particles. For this reason the answer is no. Light is different.", False),
        ("To a cook, no, but botanically speaking, yes: it develops from the ovary.", True),
        ("Normally no. It's levied on goods coming in.", False),
        ("That's right, payroll sits behind it.", True),
        ("Nah, it was bumped down in 2006.", False),
        ("Believe it or not, yes!", True),
        ("Yes, no doubt about it.", True),
        ("Yes indeed, it has seeds.", True),
        ("It holds the seeds, so no.", False),
        ("A fruit holds the seeds, so this one isn't.", False),
        ("The answer is no longer known.", None),
        ("Some say the answer is yes, but nobody knows.", None),
        ("I'm not sure the answer is yes.", None),
        ("It might be that the answer is yes.", None),
        ("Many people think the answer is yes.", None),
        ("If it has seeds, the answer is yes.", None),
        ("If it has seeds, yes.", None),
        ("My colleague said: yes.", None),
        ("Older schoolbooks said yes, but the answer is no: it has seeds.", False),
        ("It may be yes.", None),
    ],
)  # fmt: skip
def test_a_yes_or_no_within_a_reply(reply: str, truth: bool | None) -> None:
    claims = read_weighed_claims(reply, "Is a tomato a fruit?")
    assert [claim.truth for claim in claims.readings] == ([] if truth is None else [truth])


@pytest.mark.parametrize(
    ("reply", "truth"),
    [
        ("Don't worry, you can freeze it.", True),
        ("Don't hesitate, it freezes well.", None),
        ("Please don't!! It is bad.", False),
        ("Don't do that. It is bad.", False),
    ],
)
def test_what_one_may_not_do_is_a_no(reply: str, truth: bool | None) -> None:
    claims = read_weighed_claims(reply, "Can I freeze cooked rice?")
    assert [claim.truth for claim in claims.readings] == ([] if truth is None else [truth])


@pytest.mark.parametrize(
    "reply",
    [
        "Many people think the answer is Paris.",
        "I'm not sure the answer is Paris.",
        "It might be that the answer is Paris.",
        "I doubt that the answer is Paris.",
    ],
)
def test_an_announcement_that_is_doubted_announces_nothing(reply: str) -> None:
    score = answer(Sample.ask("q", "Which city is it?", target="Paris"), Trajectory.of(reply))
    assert isinstance(score, Score)
    assert score.points == 0


@pytest.mark.parametrize(
    ("claim", "target", "is_arguable"),
    [
        ("Because the credit limit of the card had been exceeded.", "credit limit exceeded", True),
        ("Because the credit limit had not been exceeded.", "credit limit exceeded", False),
        ("It does not carry oxygen to the tissues.", "carrying oxygen", False),
        ("It carries five red apples.", "carrying three red apples", False),
    ],
)
def test_a_target_of_which_a_claim_has_most_words_is_arguable_unless_it_says_otherwise(
    claim: str, target: str, is_arguable: bool
) -> None:
    score = answer(Sample.ask("q", "Why was it put on hold?", target=target), Trajectory.of(claim))
    assert isinstance(score, Unscored) is is_arguable
    assert is_arguable or (isinstance(score, Score) and score.points == 0)


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("What kind of damage is not covered?", "Frost damage is excluded", False),
        ("What kind of damage is covered?", "Frost damage is excluded", True),
        ("What kind of damage isn't covered?", "Frost damage is excluded", False),
        ("What colour do you get by mixing blue and yellow paint?", "Blue plus yellow gives you green", False),
        ("How many more titles did Graf win than Monica Seles?", "Graf won 13 more than Seles", False),
        ("How many more titles did Graf win than Monica Seles?", "Seles won 13 more than Graf", True),
        ("How many United Nations member states are there?", "the UN has 193 member states", False),
        ("Which knot does not slip?", "Climbers would tie a bowline", False),
    ],
)
def test_what_a_sentence_contradicts(question: str, sentence: str, expected: bool) -> None:
    assert contradicts(sentence, question) is expected


@pytest.mark.parametrize(
    ("question", "reply", "said", "silent"),
    [
        ("Who built it?", "It was built by the Inca, probably as an estate for Pachacuti.", "Inca", "Pachacuti"),
        ("Who built it?", "It was built by the Inca, probably.", "", "Inca"),
        ("What do plants take in?", "They take in carbon dioxide, right?", "", "carbon dioxide"),
        ("What do plants take in?", "They take in carbon dioxide?", "", "carbon dioxide"),
        ("Which ingredient is missing?", "The flour isn't missing; the sugar is.", "sugar", "flour"),
        ("Which test is missing?", "It has unit tests, but no integration tests.", "integration tests", ""),
        ("Which tests does it have?", "It has unit tests, but no integration tests.", "unit tests", "integration tests"),
        ("What is the sacred mountain?", "No prizes for guessing: Mount Fuji.", "Mount Fuji", ""),
        ("Who painted it?", "None other than Michelangelo.", "Michelangelo", ""),
        ("Who painted it?", "Perhaps surprisingly, it was Michelangelo.", "Michelangelo", ""),
        ("Who painted it?", "Perhaps it was Michelangelo.", "", "Michelangelo"),
        ("What is the dose?", "Adults get 0.5 mg and may be given 0.7 mg later.", "0.5 mg", "0.7 mg"),
    ],
)  # fmt: skip
def test_a_word_of_doubt_silences_what_it_is_about(question: str, reply: str, said: str, silent: str) -> None:
    spans = [span.text for span in read_english_spans(read_english_reply(reply, question))]
    assert not said or said in spans
    assert not silent or silent not in spans


@pytest.mark.parametrize(
    ("given", "target", "other", "question"),
    [
        ("21%", "about 21 percent", "about 22 percent", "What percentage is oxygen?"),
        ("roughly 5 km", "5 km", "6 km", "How far is it?"),
        ("大约3天", "3天", "4天", "要几天？"),
    ],
)
def test_what_is_said_to_be_rough_is_compared_without_that_word(
    given: str, target: str, other: str, question: str
) -> None:
    assert match_claim(given, target, question, AnswerOptions()).right
    assert not match_claim(given, other, question, AnswerOptions()).right
