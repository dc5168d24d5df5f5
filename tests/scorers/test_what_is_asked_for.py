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
    ("越南的首都是哪里？货币叫什么？", "首都是河内，货币是越南盾。", "河内；越南盾"),
    ("函数的最大值是多少？", "最大值为7，在x=3处取得。", "7"),
    ("长江全长多少公里？", "长江全长6300公里，黄河全长5464公里。", "6300公里"),
    ("这座桥长多少米？", "桥高60米，长1200米。", "1200米"),
    ("How many came on Monday?", "40 came, ten more than on Tuesday.", "40"),
    ("What day comes after Monday?", "Tuesday.", "Tuesday"),
    ("What is db-1's replica?", "db-2.", "db-2"),
    ("Can cats eat raisins?", "Please don't feed them any. Cats get ill.", "No"),
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
    ("押金上限是多少？", "押金不得超过三千元，后改为不得超过两千元。", "三千元"),
    ("押金上限是多少？", "如果是学生，押金不得超过三千元，其他人不得超过五千元。", "三千元"),
    ("押金上限是多少？", "邻市的押金不得超过三千元，本市没有规定。", "三千元"),
    ("押金上限是多少？", "押金不得超过三千元，或者不得超过两个月租金。", "三千元"),
    ("这句话出自哪部小说？", "作者是陆鸣，他还写过《北河》。", "《北河》"),
    ("这句话出自哪部小说？", "常被误认为出自《北河》。", "《北河》"),
    ("这句话出自哪部小说？", "出自陆鸣的处女作，比《北河》早三年。", "《北河》"),
    ("这句话出自哪部小说？", "出自陆鸣，与《北河》同年。", "《北河》"),
    ("这句话出自哪部小说？", "据《晚报》报道，出自陆鸣的一部未出版的小说。", "《晚报》"),
    ("他最喜欢什么书？", "他没说，只说不喜欢《北河》。", "《北河》"),
    ("“明月”出自哪首词？", "出自苏轼，题目化用了李白的《把酒问月》。", "《把酒问月》"),
    ("越南的首都是哪里？货币叫什么？", "首都是河内，泰国的货币是泰铢。", "河内；泰铢"),
    ("他叫什么？几岁？", "他叫王强，弟弟八岁。", "王强，八岁"),
    ("哪队夺冠最多？夺了几次？", "红星队最多，蓝鹰队夺了4次。", "红星队，4次"),
    ("这部片子的制片人是谁？", "制片人王强没有提到预算。", "资料未提及"),
    ("长江全长多少公里？", "长江流域面积180万平方公里，黄河全长5464公里。", "5464公里"),
    ("这座桥长多少米？", "桥高60米，工期3年。", "60米"),
    ("函数的最大值是多少？", "在x=3处取得最大值7。", "3"),
    ("最大值在何处取得？", "最大值为7，在x=3处取得。", "7"),
    ("狗能吃葡萄吗？", "狗不能吃葡萄是谣言。", "不能"),
    ("狗能吃葡萄吗？", "说狗不能吃葡萄，那是谣言。", "不能"),
    ("周一来了多少人？", "周二来了40人。", "40"),
    ("周一开会吗？", "周二开会。", "是"),
    ("How many came on Monday?", "On Tuesday, 40 came.", "40"),
    ("What is the IP address of db-1?", "db-2 is at 10.0.0.2.", "10.0.0.2"),
    ("Is foo.io available?", "bar.io is available.", "Yes"),
    ("Is db-1 up?", "Yes, db-2 is up.", "Yes"),
    ("Did Anna pay?", "Tom paid.", "Yes"),
    ("Did Anna pay?", "Anna almost paid.", "Yes"),
    ("Who won?", "Tom, by far the best known, lost to Ann.", "Tom"),
    ("What is the current version?", "We upgraded from 2.1.", "2.1"),
    ("What percentage of users stayed?", "40% left.", "40%"),
    ("Which laptop is the worst?", "Nothing beats the Dell.", "the Dell"),
    ("Can dogs eat grapes?", "It's a myth that dogs can't eat grapes.", "No"),
    ("Can dogs eat grapes?", "Please don't feed them any chocolate; grapes are fine.", "No"),
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


def test_what_depends_is_no_yes_and_no_no_in_chinese() -> None:
    for reply in ("要看是哪一天。", "视天气而定。", "取决于天气。"):
        assert getattr(verdict("周末开门吗？", reply, "是"), "points", None) == 0


@pytest.mark.parametrize(("question", "reply"), UNREAD)
def test_a_yes_or_no_that_is_not_read_is_no_zero(question: str, reply: str) -> None:
    for target in ("Yes", "No") if question.isascii() else ("有", "没有"):
        assert isinstance(verdict(question, reply, target), Unscored)
    said_to_be_open = verdict(question, "I don't know." if question.isascii() else "不知道。", "No")
    assert isinstance(said_to_be_open, Score)
    assert said_to_be_open.points == 0
