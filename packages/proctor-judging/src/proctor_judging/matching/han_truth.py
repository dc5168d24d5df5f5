"""Read whether a Chinese reply says yes or no: by the word it begins with, or by what it says or denies of the predicate of its question."""

import re
from collections.abc import Sequence

from proctor_judging.matching.contradictions import says_opposite
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import MOST_CHARACTERS
from proctor_judging.matching.sentences import GUESS, HARMLESS, OTHERS_SAY, SO, TITLE
from proctor_judging.matching.text import negations, tidy

ASKS = compile_later(
    r"[^。？?！!，,；;：:\"]*(?:吗|么|是不是|会不会|能不能|有没有|可不可以|对不对|要不要|是否)[^。？?！!，,；;\"]*"
)
WHETHER = (
    ("是不是", "是"),
    ("会不会", "会"),
    ("能不能", "能"),
    ("有没有", "有"),
    ("可不可以", "可以"),
    ("要不要", "要"),
    ("是否", ""),
)
VERB = compile_later(r"是|属于|算|可以|会(?!议|员|场)|能(?![量源力])|有|含|需要|要|应该|应当|必须")
MEANT = r"(?:目前|现在|暂时|还|尚|当然|绝对|肯定|其实|并|也|这|它|确实|实际上|的确|真的|应该|答案是?|答|[：:])*"
NO = compile_later(
    rf"{MEANT}(?:否定|不(?:是|会|能|可以?|行|对|属于|算|需要|用|必|建议|推荐|应该?|正确|可能|存在|成立|然|准确|太?行|太?对)?|没有?|否|错误?|并?非|假|无法)(?:的|了|哦|啊|呀|呢|哟|如此|这样|这么回事)*"
)
YES = compile_later(
    rf"{MEANT}(?:是|会|能|可以|有|对|没错|不错|没问题|正确|当然|肯定|确实|属于|行|存在|需要|含有|应该|真|成立|必须|允许|支持|嗯|如此)(?:的|了|哦|啊|呀|呢|哟|会|是|能|可以|有|如此|这样)*"
)
OPEN = compile_later(
    r"不一定|不确定|不清楚|不知道|未必|取决于|看情况|因人而异|无法(?:判断|确定|得知)|不能(?:确定|判断)|难说|不完全"
)
FORBIDS = compile_later("禁止|严禁|谢绝|拒绝|停止|错误|失败")
CLAUSE_END = compile_later(r"[，,。；;！!：:（(）)\n]|——|\s")
HALF, MOST = 0.5, 0.75


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
    for sentence in sentences:
        if GUESS.search(sentence) or OPEN.search(sentence):
            return None
        conclusion = list(SO.finditer(sentence))
        said_last = sentence[conclusion[-1].end() :].strip() if conclusion else ""
        plain = TITLE.sub("·", said_last or sentence)
        clauses = [clause for clause in CLAUSE_END.split(plain) if clause.strip()]
        said = next((truth for clause in clauses if clause and (truth := _of_clause(clause, *asked)) is not None), None)
        if said is not None:
            return said
    return None


def asked_predicate(question: str) -> tuple[str, str] | tuple[()]:
    """Return the subject and the predicate that a question asks about; () without one, or if it denies."""
    match = ASKS.search(tidy(question[-MOST_CHARACTERS:]))
    if match is None:
        return ()
    text = question.strip() if '"' in match.string[: match.start()] else match[0].strip()
    for whether, plain in WHETHER:
        text = text.replace(whether, plain)
    text = re.sub(r"(?:了|的)?[吗么呢啊]$", "", text)
    verb = VERB.search(text, 1) or VERB.search(text)
    if verb is None:
        return text[:2], text[2:]
    return text[: verb.start()], text[verb.start() :]


def _of_clause(clause: str, subject: str, predicate: str) -> bool | None:
    """Return what one clause says of a predicate."""
    if NO.fullmatch(clause):
        return False
    if YES.fullmatch(clause):
        return True
    if any(match[0] not in subject + predicate for match in OTHERS_SAY.finditer(clause)):
        return None
    denied = len(negations(HARMLESS.sub("·", clause))) + len(FORBIDS.findall(clause))
    verb = VERB.match(predicate)
    content = predicate[verb.end() :] if verb is not None else predicate
    pairs = [content[at : at + 2] for at in range(len(content) - 1)] or [content or predicate]
    said = sum(pair in clause for pair in pairs) / len(pairs)
    if denied == 1:
        return False
    affirmed = (
        predicate in clause
        if len(content) < 2
        else said >= MOST or (said >= HALF and content[0] in clause and clause.endswith(content[-2:]))
    )
    if not denied and affirmed:
        return True
    if not denied and clause in predicate and len(clause) > 1:
        return True
    if not denied and says_opposite(clause, subject + predicate) and any(char in clause for char in subject):
        return False
    return None
