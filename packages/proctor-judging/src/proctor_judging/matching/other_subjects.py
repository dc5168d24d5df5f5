"""Tell what is said of another thing of the same kind than is asked about: of Tuesday, asked about Monday; of `db-2`, asked about `db-1`."""

import re

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import EMPTY_WORDS, HAN, MOST_CHARACTERS

KINDS = (
    compile_later(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE),
    compile_later("(?:周|星期|礼拜)[一二三四五六日天]"),
    compile_later(r"(?<![\w./@-])[a-z][\w-]*\.(?:com|org|net|io|dev|app|ai|co)(?![\w-])", re.IGNORECASE),
)
NUMBERED = compile_later(r"(?<![\w./-])([A-Za-z]{1,12}[-_]|[vVQ])(\d{1,3})(?![\w./-]|\s?[:%])")  # db-1
NAMED = compile_later(
    rf"(?:^|[，,。；;])((?:(?![是的在有])[{HAN}]){{1,4}}?[江河湖山海岛桥市省县国州区村镇楼校])(?=[{HAN}])"
)
SUBJECT = compile_later(r"(?:Do|Does|Did|Has|Had|Is|Was|Can|Will)(?:n['’]t)? ([A-Z][a-z]+)(?: (?!and\b|or\b|[A-Z])|$)")
DOES = compile_later(r"([A-Z][a-z]+) (?:[a-z]+ed|paid|has|had|is|was|did|does|can|will|left|came|went|got|won|made)\b")
LEFT_BEHIND = compile_later(
    r"\b(?:upgraded|migrated|moved|switched|changed|converted) (?:up |down |away )?from (?:version )?$"
)
WINS, LOSES = compile_later(r"\b(?:won|wins?|winner|beat)\b"), compile_later(r"(?:, [^,.;]{1,60},)? lost\b")
THAN = compile_later(r"\bthan (?:on )?\w+|\b(?:\w+day )?(?:only|through|to|except) (?:on )?\w+days?\b", re.IGNORECASE)
CLAUSE_END = compile_later(r"\s?[—–,;，；]|\s-")
SENTENCE_END = compile_later(r"[。；;!！?？\n]|\.(?:\s|$)")
SIZES = compile_later("([长高宽深厚重])(?:度|达|约|有|是|为|大概|大约)*$")
SIZE_ASKED = compile_later("([长高宽深厚重])(?:度|达|约|有|是|为|大概|大约)*(?:多少|几)|多([长高宽深厚重])")
GIVEN = compile_later(r"(?<![A-Za-z])[a-z]\s?[=＝]\s?[-−]?$")
LIMIT_ASKED, PLACE_ASKED, HAN_COMMA = (
    compile_later("[最极][大小]值|最值"),
    compile_later("何[处时]|哪"),
    compile_later("[，,]"),
)
LIMITS = compile_later("(?:[最极][大小]值|最值)[是为]?$")


def is_of_another(before: str, form: str, after: str, asked: QuestionForm) -> bool:
    """True if the sentence in which a claim is made, between what is before and after it, is about another thing than is asked about.

    >>> from proctor_judging.matching.asked import read_asked
    >>> asked = read_asked("How many came on Monday?")
    >>> is_of_another("On Tuesday, ", "40", " came.", asked), is_of_another("On Monday, ", "40", " came.", asked)
    (True, False)
    """
    question, clause = asked.clause[-MOST_CHARACTERS:], SENTENCE_END.split(before)[-1]
    if (LEFT_BEHIND.search(before) and "from" not in question) or (WINS.search(question) and LOSES.match(after)):
        return True
    texts = question, THAN.sub("", f"{clause} {SENTENCE_END.split(after)[0]}"), f"{before} {after}"
    if any(_differs(*(_things(kind, text) for text in texts)) for kind in KINDS if not kind.search(form)):
        return True
    stems = {stem for stem, _ in NUMBERED.findall(question)}
    numbered = ({stem + number for stem, number in NUMBERED.findall(text) if stem in stems} for text in texts)
    if stems and not NUMBERED.search(form) and _differs(*numbered):
        return True
    return asked.kind != "truth" and not question.isascii() and _is_of_another_han(clause, before + after, question)


def _is_of_another_han(clause: str, said: str, question: str) -> bool:
    """True if the same is said of the Huang He and the Yangtze was asked about, of its height and not its length, or of where a limit is reached."""
    near = HAN_COMMA.split(clause)[-1]
    named, asked = NAMED.match(near), NAMED.match(question)
    if named is not None and asked is not None and named[1] not in question and asked[1] in said:
        return True
    if SIZE_ASKED.search(question) and (size := SIZES.search(near)) is not None and size[1] not in question:
        return True
    leads = LIMITS if PLACE_ASKED.search(question) else GIVEN
    return LIMIT_ASKED.search(question) is not None and leads.search(near) is not None


def speaks_of_another(sentence: str, said: str, asked: QuestionForm, *, denies: bool) -> bool:
    """True of the first sentence of a reply that is about something else than a question of yes or no: `Tom paid.`, asked if Anna did.

    What follows a denial may be: `It's not, it opens on Monday.`
    """
    sentence = CLAUSE_END.split(sentence)[0] if denies else sentence
    if is_of_another(sentence, "", f". {said}", asked):
        return True
    subject, does = SUBJECT.match(asked.clause), DOES.match(sentence)
    if subject is None or does is None or does[1].casefold() in asked.clause.casefold():
        return False
    return subject[1] not in said and does[1].casefold() not in EMPTY_WORDS


def _things(kind: re.Pattern[str], text: str) -> set[str]:
    return {thing.casefold().replace("星期", "周").replace("礼拜", "周") for thing in kind.findall(text)}


def _differs(asked: set[str], near: set[str], said: set[str]) -> bool:
    return bool(asked) and bool(near) and not asked & said
