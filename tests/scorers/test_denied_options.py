"""Options that a reply denies, by every modal and contraction, in both languages."""

import time
from itertools import product

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.option_wording import plain_wording
from proctor_judging.scorers.choice import choice, read_claims

MODALS = ["can", "could", "would", "should", "must", "might", "may", "need", "will", "shall", "ought to"]
CONTRACTED = ["can", "couldn", "wouldn", "shouldn", "mustn", "mightn", "needn", "isn", "wasn", "won", "shan", "ain"]


def _chosen(reply: str) -> tuple[str, ...]:
    return read_claims(reply, options=["Rome", "Oslo", "Kyiv", "Riga"]).readings


@pytest.mark.parametrize(("modal", "end"), list(product(MODALS, ["", ".", "!"])))
def test_a_modal_with_not_denies(modal: str, end: str) -> None:
    assert _chosen(f"The answer {modal} not be B{end}") == ()
    assert _chosen(f"B {modal} never be the answer{end}") == ()


@pytest.mark.parametrize(("verb", "apostrophe", "end"), list(product(CONTRACTED, ["'", "’", ""], ["", "."])))
def test_a_contraction_denies_with_any_apostrophe_and_never_gives_letters(verb: str, apostrophe: str, end: str) -> None:
    assert (
        _chosen(f"The answer {verb}{'n' if verb == 'can' else ''}{apostrophe}t be B{end}".replace("cann", "can")) == ()
    )


@pytest.mark.parametrize(
    "denial",
    [
        "不是{}",
        "不可能是{}",
        "不会是{}",
        "绝不是{}",
        "并非{}",
        "不应选{}",
        "不能选{}",
        "别选{}",
        "不该选{}",
        "排除{}",
        "{}不对",
        "{}项错误",
        "{}不可能成立",
        "{}不符合题意",
    ],
)
@pytest.mark.parametrize(("lead", "end"), list(product(["", "答案", "我认为"], ["", "。"])))
def test_a_chinese_denial_denies(denial: str, lead: str, end: str) -> None:
    assert _chosen(lead + denial.format("B") + end) == ()


@pytest.mark.parametrize("hedge", ["possibly {}", "Maybe {}.", "It might be {}.", "可能是{}。", "也许选{}", "大概{}吧"])
def test_a_guess_is_right_or_nothing_and_so_not_scored(hedge: str) -> None:
    sample = Sample.ask("q", "Which?", target="B")
    score = choice(sample, Trajectory.of(hedge.format("B")))
    assert isinstance(score, Unscored)
    assert score.details["readings"] == ["B", "-"]
    wrong = choice(sample, Trajectory.of(hedge.format("C")))
    assert isinstance(wrong, Score)
    assert wrong.points == 0


def test_a_letter_with_the_text_of_another_option_is_read_both_ways() -> None:
    sample = Sample.ask("q", "Which?", target="B", meta={"options": ["Rome", "Oslo"]})
    score = choice(sample, Trajectory.of("A. Oslo"))
    assert isinstance(score, Unscored)
    assert score.details["readings"] == ["A", "B"]


def test_a_question_for_the_wrong_statement_turns_right_and_wrong_around() -> None:
    assert read_claims("B is false; the others are true.", "Which statement is false?").readings == ("B",)
    assert read_claims("A、C、D正确,B错误。", "下列说法错误的是?").readings == ("B",)
    assert read_claims("A、C、D正确,B错误。", "下列说法正确的是?").readings == ("ACD",)


@pytest.mark.parametrize(
    "piece", ["not B ", "A is ", "不选A", "A错,", "A, B and ", "可能", "no doubt ", "Oslo not ", "the answer is "]
)
def test_a_reply_full_of_options_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    started = time.process_time()
    read_claims(piece * (20_000 // len(piece)), options=["Rome", "Oslo"])
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "reply",
    [
        "A is not true, and so is C.",
        "A can be eliminated, and so is C.",
        "A is out, and so is C. B is correct.",
        "A is unlikely and so is C.",
    ],
)
def test_so_is_says_no_more_than_the_verdict_before_it(reply: str) -> None:
    """Of `A is out, and so is C`, C was once read as correct."""
    assert "C is" not in plain_wording(reply, "Which is true?", wrong_wanted=False)
    assert plain_wording("A is wrong, and so is C.", "Which?", wrong_wanted=False) == "A is wrong, and C is wrong."


@pytest.mark.parametrize(
    ("question", "reply", "chosen"),
    [
        ("下列成语中没有错别字的是？", "A应为“再接再厉”，C应为“一筹莫展”。因此没有错别字的是B项。", "B"),
        ("下列哪个数是偶数？", "能被2整除的是C，其他都是奇数。", "C"),
        ("世界上人口最多的洲是？", "人口最多的是B，约占世界的60%，其次是A。", "B"),
        ("Which gas is most of the air?", "D makes up around 78% of the air, while A is only about 21%.", "D"),
        ("Choose the right one.\nA) I don't go.\nB) I not go.", '"A" is correct.', "A"),
        ("下列有错别字的是？", "有错别字的是B。", "B"),
        ("人口最多的是？", "A人口最多，其次是B。", None),
        ("下列成语没有错别字的是？", "D应为“墨守成规”。", None),
    ],
)
def test_what_is_set_right_or_only_compared_is_not_chosen(question: str, reply: str, chosen: str | None) -> None:
    assert read_claims(reply, question, "ABCD").readings == ((chosen,) if chosen else ())


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("下列有错别字的是？", "没有错别字的是B。"),
        ("下列没有错别字的是？", "有错别字的是B。"),
        ("人口第二多的是？", "最多的是A，其次是B。"),
    ],
)
def test_the_opposite_of_the_quality_asked_for_and_the_first_where_the_second_is_asked_are_not_chosen(
    question: str, reply: str
) -> None:
    assert read_claims(reply, question, "ABCD").readings not in (("A",), ("B",))


@pytest.mark.parametrize(
    "reply",
    [
        "B, unless you count suburbs, in which case C. Suburbs count here.",
        "B if you round up, otherwise C.",
        "I'd choose B if Riga weren't larger. It is.",
        "I would answer B if it weren't for the suburbs.",
        "The answer is the one after B.",
        "The option before B.",
        "It was Oslo until 1870, and has been Kyiv since.",
        "书后答案是B，印错了，应为C。",
        "参考答案给的是B，写错了，是C。",
        "第一版答案是B，第二版改成了C。",
        "B，除非算上郊区，那就是C。",
        "如果不算郊区就是B，否则是C。",
        "与其选B，不如选C。",
        "老师把B判错了。",
    ],
)
def test_what_holds_on_a_condition_at_another_time_or_by_a_slip_is_not_chosen(reply: str) -> None:
    assert _chosen(reply) != ("B",)


@pytest.mark.parametrize(
    "reply", ["B, unless I'm mistaken.", "B, if you ask me.", "It was B until 1870.", "与其选C，不如选B。", "I'd say B if I had to guess."]
)  # fmt: skip
def test_a_condition_on_who_answers_leaves_the_choice(reply: str) -> None:
    assert "B" in _chosen(reply)


@pytest.mark.parametrize(
    ("reply", "right", "wrong"),
    [
        ("B, unless you count suburbs, in which case C.", "B", "D"),
        ("B, unless you count suburbs, in which case C.", "C", "D"),
        ("Oslo if you round up, otherwise Kyiv.", "C", "D"),
        ("B，除非算上郊区，那就是C。", "B", "D"),
        ("The answer is the one after B.", "C", "B"),
    ],
)
def test_an_option_for_each_of_two_cases_is_arguable_and_any_other_wrong(reply: str, right: str, wrong: str) -> None:
    scores = [
        choice(
            Sample.ask("s", "Which?", target=target, meta={"options": ["Rome", "Oslo", "Kyiv", "Riga"]}),
            Trajectory.of(reply),
        )
        for target in (right, wrong)
    ]
    assert isinstance(scores[0], Unscored)
    assert isinstance(scores[1], Score)
    assert scores[1].points == 0
