"""Find the name that a Chinese clause states, by where its question leaves a gap: `鲸靠肺呼吸` fills the one of `鲸用什么器官呼吸？`

The words on either side of the interrogative, or verbs of the same meaning, show where the answer stands in a clause. Clauses that
deny, doubt, tell of earlier times or of others are set aside. Two different answers are none.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN, table_lines
from proctor_judging.matching.sentences import CONTRAST, GUESS, OTHERS_SAY, is_certain

INTERROGATIVE = compile_later(
    r"谁|什么(?:名字|样的|时期|地方)?|哪(?:里|儿|些)|哪(?:一|[两三四五])?[个座条种类所支项颗国省市只片本部首家位款边面](?:人|球队|城市|国家|省份?|大学|学校)?|何[人处地种]"
)
SEVERAL = compile_later(r"哪些|哪[两三四五六七八九几]|分别|各|多少|几|为什么|下一句|上一句|还是")
BRACKETS = compile_later(r"[（(][^（）()]{0,60}[)）]")
CLAUSE_END = compile_later(r"[，,；;。！!：:\n]|——")
EARLIER = compile_later(r"原[来先定本是]|以前|从前|曾|上(?:学期|个?月|一任|届|次)|去年|此前|起初|前任|弃用|取代|接替")
RIVAL = compile_later(
    r"不敌|输给|负于|屈居|亚军|季军|落败|其次|第[二三四五]|次之|紧随|止步|惜败|看似|看起来|好似|混淆|误|有人|有的人|人会"
)
TITLE = compile_later(r"《[^《》]{1,30}》")
LEADS = compile_later(
    r"(?:(?:通常|一般|普遍|公认|目前|现在|如今|当前|据[^，]{0,6}记载|可见|可知|其实|实际上|事实上|准确地说|毫无疑问|显然|只有|仅有|唯有|"
    r"认为|大家|人们|所以|因此|可见|最终|最后|主要|早已|已经|早在|说明|这学期|今年|改选后|年仅|接替.{1,8}的|由|被|是|即|其|则|而|但|就|了|着|过|于|在|至|到|为|的是|\d{1,4}年(?:\d{1,2}月)?(?:\d{1,2}日)?)\s?)+"
)
TRAILS = compile_later(
    r"(?:才|则|便|就|即|正|也|乃|却|又|还|曾|已经?|仍然?|率先|首先|最先|首次|最早|偶然|独自|亲自|终于|最终|最后|成功|共同|"
    r"先生|女士|同学|老师|教授|本人|的确|确实|可以?说|意外|轻松|的|所|来|地|后)+$"
)
AGENT_END = compile_later(
    r"(?<=[^，]{2})(?:成为|于|在|以|应|因|为|凭|用|从|经|通过|把|将|给|向|对|受|趁|历时|花|耗|并|与|率先|首先|最先|首次)(?!人$).*$"
)
OBJECT_END = compile_later(
    r"(?<=[^，])(?:来|去|进行|而|以便|等|已经)(?=.).*$|(?<=[^，]{2})(?:市中心|境内|市区|一带|的.*|附近)$"
)
MEASURE = compile_later(r"[个座条种类所支项颗只片本部首家位款边面]$")  # its noun follows
FIRST_TO = compile_later("首先|最先|率先|最早|第一")
DESCRIBED = compile_later(rf"一[只个位名种座条件部所家款][^，。]{{0,24}}的([{HAN}]{{2,8}})")  # 一只名叫菲尔的狐狸
DYNASTY = compile_later(
    r"^(?:先秦|春秋|战国|[东西]?汉|三国|[东西]?晋|南北朝|隋|唐|五代|[南北]?宋|元|明|清|民国)(?:代|朝|末|初|时期?)?(?:著名|的)?(?=[\u3400-\u9fff]{2,4}$)"
)
CITY = compile_later(
    rf"(?:首都|省会|城市|古城|名城)([{HAN}]{{2,6}}?)(?:市|的|$)|省([{HAN}]{{2,5}})市|^([{HAN}]{{2,5}})市"
)
PROVINCE = compile_later(rf"([{HAN}]{{2,3}}省)")
BOLD = compile_later(rf"\*\*([{HAN}·]{{1,14}})\*\*")
TEAM = compile_later(rf"[{HAN}]{{2,6}}队")
SEAT = compile_later(rf"^(?:北京|上海|天津|重庆|中国|我国)(?=[{HAN}]{{3,}}[院馆宫寺塔园站]$)")
PERSON = compile_later(rf"[{HAN}A-Za-z\d.·“”\"《》 -]{{1,24}}")
IS = compile_later(r"(?:应该|应|就|才|便|正|即|都|仍|可)?(?:是|被[誉称]为|号称|为|居|堪称|稳居|当属|非|算|属)|成为")
CLEFT = compile_later(rf".*?(?P<verb>[{HAN}]{{2}})的(?:就|正|便)?是(?P<answer>[^是]+)")
FIRST = compile_later(
    r"^(.{1,12}?)(?:以[^，]{1,24})?(?:都|仍|均)?(?:稳?居|排名?|名列|高居|位居|位列)[^，]{0,10}(?:第一|首|榜首|之首)$"
)
PRONOUN = compile_later(r"[它这该其他她那此]")
FRAME = compile_later(r"(?:是|为|指的?是|的|了|由|被|主要|最后|究竟|到底)+$")
SUPERLATIVE = compile_later(rf"(最|更|比较)?([{HAN}])$")
LONGEST = 14
LONGEST_HEAD = 4  # characters of the noun that the interrogative belongs to
OWNED = compile_later(rf"([{HAN}]{{2,8}})的([{HAN}]{{2}})")


def read_han_words(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return the one name that the clauses of a reply state in answer to a Chinese question, and what is part of it; () for none or two.

    >>> from proctor_judging.matching.asked import read_asked
    >>> read_han_words(["鲸不用鳃，靠肺呼吸"], read_asked("鲸用什么器官呼吸？"))
    ('肺',)
    >>> read_han_words(["王芳遗憾屈居亚军，李雪夺冠"], read_asked("冠军是谁？"))
    ('李雪',)
    """
    question = re.split("[:：]", asked.clause)[0].strip(" ？?。!！“”\"'")
    gap = INTERROGATIVE.search(question)
    if gap is None or SEVERAL.search(question) or any(map(GUESS.search, sentences)):
        return ()
    left, right = FRAME.sub("", question[: gap.start()]), question[gap.end() :]
    near_by_name: dict[str, int] = {}
    for clause in _clauses(sentences, question):
        for text in _candidates(clause, left, right, gap[0], question):
            name = _trimmed(text)
            if _is_name(name, question, right[:2] if MEASURE.search(gap[0]) else ""):
                near_by_name.setdefault(name, len(_pairs(clause) & _pairs(question)))
                break
    names = [name for name, near in near_by_name.items() if near == max(near_by_name.values())]
    distinct = list(near_by_name) if len(names) > 1 else names
    if not distinct or not all(name in distinct[0] or distinct[0] in name for name in distinct):
        return ()
    return tuple(_forms(max(distinct, key=len), question))


def marked_name(text: str) -> str:
    """Return the one name in bold in a Chinese reply, unless its clause denies or doubts it; '' without one.

    >>> marked_name("最深的湖是位于西伯利亚的**贝加尔湖**。"), marked_name("不是**里海**。")
    ('贝加尔湖', '')
    """
    marked = set(BOLD.findall(text))
    if len(marked) != 1 or GUESS.search(text) or OTHERS_SAY.search(text):
        return ""
    name = marked.pop()
    clauses = [clause for clause in CLAUSE_END.split(text) if f"**{name}**" in clause]
    certain = all(is_certain(clause) and not (RIVAL.search(clause) or EARLIER.search(clause)) for clause in clauses)
    return name if certain and clauses else ""


def _clauses(sentences: Sequence[str], question: str) -> list[str]:
    """Return the clauses that say something for certain about what is asked."""
    clauses = []
    for sentence in sentences:
        if OTHERS_SAY.search(sentence) and not is_certain(CLAUSE_END.split(sentence)[-1]):
            continue
        plain = BRACKETS.sub("", sentence)
        for pattern, instead in CONTRAST:
            plain = pattern.sub(instead, plain)
        for clause in map(str.strip, CLAUSE_END.split(plain)):
            other = [title for title in TITLE.findall(clause) if title not in question] if "《" in question else []
            aside = (RIVAL.search(clause) and not RIVAL.search(question)) or (
                EARLIER.search(clause) and not EARLIER.search(question)
            )
            if (
                clause
                and not (other or aside or _of_another(clause, question))
                and is_certain(clause)
                and not contradicts(clause, question)
            ):
                clauses.append(clause)
    return clauses


def _of_another(clause: str, question: str) -> bool:
    """True if what the question asks of one thing is said of another: 北宋的都城 for 唐朝的都城."""
    asked = {noun: owner for owner, noun in OWNED.findall(question)}
    return any(
        noun in asked and not _pairs(owner) & _pairs(asked[noun]) and PRONOUN.match(owner) is None
        for owner, noun in OWNED.findall(clause)
    )


def _candidates(clause: str, left: str, right: str, gap: str, question: str) -> Iterable[str]:
    """Yield what stands in a clause where the question has its gap."""
    if (
        right
        and (numbered := re.search(rf"(?<![{HAN}\d])?([A-Za-z\d.-]{{1,8}})号?{re.escape(right[:4])}", clause))
        is not None
    ):
        yield numbered[1]
    if (cleft := CLEFT.fullmatch(clause)) is not None and cleft["verb"] in question:
        yield cleft["answer"]
    if gap in ("谁", "何人") or "人" in gap or not right:
        yield from _agents(clause, left + right, question)
    subject = left or right.partition("是")[2]
    if subject and (
        not right or not left or (len(right) < LONGEST_HEAD and question[: question.find(gap)][-1:] in "是为")
    ):
        yield from _subjects(clause, subject)
    if left and gap not in ("谁", "何人"):
        yield from _objects(clause, left, right)


def _agents(clause: str, predicate: str, question: str) -> Iterable[str]:
    """Yield who does what the question asks about."""
    if (compared := SUPERLATIVE.search(predicate)) is not None and "谁" in question:
        degree, quality = compared[1] or "[更最]?", compared[2]
        measure = re.sub(rf"(?:{degree})?{quality}$", "", predicate)[-2:].lstrip("的")
        most = re.match(rf"(.{{1,8}}?)(?:的?{measure}|的[^，]{{1,4}}|[^，]得)?(?:{degree}){quality}(?:$|的)", clause)
        if most is not None and (compared[1] or (measure and measure in clause)):
            yield _after_last_is(most[1])
    deeds = (at for at in range(2, len(clause)) if clause[at : at + 2] in _pairs(predicate))
    if deed := next((at for at in deeds if clause[at + 2 : at + 3] not in ("家", "者")), 0):  # not 作曲 of 作曲家
        doer = AGENT_END.sub("", _trimmed(_after_last_is(clause[:deed])))
        is_first = clause.startswith(doer) or clause[:deed] in (f"是{doer}", f"最后是{doer}", f"最终是{doer}")
        if (len(doer) <= deed - 2 or FIRST_TO.match(clause, deed)) and is_first:
            yield doer
    for verb in _synonyms(predicate):
        at = clause.find(verb)
        if at < 1:
            continue
        rest = clause[at + len(verb) :].lstrip("了过的着出")
        if rest[:1] in "是为" and rest:
            continue  # the subject of 写的是
        if rest and not PRONOUN.match(rest) and verb not in _winning() and not _pairs(rest) & _pairs(question):
            continue  # another work than that of the question
        yield AGENT_END.sub("", _trimmed(_after_last_is(clause[:at])))


def _subjects(clause: str, subject: str) -> Iterable[str]:
    """Yield what a clause says to be what the question describes."""
    for copula in IS.finditer(clause):
        before, after = clause[: copula.start()], clause[copula.end() :]
        said, wanted = _pairs(after), _pairs(subject)
        enough = len(said & wanted) * 2 >= len(said) > 0 or (PRONOUN.match(after) and said & wanted)
        if before and (enough or (after and subject.endswith(after))) and not _pairs(before) & wanted:
            yield before
    most = re.search(r"最[\u3400-\u9fff]{1,2}", subject)
    if most is None:
        return
    if (superlative := re.match(rf"(.{{1,12}}?)(?:是)?{most[0].rstrip('的')}的?$", clause)) is not None:
        yield superlative[1]
    if (first := FIRST.match(clause)) is not None:
        yield first[1] or first[2]


def _objects(clause: str, left: str, right: str) -> Iterable[str]:
    """Yield what follows the verb of the question, up to the words that follow its gap."""
    verbs = [*_synonyms(left[-3:]), *_synonyms(right)]
    literal = [left[-2:]] if len(left) > 1 else []
    for verb in [*verbs, *literal]:
        at = clause.rfind(verb)
        if at < 0 or verb == "在":
            continue
        text = clause[at + len(verb) :].lstrip("了过着于在至到为是的")
        for size in range(len(right), 1, -1):
            if (end := text.find(right[-size:])) > 0:
                head = size == len(right) and text[end - 1] != "的"
                text = text[: end + size if head else end]  # 南半球, but 拟人 of 拟人的修辞手法
                break
        if (described := DESCRIBED.fullmatch(text)) is not None:
            yield described[1]
        yield OBJECT_END.sub("", text)


def _after_last_is(text: str) -> str:
    pieces = re.split(r"由|(?<!还)是|被|可见|接替.{1,8}的", text)
    return pieces[-1]


def _trimmed(text: str) -> str:
    text = text.strip(" ,，“”\"'*🏆")
    while (lead := LEADS.match(text)) is not None and lead.end() < len(text):
        text = text[lead.end() :]
    return (TRAILS.sub("", text) or text).strip(" “”\"'")


def _is_name(text: str, question: str, head: str = "") -> bool:
    shared = _pairs(text) & _pairs(question)
    return (
        0 < len(text) <= LONGEST
        and PERSON.fullmatch(text) is not None
        and text not in question
        and (not shared or (shared == {head} and text.endswith(head) and text != head))  # 多瑙河畔, asked for 哪条河畔
        and PRONOUN.match(text) is None
    )


def _forms(name: str, question: str) -> Iterable[str]:
    """Yield a name and the shorter names that are part of it."""
    from proctor_judging.matching.stated_words import variants

    match = CITY.search(name) if "市" in question else PROVINCE.search(name) if "省" in question else None
    forms = list(variants(name))
    if (shorter := DYNASTY.sub("", name)) != name:
        forms.append(shorter)
    if match is not None:
        forms.append(next(group for group in match.groups() if group))
    if TEAM.fullmatch(name):
        forms.append(name[:-1])
    if name[-2:] in question and len(name) > 3:
        forms.append(name[:-1])
    forms += [name[match.end() :] for match in SEAT.finditer(name)]
    return [form for form in dict.fromkeys(map(_trimmed, forms)) if len(form) > 1 or form == name]


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def _synonyms(text: str) -> list[str]:
    """Return the verbs that may answer those in a text, the longest first."""
    groups = [group for group in _groups() if any(verb in text for verb in group)]
    return sorted({verb for group in groups for verb in group}, key=len, reverse=True)


@cache
def _winning() -> frozenset[str]:
    return next(frozenset(group) for group in _groups() if group[0] == "冠军")


@cache
def _groups() -> list[list[str]]:
    return [line.split(" ") for line in table_lines("han_verbs.txt")]
