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
    ("自动扣款是几号？", "每月15号自动扣款。", "15日"),
    ("奥运会每几年举办一次？", "每四年举办一次。", "四年一次"),
    ("一天吃几次？", "每日3次", "一天三次"),
    ("主要数据集是什么？", "CMRC 2018", "CMRC2018"),
    ("哪个方案得票最多？", "方案乙", "乙"),
    ("由哪条规则触发？", "规则 R-108", "R-108"),
    ("报错在第几行？", "第47行", "47"),
    ("小明为什么迟到？", "因为地铁出故障。", "地铁出了故障"),
]
DIFFERENT = [
    ("苹果、胡萝卜、香蕉中哪一种是蔬菜？", "胡萝卜", "胡萝卜素"),
    ("光年是时间单位还是距离单位？", "光年是距离单位。", "时间"),
    ("这个词来自哪里？", "法国", "法语"),
    ("小红和谁一起看的电影？", "妈妈", "她的妹妹"),
    ("鲸鱼属于哪一类动物？", "它属于哺乳动物。", "鱼类"),
    ("出事的是哪一层？", "3层", "13层"),
    ("他是哪里人？", "吉林市", "吉林省"),
    ("多久吃一次？", "每天3次", "每周3次"),
    ("多久开一次会？", "两周一次", "每周2次"),
    ("哪个方案得票最多？", "方案乙", "丙"),
    ("在几号楼？", "1号楼", "1日"),
    ("报错在第几行？", "第47行", "45"),
    ("小明为什么迟到？", "因为地铁出故障。", "地铁没有出故障"),
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
