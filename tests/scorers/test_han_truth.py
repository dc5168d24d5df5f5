"""Chinese questions for yes or no, their replies and their targets, in the forms that people write; and for each, what stays refused."""

import pytest
from answer_points import points

from proctor_judging.matching.asked import read_asked

QUESTIONS = (
    "编号7的书能否续借？",
    "这本书可否外借",
    "鲁迅是北京人吧",
    "剩菜隔夜能吃不",
    "姜茶有用没？",
    "护照办好了没有？",
    "这里冷不冷？",
    "比赛有没有推迟？原定3月2日。",
)
OTHER_QUESTIONS = {
    "哪些城市有没有地铁我不关心，最大的城市是哪个？": "words",
    "用什么方法检查两个数是否互质？": "words",
    "聚会的地点定了吗？定在哪里？": "words",
    "运费包含在内吗？不含的话要多少钱？": "amount",
    "你们说什么不？": "",
}
CASES = {
    "a modal verb with the verb of the question": (
        "这笔订单还能退吗？规则：发货前可退。",
        "可以退的。包裹还没有发出。",
        "是",
        "否",
    ),
    "the verb of the question": ("长江是否流经武汉？", "流经的，汉口就在江边。", "是", "否"),
    "the verb denied": ("我的报销申请通过了吗？", "您的报销申请还没有通过，目前卡在部门审批。", "否", "是"),
    "a complement denied": ("现在还买得到硬卧吗？", "买不到了，硬卧已经售罄，软卧还有两张。", "否", "是"),
    "a denied need": ("去韩国玩五天要办签证吗？", "不用办，五天以内免签。", "否", "是"),
    "a denied need at the end": ("通知：周一放假。那我周一要上班不", "周一放假，你不用上班。", "否", "是"),
    "a word that is short for a denial": ("大蒜能治感冒吗", "这个真不行，感冒要靠休息。", "否", "是"),
    "a prohibition": ("酒后能开车不？", "千万别！酒驾是违法的。", "否", "是"),
    "a conclusion that denies": (
        "兔子能吃巧克力吗",
        "好多人觉得喂一点没事，可巧克力对兔子有毒，所以还是不能喂。",
        "否",
        "是",
    ),
    "a conclusion that affirms": (
        "这块电池能带上飞机吗 限额100Wh",
        "换算一下是80Wh，没有超过100Wh，所以可以带。",
        "是",
        "否",
    ),
    "a range": ("临时工可以领餐补吗？规定：“仅限正式员工。”", "临时工不在范围内，只有正式员工才有。", "否", "是"),
    "a source before it": ("这个字体允许商用吗？", "据我所知允许，许可证没有限制。", "是", "否"),
    "a particle": ("巴西的圣诞节是夏天吗", "对哒，南半球季节相反。", "是", "否"),
    "a slip of the question": ("杜甫是宋朝人吧", "记混啦，杜甫是唐朝的。", "否", "是"),
    "so it is": ("斯里兰卡人大多信佛教吗？", "大多数如此，这在南亚很特别。", "是", "否"),
    "what others say": (
        "达尔文是第一个提出进化论的人吗？",
        "不少书上会说是，但严格来讲不是：在他之前已有人提出过。",
        "否",
        "是",
    ),
    "what is held now": ("《三国志》是罗贯中写的吗？", "过去有人以为是，但学界一般认为不是，作者是陈寿。", "否", "是"),
    "the answer of those who know": ("法显到过澳洲吗？", "个别学者主张到过，不过主流史学界的回答是没有。", "否", "是"),
    "what is asked whether it is known": (
        "他知道自己得奖了吗？",
        "当时消息还没公布，也就是说，他并不知道。",
        "否",
        "是",
    ),
    "a word before a consequence": (
        "快速排序是原地排序吗？",
        "是的，它只用常数空间，因此不必另开数组；归并排序则不是。",
        "是",
        "否",
    ),
    "the last conclusion": (
        "两本书是否同一年出版？",
        "要说出版社相同，是；要说年份，则否。因此最终回答：否。",
        "否",
        "是",
    ),
    "another thing that has it": ("HTTP协议需要心跳包吗？", "需要心跳包的是长连接网关。HTTP协议不需要。", "否", "是"),
    "a condition that denies": ("没有学生证能买学生票吗？", "没带学生证也能买学生票，报学号即可。", "是", "否"),
    "a hum before what it says": ("巴西首都是里约吧", "嗯，很多人都这么以为。其实不是，首都是巴西利亚。", "否", "是"),
    "another verb denied of the subject": (
        "调休可以折算成现金吗？",
        "在职期间的调休不能折现；离职时才会折算成工资。",
        "否",
        "是",
    ),
    "a word with the character of a denial": ("菱形的对角线平分内角吗？", "菱形的对角线分别平分内角。", "是", "否"),
    "a cause that denies": ("闪退是因为没有更新吗？", "不是的。更新已经装好了，闪退是因为内存不足。", "否", "是"),
}
TARGETS = (
    ("签证还需要办吗？", "不需要，两国互免签证。", "不用", "需要"),
    ("新人可以参加抽奖吗？", "新人不可以参加抽奖。", "不可以", "可以"),
    ("接口支持XML吗？", "接口并不支持XML。", "不支持", "支持"),
    ("考试日期有没有推迟？", "推迟了，晚了一周。", "推迟了", "没有推迟"),
    ("进水后应该充电吗？", "不应该，先擦干。", "不应该", "应该"),
    ("澳洲的首都是悉尼吗？", "不是的，是堪培拉。", "不是", "是悉尼"),
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_for_yes_or_no_is_known(question: str) -> None:
    assert read_asked(question).kind == "truth"


@pytest.mark.parametrize(("question", "kind"), OTHER_QUESTIONS.items())
def test_a_question_for_something_else_is_no_question_for_yes_or_no(question: str, kind: str) -> None:
    assert read_asked(question).kind == kind


@pytest.mark.parametrize(("question", "reply", "right", "wrong"), CASES.values(), ids=CASES)
def test_a_reply_says_yes_or_no(question: str, reply: str, right: str, wrong: str) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


@pytest.mark.parametrize(("question", "reply", "right", "wrong"), TARGETS)
def test_a_target_may_say_yes_or_no_in_the_words_of_its_question(
    question: str, reply: str, right: str, wrong: str
) -> None:
    assert points(question, reply, right) == 1
    assert points(question, reply, wrong) != 1


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("猫能喝牛奶吗？", "可以买零乳糖奶。"),  # of something else
        ("西红柿能隔夜吃吗？", "西红柿。"),  # no predicate
        ("大蒜能治感冒吗？", "有人说能治。"),  # others say
        ("鸵鸟是鸟吗？", "不会飞的动物很多。"),  # another verb
        ("巴西首都是里约吧", "里约是最出名的城市。"),  # of what it is asked to be
        ("快速排序是稳定排序吗？", "归并排序才是稳定排序。"),  # of another thing
    ],
)
def test_a_reply_that_says_neither_claims_neither(question: str, reply: str) -> None:
    assert points(question, reply, "是") != 1
