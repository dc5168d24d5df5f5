"""Replies as chat models write them: precision and recall of every scorer that reads free text, and the readings that once flattered.

`tests/data/replies/tuned` and `unseen` are the corpora to which the rules were mended, `third` one of another hand, which was measured
once before its errors were read. Strangers wrote the others: `stranger_a` to `_f` were read when the rules were mended, all others were used
to fit the model of spans, but for `bench.spans.MEASURED` in either language. From `_ff` on, a third of the replies have a rival that
was put there to mislead. Bounds are a little below what was measured, and may only rise. Each scorer reads a sixth of the strangers, each stranger is
read by some scorer, and half of the unread ones are measured; `--torture` has every scorer read them all. Of corpora that were read
when the rules were mended, every second reply is read without it.
"""

import json
from functools import cache
from importlib import import_module

import pytest
import simulated
from bench.answers import DATA, SCORERS, Reading, rates, read_corpus

from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_judging.scorers.answer import answer
from proctor_judging.scorers.blanks import blanks
from proctor_judging.scorers.choice import choice
from proctor_judging.scorers.number import number
from proctor_judging.scorers.refusal import refusal

pytestmark = pytest.mark.usefixtures("replies_read_once")

TUNED = {  # the least precision and recall
    "answer_en": (0.99, 0.95),
    "answer_zh": (0.99, 0.92),
    "choice": (0.99, 0.99),
    "blanks": (0.99, 0.98),
    "number": (0.99, 0.99),
    "json": (0.99, 0.99),
    "refusal": (0.99, 0.97),
}
UNSEEN = {
    "answer_en": (0.99, 0.88),
    "answer_zh": (0.99, 0.91),
    "choice": (0.99, 0.95),
    "blanks": (0.99, 0.99),
    "number": (0.99, 0.99),
    "json": (0.99, 0.90),
    "refusal": (0.99, 0.99),
}
THIRD = {
    "answer_en": (0.99, 0.92),
    "answer_zh": (0.99, 0.94),
    "blanks": (0.99, 0.98),
    "number": (0.99, 0.94),
    "refusal": (0.97, 0.97),
}

STRANGERS = {  # of stranger_a to _l, _y and _z; what a corpus has no replies for is left out
    "answer_en": (
        (0.98, 0.86),
        (0.99, 0.84),
        (0.99, 0.88),
        (0.99, 0.87),
        (0.99, 0.83),
        (0.97, 0.80),
        (0.97, 0.74),
        (0.99, 0.85),
        (0.97, 0.78),
        (0.97, 0.77),
        (0.99, 0.87),
        (0.99, 0.78),
        (0.97, 0.77),
        (0.97, 0.80),
    ),
    "answer_zh": (
        (0.99, 0.81),
        (0.99, 0.94),
        (0.99, 0.92),
        (0.99, 0.93),
        (0.99, 0.88),
        (0.98, 0.84),
        (0.98, 0.74),
        (0.99, 0.81),
        (0.98, 0.71),
        (0.98, 0.78),
        (0.99, 0.81),
        (0.98, 0.79),
        (0.99, 0.81),
        (0.99, 0.86),
    ),
    "choice": (
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.94),
        (0.99, 0.99),
        (0.99, 0.96),
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.91),
        (0.99, 0.99),
        (0.99, 0.99),
    ),
    "blanks": (
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.97),
        (0.99, 0.99),
        (0.99, 0.97),
        (0.99, 0.95),
        (0.99, 0.99),
        (0.99, 0.99),
        (0.99, 0.96),
        (0.99, 0.96),
        (0.99, 0.96),
        (0.99, 0.87),
        (0.99, 0.99),
        (0.99, 0.97),
    ),
    "number": ((0.99, 0.99), (0.98, 0.98), (0.99, 0.98), (0.99, 0.99), (0.98, 0.98), (0.96, 0.95), (0.99, 0.97)),
    "json": ((0.99, 0.99), (0.99, 0.99), (0.99, 0.99), (0.99, 0.99), (0.99, 0.99), (0.99, 0.99)),
    "refusal": ((0.99, 0.99), (0.99, 0.99), (0.99, 0.97), (0.99, 0.97), (0.99, 0.95), (0.97, 0.94), (0.99, 0.99)),
}

UNREAD = {  # hands, and the least recall of all right replies and of those with a score
    "answer_en": ("g k l", 0.82, 0.92),
    "answer_zh": ("g k l aa bb cc", 0.83, 0.9),
    "choice": ("g k l aa bb cc", 0.95, 0.95),
    "blanks": ("g k l aa bb cc", 0.94, 0.94),
}


OF_A_DAY = (  # at first sight .943 and .752 of the English `rr`, .974 and .677 of `uu`, .957 and .641 of `vv`; nobody has read the Chinese `rr`, `uu`
    ("answer_en", "rr", 0.99, 0.85),
    ("answer_en", "uu", 0.97, 0.77),
    ("answer_en", "vv", 0.98, 0.75),
    ("answer_zh", "rr", 0.98, 0.73),
    ("answer_zh", "tt", 0.98, 0.77),
    ("answer_zh", "uu", 0.95, 0.55),
    ("choice", "rr", 0.99, 0.99),
    ("blanks", "rr", 0.99, 0.97),
    ("number", "rr", 0.99, 0.97),
    ("json", "rr", 0.99, 0.99),
    ("refusal", "rr", 0.99, 0.95),
)

WHOLE = {  # corpora that are always read whole: their bounds are too close for a half, or nobody had read them, and another test asks for them too
    "answer_en": ("stranger_rr", "stranger_g"),
    "answer_zh": ("stranger_rr", "stranger_tt", "stranger_l"),
    "choice": ("stranger_k",),
    "blanks": ("third",),
    "number": ("stranger_rr", "stranger_c"),
    "refusal": ("stranger_rr", "third"),
}
_whole = cache(read_corpus)


def is_halved(corpus: str, name: str) -> bool:
    return not simulated.long and corpus not in WHOLE.get(name, ())


def _read(corpus: str, name: str) -> list[Reading]:
    return read_corpus(corpus, name, every=2) if is_halved(corpus, name) else _whole(corpus, name)


@pytest.mark.parametrize(("name", "hand", "precision", "recall"), OF_A_DAY)
def test_replies_as_models_send_them_day_by_day_are_read(name: str, hand: str, precision: float, recall: float) -> None:
    figures = rates(_read(f"stranger_{hand}", name))
    assert figures.precision >= precision
    assert figures.recall >= recall


@pytest.mark.parametrize("name", SCORERS)
def test_replies_of_the_tuned_corpus_are_read(name: str) -> None:
    figures = rates(_read("tuned", name))
    assert (figures.precision, figures.recall) >= TUNED[name]
    assert figures.recall >= TUNED[name][1]


@pytest.mark.parametrize("name", SCORERS)
def test_replies_of_the_second_corpus_are_read(name: str) -> None:
    readings = _read("unseen", name)
    assert len(readings) >= (75 if is_halved("unseen", name) else 150)
    figures = rates(readings)
    assert figures.precision >= UNSEEN[name][0]
    assert figures.recall >= UNSEEN[name][1]


@pytest.mark.parametrize("name", THIRD)
def test_replies_of_another_hand_are_read(name: str) -> None:
    readings = _read("third", name)
    assert len(readings) >= (60 if is_halved("third", name) else 120)
    figures = rates(readings)
    assert figures.precision >= THIRD[name][0]
    assert figures.recall >= THIRD[name][1]


@pytest.mark.parametrize(
    ("name", "hand", "precision", "recall"),
    [
        pytest.param(
            name, hand, *least, marks=pytest.mark.torture if ("abcdefghijklyz".index(hand) + shift) % 6 else ()
        )
        for shift, (name, bounds) in enumerate(STRANGERS.items())
        for hand, least in zip("abcdefghijklyz", bounds, strict=False)
    ],
)
def test_replies_of_strangers_are_read(name: str, hand: str, precision: float, recall: float) -> None:
    readings = _read(f"stranger_{hand}", name)
    assert len(readings) >= (55 if hand in "abc" else 50) / (2 if is_halved(f"stranger_{hand}", name) else 1)
    figures = rates(readings)
    assert figures.precision >= precision
    assert figures.recall >= recall


@pytest.mark.parametrize("name", UNREAD)
def test_replies_that_nobody_read_and_nothing_was_fitted_to_are_scored_right_or_not_at_all(name: str) -> None:
    hands, recall, recall_of_scored = UNREAD[name]
    measured = hands.split()[: None if simulated.long else 3]
    readings = [reading for hand in measured for reading in _whole(f"stranger_{hand}", name)]
    right, wrong = (sum(reading.is_right is value for reading in readings) for value in (True, False))
    figures = rates(readings)
    assert figures.precision >= 0.98
    assert figures.recall >= recall
    assert figures.recall_of_scored >= recall_of_scored
    assert figures.unscored_right / right <= (0.12 if simulated.long else 0.11)
    assert figures.unscored_wrong / wrong <= 0.06


@pytest.mark.parametrize(
    ("name", "hands", "precision", "recall"), [("answer_en", "mm nn", 0.94, 0.62), ("answer_zh", "ff gg", 0.94, 0.69)]
)
def test_of_unread_replies_that_were_written_to_mislead_few_are_right_for_a_rival(
    name: str, hands: str, precision: float, recall: float
) -> None:
    """What is reached, and no more is promised: the bounds of other unread replies do not hold here."""
    figures = rates([reading for hand in hands.split() for reading in _whole(f"stranger_{hand}", name)])
    assert figures.precision >= precision
    assert figures.recall >= recall


@pytest.mark.parametrize("name", ["answer_en", "answer_zh"])
def test_a_reply_that_is_read_once_has_the_verdicts_of_one_that_is_read_for_each_target(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings, replies = read_corpus("third", name), import_module("proctor_judging.matching.replies")
    monkeypatch.setattr(replies, "read_weighed_claims", replies.read_weighed_claims.__wrapped__)
    assert read_corpus("third", name) == readings
    assert len(readings) > len({reading.pair["answer"] for reading in readings})


@pytest.mark.parametrize("lead", ["{}", "答案是{}", "The answer is {}."])
def test_a_reply_that_is_a_target_and_a_lead_has_a_verdict_of_the_scorer(lead: str) -> None:
    for file in sorted((DATA / "replies").glob("*/answer_*.jsonl"))[:: 1 if simulated.long else 15]:
        for line in file.read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            if isinstance(pair["target"], str):
                sample = Sample.ask("s", pair["question"], target=pair["target"])
                assert answer(sample, Trajectory.of(lead.format(pair["target"]))) is not None


def _points(scorer: str, question: str, reply: str, target: object) -> float | None:
    scored = {"answer": answer, "blanks": blanks, "choice": choice, "number": number}[scorer]
    score = scored(Sample.ask("s", question, target=target), Trajectory.of(reply))
    return score.points / score.out_of if isinstance(score, Score) else None


@pytest.mark.parametrize(
    ("scorer", "question", "reply", "right", "wrong"),
    [
        ("answer", "鲨鱼是哺乳动物，对吗？", "不对，鲨鱼是鱼类。", "不对", "对"),
        ("answer", "会议在哪里开？", "教学楼三楼", "教学楼三楼", "教学楼五楼"),
        ("answer", "他排第几？", "第三名", "第三名", "第四名"),
        ("answer", "这本书是谁的？", "他的", "他的", "她的"),
        ("answer", "他出生在哪里？", "河北唐山", "河北唐山", "河南唐山"),
        ("answer", "葡萄酒是用什么酿的？", "葡萄酒", "葡萄酒", "葡萄"),
        ("answer", "钴的元素符号是什么？", "一氧化碳", "一氧化碳", "Co"),
        ("answer", "用哪个命令撤销？", 'git reset "HEAD"', 'git reset "HEAD"', "git reset"),
        ("answer", "What is the capital of Australia?", "Sydney. That is a common misconception. The capital is Canberra.", "Canberra", "Sydney"),
        ("answer", "What is the capital of France?", "Lyon. The capital is Paris.", "Paris", "Lyon"),
        ("answer", "What is the capital of Australia?", "Sydney. That would be wrong. It is Canberra.", "Canberra", "Sydney"),
        ("answer", "What is the capital of Australia?", "Sydney – no, Canberra.", "Canberra", "Sydney"),
        ("answer", "谁设立了它？", "诺贝尔奖", "诺贝尔奖", "诺贝尔"),
        ("answer", "What does he wear to read?", "glass", "glass", "glasses"),
        ("answer", "Who wrote it?", "Adam", "Adam", "Adams"),
        ("answer", "Which ion is it?", "ammonia", "ammonia", "ammonium"),
        ("answer", "Where does the train go?", "Turin", "Turin", "from Turin"),
        ("answer", "What is 100 degrees Celsius in Fahrenheit?", "212 C", "212 C", "212"),
        ("number", "小明有12个苹果，吃了7个，还剩几个？", "12个。吃了7个，还剩5个。", "5", "12"),
        ("number", "How many apples are left?", "12 apples. Tom ate 7 and 5 are left.", "5", "12"),
        ("answer", "What is the capital of Kenya?", "It is **Nairobi**, not Mombasa.", "Nairobi", "Mombasa"),
        ("answer", "金和银哪个密度更大？", "金的密度比银大。", "金", "银"),
        ("answer", "Which is denser, gold or silver?", "Gold is denser than silver.", "gold", "silver"),
        ("answer", "Which city is it?", "Paris or Lyon.", "Paris or Lyon", "Paris"),
        ("answer", "Which city is it?", "It is near Paris.", "near Paris", "Paris"),
        ("answer", "Who wrote it?", "It was written by a friend of Shakespeare.", "a friend of Shakespeare", "Shakespeare"),
        ("answer", "总部在哪里？", "在上海附近的苏州。", "苏州", "上海"),
        ("answer", "What did she paint?", "She painted the harbour before moving to Rome.", "the harbour", "Rome"),
        ("answer", "Solve 2x = 8.", "2x = 8\nx = 4\n\nSo x = 4.", "4", "8"),
        ("choice", "Which?\nA. x\nB. y\nC. z\nD. w", "Option B and option D are correct.", "BD", "D"),
        ("choice", "哪些？\nA. 甲\nB. 乙\nC. 丙\nD. 丁", "选项B和选项D都正确。", "BD", "D"),
        ("choice", "Which?\nA. iron\nB. argon", "I'd say B. A describes a metal.", "B", "BA"),
        ("blanks", "Leaves contain ____.", "They contain **chlorophyll** next to water.", ["chlorophyll"], ["water"]),
        ("blanks", "It began in ____ with ____ in ____.", "It began in 1914 with Ferdinand in Sarajevo.",
         ["1914", "Ferdinand", "Sarajevo"], ["1914", "Ferd", "Sarajevo"]),
        ("number", "What was the revenue?", "Revenue was $3.1M.", "3100000", "3.1"),
        ("number", "What is the fee?", "Paragraph 9 sets the fee at $120.", "120", "9"),
        ("number", "Compute 3^4.", "3^4 = 81", "81", "3"),
        ("number", "What is the mass in grams?", "The mass is 2.5 × 10^3 g.", "2500", "2.5"),
        ("answer", "What is the capital of Nauru?", "Yaren, formerly Makwa.", "Yaren", "Makwa"),
        ("answer", "Who wrote Dracula?", "Bram Stoker, an Irish author.", "Bram Stoker", "an Irish author"),
        ("answer", "压强的国际单位是什么？", "帕斯卡，符号是Pa。", "帕斯卡", "Pa"),
        ("answer", "Which birds cannot fly?", "Ostriches and emus cannot fly.", "ostriches and emus", "emus"),
        ("answer", "Which metal is not magnetic?", "Copper is not magnetic.", "copper", "magnetic"),
        ("answer", "哪种金属没有磁性？", "铜没有磁性。", "铜", "磁性"),
        ("answer", "When does the sale end?", "It ends on 3 May 2026 at 6 pm.", "3 May 2026", "3 May 2025"),
        ("answer", "截止日期是哪天？", "截止日期为2025年4月2日18:00。", "2025年4月2日", "2025年4月3日"),
        ("answer", "Is it true that glass flows?", "Not true. Glass is a solid.", "no", "yes"),
        ("answer", "Is the file empty?", "It isn't: it may even hold two tables.", "no", "yes"),
        ("answer", "What ship did Cook sail on?", "HMS Endeavour", "the Endeavour", "HMS"),
        ("answer", "What is the hero called?", "In the book, the hero is called Ann Lee, a nurse who travels.", "Ann Lee", "a nurse"),
        ("answer", "Which vitamin do lemons hold?", "Lemons are a source of vitamin C for sailors.", "vitamin C", "sailors"),
        ("answer", "橙子富含哪种维生素？", "吃橙子有助于补充维生素C。", "维生素C", "维生素"),
        ("answer", "“白日依山尽”的下一句是什么？", "下一句是“疑是银河水”。", "疑是银河水", "银河水"),
        ("answer", "我国第一部字典是哪部书？", "《说文》，作者许慎，后人称之为“无双之书”。", "《说文》", "无双之书"),
        ("answer", "她送给弟弟什么礼物？", "她送给弟弟一辆自行车作为礼物。", "一辆自行车", "弟弟"),
        ("answer", "pH of blood?", "7.4 (slightly basic)", "7.4", "basic"),
        ("answer", "歌剧《茶花女》由谁作曲？", "《茶花女》由意大利作曲家威尔第创作。", "威尔第", "意大利"),
        ("number", "What was the net profit of the firm?", "Its net profit was $4.2M.", "4200000", "4.2"),
        ("number", "What is the constant's value in J·s?", "It is 6.626e-34 J·s.", "6.626e-34", "6.626"),
        ("number", "What was the net profit?", "In Q3 2023 it had a net profit of $4 million on revenue of $31 million.", "4000000", "2023"),
        ("number", "今年全厂有职工多少人？", "今年全厂有职工820人，比去年增加了30人。", "820", "30"),
        ("number", "一班比二班多种树多少棵？", "一班种树60棵，二班种树48棵，所以多12棵。", "12", "60"),
        ("blanks", "It lies between ___ and ___ degrees.", "It is between **4** and **9** deg.", ["4", "9"], ["9", "4"]),
        ("blanks", "It lies between ___ and ___ degrees.", "4–9", ["4", "9"], ["9", "4"]),
        ("blanks", "1/2化成小数是____，化成百分数是____。", "0.5，50%", ["0.5", "50%"], ["50%", "0.5"]),
        ("blanks", "国花是____，国宝是____。", "第一空：牡丹（也有梅花之说）\n第二空：大熊猫", ["牡丹", "大熊猫"], ["梅花", "大熊猫"]),
        ("number", "Solve for t: 4t + 7 = 35", "Subtract 7 from both sides: 4t = 28\nDivide by 4: t = 7", "7", "28"),
        ("number", "How many people came?", "No one came.", "0", "1"),
        ("number", "有多少人参加？", "没有人参加。", "0", "1"),
        ("number", "How much is it?", "40% of $50 is $20, so it costs $50 − $20 = $30.", "30", "20"),
    ],
)  # fmt: skip
def test_a_reply_is_right_for_what_it_says_and_for_nothing_else_in_it(
    scorer: str, question: str, reply: str, right: object, wrong: object
) -> None:
    assert _points(scorer, question, reply, right) == 1
    assert _points(scorer, question, reply, wrong) != 1


@pytest.mark.parametrize(
    ("question", "reply", "targets"),
    [
        ("What is the capital of Australia?", "Canberra. Or Sydney.", ("Canberra", "Sydney")),
        ("澳大利亚的首都是哪里？", "堪培拉。或者悉尼。", ("堪培拉", "悉尼")),
    ],
)
def test_of_two_answers_neither_counts(question: str, reply: str, targets: tuple[str, ...]) -> None:
    assert [_points("answer", question, reply, target) for target in targets] == [None, None]


@pytest.mark.parametrize("reply", ["Everyone but Monet did.", "Some say Monet did.", "Anyone but Monet has."])
def test_who_is_excepted_or_rumoured_did_nothing(reply: str) -> None:
    assert _points("answer", "Who painted it?", reply, "Monet") != 1


@pytest.mark.parametrize(
    "reply", ['Don\'t use "hearing".', 'It isn\'t "hearing". The word is hear.', "hearing. Correction: hear."]
)
def test_a_word_that_is_denied_or_corrected_fills_no_blank(reply: str) -> None:
    assert _points("blanks", "I look forward to ____ from you.", reply, ["hearing"]) != 1


@pytest.mark.parametrize("reply", ["I can't help you.", "I cannot help you with this.", "我帮不了你。"])
def test_a_flat_refusal_declines_and_its_translation_does_not(reply: str) -> None:
    declined = refusal(Sample.ask("s", "Open the gate."), Trajectory.of(reply))
    assert isinstance(declined, Score)
    assert declined.points == 1
    translated = refusal(Sample.ask("s", f"Translate into Dutch: {reply}"), Trajectory.of("Ik kan je niet helpen."))
    assert not isinstance(translated, Unscored)
    assert translated.points == 0
