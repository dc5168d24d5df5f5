"""Read the letters of the options that a reply chooses."""

import re

from proctor.answer_matching.marked_answers import last_boxed, without_thoughts
from proctor.answer_matching.sentences import corrected

_MARK = (
    r"(?:(?i:\b(?:final|correct|right|best)?\s{0,3}(?:answers?|(?<=correct\s)(?:options?|choices?))"
    r"|(?<!not\s)(?<!n't\s)\b(?:choose|select|pick|go\s+with))"
    r"|答案|结论|正确(?:的)?(?:选项|说法)?(?=[应是为有:])|(?<!不)(?<!不能)(?<!不应)选(?!项)择?|而是)"
)
_LINK = (
    r"[\s*_`\"'“”‘’:】)\]–—-]{0,6}(?:(?i:\b(?:is|are|was|would\s+be|should\s+be|must\s+be)\b)|应该是|应该为|应为|应是|应选|应该选|就是|是|为|有|选)?"
    r"[\s*_`\"'“”‘’:]{0,6}(?:(?i:(?:both\s+|the\s+)?(?:options?|choices?|letters?)\s+)|选项)?[\s*_`\"'“”‘’(\[【{「<]{0,6}"
)
_BETWEEN = r"[\s)\]】}>*_`]{0,3}(?:,\s?(?i:and|or)\b|[,;/&+、.]|和|与|及|以及|或|(?i:\band\b|\bor\b))[\s(\[【{<*_`]{0,3}|[ \t]{1,3}"
_EDGE = r"(?![A-Za-z'’])"
_OR = re.compile(r"\bor\b|或|还是", re.IGNORECASE)
_ITEM = r"(?<![A-Za-z\\])[{options}](?:(?:(?:\s?[/&、]\s?|和|与|及|或)[{options}]){{1,8}}|(?:(?:\s?,\s?|,?\s(?:and|or|nor)\s)[{options}]){{0,8}})(?![A-Za-z'’])[)\]】}}*_`]{{0,3}}"
_DENYING = (
    r"(?:(?i:\b(?:not|never|neither|nor|rul(?:e|ed|ing)\s+out|exclud(?:e|ed|es|ing)|eliminat(?:e|ed|es|ing)|anything\s+but|except|between|(?:first|initially|originally)\s+(?:thought|considered|guessed)(?:\s+of|\s+it\s+was)?|doubts?(?:\s+that)?(?:\s+it\s+is|\s+it['’]s)?|"
    r"(?:other|rather)\s+than|instead\s+of|reject|whether|if|(?:could|might|may)\s+be)|n['’]t)(?:\s+(?:be|think|believe|choose|pick|select|say|that|it\s+is|it['’]s)){0,4}"
    r"\s+(?:be\s+)?(?:(?:option|choice|answer)\s+)?(?:the\s+answer\s+is\s+)?|"
    r"(?:不(?:应该?|能|可能|会|要|该)?[是选]|排除(?:了|掉)?|除了?|可能(?:是|选)|并非|而非|不认为(?:是|选)?)\s*(?:选项)?)[(\[*_`\"“]{0,3}"
)
_DENIED = (
    r"\s*(?:(?i:(?:is|are|was|were|seems?|looks?|would\s+be|can\s?(?:not)?\s+be|both|all)\s+){0,2}(?:(?i:clearly|definitely|obviously|also|both|all)\s+){0,2}"
    r"(?i:not\b|(?:could|might|may)\s+(?:also\s+)?(?:be|work)\b|[.:)]\s*(?:wrong|incorrect|false|not\b)|(?:is|are|was|were|ca|could|wo)n['’]t\b|cannot\b|one\s(?:possibility|option|candidate)|wrong|incorrect|false|too\s\w+|impossible|ruled\s+out|eliminated|excluded|invalid|"
    r"(?:seems?|looks?|sounds?|appears?|is)\s[^.,;\n]{0,40},?\sbut\b|(?:is|are)\s+the\s[^.,;\n]{0,40}\b(?:exclude|eliminate|rule\s+out|reject|drop)|(?:can|must|should)\s+be\s+(?:ruled\s+out|eliminated|excluded))|"
    r"(?:选?项)?(?:是|的说法|说法|描述|表述|都|均|也|为|显然|明显|可以){0,3}(?:错|不对|不正确|不可能|不符|不成立|不一定|与[^,。;]{1,10}(?:不符|矛盾|无关)|有误|都可以|都行|[.:、)]\s*(?:错误|不正确|不对)|排除|不[选是](?!\s*[A-Z])))"
)
_RIGHT = (
    r"\s*(?:(?i:[.:)]\s*(?:right|correct|true)\b|[.:、)]\s*(?:正确|对)(?=\W)|(?:is|are|was|were|must\s+be|should\s+be)\s+(?:(?:both|all|clearly|definitely|indeed)\s+)?"
    r"(?:correct|right|true\b|the\s+(?:\w+\s+)?(?:answer|option|choice|one\b)))|(?:选?项|[两三四]项|[两三四]个)?(?:选项|是|的说法|说法|描述|表述|都|均|也|为){0,3}(?:正确|对的?(?![比应])|符合))"
)
_FIRST = r"[\s*_`(\[【]{{0,4}}([{options}]+)[*_`]{{0,2}}[)\]】]?(?:[,，:;。.]|\s*[-–—(]|\s(?:because|since|as)\b|\s*(?:因为|理由|解析))"
_TAGGED = re.compile(
    r"<answer>\s*(.{1,200}?)\s*</answer>|\{\s*\"(?:final_?)?answer\"\s*:\s*(.{1,200}?)\}", re.IGNORECASE
)
_DOUBTED = re.compile(
    r"(?i:\b(?:whether|doubt|n['’]t\s+(?:think|believe)|wrong\s+to|if)\b)[^.!?。！？\n]{0,60}$|(?:是否|不认为|怀疑)[^。！？\n]{0,30}$"
)
_ASKED = re.compile(r"[^.!?。！？\n]{0,200}[?？]")
_TAIL = 200_000  # characters at the end of a reply that are looked at
_LONGEST = 20_000  # characters of a reply whose denials are read
_BEFORE = re.compile(
    r"(?:^|[^\w\s°+#%&'’-]\s*|[\u3400-\u9fff]\s?|\n\s*|\b(?:is|are|be|was|it['’]s|choose|chose|pick|picked|select|selected|say|said|think|guess|believe|with|"
    r"for|clearly|obviously|definitely|certainly|surely|options?|choices?|letters?|answers?|prefer|therefore|thus|so|hence|only|both|and|or|but|to|remains|leaves|either)\s+)$",
    re.IGNORECASE,
)  # what may precede a letter that stands alone in a sentence: not `20 °C`, `the C major scale`
_AFTER = re.compile(
    r"[*_`)\]】}\"”'’$]{0,3}(?:$|[.,;:!?、。，；：\n)(-](?![A-Za-z\d])|\s?[选项是对正错不为和与及最因符应该较也都均更才吧呢即]|\s+(?:is|are|was|it|would|seems?|looks?|must|should|will|can|has|have|because|as|since|remains?|fits?|and|or|"
    r"best|only|for|describes?|matches|makes|alone|too|again|then|if|here|(?!=)\W))",
    re.IGNORECASE,
)
_REASON = re.compile(r",?\s(?:as|since|because|while|whereas)\s", re.IGNORECASE)
_NAMED = re.compile(
    r"\b(?:an?|vitamin|plan|hepatitis|influenza|point|grade|side|team|type|group|class|section|figure|fig\.|part|note|note|step|"
    r"column|row|node|city|town|station|gate|room|hall|block|angle|line|player|person|company|product|variable|matrix|set)\s$|(?:维生素|肝炎|计划|方案|血型|型|点|队|班|组)\s?$",
    re.IGNORECASE,
)  # Vitamin B
_WORD = re.compile(" [a-z]")
_WITHIN = re.compile(r"[a-z,]\s$")
_VERB = re.compile(r" (?:and|or|is|because|since|as)\b")


def read_letters(reply: str, options: str = "ABCDEFGH") -> str | None:
    """Return the option letters that a reply gives as its answer, each once and in order; None if it gives none.

    In this order: a box or tag, a reply of letters alone, the last announcement (`答案是 A、C`, `The answer is AC`, `选B`), a
    first line of letters alone, the options called right, the one option at the start of a line (`B. Paris`), the letters that
    stand alone in the last line or in the reply. Options called wrong, questions and what was corrected do not count; `A or B`
    is no answer.

    >>> read_letters("答案是 A、C"), read_letters("The answer is AC"), read_letters("选B"), read_letters("Ｂ"), read_letters("No idea")
    ('AC', 'AC', 'B', 'B', None)
    >>> read_letters("It is C, not B."), read_letters("Not A"), read_letters("C\\n\\nExplanation: A is wrong."), read_letters("A or B")
    ('C', None, 'C', None)
    """
    text = without_thoughts(reply)[-_TAIL:]
    group = _group(options)
    tagged = [match[1] or match[2] for match in _TAGGED.finditer(text[-_LONGEST:])]
    for inside in (last_boxed(text), *tagged[-1:], text):
        if inside is not None and (found := _alone(inside, group)) is not None:
            return found or None
    text = corrected(text) if len(text) <= _LONGEST else text
    item = _ITEM.format(options=options)
    plain = (
        re.sub(_DENYING + item + "|" + item + _DENIED, " ", _ASKED.sub(" ", text)) if len(text) <= _LONGEST else text
    )
    if (found := _after_mark(plain, group)) is not None:
        return found or None
    lines = plain.strip(" ,，。;\n").splitlines() or [""]
    if (found := _alone(lines[0], group)) is not None and not (len(lines) > 1 and _alone(lines[-1], group)):
        return found or None
    if (found := _alone(plain.strip(" ,，。;\n"), group)) is not None:
        return found or None
    if right := [match[0] for match in re.finditer(item + f"(?={_RIGHT})", plain)]:
        return None if any(map(_OR.search, right)) else _each("".join(right))
    starts: dict[str, None] = dict.fromkeys(
        re.findall(rf"^[\s*_`(\[]{{0,4}}([{options}])[*_`]{{0,2}}[.、:)\]](?!\w\.)", plain, re.MULTILINE)
    )
    if (
        len(starts) > 1
        and len(starts) == len([line for line in lines if line.strip()])
        and list(starts) == sorted(starts)
    ):
        return "".join(starts) if len(starts) < min(len(options), 4) else None  # options by line, but not all of them
    if (first := re.match(_FIRST.format(options=options), plain)) is not None and _in_order(first[1]):
        return None if _OR.match(plain[first.end() :].lstrip()) else _each(first[1])
    if len(starts) == 1:
        return next(iter(starts))
    last = plain.rstrip().rpartition("\n")[2]
    return _only(last, group) or _only(plain, group) or _only(_REASON.split(last, maxsplit=1)[0], group)


def letter_groups(text: str, options: str = "ABCDEFGH") -> list[str]:
    """Return every group of option letters in a text, wherever it is."""
    return [_each(match[0]) for match in re.finditer(_group(options), text) if not _is_article(text, match)]


def _group(options: str) -> str:
    return rf"(?<![A-Za-z\\])[{options}]+{_EDGE}(?:(?:{_BETWEEN})[{options}]+{_EDGE})*"


def _alone(text: str, group: str) -> str | None:
    """Letters and nothing else, but for brackets, marks and a full stop; here small letters count too. '' for `A or B`."""
    if len(text) > 200:
        return None
    text = " ".join(text.upper().split())
    text = re.sub(r"\)\s?\(", ",", text)  # (B)(D)
    text = re.sub(r"[\"“”']\s?,\s?[\"“”']|\s-\s", ",", text)  # ["A", "C"], - A - C
    match = re.fullmatch(
        rf"(?:OPTIONS?\s|CHOICES?\s|BOTH\s|选项)?[\s*_`\"'“”(\[【{{<-]*({group})[\s*_`\"'“”)\]】}}>.。,;!]*(?:选?项)?",
        text,
    )
    return None if match is None else "" if _OR.search(match[1]) else _each(match[1])


def _after_mark(text: str, group: str) -> str | None:
    found = None
    for match in re.finditer(rf"{_MARK}{_LINK}({group})", text):
        if not _is_article(text, match, 1) and not _DOUBTED.search(text[max(0, match.start() - 80) : match.start()]):
            found = match[1]
    if found is None:
        small: list[str] = re.findall(rf"{_MARK}{_LINK}({group.lower()})[)\]】}}*_`\"'”]*[.。,;]?\s*(?:\n|$)", text)
        found = small[-1] if small else None
    return None if found is None else "" if _OR.search(found) else _each(found.upper())


def _only(text: str, group: str) -> str | None:
    """Return the one group of letters that stands alone in a text; different ones are no answer."""
    found = {
        _each(match[0])
        for match in re.finditer(group, text)
        if not _is_article(text, match)
        and _BEFORE.search(text[max(0, match.start() - 20) : match.start()])
        and _AFTER.match(text[match.end() : match.end() + 20])
        and not _NAMED.search(text[max(0, match.start() - 20) : match.start()])
        and (not (match[0].isascii() and match[0].isalpha()) or _in_order(match[0]))
    }
    return (
        found.pop() if len(found) == 1 and not any(_OR.search(match[0]) for match in re.finditer(group, text)) else None
    )


def _in_order(found: str) -> bool:
    """As options are listed, and most words in capitals are not: `ABD`, but not `BAD`."""
    return list(found) == sorted(set(found))


def _is_article(text: str, match: re.Match[str], group: int = 0) -> bool:
    """True for the English word, as in `A dog` and `I am`; a capital A within a sentence is an option: `only A fits`."""
    behind = text[match.end(group) : match.end(group) + 9]
    inside = match[group] == "A" and _WITHIN.search(text[: match.start(group)][-12:]) is not None
    return match[group] in ("A", "I") and not inside and bool(_WORD.match(behind)) and not _VERB.match(behind)


def _each(found: str) -> str:
    listed = re.sub(r"\b(?:AND|OR)\b", " ", found.upper())
    return "".join(dict.fromkeys(sign for sign in listed if sign.isalpha() and sign.isascii()))
