"""The scorer for numbers and quantities within a tolerance."""

import re

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.number import number, read_claims


def _score(reply: str, target: object, **meta: object) -> Score:
    score = number(Sample.ask("s", "?", target=target, meta=meta), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score


@pytest.mark.parametrize(
    ("reply", "target", "meta"),
    [
        ("42", 42, {}),
        ("forty-two", "42", {}),
        ("There are 42 of them.", 42, {}),
        ("It is about 1,500 m away.", "1.5 km", {}),
        ("总共 3.5 公里。", "3500 m", {}),
        ("3.1416", 3.14159265, {"tolerance": 0.0001}),
        ("99", "100", {"relative_tolerance": 0.01}),
        ("The answer is 5 km.", "5000", {"unit": "m"}),
        (r"\boxed{\frac{1}{2}}", "0.5", {}),
        ("一半", "50%", {}),
    ],
)
def test_it_is_right(reply: str, target: object, meta: dict[str, object]) -> None:
    assert _score(reply, target, **meta).points == 1


@pytest.mark.parametrize(
    ("reply", "target", "meta"),
    [
        ("43", 42, {}),
        ("42 or 43", 42, {}),
        ("none", 42, {}),
        ("5 miles", "5 km", {}),
        ("5 km", "5", {}),
        ("3.1416", 3.14159265, {}),
        ("98.9", "100", {"relative_tolerance": 0.01}),
        ("a" * 1_000_000, 42, {}),
        ("", 42, {}),
    ],
)
def test_it_is_wrong(reply: str, target: object, meta: dict[str, object]) -> None:
    assert _score(reply, target, **meta).points == 0


def test_the_same_words_without_a_number_do_not_count() -> None:
    assert _score("many", "many").points == 0


def _read(reply: str, question: str = "") -> list[str]:
    return [amount.text for amount in read_claims(reply, question).amounts]


def test_the_only_number_of_a_text_is_taken_with_its_unit() -> None:
    assert _read("It weighs 5 kg, more or less.") == ["5 kg"]
    assert _read("It costs $5.") == ["$5"]
    assert _read("from 5 to 6") == []


SCENES = [
    ("", "In 2019 the plant made 530 cars."),
    ("", "2019年共造车530辆。"),
    ("How many cars?", "In 2019 the plant made 530 cars."),
    ("", "Question 12: the answer is 57."),
    ("", "第7题:12"),
    ("", "Step 3: 45 + 10 = 55"),
    ("", "two cats and 3 dogs"),
    ("How many cats?", "two cats and 3 dogs"),
    ("", "GPT-3 has 175 parameters."),
    ("", "Tom has 15 apples and Ann has 6."),
    ("", "50÷8=6……2"),
    ("小明有几本？", "小明有5本书,小华有两本。"),
    ("", "The price fell from 80 to 60 dollars in 2020."),
]


@pytest.mark.parametrize(("question", "reply"), SCENES)
def test_of_all_numbers_in_a_reply_at_most_one_is_accepted_as_the_target(question: str, reply: str) -> None:
    targets = {*re.findall(r"\d+", reply), "2", "3", "7"}
    scores = [number(Sample.ask("s", question or "?", target=one), Trajectory.of(reply)) for one in targets]
    assert sum(isinstance(score, Score) and score.points == 1 for score in scores) <= 1


def test_two_amounts_between_which_a_reply_leaves_open_are_not_scored_where_one_is_right() -> None:
    sample = Sample.ask("s", "?", target="15")
    score = number(sample, Trajectory.of("Tom has 15 apples and Ann has 6."))
    assert isinstance(score, Unscored)
    assert score.details["readings"] == ["15", "6"]
    wrong = number(sample, Trajectory.of("Tom has 14 apples and Ann has 6."))
    assert isinstance(wrong, Score)
    assert wrong.points == 0


def test_without_a_target_there_is_no_score() -> None:
    assert isinstance(number(Sample.ask("s", "?"), Trajectory.of("42")), Unscored)


@pytest.mark.parametrize(
    ("question", "reply", "amounts"),
    [
        ("把2.5米换算成厘米是多少？", "1米=100厘米，所以2.5米等于250厘米。", ["250厘米"]),
        ("How many feet are in 4 yards?", "One yard is 3 feet, so 4 yards is 12 feet.", ["12 feet"]),
        ("存两年，利息一共多少元？", "利息=5000×3%×2=300元，到期合计5300元。", ["300元"]),
        ("4、6、8 的平均数是多少？", "它们的和是18，除以3得6，所以平均数为6。", ["6"]),
        ("Convert 3 miles to kilometres.", "3 miles is 4.827 km. Rounded, that's about 5 km.", ["4.827 km"]),
        ("What is 2 divided by 3, to 2 decimals?", "2/3 ≈ 0.67", ["0.67"]),
        ("Of 40 people 30 agreed. What percent is this?", "30/40 = 3/4, which means 75% agreed.", ["75%"]),
        (
            "How many minutes is the film?",
            "The film takes 1 hour and 40 minutes, i.e. 100 minutes.",
            ["1 hour 40 minutes"],
        ),
        (
            "He bought 5 more. How many cards does he have now?",
            "He gave away 6, which left him with 20. After buying 5 he has 25.",
            ["25"],
        ),
        ("How many buses are needed?", "47 / 3 = 15.7, so about 16 buses are needed.", ["16"]),
        ("How many apples does he have now?", "He now has 12 apples, 4 of which are red.", ["12"]),
        ("How many miles is a km?", "1 km is 0.62 miles.", ["0.62 miles"]),
        ("How many legs do they have?", "- Dogs: 3 × 4 = 12\n- Birds: 2 × 2 = 4\n- Total: 12 + 4 = 16", ["16"]),
        ("A cook needs 2 kg. How much rice for 10?", "You need 5 kg of rice.", ["5 kg"]),
        ("Sam works 10 hours. What is his weekly pay?", "Sam's weekly pay is $630.", ["$630"]),
    ],
)
def test_it_reads_the_amount_that_answers_among_those_of_the_way_there(
    question: str, reply: str, amounts: list[str]
) -> None:
    assert _read(reply, question) == amounts


def test_a_day_of_the_month_and_a_percentage_may_stand_without_their_endings() -> None:
    day = Sample.ask("s", "What date is it in a week?", target="21")
    share = Sample.ask("s", "全班50人，46人及格，及格率是多少？", target="92")
    for sample, reply in ((day, "It will be the 21st."), (share, "及格率 = 46 ÷ 50 = 92%")):
        score = number(sample, Trajectory.of(reply))
        assert isinstance(score, Score)
        assert score.points == 1
    score = number(Sample.ask("s", "Who came in?", target="21"), Trajectory.of("the 21st"))
    assert isinstance(score, Score)
    assert score.points == 0


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("In which year did the wall fall?", "It fell on 9 November 1989. It had stood since 1961.", "1989"),
        ("What year was she born?", "She was born on 1921-05-03.", "1921"),
        ("中华人民共和国成立于哪一年？", "中华人民共和国成立于1949年10月1日。", "1949"),
        ("What is √2, rounded to two decimals?", "√2 ≈ 1.41421356…, which rounds to **1.41**.", "1.41"),
        ("What is the probability?", r"It is $\frac{2}{6} = \frac{1}{3}$.", "1/3"),
    ],
)
def test_the_year_of_a_date_a_rounded_number_and_a_fraction_are_read(question: str, reply: str, target: str) -> None:
    sample = Sample.ask("q", question, target=target)
    assert number(sample, Trajectory.of(reply)).points == 1  # type: ignore[union-attr]
