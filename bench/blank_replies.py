"""Generate replies that fill the blanks of a question, in many forms, English and Chinese. Nothing is drawn at random."""

from collections.abc import Iterator

import msgspec


class BlankReply(msgspec.Struct, frozen=True):
    """A reply of the grid, with what it fills into each blank, and wrong answers."""

    form: str
    question: str
    text: str
    right: tuple[str, ...]
    wrong: tuple[tuple[str, ...], ...]


# question | answers | wrong answers | remark
ENGLISH = (
    "The capital of Australia is ____.|Canberra|Sydney|Many people think of Sydney, but it is not the capital.",
    "Water freezes at ____ degrees Celsius.|0|32|In Fahrenheit that is 32.",
    "She has lived here ____ 2015.|since|for|We use it with a point in time.",
    "If it rains, the match will ____ (cancel).|be cancelled|cancel|The passive is needed here.",
    "The chemical symbol for gold is ____.|Au|Ag|It comes from the Latin word aurum.",
    "A group of lions is called a ____.|pride|pack|Wolves live in packs.",
    "The author of Emma is ____.|Jane Austen|Emily Brontë|She published it in 1815.",
    "The Sun rises in the ____ and sets in the ____.|east;west|west;east|The Earth turns towards the east.",
    "HTTP uses port ____, while HTTPS uses port ____.|80;443|443;80|Servers can be set to others.",
    "Photosynthesis takes in ____ and releases ____.|carbon dioxide;oxygen|oxygen;carbon dioxide|It happens in the leaves.",
    "A hexagon has ____ sides and a pentagon has ____.|six;five|five;six|An octagon has eight.",
    "The first man on the Moon was ____, in the year ____.|Neil Armstrong;1969|Buzz Aldrin;1969|Buzz Aldrin followed him.",
    "I am interested ____ art, and my brother is good ____ maths.|in;at|at;in|These are fixed phrases.",
    "The primary colours are red, ____ and ____.|blue;yellow|green;purple|All others are mixed from them.",
)  # fmt: skip
HAN = (
    "中国的首都是____。|北京|上海|上海是最大的城市。",
    "标准大气压下水的沸点是____摄氏度。|100|0|冰点是0摄氏度。",
    "《红楼梦》的作者是____。|曹雪芹|吴承恩|吴承恩写的是《西游记》。",
    "一年有____个月。|12|10|一个季度有3个月。",
    "“床前明月光”的下一句是“____”。|疑是地上霜|举头望明月|这首诗是李白写的。",
    "成语“画蛇添____”。|足|脚|比喻多此一举。",
    "太阳从____方升起，从____方落下。|东;西|西;东|这是地球自转造成的。",
    "世界上最高的山峰是____，最长的河流是____。|珠穆朗玛峰;尼罗河|乔戈里峰;亚马孙河|第二长的是亚马孙河。",
    "鲁迅原名____，是____人。|周树人;绍兴|周作人;杭州|周作人是他的弟弟。",
    "光合作用吸收____，释放____。|二氧化碳;氧气|氧气;二氧化碳|这一过程在叶绿体中进行。",
    "三角形的内角和是____度，四边形的内角和是____度。|180;360|360;180|五边形是540度。",
    "因系统____，给您带来的____敬请谅解。|维护;不便|升级;麻烦|这是通知的常用语。",
)  # fmt: skip
JOINS = {True: (", ", " and ", "; ", " / "), False: ("，", "、", "和", "；")}


def _filled(question: str, answers: tuple[str, ...], around: str = "{}") -> str:
    hint = question.replace(" (cancel)", "")
    for answer in answers:
        hint = hint.replace("____", around.format(answer), 1)
    return hint


def _english(question: str, answers: tuple[str, ...], remark: str) -> Iterator[tuple[str, str]]:
    joined = ", ".join(answers)
    for join in JOINS[True] if len(answers) > 1 else ("",):
        yield "bare", join.join(answers)
        yield "bare", join.join(answers) + "."
        yield "remark", f"{join.join(answers)}. {remark}"
        yield "lead", f"The {'answers are' if len(answers) > 1 else 'answer is'} {join.join(answers)}."
    yield "remark", f"{joined}\n\n{remark}"
    yield "remark", f"{joined} ({remark.rstrip('.')})"
    yield (
        "remark",
        f"**{joined}**. {remark}" if len(answers) == 1 else f"**{answers[0]}** and **{answers[1]}**. {remark}",
    )
    yield "remark", f"**{joined}**"
    yield "lead", f"Sure! The {'blanks are' if len(answers) > 1 else 'blank is'}: {joined}."
    yield "lead", f"Answer: {joined}"
    yield "lead", f"It should be {' and '.join(answers)}."
    yield "lead", f"You should write {' and '.join(answers)}."
    yield "quoted", " and ".join(f'"{answer}"' for answer in answers)
    yield (
        "quoted",
        f"The missing {'words are' if len(answers) > 1 else 'word is'} "
        + " and ".join(f'"{answer}"' for answer in answers)
        + ".",
    )
    yield "quoted", "I'd fill in " + " and ".join(f'"{answer}"' for answer in answers) + f". {remark}"
    yield "filled", _filled(question, answers)
    yield "filled", _filled(question, answers, "**{}**")
    yield "filled", f"{_filled(question, answers)} {remark}"
    yield "filled", f"Here is the complete sentence:\n\n{_filled(question, answers, '**{}**')}"
    yield "filled", f"{_filled(question, answers, '**{}**')}\n\n{remark} Let me know if you need more help!"
    yield "concluded", f"{remark} So: {joined}"
    if len(answers) > 1:
        yield "numbered", f"1. {answers[0]}\n2. {answers[1]}"
        yield "numbered", f"1) {answers[0]} 2) {answers[1]}"
        yield "numbered", f"(1) {answers[0]} (2) {answers[1]}. {remark}"
        yield "numbered", f"Blank 1: {answers[0]}\nBlank 2: {answers[1]}\n\n{remark}"
        yield "numbered", f"First blank: {answers[0]}; second blank: {answers[1]}."
        yield "numbered", f"- {answers[0]}\n- {answers[1]}"
        yield "numbered", f"{answers[0]} for the first blank and {answers[1]} for the second."
        yield "numbered", f"The first is {answers[0]} and the second is {answers[1]}."


def _han(question: str, answers: tuple[str, ...], remark: str) -> Iterator[tuple[str, str]]:
    joined = "，".join(answers)
    for join in JOINS[False] if len(answers) > 1 else ("",):
        yield "bare", join.join(answers)
        yield "bare", join.join(answers) + "。"
        yield "remark", f"{join.join(answers)}。{remark}"
        yield "lead", f"答案是{join.join(answers)}。"
    yield "remark", f"{joined}\n\n{remark}"
    yield "remark", f"{joined}（{remark.rstrip('。')}）"
    yield "remark", f"**{joined}**"
    yield "lead", f"好的，应填{'、'.join(answers)}。"
    yield "lead", f"答案：{joined}"
    yield "lead", f"应该填{'和'.join(answers)}。"
    yield "lead", f"据我所知，是{'和'.join(answers)}。"
    yield "quoted", "、".join(f"“{answer}”" for answer in answers)
    yield "quoted", "这里应填" + "和".join(f"“{answer}”" for answer in answers) + f"。{remark}"
    yield "filled", _filled(question, answers)
    yield "filled", _filled(question, answers, "**{}**")
    yield "filled", f"{_filled(question, answers)}{remark}"
    yield "filled", f"{_filled(question, answers, '**{}**')}\n\n{remark}希望对你有帮助！"
    yield "concluded", f"{remark}所以答案是：{joined}"
    if len(answers) > 1:
        yield "numbered", f"1. {answers[0]}\n2. {answers[1]}"
        yield "numbered", f"①{answers[0]} ②{answers[1]}"
        yield "numbered", f"（1）{answers[0]}（2）{answers[1]}。{remark}"
        yield "numbered", f"第一空：{answers[0]}；第二空：{answers[1]}"
        yield "numbered", f"第一空填“{answers[0]}”，第二空填“{answers[1]}”。{remark}"
        yield "numbered", f"依次为{answers[0]}、{answers[1]}。"
        yield "numbered", f"分别是{answers[0]}和{answers[1]}。"


def replies() -> Iterator[BlankReply]:
    """Yield all replies with what is right for each blank, and what is wrong."""
    for rows, forms in ((ENGLISH, _english), (HAN, _han)):
        for row in rows:
            question, answers, wrong, remark = row.split("|")
            right = tuple(answers.split(";"))
            for form, text in forms(question, right, remark):
                yield BlankReply(form, question, text, right, (tuple(wrong.split(";")),))
