"""What is said next to an answer is not the answer: what follows from it, its parts, who made it, what a text does not tell."""

import pytest
from answer_points import points


@pytest.mark.parametrize(
    ("question", "reply", "right", "wrong"),
    [
        ("How much is a 15% tip on a $60 bill?", "A 15% tip on $60 comes to $9, so you'd pay $69.", "$9", "$69"),
        ("Which side do people keep to in Malta?", "In Malta you keep left, so remember to look right first.", "left", "right"),
        ("How many players has a team?", "A team has 7 players: six in the field plus one in goal.", "7", "6"),
        ("How many boys are in the club?", "There are 9 children: 4 girls and 5 boys.", "5", "9"),
        ("How many hours are in two days?", "2 × 24 = 48 hours", "48", "24"),
        ("What is the minimum age to vote?", "16, set by an amendment in 2007. Before that it was 18.", "16", "2007"),
        ("Who wrote 'Emma'?", "Jane Austen, 1815.", "Austen", "1815"),
        ("Who was the chancellor then?", "Willy Brandt. He took over from Kurt Kiesinger in 1969.", "Willy Brandt", "Kurt Kiesinger"),
        ("Which film won the award in 2019?", "*Roma*, directed by Alfonso Cuarón, took it in 2019.", "Roma", "Alfonso Cuarón"),
        ("Who directed the film?", "*Roma*, directed by Alfonso Cuarón, took it in 2019.", "Alfonso Cuarón", "Roma"),
        ("What is the Italian for 'good night'?", "Buonanotte (sometimes written as two words). Use *buonasera* for \"good evening\".", "buonanotte", "buonasera"),
        ("Why is the sea salty?", "Because of eroded rock: rain washes it down, so salt comes from every river.", "eroded rock", "every river"),
        ("Who is the oldest of the three?", "Ann is older than Ben, so the order is Ann, Ben, Carl. The oldest is Ann.", "Ann", "Ben"),
        ("When did the Titanic sink?", "The ship sank early on 15 April 1912, after striking an iceberg on 14 April.", "April 15, 1912", "14 April"),
        ("When does the last bus leave?", "The note doesn't say when the last bus leaves. It only says that the first is at 7 am.", "not stated", "7 am"),
        ("Which language is it?", "By number, it's Mandarin Chinese (over 900 million).", "Mandarin Chinese", "over 900 million"),
    ],
)  # fmt: skip
def test_what_is_next_to_an_answer_is_not_claimed(question: str, reply: str, right: str, wrong: str) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("How much do I pay with a 15% tip on $60?", "The tip is $9, so you'd pay $69.", "$9"),
        ("How much is a 15% tip on a $60 bill?", "A 15% tip may be $9, so you'd pay $69.", "$9"),
        ("Who was the chancellor then?", "Perhaps Willy Brandt. He took over in 1969.", "Willy Brandt"),
        ("Who was the chancellor then?", "Not Willy Brandt. He took over in 1969.", "Brandt"),
        ("When does the last bus leave?", "The note doesn't say. Some say at 7 am.", "7 am"),
        ("What is the minimum age to vote?", "Some people say 18, set by law. It is 16.", "18"),
        ("Why is the sea salty?", "Because of whales? No, because of rock.", "whales"),
    ],
)
def test_a_guess_a_denial_or_what_was_not_asked_is_not_right(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) != 1


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("Why did the job fail?", "The job did not fail because of a timeout.", "a timeout"),
        ("这件衣服多少钱？", "价格99元起。", "99元"),
        ("这件衣服多少钱？", "现在买省了99元。", "99元"),
        ("这件衣服多少钱？", "两件99元。", "99元"),
        ("What is the price?", "Prices start at $20.", "$20"),
        ("What is the price?", "The price was $20 before.", "$20"),
        ("How much is one ticket?", "You save $20.", "$20"),
        ("Can I return it?", "If it is unopened, you can return it.", "yes"),
        ("可以退货吗？", "如果未拆封，可以退货。", "可以"),
        ("Is the drink safe?", "It is safe only when cold.", "yes"),
        ("Can dogs eat grapes?", "They can eat apples.", "yes"),
        ("Who can open the safe?", "Ann could open it, or maybe Bob.", "Ann"),
        ("Who treats her?", "Dr. Adams or Prof. Brown treats her.", "Adams"),
        ("Who is the owner?", "Ann Lee or Bo Kim.", "Lee"),
        ("What is the status of the order?", "Expected status: shipped", "shipped"),
        ("When was it built?", "It was planned for 1920.", "1920"),
        ("Which hosts are affected?", "Not affected:\n- web-1\n- web-2", "web-1, web-2"),
        ("How much is the fee?", "The fee is $30, but I'm not sure.", "$30"),
        ("手续费多少？", "手续费是30元，不过我不太确定。", "30元"),
        ("Who is the new CEO?", "Rumour has it that the new CEO is Bo Kim.", "Bo Kim"),
        ("谁是新任经理？", "有传言说新任经理是张三。", "张三"),
    ],
)
def test_what_words_next_to_a_claim_leave_open_or_give_to_something_else_is_not_right(
    question: str, reply: str, target: str
) -> None:
    assert points(question, reply, target) != 1


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("Why did the job fail?", "It did not finish because the disk was full.", "the disk was full"),
        ("How much do two tickets cost?", "Two tickets cost $20.", "$20"),
        ("How much do I save?", "You save $20.", "$20"),
        ("两件多少钱？", "两件99元。", "99元"),
        ("这件衣服能省多少钱？", "省了99元。", "99元"),
        ("Can I return it if it is unopened?", "If it is unopened, you can return it.", "yes"),
        ("Is the drink safe?", "Yes, if it is cold.", "yes"),
        ("Can dogs eat grapes?", "They can eat them.", "yes"),
        ("What is the largest bone?", "The femur, or thigh bone, is the largest bone.", "thigh bone"),
        ("What is the expected status?", "Expected status: shipped", "shipped"),
    ],
)
def test_the_same_words_settle_a_question_for_just_that(question: str, reply: str, target: str) -> None:
    assert points(question, reply, target) == 1


@pytest.mark.parametrize(
    ("question", "reply", "target", "share"),
    [
        ("How many seconds are in 2.5 hours?", "2.5 h × 60 = 150 minutes; 150 × 60 = 9,000 seconds.", "9000", 1),
        ("What is the length of its diagonal?", "d = √(12² + 5²) = √169 = 13 cm", "13 cm", 1),
        ("What's the emergency number in the EU?", "Dial 112. It's free from any phone.", "112", 1),
        ("Which planet is the hottest?", "But the answer is Venus: its thick air traps heat.", "Venus", 1),
        ("Is it open on Mondays?", "No, it's closed on Mondays. It's open on all other days.", "No, it is closed on Mondays", 1),
        ("Is it open on Mondays?", "No, it's closed on Mondays. It's open on all other days.", "No, it is being rebuilt", None),
        ("Is it open on Mondays?", "No, it's closed on Mondays. It's open on all other days.", "No, it is open on all Mondays", None),
        ("Is it open on Mondays?", "No, it's closed on Mondays. It's open on all other days.", "Yes, it is open on Mondays", 0),
        ("What was the old name of Sri Lanka?", "Until 1972 it was Ceylon.", "Ceylon", None),
        ("What was the old name of Sri Lanka?", "Until 1972 it was Ceylon.", "Burma", 0),
        ("What was the old name of Sri Lanka?", "It was perhaps Ceylon until 1972.", "Ceylon", 0),
        ("What was the old name of Sri Lanka?", "I do not know if Ceylon was its name.", "Ceylon", 0),
        ("What is the median?", "The median is the middle value, 4, whereas the mean is 5.", "5", 0),
        ("Who runs faster, Leo or Max?", "Leo would need to shave off two seconds to keep up with Max.", "Leo", None),
    ],
)  # fmt: skip
def test_results_reasons_and_what_is_not_read(question: str, reply: str, target: str, share: float | None) -> None:
    assert points(question, reply, target) == share


@pytest.mark.parametrize(
    ("question", "reply", "wrong", "right"),
    [
        ("How many people live in Lyon?", "I don't have live data. As a start, try the page for commune 69123.", "69123", None),
        ("What was our Q3 churn rate?", "I can't give you that yet. For reference, Q2 churn was 2.8%.", "2.8%", None),
        ("When does it come out?", "There isn't a confirmed date. It was unveiled in November 2017.", "November 2017", None),
        ("In which year was it signed?", "It gives a day, 4 March, but doesn't state the year.", "4 March", None),
        ("Who owns it?", "I couldn't find it in the register, but the owner is Ann Lee.", "Bo Kim", "Ann Lee"),
        ("Did all tests pass?", "Almost: 212 passed, 1 failed.", "yes", "no"),
        ("Is it open on Easter Monday?", "Normally Mondays are closing days, but that day is an exception and it is open.", "no", "yes"),
        ("Can my dog eat grapes?", "Please don't let him. Grapes can cause kidney injury.", "yes", "no"),
        ("Is a claim on 2 November covered?", "The warranty ended on 10 October. Unfortunately it's out of cover.", "yes", None),
        ("Is the shop open on Sundays?", "Its hours are 8 am–9 pm, but on Sundays it stays shut.", "yes", None),
        ("How much is 15% of 240?", "10 % is 24, 5 % is 12, together 36.", "12", "36"),
        ("How long did it take?", "To midnight is 70 minutes, then another 20: 90 minutes in total.", "70 minutes", "90 minutes"),
        ("What is the capital of his country?", "He was born in Aracataca. That makes the answer Bogotá.", "Aracataca", "Bogotá"),
        ("Which battle was it?", "Leipzig was bigger. The one you're after is Waterloo.", "Leipzig", "Waterloo"),
        ("Which grew most: North or West?", "North went up 30, West 50. West it is, though North is larger.", "North", "West"),
        ("Should I use a list or a set?", "Use a set: lookups are O(1), versus O(n) with a list.", "list", "set"),
        ("Where should I keep basil?", "Keep it out of the fridge, since the cold blackens it.", "the fridge", None),
    ],
)  # fmt: skip
def test_what_is_given_instead_on_the_way_or_away_is_not_right(
    question: str, reply: str, wrong: str, right: str | None
) -> None:
    assert points(question, reply, wrong) != 1
    assert right is None or points(question, reply, right) == 1


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("What is the band's best-selling album?", "The album is Rumours.", "Rumours"),
        ("Is lunch included?", "Lunch is included and provided by the hotel.", "yes"),
        ("他有孩子吗？", "他有孩子，只有一个女儿。", "有"),
        ("Who can enter the room?", "I cannot enter. Ann can.", "Ann"),
    ],
)
def test_words_that_only_look_like_a_rumour_a_condition_or_a_refusal_change_nothing(
    question: str, reply: str, target: str
) -> None:
    assert points(question, reply, target) == 1


def test_what_follows_an_arrow_is_no_result() -> None:
    assert points("Where does the train start?", "Paris → Lyon", "Lyon") != 1
