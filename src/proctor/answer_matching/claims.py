"""Find the answer that a sentence states: `The capital of France is Paris.`, `It was founded in 1985 by …`, `法国的首都是巴黎。`

The rules look at the form of the sentence (what follows the last `is`, the only number or name of the kind that is asked for,
what a reply adds to the words of the question), and refuse what takes its own words back: negations, alternatives, guesses,
quoted questions, corrected slips. Every text is bounded before a pattern sees it.
"""

import re
from collections.abc import Callable, Iterable

from proctor.answer_matching.amounts import COMPARED, SPAN, YEAR, amount_in, counted_noun, without_unit
from proctor.answer_matching.contradictions import contradicts
from proctor.answer_matching.dates import read_moments
from proctor.answer_matching.numbers import read_number
from proctor.answer_matching.quantities import read_quantity
from proctor.answer_matching.question_words import (
    ECHO_WORD,
    EMPTY_WORDS,
    HAN,
    MOST_CHARACTERS,
    NOT_A_NAME,
    echo,
    interrogative,
    stem,
)
from proctor.answer_matching.sentences import (
    ASIDE,
    CLAUSE,
    COPULA,
    COURTESY,
    GUESS,
    OTHERS_SAY,
    asked_clause,
    chosen,
    plain_statement,
    statements,
)
from proctor.answer_matching.text import FENCED, negations, tidy
from proctor.runtime.patterns import compile_later

Fits = Callable[[str], bool]
MANNER = compile_later(
    r"(?:about|approximately|around|roughly|exactly|just|only|also|actually|indeed|therefore|thus|hence|simply|precisely|now|equal to|"
    r"given by|called|named|known as|this|definitely|certainly|clearly|一[个种座条位件只名]|约|大约|大约是|由|在)\s*", re.IGNORECASE
)  # fmt: skip
PLACED = compile_later(
    r"(?:\w{1,20}ly\s)?(?:(?:\w{1,20}(?:ed|en|own|orn|ilt|ade|ound|ung)|set|led|put|sung|held|home)\s)?"
    r"(?:(?:most |least )?\w{1,20}(?:est|ly)\s|most\s|least\s)?(?:in|on|at|by|of|from|to|as|for|through|into)\s(?:the\s(?:year|city|month)\s(?:of\s)?)?", re.IGNORECASE
)  # fmt: skip
CUT = compile_later(
    r"\s(?:in|on|at|by|with|after|during|when|where|until|from|per|under|as|for|to|around|about|circa|near|over|within|like|who|whose|since|because|along|together|today|today's|which|that|and (?:it|he|she|they))\s",
    re.I,
)
AGENT = compile_later(
    rf"由([{HAN}·]{{2,12}}?)(?:所|等)?(?:[研拍谱翻画雕策撰编写著作创发建设提导主执担完组构制绘演](?![家者师人始])|合著)|出自([{HAN}·]{{2,12}}?)(?:之手|笔下)"
)
EPITHET = compile_later(  # the Dutch painter Vincent van Gogh, 唐代诗人李白
    r"^(?=the |an? |[A-Z])(?:the |an? )?(?:[A-Z]\w+(?:-[A-Za-z]+)? )?(?:(?!of|except|besides|before|since|until|beyond|over|under|near|after|than|by|to|from|with|and|or|not|like|in|on|at|for|but|is|was|called|named)[a-z-]+ ){1,3}(?=[A-Z])"
    rf"|^[{HAN}]{{0,10}}?(?:家|诗人|学者|将军|皇帝|总统|教授|导演|歌手|演员|选手|城市|省会|首都)(?=[{HAN}·]{{2,8}}$)"
)
DEFINITE = compile_later(
    r"(?:(?:\w{1,20}ly\s)?(?:considered|regarded as|known as|seen as|recognized as|thought of as)\s(?:to be\s)?)?(?:the|a|an|one of the|my|our)\s\S",
    re.IGNORECASE,
)
APPOSITION = compile_later(
    r",\s(?:(?:the|a|an|which|in|on|at|located|with|known|because|also|as|from|one|who|where|by|and (?:it|is|was))\b|\w+(?:ed|ing|['’]s)\b)|"
    r"[，,](?=.{0,20}(?:是|全|位于|为|因|它|其|在|有))"
)
TWO_STATEMENTS = compile_later(r"\b(?:and|but|while|whereas)\b|[,，](?!.*['’]s\b)")
SEVERAL_CLAUSES = compile_later(r"\b(?:before|after|then|until|when|once)\b", re.IGNORECASE)
FROM_TO = compile_later(r"(?:\w{1,20}ed\s)?from\s[^,.]{1,60}?\sto\s", re.IGNORECASE)  # moved from Monday to Friday
KNOWN_NAME = compile_later(r"\b[A-Z]\w+\s$")  # the River of the Amazon River is no name of its own
CODE = compile_later(r"^[^`]*`([^`]{1,80})`[^`]*$")
MOST_STRETCHES = 3
MOST_VARIANTS = 24
ENDED = compile_later(
    rf"(?:的|(?:所)?(?:写|著|作|写的|创作|发明|发现|创立|建立|提出)的?|的(?:作品|著作)|(?<=[{HAN}]{{2}})[中里内上])$"
)
BUT = compile_later(r"\bbut\b|但")
# the subject
ASKS_WHO = compile_later(r"(?:who|which|what (?!(?:do|does|did|is|are|was|were|has|have|had)\b))|谁", re.IGNORECASE)
WHY = compile_later(r"\bwhy\b|为什么|为何|原因", re.IGNORECASE)
CAUSE = compile_later(r"\b(?:because(?: of)?|due to|owing to|caused by|from)\s|(?:因为|由于)", re.IGNORECASE)
ADJUNCT = "in|on|at|by|with|after|during|when|where|until|per|since|because|together|like|today|yesterday|every|each|this|last|around|for"
FRONTED = compile_later(
    r"^((?:for|in|at|on|during|by|with|after|under|based on|according to)\s[^,]{1,40}),\s", re.IGNORECASE
)
RELATED = compile_later(  # what stands before a mention that is not the answer itself
    r"\b(?:than|near|before|after|until|outside|beyond|except|besides|without|(?:un)?like|against|between|and|or|not|behind|below|above|over|under|past|across|"
    r"around|vs|despite|towards?|opposite|(?<!because )(?<!made )(?<!consist )(?<!consists )(?<!composed )of|(?:away|apart|differs?|different|moved|far) from|(?:inspired|influenced|rejected|opposed|admired|followed|preceded|succeeded|replaced) by|"
    r"(?:confused|compared|along) with|(?:similar|next|close|compared|prefer\w*) to)\s(?:the\s|an?\s|its\s|\w+['’]s\s)?$|"
    r"(?:[不没非未无比像除和与或跟及、]|以外|除了|超过|低于|类似|接近|没有)$",
    re.IGNORECASE,
)
HAS_OF = compile_later(r"\b(?:has|have|had|with) (?:[\w-]+ ){1,4}of (?:the |about )?$", re.IGNORECASE)  # has a speed of
PLURAL = compile_later(r"(?<=[a-z]{3})s$")
RELATES = compile_later(r"['’]s\s|附近|旁边|以外|之外|之前|之后|以前|以后|的(?!作品|著作|$|[^，。]{0,3}$)")
QUOTED = compile_later(r"^[^\"]*[\"]([^\"]{1,60})[\"]\W*$")
COUNTING = compile_later(
    r"\b(?:there (?:are|is|were|was)|has|have|had|contains?|years old)\b|[有共含岁]", re.IGNORECASE
)  # 365 days: what is counted
LABELLED = compile_later(
    rf"(?!step|case|note|步骤|第)(?:[^\W\d_][\w '-]{{0,30}}|[{HAN}]{{1,12}})\s?[：:]\s*(?=\S)", re.IGNORECASE
)
NAME = compile_later(
    r"(?:[A-Z][\w'’.-]*|[A-Z]\.)(?:\s(?:(?:of|the|de|da|di|la|le|van|von|der|du|and the|del|bin|al)\s)*(?:[A-Z][\w'’.-]*|\d+(?=\s|$)))*"
)
YES = frozenset(["yes", "true", "correct", "是", "对", "正确", "真", "是的", "对的"])
NO = frozenset(["no", "false", "incorrect", "wrong", "否", "错", "错误", "不", "不是", "不对", "不正确", "假"])
VERDICT = compile_later(
    r"(?P<en>yes|no|true|false|correct|incorrect)\b(?!\s(?:and|or|idea|one|wonder)\b)|(?P<zh>不正确|不对|不是|正确|错误|是的|对的|对|错|否|是|不)(?=\W|$)|"
    r".{1,120}?\b(?:is|are|was|it's|that's|returns|prints|outputs|evaluates to)\s(?P<said>true|false|correct|incorrect|wrong)$|.{1,60}?(?:是|为)?(?P<zhsaid>不正确|不对|正确|错误|对|错)的?$",
    re.IGNORECASE,
)


POLAR = compile_later(
    r"^(?:is|are|was|were|do|does|did|can|could|will|has|have|had|should)\b|吗|是不是|能不能", re.IGNORECASE
)


def claimed(reply: str, target: str, question: str = "", *, fits: Fits) -> str | None:
    """Return the words of a reply that state the target as its answer; None if the reply gives another answer, or none.

    Args:
        reply: a reply, or what follows its last announcement of an answer.
        fits: returns True if a text means the target.

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
        said = [_truth(sentence, question) for sentence in sentences[:1] + sentences[-1:]]
        return next((truth for truth in said if truth is not None and fits(truth)), None)
    sentences = [s for s in sentences if not COURTESY.match(s)] or sentences
    if _is_amount(target):
        amounts = [amount_in([s.split("≈")[end] for s in sentences], target, question) for end in (0, -1)]
        texts = [text for amount in amounts if amount for text in _readings(amount, reply, target)]
        return next((text for text in [*texts, *(sentences if len(sentences) == 1 else [])] if fits(text)), None)
    question = interrogative(question)
    found: str | None = None
    for sentence in chosen(sentences, question):
        candidates = list(_candidates(sentence, question, first=sentence == sentences[0], target=target))
        match = next((text for text, _ in candidates if fits(text) and _is_meant(text, sentence)), None)
        if match is None and any(direct and _is_name(text) == _is_name(target) for text, direct in candidates):
            if found is not None or _is_name(target):
                return None  # another sentence says something else outright
            continue
        found = found or match
    return found


def _is_meant(text: str, sentence: str) -> bool:
    """True unless the words are said only to relate something else to them: `Ann's brother`, `far from Rome`, `上海附近`."""
    before, found, after = sentence.partition(text)
    related = RELATED.search(before) is not None and HAS_OF.search(before) is None
    return not found or not (related or RELATES.match(after))


def _readings(amount: str, reply: str, target: str) -> Iterable[str]:
    """Yield an amount, without its unit where things are counted, and the year of a date where the target is a year."""
    yield amount
    if COUNTING.search(reply[-MOST_CHARACTERS:]):
        yield without_unit(amount)
    if (manner := MANNER.match(target)) is not None:
        yield from (manner[0] + amount, manner[0] + without_unit(amount))
    if read_moments(target) and not YEAR.search(target):
        yield re.sub(r",? \d{4}$|^\d{4}年", "", amount)
    if YEAR.fullmatch(target.rstrip("年")) and (year := YEAR.search(amount)) is not None:
        yield year[0]


def _candidates(sentence: str, question: str, *, first: bool, target: str) -> Iterable[tuple[str, bool]]:
    """Yield what a sentence may give as its answer, and whether it is said outright (the complement of `is`)."""
    bare = len(sentence.split(" ")) < 4 and not COPULA.search(sentence)
    yield from ((sentence, bare),) if first or not question else ()
    plain = plain_statement(sentence, target)
    if plain is None or contradicts(plain := asked_clause(plain, question), question):
        return
    if plain != sentence:
        yield plain, False
    if not plain.isascii():
        yield EPITHET.sub("", plain), False
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
    if WHY.search(question) and (cause := CAUSE.search(sentence)) is not None:
        yield from ((variant, False) for variant in _variants(sentence[cause.end() :]))
    for agent in AGENT.finditer(plain):
        yield from ((variant, True) for variant in _variants(agent[1] or agent[2]))
    if (question or not copulas) and len(named := _names_in(plain, question)) == 1:
        yield named[0], False
    for marked in (QUOTED.search(sentence), CODE.search(sentence)):
        if marked is not None:
            yield marked[1], False
    for added in _added(plain, question):
        yield added, False
    if not copulas:
        yield from ((mention, False) for mention in _at_the_end(plain, target, question))


def _variants(complement: str) -> Iterable[str]:
    """Return a complement as it is, and without what is added to it: `approximately`, `written by`, `in 1993`, what follows a comma."""
    seen = [complement]
    for text in seen:
        moved = FROM_TO.match(text)
        placed = moved or PLACED.match(text)
        cuts = [found.start() for pattern in (CUT, APPOSITION) if (found := pattern.search(text)) is not None]
        shorter = [text[placed.end() :]] if placed is not None else []
        shorter += [
            MANNER.sub("", text, count=1),
            EPITHET.sub("", text, count=1),
            ENDED.sub("", text),
            PLURAL.sub("", text),
        ]
        seen += [one for one in (*shorter, *(text[:cut] for cut in cuts)) if one and one not in seen]
        if len(seen) > MOST_VARIANTS:
            break
    return dict.fromkeys(text.strip(" ,，\"'“”*") for text in seen if text.strip())


def _describes(complement: str, question: str, copula: str) -> bool:
    """True if the words after `is` describe what is asked for, so that the subject is the answer."""
    if question:
        asked, said = echo(question), echo(complement)
        compared = re.search(r"(\w+)\sthan\b", complement)
        if compared is not None and stem(compared[1]) not in asked:
            return False  # smaller, where taller was asked
        return bool(asked) and len(asked & said) * 2 >= min(len(asked), len(said)) > 0
    if "是" in copula:
        return re.search(r"的[^，,]{1,12}$|最|第一", complement) is not None
    return DEFINITE.match(complement) is not None


def _at_the_end(sentence: str, target: str, question: str) -> Iterable[str]:
    """Yield the target where a statement ends with it, but for when, where and how; of several clauses that nearest to the question."""
    bare = re.sub(r"^(?:the|an?)\s", "", target, flags=re.IGNORECASE)
    sentence = FRONTED.sub(r"\1 ", sentence)
    clauses = [clause for clause in CLAUSE.split(sentence) if clause]
    holding = [clause for clause in clauses if bare.casefold() in clause.casefold()]
    if (
        len(holding) != 1
        or not bare[:1].isalpha()
        or BUT.search(sentence)
        or SEVERAL_CLAUSES.search(holding[0])
        or (len(clauses) > 1 and not question)
    ):
        return
    asked = echo(question)
    if asked and (asked.isdisjoint(echo(holding[0])) or ASKS_WHO.match(question)):
        return
    if any((echo(clause) & asked) - echo(holding[0]) for clause in clauses):
        return  # another clause says something that is asked for
    start, end = (r"(?<!\w)", r"(?!\w)") if bare.isascii() else ("", "")
    found = re.search(
        rf"^(.*\S\s*?){start}({re.escape(bare)}){end}(?:了|[中里内上]?(?:进行|发生|举行|举办|完成|召开|出生|成立)|\s(?:{ADJUNCT})\s.*)?$",
        holding[0],
        re.IGNORECASE,
    )
    if (
        found is not None
        and _is_meant(found[2], holding[0])
        and not (bare[:1].isupper() and KNOWN_NAME.search(found[1]))
    ):
        yield found[2]


def _names_in(sentence: str, question: str) -> list[str]:
    """Return the capitalised names of a sentence, but for those the question holds."""
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
        names.append(name)
    known = echo(question)
    fresh = [name for name in names if stem(name.split(" ")[-1]) not in known]
    return (fresh or names) if not re.search(r"\bor\b", sentence) else []


def _added(sentence: str, question: str) -> list[str]:
    """Return the stretches of a sentence that its question does not hold, when they are few; small words part none."""
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
    if sum(span[0].isupper() for span in apart) > 1:
        return []  # Paris and Rome: which of them is not said
    return (
        [*spans, *wider, sentence[fresh[0][0].start() : fresh[-1][-1].end()]]
        if 0 < len(spans) <= MOST_STRETCHES
        else []
    )


def _is_name(text: str) -> bool:
    return text[:1].isupper() or not text[:1].isascii()


def _is_amount(target: str) -> bool:
    plain = MANNER.sub("", tidy(target), count=1)
    if re.search(r"\d", plain) is None:
        return read_number(plain.lower()) is not None
    return bool(
        SPAN.fullmatch(plain)
        or counted_noun(plain)
        or read_number(plain)
        or read_quantity(plain)
        or read_moments(plain)
    )


def _truth(sentence: str, question: str) -> str | None:
    """`yes` or `no`, as a sentence says it, or as it repeats or negates what is asked."""
    sentence = ASIDE.sub("", sentence).strip(" ,，;.。!！")
    found = VERDICT.match(sentence)
    if GUESS.search(sentence):
        return None
    if found is None:
        asked, said = echo(question), echo(sentence)
        repeats = asked <= said or (said <= asked and len(said) * 2 >= len(asked))
        if not (repeats and POLAR.search(question)) or OTHERS_SAY.search(sentence) or CLAUSE.search(sentence):
            return None
        return "no" if negations(sentence) else "yes"
    word = next(word for word in found.groups() if word)
    if found.lastgroup in ("said", "zhsaid") and negations(sentence[: found.start(found.lastgroup)]):
        return None
    return "yes" if word.casefold() in YES else "no"
