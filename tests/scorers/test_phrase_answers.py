"""Questions of each kind, answered in the forms that chat models use: the phrase that is new where the question has its gap is claimed."""

import itertools

import pytest
from answer_points import points

from proctor_judging.matching.noun_phrases import noun_phrases, read_tokens
from proctor_judging.matching.phrase_answers import read_phrase
from proctor_judging.matching.question_gap import read_gap

# question, its clause with {} where the answer is, answers, something else of the same kind
QUESTIONS = [
    ("What is the capital of Freedonia?", "The capital of Freedonia is {}.", ("Port Ellen", "Brask"), "Olm"),
    ("Which city hosted the winter fair?", "{} hosted the winter fair.", ("Lund", "Saint-Denis"), "Malmö"),
    (
        "Who wrote the report on tides?",
        "The report on tides was written by {}.",
        ("Ada Brandt", "Kofi Mensah"),
        "Lee Wu",
    ),
    ("Who repaired the organ?", "{} repaired the organ.", ("Ines Costa", "Tom van Dyk"), "Paul Roy"),
    ("Where was the canoe found?", "The canoe was found in {}.", ("Lake Vän", "Tartu"), "Riga"),
    (
        "Which cheese is used in this pie?",
        "This pie is traditionally made with {}.",
        ("ricotta", "goat cheese"),
        "brie",
    ),
    ("What does the gauge measure?", "The gauge measures {}.", ("air pressure", "humidity"), "wind speed"),
    ("Which gas do the plants absorb?", "The plants take in {}.", ("carbon dioxide", "ammonia"), "oxygen"),
    ("What is the name of the ferry?", "Its name is {}.", ("Stella", "Blue Heron"), "Aurora"),
    ("Which keyword starts a loop?", "You start a loop with {}.", ("`foreach`", "`loop`"), "while"),
]
FORMS = [
    "{short}",
    "{short}.",
    "**{short}**",
    "{sentence}",
    "So {lower}",
    "As far as I know, {lower}",
    "Great question! {sentence}",
    "{sentence} Let me know if you need more.",
    "{sentence} The work took a long time, and few remember it.",
    "It's {short}.",
    "That would be {short}.",
    "Answer: {short}",
    "{short}, which surprised many.",
    "{short} – a good choice.",
    "Many people say {other}, but it's actually {short}.",
    "It's {short}, not {other}.",
]


GRID = [
    (question, form.format(short=right, sentence=sentence, lower=sentence[:1].lower() + sentence[1:] if sentence[:1] != right[:1] else sentence, other=other), right.strip("`"), other)
    for (question, clause, answers, other), form in itertools.product(QUESTIONS, FORMS)
    for right in answers
    for sentence in [clause.format(right)]
]  # fmt: skip


def test_most_forms_of_most_questions_are_read() -> None:
    accepted = [points(question, reply, right) == 1 for question, reply, right, _ in GRID]
    assert sum(accepted) >= 0.97 * len(accepted)


def test_what_a_reply_only_mentions_is_never_accepted() -> None:
    wrong = [(reply, other) for question, reply, _, other in GRID if points(question, reply, other) == 1]
    assert wrong == []


@pytest.mark.parametrize(
    ("question", "reply", "right"),
    [
        ("Which planet has the most moons?", "Saturn currently holds the record.", "Saturn"),
        ("Who is the narrator of the novel?", "Nick Carraway narrates the story.", "Nick Carraway"),
        ("Who designed the hall?", "The Danish architect Jorn Utzon designed it.", "Jorn Utzon"),
        ("Which country won the cup?", "The trophy was lifted by Peru.", "Peru"),
        ("Which two countries share the island?", "Haiti and the Dominican Republic share it.", "Haiti and the Dominican Republic"),
        ("Who wrote Dracula?", "Its author was Bram Stoker, who managed a theatre.", "Bram Stoker"),
        ("Which company owns LinkedIn?", "It was founded by Reid Hoffman.\n\n**Owner:** Microsoft", "Microsoft"),
        ("What should she drink?", "She should try drinking more water.", "more water"),
        ("Which bread is baked in a tandoor?", "You're probably thinking of **naan**, a leavened flatbread.", "naan"),
        ("What is the hero's name in The Song of Ann?", "Her name is Ann, and the villain is called Link.", "Ann"),
        ("What instrument does Clara play?", "Clara quit the violin and plays the cello.", "the cello"),
        ("Which is heavier, a kilo of iron or a kilo of feathers?", "Neither! They weigh the same.", "neither"),
        ("Is a tomato botanically a fruit or a vegetable?", "Botanically, a tomato is a fruit.", "fruit"),
        (
            "Which river flows through Vienna?",
            "The river you are looking for is the Danube.\n\nSome details:\n- **Source:** the Black Forest",
            "the Danube",
        ),
        ("Who directed it?", "I'm not entirely certain, but I believe it was Jane Campion.", "Jane Campion"),
        ("Which instrument has 88 keys?", "A standard piano has 88 keys.", "piano"),
        ("Does it count as a wonder?", "Actually, it doesn't. It never did.", "no"),
        ("What is the default port?", "443. Telnet uses 23.", "443"),
        ("Which port does it use?", "It listens on TCP port 443 by default.", "443"),
        ("Which of these is a reptile: frog, newt or tortoise?", "The tortoise is. Frogs and newts are amphibians.", "tortoise"),
        ("Which day is the concert?", "It's on Sunday now. It was originally planned for Saturday.", "Sunday"),
        ("What does a barometer measure?", "A barometer is an instrument. It measures atmospheric pressure.", "atmospheric pressure"),
        ("Which structure is it?", "1. One is a queue.\n2. One is a stack.\n\nSo the answer is a **stack**.", "stack"),
        ("Which war did the treaty end?", "The treaty, signed in 1919, formally ended the First World War.", "World War I"),
        ("Which mammal can fly?", "Bats are the only mammals that can fly.", "bat"),
        ("Where is the museum?", "In Paris, on the right bank of the Seine.", "Paris"),
        ("What is the main ingredient?", "Chickpeas (garbanzo beans), blended with oil and lemon.", "chickpeas"),
        ("What's the plural of \"criterion\"?", "The plural is **criteria**.", "criteria"),
        ("What's the time complexity of binary search?", "It takes O(log n) time. In the best case it's O(1).", "O(log n)"),
        ("What is the boiling point of water in Celsius?", "100 degrees", "100 °C"),
        ("In Python, is a tuple mutable?", "A tuple can't be changed, so no. Use a list instead.", "no"),
        ("Which side won, the French or the northern coalition?", "The coalition won. The French lost.", "the northern coalition"),
        ("Who composed it?", "The composer is Antonio Vivaldi (1678–1741), a violinist and priest.", "Antonio Vivaldi"),
        ("Which tool is it?", "PUT is the usual choice; PATCH is meant for partial updates.", "PUT"),
    ],
)  # fmt: skip
def test_the_phrase_in_the_gap_is_claimed(question: str, reply: str, right: str) -> None:
    assert points(question, reply, right) == 1


@pytest.mark.parametrize(
    ("question", "reply", "mentioned"),
    [
        ("Which team won?", "France lost the final.", "France"),
        ("Which city hosted the games?", "Paris and Madrid were also candidates.", "Paris"),
        ("Who wrote it?", "I doubt that Miller wrote it.", "Miller"),
        ("Who wrote it?", "It was hardly Miller.", "Miller"),
        ("What is the tallest mountain in Japan?", "Mount Aso is the second tallest mountain in Japan.", "Mount Aso"),
        ("Where was she born?", "She was born near Warsaw, in Lodz.", "Warsaw"),
        ("Which is cheaper?", "Phone B costs more than Phone A.", "Phone B"),
        ("What caused the fire?", "Investigators ruled out a faulty wire.", "a faulty wire"),
        ("What does Anna want to become?", "Anna no longer wants to become a doctor.", "a doctor"),
        ("Which country hosted it?", "It was held in Peru, and Spain won it.", "Spain"),
        ("Who directed Jaws?", "I'm not sure, but I think it was Steven Spielberg.", "Steven Spielberg"),
        ("Who directed Jaws?", "I'm not really certain, but it was Spielberg.", "Spielberg"),
        ("What does the reactor use?", "It uses heavy water.", "water"),
        ("What was on the plate?", "There was a hot dog on the plate.", "dog"),
        ("Which animal lives there?", "The red panda lives there.", "panda"),
        ("What is the metal?", "It is zinc (not tin).", "not tin"),
        ("In which year did the wall fall?", "It was built in 1961 and came down in 1989.", "1961"),
        ("What is the default port?", "443. Telnet uses 23.", "23"),
        ("What is the plural of mouse?", "The plural is mouses.", "mouse"),
        ("Who is speaking?", "It is her father.", "his father"),
        ("What is the capital of Canada?", "The capital is Ottawa. Many assume that it is Toronto.", "Toronto"),
        (
            "Which exception is raised?",
            "It raises a `KeyError`. By contrast, `[].pop` raises an `IndexError`.",
            "IndexError",
        ),
    ],
)
def test_a_clause_that_denies_doubts_or_compares_claims_nothing(question: str, reply: str, mentioned: str) -> None:
    assert points(question, reply, mentioned) != 1


def test_a_list_is_claimed_as_a_whole() -> None:
    assert read_phrase("The flag is green, white and red.", "Which colours has the flag?")[0] == "green, white and red"
    assert "green" not in read_phrase("The flag is green, white and red.", "Which colours has the flag?")


def test_words_without_a_dictionary_are_nouns_and_the_verb_splits_the_clause() -> None:
    text = "The old zorble narrates a quiet story"
    tokens = read_tokens(text)
    phrases = [text[tokens[start].start : tokens[end - 1].end] for start, end in noun_phrases(tokens)]
    assert phrases[-1] == "a quiet story"


@pytest.mark.parametrize("question", ["Why is it so?", "How many are there?", "Is it red or blue?", "Compute 3 + 4."])
def test_a_question_without_a_gap_for_a_phrase_has_none(question: str) -> None:
    assert read_gap(question) is None
