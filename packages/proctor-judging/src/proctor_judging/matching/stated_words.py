"""Find the words that a sentence states as its answer: `The capital of France is Paris.`, `Leonardo painted it.`, `法国的首都是巴黎。`

The rules look at the form of the sentence and at its question: what follows the last `is`, who did it, the only name that the
question does not hold, what the sentence adds to the words of its question. The first rule that finds something decides what is
claimed; the others only say how it may be cut shorter. Every text is bounded before a pattern sees it.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from proctor_judging.matching.amounts import COMPARED, SPAN
from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import ECHO_WORD, EMPTY_WORDS, HAN, NOT_A_NAME, echo, stem
from proctor_judging.matching.sentences import CLAUSE, COPULA, asked_clause, plain_statement
from proctor_judging.matching.text import negations, tidy

MANNER = compile_later(
    r"(?:mostly|mainly|primarily|largely|usually|typically|about|approximately|around|roughly|exactly|just|only|also|actually|indeed|therefore|thus|hence|simply|precisely|now|equal to|"
    r"given by|called|named|known as|this|definitely|certainly|clearly|一[个种座条位件只名]|约|大约|大约是|由|在)\s*", re.IGNORECASE
)  # fmt: skip
PLACED = compile_later(
    r"(?:\w{1,20}ly\s)?(?:(?:\w{1,20}(?:ed|en|own|orn|ilt|ade|ound|ung)|set|led|put|sung|held|home|native|short)\s)?"
    r"(?:(?:most |least )?\w{1,20}(?:est|ly)\s|most\s|least\s)?(?:made up of|composed of|in|on|at|by|of|from|to|as|for|through|into)\s(?:the\s(?:year|city|month)\s(?:of\s)?)?|(?:the|a|an)\s(?:\w+\s)?(?:village|town|city|state|country|island|river|planet|province|kingdom|port|region)\sof\s", re.IGNORECASE
)  # fmt: skip
CUT = compile_later(
    r"\s(?:in|on|at|by|with|after|during|when|where|until|from|per|under|as|for|to|around|about|circa|near|over|within|like|who|whose|since|because|along|together|today|today's|which|that|named|called|and (?:it|he|she|they))\s",
    re.I,
)
AGENT = compile_later(
    rf"由([{HAN}·]{{2,12}}?)(?:所|等)?(?:负责|管理|运营|主办|承办|[研拍谱翻画雕策撰编写著作创发建设提导主执担完组构制绘演](?![家者师人始]|曲家)|合著|生产|出版|引起|造成|导致|引发|驱动|驾驶|赞助)|(?:出自|是)([{HAN}·]{{2,12}}?)(?:之手|笔下|的(?:作品|著作|代表作|小说|诗|《)|(?:创作|写|著|谱写|执导|拍摄|绘制|发明|设计|建造|主演|演唱)的)"
)
TITLED = compile_later(r"《[^《》]{1,40}》")
EPITHET = compile_later(  # the Dutch painter Vincent van Gogh, 唐代诗人李白
    r"^(?=the |an? |[A-Z])(?:the |an? )?(?:[A-Z]\w+(?:-[A-Za-z]+)? )?(?:(?!of|except|besides|before|since|until|beyond|over|under|near|after|than|by|to|from|with|and|or|not|like|in|on|at|for|but|is|was|called|named|da|de|di|van|von|del|bin|al|der)[a-z-]+ ){1,3}(?=[A-Z])"
    rf"|^[{HAN}]{{0,10}}?(?:家|员|诗人|学者|将军|皇帝|总统|教授|导演|歌手|演员|选手|城市|省会|首都)(?=[{HAN}·]{{2,8}}$)"
)
DEFINITE = compile_later(
    r"(?:(?:\w{1,20}ly\s)?(?:considered|regarded as|known as|seen as|recognized as|thought of as)\s(?:to be\s)?)?(?:the|a|an|one of the|my|our)\s\S",
    re.IGNORECASE,
)
APPOSITION = compile_later(
    r",\s(?:(?:the|a|an|which|in|on|at|located|with|known|because|also|as|from|one|who|where|by|and (?:it|is|was))\b|\w{2,}(?:ed|ing|['’]s)\b)|"
    r"[，,](?=.{0,20}(?:是|全|位于|为|因|它|其|在|有))"
)
TWO_STATEMENTS = compile_later(r"\b(?:and|but|while|whereas)\b|[,，](?!.*['’]s\b)")
FROM_TO = compile_later(r"(?:\w{1,20}ed\s)?from\s[^,.]{1,60}?\sto\s", re.IGNORECASE)  # moved from Monday to Friday
CODE = compile_later(r"^[^`]*`([^`]{1,80})`[^`]*$")
MOST_NAMES = 2
YOU = frozenset(["you", "us", "here", "please", "use"])
MOST_VARIANTS = 24
SHIP = compile_later(r"(?:HMS|USS|RMS|SS|MV|HMCS|USNS) (?=[A-Z])")
ENDED = compile_later(
    rf"(?<=[{HAN}]{{2}})作为[{HAN}]{{1,8}}$|(?:的|(?:所)?(?:写|著|作|写的|创作|发明|发现|创立|建立|提出)的?|的(?:作品|著作)|(?<=[{HAN}]{{2}})(?:[中里内上]|夺得?|获得?|赢得?|荣获))$|,(?=[{HAN}]).*$"
)
# the subject
ASKS_WHO = compile_later(r"(?:who|which|what (?!(?:do|does|did|is|are|was|were|has|have|had)\b))|谁", re.IGNORECASE)
WHO = compile_later(
    r"\b(?:who|whom|whose)\b|\b(?:author|painter|writer|composer|inventor|scientist|person|man|woman)\b", re.IGNORECASE
)
PERSON = compile_later(r"(?:[A-Z][\w'’-]+\.? |[A-Z]\. ){1,3}(?:(?:van|von|de|da|di|del|der) )*[A-Z][\w'’-]+")
ARTICLE = compile_later(r"^(?:the|an?) ", re.IGNORECASE)
HOW = compile_later(r"how (?:do|does|did|can|could|is|are|was|were|will|would)\b", re.IGNORECASE)
MEANS = compile_later(r"\bby ((?!the\b|19|20)[a-z][^,;.]{1,80})$")
WHY = compile_later(r"\bwhy\b|为什么|为何|原因", re.IGNORECASE)
CAUSE = compile_later(
    r"\b(?:because(?: of)?|due to|owing to|caused by|from)\s|(?<!不是)(?<!并非)(?:因为|由于)|(?<=[\u3400-\u9fff])因(?![此而为素果子人])",
    re.IGNORECASE,
)
RELATED = compile_later(  # what stands before a mention that is not the answer itself
    r"\b(?:than|near|before|after|until|outside|beyond|except|besides|without|(?:un)?like|against|between|and|or|not|behind|below|above|over|under|past|across|"
    r"around|vs|despite|towards?|opposite|(?<!because )(?<!made )(?<!consist )(?<!consists )(?<!composed )(?<!made up )of|(?:away|apart|differs?|different|moved|far) from|(?:inspired|influenced|rejected|opposed|admired|followed|preceded|succeeded|replaced) by|"
    r"(?:confused|compared|along) with|(?:similar|next|close|compared|prefer\w*) to)\s(?:the\s|an?\s|its\s|\w+['’]s\s)?$|"
    r"(?:[不没非未无比像除和与或跟及、]|以外|除了|超过|低于|类似|接近|没有)$",
    re.IGNORECASE,
)
KIND_OF = compile_later(r"\b(?:village|town|city|state|country|island|river|planet|province|kingdom|port|region) of $")
HAS_OF = compile_later(r"\b(?:has|have|had|with) (?:[\w-]+ ){1,4}of (?:the |about )?$", re.IGNORECASE)  # has a speed of
RELATES = compile_later(r"['’]s\s|附近|旁边|以外|之外|之前|之后|以前|以后|的(?!作品|著作|$|[^，。]{0,3}$)")
QUOTED = compile_later(r"^[^\"]*[\"]([^\"]{1,60})[\"]\W*$")
LABELLED = compile_later(
    rf"(?!step|case|note|步骤|第)(?:[^\W\d_][\w '-]{{0,30}}|[{HAN}]{{1,12}})\s?[：:]\s*(?=\S)", re.IGNORECASE
)
BY = compile_later(r"\bby\s([^,;]{1,80})")
PLURAL = compile_later(r"(?<=\b[a-z]{3})s$|(?<=\b[a-z]{4})s$|(?<=\b[a-z]{5})s$|(?<=[a-z]{6})s$")
LEADING_NAME = compile_later(
    rf"^((?:[Tt]he )?[A-Z][\w'’.-]*(?: (?:of |the |de |van )?[A-Z][\w'’.-]*){{0,4}}), (?=at\b|with\b|a\b|an\b|the\b|in\b|about\b|\d)|^([{HAN}·]{{2,12}})[，,](?=海拔|全长|位于|面积|人口|高|约)"
)
DOES = compile_later(r"^((?:[Tt]he )?[A-Z][\w'’.-]*(?: (?:of |the |de |van |da |von )?[A-Z][\w'’.-]*){0,4}) (\w+)")
WINS = frozenset(["beat", "defea", "won", "win", "prevai", "did", "do"])
HAN_AGENT_END = compile_later(
    rf"(?<=[{HAN}]{{2}})(?:应|于|在|所|因|受|率先|首次|首先|创作|发明|发现|提出|编写|[（(]).*$"
)
HAN_COUNTRY = compile_later(
    "^(?:中国|我国|美国|英国|法国|德国|日本|韩国|俄罗斯|前?苏联|印度|意大利|西班牙|葡萄牙|加拿大|澳大利亚|新西兰|巴西|阿根廷|墨西哥|希腊|埃及|土耳其|荷兰|比利时|瑞士|瑞典|挪威|丹麦|芬兰|奥地利|波兰|泰国|越南|新加坡|马来西亚|南非)(?=[\u3400-\u9fff·]{2,12}$)(?![国队籍裔]|人$|语$)"
)
HAN_MODIFIER = compile_later(rf"^[^，。]{{1,24}}的(?=[{HAN}·《]{{2,14}}》?$)")
PLACE_OF = compile_later(r", (?:[A-Z][\w-]+(?: [A-Z][\w-]+)?)$")
HAN_AT = compile_later(
    rf"[在于]([{HAN}·]{{2,12}}?)(?:[中里内上])?(?:举办|举行|召开|进行|发生|出生|去世|成立|完成|上市|签署)"
)
HAN_REST = compile_later(rf"[{HAN}]{{1,4}}$")
MOMENT_LIKE = compile_later(r"[年月日时点]|期间")
HAN_COMPARED = compile_later(rf"^([{HAN}A-Z]{{1,8}})比[{HAN}A-Z]{{1,8}}?([大高多长早快重贵强远宽厚深轻小矮少短晚慢便])")
ABBREVIATED = compile_later(
    r"\s?[(（](?:(?:also (?:known as|called)|abbreviated(?: as)?|symbol|又称|简称|也称|即|符号)[:：]?\s?)?([A-Z][A-Za-z\d.&_-]{0,9}|[\u3400-\u9fff]{2,8})[)）]"
)
BRACKETED = compile_later(r"(?:\s\(|(?<=[\u3400-\u9fff])\(|\s?（)[^()（）]{1,60}[)）]$")
COMPANY = compile_later(r",? (?:Inc|Corp|Corporation|Ltd|LLC|plc|GmbH|AG|Co)\.?$|(?<=[\u3400-\u9fff]{2})(?:公司|集团)$")
LAST_NAME = compile_later(r"^[^·]+·(?=[^，。]{1,12}$)")
PLACE = compile_later(
    r"\b(?:in|at|on)\s(?:the\s)?([^,;.]{1,60})$|(?:[去到往了用出释放]|会(?![议场馆员长])|产生|变成|含有|升起)([\u3400-\u9fff]{1,12})$"
)
ASKS_WHICH = compile_later(r"(?:which|who)\b(?!.*\b(?:worse|worst|wrong|incorrect|least)\b)", re.IGNORECASE)
IS_BEST = compile_later(
    r"(?:the )?(?:better|best|correct|right)(?: (?:one|option|choice|answer|deal|value|fit))?|the (?:winner|way to go)",
    re.IGNORECASE,
)
PRONOUN = compile_later(
    r"(?:it|this|that|these|those|they|he|she|there|here|which|so|the answer|它|这|那|他|她|其)(?:['’]s|\s(?:is|was|are|were))?",
    re.IGNORECASE,
)
NAME = compile_later(
    r"(?:[A-Z][\w'’.-]*|[A-Z]\.)(?:\s(?:(?:of|the|de|da|di|la|le|van|von|der|du|and the|del|bin|al)\s)*(?:[A-Z][\w'’.-]*|\d+(?=\s|$)))*"
)


class StatedWords(msgspec.Struct, frozen=True):
    """What a sentence states, and what remains of it when what is added is cut off: each form is a part of the one before it.

    `direct` is True if the form of the sentence says it: `is …`, `by …`.
    """

    forms: tuple[str, ...] = ()
    direct: bool = False


def read_words(sentence: str, asked: QuestionForm) -> StatedWords:
    """Return what a sentence states; nothing if it denies, doubts, or says something else than the question asks for."""
    plain = plain_statement(sentence)
    if plain is None or contradicts(plain := asked_clause(plain, asked.clause), asked.clause):
        return StatedWords()
    direct = list(_said_directly(sentence, plain, asked))
    chain: list[str] = []
    for candidate in (*direct, *_found_otherwise(sentence, plain, asked)):
        text = candidate.strip(" ,，;:：\"'“”*")
        if not text or not _is_meant(text, plain) or (chain and text.isdigit()):
            continue
        if not chain or text in chain[-1]:
            chain.append(text)
        elif text in chain[0] and chain[-1] in text:
            chain.insert(next(at for at, other in enumerate(chain) if other in text), text)
    forms = [*chain, *_explained(chain, sentence)]
    return StatedWords(tuple(dict.fromkeys([*forms, *shorter_names(forms, asked)])), bool(direct))


def shorter_names(forms: Sequence[str], asked: QuestionForm) -> Iterable[str]:
    """Yield the last name of a person, and a name without the words of the question: `yen` of `Japanese yen`, asked about Japan."""
    for form in forms:
        first, _, rest = ARTICLE.sub("", form).partition(" ")
        if rest and first[:1].isupper() and stem(first) in asked.stems:
            yield rest
        if WHO.search(asked.clause) and PERSON.fullmatch(form):
            yield form.rpartition(" ")[2]


def _explained(chain: Sequence[str], sentence: str) -> Iterable[str]:
    """Yield the other name that follows a claimed one in brackets: `Cu` of `copper (Cu)`, `WHO` of `世界卫生组织（WHO）`."""
    for text in chain:
        at = sentence.find(text)
        other = ABBREVIATED.match(sentence, at + len(text)) if at >= 0 else None
        if other is not None and _is_short_name(other[1]):
            yield other[1]


def _is_short_name(text: str) -> bool:
    """True for an abbreviation or a Chinese name, but not for the country of a city."""
    return not text.isascii() or sum(map(str.isupper, text)) * 2 >= len(text)


def aliases(text: str) -> Iterable[str]:
    """Yield the names that a value has in brackets: `CO2` and `carbon dioxide` of `carbon dioxide (CO2)`."""
    bracket = BRACKETED.search(text)
    if bracket is not None and text[: bracket.start()].strip():
        yield text[: bracket.start()].strip()
        other = ABBREVIATED.match(tidy(text), len(tidy(text[: bracket.start()].strip())))
        if other is not None and _is_short_name(other[1]):
            yield other[1]


def _is_meant(text: str, sentence: str) -> bool:
    """True unless the words are said only to relate something else to them: `Ann's brother`, `far from Rome`, `上海附近`."""
    before, found, after = sentence.partition(text)
    related = RELATED.search(before) is not None and HAS_OF.search(before) is None and KIND_OF.search(before) is None
    return not found or not (related or RELATES.match(after))


def _said_directly(sentence: str, plain: str, asked: QuestionForm) -> Iterable[str]:
    """Yield what the form of a sentence says: after a label, `because`, `by` or `is`."""
    if (label := LABELLED.match(plain)) is not None:
        yield from variants(plain[label.end() :])
    if WHY.search(asked.clause) and (cause := CAUSE.search(sentence)) is not None:
        yield from variants(before_echo(sentence[cause.end() :], asked.clause))
    for agent in AGENT.finditer(plain):
        works = TITLED.findall(plain[: agent.start()])
        if works and "《" in asked.clause and works[-1] not in asked.clause:
            continue  # who wrote something else
        yield from variants(agent[1] or agent[2])
    who = ASKS_WHO.match(asked.clause) is not None
    if who or not asked.stems:
        for by in BY.finditer(plain):
            if any(map(str.isupper, by[1])):
                yield from variants(by[1])
    if HOW.match(asked.clause) and (means := MEANS.search(plain)) is not None:
        yield means[0].strip()
        yield from variants(means[1])
    does = DOES.match(plain) if who else None
    if does is not None and (stem(does[2]) in asked.stems | WINS) and not echo(does[1]) <= asked.stems:
        yield does[1]
    if (at := HAN_AT.search(plain)) is not None and not MOMENT_LIKE.search(at[1]):
        yield at[1]
    compared = HAN_COMPARED.match(plain)
    if compared is not None and compared[2] in asked.clause:
        yield compared[1]
    if (leading := LEADING_NAME.match(plain)) is not None and COPULA.search(plain) is None:
        yield leading[1] or leading[2]
    copulas = list(COPULA.finditer(plain))
    if len(copulas) > 1 and not asked.stems and TWO_STATEMENTS.search(plain[copulas[0].end() : copulas[-1].end()]):
        return  # two statements: which of them answers is not said
    for copula in copulas[::-1]:
        subject, complement = plain[: copula.start()].strip(" ,，就"), plain[copula.end() :]
        if _describes(complement, subject, asked, copula[0]):
            yield from variants(CLAUSE.split(subject)[-1])
        elif complement.strip():
            yield from variants(complement)


def _found_otherwise(sentence: str, plain: str, asked: QuestionForm) -> Iterable[str]:
    """Yield the only name of a sentence, what it quotes, what it adds to its question, its last place."""
    copulas = COPULA.search(plain) is not None
    if (asked.stems or not copulas) and len(named := _names_in(plain, asked)) == 1:
        yield from named
    for marked in (QUOTED.search(sentence), CODE.search(sentence)):
        if marked is not None:
            yield marked[1]
    added = _added(plain, asked)
    if len(added) == 1 or (
        added and plain.endswith(added[-1]) and sum(name[:1].isupper() for name in added) < MOST_NAMES
    ):
        wider = HAN_REST.match(plain, plain.rfind(added[-1]) + len(added[-1]))
        if wider is not None and echo(wider[0]) <= asked.stems:
            yield added[-1] + wider[0]
        yield from variants(added[-1])
    if not copulas and (last := PLACE.search(plain)) is not None:
        yield from variants(last[1] or last[2])
    if len(sentence.split(" ")) < 4 and not copulas:
        yield from variants(plain)


def before_echo(text: str, question: str) -> str:
    """Return a Chinese text up to where it repeats the question: `大雾` of `大雾延误`, asked why something is 延误."""
    ends = [at for at in range(len(text) - 1) if text[at : at + 2] in question and not text[at].isascii()]
    if ends[:1] == [0]:
        return text  # which begins with the subject of the question
    return text[: ends[0]].rstrip("而，,") or text if ends else text


def variants(complement: str) -> Iterable[str]:
    """Return a complement as it is, and without what is added to it: `approximately`, `written by`, `in 1993`, what follows a comma."""
    text = complement
    yield text
    for _ in range(MOST_VARIANTS):
        before = text
        if (moved := FROM_TO.match(text)) is not None:
            text = text[moved.end() :]
            yield text
        for pattern in (MANNER, PLACED, EPITHET, HAN_COUNTRY, HAN_MODIFIER, LAST_NAME, SHIP):
            if (match := pattern.match(text)) is not None and match.end() < len(text):
                text = text[match.end() :]
                yield text
        for pattern in (APPOSITION, CUT):
            if (match := pattern.search(text)) is not None and match.start():
                text = text[: match.start()]
                yield text
        for pattern in (BRACKETED, COMPANY, ENDED, HAN_AGENT_END, PLACE_OF, PLURAL):
            if (shorter := pattern.sub("", text)) and shorter != text:
                text = shorter
                yield text
        if text == before:
            break


def _describes(complement: str, subject: str, asked: QuestionForm, copula: str) -> bool:
    """True if the words after `is` describe what is asked for, so that the subject is the answer."""
    if not subject or PRONOUN.fullmatch(subject):
        return False
    if re.match(r"(?:this|that|these|those)\b", subject, re.IGNORECASE) and not asked.stems:
        return False
    if ASKS_WHICH.match(asked.clause) and IS_BEST.fullmatch(complement) and not negations(asked.clause):
        return True
    if asked.stems:
        said, named = echo(complement), echo(subject)
        compared = re.search(r"(\w+)\sthan\b", complement)
        if compared is not None and stem(compared[1]) not in asked.stems:
            return False  # smaller, where taller was asked
        shared = len(asked.stems & said)
        enough = shared * 2 >= min(len(asked.stems), len(said)) > 0 or (
            shared > 1
            and not named & asked.stems
            and WHO.search(asked.clause) is not None
            and PERSON.fullmatch(subject) is not None
        )
        return enough and (said <= asked.stems or len(asked.stems & said) > len(asked.stems & named))
    if "是" in copula:
        return re.search(r"的[^，,]{1,12}$|最|第一", complement) is not None and "的" not in subject
    if re.match(r"the (?:\w+est|most|least)\b", complement):
        return True
    return DEFINITE.match(complement) is not None and not re.match(
        r"(?:the (?![A-Z])|an?\b|my\b|his\b|her\b|its\b|their\b)", subject[:1].lower() + subject[1:]
    )


def _names_in(sentence: str, asked: QuestionForm) -> list[str]:
    """Return the capitalised names of a sentence, but for those the question holds."""
    names = []
    question = asked.clause.casefold()
    for match in NAME.finditer(SPAN.sub("·", sentence)):
        words = match[0].split(" ")
        while words and (words[0].casefold() in NOT_A_NAME | YOU or MANNER.fullmatch(words[0])):
            words = words[1:]
        name = " ".join(words).rstrip(".'’")
        if (
            not name
            or (not asked.stems and match.start() == 0 and len(words) == 1)
            or (question and re.search(rf"\b{re.escape(name.casefold())}\b", question))
        ):
            continue
        before = sentence[max(0, match.start() - 20) : match.start()]
        if re.search(r"\b(?:against|with|over|beat|beating|defeated)(?: the)? $", before):
            continue
        if re.search(r"\b(?:of|after|near|opposite|like)(?: the)? $", before) or COMPARED.search(before.strip() + " "):
            return []
        names.append(name)
    fresh = [name for name in names if stem(name.split(" ")[-1]) not in asked.stems]
    return (fresh or names) if not re.search(r"\bor\b", sentence) else []


def _added(sentence: str, asked: QuestionForm) -> list[str]:
    """Return the stretches of a sentence that its question does not hold; small words part none."""
    words = list(ECHO_WORD.finditer(sentence))
    known = [stem(word[0]) in asked.stems for word in words]
    if not any(known) or re.search(r"\b(?:or|than)\b|或|还是", sentence):
        return []
    stretches: list[list[re.Match[str]]] = [[]]
    for word, is_known in zip(words, known, strict=True):
        if not is_known and word[0].casefold() not in EMPTY_WORDS:
            stretches[-1].append(word)
        elif stretches[-1]:
            stretches.append([])
    return [sentence[stretch[0].start() : stretch[-1].end()] for stretch in stretches if stretch]
