"""Read whether a Chinese reply says yes or no: by the word it begins with, or by what it says or denies of the predicate of its question."""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import HAN_POLAR
from proctor_judging.matching.contradictions import says_opposite
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN, MOST_CHARACTERS
from proctor_judging.matching.sentences import CONCLUDES, GUESS, HARMLESS, OTHERS_SAY, SO, TITLE
from proctor_judging.matching.text import negations, tidy

ASKS = compile_later(rf"[^。？?！!，,；;：:\"]*(?:{HAN_POLAR})[^。？?！!，,；;\"]*")
WHETHER = compile_later(rf"是否|(?<=[能会应有])否|([{HAN}])[不没](?=\1)")
PARTICLE = compile_later(r"(?:了|的)?(?:[吗么呢啊吧不]|没有?)$")
ABLE, NEEDED = r"能够?|可以|可|行|允许|让|许|建议", r"需要|必须|必|应该|应当|应|该|要|得|用(?=[去办交来带做买]|$)"
VERB = compile_later(r"是|属于|算|可以|会(?!议|员|场)|能(?![量源力])|(?<!没)有|含|需要|要|应该|应当|必须|允许|支持")
MEANT_WORDS = r"目前|现在|暂时|还是?|尚|当然|绝对|肯定|其实|并|也|这个?|那个?|它|他们?|她|您|你|确实|实际上|的确|真的?|应该|答案是?|回答|答|则|都|就|千万|最好|大多数?|绝大多数|大部分|基本上?|[：:]"
MEANT = rf"(?:{MEANT_WORDS})*"
WITHIN = r"在(?:.{0,4}?范围之?内?|其中|其列|此列|之列|之内|内)"
NO = compile_later(
    rf"{MEANT}(?:否定|不(?:是|会|能|可以?|行|对|属于|算|需要|用|必|要|建议|推荐|应该?|正确|可能|存在|成立|然|准确|太?行|太?对|{WITHIN})?|没有?|否|别|错误?|并?非|假|无法|(?:记|搞|弄|说|想)(?:错|混|反))(?:的|了|啦|哒|哦|啊|呀|呢|哟|如此|这样|这么回事)*"
)
YES = compile_later(
    rf"{MEANT}(?:是|会|能|可以|有|对|没错|不错|没问题|正确|当然|肯定|确实|属于|行|存在|需要|含有|应该|真|成立|必须|允许|支持|嗯|如此|{WITHIN})(?:的|了|啦|哒|哦|啊|呀|呢|哟|会|是|能|可以|有|如此|这样)*"
)
OPEN = compile_later(
    r"不一定|不确定|不清楚|不知道|未必|取决于|看情况|因人而异|无法(?:判断|确定|得知)|不能(?:确定|判断)|难说|不完全"
)
FORBIDS = compile_later("禁止|严禁|谢绝|拒绝|停止|错误|失败")
CLAUSE_END = compile_later(r"[，,。；;！!：:（(）)\n]|——|\s")
LEAD = compile_later(
    r"^(?:但是?|不过|可是|然而|其实|(?:严格|准确|一般|通常|简单|总的?|科学|客观)(?:地|来|意义上)?(?:来?说|来讲|而言|讲)?|从[^，,]{1,12}(?:说|讲|看)|据我(?:所知|了解)|[^，,人曾误些部个]{0,10}?(?:认为|的(?:回答|答案|结论|说法)[就都]?是))+(?=.)"
)
THEY_SAY = compile_later(
    r"(?:不少|[很好]多|许多|有的?|有些|一些|个别|部分|过去|网上|大家|人们|常)[^，,]{0,8}?(?:说|以为|认为|觉得|主张|猜|想|传)"
)
HUM = compile_later("^嗯+[，,](?=.)")
FILLING = compile_later(rf"{MEANT_WORDS}|[的了过啦哒哦啊呀呢哟吧着]")
DENIES = compile_later("不|没有?|未|无法|(?<![分特区级类性个])别|非|无")
OF_ANOTHER = compile_later(r"(?:而)?(.{1,12}?)(?:才|则)(?=不?[是能会有要可])")
HALF, MOST = 0.5, 0.75
FRESH = 4  # a quarter of the characters may be new


def read_han_truth(sentences: Sequence[str], question: str) -> bool | None:
    """Return what a reply says in answer to a Chinese question for yes or no; None if it does not say, or the question denies.

    >>> read_han_truth(["并不是，蜘蛛属于蛛形纲"], "蜘蛛是昆虫吗？"), read_han_truth(["鲸鱼属于哺乳动物，不是鱼"], "鲸鱼是鱼吗？")
    (False, False)
    >>> read_han_truth(["会的，因为冰的密度比水小"], "冰会浮在水面上吗？"), read_han_truth(["鲸鱼是哺乳动物"], "鲸鱼是鱼吗？")
    (True, None)
    """
    asked = asked_predicate(question)
    if not asked:
        return None
    first = _clauses(sentences[0])[:1] if sentences else []
    if first and (said := _in_a_word(first[0])) is not None:
        return said
    concluding = [sentence for sentence in sentences if CONCLUDES.match(sentence)]
    for sentence in [*concluding[-1:], *sentences]:
        conclusion = list(SO.finditer(sentence))
        said_last = sentence[conclusion[-1].end() :].strip() if conclusion else ""
        if said_last and GUESS.search(sentence):
            return None
        for clause in [*_clauses(said_last), *_clauses(sentence)]:
            if GUESS.search(clause) or ((unclear := OPEN.search(clause)) and unclear[0].lstrip("不") not in question):
                return None
            if (said := _of_clause(clause, *asked)) is not None:
                return said
    return None


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence without what introduces them, and without what others say."""
    plain = HUM.sub("", TITLE.sub("·", sentence))
    clauses = [clause.strip() for clause in CLAUSE_END.split(plain)]
    return [LEAD.sub("", clause) for clause in clauses if clause and THEY_SAY.match(clause) is None]


def asked_predicate(question: str) -> tuple[str, str] | tuple[()]:
    """Return the subject and the predicate that a question asks about; () without one, or if it denies."""
    match = ASKS.search(tidy(question[-MOST_CHARACTERS:]))
    if match is None:
        return ()
    text = question.strip() if '"' in match.string[: match.start()] else match[0].strip()
    text = PARTICLE.sub("", WHETHER.sub("", text.replace("可否", "可以")))
    verb = VERB.search(text, 1) or VERB.search(text)
    if negations(HARMLESS.sub("·", text if verb is None else text[: verb.start()][-2:])):
        return ()
    if verb is None:
        return text[:2], text[2:]
    return text[: verb.start()], text[verb.start() :]


def _in_a_word(clause: str) -> bool | None:
    return False if NO.fullmatch(clause) else True if YES.fullmatch(clause) else None


def _of_clause(clause: str, subject: str, predicate: str) -> bool | None:
    """Return what one clause says of a predicate."""
    asked = subject + predicate
    if (said := _in_a_word(clause)) is not None:
        return said
    if any(match[0] not in asked for match in OTHERS_SAY.finditer(clause)):
        return None
    if (said := _in_its_words(clause, subject, predicate)) is not None:
        return said
    other = OF_ANOTHER.match(clause)
    of_another = (other is not None and other[1] not in asked) or not _is_known(clause.partition("的是")[2], asked)
    if of_another or negations(HARMLESS.sub("·", asked)):
        return None
    denied = len(negations(HARMLESS.sub("·", clause))) + len(FORBIDS.findall(clause))
    verb = VERB.match(predicate)
    content = predicate[verb.end() :] if verb is not None else predicate
    pairs = [content[at : at + 2] for at in range(len(content) - 1)] or [content or predicate]
    said_of_it = sum(pair in clause for pair in pairs) / len(pairs)
    if denied == 1 and (said_of_it >= HALF or _begins_with_denial(clause, asked)):
        return False
    affirmed = (
        predicate in clause
        if len(content) < 2
        else said_of_it >= MOST or (said_of_it >= HALF and content[0] in clause and clause.endswith(content[-2:]))
    )
    of_content = (
        f"{content}是" in clause and subject[-2:] not in clause
    )  # 里约是大城市, asked whether the capital is 里约
    if not denied and affirmed and not of_content:
        return True
    if not denied and clause in predicate and len(clause) > 1:
        return True
    if not denied and says_opposite(clause, asked) and any(char in clause for char in subject):
        return False
    return None


def _in_its_words(clause: str, subject: str, predicate: str) -> bool | None:
    """Return what a clause says that has the words of its question, a modal verb and small words, and hardly any other: 可以改的, 还没有通过."""
    asked = subject + predicate
    modal = next(
        (group for group in (ABLE, NEEDED) if re.match(group, predicate)), "会" if predicate[:1] == "会" else "\0"
    )
    modal += "|" + WITHIN
    plain = FILLING.sub("", HARMLESS.sub("·", clause))
    denials = len(DENIES.findall(plain))
    rest = re.sub(modal, "", DENIES.sub("", plain))
    if re.search(rf"(?:^|{re.escape(subject[-2:])})(?:不(?:{modal})|别)[{HAN}]{{1,2}}$", plain):
        return False  # 不能喂, asked whether they can drink it
    if not _is_known(rest, asked):
        return None
    if negations(HARMLESS.sub("·", asked)):
        modals = re.findall(rf"([不没]?)(?:{modal})", plain)
        return not modals[-1] if modals else None
    repeats = clause[-1:] in ("的", "了", "过") and bool(rest) and rest in predicate
    return denials % 2 == 0 if denials or repeats or re.search(modal, plain) else None


def _is_known(text: str, asked: str) -> bool:
    """True if three of four characters of a text are in its question as well."""
    return sum(char not in asked for char in text) * FRESH <= len(text)


def _begins_with_denial(clause: str, asked: str) -> bool:
    """True for 不开, asked whether something 开门."""
    match = re.match(rf"(?:并|也|都)?(?:不|没有?)([{HAN}]{{1,4}})$", clause)
    return match is not None and match[1][0] in asked
