"""Find the answer for each blank of a question in a reply: in a list, a table, bold words, numbers within a line, or the completed sentence."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from proctor_judging.matching.gap_alignment import align
from proctor_judging.matching.marked_answers import half_width, last_announced, last_boxed, without_thoughts
from proctor_judging.matching.sentences import corrected
from proctor_judging.matching.text import negations, tidy
from proctor_judging.matching.unit_table import read_unit

MOST_CHARACTERS = 20_000  # of a reply in which marks within a line are looked for
LONGEST_VALUE = 200
REPEATED, REWORDED, REWORDED_ALONE = (
    0.75,
    0.4,
    0.5,
)  # shares of the words of a sentence that a reply has in common with it
_ORDINALS = {name: place for place, name in enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], 1)}
_ORDINALS |= {name: place for place, name in enumerate("一二三四五六七八九十", 1)}
_ORDINALS |= {name: place for place, name in enumerate(["one", "two", "three", "four", "five"], 1)}
_ORDINALS |= {name: place for place, name in enumerate(["1st", "2nd", "3rd", "4th", "5th"], 1)}
_ORDINALS |= {name: place for place, name in enumerate(["i", "ii", "iii", "iv", "v"], 1)}
_MARK = (
    r"(?:\((\d{1,2}|[一二三四五六七八九十])\)|\[(\d{1,2})\]|(\d)-(?=[A-Za-z\u3400-\u9fff])|\(?([a-h])\)|(?:第\s?(\d{1,2}|[一二三四五六七八九十])\s?个?[空个格处]格?|填?空格?\s?(\d{1,2}|[一二三四五六七八九十])|([一二三四五六七八九十])空|(?:blank|gap)\s?[#(]{0,2}(\d{1,2}|one|two|three|four|five)\)?"
    r"|(?:the\s)?(first|second|third|fourth|fifth|sixth|1st|2nd|3rd|4th|5th)(?:\s(?:blank|one|space|gap|word|answer)(?=\W)|:|(?=\s(?:is|should|must|as)\b)))\s?(?:应?填[入写]?|应?该?[为是]|(?:should be|is|=|-(?=\s))\s?)?:?|(\d{1,2})[.、:)](?!\d)|([一二三四五六七八九十])、|\(?(iv|v|i{1,3})[.、)]|([①-⑳⑴-⒇]))(?:\s?(?::|=(?!=)|[-=]>|→))?"
)
_NUMBERED = re.compile(rf"^[-\s]*{_MARK}\s*", re.IGNORECASE)
_INLINE = re.compile(rf"(?<![A-Za-z0-9.^_({{]){_MARK}\s*|(?<=[\u3400-\u9fff\s\w])([①-⑳⑴-⒇])\s*", re.IGNORECASE)
_CIRCLED = frozenset(map(chr, [*range(0x2460, 0x2474), *range(0x2474, 0x2488)]))
_SEPARATORS = (
    r",?\s(?:and\s)?then\s",
    r"\s?(?:…{1,2}|\.{3,6})\s?",
    r",\s+",
    r",?\s+and\s+|,|、|[以和]?及|和",
    ",",
    "、",
    r"\.\s+(?=[A-Z])|。(?=.)",
    r"\s[|/–—]\s",
    r"\s+(?:and|和)\s+|[和与及]",
    r"(?<=\d)\s?[-–—~～至]\s?(?=\d)",
    r"\s+",
)
_JOIN = re.compile(r"(?:,?\s+and|[,，]?\s?而?且)$", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“「]([^\"”」]{1,100})[\"”」]")
_OPENING = re.compile(
    r"^(?:(?:i (?:would|'d) |please |you should )?(?:fill in|write|put|insert|enter)\s(?!the\b)|(?:先|再|接着|然后|最后)(?=填)|答(?!案)|解(?!析)|(?:答案|[两三四五]个?空|[^,，。:：;\n]{1,12}(?=分别[是为]))?(?:依次|分别)(?:填入?|为|是)*|(?:空格?(?:处|中)?)?应?填(?:空|入|写)?(?!充))+\s?:?\s*",
    re.IGNORECASE,
)
_ANSWERS_ARE = re.compile(
    r"^(?:the|these|they)(?: [a-z]+){0,4} are:?,?\s+|^(?:the )?(?:correct |missing |right )?(?:answers?|words?|blanks?|terms?|values?|numbers?)(?: (?:for|in|to|that fill) the blanks?)? (?:are|is)(?:, in order)?(?: respectively)?:?,?\s+|^_{2,}\s*[=:]\s*",
    re.IGNORECASE,
)
_RESPECTIVELY = re.compile(r",?\s+(?:respectively|in (?:that )?order)\W*$", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,100}?)[:.]?\*\*|`([^`\n]{1,100})`")
_ROW = re.compile(r"\s*\|(.+)\|\s*")
_FOR_THE = re.compile(
    r"(?:^|,\s(?:and\s)?|\band\s|;\s?)[\"“]?([^\"”,;\n]{1,60}?)[\"”]?\s(?:for|in(?:to)?|goes in(?:to)?|fills|[-=]>|→)\s(?:the\s)?(first|second|third|fourth|blank \d)\b(?:\s(?:blank|one|gap|space))?",
    re.IGNORECASE,
)
_FIRST_THEN = re.compile(
    r"(?:先|前一?个?空)(?:应?填)?([^,;先]{1,40}?)[,;]?\s?(?:然后|再|后一?个?空|后)(?:应?填)?([^,;]{1,40}?)[。.]?"
)
_CLOSING = re.compile(
    r"(?<=[.!?。！])\s*(?:(?:please )?let me know|i hope|hope th(?:is|at)|feel free|如需|如果?[你您还有]|希望)[^\n]*\s*$",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"\b(?:and|or|but|actually|however|rather|instead|then|although|though)\b|[和与及、或但]|不过|其实|而是|然后",
    re.IGNORECASE,
)
_CLAUSE_AFTER = re.compile(r"\s?[,，;；]\s?|\s[–—]\s")
_GAP = re.compile(r"_{2,}(?:\s?\([a-z /]+\))?|\(\s*\)|\[\s*\]|【\s*】")


_TEMPLATE_END = re.compile(r"[.!?。！？](?=\s|$|[(（])|[。！？\n]|\s?[(（]")
_SENTENCE_START = re.compile(r"[.。!！?？:：;；]\s*")
_LABEL = re.compile(r"([^:：=\d]{1,40})\s?[:：=]\s*(?=\S)")
_IN_UNIT = re.compile(r"([-+−]?\d[\d.,/]*)\s?(\D{1,12})")
_NEXT_WORDS = re.compile(r"[°%]?[A-Za-z]{1,20}[\u3400-\u9fff]{0,3}|[°%]?[\u3400-\u9fff]{1,4}")
_ROUGHLY = re.compile(r"(?:大?约|about|around|roughly|approximately)\s?(?=\d)", re.IGNORECASE)
_CONCLUDED = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|that is|i\.e\.)|[即故]|所以|因此)[,，]?\s?:\s*|(?:^|[.,\n。，])\W*(?:(?:so|therefore|thus|hence)\b|所以|因此|即)[,，:]?\s*(?=[^\n]*$)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:sure|certainly|of course|okay|good question|好的?|当然(?:可以)?|没问题)\s?[,!.。]\s*)?(?:(?:as far as i know|i (?:think|believe)|据我(?:所知|了解)|我(?:认为|觉得|想))[,]?\s*)?"
    r"(?:(?:here (?:are|is)|these are|this is|以下是|这是)[^:\n]{0,40}:\s*|(?:it['’]s|it is|it should be|they are|they should be|是|应该是)\s?(?=\S)"
    r"|(?:the|this) \w+ (?:is|should be|must be) filled(?: in)? with:? |(?:the|this) (?:gap|missing (?:word|term)|word|answer) (?:is|should be|must be):? |空[白格]处?[是为]|(?:这里|此处|空[白格]?处?)?应?该?填(?:的|[入写])?(?!空|充)[:是]?\s?(?=\S)|[^,.。:\n]{1,12}[是为]:\s*)?",
    re.IGNORECASE,
)
_REMARK_LAST = (
    r"(?:\s|(?<=[\u3400-\u9fff\d]))\((?=[^()]*(?:[A-Za-z]+ [A-Za-z]+ [A-Za-z]+|[\u3400-\u9fff\d,]{7}))[^()]*\)\W*$"
)
_END = r"(?-i:(?<![A-Z])(?:[.!]|。)\s*(?=[A-Z(\"“《「\u3400-\u9fff]|\n|$))"
_FIRST_SENTENCE = re.compile(
    rf"[^\n]{{1,200}}?(?={_END}|\n\n|{_REMARK_LAST}|\s[–—]\s|,\s(?:who|which|where|because|since|as)\b|,(?:因为|由于|表示|意为)|$)"
)
_SENTENCE_AFTER = re.compile(_END)
_CONTRASTED = re.compile(r"\bnot\b|n['’]t\b|\bwrong\b|不是|并非|而非", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?P<label>[^:：=]{1,40}?)(?:\s?[:：]\s?|\s(?:is|are|was|were|for)\s|(?<=[\u3400-\u9fff])[是为])(?P<value>[^:：]{1,80})",
    re.IGNORECASE,
)
_LONGEST_PHRASE = 40
_MOST_WORDS = 4


def fill_gaps(reply: str, question: str, count: int, *, reworded: bool = False) -> list[str] | None:
    """Return what a reply that repeats the sentence with the gaps has in them, in other words where `reworded`; None for another reply.

    >>> fill_gaps("Air holds nitrogen and oxygen.", "Complete: Air holds ____ and ____.", 2)
    ['nitrogen', 'oxygen']
    >>> fill_gaps("最大的是亚洲，最小的是大洋洲。", "面积最大的洲是____，最小的洲是____。", 2, reworded=True)
    ['亚洲', '大洋洲']
    """
    pieces = _GAP.split(half_width(question))
    if len(pieces) != count + 1:
        return None
    pieces[0] = _SENTENCE_START.split(pieces[0])[-1]
    pieces[-1] = _TEMPLATE_END.split(pieces[-1])[0]
    text = _CLOSING.sub("", _BOLD.sub(r"\1\2", without_thoughts(reply)[-LONGEST_VALUE * 10 :]))
    least_share = (REWORDED if count > 1 else REWORDED_ALONE) if reworded else REPEATED
    answers = align(corrected(text), pieces, least_share)
    return answers and _bold_where_begun([answer.strip("_ ") for answer in answers], bold_words(reply))


def before_remark(answer: str) -> str:
    """Return an answer without the clause that follows it, unless that continues a list, contrasts or denies.

    >>> before_remark("白雪，有问题可以先找丁峰"), before_remark("red, green and blue")
    ('白雪', 'red, green and blue')
    """
    parts = _CLAUSE_AFTER.split(answer, maxsplit=1)
    is_remark = len(parts) == 2 and len(re.findall(r"[A-Za-z'’]+|[\u3400-\u9fff]", parts[1])) > 2
    return parts[0] if is_remark and not (_CONTINUES.search(parts[1]) or negations(parts[1])) else answer


def without_context(answers: Sequence[str], question: str) -> list[str]:
    """Return the answers without the words next to their gaps that they repeat: `100` of `100 °C`, where the question says `___ °C`.

    >>> without_context(["Zhou", "1918年"], "原名____，写于____年。"), without_context(["100 °C"], "Water boils at ___ °C.")
    (['Zhou', '1918'], ['100'])
    """
    pieces = [half_width(piece) for piece in _GAP.split(question)]
    if len(pieces) != len(answers) + 1:
        return list(answers)
    return [_without(answer, before, after) for answer, before, after in zip(answers, pieces, pieces[1:], strict=False)]


def _without(answer: str, before: str, after: str) -> str:
    answer = _ROUGHLY.sub("", answer.strip(" .。;；"), count=1) if _ROUGHLY.match(answer) else answer.strip(" .。;；")
    if (label := _LABEL.match(answer)) is not None and label[1].strip().casefold() in before.casefold():
        answer = answer[label.end() :]
    if "=" not in before:
        answer = answer.rpartition("=")[2].strip(" $") or answer
    if (amount := _IN_UNIT.fullmatch(answer)) is not None and (unit := read_unit(tidy(amount[2]))) is not None:
        words = tidy(after)
        named = [words[:size] for size in range(1, 5)] + re.findall(r"[A-Za-z]+(?: [A-Z][a-z]+)?", words)[:1]
        answer = amount[1] if unit in [read_unit(word) for word in named if word] else answer
    following = _NEXT_WORDS.match(after.strip())
    words = following[0] if following is not None else ""
    for word in (words[:size] for size in range(len(words), 0, -1)):
        is_whole = not word[-1].isascii() or word == words or not words[len(word)].isascii()
        if is_whole and answer.casefold().endswith(word.casefold()) and len(answer) > len(word):
            answer = answer[: -len(word)].strip()
            break
    return answer


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
        if (completed := fill_gaps(text, question, count)) is not None:
            return completed
    plain = _LEAD.sub("", text, count=1)
    first = _FIRST_SENTENCE.match(plain)
    if first is None or (count > 1 and sets_off(reply, count)):
        return None
    asked = half_width(question).casefold()
    in_first = [words.strip(" .,") for words in _QUOTED.findall(first[0]) if words.casefold() not in asked]
    is_part = bool(concluded) or plain != text or first.end() < len(plain) - 1
    if _CONTRASTED.search(first[0]) is not None:
        return None
    if len(in_first) == count:
        return in_first
    if is_part and _is_list(first[0], count):
        return [phrase.strip() for phrase in read_blanks(first[0], count)]
    return None


def sets_off(reply: str, count: int) -> bool:
    """True if a reply numbers its answers, or marks as many words as there are gaps."""
    text = without_thoughts(reply)
    return (
        count in (len(bold_words(text)), len(_QUOTED.findall(text)))
        or _number_of(text) == 1
        or _inline(text, count) is not None
    )


def _is_list(text: str, count: int) -> bool:
    """True if a text is as many short phrases as there are gaps, and nothing else."""
    return all(is_phrase(phrase.partition("(")[0]) for phrase in read_blanks(text, count))


def is_phrase(text: str) -> bool:
    """True for a few words that no comma parts, and that are no equation."""
    return (
        0 < len(text) <= _LONGEST_PHRASE
        and len(text.split()) <= _MOST_WORDS
        and not re.search(r"=|[,，;；。(]\D|:(?!\d)", text)
    )


def read_blanks(reply: str, count: int) -> list[str]:
    """Return the answer that a reply gives for each blank; '' where it gives none."""
    text = without_thoughts(reply)
    text = last_boxed(text) or last_announced(text) or text
    bold = bold_words(text)
    text = _of_table(text.replace("**", "").replace("`", "").strip())
    text = _RESPECTIVELY.sub("", _ANSWERS_ARE.sub("", _OPENING.sub("", text)))
    parts = [part.strip() for part in re.split(r"[\n;]", text) if part.strip()]
    if len(parts) == count + 1 and parts[0].endswith(":") and all(part.startswith(("- ", "* ")) for part in parts[1:]):
        parts = parts[1:]  # and what announces the list is no answer
    if len(parts) > 1 and all(part.startswith(("- ", "* ")) for part in parts):
        parts = [part[2:].strip() for part in parts]
    if count == 2 and (pair := _FIRST_THEN.fullmatch(text)) is not None:
        return [pair[1], pair[2]]
    if count == 1:
        return [_bare(parts[-1], 1) if parts else ""]
    after = {_ORDINALS.get(label.lower()) or int(label[-1]): answer for answer, label in _FOR_THE.findall(text)}
    if sorted(after) == list(range(1, count + 1)):
        return [after[number] for number in sorted(after)]
    if (inline := _inline(text, count)) is not None:
        return [next(iter(_QUOTED.findall(answer)), answer) for answer in _bold_where_begun(inline, bold)]
    for marked in (_QUOTED.findall(text), bold):
        if len(marked) == count:
            return list(marked)
    if len(parts) == 1:
        parts = next(
            (found for sign in _SEPARATORS if len(found := re.split(sign, text.strip(" \n…"))) == count), parts
        )
    if len(parts) > count and "\n" not in text.strip():
        return [""] * count  # more answers than blanks
    if len(parts) > 1 and re.match(r"\W{0,3}1\s?[.、]\D", parts[0]) is not None:  # 1.Lu Xun 2.1918
        parts = [re.sub(rf"^{number}\s?[.、](?=\d)", "", part) for number, part in enumerate(parts, 1)]
    answers = [_OPENING.sub("", _bare(part, number)) for number, part in enumerate(parts[:count], 1)]
    return answers + [""] * (count - len(answers))


def clauses_with_gaps(question: str) -> list[str]:
    """Return the clause around each gap of a question.

    >>> clauses_with_gaps("The author of Emma is ____, and that of Jane Eyre is ____.")
    ['The author of Emma is ____', 'and that of Jane Eyre is ____']
    """
    clauses = re.split(r"[,;.!?，；。！？]\s*", half_width(question))
    return [clause for clause in clauses for _ in _GAP.findall(clause)]


def without_labels(answers: Sequence[str], question: str) -> list[str] | None:
    """Return the values of answers that each name what they are, in the order of the gaps; None for other answers.

    >>> without_labels(["Mercury is the smallest", "Jupiter is the largest"], "The largest planet is ____, the smallest ____.")
    ['Jupiter', 'Mercury']
    """
    pieces = [*map(_stems, _GAP.split(half_width(question)))]
    halves = [_LABELLED.fullmatch(answer.strip(" -*.。")) for answer in answers]
    if len(pieces) != len(answers) + 1 or any(half is None or negations(half[0]) for half in halves):
        return None
    known = set().union(*pieces)
    sides = [(half["label"], half["value"]) for half in halves if half is not None]
    sides = [
        (value, label) if set() < _stems(value) <= known and not set() < _stems(label) <= known else (label, value)
        for label, value in sides
    ]
    shared = [
        [(len(_stems(label) & before), len(_stems(label) & after)) for before, after in pairwise(pieces)]
        for label, _ in sides
    ]
    best = [row.index(max(row)) if any(max(row)) else index for index, row in enumerate(shared)]
    return [sides[best.index(index)][1] for index in range(len(sides))] if len(set(best)) == len(best) else None


def _stems(text: str) -> set[str]:
    """Return the Chinese characters and the beginnings of the longer words of a text."""
    return {word.casefold()[:4] for word in re.findall(r"[A-Za-z]{4,}|[\u3400-\u9fff]|\d+", text)}


def _bold_where_begun(answers: Sequence[str], bold: Sequence[str]) -> list[str]:
    """Return each answer, or the bold words with which it begins: `100` of `**100** bpm`."""
    return [next((words for words in bold if answer.startswith(words)), answer) for answer in answers]


def bold_words(text: str) -> list[str]:
    """Return the words that are bold or formatted as code."""
    return [match[1] or match[2] for match in _BOLD.finditer(text[-MOST_CHARACTERS:])]


def _of_table(text: str) -> str:
    """Return the last cells of a table by line, without its head; another text unchanged."""
    rows = [_ROW.fullmatch(line) for line in text.splitlines() if line.strip()]
    cells = [row[1].split("|")[-1].strip() for row in rows if row is not None]
    if len(cells) < 3 or len(cells) < len(rows) or set(cells[1]) - set(":- "):
        return text
    return "\n".join(cells[2:])


def _inline(text: str, count: int) -> list[str] | None:
    """Return the answers of a reply that numbers each of them, in one line or several; None when it does not."""
    marks = list(_INLINE.finditer(text[-MOST_CHARACTERS:]))
    places = [_place_of(mark) for mark in marks]
    if sorted(places) != list(range(1, count + 1)):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text[-MOST_CHARACTERS:])]
    answers = {
        number: _JOIN.sub("", text[-MOST_CHARACTERS:][mark.end() : end].strip()).rstrip(",;。、.").strip()
        for number, mark, end in zip(places, marks, ends, strict=True)
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
