"""What a question asks for besides one value: a limit, a work, two things at once, a yes or no; and keys that say that nothing is given."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer

RIGHT = [
    ("试用期最长可以约定多久？", "试用期不得超过六个月。", "六个月"),
    ("展会最长可以办几天？", "布展不得超过两天，展会不得超过九天。", "九天"),
    ("“明月几时有”出自哪首词？", "出自苏轼的《水调歌头》，写于1076年。", "《水调歌头》"),
    ("“鹿鸣”出自哪部典籍？", "出自《诗经·小雅》。", "《诗经》"),
    ("夺冠最多的球队是哪支？夺了几次？", "红星队以5次夺冠排名第一，蓝鹰队4次。", "红星队，5次"),
    ("这部片子的制片人是谁？", "资料里只提到导演陆鸣和编剧何晓舟，没有提到制片人是谁。", "资料未提及"),
    ("Do I need a ticket?", "You don't need one. Entry is free on all days.", "No"),
    ("Is the argument valid?", "The argument's not valid. Its premises leave it open.", "invalid"),
    ("Can cats eat raisins?", "Please don't feed them any. Raisins can harm the kidneys.", "No"),
    ("Is the Moon a star?", "This is a popular myth. The Moon only reflects light.", "No"),
]
WRONG = [
    ("试用期最长可以约定多久？", "法律没有规定试用期不得超过六个月。", "六个月"),
    ("展会最长可以办几天？", "布展不得超过两天，展会不得超过九天。", "两天"),
    ("展会最长可以办几天？", "布展不得超过两天。", "两天"),
    ("展会最长可以办几天？", "展会不得超过九天或十天。", "十天"),
    ("托运最多能带几公斤？", "普通卡不超过20公斤，银卡不超过30公斤。", "30公斤"),
    ("“明月几时有”出自哪首词？", "出自苏轼的《水调歌头》，不是《念奴娇》。", "《念奴娇》"),
    ("夺冠最多的球队是哪支？夺了几次？", "红星队以5次夺冠排名第一，蓝鹰队4次。", "蓝鹰队，4次"),
    ("这部片子的制片人是谁？", "资料没有提到导演，制片人是王强。", "资料未提及"),
    ("这部片子的制片人是谁？", "制片人是王强，没有提到导演。", "资料未提及"),
    ("中位数是多少？", "众数是8，中位数是6。", "8"),
    ("最小值是多少？", "最小值为-2，在x=1处取得。", "1"),
    ("Do I need a ticket?", "You don't need one. Entry is free on all days.", "Yes"),
    ("Is the argument valid?", "The argument's not valid. Its premises leave it open.", "valid"),
    ('Is "All squares are rectangles" true or false?', "True. A square has four right angles.", "False"),
    ("Will rates fall next month?", "I can't predict that. Markets have views.", "Yes"),
    ("Can I return it?", "It depends on the condition of the goods.", "No"),
]
UNREAD = [  # yes or no is asked for, and neither is read
    ("Is the sofa available in green?", "It comes in grey, navy and rust only."),
    ("Will 3 litres fit into a cube of 14 cm?", "14³ = 2,744 cm³, which is about 2.74 litres."),
    ("这款沙发有绿色的吗？", "目前只提供灰色、藏青色和铁锈红。"),
]


def verdict(question: str, reply: str, target: str) -> object:
    return answer(Sample.ask("q", question, target=target), Trajectory.of(reply))


@pytest.mark.parametrize(("question", "reply", "target"), RIGHT)
def test_what_is_asked_for_is_right(question: str, reply: str, target: str) -> None:
    assert getattr(verdict(question, reply, target), "points", 0) == 1


@pytest.mark.parametrize(("question", "reply", "target"), WRONG)
def test_what_is_said_of_something_else_is_not_right(question: str, reply: str, target: str) -> None:
    assert getattr(verdict(question, reply, target), "points", 0) == 0


@pytest.mark.parametrize(("question", "reply"), UNREAD)
def test_a_yes_or_no_that_is_not_read_is_no_zero(question: str, reply: str) -> None:
    for target in ("Yes", "No") if question.isascii() else ("有", "没有"):
        assert isinstance(verdict(question, reply, target), Unscored)
    said_to_be_open = verdict(question, "I don't know." if question.isascii() else "不知道。", "No")
    assert isinstance(said_to_be_open, Score)
    assert said_to_be_open.points == 0
