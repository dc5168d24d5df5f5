"""Chinese replies whose answer one general property of them shows, and for which nothing else is accepted."""

import pytest

from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer

CASES = {
    "a contrasted clause is about another thing": (
        "光合作用主要在植物细胞的哪个部位进行？", "光合作用主要发生在叶绿体中，而线粒体负责的是呼吸作用。", "叶绿体", "线粒体"
    ),
    "the last of all is no conclusion": ("二十四节气中的第一个节气是什么？", "按传统顺序，二十四节气以立春为首，最后一个是大寒。", "", "大寒"),
    "a subject set off by a comma": ("岳飞字什么？", "岳飞，字鹏举，是南宋的将领。", "鹏举", "南宋的将领"),
    "a word that begins like a small word": ("正方体和长方体，哪种立体的棱一定相等？", "正方体。长方体不一定。", "正方体", "长方体"),
    "a lead that has a verb of opinion": ("谁发明了蒸汽机？", "通常认为蒸汽机是由詹姆斯·瓦特发明的，他是英国人。", "瓦特", "英国人"),
    "what only uses it": ("Linux下列出文件的命令是什么？", "使用 ls 命令即可列出文件。cd 是切换目录的。", "ls", "cd"),
    "a name with the noun of the question": (
        "黄河的发源地在哪个高原？", "黄河发源于青藏高原的巴颜喀拉山脉，最终在山东注入渤海。", "青藏高原", "渤海"
    ),
    "a word of another script with the noun of the question": (
        "Python里用什么关键字定义类？", "在 Python 中用 class 关键字定义类，匿名函数可以用 lambda。", "class", "lambda"
    ),
}  # fmt: skip


def _accepts(question: str, reply: str, target: str) -> bool:
    score = answer(Sample.ask("s", question, target=target), Trajectory.of(reply))
    return isinstance(score, Score) and score.points == 1


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_accepted_and_what_else_the_reply_has_is_not(case: str) -> None:
    question, reply, right, wrong = CASES[case]
    assert not right or _accepts(question, reply, right)
    assert not _accepts(question, reply, wrong)
