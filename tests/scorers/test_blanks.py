"""Filling in blanks: alternatives, groups in any order, numbers by value."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.filled_blanks import fill_gaps
from proctor_judging.scorers.blanks import blanks, read_claims


def points(target: Any, reply: str, **options: Any) -> float:
    score = blanks(Sample.ask("q", "?", target=target, meta={"blanks": options}), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score.points


@pytest.mark.parametrize(
    ("target", "reply", "earned"),
    [
        ("5", "\n5", 1),
        ("5", "答案：5", 1),
        ("5", "The answer is 5.0.", 1),
        ("5", "所以 x = 3。\n5", 1),
        ("5", r"\boxed{5}", 1),
        ("甲\n丙", "甲\n\n丙", 2),
        ("甲\n丙", "甲；丙", 2),
        ("甲\n丙", "甲，丙", 2),
        ("甲\n丙", "1. 甲\n2. 丙", 2),
        ("甲\n丙", "(2) 丙\n(1) 甲", 2),
        ("甲\n丙", "①甲；②丙", 2),
        ("甲\n丙", "过程略\n第1空：甲\n第2空：丙", 2),
        ("甲\n丙", "甲", 1),
        ("甲\n丙", "丙\n甲", 0),
        ("7\n12", "答案为：7\n12", 2),
        ("1.5\n2.5", "1.5\n2.5", 2),
        ("北京或京", "京", 1),
        ("北京或京", "北京或京", 1),
        ("或者", "", 0),
        ("或者", "者", 0),
        ("或者", "或者", 1),
        ("1/2", "0.5", 1),
        ("50%", "1/2", 1),
        (r"\frac{1}{2}", "0.50", 1),
        ("1000", "1,000", 1),
        ("-2", "−2", 1),
        ("12", "1２", 1),
        ("5", "6", 0),
        ("Paris", "paris.", 1),
        ([["Paris", "City of Light"], "2"], "city of light\n2", 2),
        ([3, 4], "3, 4", 2),
    ],
)
def test_each_right_blank_is_a_point(target: Any, reply: str, earned: float) -> None:
    assert points(target, reply) == earned


def test_a_group_in_any_order_gives_no_answer_twice() -> None:
    assert points("甲\n丙", "丙\n甲", any_order=True) == 2
    assert points("甲\n丙", "甲\n甲", any_order=True) == 1
    assert points("甲\n乙\n丙", "乙\n甲\n丙", any_order=[[0, 1]]) == 3
    assert points("甲\n乙\n丙", "丙\n甲\n乙", any_order=[[0, 1]]) == 1
    assert points("甲或乙\n甲", "甲\n乙", any_order=True) == 2


def test_options_change_how_texts_are_compared() -> None:
    assert points("Paris", "paris", case_sensitive=True) == 0
    assert points("甲、乙", "甲乙", ignore_punctuation=True) == 1
    assert points("photosynthesis", "fotosynthesis", min_similarity=0.8) == 1
    assert points("12345", "12346", min_similarity=0.7) == 0
    assert points("甲/乙", "乙", separator="/") == 1


@pytest.mark.parametrize(
    ("target", "reply", "earned"),
    [
        ("光合作用", "光和作用", 1),
        ("是氧化反应", "不是氧化反应", 0),
        ("1985年", "1984年", 0),
        ("公元前212年", "公元212年", 0),
    ],
)
def test_similar_texts_with_other_digits_negations_or_opposites_are_not_similar(
    target: str, reply: str, earned: int
) -> None:
    assert points(target, reply, min_similarity=0.7) == earned


@pytest.mark.parametrize("target", [None, "", "\n", []])
def test_without_a_target_nothing_is_scored(target: Any) -> None:
    assert isinstance(blanks(Sample.ask("q", "?", target=target), Trajectory.of("x")), Unscored)


@given(st.text(), st.text(min_size=1))
def test_no_reply_and_no_target_makes_it_raise(reply: str, target: str) -> None:
    assert blanks(Sample.ask("q", "?", target=target), Trajectory.of(reply))


@pytest.mark.parametrize(
    "reply", ["1" * 500_000, "1," * 200_000, "1/" * 200_000, "\n1." * 200_000, "\\frac{" * 100_000]
)
def test_long_replies_are_read_quickly(reply: str) -> None:
    started = time.process_time()
    points("5\n6", reply)
    assert time.process_time() - started < 5


def test_a_reply_that_repeats_itself_is_searched_quickly_for_a_completed_sentence() -> None:
    begun = time.perf_counter()
    fill_gaps("list: " + "a, " * 600, "The list: " + ", ".join(["____"] * 6) + " end.", 6)
    assert time.perf_counter() - begun < 2


def test_a_sentence_is_completed_though_its_words_come_earlier_too() -> None:
    question = "The list has ____, ____ and ____ in it."
    assert fill_gaps("So the list has few. The list has a, b, c and d in it.", question, 3) == ["a", "b, c", "d"]
    assert fill_gaps("The list has a, b\nand c in it.", question, 3) == ["a", "b", "c"]
    assert fill_gaps(f"The list has {'a' * 81}, b and c in it.", question, 3) is None


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        ("It lies in the ____ range near ____.", "(1) Himalaya(s)\n(2) China", ["Himalayas", "China"]),
        ("酸能使石蕊试液变____，碱能使其变____。", "酸能使石蕊试液变红，碱则使它变蓝。", ["红", "蓝"]),
        (
            "冬奥会的吉祥物是____，冬残奥会的是____。",
            "吉祥物分别是冰墩墩（冬奥会）和雪容融（冬残奥会）。",
            ["冰墩墩", "雪容融"],
        ),
        (
            "The report is ____. I look forward to ____.",
            "Here are the words:\n\n- attached\n- hearing",
            ["attached", "hearing"],
        ),
        (
            "Plants make food by ____ in the ____.",
            "Plants make food by day in the sun. Let me know if you need more.",
            ["day", "sun"],
        ),
    ],
)
def test_what_announces_closes_or_remarks_is_no_part_of_an_answer(question: str, reply: str, target: list[str]) -> None:
    for expected, is_right in ((target, True), (target[::-1], False)):
        score = blanks(Sample.ask("s", question, target=expected), Trajectory.of(reply))
        assert isinstance(score, Score)
        assert (score.points == score.out_of) is is_right


def _is_accepted(question: str, reply: str, target: list[str]) -> bool:
    score = blanks(Sample.ask("s", question, target=target), Trajectory.of(reply))
    assert isinstance(score, Score)
    return score.points == score.out_of


@pytest.mark.parametrize(
    ("question", "reply", "target"),
    [
        # the sentence, in part or with other words around it
        ("Staff get ____ days, of which ____ carry over. (Policy: 30 days)", "Staff get 30 days, of which 6 carry over.", ["30", "6"]),
        ("The shop opens at ____ and closes at ____.", "As posted, it opens at 9 am and, on weekdays, closes at 8 pm.", ["9 am", "8 pm"]),
        ("黄河发源于____，注入____海。", "黄河发源于青海，最后在山东境内注入渤海。", ["青海", "渤"]),
        ("甲队的队长是____，乙队的队长是____。", "甲队的队长是李雷，乙队的队长则是韩梅，有事可以找李雷。", ["李雷", "韩梅"]),
        ("五四运动爆发于____年，又称____。", "1919年，又称“五四爱国运动”。", ["1919", "五四爱国运动"]),
        ("商品原价80元，降价后为____元。", "80－15＝65，所以降价后为65元。", ["65"]),
        # values that name what they are, in any order
        ("The hotel costs $____ a night and has ____ rooms.", "Here are the answers:\n\n- Price: $90\n- Rooms: 12", ["90", "12"]),
        ("The longest river is ____ and the deepest lake is ____.", "Lake Baikal is the deepest; the Nile is the longest.", ["the Nile", "Lake Baikal"]),
        ("电流的单位是____，电压的单位是____。", "电压单位：伏特；电流单位：安培", ["安培", "伏特"]),
        ("The plural of goose is ____ and the plural of foot is ____.", "goose → geese\nfoot → feet", ["geese", "feet"]),
        ("求最大值用____函数，计数用____函数。", "求最大值的函数是 MAX，计数函数是 COUNT。", ["MAX", "COUNT"]),
        # the clauses of the sentence in another order
        ("Tea costs $____ and coffee costs $____.", "Coffee costs $4 and tea costs $3.", ["3", "4"]),
        ("甲班有____人，乙班有____人。", "乙班有40人，甲班有38人。", ["38", "40"]),
        # an object in code, the same words in all gaps, words that open the reply
        ("The noun is ____, the verb ____.", '```json\n{"blank_1": "cat", "blank_2": "sat"}\n```', ["cat", "sat"]),
        ("尽管很累，____他没有休息。", "填“但”，“尽管……但……”表示转折。", ["但"]),
        ("A number that only 1 and itself divide is called a ____ number.", "Such a number is called a prime number.", ["prime"]),
        # reasons, contrasts and words that the gap has around it
        ("9的平方根是____，8的立方根是____。", "9的平方根是3，因为3²=9；8的立方根是2，因为2³=8。", ["3", "2"]),
        ("The glue is made by ____ from ____.", "The glue is made by wasps from wood, not from wax.", ["wasps", "wood"]),
        ("The cook adds ____ before the rice and ____ at the end.", "Oil goes in before the rice, and salt is added at the end.", ["oil", "salt"]),
        ("南方人过年常吃____。", "南方人常吃年糕，北京有的人家则吃饺子。", ["年糕"]),
        ("In CSS, the ____ rule imports a sheet, and the ____ tag links one.", "The `@import` rule imports a sheet, and the `<link>` tag links one.", ["@import", "link"]),
        # a lead of its own, and a list
        ("A plant-eater is called a ____, a meat-eater a ____.", "I'd fill them in as herbivore and carnivore, in that order.", ["herbivore", "carnivore"]),
        ('The plural of "goose" is ____, of "ox" ____.', "Both are irregular: geese, oxen. Neither takes an -s.", ["geese", "oxen"]),
        ("五大湖是苏必利尔湖、密歇根湖、休伦湖、____和____。", "剩下的两个是伊利湖和安大略湖。", ["伊利湖", "安大略湖"]),
        ("这本书____有趣，____有用。", "这里表示递进，可以填“不但……而且……”。", ["不但", "而且"]),
        ("We sell ____ and buy ____. (Report: sold: wheat; bought: oil)", "Based on the report, wheat is sold and oil is bought.", ["wheat", "oil"]),
        ("“人有悲欢离合，月有阴晴圆缺，此事古难全。”出自____的《____》。", "出自苏轼的《水调歌头》。", ["苏轼", "水调歌头"]),
        ("水稻多种在____方，小麦多种在____方。", "先填南，后填北。", ["南", "北"]),
        # labels with times or short words, in brackets, or with words of several gaps; a sentence after the last value
        ("It leaves at ____ and arrives at ____.", "Departure: 7:45 am, arrival: 9:10 am", ["7:45", "9:10"]),
        ("Rye bread costs ____ and tea costs ____.", "Rye bread is $4.50; tea is $3.00.", ["$4.50", "$3"]),
        ("Call ____ before ____ about the ____.", "- Who: Sarah\n- When: noon\n- What about: lease", ["Sarah", "noon", "lease"]),
        ("求和函数是____，求平均值函数是____。", "SUM（求和）和AVERAGE（求平均值）", ["SUM", "AVERAGE"]),
        ("There are too ____ cars and too ____ noise.", "Countable noun → many; uncountable noun → much. Both are common.", ["many", "much"]),
        ("Neither ____ (be) aware of it, but everyone ____ (agree).", "were / agreed", ["were", "agreed"]),
        ("Gold melts at about ____ °C and iron at about ____ °C.", "Gold melts at roughly 1,064 °C, whereas iron melts at around 1,538 °C.", ["1064", "1538"]),
        ("绰号“豹子头”的是____，“花和尚”是____。", "“豹子头”是林冲，“花和尚”是鲁智深。", ["林冲", "鲁智深"]),
        ("方程x²-5x+6=0的两个根是x₁=____，x₂=____。", "因式分解得(x-2)(x-3)=0，所以x₁=2，x₂=3。", ["2", "3"]),
        ("The team has ____ developers and ____ designer. (Roster: Ana, Bo: dev; Cy: design)", "There are two developers and one designer.", ["two", "one"]),
        ("The Statue of Liberty was a gift from ____ to the United States and was dedicated in ____.", "It was given by France and dedicated in 1886.", ["France", "1886"]),
        ("平行四边形的对边____且____。", "平行且相等", ["平行", "相等"]),
        ("《春晓》中“春眠不觉晓”的“晓”是____的意思。", "“晓”指天亮。", ["天亮"]),
        ("You should ____ your teeth.", "The collocation is \"brush your teeth\", so I'd put **brush** here.", ["brush"]),
        ("海水的平均盐度约为____‰，主要成分是____。", "约35‰，氯化钠。", ["35", "氯化钠"]),
        # numbers that are no marks, quotes within a gloss, what is said again
        ("It opens at ____ and closes at ____.", "First blank: 8:30. Second blank: 19:00, i.e. 7 pm.", ["8:30", "7 pm"]),
        ("He is keen ____ art. 他喜欢____。", "第一空填介词 on（keen on 表示“喜爱”），第二空填“艺术”。", ["on", "艺术"]),
        ("胡克定律的表达式是____。", "F = kx，即弹力与形变量成正比。", ["F=kx"]),
        # a remark in brackets that has words of the sentence, a verb that the sentence lacks
        ("地球绕____公转一周需____天。", "地球围绕太阳公转，一周大约是365天（准确说是365.25天）。", ["太阳", "365"]),
        ("Carbon has the symbol ____ and atomic number ____.", "The symbol is C and the atomic number is 6.", ["C", "6"]),
        # a conclusion, and statements in words of their own
        ("It starts at ____ and lasts ____ minutes.", "From 10:15 to 11:00 is 45 minutes. So the blanks are 10:15 and 45.", ["10:15", "45"]),
        ("The author of 'Dracula' is ____, and the author of 'Great Expectations' is ____.", "Bram Stoker wrote Dracula, while Great Expectations was written by Charles Dickens.", ["Bram Stoker", "Charles Dickens"]),
        # other forms of the value
        ("The first man in space was ____, in the year ____.", "Yuri Gagarin / 1961", ["Gagarin", "1961"]),
        ("It was signed in ____ by ____.", "It was signed on 3 October 1990 by Anna Maria Weber.", ["1990", "Weber"]),
        ("中国的首都是____，最大的岛是____。", "北京；台湾岛", ["北京", "台湾"]),
        ("Japan has the ____, Switzerland the ____.", "Japan has the yen, Switzerland the Swiss franc.", ["yen", "franc"]),
        ("正常心率为每分钟____次。", "60～100次", ["60-100次"]),
        ("He ____ (not finish) it yet.", "hasn't finished", ["has not finished"]),
        ("It is a piece of ____.", "cake 🎂", ["cake"]),
        ("The prefix is ____ and the suffix is ____.", "Prefix: un-; suffix: -ness", ["un", "ness"]),
        ("“千里共婵娟”出自《____》。", "出自《水调歌头·明月几时有》。", ["水调歌头"]),
        ("____ painted it in the city of ____.", "Vincent van Gogh painted it, in the city of Arles (southern France).", ["Vincent van Gogh", "Arles"]),
        ("It flies from ____ to ____.", "It flies from Boston (BOS) to Reykjavík (KEF).", ["BOS", "KEF"]),
        ("It was opened by ____ on ____.", "It was opened by Ann on January 8.", ["Ann", "8 Jan"]),
        ("In Python, ____ adds an item and ____ removes the last one.", "`append()` adds an item, and `pop()` removes the last one.", ["append", "pop"]),
        ("The tallest mountain is ____ at ____ metres.", "Mount Everest, 8,849 m", ["Everest", "8849"]),
    ],
)  # fmt: skip
def test_a_reply_that_says_the_sentence_in_its_own_way_fills_the_blanks(
    question: str, reply: str, target: list[str]
) -> None:
    assert _is_accepted(question, reply, target)
    assert len(target) == 1 or not _is_accepted(question, reply, target[::-1])


@pytest.mark.parametrize(
    ("question", "reply", "wrong"),
    [
        ("The boiling point of water is ____ degrees.", "100. The freezing point of water is 0 degrees.", ["0"]),
        ("The capital of Australia is ____.", "The capital of Austria is Vienna.", ["Vienna"]),
        ("The capital of Australia is ____.", "Many people think the capital of Australia is Sydney.", ["Sydney"]),
        ("The capital of Australia is ____.", "Is the capital of Australia Sydney? I don't know.", ["Sydney"]),
        ("The tour lasts ____ hours.", "The other tour lasts 5 hours; this tour lasts 3 hours.", ["5"]),
        ("The temperature is ____ degrees.", "The temperature is below 5 degrees.", ["5"]),
        ("World War II began in ____ and ended in ____.", "It ended in 1945 and began in 1939.", ["1945", "1939"]),
        ("水的沸点是____℃，冰点是____℃。", "水的冰点是0℃，沸点是100℃。", ["0", "100"]),
        ("太阳从____方升起，从____方落下。", "太阳从西方落下，从东方升起。", ["西", "东"]),
        ("公元前____年，秦统一六国。", "公元221年，秦统一六国。", ["221"]),
        ("气温是____度。", "气温是零下5度。", ["5"]),
        ("In towns the limit is ____ km/h and on motorways ____ km/h.", "Per the leaflet: 50 km/h in towns, 130 km/h on motorways.", ["130", "50"]),
        ("The human body has ____ pairs of ribs.", "Most people have 12 pairs of ribs, i.e. 24 ribs in all.", ["24"]),
        ("The shop closes at ____.", "It closes at a quarter to 5.", ["half past 5"]),
        ("They drink ____.", "Green tea", ["tea"]),
        ("He sat by the ____.", "bank (of the river)", ["bank (for money)"]),
        ("The report ____ (send) on Monday.", "was sent", ["sent"]),
        ("Emma was written by ____.", "It was written by Jane Austen.", ["Henry Austen"]),
        ("李白字____，号____居士。", "太白，青莲", ["青莲", "太白"]),
        ("南方人过年常吃____。", "一般是吃年糕，北京有的人家则吃饺子。", ["饺子"]),
        ("The cat licked ____ paw.", 'its (not "it\'s", which means "it is")', ["it's"]),
        ("Tea costs $____ for adults and $____ for children.", "Adults pay $4; children pay $3.", ["3", "4"]),
        ("The pool is ____ m deep and ____ m long.", "It's 2 m deep and 25 m long; a nearby pool is 3 m deep.", ["3", "25"]),
    ],
)  # fmt: skip
def test_what_is_said_of_another_thing_doubted_or_in_another_order_fills_no_blank(
    question: str, reply: str, wrong: list[str]
) -> None:
    assert not _is_accepted(question, reply, wrong)


def test_a_gap_with_two_words_is_open_where_only_one_of_them_is_right() -> None:
    question, reply = "He was ____ at once.", "told/informed"
    score = blanks(Sample.ask("s", question, target=["informed"]), Trajectory.of(reply))
    assert isinstance(score, Unscored)
    assert score.details == {"readings": ["told", "informed"]}
    assert not _is_accepted(question, reply, ["asked"])


@pytest.mark.parametrize("reply", ['"than" in both gaps.', "两个空都填than。", '{"1": "than", "2": "than"}'])
def test_one_word_may_fill_all_gaps(reply: str) -> None:
    assert _is_accepted("He is taller ____ me and older ____ you.", reply, ["than", "than"])
    assert not _is_accepted("He is taller ____ me and older ____ you.", reply, ["than", "as"])


def test_a_long_reply_to_a_sentence_of_many_clauses_is_read_quickly() -> None:
    question = "红队得____分，蓝队得____分，黄队得____分，其余各队没有参加比赛。"
    started = time.process_time()
    read_claims("我们来看一看比赛的记录，里面有很多内容。" * 100, question, 3)
    assert time.process_time() - started < 3
