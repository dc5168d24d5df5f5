"""Which options a reply chooses, and what they are worth."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.option_letters import may_hold, read_letters
from proctor_judging.scorers.choice import choice, partial


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("AC", "AC"),
        ("A,C", "AC"),
        ("a、c", "AC"),
        ("A；C", "AC"),
        ("A和C", "AC"),
        ("A and C", "AC"),
        ("A\nC", "AC"),
        ("ＡＣ", "AC"),
        ("（C）", "C"),
        ("b", "B"),
        ("D.", "D"),
        ("B. Paris", "B"),
        ("**B**", "B"),
        ("选B", "B"),
        ("故本题选：ABD。", "ABD"),
        ("答案是 A、C", "AC"),
        ("答案：Ａ，Ｃ", "AC"),
        ("所以这道题的答案为：{ACD}", "ACD"),
        ("我认为答案应该是选项 D", "D"),
        ("正确的有A、B", "AB"),
        ("正确选项为：B、D", "BD"),
        ("ABC是正确的", "ABC"),
        ("The answer is AC", "AC"),
        ("The answer is A and C", "AC"),
        ("The answer is A.", "A"),
        ("The answer is **D**.", "D"),
        ("The answer is option A", "A"),
        ("The correct answers are B, C and E.", "BCE"),
        ("Both A and C are correct", "AC"),
        ("**Answer: (B)**", "B"),
        ("answer: b", "B"),
        ("Option B is correct", "B"),
        (r"\boxed{AC}", "AC"),
        (r"So it is \boxed{\text{A, C}}, not B.", "AC"),
        ("答案不是A，而是B", "B"),
        ("不选A，选C", "C"),
        ("选项A错误，选项B正确，故选B。", "B"),
        ("A. 错\nB. 对\n因此答案是B", "B"),
        ("A is wrong, so the correct option is D.", "D"),
        ("Let me see. A? No.\nFinal answer: B", "B"),
        ("答案是A。再想想，答案应该是B。", "B"),
        ("<think>答案是A</think>B", "B"),
        ("A dog barks.", None),
        ("The answer is DNA", None),
        ("I think the answer is a dog.", None),
        ("缺少图片信息", None),
        ("BAD", "BAD"),
        ("That is a BAD idea", None),
        ("", None),
    ],
)
def test_the_whole_answer_is_read(reply: str, chosen: str | None) -> None:
    assert read_letters(reply) == chosen


@given(st.text())
def test_reading_a_reply_never_raises_and_gives_options_only(reply: str) -> None:
    found = read_letters(reply, "ABCD")
    assert found is None or (found and set(found) <= set("ABCD"))


@pytest.mark.parametrize(
    "piece", ["答案", "A,", "选", "A", "\\boxed{", "answer is ", "A ", "(", "A.\n", "答案是(", "*"]
)
def test_a_reply_of_a_megabyte_is_read_quickly(piece: str) -> None:
    started = time.process_time()
    read_letters(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 5


def scored(scorer: Any, target: Any, reply: str, **options: Any) -> Score:
    score = scorer(Sample.ask("q", "?", target=target, meta={"choice": options}), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score


@pytest.mark.parametrize("target", ["AC", "A,C", "ac", "CA", "c, a", "Ａ、Ｃ", ["A", "C"]])
def test_targets_may_be_written_in_any_way(target: Any) -> None:
    assert scored(choice, target, "C and A").points == 1


@pytest.mark.parametrize("reply", ["A", "A, B and C", "D", "no idea", ""])
def test_only_all_right_options_and_no_other_are_right(reply: str) -> None:
    assert scored(choice, "AC", reply).points == 0


def test_options_beyond_h_are_known_when_the_target_or_the_sample_has_them() -> None:
    assert scored(choice, "K", "答案是K").points == 1
    assert scored(choice, "A", "答案是K", letters="ABK").answer == "K"


@pytest.mark.parametrize(
    ("reply", "options", "points"),
    [
        ("ABC", {}, 3),
        ("AB", {}, 2),
        ("ABD", {}, 1),
        ("AD", {"wrong": "zero"}, 0),
        ("ABD", {"wrong": "ignore"}, 2),
        ("DE", {}, 0),
        ("A", {"min_correct": 0.6}, 0),
        ("AB", {"min_correct": 0.6}, 2),
    ],
)
def test_partial_credit_counts_options(reply: str, options: dict[str, Any], points: float) -> None:
    score = scored(partial, "ABC", reply, **options)
    assert (score.points, score.out_of) == (points, 3)


@pytest.mark.parametrize("target", ["Paris", "paris", "two words", "巴黎", "", None, "42", "AA"])
def test_a_target_without_letters_is_not_scored(target: Any) -> None:
    assert isinstance(choice(Sample.ask("q", "?", target=target), Trajectory.of("A")), Unscored)


def test_a_misspelt_option_is_named() -> None:
    with pytest.raises(BadInput, match="Did you mean 'wrong'"):
        scored(partial, "A", "A", worng="zero")


@pytest.mark.parametrize(
    ("question", "options", "reply", "letter", "other"),
    [
        ("《骆驼祥子》的作者是？", ["曹禺", "巴金", "老舍", "茅盾"], "《骆驼祥子》是老舍1936年写的小说。曹禺的代表作是《日出》。", "C", "A"),
        ("Which organ takes in oxygen?", ["Kidney", "Lung", "Liver", "Spleen"], "The lungs do that: they fill with air and pass the oxygen on.", "B", "A"),
        ("What does the text say?", ["He left", "He stayed", "He slept", "He sang"], "Option B – he stayed at home. Option C is ruled out, and nothing is said of D.", "B", "D"),
        ("What happened?", ["It was played.", "It was moved.", "It was called off.", "Nothing."], "It was played, rain or no rain. It wasn't called off.", "A", "C"),
        ("Which is used for styling?", ["HTML", "CSS", "SQL", "Python"], "That would be CSS; HTML only gives the structure.", "B", "A"),
        ("Which unit measures resistance?", ["Volt", "Ampere", "Ohm", "Watt"], "Resistance is measured in ohms; volts measure voltage and amperes current.", "C", "B"),
        ("Which is the smallest?", ["0.5", "2/5", "0.45", "3/7"], "A = 0.500\nB = 0.400\nC = 0.450\nD ≈ 0.429\nThe smallest is B.", "B", "D"),
        ("Which city is the destination of booking K7 (FRA → LIS)?", ["Frankfurt", "Lisbon", "Lyon", "Lille"], "LIS is Lisbon, which makes B the right choice. Frankfurt (FRA) is the start.", "B", "A"),
        ("Which organ makes urine?", ["Liver", "Kidney", "Lung", "Spleen"], "It's the kidney (B). The liver (A) processes nutrients, but it doesn't make urine.", "B", "A"),
        ("Who wrote Emma?", ["Emily Brontë", "Jane Austen", "Mary Shelley", "George Eliot"], "Austen", "B", "A"),
        ("第二次世界大战全面爆发的标志是", ["诺曼底登陆", "萨拉热窝事件", "珍珠港事件", "德国入侵波兰"], "1939年德国入侵波兰，标志着二战全面爆发。萨拉热窝事件是一战的导火索。", "D", "B"),
        ("“他走得很快”中的“得”是", ["动词", "结构助词", "副词", "语气词"], "这里的“得”连接动词和补语，是结构助词。", "B", "A"),
        ("下列哪项不属于可再生能源？", ["太阳能", "风能", "煤炭", "水能"], "太阳能、风能、水能都可再生，煤炭是化石燃料，不可再生。", "C", "A"),
        ("哪一组全是近义词？", ["高兴—快乐", "高大—矮小", "寒冷—炎热", "聪明—愚笨"], "第一组。其余三组都是反义词。", "A", "B"),
    ],
)  # fmt: skip
def test_options_are_read_by_their_texts_and_by_what_is_said_of_them(
    question: str, options: list[str], reply: str, letter: str, other: str
) -> None:
    listed = question + "".join(f"\n{name}. {text}" for name, text in zip("ABCD", options, strict=True))
    for target, points in ((letter, 1), (other, 0)):
        score = choice(Sample.ask("q", listed, target=target, meta={"options": options}), Trajectory.of(reply))
        assert isinstance(score, Score)
        assert score.points == points


@pytest.mark.parametrize(("text", "other"), [*zip("iiısKµβΩ", "ıİİſKμϐΩ", strict=True), ("ﬅ", "ﬆ"), ("Lyon", "LYON")])
def test_what_a_pattern_finds_in_either_case_may_be_held(text: str, other: str) -> None:
    assert re.search(re.escape(text), f"It is {other}.", re.IGNORECASE)
    assert may_hold(f"It is {other}.", text)
    assert may_hold(f"It is {text}.", other)
    assert not may_hold(f"It is {other}.", f"{text}, too")
