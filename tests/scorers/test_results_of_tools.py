"""Replies that report what a tool returned, or what two steps led to: rows, lists, reasons, titles, and what was not there."""

import pytest
from answer_points import points

TICKET = "Ticket 77\nStatus: open\nPriority: high\nAssignee: Jo Lind"
HOSTS = "db-01 → 10.4.0.21\ndb-02 → 10.4.0.22"
FLIGHTS = "Outbound: BA 902 on 4 July. Return: BA 907 on 11 July."
OUTAGE = "Affected services:\n* Checkout\n* Search\n\nLogin was not affected."
SOUP = "The soup contains celery and milk. It doesn't contain gluten or nuts."


@pytest.mark.parametrize(
    ("question", "reply", "right", "wrong"),
    [
        ("What is the status of ticket 77?", TICKET, "open", "high"),
        ("What is the priority of ticket 77?", TICKET, "high", "Jo Lind"),
        ("What is the IP address of host db-02?", HOSTS, "10.4.0.22", "10.4.0.21"),
        ("What is the flight number of the return flight?", FLIGHTS, "BA907", "BA902"),
        ("What is the serial number of the printer?", "SN: 7C-4481-QR", "7C-4481-QR", "SN"),
        ("What is the status of order 5?", "Previous status: shipped\nStatus: delivered", "delivered", "shipped"),
        ("What is the total of order 5?", "Status: shipped\nTotal: $5.20\nItems: 3", "$5.20", "3"),
    ],
)
def test_of_rows_with_labels_the_one_that_is_asked_for_answers(
    question: str, reply: str, right: str, wrong: str
) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


@pytest.mark.parametrize("reply", ["Status: maybe shipped\nTotal: $5", "Status: not shipped yet\nTotal: $5"])
def test_a_row_that_guesses_or_denies_claims_nothing(reply: str) -> None:
    assert points("What is the status of order 5?", reply, "shipped") != 1
    assert points("What is the status of order 5?", reply, "$5") != 1


@pytest.mark.parametrize(
    ("question", "reply", "right", "wrong"),
    [
        ("Which allergens does the soup contain?", SOUP, "milk and celery", "milk"),
        ("Which allergens does the soup contain?", SOUP, "celery, milk", "gluten, nuts"),
        ("Which services were affected?", OUTAGE, "checkout and search", "checkout, search, login"),
        ("Which tests failed?", "test_login and test_logout failed. The other tests passed.", "test_logout, test_login", "test_login"),
        ("Who are the maintainers of the repository?", "The README lists two maintainers: Ann Holt and Raj Rao.", "Raj Rao and Ann Holt", "Ann Holt"),
    ],
)  # fmt: skip
def test_a_question_in_the_plural_is_answered_by_the_whole_list(
    question: str, reply: str, right: str, wrong: str
) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


@pytest.mark.parametrize(
    ("question", "reply", "right", "wrong"),
    [
        ("What is the capital of the country where Volvo is headquartered?", "Volvo is headquartered in Gothenburg, Sweden. The capital of Sweden is Stockholm.", "Stockholm", "Gothenburg"),
        ("What is the capital of the country that won the 2018 World Cup?", "The 2018 World Cup was won by France, whose capital is Paris.", "Paris", "France"),
        ("Who directed the film that won in 2020?", "The film that won in 2020 was *Parasite*, directed by Bong Joon-ho.", "Bong Joon-ho", "Parasite"),
        ("Who manages the team that Ann joined?", "Ann joined the Platform team. It is managed by Raj Patel.", "Raj Patel", "Platform"),
        ("What is the half-life of the isotope described in the article?", "The article describes iodine-131, whose half-life is about 8 days.", "8 days", "131"),
        ("What currency is used in the country that borders Spain and Italy?", "The country bordering Spain and Italy is France, which uses the euro.", "euro", "France"),
        ("What is the capital of the country that won the 2018 World Cup?", "Paris is the capital of France, which won the 2018 World Cup.", "Paris", "France"),
    ],
)  # fmt: skip
def test_the_second_of_two_steps_answers(question: str, reply: str, right: str, wrong: str) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


def test_a_second_step_that_is_no_longer_so_claims_nothing() -> None:
    reply = "Ann joined the Platform team. It used to be managed by Raj Patel."
    assert points("Who manages the team that Ann joined?", reply, "Raj Patel") != 1


@pytest.mark.parametrize(
    ("question", "reply", "said"),
    [
        ("Are the Nile and the Amazon on one continent?", "They're not: the Nile is in Africa.", "no"),
        ("Is the shop open on Sunday?", "It's not — it closes on Saturday evening.", "no"),
        ("Are we on the same team?", "We're not on the same team.", "no"),
        ("Was any row deleted in the users table?", "No rows were deleted in `users`; it was rolled back.", "no"),
        ("Were any tests skipped?", "No tests were skipped.", "no"),
    ],
)
def test_a_short_denial_says_no(question: str, reply: str, said: str) -> None:
    assert points(question, reply, said) == 1
    assert points(question, reply, "yes") != 1


def test_that_no_job_did_another_thing_does_not_say_no() -> None:
    assert points("Did any job fail last night?", "No job succeeded last night.", "no") != 1


@pytest.mark.parametrize(
    ("reply", "right", "wrong"),
    [
        ("The head is Prof. Dr. Lena Brandt.", "Lena Brandt", "Anna Brandt"),
        ("The head is Prof. Dr. Lena Brandt.", "Prof. Lena Brandt", "Mr. Lena Brandt"),
        ("King Edward VII is the head.", "Edward VII", "Edward VIII"),
    ],
)
def test_a_name_is_the_same_without_any_of_its_titles(reply: str, right: str, wrong: str) -> None:
    assert points("Who is the head?", reply, right) == 1
    assert points("Who is the head?", reply, wrong) != 1


@pytest.mark.parametrize(
    "reply",
    [
        "The record doesn't include a middle name for this customer.",
        "There is no middle name on file.",
        "I couldn't find a middle name in the profile.",
    ],
)
def test_what_is_not_on_record_is_not_available(reply: str) -> None:
    assert points("What is the customer's middle name?", reply, "not available") == 1
    assert points("What is the customer's middle name?", reply, "Ann") != 1


def test_an_abbreviated_company_ends_no_sentence() -> None:
    question = "How much did Bluewave Ltd. spend in Q2?"
    assert points(question, "Bluewave Ltd. spent $171,950 in Q2.", "$171,950") == 1


FULL = "The build failed because the disk on the runner was full: the log ends with `No space left`."
TIMED_OUT = "The test failed because the mock server timed out after 30 seconds — it never returned."


@pytest.mark.parametrize(
    ("question", "reply", "right", "wrong"),
    [
        ("Why did the build fail?", FULL, "The runner's disk was full", "The disk"),
        ("Why did the build fail?", FULL, "the disk on the runner was full", "the disk on the server was full"),
        ("Why did the test fail?", TIMED_OUT, "the mock server timed out", "the mock server"),
        ("Why did the test fail?", TIMED_OUT, "The mock server timed out after 30 seconds", "the mock server crashed"),
        ("What happened to the transaction?", "It was rolled back after an error.", "It was rolled back", "an error"),
        ("What happened to the transaction?", "The transaction was rolled back.", "rolled back", "not rolled back"),
    ],
)
def test_a_reason_is_a_clause_and_not_its_subject(question: str, reply: str, right: str, wrong: str) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


@pytest.mark.parametrize(
    "reply",
    [
        "The test failed not because the server timed out but because the port was taken.",
        "The test failed, probably because the server timed out.",
        "Ann says that the test failed because the server timed out.",
        "The test did not fail because the server timed out.",
        "The test failed because the server never timed out.",
    ],
)
def test_a_reason_that_is_denied_guessed_or_reported_is_not_the_reason(reply: str) -> None:
    assert points("Why did the test fail?", reply, "the server timed out") != 1


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("How fast could it go?", "If repaired, it could reach 20 knots.", "20 knots"),
        ("How many pages may it have?", "It may have 12 pages or 14.", "12"),
        ("How many pages may it have?", "I'm not sure, it may have 12 pages.", "12"),
        ("What happened to the server?", "It crashed before the update, then recovered.", "It crashed"),
        ("Which services were affected?", "Possibly affected:\n- Checkout\n- Search", "checkout, search"),
        ("What is her middle name?", "The first record doesn't include it; the second says Ann.", "not available"),
        ("What is her middle name?", "I couldn't find it at first, but the record says it is Ann.", "not available"),
    ],
)
def test_a_condition_a_guess_or_what_is_said_afterwards_still_counts(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) != 1


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("How fast could it sail?", "She could reach 14 knots.", "14 knots"),
        ("How many stars does it have?", "About 12.4k stars", "12,400"),
        ("For how many days should it be taken?", "For a week, according to the prescription.", "7 days"),
        ("What is the deadline?", "The deadline is 31 October at 5 p.m. CET.", "October 31 at 17:00 CET"),
    ],
)
def test_an_amount_or_a_time_in_another_form_is_the_same(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) == 1
