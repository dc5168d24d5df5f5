"""Find the answer for each blank of a question in a reply: in a list, a table, bold words, numbers within a line, or the completed sentence."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from proctor_judging.matching.marked_answers import half_width, last_announced, last_boxed, without_thoughts
from proctor_judging.matching.sentences import corrected
from proctor_judging.matching.text import negations, tidy
from proctor_judging.matching.unit_table import read_unit

Span = tuple[int, int]
MOST_CHARACTERS = 20_000  # of a reply in which marks within a line are looked for
LONGEST_VALUE = 200
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
_ALL_ALIKE = re.compile(
    r"\W*(?:(?:both|all|the two|each)(?: of)?(?: the| these)? (?:\w+ ){0,2}(?:are|is|should be|takes?|gets?|need)"
    r"|[两三四各每]?个?空格?(?:里|处|中)?(?:都|均|全)(?:应该?)?(?:填入?|是|为))\s*:?\s*((?![^\n]{0,100}(?:\band\b|[、和与及]))[^,;，；\n]{1,100}?)[.。]?\s*",
    re.IGNORECASE,
)
_SEPARATORS = (
    r",?\s(?:and\s)?then\s",
    r"\s?(?:…{1,2}|\.{3,6})\s?",
    r",?\s+and\s+|,|、|[以和]?及|和",
    ",",
    "、",
    r"\s[|/]\s",
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
_A_MARK = re.compile(
    r"\W*(?:(?:blank|空|第|answer)?\W?(?:\d{1,2}|[一二三四五六七八九十①-⑳])\W?[空个]?|[a-h])\W*", re.IGNORECASE
)
_ROW = re.compile(r"\s*\|(.+)\|\s*")
_LAST_WORDS = re.compile(r"(?:[A-Za-z']+\s?){1,2}$|[\u3400-\u9fff]{1,3}$|[^.!?。:\n]?$")
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
_CLAUSE_OF_ITS_OWN = re.compile(r"([,，;；][\u3400-\u9fff])[\u3400-\u9fff]{2,12}([\u3400-\u9fff])")
_GAP = re.compile(r"_{2,}(?:\s?\([a-z /]+\))?|\(\s*\)|\[\s*\]|【\s*】")


_HINT = re.compile(
    r"(?<=_)\s?[(（](?!\s*[)）])[A-Za-z /,']{1,40}[)）]|[(（][^()（）_]{0,40}[填选用][^()（）_]{0,40}[)）]"
)
_LONGEST_GAP = 80
_SENTENCE_START = re.compile(r"[.。!！?？:：;；]\s*")
_REMARK = re.compile(
    r"(?:(?:(?<=\w)\s|(?<=[\u3400-\u9fff]))\([^()]*(?:[^\W\d_]{2}|[A-Z]\d)[^()]*\)|（[^（）]*[^\W\d_]{2}[^（）]*）)$"
)
_LABEL = re.compile(r"([^:：=\d]{1,40})\s?[:：=]\s*(?=\S)")
_IN_UNIT = re.compile(r"([-+−]?\d[\d.,/]*)\s?(\D{1,12})")
_NEXT_WORDS = re.compile(r"[°%]?[A-Za-z]{1,20}[\u3400-\u9fff]{0,3}|[°%]?[\u3400-\u9fff]{1,4}")
_ROUGHLY = re.compile(r"(?:大?约|about|around|approximately)\s?(?=\d)", re.IGNORECASE)
_CONCLUDED = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|that is|i\.e\.)|[即故]|所以|因此)[,，]?\s?:\s*|(?:^|\n)\W*(?:所以|因此|即)[,，]?(?=[^\n]*$)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:sure|certainly|of course|okay|good question|好的?|当然(?:可以)?|没问题)\s?[,!.。]\s*)?(?:(?:as far as i know|i (?:think|believe)|据我(?:所知|了解)|我(?:认为|觉得|想))[,]?\s*)?"
    r"(?:(?:here (?:are|is)|these are|this is|以下是|这是)[^:\n]{0,40}:\s*|(?:it['’]s|it is|it should be|they are|they should be|是|应该是)\s?(?=\S)"
    r"|(?:the|this) \w+ (?:is|should be|must be) filled(?: in)? with:? |(?:the|this) (?:gap|missing (?:word|term)|word|answer) (?:is|should be|must be):? |(?:这里|此处|空[白格]?处?)?应?该?填(?:的|[入写])?(?!空|充)[:是]?\s?(?=\S)|[^,.。:\n]{1,12}[是为]:\s*)?",
    re.IGNORECASE,
)
_REMARK_LAST = (
    r"(?:\s|(?<=[\u3400-\u9fff\d]))\((?=[^()]*(?:[A-Za-z]+ [A-Za-z]+ [A-Za-z]+|[\u3400-\u9fff\d,]{7}))[^()]*\)\W*$"
)
_END = r"(?-i:(?<![A-Z])(?:[.!]|。)\s*(?=[A-Z(\u3400-\u9fff]|\n|$))"
_FIRST_SENTENCE = re.compile(
    rf"[^\n]{{1,200}}?(?={_END}|\n\n|{_REMARK_LAST}|\s[–—]\s|,\s(?:who|which|where|because|since|as)\b|,(?:因为|由于|表示|意为)|$)"
)
_SENTENCE_END = rf"[.。;]?\s*(?:\(.*)?$|{_END}"
_SENTENCE_AFTER = re.compile(_END)
_CONTRASTED = re.compile(r"\bnot\b|n['’]t\b|\bwrong\b|不是|并非|而非", re.IGNORECASE)
_LONGEST_PHRASE = 40
_MOST_WORDS = 4
_HAN_END = re.compile(r"[\u3400-\u9fff]{1,12}$")
_IS = re.compile(r"(?:(?<=[\u3400-\u9fff])(?:应该)?(?:是|为|叫做?|用)|\b(?:is|are|was|were)\s)(?=\S)")


def fill_gaps(reply: str, question: str, count: int) -> list[str] | None:
    """Return what a reply that repeats the question has in its gaps; None for another reply.

    >>> fill_gaps("Air holds nitrogen and oxygen.", "Complete: Air holds ____ and ____.", 2)
    ['nitrogen', 'oxygen']
    """
    question = without_hints(question)
    pieces = [" ".join(piece.split()) for piece in _GAP.split(half_width(question)[-MOST_CHARACTERS:])]
    first = _SENTENCE_START.split(pieces[0])[-1]
    pieces = [next(_LAST_WORDS.finditer(pieces[0]))[0], *(piece.strip(" .。") for piece in pieces[1:])]
    if len(pieces) != count + 1 or not any(pieces) or (len(pieces) > 2 and not all(pieces[1:-1])):
        return None
    text = _CLOSING.sub("", _BOLD.sub(r"\1\2", without_thoughts(reply)[-LONGEST_VALUE * 10 :]))
    is_weak = pieces[0] != "" and not any(re.search(r"\w", piece) for piece in pieces)
    match = _completed([first, *pieces[1:]], text) or (None if is_weak else _completed(pieces, text))
    if match is None and len(pieces) > 2 and pieces[-1]:
        match = _completed([first, *pieces[1:-1], ""], text)  # what follows the last gap may stand elsewhere
    match = match or (None if is_weak else _completed(pieces, text, reworded=True))
    if match is None or len(negations(without_thoughts(reply))) != len(negations(question + "".join(match))):
        return None
    if any(answer.count("(") != answer.count(")") for answer in match):
        return None  # words in brackets repeat the question
    return _bold_where_begun([answer.strip("_ ") for answer in match], bold_words(reply))


def _completed(pieces: Sequence[str], text: str, *, reworded: bool = False) -> tuple[str, ...] | None:
    """Return what a text has in the gaps between the pieces of a question, each as short as it may be; None without all pieces.

    The words before the first gap are taken at the start of a line, else as late in it as possible. Each piece is looked for once at
    each position, so that a reply that repeats itself takes no longer than another one.
    """
    *patterns, last = map(_reworded if reworded else _as_words, pieces)
    spans = [_spans(pattern, text) for pattern in (*patterns, last or _SENTENCE_END)]
    chosen: list[dict[int, Span]] = []  # of each gap, the piece that follows it, by where the gap begins
    for before, after in reversed(list(pairwise(spans))):
        leading = [span for span in after if not chosen or span[1] in chosen[0]]
        starts = [start for start, _ in leading]
        nearest = {end: _nearest(text, end, leading[bisect_right(starts, end) :]) for _, end in before}
        chosen.insert(0, {end: span for end, span in nearest.items() if span is not None})
    at = next((end for _, end in _from_late(spans[0], text, pieces[0]) if end in chosen[0]), None)
    if at is None:
        return None
    answers = []
    for span_by_start in chosen:
        start, end = span_by_start[at]
        answers.append(text[at:start].strip())
        at = end
    return tuple(answers)


def _spans(pattern: str, text: str) -> list[Span]:
    """Return where a pattern matches, at every position of a text."""
    compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    matches = (compiled.match(text, start) for start in range(len(text) + 1))
    return [match.span() for match in matches if match is not None]


def _nearest(text: str, gap: int, spans: Sequence[Span]) -> Span | None:
    """Return the first of some pieces after a gap with an answer of at most 80 characters in one line; without one, with only spaces."""
    empty = None
    for span in spans:
        inside = text[gap : span[0]]
        answer = inside.strip()
        if len(answer) > _LONGEST_GAP or "\n" in answer:
            break
        if answer:
            return span
        empty = span if inside.strip("\n") else empty
    return empty


def _from_late(spans: Sequence[Span], text: str, piece: str) -> list[Span]:
    """Return where the words before the first gap are, in the order to try: by line, at its start, then from its end; Chinese ones from the first on."""
    if not piece[:1].isascii() or not piece:
        return [*spans]
    whole = [span for span in spans if not text[: span[0]][-1:].isalnum() and text[: span[0]][-1:] != "_"]
    lines = {span: text.count("\n", 0, span[0]) for span in whole}
    return sorted(whole, key=lambda span: (lines[span], text[: span[0]][-1:] not in ("", "\n"), -span[0]))


def _reworded(piece: str) -> str:
    """Return the pattern of a piece of which a Chinese clause may have other words in its middle: `，碱则使它变` for `，碱能使其变`."""
    own = _CLAUSE_OF_ITS_OWN.fullmatch(piece)
    if own is None:
        return _as_words(piece)
    return rf"{re.escape(own[1])}[\u3400-\u9fff]{{1,12}}{re.escape(own[2])}"


def _as_words(piece: str) -> str:
    """Return the pattern of a piece of a question: whole words, so that `in` is none of `Ferdinand`."""
    start = r"(?<![A-Za-z])" if piece[:1].isascii() and piece[:1].isalpha() else ""
    end = r"(?![A-Za-z])" if piece[-1:].isascii() and piece[-1:].isalpha() else ""
    return start + re.escape(piece) + end


def without_hints(question: str) -> str:
    """Return a question without what it says about its gaps in brackets: the word to change, the words to choose from.

    >>> without_hints("He ___ (not like) tea."), without_hints("这是____反应（填“吸热”或“放热”）。")
    ('He ___ tea.', '这是____反应。')
    """
    return _HINT.sub("", question[-MOST_CHARACTERS:])


def without_context(answers: Sequence[str], question: str) -> list[str]:
    """Return the answers without the words next to their gaps that they repeat: `100` of `100 °C`, where the question says `___ °C`.

    >>> without_context(["Zhou", "1918年"], "原名____，写于____年。"), without_context(["100 °C"], "Water boils at ___ °C.")
    (['Zhou', '1918'], ['100'])
    """
    pieces = [half_width(piece) for piece in _GAP.split(without_hints(question))]
    if len(pieces) != len(answers) + 1:
        return list(answers)
    return [_without(answer, before, after) for answer, before, after in zip(answers, pieces, pieces[1:], strict=False)]


def _without(answer: str, before: str, after: str) -> str:
    answer = _ROUGHLY.sub("", answer.strip(" .。;；"), count=1) if _ROUGHLY.match(answer) else answer.strip(" .。;；")
    if (remark := _REMARK.search(answer)) is not None:
        answer = answer[: remark.start()]
    if (label := _LABEL.match(answer)) is not None and label[1].strip().casefold() in before.casefold():
        answer = answer[label.end() :]
    if "=" not in before:
        answer = answer.rpartition("=")[2].strip(" $") or answer
    if (amount := _IN_UNIT.fullmatch(answer)) is not None and (unit := read_unit(tidy(amount[2]))) is not None:
        words = tidy(after)
        named = [words[:size] for size in range(1, 5)] + re.findall(r"[A-Za-z]+(?: [A-Z][a-z]+)?", words)[:1]
        answer = amount[1] if unit in [read_unit(word) for word in named if word] else answer
    following = _NEXT_WORDS.match(after.strip())
    preceding = _LAST_WORDS.search(before.strip())
    words = following[0] if following is not None else ""
    for word in (words[:size] for size in range(len(words), 0, -1)):
        is_whole = not word[-1].isascii() or word == words or not words[len(word)].isascii()
        if is_whole and answer.casefold().endswith(word.casefold()) and len(answer) > len(word):
            answer = answer[: -len(word)].strip()
            break
    if preceding is not None and preceding[0] and answer.casefold().startswith(preceding[0].casefold() + " "):
        answer = answer[len(preceding[0]) :].strip()
    return answer


def read_settled(reply: str, question: str, count: int) -> list[str] | None:
    """Return the answers that a reply settles in one sentence: in its conclusion, in quotes, at its start, or in a clause for each gap; None if in none.

    >>> read_settled("hearing. After that we use the -ing form.", "I look forward to ____ from you.", 1)
    ['hearing']
    >>> read_settled("9² = 81, so: 81, 7", "The square of 9 is ____, the root of 49 ____.", 2)
    ['81', '7']
    >>> read_settled("最大的是亚洲，最小的是大洋洲。", "面积最大的洲是____，最小的洲是____。", 2)
    ['亚洲', '大洋洲']
    """
    text = corrected(without_thoughts(reply)[-MOST_CHARACTERS:].replace("**", "").replace("`", ""))
    if concluded := list(_CONCLUDED.finditer(text)):
        text = text[concluded[-1].end() :]
    plain = _LEAD.sub("", text, count=1)
    first = _FIRST_SENTENCE.match(plain)
    is_marked = len(bold_words(reply)) == count or _number_of(text) == 1 or _inline(text, count) is not None
    if first is None or (is_marked and count > 1):
        return None
    asked = half_width(question).casefold()
    in_first, anywhere = (
        [words.strip(" .,") for words in _QUOTED.findall(part) if words.casefold() not in asked]
        for part in (first[0], text)
    )
    is_part = bool(concluded) or plain != text or first.end() < len(plain) - 1
    if _CONTRASTED.search(first[0]) is not None:
        return None
    if len(in_first) == count:
        return in_first
    if is_part and _is_list(first[0], count):
        return [phrase.strip() for phrase in read_blanks(first[0], count)]
    if len(anywhere) == count and not negations(text):
        return anywhere
    return _of_clauses(first[0], asked, count)


def _is_list(text: str, count: int) -> bool:
    """True if a text is as many short phrases as there are gaps, and nothing else."""
    return all(is_phrase(phrase.partition("(")[0]) for phrase in read_blanks(text, count))


def is_phrase(text: str) -> bool:
    """True for a few words that no comma parts, and that are no equation."""
    return (
        0 < len(text) <= _LONGEST_PHRASE
        and len(text.split()) <= _MOST_WORDS
        and not re.search(r"=|[,，;；。(]\D", text)
    )


def _of_clauses(text: str, question: str, count: int) -> list[str] | None:
    """Return what each of as many clauses as there are gaps adds to the words of the question."""
    clauses = [clause for clause in re.split(r"[,，;；、]\s?|\sand\s", text.strip(" .。")) if clause.strip()]
    known = frozenset(re.findall(r"[A-Za-z]+|[\u3400-\u9fff]", question.casefold()))
    pieces = _GAP.split(question)
    answers = []
    for clause in clauses:
        verb = _IS.search(clause)
        about = clause[: verb.start()] if verb is not None else ""
        if verb is not None and about and known.issuperset(re.findall(r"[A-Za-z]+|[\u3400-\u9fff]", about.casefold())):
            answers.append(clause[verb.end() :].strip())
        elif len(answers) < count and (label := _label_of(clause, pieces[len(answers)])):
            answers.append(clause[len(label) :].strip())
        elif not known.issuperset(re.findall(r"[A-Za-z]+|[\u3400-\u9fff]", clause.casefold())):
            return None
    return answers if len(answers) == count and all(answers) else None


def _label_of(clause: str, piece: str) -> str:
    """Return the words right before a gap, if a clause begins with them: `字` of `李白字____`."""
    words = _HAN_END.search(piece.strip())
    ends = [] if words is None else [words[0][at:] for at in range(len(words[0]))]
    return next((end for end in ends if clause.startswith(end)), "")


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
    if (alike := _ALL_ALIKE.fullmatch(text)) is not None:
        return [alike[1]] * count
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
        parts = next((found for sign in _SEPARATORS if len(found := re.split(sign, text.strip())) == count), parts)
    if len(parts) > count and "\n" not in text.strip():
        return [""] * count  # more answers than blanks
    if len(parts) > count and all(_number_of(part) for part in parts[-count:]):
        parts = parts[-count:]  # remarks, then a numbered list
    numbered = {_number_of(part): part for part in parts}
    if set(range(1, count + 1)) <= set(numbered):
        parts = [numbered[number] for number in range(1, count + 1)]
    if len(parts) > 1 and re.match(r"\W{0,3}1\s?[.、]\D", parts[0]) is not None:  # 1.Lu Xun 2.1918
        parts = [re.sub(rf"^{number}\s?[.、](?=\d)", "", part) for number, part in enumerate(parts, 1)]
    answers = [_OPENING.sub("", _bare(part, number)) for number, part in enumerate(parts[:count], 1)]
    return answers + [""] * (count - len(answers))


def _bold_where_begun(answers: Sequence[str], bold: Sequence[str]) -> list[str]:
    """Return each answer, or the bold words with which it begins: `100` of `**100** bpm`."""
    return [next((words for words in bold if answer.startswith(words)), answer) for answer in answers]


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
