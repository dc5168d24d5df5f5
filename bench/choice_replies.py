"""Generate replies that choose an option, by its letter or its text, in many forms, English and Chinese. Nothing is drawn at random."""

from collections.abc import Iterator

import msgspec

LETTERS = "ABCD"


class ChoiceItem(msgspec.Struct, frozen=True):
    """A question with four options; `fact` says the answer in other words, `rival` something true of another option."""

    question: str
    options: tuple[str, ...]
    right: str
    clause: str
    fact: str
    rival_letter: str
    rival: str
    is_negative: bool = False

    @property
    def asked(self) -> str:
        lines = (f"{letter}. {text}" for letter, text in zip(LETTERS, self.options, strict=True))
        return "\n".join([self.question, *lines])

    def text_of(self, letter: str) -> str:
        return self.options[LETTERS.index(letter)]


class ChoiceReply(msgspec.Struct, frozen=True):
    """A reply of the grid with the letter that it chooses."""

    form: str
    item: ChoiceItem
    text: str


def _items(*rows: str) -> Iterator[ChoiceItem]:
    for row in rows:
        question, options, right, clause, fact, rival_letter, rival = (part.strip() for part in row.split("|"))
        is_negative = " NOT " in question or "不" in question
        yield ChoiceItem(question, tuple(options.split("; ")), right, clause, fact, rival_letter, rival, is_negative)


# question | options | right | clause with {} for the text | fact | rival letter | rival
ENGLISH = tuple(_items(
    "Which planet is closest to the Sun? | Venus; Mercury; Earth; Mars | B | {} is closest to the Sun | It takes 88 days to orbit it. | A | Venus is the hottest planet.",
    "Which of these is a mammal? | Shark; Trout; Dolphin; Frog | C | the {} is a mammal | It breathes air and nurses its young. | A | A shark is a fish.",
    "What is the capital of Canada? | Toronto; Vancouver; Montreal; Ottawa | D | the capital of Canada is {} | It lies in Ontario. | A | Toronto is the largest city.",
    "Which data structure works last in, first out? | Queue; Stack; Tree; Graph | B | a {} works last in, first out | The last element pushed is popped first. | A | A queue works first in, first out.",
    "Which word is a synonym of 'rapid'? | slow; calm; quick; heavy | C | '{}' is a synonym of 'rapid' | Both mean fast. | A | Slow is the opposite.",
    "Which gas do plants absorb? | Oxygen; Nitrogen; Helium; Carbon dioxide | D | plants absorb {} | They use it in photosynthesis. | A | Oxygen is released instead.",
    "When did World War II end? | 1918; 1939; 1945; 1950 | C | World War II ended in {} | Japan surrendered in September. | B | It began in 1939.",
    "Which is NOT a primary colour of light? | Red; Green; Blue; Yellow | D | {} is not a primary colour of light | It is mixed from red and green. | A | Red has the longest wavelength.",
    "Which of the following is NOT a programming language? | Python; HTML; Java; Rust | B | {} is not a programming language | It is a markup language. | A | Python is interpreted.",
    "Who painted the Mona Lisa? | Michelangelo; Raphael; Leonardo da Vinci; Titian | C | {} painted the Mona Lisa | It hangs in the Louvre. | A | Michelangelo painted the Sistine Chapel.",
))  # fmt: skip
HAN = tuple(_items(
    "离太阳最近的行星是哪一颗？ | 金星; 水星; 地球; 火星 | B | 离太阳最近的行星是{} | 它绕太阳一周要88天。 | A | 金星是最热的行星。",
    "下列动物中属于哺乳动物的是？ | 鲨鱼; 鳟鱼; 海豚; 青蛙 | C | {}属于哺乳动物 | 它用肺呼吸。 | A | 鲨鱼是鱼类。",
    "加拿大的首都是哪里？ | 多伦多; 温哥华; 蒙特利尔; 渥太华 | D | 加拿大的首都是{} | 它位于安大略省。 | A | 多伦多是最大的城市。",
    "哪种数据结构是后进先出的？ | 队列; 栈; 树; 图 | B | {}是后进先出的数据结构 | 最后压入的元素最先弹出。 | A | 队列是先进先出的。",
    "第二次世界大战结束于哪一年？ | 1918年; 1939年; 1945年; 1950年 | C | 第二次世界大战结束于{} | 日本在9月投降。 | B | 它爆发于1939年。",
    "植物吸收哪种气体？ | 氧气; 氮气; 氦气; 二氧化碳 | D | 植物吸收{} | 这用于光合作用。 | A | 氧气是被释放的。",
    "下列不是编程语言的是？ | Python; HTML; Java; Rust | B | {}不是编程语言 | 它是标记语言。 | A | Python是解释型的。",
    "下列不属于四大名著的是？ | 红楼梦; 聊斋志异; 水浒传; 三国演义 | B | 《{}》不属于四大名著 | 它是蒲松龄写的。 | A | 《红楼梦》是曹雪芹写的。",
    "《静夜思》的作者是谁？ | 杜甫; 白居易; 李白; 王维 | C | 《静夜思》的作者是{} | 他是唐代诗人。 | A | 杜甫写的是《春望》。",
))  # fmt: skip


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _english(item: ChoiceItem) -> Iterator[tuple[str, str]]:
    letter, text = item.right, item.text_of(item.right)
    clause = _upper(item.clause.format(text))
    yield "letter", letter
    yield "letter", f"{letter}."
    yield "letter", f"({letter})"
    yield "letter", f"**{letter}**"
    yield "letter", f"{letter}. {text}"
    yield "letter", f"{letter}) {text}"
    yield "letter", f"**{letter}. {text}**"
    yield "letter", f"Option {letter}"
    yield "letter", f"{letter} - {text}"
    yield "text", text
    yield "text", f"{text}."
    yield "text", f"It's {text}."
    yield "text", f"{text} ({letter})"
    yield "clause", f"{clause}."
    yield "clause", f"{clause} ({letter})."
    yield "clause", f"{clause}. {item.fact}"
    yield "clause", f"{clause}. {item.rival}"
    yield "clause", f"{clause}, so the answer is {letter}."
    yield "marked", f"The answer is {letter}."
    yield "marked", f"The correct answer is **{letter}. {text}**."
    yield "marked", f"Answer: {letter}"
    yield "marked", f"I'd go with {letter}. {item.fact}"
    yield "marked", f"The correct option is {letter}, {text}. {item.rival}"
    yield "marked", f"Correct answer: {letter} ({text})"
    yield from _english_remarks(item)


def _english_remarks(item: ChoiceItem) -> Iterator[tuple[str, str]]:
    letter, text, rival = item.right, item.text_of(item.right), item.rival_letter
    clause = _upper(item.clause.format(text))
    others = [other for other in item.options if other != text]
    yield "remark", f"{letter}. {item.fact}"
    yield "remark", f"{letter}. {item.rival}"
    yield "remark", f"{letter}. {text}. {item.fact}"
    yield "remark", f"**{letter}. {text}**\n\n{item.fact} {item.rival}"
    yield "remark", f"{text}. {item.fact}"
    yield "remark", f"{text}. {item.rival}"
    yield "remark", f"{letter}, because {item.clause.format(text)}."
    yield "concluded", f"{item.rival} {clause}. The answer is {letter}."
    yield "concluded", f"{item.rival} So the answer is {text}."
    yield "concluded", f"{item.rival} Therefore, {item.clause.format(text)}."
    yield (
        "concluded",
        f"At first glance {rival} looks possible, but {item.rival[:1].lower() + item.rival[1:]} The right choice is {letter}.",
    )
    yield "concluded", f"{item.fact} That leaves {letter}."
    yield "concluded", f"Let's look at each option. {item.rival} {item.fact} So I'd choose {letter}."
    yield (
        "listed",
        "\n".join(
            [
                *(f"- {other}: {'yes' if item.is_negative else 'no'}" for other in others),
                "",
                f"So the answer is {letter}.",
            ]
        ),
    )
    yield (
        "listed",
        f"{', '.join(others[:-1])} and {others[-1]} {'all are' if item.is_negative else 'are not'}. The one that {'is not' if item.is_negative else 'is'} is {text}, so {letter}.",
    )
    yield "contrast", f"{letter}, not {rival}."
    yield "contrast", f"It is {text}, not {item.text_of(rival)}."
    yield "contrast", f"Not {rival} but {letter}."
    yield "polite", f"{clause}. Let me know if you have other questions!"
    yield "polite", f"Sure! The answer is {letter}: {text}. Hope this helps!"


def _han(item: ChoiceItem) -> Iterator[tuple[str, str]]:
    letter, text, rival = item.right, item.text_of(item.right), item.rival_letter
    clause = item.clause.format(text)
    others = [other for other in item.options if other != text]
    yield "letter", letter
    yield "letter", f"{letter}。"
    yield "letter", f"选{letter}"
    yield "letter", f"{letter}项"
    yield "letter", f"{letter}. {text}"
    yield "letter", f"{letter}、{text}"
    yield "letter", f"**{letter}. {text}**"
    yield "text", text
    yield "text", f"{text}。"
    yield "text", f"是{text}。"
    yield "text", f"{text}（{letter}）"
    yield "clause", f"{clause}。"
    yield "clause", f"{clause}（{letter}）。"
    yield "clause", f"{clause}，{item.fact}"
    yield "clause", f"{clause}。{item.rival}"
    yield "clause", f"{clause}，所以选{letter}。"
    yield "marked", f"答案是{letter}。"
    yield "marked", f"正确答案是**{letter}. {text}**。"
    yield "marked", f"答案：{letter}"
    yield "marked", f"应选{letter}，{item.fact}"
    yield "marked", f"我选{letter}。{item.rival}"
    yield "marked", f"正确选项：{letter}（{text}）"
    yield "remark", f"{letter}。{item.fact}"
    yield "remark", f"{letter}。{item.rival}"
    yield "remark", f"{letter}. {text}\n\n解析：{item.fact}{item.rival}"
    yield "remark", f"{text}。{item.fact}"
    yield "remark", f"{text}。{item.rival}"
    yield "remark", f"{letter}，因为{clause}。"
    yield "concluded", f"{item.rival}{clause}。答案是{letter}。"
    yield "concluded", f"{item.rival}所以答案是{text}。"
    yield "concluded", f"{item.rival}因此，{clause}。"
    yield "concluded", f"乍一看{rival}也可能，但{item.rival}正确答案是{letter}。"
    yield "concluded", f"{item.fact}故选{letter}。"
    yield (
        "listed",
        f"{'、'.join(others)}都{'是' if item.is_negative else '不是'}，{'只有' if item.is_negative else '答案是'}{text}{'不是' if item.is_negative else ''}，选{letter}。",
    )
    yield "contrast", f"是{letter}，不是{rival}。"
    yield "contrast", f"不是{rival}，而是{letter}。"
    yield "contrast", f"是{text}，而不是{item.text_of(rival)}。"
    yield "polite", f"{clause}。希望对你有帮助！"
    yield "polite", f"好的，答案是{letter}：{text}。如有疑问欢迎继续提问。"


def replies() -> Iterator[ChoiceReply]:
    """Yield all replies, each of which chooses the right option of its item."""
    for items, forms in ((ENGLISH, _english), (HAN, _han)):
        for item in items:
            for form, text in forms(item):
                yield ChoiceReply(form, item, text)
