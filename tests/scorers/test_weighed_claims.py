"""Claims of rules weighed against the other spans of a reply by the fitted model."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.matching.claims import Claim, read_claims
from proctor_judging.matching.english_replies import read_english_reply
from proctor_judging.matching.english_spans import read_english_spans
from proctor_judging.matching.span_model import ReplySpan, weigh
from proctor_judging.matching.verdict import AnswerOptions
from proctor_judging.matching.weighed_claims import read_weighed_claims
from proctor_judging.scorers.answer import answer, matching

CLAIMED = [  # what rules read is in the comment
    ("Who succeeded Margaret Thatcher as British Prime Minister?",
     "John Major succeeded her in November 1990. He was followed by Tony Blair in 1997.", "John Major"),  # November 1990
    ("Who was the Soviet leader during the Cuban Missile Crisis?",
     "Nikita Khrushchev led the Soviet Union at the time, facing US President John F. Kennedy.", "Nikita Khrushchev"),  # the Soviet Union
    ("What was the ancient name of Istanbul before it was Constantinople?",
     "Before it was renamed Constantinople in 330 AD, the city was called Byzantium.", "Byzantium"),  # nothing
    ("《清明上河图》的作者是谁？", "我记得是北宋画家张择端，现藏于北京故宫博物院。", "张择端"),  # 北京故宫博物院
    ("泰国旧称什么？", "泰国旧称暹罗，1939年改为现名。", "暹罗"),  # 现名
]  # fmt: skip
SILENT = [
    ("Who wrote the report?", "I doubt that Miller wrote it."),
    ("Who wrote the report?", "It was hardly Miller."),
    ("Who wrote the report?", "It may have been Miller."),
    ("Who wrote the report?", "Was it Miller?"),
    ("Who painted it?", "Everyone but Monet did."),
    ("What is the capital of Spain?", "The capital of Portugal is Madrid."),
    ("When does the shop open?", "The shop closes at 18:00."),
    ("How many moons does Mars have?", "Mars has at least 2 moons."),
    ("谁发明了电灯？", "爱迪生没有发明电灯。"),
    ("这本书有多少页？", "这本书不到320页。"),
    ("班里有多少名女生？", "班里有22名男生。"),
    ("第一次世界大战哪一年爆发？", "一战爆发于1914年之前。"),
]
NOT_CUT = [  # a part of what is claimed
    ("股价变化了多少？", "股价下跌了4%。", "4%"),
    ("最低温度是多少？", "夜间气温降至零下12度。", "12℃"),
    ("2012年夏季奥运会在哪座城市举办？", "伦敦或者巴黎。", "伦敦"),
    ("文中主人公为什么离开家乡？", "他离开家乡是为了去城里打工挣钱，并不是因为和父亲争吵。", "因为和父亲争吵"),
    ("小明为什么迟到？", "因为他不喜欢跑步。", "喜欢跑步"),
    ("土耳其的首都是哪里？", "是伊斯坦布尔——抱歉，更正一下，应该是安卡拉。", "伊斯坦布尔"),
    ("理财为什么赎回不了？", "这只产品还处在封闭期，并不是系统故障。", "系统故障"),
    ("会议几点开始？", "9点之前到就行，10点开始。", "9点"),
    ("谁发明了电话？", "如果不是梅乌奇，那就是贝尔。", "贝尔"),
    ("故障的根本原因是什么？", "抱歉，我无法判断根因，不一定是磁盘写满。", "磁盘写满"),
]
CLEAR = [  # what is added to it differs in nothing that was asked
    ("《出师表》是写给谁的？", "《出师表》是诸葛亮写给蜀汉后主刘禅的奏表。", "刘禅"),
    ("订单服务用的是哪种数据库？", "从配置来看，订单服务连接的是 PostgreSQL，Redis 只用来做缓存。", "PostgreSQL"),
    (
        "三家供应商中哪家报价最低？",
        "对比如下：\n- 恒泰：12.8万元\n- 金辉：11.9万元\n- 远航：13.2万元\n\n报价最低的是金辉。",
        "金辉",
    ),
    ("金的化学符号是什么？", "几种金属的符号如下：\n\n- 银：Ag\n- 铜：Cu\n- 金：Au", "Au"),
    ("法国的首都是哪里？", "法国的首都是巴黎哦~还有什么想了解的吗？", "巴黎"),
    ("故障的根本原因是什么？", "根因是磁盘写满导致数据库无法写入。一开始怀疑过网络抖动，后来排除了。", "磁盘写满"),
    ("公共物品为什么会被搭便车？", "因为公共物品具有非排他性，谁都能用。", "具有非排他性"),
]


def scored(question: str, reply: str, target: str) -> Any:
    return answer(Sample.ask("q", question, target=target), Trajectory.of(reply))


@pytest.mark.parametrize(("question", "reply", "claim"), CLAIMED)
def test_the_span_that_the_form_of_a_reply_speaks_for_is_claimed(question: str, reply: str, claim: str) -> None:
    assert [str(read) for read in read_weighed_claims(reply, question).readings] == [claim]


@pytest.mark.parametrize(
    ("question", "reply", "claim", "other"),
    [
        ("Which company bought the printer division?", "The division went from Halden to Orrin after Kest withdrew.", "Halden", "Orrin"),
        ("Who won the cup in 2020, after the final was moved?", "Dynamo lost the first final to Sparta; Rapid then took the cup from Sparta in the replay.", "Sparta", "Rapid"),
        ("Which river did they cross?", "They followed the Oder to the Neisse, which they crossed.", "Oder", "Neisse"),
    ],
)  # fmt: skip
def test_what_a_reply_may_claim_as_well_is_arguable_and_what_it_does_not_say_is_wrong(
    question: str, reply: str, claim: str, other: str
) -> None:
    claims = read_weighed_claims(reply, question)
    assert claim in claims.readings[0].forms, claims
    assert other in {form for also in claims.others for form in also.forms}
    arguable = scored(question, reply, other)
    assert isinstance(arguable, Unscored)
    assert other in str(arguable.reason)
    assert scored(question, reply, claim).points == 1
    assert scored(question, reply, "Lindqvist").points == 0


def test_a_model_that_judges_decides_what_is_arguable() -> None:
    question, reply = "Which company bought it?", "Halden, not Orrin."
    strict = matching(AnswerOptions(judge=lambda answer, target: False))
    verdict = strict(Sample.ask("q", question, target="Orrin"), Trajectory.of(reply))
    assert isinstance(verdict, Score)
    assert verdict.points == 0


@pytest.mark.parametrize(("question", "reply"), SILENT)
def test_what_is_doubted_denied_bounded_or_about_something_else_is_not_claimed(question: str, reply: str) -> None:
    assert read_weighed_claims(reply, question).readings == ()


@pytest.mark.parametrize(("question", "reply", "target"), NOT_CUT)
def test_a_part_that_means_something_else_is_not_right(question: str, reply: str, target: str) -> None:
    assert getattr(scored(question, reply, target), "points", 0) == 0


@pytest.mark.parametrize(("question", "reply", "target"), CLEAR)
def test_what_is_only_added_to_an_answer_leaves_it_right(question: str, reply: str, target: str) -> None:
    assert getattr(scored(question, reply, target), "points", 0) == 1


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("", "It is Paris."),
        ("Is it red?", "No, it is blue."),
        (
            "Who built it?",
            "The house stands in Oslo. Berger built it in 1923. " + "Trees grow near it in long rows. " * 20,
        ),
        ("What is the capital of France?", "Lyon has more trams. Final answer: Paris"),
        ("What are the colours of the flag?", "They are red, white and blue."),
        ("Which command lists files?", "Run this:\n```\nls -l\n```\nThe index is left alone."),
    ],
)
def test_rules_alone_read_what_is_marked_listed_yes_or_no(question: str, reply: str) -> None:
    weighed, claims = read_weighed_claims(reply, question), read_claims(reply, question)
    is_marked = not claims.readings and weighed.readings == (Claim((str(claims.given),)),)
    assert weighed == (msgspec.structs.replace(claims, readings=weighed.readings) if is_marked else claims)


def test_a_clause_that_denies_has_no_spans_unless_the_question_denies() -> None:
    said = [
        span.text for span in read_english_spans(read_english_reply("It isn't Rome, it is Oslo.", "Which city is it?"))
    ]
    asked = [
        span.text
        for span in read_english_spans(read_english_reply("Miko can't make it.", "Who can't make it on Friday?"))
    ]
    assert "Rome" not in said
    assert "Oslo" in said
    assert "Miko" in asked


@given(
    st.lists(
        st.lists(st.sampled_from(["len=1", "bold", "no such feature", "nov=new"]), max_size=4), min_size=1, max_size=9
    )
)
def test_probabilities_of_spans_sum_to_one(features: list[list[str]]) -> None:
    spans = [ReplySpan(str(index), tuple(of_it), 0) for index, of_it in enumerate(features)]
    assert sum(weigh(spans, "en")) == pytest.approx(1)
    assert weigh([], "zh") == []


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_reply_is_read(reply: str, question: str) -> None:
    assert len(read_weighed_claims(reply, question).readings) <= 2
