"""Find the answer for each blank of a question in a reply: in a list, a table, bold words, numbers within a line, or the completed sentence."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise, permutations

import msgspec

from proctor_judging.matching.gap_alignment import align
from proctor_judging.matching.marked_answers import half_width, last_announced, last_boxed, without_thoughts
from proctor_judging.matching.question_words import echo
from proctor_judging.matching.sentences import corrected
from proctor_judging.matching.text import negations, tidy
from proctor_judging.matching.unit_table import read_unit

MOST_CHARACTERS = 20_000  # of a reply in which marks within a line are looked for
LONGEST_VALUE = 200
REPEATED, REWORDED, REWORDED_ALONE = 0.75, 0.4, 0.5  # shares of the words of a sentence that a reply has as well
_BY_PLACE = "first one 1st i 一|second two 2nd ii 二|third three 3rd iii 三|fourth four 4th iv 四|fifth five 5th v 五|sixth 六|七|八|九|十"
_ORDINALS = {name: place for place, names in enumerate(_BY_PLACE.split("|"), 1) for name in names.split()}
_MARK = (
    r"(?:\((\d{1,2}|[一二三四五六七八九十])\)|\[(\d{1,2})\]|(\d)-(?=[A-Za-z\u3400-\u9fff])|\(?([a-h])\)|(?:第\s?(\d{1,2}|[一二三四五六七八九十])\s?个?[空个格处]格?|填?空格?\s?(\d{1,2}|[一二三四五六七八九十])|([一二三四五六七八九十])空|(?:blank|gap)\s?[#(]{0,2}(\d{1,2}|one|two|three|four|five)\)?"
    r"|(?:the\s)?(first|second|third|fourth|fifth|sixth|1st|2nd|3rd|4th|5th)(?:\s(?:blank|one|space|gap|word|answer)(?=\W)|:|(?=\s(?:is|should|must|as)\b)))\s?(?:应?填[入写]?|应?该?[为是]|(?:should be|is|=|-(?=\s))\s?)?:?|(\d{1,2})[.、:)](?!\d)|([一二三四五六七八九十])、|\(?(iv|v|i{1,3})[.、)]|([①-⑳⑴-⒇]))(?:\s?(?::|=(?!=)|[-=]>|→))?"
)
_NUMBERED = re.compile(rf"^[-\s]*{_MARK}\s*", re.IGNORECASE)
_INLINE = re.compile(rf"(?<![A-Za-z0-9.^_({{]){_MARK}\s*|(?<=[\u3400-\u9fff\s\w])([①-⑳⑴-⒇])\s*", re.IGNORECASE)
_CIRCLED = frozenset(map(chr, [*range(0x2460, 0x2474), *range(0x2474, 0x2488)]))
_ALL_ALIKE = re.compile(
    r"\W*(?P<quoted>[\"“][^\"”\n]{1,100}[\"”]|\S{1,40}) (?:in|for|fits|fills|goes in(?:to)?) (?:both|all)(?: \w+){0,2}\W*|"
    r"\W*(?:(?:both|all|the two|each)(?: of)?(?: the| these)? (?:\w+ ){0,2}(?:are|is|should be|takes?|gets?|need)"
    r"|(?:[两三四各每]?(?:处|个?空格?(?:里|处|中)?))?(?:都|均|全)(?:应该?)?(?:填入?|是|为))\s*:?\s*(?P<plain>(?![^\n]{0,100}(?:\band\b|[、和与及]))[^,;，；\n]{1,100}?)[.。]?\s*",
    re.IGNORECASE,
)
_SEPARATORS = (
    r",?\s(?:and\s)?then\s",
    r"\s?(?:…{1,2}|\.{3,6})\s?",
    r",\s+",
    r",?\s+and\s+|,|、|[以和]?及|和",
    ",",
    "、",
    r"\.\s+(?=[A-Z])|。(?=.)",
    r"\s[|/–—]\s",
    r"\s+(?:and|和)\s+|[和与及且]",
    r"(?<=\d)\s?[-–—~～至]\s?(?=\d)",
    r"\s+",
)
_JOIN = re.compile(r"(?:,?\s+and|[,，]?\s?而?且)$", re.IGNORECASE)
QUOTED = re.compile(r"[\"“「]([^\"”」]{1,100})[\"”」]")
_QUOTES_FIRST = re.compile(rf"(?:{QUOTED.pattern}(?:\s?(?:,|、|和|and\b)\s?|(?=\s?(?:[.。;:]|$))))+")
_OPENING = re.compile(
    r"^(?:(?:according to|based on|as per|根据|按照|据)[^,:]{1,40}[,:]\s?|(?:i(?: would|'d) |please |you should )?(?:fill in|write|put|insert|enter)\s(?!the\b)|(?:先|再|后|接着|然后|最后)(?=填)|答(?!案)|解(?!析)|还[差有缺]|(?:答案|[两三四五]个?空|[^,，。:：;\n]{1,12}(?=分别[是为]))?(?:依次|分别)(?:填入?|为|是)*|(?:空格?(?:处|中)?)?应?填(?:空|入|写)?(?!充))+\s?:?\s*",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r",?\s+(?:respectively|in (?:that )?order)\W*$", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,100}?)[:.]?\*\*|`([^`\n]{1,100})`")
_A_MARK = re.compile(
    r"\W*(?:(?:blank|空|第|answer)?\W?(?:\d{1,2}|[一二三四五六七八九十①-⑳])\W?[空个]?|[a-h])\W*", re.IGNORECASE
)
_ROW = re.compile(r"\s*\|(.+)\|\s*")
_FOR_THE = re.compile(
    r"(?:^|,\s(?:and\s)?|\band\s|;\s?)[\"“]?([^\"”,;\n]{1,60}?)[\"”]?\s(?:for|in(?:to)?|go(?:es)? in(?:to)?|fills|[-=]>|→)\s(?:the\s)?(first|second|third|fourth|blank \d)\b(?:\s(?:blank|one|gap|space))?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?<=[.!?。！])\s*(?:(?:please )?let me know|i hope|hope th(?:is|at)|feel free|如需|如果?[你您还有]|希望)[^\n]*\s*$",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\s(?:(?:is|are|was|were)\s(\w+)|(?:goes|go|comes|come) (?:in|on)|of (?:them|these|those|which)|here|\w+ (?:it|them))$"
)
_IN_HAN = re.compile(r"[\u3400-\u9fff]+[《“]?")
_JSON = re.compile(r"(?:^|```(?:json)?)\s*([\[{][^`]*[\]}])\s*(?:```|$)")
_AGAINST = re.compile(r"[,;，；]\s?(?:(?:while|whereas)\b|而(?!且|是)|[^,，;；。\n]{0,12}则)[^\n]*$")
_AGAIN = re.compile(
    r"(?P<once>(?:^|[\n;；。]|\.\s)[^,，;；。\n]{1,40})[,，]\s?(?P<sign>\bi\.e\.|\bthat is,|也就是说?|亦?即(?![使便将可刻时]))[^:：;；。\n]*?(?=[;；。\n]|\.?\s*$)"
)
_ASIDE = re.compile(r"\([^()]*\)")
_REASON = re.compile(
    r",\s?(?:因为|由于|because\b|not\b|而不是|而非|rather than\b)[^,;。\n]*?(?=[,;。\n]|\.\s|\.?$)", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*[-*•]\s+", re.MULTILINE)
_CLAUSE_AFTER = re.compile(r"\s?[,，;；]\s?|\s[–—]\s")
_CONTINUES = re.compile(
    r"\b(?:and|or|but|actually|however|rather|instead|then|although|though)\b|[和与及、或但]|不过|其实|而是|然后",
    re.IGNORECASE,
)
_GAP = re.compile(r"_{2,}(?:\s?\([a-z /]+\))?|\(\s*\)|\[\s*\]|【\s*】")


_HINT = re.compile(
    r"(?<=_)\s?[(（](?!\s*[)）])[A-Za-z /,']{1,40}[)）]|[(（][^()（）_]{0,40}[填选用][^()（）_]{0,40}[)）]"
)
_TEMPLATE_END = re.compile(r"[.!?。！？](?=\s|$|[(（])|[。！？\n]|\s?[(（]")
_SENTENCE_START = re.compile(r"[.。!！?？:：;；]\s*")
_REMARK = re.compile(
    r"(?:(?:(?<=\w)\s|(?<=[\u3400-\u9fff]))\([^()]*(?:[^\W\d_]{2}|[A-Z]\d)[^()]*\)|(?<=\w)\([^()]*[\u3400-\u9fff]{2}[^()]*\)|（[^（）]*[^\W\d_]{2}[^（）]*）)$"
)
_LABEL = re.compile(r"([^:：=\d]{1,40}?)(?:\s?[:：=]|(?<=[\u3400-\u9fff])[是为])\s*(?=\S)")
_IN_UNIT = re.compile(r"([-+−]?\d[\d.,/]*)\s?(\D{1,12})")
_SHORTEST = [  # the words before a gap, and of its answer what is enough
    re.compile(
        r"(?:\b(?:by|(?:author|writer|poet|painter|composer|inventor|scientist|president|man|woman|person)\b[^,;.]*)\s*|[人者家师][^,;。]{0,4})\n(?:(?:[A-Z][\w'’.-]* (?:(?:van|von|de|da) )*)+([A-Z][\w'’-]+)|[^·]+·([^·]+))$"
    ),
    re.compile(r"\b(?:in|year)\s*\n(?:on |in )?(?:\d+\w* )?[A-Z][a-z]{2,8} (?:\d+\w*, )?(\d{4})$"),
    re.compile(r"《\s*\n《?([^·《》]+)·[^·《》]+》?$"),
    re.compile(r"\n[A-Z][a-z]*(?:ian|ean|can|rman|ish|ese|iss|nch|tch) ([a-z]{3,})$"),  # Swiss franc
]
_WITHIN_WORD = re.compile(r"[A-Za-z]{2}|\s")
_LIGHT = re.compile(
    r"(?:(?i:there|it|they)\s)?(?:is|are|was|were|has|have)\s(?:\w+(?:ed|en)\s(?:by|in|on|from)\s)?(?=[A-Z\d$€£“\"(]|an?\s|the\s|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)|(?:the )?(?:[介动名连量冠代副]词|形容词|关联词|成语|preposition|verb|noun|adjective|adverb|article|word|number)\s?:?\s?(?=\S)"
    r"|(?:(?:应该|已经|正|则|就|定|一般|人?数)?(?:[位在等]于|[是在为由占约有共仅只达于了]|达到|大约|进行|需?要))+(?=[\d《“一二两三四五六七八九十百])|由(?=[\u3400-\u9fff]{2,4}$)|(?:是?指(?:的是|(?![南纹甲挥标导示]))|意为|意思[是为])(?=[\u3400-\u9fff]{2})|(?![a-z ]*\b(?:below|under|above|minus|over|not|than|least|most)\b)(?:[a-z'’]+ ){1,3}(?=\d[\d.,]*$)"
)
_ROUGHLY = re.compile(r"(?:大?约|about|around|roughly|approximately)\s?(?=\d)", re.IGNORECASE)
_CONCLUDED = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|that is|i\.e\.)|[即故]|所以|因此)[,，]?\s?:\s*|(?:^|[.,\n。，])\W*(?:(?:so|therefore|thus|hence)\b|所以|因此|即)[,，:]?\s*(?=[^\n]*$)"
    r"|\bit should be\s(?=[^\n]*$)|(?:可以|应当?|需要?|要)填[入写上]?(?=[^\n]*$)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:sure|certainly|of course|okay|good question|好的?|当然(?:可以)?|没问题)\s?[,!.。]\s*)?(?:(?:as far as i know|i (?:think|believe)|据我(?:所知|了解)|我(?:认为|觉得|想))[,]?\s*)?"
    r"(?:(?:here (?:are|is)|these are|this is|以下是|这是)[^:\n]{0,40}:\s*|(?:it['’]s|it is|it should be|they are|they should be|是|应该是)\s?(?=\S)"
    r"|(?:the|this) \w+ (?:is|should be|must be) filled(?: in)? with:? |(?:the|this) (?:gap|blank|missing (?:word|term)|word|answer) (?:is|should be|must be):? |空[白格]处?[是为]|(?:这里|此处|空[白格]?处?)?应?该?填(?:的|[入写])?(?!空|充)[:是]?\s?(?=\S)|[^,.。:\n]{1,12}[是为]:\s*)?",
    re.IGNORECASE,
)
_REMARK_LAST = (
    r"(?:\s|(?<=[\u3400-\u9fff\d]))\((?=[^()]*(?:[A-Za-z]+ [A-Za-z]+ [A-Za-z]+|[\u3400-\u9fff\d,]{7}))[^()]*\)\W*$"
)
_END = r"(?-i:(?<![A-Z])(?<!\bSt)(?<!\bMt)(?<!\bDr)(?<!\bMr)(?<!\bMs)(?:[.!]|。)\s*(?=[A-Z(\"“《「\u3400-\u9fff]|\n|$))"
_FIRST_SENTENCE = re.compile(
    rf"[^\n]{{1,200}}?(?={_END}|\n\n|{_REMARK_LAST}| [-–—] |,\s(?:who|which|where|because|since|as)\b|,(?:因为|由于|表示|意为)|$)"
)
_SENTENCE_AFTER = re.compile(_END)
_CONTRASTED = re.compile(r"\bnot\b|n['’]t\b|\bwrong\b|不是|并非|而非", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?P<label>[^:：=]{1,40}?)(?:\s?(?P<sign>[:：](?!\d\d)|→|[-=]>)\s?|\s(?:[-–—]|is|are|was|were|for)\s|(?<=[\u3400-\u9fff])\s?[是为]\s?)(?P<value>(?:[^:：]|:(?=\d\d)){1,80})",
    re.IGNORECASE,
)
_LED = re.compile(
    r":\s|(?<=\w)\s(?:are|were|be|as|with)\s|(?:(?<=[空个项词字处者句种位样])(?:应该?|分别|依次)*[是为]|填[入写上]?|(?:分别|依次)[是为]?)",
    re.IGNORECASE,
)
_LONGEST_PHRASE = 40
_MOST_WORDS = 4
_MOST_SORTED = 6


def fill_gaps(reply: str, question: str, count: int, *, reworded: bool = False) -> list[str] | None:
    """Return what a reply that repeats the sentence with the gaps has in them, in other words where `reworded`; None for another reply.

    >>> fill_gaps("Air holds nitrogen and oxygen.", "Complete: Air holds ____ and ____.", 2)
    ['nitrogen', 'oxygen']
    >>> fill_gaps("最大的是亚洲，最小的是大洋洲。", "面积最大的洲是____，最小的洲是____。", 2, reworded=True)
    ['亚洲', '大洋洲']
    """
    pieces = _GAP.split(half_width(without_hints(question)))
    if len(pieces) != count + 1:
        return None
    pieces[0] = _SENTENCE_START.split(pieces[0])[-1]
    pieces[-1] = _TEMPLATE_END.split(pieces[-1])[0]
    text = _CLOSING.sub("", _BOLD.sub(r"\1\2", without_thoughts(reply)[-LONGEST_VALUE * 10 :]))
    text = _BULLET.sub("", text if _REASON.search(half_width(question)) else _REASON.sub("", text))
    least_share = (REWORDED if count > 1 else REWORDED_ALONE) if reworded else REPEATED
    answers = align(corrected(text), pieces, least_share)
    return answers and _bold_where_begun([answer.strip("_ ") for answer in answers], bold_words(reply))


def without_hints(question: str) -> str:
    """Return a question without what it says about its gaps in brackets: the word to change, the words to choose from.

    >>> without_hints("He ___ (not like) tea."), without_hints("这是____反应（填“吸热”或“放热”）。")
    ('He ___ tea.', '这是____反应。')
    """
    return _HINT.sub("", question[-MOST_CHARACTERS:])


def before_remark(answer: str) -> str:
    """Return an answer without the clause that follows it, unless that continues a list, contrasts or denies.

    >>> before_remark("白雪，有问题可以先找丁峰"), before_remark("red, green and blue")
    ('白雪', 'red, green and blue')
    """
    parts = _CLAUSE_AFTER.split(answer, maxsplit=1)
    is_remark = len(parts) == 2 and len(re.findall(r"[A-Za-z'’]+|[\u3400-\u9fff]", parts[1])) > 2
    return parts[0] if is_remark and not (_CONTINUES.search(parts[1]) or negations(parts[1])) else answer


def without_context(answers: Sequence[str], question: str, *, shortest: bool = False) -> list[str]:
    """Return the answers without the words next to their gaps that they repeat: `100` of `100 °C`, where the question says `___ °C`.

    The `shortest` name of a person that is asked for is the last one, of a moment the year, of a poem its first title.

    >>> without_context(["Zhou", "1918年"], "原名____，写于____年。"), without_context(["100 °C"], "Water boils at ___ °C.")
    (['Zhou', '1918'], ['100'])
    >>> without_context(["Jane Austen", "3 May 1815"], "Emma was written by ____ in ____.", shortest=True)
    ['Austen', '1815']
    """
    pieces = [half_width(piece) for piece in _GAP.split(without_hints(question))]
    if len(pieces) != len(answers) + 1:
        return list(answers)
    around = zip(answers, pieces, pieces[1:], clauses_with_gaps(question), strict=False)
    bare = [_without(answer, before, after, clause.casefold()) for answer, before, after, clause in around]
    return [*map(_shortest, bare, pieces)] if shortest else bare


def _shortest(answer: str, before: str) -> str:
    match = next(filter(None, (form.search(f"{before[-LONGEST_VALUE:]}\n{answer}") for form in _SHORTEST)), None)
    return answer if match is None else match[match.lastindex or 0]


def _without(answer: str, before: str, after: str, asked: str) -> str:
    answer = _ROUGHLY.sub("", answer.strip(" .。;；"), count=1) if _ROUGHLY.match(answer) else answer.strip(" .。;；")
    if (remark := _REMARK.search(answer)) is not None:
        answer = answer[: remark.start()]
    ends = (answer[-size:] for size in range(min(6, len(answer) - 1), 1, -1))
    answer = answer.removesuffix(next((end for end in ends if end in asked and _IN_HAN.fullmatch(end)), ""))
    if (light := _LIGHT.match(answer)) is not None and len(answer) > light.end():
        answer = answer[light.end() :]
    if (label := _LABEL.match(answer)) is not None and label[1].strip().casefold() in asked:
        answer = answer[label.end() :]
    answer = answer.rpartition("=")[2].strip(" $") or answer
    if (amount := _IN_UNIT.fullmatch(answer)) is not None and (unit := read_unit(tidy(amount[2]))) is not None:
        words = tidy(after)
        named = [words[:size] for size in range(1, 5)] + re.findall(r"[A-Za-z]+(?: [A-Z][a-z]+)?", words)[:1]
        answer = amount[1] if unit in [read_unit(word) for word in named if word] else answer
    answer = _without_start(_without_end(answer, after.strip()), before.strip())
    passive = _PASSIVE.search(answer)
    return answer[: passive.start()] if passive and (passive[1] is None or echo(passive[1]) & echo(asked)) else answer


def _without_start(answer: str, before: str) -> str:
    """Return an answer without the most words at its start with which the text before its gap ends."""
    for at in range(min(len(answer) - 1, LONGEST_VALUE), 0, -1):
        start, rest = answer[:at].strip().casefold(), before[: len(before) - len(answer[:at].strip())]
        is_whole = answer[at - 1 : at + 1].find(" ") >= 0 or start in "$€£¥" or (at > 1 and _IN_HAN.fullmatch(start))
        if (
            start
            and is_whole
            and before.casefold().endswith(start)
            and not (start[0].isascii() and rest[-1:].isalpha())
        ):
            return answer[at:].strip()
    return answer


def _without_end(answer: str, after: str) -> str:
    """Return an answer without the most words at its end with which the text after its gap begins."""
    ends = [
        at
        for at in range(1, min(len(after), len(answer) - 1, LONGEST_VALUE) + 1)
        if not _WITHIN_WORD.match(after, at - 1)
    ]
    ends = [at for at in ends if answer.casefold().endswith(after[:at].casefold())]
    return answer[: -ends[-1]].strip() or answer if ends and re.match(r"[\w%‰℃°]", after[ends[-1] - 1]) else answer


def read_settled(reply: str, question: str, count: int) -> list[str] | None:
    """Return the answers that a reply settles in one sentence: in its conclusion, in quotes or at its start; None if in none.

    >>> read_settled("hearing. After that we use the -ing form.", "I look forward to ____ from you.", 1)
    ['hearing']
    >>> read_settled("9² = 81, so: 81, 7", "The square of 9 is ____, the root of 49 ____.", 2)
    ['81', '7']
    """
    text = corrected(without_thoughts(reply)[-MOST_CHARACTERS:].replace("**", "").replace("`", ""))
    if concluded := list(_CONCLUDED.finditer(text)):
        text = text[concluded[-1].end() :]
    plain = _LEAD.sub("", text, count=1)
    first = _FIRST_SENTENCE.match(plain)
    if first is None or (count > 1 and sets_off(reply, count)):
        return None
    asked = half_width(question).casefold()
    quoted = [words.strip(" .,") for words in QUOTED.findall(_ASIDE.sub("", first[0])) if words.casefold() not in asked]
    is_part = bool(concluded) or plain != text or first.end() < len(plain) - 1
    if _CONTRASTED.search(first[0]) is not None:
        return None
    if (opening := _QUOTES_FIRST.match(plain)) is not None and len(quoted) != count:
        quoted = QUOTED.findall(opening[0])
    if len(quoted) == count:
        return quoted
    leads = [lead.end() for lead in _LED.finditer(first[0]) if count > 1]
    lists = [_listed(first[0][end:], question, count, first[0][:end]) for end in (*leads, *[0][:is_part])]
    phrases = next((phrases for phrases in lists if phrases is not None), None)
    return phrases or (fill_gaps(text, question, count, reworded=True) if concluded and count > 1 else None)


def as_list(reply: str) -> str:
    r"""Return a reply in JSON as a numbered or labelled list; another one unchanged.

    >>> as_list('{"blank_1": "NaCl", "blank_2": "H2O"}')
    '1. NaCl\n2. H2O'
    """
    match = _JSON.search(reply[-MOST_CHARACTERS:])
    try:
        value = None if match is None else msgspec.json.decode(match[1])
    except (msgspec.DecodeError, RecursionError):
        return reply
    while isinstance(value, dict | list) and len(value) == 1 and isinstance(_of(value)[0][1], dict | list):
        value = _of(value)[0][1]
    if not isinstance(value, dict | list):
        return reply
    numbers = [re.search(r"\d+", key) for key, _ in _of(value)]
    rows = [(key, _of(item)[-1][1] if isinstance(item, dict | list) and item else item) for key, item in _of(value)]
    marks = [f"{key}:" if number is None else f"{number[0]}." for number, (key, _) in zip(numbers, rows, strict=True)]
    return "\n".join(f"{mark} {item}" for mark, (_, item) in zip(marks, rows, strict=True))


def said_once(text: str, question: str) -> str:
    """Return a text without what says a phrase of it again in other words.

    >>> said_once("Closing time: 19:00, i.e. 7 pm.", "It closes at ____."), said_once("3 × 4, i.e. 12", "3 × 4 = ____")
    ('Closing time: 19:00.', '3 × 4, i.e. 12')
    """
    asked = _pairs(half_width(question))
    return _AGAIN.sub(
        lambda said: said[0] if set() < _pairs(said["once"]) <= asked or said["sign"] in question else said["once"],
        text,
    )


def without_contrast(text: str, question: str) -> str:
    """Return a text without a last clause that sets another thing against what was said of the one asked for.

    >>> without_contrast("It is called a pride, while wolves live in packs.", "A group of lions is called a ____.")
    'It is called a pride'
    """
    match = _AGAINST.search(text)
    if match is None:
        return text
    said, against = (_pairs(part) & _pairs(question) for part in (text[: match.start()], match[0]))
    return text[: match.start()] if against <= said else text


def sets_off(reply: str, count: int) -> bool:
    """True if a reply numbers its answers, or marks as many words as there are gaps."""
    text = without_thoughts(reply)
    return (
        count in (len(bold_words(text)), len(QUOTED.findall(text)))
        or _number_of(text) == 1
        or _inline(text, count) is not None
        or len(_FOR_THE.findall(text)) == count
        or re.match(r"依次|分别", text) is not None
    )


def _listed(text: str, question: str, count: int, lead: str = "") -> list[str] | None:
    """Return the short phrases that a text is made of, one for each gap; None for one with more words, or after a lead that says the sentence in part."""
    phrases = [phrase.strip() for phrase in read_blanks(text, count)]
    asked = _pairs(half_width(question))
    is_label = ":" in lead[:-2] or (_CLAUSE_AFTER.search(lead) is not None and bool(_pairs(lead) & asked))
    if lead and (is_label or any(map(_LED.search, phrases))):
        return None
    bare = [phrase.partition("(")[0] for phrase in phrases]
    is_mixed = count > 1 and any(set() < _pairs(phrase) & asked < _pairs(phrase) for phrase in bare)
    return phrases if all(map(is_phrase, bare)) and not is_mixed else None


def is_phrase(text: str) -> bool:
    """True for a few words that no comma parts, and that are no equation."""
    return (
        0 < len(text) <= _LONGEST_PHRASE
        and len(text.split()) <= _MOST_WORDS
        and not re.search(r"[=→]|[,，;；。(]\D|:(?!\d)", text)
    )


def read_blanks(reply: str, count: int) -> list[str]:
    """Return the answer that a reply gives for each blank; '' where it gives none."""
    text = without_thoughts(reply)
    text = last_boxed(text) or last_announced(text) or text
    bold = bold_words(text)
    text = _of_table(text.replace("**", "").replace("`", "").strip())
    text = _RESPECTIVELY.sub("", _OPENING.sub("", text))
    parts = [part.strip() for part in re.split(r"[\n;]", text) if part.strip()]
    if len(parts) == count + 1 and parts[0].endswith(":") and all(part.startswith(("- ", "* ")) for part in parts[1:]):
        parts = parts[1:]  # and what announces the list is no answer
    if len(parts) > 1 and all(part.startswith(("- ", "* ")) for part in parts):
        parts = [part[2:].strip() for part in parts]
    if (alike := _ALL_ALIKE.fullmatch(text)) is not None:
        return [(alike["quoted"] or alike["plain"]).strip('"“”')] * count
    if count == 1:
        return [_bare(parts[-1], 1) if parts else ""]
    after = {_ORDINALS.get(label.lower()) or int(label[-1]): answer for answer, label in _FOR_THE.findall(text)}
    if sorted(after) == list(range(1, count + 1)):
        return [after[number] for number in sorted(after)]
    if (inline := _inline(text, count)) is not None:
        return [
            next(iter(QUOTED.findall(_ASIDE.sub("", answer))), answer) for answer in _bold_where_begun(inline, bold)
        ]
    for marked in (QUOTED.findall(text), bold):
        if len(marked) == count:
            return list(marked)
    if len(parts) == 1:
        parts = next(
            (
                found
                for said in (text, _ASIDE.sub("", text))
                for sign in _SEPARATORS
                if len(found := re.split(sign, said.strip(' \n.。…"“”'))) == count
            ),
            parts,
        )
    if len(parts) > count and "\n" not in text.strip():
        return [""] * count  # more answers than blanks
    numbered = {_number_of(part): part for part in parts}
    if set(range(1, count + 1)) <= set(numbered):
        parts = [numbered[number] for number in range(1, count + 1)]
    parts = [_SENTENCE_AFTER.split(part)[0] for part in parts]
    answers = [_OPENING.sub("", _bare(part, number)) for number, part in enumerate(parts[:count], 1)]
    return answers + [""] * (count - len(answers))


def clauses_with_gaps(question: str) -> list[str]:
    """Return the clause around each gap of a question.

    >>> clauses_with_gaps("The author of Emma is ____, and that of Jane Eyre is ____.")
    ['The author of Emma is ____', 'and that of Jane Eyre is ____']
    """
    clauses = re.split(r"[,;.!?，；。！？]\s*", half_width(without_hints(question)))
    return [clause for clause in clauses for _ in _GAP.findall(clause)]


def without_labels(answers: Sequence[str], question: str) -> list[str] | None:
    """Return the values of answers that each name what they are, in the order of the gaps; None for other answers.

    >>> without_labels(["Mercury is the smallest", "Jupiter is the largest"], "The largest planet is ____, the smallest ____.")
    ['Jupiter', 'Mercury']
    """
    pieces = [*map(echo, _GAP.split(half_width(without_hints(question))))]
    halves = [_LABELLED.fullmatch(answer.strip(" -*.。")) for answer in answers]
    if len(pieces) != len(answers) + 1 or any(half is None or negations(half[0]) for half in halves):
        return None
    known = set().union(*pieces)
    sides = [
        half.group("value", "label")
        if not half["sign"] and set() < echo(half["value"]) <= known and not set() < echo(half["label"]) <= known
        else half.group("label", "value")
        for half in halves
        if half is not None
    ]
    clauses = [*map(echo, clauses_with_gaps(question))]
    shared = [
        [
            (len(echo(label) & clause), len(echo(label) & before), len(echo(label) & after))
            for clause, (before, after) in zip(clauses, pairwise(pieces), strict=False)
        ]
        for label, _ in sides
    ]
    if len(shared) > _MOST_SORTED or len(clauses) != len(shared):
        return None
    fits = {
        order: [*map(sum, zip(*(row[at] for row, at in zip(shared, order, strict=True)), strict=True))]
        for order in permutations(range(len(shared)))
    }
    best = max(fits, key=lambda order: fits[order])
    is_told = all(
        (half is not None and half["sign"]) or any(row[at]) for half, row, at in zip(halves, shared, best, strict=True)
    )
    told_by = 1 if len({frozenset(clause) for clause in clauses}) == len(clauses) else 3
    is_open = [*best] != sorted(best) and sum(fit[:told_by] == fits[best][:told_by] for fit in fits.values()) > 1
    return [sides[best.index(index)][1] for index in range(len(sides))] if is_told and not is_open else None


def _pairs(text: str) -> set[str]:
    """Return the longer words of a text, and the pairs of Chinese characters that follow each other."""
    return {match[0] or match[1] for match in re.finditer(r"[a-z]{4,}|\d+|(?=([\u3400-\u9fff]{2}))", text.casefold())}


def _of(value: dict[str, object] | list[object]) -> list[tuple[str, object]]:
    return [*value.items()] if isinstance(value, dict) else [(str(at), item) for at, item in enumerate(value, 1)]


def _bold_where_begun(answers: Sequence[str], bold: Sequence[str]) -> list[str]:
    """Return each answer, or the only bold words in it: `100` of `**100** bpm`."""
    held = [[words for words in bold if re.search(rf"(?<!\w){re.escape(words)}(?!\w)", answer)] for answer in answers]
    return [words[0] if len(words) == 1 else answer for answer, words in zip(answers, held, strict=True)]


def bold_words(text: str) -> list[str]:
    """Return the words that are bold or formatted as code, without those that number the blanks."""
    marked = [match[1] or match[2] for match in _BOLD.finditer(text[-MOST_CHARACTERS:])]
    numbers = [str(number) for number in range(1, len(marked) + 1)]
    if all(map(str.isdecimal, marked)) and marked != numbers:
        return marked
    return [words for words in marked if not _A_MARK.fullmatch(words)]


def _of_table(text: str) -> str:
    """Return the last cells of a table by line, without its head; another text unchanged."""
    rows = [_ROW.fullmatch(line) for line in text.splitlines() if line.strip()]
    cells = [row[1].split("|")[-1].strip() for row in rows if row is not None]
    if len(cells) < 3 or len(cells) < len(rows) or set(cells[1]) - set(":- "):
        return text
    return "\n".join(cells[2:])


def _inline(text: str, count: int) -> list[str] | None:
    """Return the answers of a reply that numbers each of them, in one line or several; None when it does not."""
    every = list(_INLINE.finditer(text[-MOST_CHARACTERS:]))
    alike = [mark for mark in every if mark.lastindex == every[0].lastindex]  # numbers after `Blank 1:` are no marks
    marks = next((marks for marks in (every, alike) if sorted(map(_place_of, marks)) == [*range(1, count + 1)]), None)
    if marks is None:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text[-MOST_CHARACTERS:])]
    answers = {
        number: _JOIN.sub("", text[-MOST_CHARACTERS:][mark.end() : end].strip()).rstrip(",;。、.").strip()
        for number, mark, end in zip(map(_place_of, marks), marks, ends, strict=True)
    }
    return [_SENTENCE_AFTER.split(answers[number].split("\n")[0])[0] for number in range(1, count + 1)]


def _place_of(found: re.Match[str]) -> int:
    mark = next(group for group in found.groups() if group).lower()
    if mark[0] in _CIRCLED:
        return int(unicodedata.numeric(mark))
    return _ORDINALS.get(mark) or ("abcdefgh".index(mark) + 1 if mark in "abcdefgh" else int(mark))


def _number_of(part: str) -> int | None:
    numbered = _NUMBERED.match(part)
    return None if numbered is None else _place_of(numbered)


def _bare(part: str, place: int) -> str:
    """Return an answer without its own number."""
    numbered = _NUMBERED.match(part)
    rest = part[numbered.end() :].strip() if numbered is not None and _place_of(numbered) == place else ""
    return rest or part
