"""Which spans of a Chinese reply may be its claim, and which features tell them apart."""

import pytest
from bench.spans import label, read_rows

from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.han_atoms import read_atoms
from proctor_judging.matching.han_span_forms import span_forms
from proctor_judging.matching.han_span_question import read_span_question
from proctor_judging.matching.han_spans import read_han_spans
from proctor_judging.matching.span_model import ReplySpan

REACHED = [
    ("土耳其的首都是哪里？", "土耳其的首都是安卡拉，不是伊斯坦布尔。", "安卡拉"),
    ("大熊猫的主要食物是什么？", "大熊猫虽属食肉目，却几乎只吃竹子（约占食谱的99%）。", "竹子"),
    ("蝙蝠靠什么在黑暗中定位？", "蝙蝠主要依靠超声波回声定位。", "超声波"),
    ("订单什么时候签收？", "订单已于 5 月 12 日签收。", "5月12日"),
    ("工牌丢了找谁？", "工牌丢失请联系**行政前台**补办。", "行政前台"),
    ("部署的是哪个分支？", "当前跑的是 release/4.2，develop 部署在别处。", "release/4.2"),
    ("复杂度是多少？", "时间复杂度是 O(log n)，比顺序查找快。", "O(log n)"),
    ("“一日不见，如隔三秋”出自哪部典籍？", "出自《诗经·王风·采葛》。", "诗经"),
    ("英国首相撒切尔夫人的继任者是谁？", "辞职后，由约翰·梅杰接任首相。", "约翰·梅杰"),
]
SILENT = [
    ("谁发明了电话？", "可能是贝尔。"),
    ("谁发明了电话？", "我不确定，也许是贝尔，他是苏格兰人。"),
    ("谁发明了电话？", "是贝尔吗？"),
    ("谁发明了电话？", "据说是贝尔。"),
    ("谁发明了电话？", "应该不是贝尔。"),
    ("谁发明了电话？", "答案不是贝尔，我也不清楚。"),
    ("谁发明了电话？", ""),
    ("电话是贝尔发明的吗？", "是的，电话是贝尔发明的。"),
    ("Who invented it?", "Bell did."),
]
NOT_CLAIMED = [
    ("土耳其的首都是哪里？", "不是伊斯坦布尔，而是安卡拉。", "伊斯坦布尔"),
    ("土耳其的首都是哪里？", "并非伊斯坦布尔。", "伊斯坦布尔"),
    ("土耳其的首都是哪里？", "有人认为是伊斯坦布尔，但首都是安卡拉。", "伊斯坦布尔"),
    ("最先抛出的是哪个异常？", "最先抛出的是 TimeoutError，后者很可能是它引起的。", "后者"),
]


@pytest.mark.parametrize(("question", "reply", "claim"), REACHED)
def test_a_claim_is_among_the_spans(question: str, reply: str, claim: str) -> None:
    assert claim in texts_of(reply, question)


@pytest.mark.parametrize(("question", "reply"), SILENT)
def test_a_reply_that_says_nothing_for_certain_has_no_spans(question: str, reply: str) -> None:
    assert read_han_spans(reply, question) == []


@pytest.mark.parametrize(("question", "reply", "other"), NOT_CLAIMED)
def test_nothing_denied_doubted_or_said_by_others_is_a_span(question: str, reply: str, other: str) -> None:
    assert not [text for text in texts_of(reply, question) if other in text or (text in other and len(text) > 1)]


def test_no_span_begins_or_ends_within_a_common_word() -> None:
    said = texts_of("房产由小女儿苏曼继承。", "房产留给了谁？")
    assert "小女儿苏曼" in said
    assert not {"曼继", "女儿苏曼继", "承", "产"} & set(said)


def test_what_a_question_denies_may_be_denied() -> None:
    assert "土豆" in texts_of("土豆不是水果。", "下列哪个不是水果：苹果、土豆、香蕉？")


def test_a_span_after_the_words_that_precede_the_interrogative_is_aligned() -> None:
    spans = read_han_spans("土耳其的首都是安卡拉。", "土耳其的首都是哪里？")
    claim = next(span for span in spans if span.text == "安卡拉")
    assert {"l.al/fit=4whole", "l.cue/q=是where", "closes", "old=new"} <= set(claim.features)


def test_a_short_first_clause_leads() -> None:
    spans = read_han_spans("杜丽娘，男主角是柳梦梅。", "女主角叫什么名字？")
    features = {span.text: set(span.features) for span in spans}
    assert "lead" in features["杜丽娘"]
    assert "after lead" in features["柳梦梅"]


def test_features_name_no_word_of_a_span() -> None:
    one, other = (
        read_han_spans(f"它的首都是{name}。", f"{land}的首都是哪里？")
        for name, land in (("安嘉拉", "土耳其"), ("伦塔卡", "英吉利"))
    )
    assert [span.features for span in one] == [span.features for span in other]


@pytest.mark.parametrize("text", ["《背影》", "release/4.2", "2024.11.16", "O(log n)", '"北冥"', "`git log`"])
def test_what_belongs_together_is_one_atom(text: str) -> None:
    assert [atom.text for atom in read_atoms(text)] == [text]


def test_a_question_for_a_moment_keeps_what_it_asks_for() -> None:
    asked = read_span_question("柏林墙倒塌于哪一年？")
    assert asked is not None
    assert (asked.kind, asked.left, asked.measure) == ("when", "柏林墙倒塌", "年")


def test_a_span_has_the_other_names_that_follow_it() -> None:
    reply = "电流的单位是安培，简称安。"
    assert {"安培", "安"} <= set(span_forms(ReplySpan("安培", (), 0), reply, "电流的国际单位是什么？"))


def test_an_amount_has_its_number_as_a_form() -> None:
    assert "88" in span_forms(ReplySpan("88个", (), 0), "钢琴有88个键。", "钢琴一共有多少个琴键？")


def test_most_replies_of_the_grid_have_a_span_that_is_right() -> None:
    rows = [row for row in read_rows("zh") if row.hand == "grid"][::10]
    missed = [row for row in rows if not any(label(row, "zh").gains) and read_asked(row.question).kind != "truth"]
    assert len(missed) <= len(rows) * 0.02


def test_a_long_reply_has_a_limited_number_of_spans() -> None:
    assert len(read_han_spans("甲乙丙丁是一个很长的句子，" * 400, "谁发明了电话？")) <= 400


def texts_of(reply: str, question: str) -> list[str]:
    return [span.text for span in read_han_spans(reply, question)]
