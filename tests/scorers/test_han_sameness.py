"""Which names, claimed and expected, are one answer to a Chinese question, and which are not."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer

SAME = [
    ("小红和谁一起看的电影？", "妈妈", "她的妈妈"),
    ("鲸鱼属于哪一类动物？", "它属于哺乳动物。", "哺乳类"),
    ("受影响的是哪个平台？", "受影响的是安卓端。", "Android"),
    ("问题从哪个版本开始出现？", "从3.6版本开始。", "3.6版"),
    ("光年是时间单位还是距离单位？", "光年是距离单位。", "距离"),
    ("流感是病毒引起的还是细菌引起的？", "病毒", "病毒引起的"),
    ("队列是先进先出还是后进先出？", "先进先出", "FIFO"),
    ("植物光合作用放出什么气体？", "氧气", "O2"),
    ("电话是谁发明的？", "贝尔", "亚历山大·贝尔"),
    ("地球的天然卫星叫什么？", "月球", "月亮"),
    ("哪种维生素缺乏会得坏血病？", "维生素C", "维C"),
]
DIFFERENT = [
    ("苹果、胡萝卜、香蕉中哪一种是蔬菜？", "胡萝卜", "胡萝卜素"),
    ("光年是时间单位还是距离单位？", "光年是距离单位。", "时间"),
    ("这个词来自哪里？", "法国", "法语"),
    ("小红和谁一起看的电影？", "妈妈", "她的妹妹"),
    ("鲸鱼属于哪一类动物？", "它属于哺乳动物。", "鱼类"),
    ("出事的是哪一层？", "3层", "13层"),
    ("他是哪里人？", "吉林市", "吉林省"),
]


def _accepts(question: str, reply: str, target: str) -> bool:
    score = answer(Sample.ask("s", question, target=target), Trajectory.of(reply))
    return isinstance(score, Score) and score.points == 1


@pytest.mark.parametrize(("question", "reply", "target"), SAME)
def test_names_of_one_thing_are_the_same_answer(question: str, reply: str, target: str) -> None:
    assert _accepts(question, reply, target)


@pytest.mark.parametrize(("question", "reply", "target"), DIFFERENT)
def test_names_of_two_things_are_not(question: str, reply: str, target: str) -> None:
    assert not _accepts(question, reply, target)
