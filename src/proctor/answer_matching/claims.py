"""Find what a sentence gives as its answer: `The capital of France is Paris.`, `It was founded in 1985 by …`, `法国的首都是巴黎。`

The rules look at the form of the sentence (what follows the last `is`, the only number or name of the kind that is asked for,
what a reply adds to the words of the question), and refuse what takes its own words back: negations, alternatives, guesses,
quoted questions, corrected slips. Every text is bounded before a pattern sees it.
"""

import re
from collections.abc import Callable, Iterable

from proctor.answer_matching.amounts import COMPARED, SPAN, amount_in, without_unit
from proctor.answer_matching.dates import read_moments
from proctor.answer_matching.numbers import read_number
from proctor.answer_matching.quantities import read_quantity
from proctor.answer_matching.sentences import (
    ASIDE,
    COPULA,
    COURTESY,
    ECHO_WORD,
    EMPTY_WORDS,
    GUESS,
    HAN,
    MOST_CHARACTERS,
    NOT_A_NAME,
    asked_clause,
    chosen,
    contradicts,
    echo,
    plain_statement,
    statements,
    stem,
)
from proctor.answer_matching.text import FENCED, negations, tidy

Fits = Callable[[str], bool]
MANNER = re.compile(
    r"(?:about|approximately|around|roughly|exactly|just|only|also|actually|indeed|therefore|thus|hence|simply|precisely|now|equal to|"
    r"given by|called|named|known as|definitely|certainly|clearly|约|大约|大约是|由|在)\s*", re.IGNORECASE
)  # fmt: skip
PLACED = re.compile(
    r"(?:\w{1,20}ly\s)?(?:(?:\w{1,20}(?:ed|en|own|orn|ilt|ade|ound|ung)|set|led|put|sung|held|home)\s)?"
    r"(?:(?:most |least )?\w{1,20}(?:est|ly)\s|most\s|least\s)?(?:in|on|at|by|of|from|to|as|for|through|into)\s(?:the\s(?:year|city|month)\s(?:of\s)?)?", re.IGNORECASE
)  # fmt: skip
CUT = re.compile(
    r"\s(?:in|on|at|by|with|after|during|when|where|until|from|per|under|as|for|to|around|about|circa|near|over|within|since|because|along|together|today|today's|which|that|and (?:it|he|she|they))\s",
    re.I,
)
AGENT = re.compile(rf"由([{HAN}·]{{2,12}}?)(?:所|等)?(?:[研拍谱翻画雕策撰编写著作创发建设提导主执担完组构制绘演]|合著)")
DEFINITE = re.compile(
    r"(?:(?:\w{1,20}ly\s)?(?:considered|regarded as|known as|seen as|recognized as|thought of as)\s(?:to be\s)?)?(?:the|a|an|one of the|my|our)\s\S",
    re.IGNORECASE,
)
APPOSITION = re.compile(
    r",\s(?:(?:the|a|an|which|in|on|at|located|with|known|because|also|as|from|one|who|where|by|and (?:it|is|was))\b|\w+(?:ed|ing|['’]s)\b)|"
    r"[，,](?=.{0,20}(?:是|全|位于|为|因|它|其|在|有))"
)
TAIL_NAME = re.compile(r"\s(?:in|at)\s(?:the\s)?([A-Z][\w'’-]*(?:\s(?:of\s)?[A-Z][\w'’-]*){0,3})$")
TAILS = tuple(
    re.compile(rf"\s(?:{words})\s(?:the\s|a\s|an\s)?([a-z][\w-]{{1,40}}(?:\s[\w-]{{2,40}}){{0,2}})$")
    for words in (
        "(?:went|go|goes|came|comes|moved|walked|drove|flew|ran|returned|travell?ed|belongs?) to",
        "in|on|at|by|through|into",
        "[a-z]{2,}s|[a-z]{2,}ed|ate|made|won|have|eat|produce|contain",
    )
)
TWO_STATEMENTS = re.compile(r"\b(?:and|but|while|whereas)\b|[,，](?!.*['’]s\b)")
SEVERAL_CLAUSES = re.compile(r"\b(?:before|after|then|until|when|once)\b", re.IGNORECASE)
FROM_TO = re.compile(r"(?:\w{1,20}ed\s)?from\s[^,.]{1,60}?\sto\s", re.IGNORECASE)  # moved from Monday to Friday
KNOWN_NAME = re.compile(r"\b[A-Z]\w+\s$")  # the River of the Amazon River is no name of its own
CODE = re.compile(r"^[^`]*`([^`]{1,80})`[^`]*$")
MOST_STRETCHES = 3
QUOTED = re.compile(r"^[^\"]*[\"]([^\"]{1,60})[\"]\W*$")
COUNTING = re.compile(
    r"\b(?:there (?:are|is|were|was)|has|have|had|contains?|years old)\b|[有共含岁]", re.IGNORECASE
)  # 365 days: what is counted
LABELLED = re.compile(
    rf"(?!step|case|note|步骤|第)(?:[^\W\d_][\w '-]{{0,30}}|[{HAN}]{{1,12}})\s?[：:]\s*(?=\S)", re.IGNORECASE
)
NAME = re.compile(
    r"(?:[A-Z][\w'’.-]*|[A-Z]\.)(?:\s(?:(?:of|the|de|da|di|la|le|van|von|der|du|and the|del|bin|al)\s)*(?:[A-Z][\w'’.-]*|\d+(?=\s|$)))*"
)
YES = frozenset(["yes", "true", "correct", "是", "对", "正确", "真", "是的", "对的"])
NO = frozenset(["no", "false", "incorrect", "wrong", "否", "错", "错误", "不", "不是", "不对", "不正确", "假"])
VERDICT = re.compile(
    r"(?P<en>yes|no|true|false|correct|incorrect)\b(?!\s(?:and|or|idea|one|wonder)\b)|(?P<zh>不正确|不对|不是|正确|错误|是的|对的|对|错|否|是|不)(?=\W|$)|"
    r".{1,120}?\b(?:is|are|was|it's|that's|returns|prints|outputs|evaluates to)\s(?P<said>true|false|correct|incorrect|wrong)$|.{1,60}?(?:是|为)?(?P<zhsaid>不正确|不对|正确|错误|对|错)的?$",
    re.IGNORECASE,
)


def claimed(reply: str, target: str, question: str = "", *, fits: Fits) -> str | None:
    """The words of a reply that fit the target and are what it gives as its answer; None when it gives another, or none.

    Args:
        reply: a reply, or what follows its last announcement of an answer.
        fits: whether a text means the target.

    >>> claimed("The capital of France is Paris.", "Paris", fits="Paris".__eq__)
    'Paris'
    >>> claimed("It is not Paris.", "Paris", fits="Paris".__eq__), claimed("Paris or Lyon", "Paris", fits="Paris".__eq__)
    (None, None)
    """
    if (blocks := FENCED.findall(reply[:MOST_CHARACTERS])) and len(blocks) == 1 and fits(blocks[0].strip()):
        return str(blocks[0].strip())
    question = question if echo(question) else ""
    sentences = statements(reply)
    if target.strip(" .。").casefold() in YES | NO:
        return next(
            (said for said in map(_truth, sentences[:1] + sentences[-1:]) if said is not None and fits(said)), None
        )
    sentences = [s for s in sentences if not COURTESY.match(s)] or sentences
    if _is_amount(target):
        amount = amount_in(sentences, target, question)
        counted = without_unit(amount) if amount is not None and COUNTING.search(reply[-MOST_CHARACTERS:]) else None
        texts = [amount, counted, *(sentences if len(sentences) == 1 else [])]
        return next((text for text in texts if text is not None and fits(text)), None)
    found: str | None = None
    for sentence in chosen(sentences, question):
        candidates = list(_candidates(sentence, question, first=sentence == sentences[0], target=target))
        match = next((text for text, _ in candidates if fits(text)), None)
        if match is None and any(direct and _is_name(text) == _is_name(target) for text, direct in candidates):
            if found is not None or _is_name(target):
                return None  # another sentence says something else outright
            continue
        found = found or match
    return found


def _candidates(sentence: str, question: str, *, first: bool, target: str) -> Iterable[tuple[str, bool]]:
    """What a sentence may give as its answer, and whether it is said outright (the complement of `is`)."""
    bare = len(sentence.split(" ")) < 4 and not COPULA.search(sentence)
    yield from ((sentence, bare),) if first or not question else ()
    plain = plain_statement(sentence, target)
    if plain is None or contradicts(plain, question):
        return
    plain = asked_clause(plain, question)
    if plain != sentence:
        yield plain, False
    if (apposition := APPOSITION.search(plain)) is not None:
        yield plain[: apposition.start()], False
    if (label := LABELLED.match(plain)) is not None:
        for variant in _variants(plain[label.end() :]):
            yield variant, True
    copulas = list(COPULA.finditer(plain))
    if len(copulas) > 1 and not question and TWO_STATEMENTS.search(plain[copulas[0].end() : copulas[-1].end()]):
        return  # two statements: which of them answers is not said
    for at in {0, len(copulas) - 1} if copulas else ():
        copula = copulas[at]
        complement = plain[copula.end() :]
        for variant in _variants(complement):
            yield variant, variant == complement
        if at == 0 and _describes(complement, question, copula[0]):
            yield plain[: copula.start()].strip(" ,，就"), False
    for agent in AGENT.finditer(plain):
        yield agent[1], True
    if (question or not copulas) and len(named := _names_in(plain, question)) == 1:
        yield named[0], False
    for marked in (QUOTED.search(sentence), CODE.search(sentence)):
        if marked is not None:
            yield marked[1], False
    for added in _added(plain, question):
        yield added, False
    if not copulas and not question and not SEVERAL_CLAUSES.search(plain):
        for pattern in (*TAILS, TAIL_NAME):
            if (tail := pattern.search(plain)) is not None:
                yield tail[1], False


def _variants(complement: str) -> Iterable[str]:
    """A complement as it is, and without what is added to it: `approximately`, `written by`, `in 1993`, what follows a comma."""
    seen = [complement]
    text = complement
    for _ in range(2):
        if (manner := MANNER.match(text)) is not None:
            text = text[manner.end() :]
            seen.append(text)
    moved = FROM_TO.match(text)
    if moved is not None:
        seen.append(text[moved.end() :])
    elif (placed := PLACED.match(text)) is not None and placed.end() < len(text):
        text = text[placed.end() :]
        seen.append(text)
    for one in tuple(seen[-2:]):
        if (cut := CUT.search(one)) is not None:
            seen.append(one[: cut.start()])
        if (apposition := APPOSITION.search(one)) is not None:
            seen.append(one[: apposition.start()])
        seen.append(
            re.sub(
                r"(?:的|(?:所)?(?:写|著|作|写的|创作|发明|建立|提出)的?|(?<=[\u3400-\u9fff]{2})[中里内上])$", "", one
            )
        )
    return dict.fromkeys(text.strip(" ,，\"'“”*") for text in seen if text.strip())


def _describes(complement: str, question: str, copula: str) -> bool:
    """Whether the words after `is` describe what is asked for, so that the subject is the answer."""
    if question:
        asked, said = echo(question), echo(complement)
        compared = re.search(r"(\w+)\sthan\b", complement)
        if compared is not None and stem(compared[1]) not in asked:
            return False  # smaller, where taller was asked
        return bool(asked) and len(asked & said) * 2 >= min(len(asked), len(said)) > 0
    if "是" in copula:
        return re.search(r"的[^，,]{1,12}$|最|第一", complement) is not None
    return DEFINITE.match(complement) is not None


def _names_in(sentence: str, question: str) -> list[str]:
    """The capitalised names of a sentence, but for those the question holds."""
    names = []
    asked = question.casefold()
    for found in NAME.finditer(sentence):
        words = found[0].split(" ")
        while words and words[0].casefold() in NOT_A_NAME:
            words = words[1:]
        name = " ".join(words).rstrip(".'’")
        if not name or (asked and re.search(rf"\b{re.escape(name.casefold())}\b", asked)):
            continue
        if re.search(r"\b(?:of|after|near|opposite|like)(?: the)? $", sentence[: found.start()]) or COMPARED.search(
            sentence[max(0, found.start() - 20) : found.start()].strip() + " "
        ):
            return []
        names.append(name.removesuffix("'s").removesuffix("’s"))
    return names if not re.search(r"\bor\b", sentence) else []


def _added(sentence: str, question: str) -> list[str]:
    """The stretches of a sentence that its question does not hold, when they are few; small words part none."""
    asked = echo(question)
    words = list(ECHO_WORD.finditer(sentence))
    known = [stem(word[0]) in asked for word in words]
    if not any(known) or re.search(r"\b(?:or|than)\b|或|还是", sentence):
        return []
    stretches: list[list[re.Match[str]]] = [[]]
    for word, is_known in zip(words, known, strict=True):
        if not is_known and word[0].casefold() not in EMPTY_WORDS:
            stretches[-1].append(word)
        elif stretches[-1]:
            stretches.append([])
    spans = [sentence[stretch[0].start() : stretch[-1].end()] for stretch in stretches if stretch]
    fresh = [stretch for stretch in stretches if stretch]
    following = [re.match(r"\s\w+", sentence[stretch[-1].end() :]) for stretch in fresh]
    wider = [span + found[0] for span, found in zip(spans, following, strict=True) if found is not None]
    apart = [
        span
        for span, stretch in zip(spans, fresh, strict=True)
        if not KNOWN_NAME.search(sentence[: stretch[0].start()])
    ]
    if sum(map(str.istitle, apart)) > 1:
        return []  # Paris and Rome: which of them is not said
    return (
        [*spans, *wider, sentence[fresh[0][0].start() : fresh[-1][-1].end()]]
        if 0 < len(spans) <= MOST_STRETCHES
        else []
    )


def _is_name(text: str) -> bool:
    return text[:1].isupper() or not text[:1].isascii()


def _is_amount(target: str) -> bool:
    plain = tidy(target)
    if re.search(r"\d", plain) is None:
        return read_number(plain.lower()) is not None
    return bool(SPAN.fullmatch(plain) or read_number(plain) or read_quantity(plain) or read_moments(plain))


def _truth(sentence: str) -> str | None:
    """`yes` or `no`, as a sentence says it."""
    sentence = ASIDE.sub("", sentence).strip(" ,，;.。!！")
    found = VERDICT.match(sentence)
    if found is None or GUESS.search(sentence):
        return None
    word = next(word for word in found.groups() if word)
    if found.lastgroup in ("said", "zhsaid") and negations(sentence[: found.start(found.lastgroup)]):
        return None
    return "yes" if word.casefold() in YES else "no"
