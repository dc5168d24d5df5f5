"""What the matcher decides by which rule, what it calls ambiguous, and what options change."""

import sys
import time

import pytest

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor.registry import SCORERS
from proctor.scorers.lookup import find_scorer
from proctor_judging.matching import values
from proctor_judging.scorers.answer import AnswerOptions, answer, final_answer, match, matching

LONG = "We think about it for a while. " * 30


@pytest.mark.parametrize(
    ("given", "target", "rule"),
    [
        ("**Paris.**", "paris", "quasi exact"),
        ("肆拾贰", "forty-two", "numeric"),
        ("$1.2M", "1,200,000 USD", "units"),
        ("下午三点半", "15:30", "dates and times"),
        ("3–5 km", "3 to 5 km", "ranges"),
        (r"\frac{\sqrt{2}}{2}", "1/sqrt(2)", "mathematics"),
        ("a, b and c", "a、b、c", "lists"),
        ("U.S.A.", "United States", "names"),
        ("five apples", "5 apples", "similarity"),
    ],
)
def test_a_rule_decides_and_is_named(given: str, target: str, rule: str) -> None:
    verdict = match(given, target)
    assert (verdict.right, verdict.rule) == (True, rule)


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("1,5", "1.5"),
        ("007", "7"),
        ("3rd", "3"),
        ("5", "5 km"),
        ("¥100", "100 yen"),
        ("03/05/2024", "2024-05-03"),
        ("3:30", "15:30"),
        ("c, b, a", "a, b, c"),
        ("9^9^9^9^9", "10"),
        ("[1, 2]", "1, 2"),
        ("Mg", "mg"),
    ],
)
def test_what_may_mean_something_else_is_no_match_and_called_ambiguous(given: str, target: str) -> None:
    verdict = match(given, target)
    assert (verdict.right, verdict.ambiguous) == (False, True)


@pytest.mark.parametrize(
    ("given", "target"),
    [("42", "43"), ("3/4", "4/3"), ("5 mg", "5 g"), ("May 3", "March 5"), ("is", "is not"), ("1,5", "15")],
)
def test_what_differs_is_refused_without_doubt(given: str, target: str) -> None:
    verdict = match(given, target)
    assert (verdict.right, verdict.ambiguous) == (False, False)


def test_an_empty_answer_is_right_only_for_an_empty_target() -> None:
    assert not match("  ", "42").right
    assert match("  ", "").right


def test_tolerance_is_counted_in_the_unit_of_the_target() -> None:
    near = AnswerOptions(tolerance=0.01)
    assert match("3.15", "3.14", options=near).right
    assert not match("3.151", "3.14", options=near).right
    assert match("1.51 km", "1.5 km", options=near).right
    assert match("1510 m", "1.5 km", options=near).right
    assert not match("1511 m", "1.5 km", options=near).right


def test_relative_tolerance_is_a_share_of_the_target() -> None:
    near = AnswerOptions(relative_tolerance=0.1)
    assert match("110", "100", options=near).right
    assert not match("100", "90", options=near).right


def test_tolerance_reaches_into_mathematics_and_lists() -> None:
    near = AnswerOptions(tolerance=0.001)
    assert match("1.414", r"\sqrt{2}", options=near).right
    assert not match("1.41", r"\sqrt{2}", options=near).right
    assert match("1.4142, 2", "1.414, 2", options=near).right


def test_a_unit_given_with_the_options_goes_with_bare_numbers() -> None:
    assert match("5", "5 km", options=AnswerOptions(unit="km")).right
    assert match("5000 m", "5", options=AnswerOptions(unit="km")).right
    assert not match("5 m", "5", options=AnswerOptions(unit="km")).right
    assert match("50%", "50", options=AnswerOptions(unit="%")).right
    assert not match("50%", "0.5", options=AnswerOptions(unit="%")).right


def test_an_unknown_unit_in_the_options_changes_nothing() -> None:
    assert match("5", "5", options=AnswerOptions(unit="parsnips")).right
    assert not match("5", "5 km", options=AnswerOptions(unit="parsnips")).right


def test_the_order_of_a_list_can_be_declared() -> None:
    assert match("c, b, a", "a, b, c", options=AnswerOptions(ordered=False)).right
    refused = match("b and a", "a and b", options=AnswerOptions(ordered=True))
    assert not refused.right
    assert not refused.ambiguous
    assert not match("a, a, b", "a, b, b", options=AnswerOptions(ordered=False)).right


def test_the_order_of_a_list_is_inferred_from_its_form() -> None:
    assert match("b and a", "a and b").right
    assert match("x = 1, y = 2", "y = 2, x = 1").right
    assert not match("1. b\n2. a", "1. a\n2. b").ambiguous
    assert not match("a → c → b", "a → b → c").ambiguous


def test_the_elements_of_a_list_are_compared_by_all_rules() -> None:
    assert match("forty-two; 5 km; May 3, 2024; USA", "42; 5000 m; 2024-05-03; United States").right
    assert match("- red\n- blue", "red, blue").right


def test_similarity_below_one_counts_words_but_never_passes_over_numbers_and_negations() -> None:
    loose = AnswerOptions(similarity=0.6)
    assert match("the quick brown fox", "a quick red fox", options=loose).right
    assert not match("the 3 brown foxes", "the 4 brown foxes", options=loose).right
    assert not match("the fox is quick", "the fox is not quick", options=loose).right


def test_a_semantic_function_is_asked_last_and_not_about_negations_or_numbers() -> None:
    asked: list[tuple[str, str]] = []

    def alike(one: str, other: str) -> float:
        asked.append((one, other))
        return 0.95

    options = AnswerOptions(semantic=alike)
    assert match("car", "automobile", options=options).rule == "semantic"
    assert not match("it is", "it is not", options=options).right
    assert not match("42", "43", options=options).right
    assert not match("5 cars", "6 automobiles", options=options).right
    assert asked == [("car", "automobile")]


def test_a_judge_decides_only_what_no_rule_could() -> None:
    options = AnswerOptions(judge=lambda given, target: {"car": True, "bus": False}.get(given))
    assert match("car", "automobile", options=options).rule == "judge"
    assert match("bus", "automobile", options=options).rule == "judge"
    assert match("tram", "automobile", options=options).rule == "similarity"
    assert match("42", "43", options=options).rule == "numeric"


def test_without_mpmath_the_verdict_is_the_same_or_asks_for_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpmath", None)
    values._arithmetic.cache_clear()
    try:
        assert match(r"\sqrt{8}", r"2\sqrt{2}").right
        assert match(r"\sqrt{-4}", "2i").right
        unsure = match("0.7071067811865476", r"\sqrt{2}/2")
        assert not unsure.right
        assert unsure.ambiguous
        assert "[math]'" in str(unsure.reason)
        score = answer(Sample.ask("root", "?", target=r"\sqrt{2}/2"), Trajectory.of("0.7071067811865476"))
        assert isinstance(score, Unscored)  # neither right nor wrong
        assert "[math]'" in str(score.reason)
    finally:
        values._arithmetic.cache_clear()


def test_decimals_are_no_roots() -> None:
    assert not match("0.70710678118654752440", r"\sqrt{2}/2").right
    assert not match("e^{-100}", "e^{-101}").right
    assert match(r"\sin(\pi)", "0").right


HOSTILE = {
    "ten million letters": "a" * 10_000_000,
    "a tower of powers": "9**9**9",
    "a higher tower": "9^9^9^9^9",
    "a product of 1,000 terms": "".join(f"(x-{root})" for root in range(1, 1001)),
    "roots of 700 numbers": "+".join(f"sqrt({number})" for number in range(700)),
    "deep brackets": "(" * 9_000 + "1" + ")" * 9_000,
    "deep fractions": r"\frac{1}{" * 2_000 + "2" + "}" * 2_000,
    "many exclamation marks": "5" + "!" * 9_000,
    "many minus signs": "-" * 15_000 + "1",
    "a factorial of a factorial": "((9!)!)!",
    "an exponential of exponentials": "exp(exp(exp(exp(9))))",
    "a large exponent": "1e999999",
    "many digits": "1" * 19_000,
    "many commas": "a," * 9_000,
    "many blanks": "' " * 9_000 + "x",
    "many numerals": "一百万" * 6_000,
    "many number words": "hundred and " * 1_500,
    "many units": "5 " + "m/" * 9_000,
    "many markers": "answer is " * 5_000,
    "many boxes": r"\boxed{" * 3_000,
    "half a character": "\ud800 5",
    "a code": "__import__('os').system('true')",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_answer_is_refused_in_time_with_a_reason(text: str) -> None:
    for target in ("42", "5 km", "x^2", "a, b", "2024-05-03", "Paris"):
        started = time.process_time()
        verdict = match(text, target)
        assert time.process_time() - started < 2
        assert not verdict.right
        assert str(verdict.reason)
        assert len(str(verdict.reason)) < 1_000


def test_a_product_of_a_thousand_terms_is_still_compared() -> None:
    product = HOSTILE["a product of 1,000 terms"]
    assert match(product + "*1", product).right
    assert not match(product + "*2", product).right


def _sum(first: int, terms: int) -> str:
    return "+".join(f"sin(x+{first + term})*tan(x)" for term in range(terms))


@pytest.mark.parametrize(("elements", "terms"), [(60, 1), (40, 4), (10, 10), (3, 40)])
@pytest.mark.parametrize("shape", ["{%s}", "%s"])
def test_many_hard_elements_in_another_order_take_bounded_time(shape: str, elements: int, terms: int) -> None:
    sums = [_sum(first, terms) for first in range(elements)]
    separator = "," if shape == "{%s}" else ";"
    started = time.process_time()
    verdict = match(
        shape % separator.join(sums), shape % separator.join(reversed(sums)), options=AnswerOptions(ordered=False)
    )
    assert time.process_time() - started < 2
    assert verdict.right or "too large" in str(verdict.reason)


def test_an_answer_too_long_to_be_understood_is_right_when_it_is_the_same_text() -> None:
    text = HOSTILE["ten million letters"]
    assert match(text + "\n", text).right
    assert "10000000 characters" in str(match(text, "a").reason)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("Paris", "Paris"),
        (LONG + "\n\n**Final answer:** 17", "17"),
        (LONG + "The answer is 5. No: the final answer is **6**.", "6"),
        (LONG + "因此，答案是：四十二。", "四十二。"),
        (LONG + "最终答案为\n\n42\n", "42"),
        (LONG + r"so $$\boxed{\frac{1}{2}}$$ as claimed.", r"\frac{1}{2}"),
        (LONG + r"\boxed{7}. The answer is 8", "8"),
        (LONG + r"The answer is below: \boxed{9}", "9"),
        ("Reply with 'Final answer: [your final answer]'. Final answer: 3", "3"),
        ("<think>the answer is 4</think>5", "5"),
        (LONG, None),
        ("", ""),
    ],
)
def test_the_final_answer_is_found(reply: str, found: str | None) -> None:
    assert final_answer(reply) == found


def _score(reply: str, target: object, **meta: object) -> Score:
    score = answer(Sample.ask("s", "?", target=target, meta=meta), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score


def test_the_scorer_keeps_what_it_extracted_and_the_rule() -> None:
    score = _score(LONG + "The answer is forty-two.", "42")
    assert (score.points, score.answer, score.details) == (1, "forty-two.", {"rule": "numeric"})


def test_any_of_several_targets_will_do() -> None:
    assert _score("3:30 pm", ["16:00", "15:30"]).points == 1
    assert _score("42", 42).points == 1
    assert _score("0.5", [None, 0.5]).points == 1


@pytest.mark.parametrize(
    ("reply", "target", "readings"),
    [
        ("1,5", "1.5", ["1.5", "1, 5"]),
        ("1,5 km", "1.5 km", ["1.5 km", "1, 5 km"]),
        ("007", "7", ["7", "007"]),
        ("03/05/2024", "2024-05-03", ["2024-03-05", "2024-05-03"]),
        ("3:30", ["16:00", "15:30"], ["3:30", "15:30"]),
        ("The result is 1,5.", "1.5", ["1.5", "1, 5"]),
    ],
)
def test_a_value_that_is_right_in_one_of_its_readings_only_is_left_open(
    reply: str, target: str | list[str], readings: list[str]
) -> None:
    open_result = answer(Sample.ask("s", "?", target=target), Trajectory.of(reply))
    assert isinstance(open_result, Unscored)
    assert sorted(open_result.details["readings"]) == sorted(readings)
    assert _score(reply, "4").points == 0


def test_a_question_with_decimal_commas_says_how_they_are_read() -> None:
    score = answer(Sample.ask("s", "Wie viel ist 2,5 minus 1?", target="1.5"), Trajectory.of("1,5"))
    assert isinstance(score, Score)
    assert score.points == 1


def test_a_long_reply_without_a_marked_answer_is_wrong_and_says_why() -> None:
    score = _score(LONG + "42", "42")
    assert score.points == 0
    assert "marks no final answer" in str(score.reason)


def test_a_sample_without_a_target_is_unscored() -> None:
    assert isinstance(answer(Sample.ask("s", "?"), Trajectory.of("42")), Unscored)


def test_a_sample_brings_its_options() -> None:
    assert _score("1504", "1.5 km", unit="m", tolerance=5).points == 1
    assert _score("c, a, b", "a, b, c", ordered=False).points == 1
    assert _score("c, a, b", "a, b, c", answer={"ordered": False}).points == 1
    assert _score("3.15", "3.14", tolerance="0.01").points == 1


@pytest.mark.parametrize("meta", [{"tolerance": "much"}, {"tolerance": -1}, {"answer": {"tolerence": 1}}])
def test_options_that_make_no_sense_are_an_error(meta: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        _score("1", "1", **meta)


def test_a_scorer_can_be_made_with_options_of_ones_own() -> None:
    scorer = matching(AnswerOptions(judge=lambda given, target: True))
    verdict = scorer(Sample.ask("s", "?", target="automobile"), Trajectory.of("car"))
    assert isinstance(verdict, Score)
    assert verdict.details["rule"] == "judge"


def test_it_is_found_by_name_and_its_files_are_no_scorers() -> None:
    assert find_scorer("answer") is answer
    assert find_scorer("answer", {"tolerance": 1})(Sample.ask("s", "?", target="4"), Trajectory.of("5")) is not None
    assert {"answer", "number"} <= set(SCORERS.names())
    assert not {"numbers", "units", "cascade"} & set(SCORERS.names())


def test_the_sentence_encoder_helps_where_no_rule_decides() -> None:
    scorer = find_scorer("answer:semantic")
    sample = Sample.ask("s", "?", target="The weather is nice today.", meta={"semantic_threshold": 0.5})
    alike, negated = (
        scorer(sample, Trajectory.of(text)) for text in ("It is a beautiful day.", "The weather is not nice.")
    )
    assert isinstance(alike, Score)
    assert isinstance(negated, Score)
    assert (alike.points, alike.details["rule"]) == (1, "semantic")
    assert negated.points == 0


def test_sentences_and_guesses_count_as_the_options_say() -> None:
    sentence, guess = "The capital is Paris.", "It is probably Paris."
    assert _score(sentence, "Paris").points == 1
    assert "states 'Paris'" in str(_score(sentence, "Paris").reason)
    assert _score(sentence, "Paris", answer={"sentences": False}).points == 0
    assert _score(guess, "Paris").points == 0
    assert "only guesses" in str(_score(guess, "Paris").reason)
    assert _score(guess, "Paris", answer={"guesses": True}).points == 1
    assert _score(sentence, "Paris", sentences=["a column of the data"]).points == 1


@pytest.mark.parametrize(
    "piece",
    [
        "Paris. ",
        "is ",
        "not a, but ",
        "Wait, ",
        "if a, so ",
        "(1,",
        "five ",
        "A of the ",
        "不是",
        "。",
        "```\n",
        "- a\n",
    ],
)
@pytest.mark.parametrize("size", [300, 150_000, pytest.param(1_000_000, marks=pytest.mark.torture)])
def test_a_reply_of_hostile_sentences_is_read_quickly(piece: str, size: int) -> None:
    started = time.process_time()
    for target in ("Lyon", "42", "yes"):
        _score((piece * (size // len(piece) + 1))[:size], target)
    assert time.process_time() - started < 5
