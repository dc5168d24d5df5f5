"""Find what a reply gives as its answer: the letters of options, or the text behind the last announcement."""

import re

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_THOUGHT = "</think>"
_BOX = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")
_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|rm|bf)\s?\{?|[{}$]")
_ANNOUNCED = re.compile(
    r"(?:答案|结论|(?i:\b(?:answers?|conclusion)))(?:[*_`\s]{0,4}(?:应该是|应为|应是|就是|是|为|(?i:\b(?:is|are)\b))[*_`\s]{0,4}[:]?|[*_`\s]{0,4}:)"
)
_MARK = (
    r"(?:(?i:\b(?:final|correct|right|best)?\s{0,3}(?:answers?|(?<=correct\s)(?:options?|choices?))"
    r"|(?<!not\s)(?<!n't\s)\b(?:choose|select|pick|go\s+with))"
    r"|答案|结论|正确(?:的)?(?:选项|说法)?(?=[应是为有:])|(?<!不)(?<!不能)(?<!不应)选(?!项)择?|而是)"
)
_LINK = (
    r"[\s*_`\"'“”‘’:]{0,6}(?:(?i:\b(?:is|are|was|would\s+be|should\s+be|must\s+be)\b)|应该是|应该为|应为|应是|应选|应该选|就是|是|为|有|选)?"
    r"[\s*_`\"'“”‘’:]{0,6}(?:(?i:(?:both\s+|the\s+)?(?:options?|choices?|letters?)\s+)|选项)?[\s*_`\"'“”‘’(\[【{「<]{0,6}"
)
_BETWEEN = r"[\s)\]】}>*_`]{0,3}(?:[,;/&+、.]|和|与|及|以及|或|(?i:\band\b|\bor\b))[\s(\[【{<*_`]{0,3}|[ \t]{1,3}"
_EDGE = r"(?![A-Za-z'’])"
_WORD = re.compile(" [a-z]")
_VERB = re.compile(r" (?:and|or|is)\b")


def normal(text: str) -> str:
    """Full-width letters, digits and signs as the usual ones; other characters stay as they are.

    >>> normal("Ａ：１")
    'A:1'
    """
    return text.translate(_FULL_WIDTH)


def said(reply: str) -> str:
    """The reply in usual signs, without what was thought aloud in it."""
    return normal(reply.rpartition(_THOUGHT)[2]).strip()


def boxed(text: str) -> str | None:
    """What stands in the last `\\boxed{…}`, bare; None without one.

    >>> boxed(r"So \\boxed{\\text{AC}}."), boxed("none")
    ('AC', None)
    """
    openings = list(_BOX.finditer(text))
    if not openings:
        return None
    start = openings[-1].end()
    depth = 1
    for place, sign in enumerate(text[start:], start):
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return _COMMAND.sub("", text[start:place]).strip()
    return None


def announced(text: str) -> str | None:
    """What stands behind the last `答案是`, `答案：`, `Answer:` or `the answer is`; None without one."""
    found = list(_ANNOUNCED.finditer(text))
    return text[found[-1].end() :].strip() if found else None


def letters(reply: str, options: str = "ABCDEFGH") -> str | None:
    """The option letters a reply gives as its answer, each once, in its order; None when it gives none.

    In this order: a box, a reply of letters alone, the last announcement (`答案是 A、C`, `The answer is AC`, `选B`), the
    one option at the start of a line (`B. Paris`), the letters that stand alone in the last line or in the reply.

    >>> letters("答案是 A、C"), letters("The answer is AC"), letters("选B"), letters("Ｂ"), letters("No idea")
    ('AC', 'AC', 'B', 'B', None)
    """
    text = said(reply)
    group = _group(options)
    if (inside := boxed(text)) is not None and (found := _alone(inside, group)):
        return found
    if found := _alone(text, group):
        return found
    if found := _behind_mark(text, group):
        return found
    starts: dict[str, None] = dict.fromkeys(
        re.findall(rf"^[\s*_`(\[]{{0,4}}([{options}])[*_`]{{0,2}}[.、:)\]](?!\w\.)", text, re.MULTILINE)
    )
    if len(starts) == 1:
        return next(iter(starts))
    last = text.rpartition("\n")[2]
    return _only(last, group) or _only(text, group)


def _group(options: str) -> str:
    return rf"(?<![A-Za-z\\])[{options}]+{_EDGE}(?:(?:{_BETWEEN})[{options}]+{_EDGE})*"


def _alone(text: str, group: str) -> str | None:
    """Letters and nothing else, but for brackets, marks and a full stop; here small letters count too."""
    if len(text) > 200:
        return None
    text = " ".join(text.upper().split())
    match = re.fullmatch(rf"[\s*_`\"'“”(\[【{{<]*({group})[\s*_`\"'“”)\]】}}>.。,;]*", text)
    return _each(match[1]) if match else None


def _behind_mark(text: str, group: str) -> str | None:
    found = None
    for match in re.finditer(rf"{_MARK}{_LINK}({group})", text):
        if not _is_article(text, match, 1):
            found = match[1]
    if found is None:
        small: list[str] = re.findall(rf"{_MARK}{_LINK}({group.lower()})[)\]】}}*_`\"'”]*[.。,;]?\s*(?:\n|$)", text)
        found = small[-1] if small else None
    return _each(found.upper()) if found is not None else None


def _only(text: str, group: str) -> str | None:
    """The one group of letters that stands alone in a text; different ones are no answer."""
    found = {
        _each(match[0])
        for match in re.finditer(group, text)
        if not _is_article(text, match) and (not match[0].isalpha() or _in_order(match[0]))
    }
    return found.pop() if len(found) == 1 else None


def _in_order(found: str) -> bool:
    """As options are listed, and most words in capitals are not: `ABD`, but not `BAD`."""
    return list(found) == sorted(set(found))


def _is_article(text: str, match: re.Match[str], group: int = 0) -> bool:
    """Whether these letters are the English word, as in "A dog"."""
    behind = text[match.end(group) : match.end(group) + 5]
    return match[group] == "A" and bool(_WORD.match(behind)) and not _VERB.match(behind)


def _each(found: str) -> str:
    listed = re.sub(r"\b(?:AND|OR)\b", " ", found.upper())
    return "".join(dict.fromkeys(sign for sign in listed if sign.isalpha() and sign.isascii()))
