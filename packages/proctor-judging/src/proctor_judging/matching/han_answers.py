"""Read a Chinese reply by its question: what a clause has where the question has its interrogative, whatever the verb around it.

The characters of a clause that the question has, too, are known; what is left, without the small words around it, is the answer: after
`是` where the words before it are known, before it where those after it are. Clauses that only introduce, deny, doubt, tell of
earlier times or of others are set aside.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.han_names import (
    BRACKET,
    LEAD,
    LINK,
    SEVERAL,
    aliases_of,
    forms_of,
    kind_asked,
    other_names,
    trimmed,
)
from proctor_judging.matching.han_openings import without_opening
from proctor_judging.matching.han_question import HanQuestion, read_han_question, winning_verbs
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN
from proctor_judging.matching.sentences import CONCLUDES, CONTRAST, GUESS, HARMLESS, OTHERS_SAY, SO, TITLE
from proctor_judging.matching.text import negations

OF_CONTAINER = compile_later(rf"^(?:省|市|自治区|县)(?=[{HAN}]{{2,}})")
WHO_LINK = compile_later(rf"^(?:的[{HAN}]{{1,6}}?)?(?:仍|正|就|便|即|应该|应)?(?:是|为|叫)(?!由)")
COPULA = compile_later(
    r"(?:应该|应当|应|就|正|便|则|即|也|都|才|乃)?(?:是(?!由|否|不是)|被?(?:誉为|称为|称作|视为|公认为)|堪称|号称|(?<![成作认因现华行人以])为(?![了什何主])|叫做?(?!人)|称为|称作|名叫|名为|指的是|当属|当数|要数|属于|莫过于|即(?!将|便|使)|只有|成为|归功于|归为|等于)"
)
PRONOUN = compile_later("[他她它其]|这(?:也|就|都|便)?是")
WHEREAS = compile_later("而(?![且是非言])")
DEMONSTRATIVE = compile_later(r"[这那该其它他她此]|本")
AGENT = compile_later(rf"(?:由|被|归功于|出自|归于|来自)([{HAN}A-Za-z·\"《》-]{{2,32}})")
PLACED = compile_later(rf"(?:于|在|[到抵]达?|至|去|自|从)\s?([{HAN}A-Za-z·\d\"《》/._~-]{{2,24}})")
EARLIER = compile_later(
    r"原[来先定本是价]|以前|从前|曾(?=[经是任担在被获为])|上(?:学期|个?月|一任|届|次)|去年|此前|起初|前任|弃用|取代|接替|本来"
)
RIVAL = compile_later(
    r"不敌|输给|负于|屈居|亚军|季军|落败|其次|第[二三四五](?![届章回部季版代期号页条款])|次之|紧随|止步|惜败|看似|看起来|好似|混淆|误|有人|有的人|人会|不同于|有别于|相比之下|与此相对"
)
NO_BARE = compile_later(
    rf"^(?:因|由于|虽|尽管|如(?=[果若图下上此])|若|先|从|据|论|按|当|在|这|那|它|他|她|其|首先|其次|一般|通常|目前|现在|根据|对于|关于|作为|除|截|我|你|您|有(?![{HAN}]{{0,2}}$)|没|会|能|可|要|请|让|来|去|只|也|都|还|还是|但|而|并|且|或|又|再|就|才|已|正在|通过|需要|为了|至于|例如|比如|此外|另外|同时|如果|答案|以下|下面|上述)|"
    rf"[了吗呢吧]$|(?:[中里时]|之间)$|.[把将使以给被让由][^，]|.[是为叫](?=.)|的是|属于|叫做|称为|位于|与.+反应|有助|可以|能够|需要|应该"
)
WITHIN = compile_later("[中里]$")
MOMENT_OR_AMOUNT = compile_later(
    r"^(?:公元前?)?[\d零〇一二三四五六七八九十百千万.,]+(?:年|月|日|号|世纪|[点时分秒:]).*$|^\d[\d.,]*$"
)
ALONE = compile_later(
    rf"[!-~]{{1,24}}(?: [!-~]{{1,12}}){{0,3}}|(?:大?约|共|一?共有?|是)?[\d零一二两三四五六七八九十百千万亿.]+(?:[{HAN}]{{0,3}}|[A-Za-z%℃°/]{{0,6}}|[年月日号点时分](?:[\d零一二两三四五六七八九十]+[年月日号点时分半]*){{1,3}})"
)
HAN_REMARK = compile_later(rf"^(?:\d{{4}}年)?[{HAN}A-Za-z]{{2}}")
DENIED = compile_later(r"(?:并|绝|也)?(?:不(?:是|在|为|会|能|属|用|叫|应)|没|未|非|无法)")
SAYS_NOT = compile_later(rf"[{HAN}]{{1,6}}[不无未没](?!是|在|属)[{HAN}]{{1,6}}")
CLAUSE_END = compile_later(r"[，,；;。！!\n]|——|—|:\s?(?!\d)|：")
STANDING = compile_later(r"(?:稳|位|高)?居(?=[^，]{0,6}[首第榜冠前])|名列|排名?|位列|第一|首位|之首(?!先)|榜首|之最")
SMALL = frozenset("的是了在为由于也都就这那个位种座条一被所与和有其它他她")
EXAMPLE = compile_later(r"[，,](?:例如|比如|譬如|如)[:：]?\s?.*$")
POSSIBLE = compile_later(r"(?<=[，,])[^，,。]{0,6}可能(?:会|导致|引起|造成|含有|需要|影响)[^，,。]{2,}")
OTHERS_GUESS = compile_later(
    r"(?:不少|[很好]多|许多|有的?|有些|大家|[你您])[人们]{0,2}(?:可能|都|也|常|还|往往|第一反应)*会?(?:猜|想到|想成|记成)[^，,。；;]*"
)
MAINLY = compile_later("以([^，,。]{1,16})为主")
CHOOSES, ALIKE = compile_later("应该?选|^选|正确答案"), compile_later(rf"(?:一样|同样|相同)[{HAN}]?$")
QUOTED = compile_later(r"(?:[是为叫称作即]|意思|表示|比喻|形容)[：:]?\s?[“\"]([^“”\"]{1,20})[”\"]")
NAMES = compile_later(
    rf"((?:[{HAN}A-Za-z·]{{1,12}}?、)+[{HAN}A-Za-z·]{{1,12}}?(?:(?:和|与|以及|及)[{HAN}A-Za-z·]{{1,8}}?)?)(?=[两三四五六七八九十][个位种大]?[{HAN}]|等|[都均共]|$)"
)
ANSWERS = compile_later("[，,]?(?:正?确?答案|应?该?选|就?是|为|最)")
WORK = compile_later("[部本篇首]|[书诗词曲歌剧集片典著]|小说|作品|电影|专辑|故事")
FORMULA = compile_later(r"(?<=.)[:：，,]\s*[A-Za-z]\w*\s*=\s*[^，。\u3400-\u9fff]*$")
MEANING = compile_later("意思|指|比喻|形容|表示|含义")
MATERIAL, MADE_OF = (
    compile_later("成分|原料|材料|组成|构成|[制做]成?的"),
    compile_later(r"(?:由|用)([^，。]{1,12}?)(?:组成|构成|制成|做成|制作|酿|磨|烧制|编织)"),
)
SERVING_AS = compile_later(rf"以([^，,。其此之]{{1,16}})[为作]([{HAN}]{{2,4}})(?=[，,。]|$)")
AT_HEAD = compile_later("以([^，,。]{1,16})为首(?![的都府])")
TITLES = compile_later("(?<![还也]写[过了])(?<!据)(?<!不喜欢)(?<!误认为)《[^《》]+》")
LABELLED = compile_later(r"^[^\w《]*(《?\w{1,10}》?)\*{0,2}\s?[:：]\*{0,2}\s?(\S[^\n]*)$", re.MULTILINE)
CODE = compile_later(r"[A-Za-z]*\d[A-Za-z\d-]*")
WORD = compile_later(r"[A-Za-z\d][A-Za-z\d_.+#-]*(?: [A-Za-z][A-Za-z\d_.+#-]*)*")
MATHEMATICAL = compile_later(r"[=<>≤≥√]|[(（]-?\d+[,，]")
NOUN = compile_later(rf"(?<=的)[{HAN}]{{2,4}}$")
IN_CODE = compile_later(r"`[^`\n]{1,60}`")
TAG = compile_later(r"</?[a-z][a-z\d]*/?>")
IS_SAID_TO_BE = compile_later(r"[”\"]?(?:就|都|即|应该|应|一般|通常|主要|大多)?(?:是|为|叫做?|称为)(?!什么)(?=.)")
LONGEST_FRAMED = 24
LONGEST_BARE, LONGEST_NOUN, SHORTEST_START = 14, 4, 4
HALF, MOST_KNOWN, MOST_SHARED, SHORT_NAME = 0.5, 0.4, 0.7, 4
LAST_OF_ALL = compile_later("[，,]最[终后]")  # in time, or of a row: no conclusion
PREPOSITIONS = ("与和跟同", "由被", "从自", "给向对", "用以")
EXPLICIT = 2.3  # how sure an answer after the noun of its question is
MORE = 0.4  # by which a later clause must be surer to count


class _GapReading(msgspec.Struct, frozen=True):
    text: str
    strength: float  # the part of the question that the clause around it repeats


NOTHING = _GapReading("", 0)


def read_han_answer(sentences: Sequence[str], question: str) -> tuple[str, ...]:
    """Return what a Chinese reply answers, and what is part of it; () where its question asks for no name, or the reply does not say it for certain.

    >>> read_han_answer(["一般把电话的发明归功于贝尔"], "谁发明了电话？")
    ('贝尔',)
    >>> read_han_answer(["土豆属于蔬菜", "它是块茎"], "下列哪个不是水果：苹果、土豆、香蕉？")
    ('土豆',)
    >>> read_han_answer(["可能是贝尔"], "谁发明了电话？")
    ()
    """
    asked = read_han_question(question)
    sentences = [FORMULA.sub("", EXAMPLE.sub("", sentence)) for sentence in sentences]
    if asked is None or any(MATHEMATICAL.search(TAG.sub("", sentence)) or doubts(sentence) for sentence in sentences):
        return ()
    concluding = [sentence for sentence in sentences if CONCLUDES.match(sentence)][-1:]
    clauses = list(_clauses(concluding, asked))
    if not clauses or (asked.options and not any(_named(clause, asked) for clause in clauses)):
        clauses = list(_clauses(sentences, asked))
    if asked.options and (option := _option(clauses, asked)):
        other = next((names for clause in clauses if (names := tuple(aliases_of(clause, option)))), ())
        return tuple(dict.fromkeys((option, WITHIN.sub("", option) or option, *other)))
    best = NOTHING
    for at, clause in enumerate(clauses):
        plain = BRACKET.sub("", clause)
        if not at and (bare := _bare(plain, asked)):
            best, said = _GapReading(bare, 1 if _share(bare, asked) else 2.4), clause
        slot = max(_slots(plain, asked), key=lambda slot: slot.strength, default=NOTHING)
        if at and _is_of_another(plain, clauses[at - 1], asked):
            continue
        strength = slot.strength - (at > 0 and PRONOUN.match(plain) is not None)
        if strength > best.strength + (MORE if best.text else 0):
            best, said = slot, clause
    following = clauses[clauses.index(said) + 1 :][:2] if best.text else []
    if not best.text and len(clauses) == 1 and len(clauses[0]) <= LONGEST_BARE:
        best, said = _GapReading(LEAD.sub("", BRACKET.sub("", clauses[0]), count=1), 0), clauses[0]
    if not best.text:
        return ()
    named = [name for clause in following for name in other_names(clause)]
    if MEANING.search(asked.before[-4:] + asked.head) and not SEVERAL.search(asked.gap):
        named += best.text.split("、") if "、" in best.text else []
    return tuple(dict.fromkeys([*forms_of(best.text, asked, said), *named]))


def labelled(reply: str, question: str) -> tuple[str, ...]:
    """Return the value after the one label, of several, that names what a Chinese question asks for or about; () without one.

    >>> labelled("**来源**：《史记》\\n**相关人物**：项羽", "破釜沉舟与哪位历史人物有关？")
    ('项羽',)
    >>> labelled("- 银：Ag\\n- 金：Au", "金的化学符号是什么？")
    ('Au',)
    """
    asked = read_han_question(question)
    lines = LABELLED.findall(reply)
    if asked is None or len(lines) < 2:
        return ()
    noun = (asked.head or asked.left)[-2:]
    values = [value for label, value in lines if len(noun) > 1 and label.endswith(noun)] or [
        value for label, value in lines if label in asked.text
    ]
    if len(values) != 1 or doubts(values[0]) or negations(values[0]):
        return ()
    value = BRACKET.sub("", values[0]).strip(" *。.")
    return tuple(forms_of(value, asked, values[0])) if 0 < len(value) <= LONGEST_BARE else ()


def _is_of_another(clause: str, before: str, asked: HanQuestion) -> bool:
    """True if a clause contrasts another thing with the one of the clause before: 而线粒体负责的是呼吸作用."""
    return WHEREAS.match(clause) is not None and _share(clause, asked) < _share(BRACKET.sub("", before), asked)


def doubts(sentence: str) -> bool:
    """True if a sentence only guesses; a consequence that may follow is no guess, nor what others would guess."""
    return GUESS.search(OTHERS_GUESS.sub("", POSSIBLE.sub("", sentence))) is not None


def amount_alone(sentences: Sequence[str]) -> str:
    """Return the amount or moment that the first clause of a Chinese reply is, before remarks; '' if it says more.

    >>> amount_alone(["8条，昆虫则有6条腿"]), amount_alone(["原价400元，现价320元"])
    ('8条', '')
    """
    clauses = [clause for sentence in sentences for clause in CLAUSE_END.split(sentence)]
    concluded = any(map(CONCLUDES.match, sentences))
    alone = len(clauses) > 1 and not concluded and ALONE.fullmatch(clauses[0]) and HAN_REMARK.search(clauses[1])
    return clauses[0] if alone else ""


def _clauses(sentences: Sequence[str], asked: HanQuestion) -> Iterable[str]:
    """Yield the clauses that say something for certain."""
    for sentence in sentences:
        subject = ""
        for piece in map(str.strip, _split(_essence(sentence, asked))):
            whole = subject + piece
            clause = whole if subject and whole.startswith(asked.left) else piece
            subject = piece if len(piece) > 1 and asked.left.startswith(piece) else ""
            if clause and not _is_set_aside(clause, asked):
                yield clause


def _essence(sentence: str, asked: HanQuestion) -> str:
    """Return what a sentence concludes, without openings and contrasts."""
    plain = AT_HEAD.sub(r"第一是\1", MAINLY.sub(r"主要是\1", without_opening(sentence)))
    if (serving := SERVING_AS.search(plain)) is not None and serving[2] in asked.text:
        plain = f"{serving[2]}是{serving[1]}"
    plain = plain.replace('""', "、")  # “风”“雅”“颂”
    conclusion = list(SO.finditer(plain))
    concluded = plain[conclusion[-1].end() :] if conclusion else ""
    if LAST_OF_ALL.match(plain, conclusion[-1].start() if conclusion else 0) and _share(concluded, asked) < _share(
        plain[: conclusion[-1].start()], asked
    ):
        concluded = ""
    if not ANSWERS.match(concluded) and not _share(concluded, asked) and _share(plain, asked):
        concluded = ""  # a consequence
    if concluded.strip() and (not asked.options or _named(_split(concluded)[0], asked)):
        plain = concluded
    for pattern, instead in () if asked.denied else CONTRAST:
        plain = pattern.sub(instead, plain)
    return plain


def _split(sentence: str) -> list[str]:
    """Return the clauses of a sentence; what is in brackets stays with what it explains."""
    enclosed = [match.span() for pattern in (BRACKET, TITLE, IN_CODE) for match in pattern.finditer(sentence)]
    marks = [
        mark
        for mark in CLAUSE_END.finditer(sentence)
        if not any(start <= mark.start() < end for start, end in enclosed)
    ]
    starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(sentence)]
    return [sentence[start:end] for start, end in zip(starts, ends, strict=True)]


def _is_set_aside(clause: str, asked: HanQuestion) -> bool:
    plain = HARMLESS.sub("·", TITLE.sub("·", BRACKET.sub("", clause)))
    if LEAD.fullmatch(plain):
        return True
    if not asked.denied and SAYS_NOT.fullmatch(plain) and not _share(plain, asked):
        return False  # 资源不存在, asked what something means
    starts = (asked.before[cut:] for cut in range(max(len(asked.before) - SHORTEST_START, 0) + 1) if asked.before)
    if (start := next(filter(clause.startswith, starts), "")) and not DENIED.match(clause, len(start)):
        plain = TITLE.sub("·", start)  # 绿茶属于不发酵茶
    denials = len(negations(plain))
    repeats = _repeats_denial(plain, asked) or len(_named(clause, asked)) == 1
    if denials > asked.denied or (denials and asked.denied and not repeats):
        return True
    aside = (RIVAL.search(plain) and not RIVAL.search(asked.text)) or (
        EARLIER.search(plain) and not EARLIER.search(asked.text)
    )
    return bool(aside or GUESS.search(plain) or OTHERS_SAY.search(plain) or contradicts(plain, asked.text))


def _repeats_denial(clause: str, asked: HanQuestion) -> bool:
    """True if a clause denies what the question denies: 土豆不是水果."""
    return any(clause[at : at + 3] in asked.text for at in range(len(clause) - 2) if negations(clause[at : at + 3]))


def _option(clauses: Sequence[str], asked: HanQuestion) -> str:
    """Return the option of the question that the first clause about it affirms; '' without one, or with two."""
    if clauses and (alone := trimmed(BRACKET.sub("", clauses[0]))) in asked.options:
        return alone
    if (same := ALIKE.search(clauses[0]) if clauses and asked.gap else None) is not None and not asked.denied:
        return same[0]
    about = asked.right.removeprefix(asked.head)[-2:] or "\x00"
    picked = [named[0] for clause in clauses if CHOOSES.search(clause) and len(named := _named(clause, asked)) == 1]
    if len(set(picked)) == 1:
        return picked[0]
    naming = [(clause, named) for clause in clauses if len(named := _named(clause, asked)) == 1]
    if asked.denied:
        affirmed = asked.right[asked.right.find(negations(asked.right)[0]) + 1 :] if negations(asked.right) else "\x00"
        naming = [(clause, named) for clause, named in naming if negations(clause) or affirmed not in clause]
    close = [named for clause, named in naming if about in clause]
    chosen = close or [named for _, named in naming]
    distinct = {name for named in chosen for name in named}
    if len(distinct) == 1 or (chosen and close):
        return chosen[0][0]
    return chosen[0][0] if chosen and naming[0][0] == clauses[0] and not about.strip("\x00") else ""


def _named(clause: str, asked: HanQuestion) -> list[str]:
    """Return the options that a clause names, without one that it only compares with: 铝 of 铜比铝更容易导电."""
    plain = (
        re.sub(r"(?:比|不像|胜过|超过|高于|大于|优于|而不是|不是)[^，]*?(?=更|还|要|的|$)", "", BRACKET.sub("", clause))
        if not asked.denied
        else clause
    )
    plain = plain.strip() or clause
    names = [name for name in asked.options if name in plain]
    return [name for name in names if not any(name != other and name in other for other in names)]


def _bare(clause: str, asked: HanQuestion) -> str:
    """Return a clause that is a name and nothing else; '' for a statement."""
    text = LEAD.sub("", clause, count=1) if LEAD.match(clause) else clause
    text = trimmed(text)
    if not 0 < len(text) <= LONGEST_BARE and not WORD.fullmatch(text):
        return ""
    inner = TITLE.sub("·", text)
    if len(asked.left) > 2 and asked.left[-2:] in text[2:]:
        return ""
    if (
        (NO_BARE.search(inner) and not (asked.asks_where and WITHIN.search(inner)))
        or MOMENT_OR_AMOUNT.match(text)
        or re.search(r"[了着过](?!$)|=", inner)
    ):
        return ""
    return (
        text
        if _share(text, asked) < (MOST_SHARED if len(text) <= SHORT_NAME else MOST_KNOWN)
        and text not in asked.text
        and not any(verb in text for verb in asked.verbs if len(verb) > 1)
        else ""
    )


def _known(text: str, asked: HanQuestion) -> list[bool]:
    """Return for each character whether it is in a word of the question, or small."""
    known = [char in SMALL or not char.strip() for char in text]
    for at in range(len(text) - 1):
        if text[at : at + 2] in asked.pairs and not (text[at] in SMALL and text[at + 1] in SMALL):
            known[at] = known[at + 1] = True
    words = [(at, at + len(verb)) for verb in asked.verbs if (at := text.find(verb)) >= 0]
    for start, end in (*words, *(match.span() for match in STANDING.finditer(text))):
        known[start:end] = [True] * (end - start)
    for word in WORD.finditer(text):
        known[word.start() : word.end()] = [word[0] in asked.text] * len(word[0])
    return known


def _share(text: str, asked: HanQuestion) -> float:
    """Return how much of a text is known."""
    counted = [is_known for char, is_known in zip(text, _known(text, asked), strict=True) if char not in SMALL]
    return sum(counted) / len(counted) if counted else 0.0


def _slots(clause: str, asked: HanQuestion) -> Iterable[_GapReading]:
    """Yield what a clause may have in the place of the interrogative, with how sure that is."""
    if (kind := kind_asked(asked)) is not None:
        named = set(kind.findall(clause)) - set(kind.findall(asked.text))
        if len(named) == 1:
            yield _GapReading(min(named), 2)
        if named:
            return
    yield from _explicit(clause, asked)
    yield from _after_left(clause, asked)
    if asked.asks_who and not asked.asks_agent:
        return  # 外婆 of 小雅写给外婆
    yield from _before_right(clause, asked)
    yield from _around_copula(clause, asked)
    if asked.head and (lettered := re.search(rf"{re.escape(asked.head)} ?[A-Z\d]{{1,3}}(?![A-Za-z\d])", clause)):
        yield _GapReading(lettered[0], 2)
    lead = LEAD.match(clause)
    if lead is not None and re.search("是|(?<![认因])为|叫", lead[0]) and (text := trimmed(clause)) not in asked.text:
        yield _GapReading(text, 1.3)
    if asked.gap == "多少" and len(codes := set(CODE.findall(clause)) - set(CODE.findall(asked.text))) == 1:
        yield _GapReading(codes.pop(), 1.5)
    if len(named := _with_noun(clause, asked)) == 1:
        yield _GapReading(named.pop(), 1.5)
    share = _share(clause, asked)
    points_back = DEMONSTRATIVE.match(clause) is not None
    pattern = AGENT if asked.asks_agent and (share or points_back) else PLACED if asked.asks_where else None
    for match in pattern.finditer(clause) if pattern is not None else ():
        text = _cut(match[1], asked) if asked.asks_agent else _new_part(match[1], asked)
        if text and _share(text, asked) < HALF:
            yield _GapReading(text, (1 if asked.asks_agent else 0.8) + share)
    if not share:
        return
    yield from _around_verb(clause, asked, share)
    spans = [span for span in _unknown(clause, asked) if len(span) > 1]
    if len(spans) == 1:
        yield _GapReading(spans[0], share)


def _explicit(clause: str, asked: HanQuestion) -> Iterable[_GapReading]:
    """Yield what a clause marks as the answer: in quotes, after the noun asked for, as a list or title, in the frame of the question."""
    if (
        (quoted := QUOTED.search(clause)) is not None
        and quoted[1] not in asked.text
        and _share(clause[: quoted.start()], asked)
    ):
        yield _GapReading(quoted[1], EXPLICIT)
    if explicit := _said_of_noun(clause, asked):
        yield _GapReading(explicit, EXPLICIT)
    if SEVERAL.search(asked.gap) and (names := NAMES.search(clause)) is not None and names[1] not in asked.text:
        yield _GapReading(trimmed(names[1]), EXPLICIT)
    titles = {title for title in TITLES.findall(clause) if title not in asked.text}
    if len(titles) == 1 and not asked.asks_who and WORK.search(asked.gap + asked.head):
        yield _GapReading(titles.pop(), EXPLICIT)
    if MATERIAL.search(asked.text) and (made := MADE_OF.search(clause)) is not None:
        yield _GapReading(trimmed(made[1]), EXPLICIT)
    if framed := _framed(clause, asked):
        yield _GapReading(framed, EXPLICIT + 1)


def _with_noun(clause: str, asked: HanQuestion) -> set[str]:
    """Return the name that is followed by the noun that the question asks for: 青藏高原, asked for 哪个高原, or `ls` of `ls 命令`."""
    of_left = NOUN.search(asked.left) if not asked.right else None
    noun = asked.head or (of_left[0] if of_left is not None else asked.right)
    if not 1 < len(noun) <= LONGEST_NOUN or not asked.gap or asked.asks_who or SEVERAL.search(asked.gap):
        return set()
    foreign = {
        match[0] for match in WORD.finditer(clause) if clause.startswith(noun, _after_space(clause, match.end()))
    }
    if of_left is not None or foreign:
        return {name for name in foreign if name not in asked.text}
    named = {
        match[1]
        for match in re.finditer(rf"(?:^|[于在是为的到从由至自])([{HAN}]{{1,6}}?{re.escape(noun)})(?![是为叫])", clause)
    }
    return {name for name in named if name not in asked.text}


def _framed(clause: str, asked: HanQuestion) -> str:
    """Return what a clause has between the preposition before the interrogative and the words after it: 曹操 of 与曹操有关."""
    predicate = asked.right.removeprefix(asked.head)
    alike = next((group for group in PREPOSITIONS if asked.before[-1:] and asked.before[-1:] in group), "")
    if not alike or len(predicate) < 2:
        return ""
    end = max(_place_of(predicate, clause), _place_of(predicate[-2:], clause) if predicate not in clause else -1)
    starts = [start for preposition in alike if 0 <= (start := clause.find(preposition)) < end]
    text = trimmed(clause[min(starts) + 1 : end]) if starts else ""
    return text if text and len(text) <= LONGEST_FRAMED and _share(text, asked) < HALF else ""


def _said_of_noun(clause: str, asked: HanQuestion) -> str:
    """Return what a clause says that the noun of the question is: 泰铢 of 法定货币是泰铢, asked for 什么货币."""
    noun = asked.head or (asked.left[-2:] if asked.gap and not asked.right else "")
    if not 1 < len(noun) <= LONGEST_NOUN or SEVERAL.search(asked.gap):
        return ""
    at = clause.find(noun)
    said = IS_SAID_TO_BE.match(clause, at + len(noun)) if at >= 0 else None
    if said is None:
        return ""
    text, subject = _cut(trimmed(clause[said.end() :]), asked), clause[:at]
    about = not subject or _share(subject, asked) >= HALF
    return text if text and about and _share(text, asked) < HALF else ""


def _after_space(clause: str, at: int) -> int:
    return at + clause.startswith(" ", at)


def _around_verb(clause: str, asked: HanQuestion, share: float) -> Iterable[_GapReading]:
    """Yield who does what the question asks about, or what it is done to: 思乡之情 of 诗人借月亮抒发了思乡之情."""
    verb = next(
        (verb for verb in asked.verbs if _place_of(verb, clause) >= 0 and (len(verb) > 1 or verb in asked.right)), None
    )
    if verb is None:
        return
    at = _place_of(verb, clause)
    before, after = clause[:at], clause[at + len(verb) :]
    if asked.asks_agent or verb in winning_verbs():
        text = _last_name(before, asked)
        if text and _share(text, asked) < HALF:
            yield _GapReading(text, 1 + share)
    elif asked.gap and (text := _cut(trimmed(after), asked)) and _share(text, asked) < HALF:
        yield _GapReading(text, 1 + share)


def _place_of(verb: str, clause: str) -> int:
    """Return where a clause has a verb that is not a part of the name of those who do it (发明 of 发明家); -1 if it has not."""
    at = clause.find(verb)
    while at >= 0 and clause[at + len(verb) : at + len(verb) + 1] in ("家", "者", "师", "员"):
        at = clause.find(verb, at + 1)
    return at


def _after_left(clause: str, asked: HanQuestion) -> Iterable[_GapReading]:
    """Yield what follows the words before the interrogative: 巴黎 of 法国的首都叫巴黎."""
    predicate = asked.right.removeprefix(asked.head)
    left = asked.before if asked.before in clause else asked.left
    verb = re.sub("[的了]+$", "", asked.before[len(asked.left) :])
    if (
        not asked.asks_who
        and left is not asked.before
        and len(verb) > 1
        and left not in clause
        and (at := clause.find(verb)) >= 0
    ):
        text = _new_part(clause[at + len(verb) :], asked)
        if text and text not in asked.text:
            yield _GapReading(text, 1.5)
    for cut in range(
        max(
            len(left) - 1,
            len(left) == 1
            and asked.before[1:] in ("", "是", "属于", "叫", "为")
            and LINK.match(clause.removeprefix(left)) is not None,
        )
    ):
        anchor = left[cut:]
        at = clause.find(anchor)
        if at < 0:
            continue
        is_of_subject = at > 1 and clause.startswith(asked.left[:2])
        foreign = at > 0 and not is_of_subject and _share(clause[:at], asked) < HALF and len(trimmed(clause[:at])) > 1
        rest = OF_CONTAINER.sub("", clause[at + len(anchor) :].lstrip('》”"）)'))
        rest = re.sub("^[做作为](?=.)", "", rest) if anchor[-1] in "叫称" else rest
        if asked.asks_who and rest.startswith("的") and not WHO_LINK.match(rest):
            return
        text = _cut(trimmed((WHO_LINK if asked.asks_who else LINK).sub("", rest, count=1)) or trimmed(rest), asked)
        said_before = text.removeprefix("的") in asked.text and asked.gap != "哪个"
        whole = not cut and not at and not text.startswith("的")
        is_new = whole or (not said_before and (not cut or _share(text, asked) < HALF))
        if text and is_new and (len(text) > 1 or not foreign) and not (asked.denied and negations(text)):
            strength = 1 + (not cut) + len(anchor) / len(left) - foreign
            yield _GapReading(text, strength + (bool(predicate) and predicate[:2] in rest))
        return


def _before_right(clause: str, asked: HanQuestion) -> Iterable[_GapReading]:
    """Yield what precedes the words after the interrogative: 周婷 of 周婷负责测试."""
    predicate = asked.right.removeprefix(asked.head)
    ended = re.sub(r"[的了过着呢]+$", "", clause)
    plain = re.sub(r"[的了过着]+$", "", predicate)
    for size in range(len(plain), len(plain) > 1 or asked.gap != "谁", -1):
        ends = ended.endswith(plain[-size:]) and (size == len(plain) or size > 2 or plain[-2:-1] in ("最", "更"))
        at = len(ended) - size if ends else ended.find(plain[:size])
        if at < 1 or (not ends and (size < 3 or size * 2 < len(plain))):
            continue
        before, rest = ended[:at], plain[:-size] if ends else ""
        text = _last_name(before, asked)
        if rest and plain[-size] not in "最更" and _share(rest, asked) and rest not in before:
            return
        if text and text not in asked.text:
            yield _GapReading(text, 2 + size / len(plain))
        return


def _last_name(before: str, asked: HanQuestion) -> str:
    """Return the name with which the words before a predicate end: 贝尔 of 电话是贝尔."""
    if asked.left and before.startswith(asked.left):
        before = before[len(asked.left) :]
    piece = trimmed(re.split(r"由|(?<!还)是|被|成?为(?=.)", re.sub("(?:成为|是)$", "", before))[-1]) or trimmed(before)
    known = _known(piece, asked)
    if asked.asks_who and (spans := _unknown(piece, asked)):
        return spans[0]
    start = next((at for at in range(len(piece) - 1, 0, -1) if known[at] and piece[at] not in SMALL), -1)
    return trimmed(piece[start + 1 :]) if start + 1 < len(piece) else piece


def _around_copula(clause: str, asked: HanQuestion) -> Iterable[_GapReading]:
    """Yield what is said to be what the question describes, on either side of `是`."""
    for copula in COPULA.finditer(clause):
        before, after = clause[: copula.start()], clause[copula.end() :]
        left, right = _share(before, asked), _share(after, asked)
        if copula[0] == "为" and "以" in before[-6:]:
            continue
        if after and DEMONSTRATIVE.match(before) and right < 1:
            yield _GapReading(_cut(trimmed(after), asked), 1.5 + left)
        elif after and left >= HALF and (right < left or not right):
            yield _GapReading(_cut(trimmed(after), asked), 1 + left)
        elif before and right >= HALF and left < HALF and not LEAD.fullmatch(before):
            yield _GapReading(trimmed(before), 1.2 + right)
        elif after and left and right < HALF:
            yield _GapReading(_cut(trimmed(after), asked), 0.9 + left)


def _new_part(text: str, asked: HanQuestion) -> str:
    """Return a text up to the first words that the question has as well."""
    known = _known(text, asked)
    end = next((at for at in range(len(text)) if known[at] and text[at] not in SMALL), len(text))
    return trimmed(text[:end])


def _unknown(clause: str, asked: HanQuestion) -> list[str]:
    """Return the stretches of a clause that its question does not have."""
    known = _known(clause, asked)
    spans, start = [], None
    for at, is_known in enumerate([*known, True]):
        small = at < len(clause) and clause[at] in SMALL and 0 < at < len(clause) - 1 and not known[at - 1]
        if not is_known and start is None:
            start = at
        elif is_known and start is not None and not (small and at + 1 < len(known) and not known[at + 1]):
            spans.append(trimmed(clause[start:at]))
            start = None
    return [span for span in spans if span]


def _cut(text: str, asked: HanQuestion) -> str:
    """Return a text up to the predicate of the question: 刘慈欣 of 刘慈欣写的."""
    predicate = asked.right.removeprefix(asked.head)
    verbs = asked.verbs if asked.asks_agent else ()
    for ending in (*(predicate[:size] for size in range(len(predicate), 1, -1)), *verbs):
        at = _place_of(ending, text)
        if at > 1 or (at > 0 and not asked.asks_who):
            return trimmed(text[:at])
    if len(predicate) == 1 and text.endswith((predicate, predicate + "的")):
        return trimmed(text.removesuffix("的")[:-1])
    return text
