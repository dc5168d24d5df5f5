"""Replies that answer with their first words, and values that are known by their form, in English."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.typed_values import read_options, typed_value
from proctor_judging.scorers.answer import answer

GASES = "Which of these is a gas? A) iron B) argon C) mercury"
READ = [  # question, reply, targets that are right, targets that are wrong
    # the first words, and what is added after them
    ("When was the bridge opened?", "May 4, 1926, exactly a year after the tunnel. It was widened on June 1, 1961.", ["4 May 1926"], ["1 June 1961", "1961"]),
    ("Which town held the fair?", "Marvik, with some 900 stalls. The flower show that year was in Lund.", ["Marvik"], ["Lund"]),
    ("How much is 20% of $45?", "$9.00. (10% is $4.50, and twice that makes $9.00.) So with the tip you pay $54.00.", ["$9"], ["$54", "$4.50"]),
    ("How much flour do I need for 8 people?", "600 g. That's 75 g a head, so 8 × 75 = 600. You also need 4 eggs.", ["0.6 kg"], ["75 g", "4"]),
    ("What time is it in Oslo when it's 9 a.m. in London?", "10 a.m. In winter and in summer the difference is 1 hour, so just add it.", ["10:00"], ["1 hour"]),
    ("What's 2^12?", "2^12 = 4,096. It's one more than 4,095.", ["4096"], ["4095"]),
    ("What is the half-life of this isotope?", "About 8,020 days (±30). The first figure was 7,950 days.", ["8020 days"], ["7950 days", "30"]),
    ("Who is older, the mayor of Ulm or the mayor of Bonn?", "The mayor of *Ulm*. Ann Vogel was born in 1950; Bo Kranz (*Bonn*) in 1961.", ["the mayor of Ulm"], ["the mayor of Bonn", "Bo Kranz"]),
    # blocks of code that show how the answer was got
    ("How many active users signed up in May?", "I ran it:\n```sql\nSELECT COUNT(*) FROM users WHERE month = 5;\n```\nIt returned **1,402** active users.", ["1402"], ["5"]),
    ("Which command lists files?", "```\nls -l\n```\nIt lists **files** with their sizes.", ["ls -l"], ["files"]),
    # forms
    ("What is the current version of `pay-api`?", "Production is running `pay-api` v4.2.1 (since Friday). Staging is on v4.3.0-rc1.", ["4.2.1"], ["4.3.0-rc1"]),
    ("Find the phone number of the Hotel Mira.", "I found a listing for Hotel Mira: +385 21 555 014. It is staffed all day.", ["+385 21 555 014"], ["a listing"]),
    ("What percentage of the disk is used?", "`/dev/sda1` is at 68% — 340 GB used out of 500 GB, leaving 160 GB.", ["68%"], ["160 GB", "340"]),
    # options
    (GASES, "The right answer is **B) argon**. It is in group 18.", ["argon", "B"], ["A", "iron"]),
    (GASES, "Iron and mercury are metals.\n\nAnswer: B", ["argon"], ["iron", "mercury"]),
    (GASES, "It's argon.", ["B"], ["A"]),
    ("Pick the right one. The largest is:\n1. Ulm\n2. Bonn", "2", ["Bonn"], ["Ulm"]),
    # ranges, limits, rates
    ("How many days does the tour take?", "Most people take **10 to 11 days**. Very fit ones need a week.", ["10-11 days"], ["10", "11 days"]),
    ("What is a normal heart rate?", "It is between 60 and 100 beats per minute. Athletes may be in the 40s.", ["60 to 100 beats per minute"], ["60", "100"]),
    ("How many days can I carry over?", "You can carry over up to five unused days. They expire on 31 March.", ["5", "up to 5 days"], ["31"]),
    ("What's the warranty on the pump?", "The pump comes with a 24-month limited warranty. Registering adds another 12 months.", ["24 months", "2 years"], ["12 months"]),
    ("What's the daily limit of the card?", "You can withdraw **€500 per day**. For payments it is €2,500 per day.", ["€500"], ["€2,500"]),
    ("What did the share close at?", "It closed at **$52.61**. It traded between $50.75 and $53.88.", ["52.61"], ["50.75"]),
    ("How many people were hurt?", "None – the report says no one was injured.", ["0"], ["1"]),
    # lists that are asked for
    ("Rank the towns by population, largest first.", "1. **Ulm** (143,900)\n2. **Bonn** (120,400)\n3. **Lund** (98,200)", ["Ulm, Bonn, Lund"], ["Bonn, Ulm, Lund"]),
    ("What are the colours of the flag, left to right?", "Blue, white, red.", ["blue, white, red"], ["red, white, blue"]),
    # places
    ("In which city was she born?", "She was born in Rome (in what's now Trastevere) on January 5, 1941.", ["Rome, Italy"], ["Italy"]),
    ("Which one saves me more, the card or the coupon?", "The card is better. With the coupon you'd pay $72.", ["the card"], ["the coupon", "$72"]),
]  # fmt: skip
NOT_SAID = [
    ("Who is the manager?", "Ann, in 2019; now it's Bo.", "Ann"),
    ("What is the capital?", "Ulm, according to old maps, but today it is Bonn.", "Ulm"),
    ("What is the current version of the app?", "The previous version was 2.1.", "2.1"),
    ("What is the phone number of the shop?", "Our old number, +44 20 7946 0381, is closed.", "+44 20 7946 0381"),
    ("What percentage of users stayed?", "More than 40% stayed.", "40%"),
    (GASES, "It's either A or B.", "argon"),
    (GASES, "Not B) argon but A.", "argon"),
    ("How many people were hurt?", "Nobody knows.", "0"),
    ("What's the warranty on the pump?", "There is no 24-month warranty on the pump.", "24 months"),
    ("Which city held the games?", "London.", "London, Canada"),
]


def points(question: str, reply: str, target: str) -> float:
    verdict = answer(Sample.ask("q", question, target=target), Trajectory.of(reply))
    return verdict.points if isinstance(verdict, Score) else 0.0


@pytest.mark.parametrize(("question", "reply", "right", "wrong"), READ)
def test_first_words_and_forms_are_read(question: str, reply: str, right: list[str], wrong: list[str]) -> None:
    assert {target: points(question, reply, target) for target in right} == dict.fromkeys(right, 1.0)
    assert {target: points(question, reply, target) for target in wrong} == dict.fromkeys(wrong, 0.0)


@pytest.mark.parametrize(("question", "reply", "target"), NOT_SAID)
def test_what_is_of_another_time_denied_or_open_is_not_right(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) == 0


def test_of_several_values_of_a_form_that_of_the_sentence_about_the_question_is_read() -> None:
    asked = read_asked("What is the hotline for lost cards?")
    assert typed_value("Call 020 7946 0381 about lost cards. The office has 020 7946 0300.", asked) == "020 7946 0381"
    assert typed_value("Call 020 7946 0381 or 020 7946 0300.", asked) == ""


def test_options_have_letters_or_numbers_in_order() -> None:
    assert read_options("Which? (a) 51 (b) 57 (c) 61") == {"a": "51", "b": "57", "c": "61"}
    assert read_options("Meet Ann B. Lee and C. Wu. Which one won?") == {}
