"""Fill in the blanks: each right one is a point, with alternatives, groups in any order, and numbers by value.

The target is a text with a line for each blank, or a list; a blank that is a list has alternatives. In a text they are
parted by `或`, unless that is part of a word (`或者`). `meta["blanks"]` may hold options, see `Options`.
"""

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import msgspec

from proctor.answer_matching.claims import claimed
from proctor.answer_matching.text import negations, simplified
from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers import _replies
from proctor.scorers.answer import match
from proctor.text_measures.rouge import rouge_l

_ORDINALS = {name: place for place, name in enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], 1)}
_ORDINALS |= {name: place for place, name in enumerate("一二三四五六七八九十", 1)}
_ORDINALS |= {name: place for place, name in enumerate(["i", "ii", "iii", "iv", "v"], 1)}
_MARK = (
    r"(?:\((\d{1,2}|[一二三四五六七八九十])\)|\[(\d{1,2})\]|(\d)-(?=[A-Za-z\u3400-\u9fff])|\(?([a-h])\)|(?:第\s?(\d{1,2}|[一二三四五六七八九十])\s?个?[空个格处]格?|填?空格?\s?(\d{1,2}|[一二三四五六七八九十])|([一二三四五六七八九十])空|blank\s?[#(]{0,2}(\d{1,2})\)?"
    r"|(?:the\s)?(first|second|third|fourth|fifth|sixth)(?:\s(?:blank|one|space|gap|word|answer)(?=\W)|:|(?=\s(?:is|should|must|as)\b)))\s?(?:应?填[入写]?|应?该?[为是]|(?:should be|is|=|-(?=\s))\s?)?:?|(\d{1,2})[.、:)](?!\d)|([一二三四五六七八九十])、|\(?(iv|v|i{1,3})[.、)]|([①-⑳⑴-⒇]))(?:\s?(?::|=(?!=)|[-=]>|→))?"
)
_NUMBERED = re.compile(rf"^[-\s]*{_MARK}\s*", re.IGNORECASE)
_INLINE = re.compile(rf"(?<![A-Za-z0-9.^_({{]){_MARK}\s*|(?<=[\u3400-\u9fff\s\w])([①-⑳⑴-⒇])\s*", re.IGNORECASE)
_MOST_CHARACTERS = 20_000  # of a reply in which marks within a line are looked for
_LATEX = (
    (re.compile(r"\\[dt]?frac\s?\{([^{}]*)\}\s?\{([^{}]*)\}"), r"\1/\2"),
    (re.compile(r"\\sqrt\s?\{(\w+)\}"), r"√\1"),
    (re.compile(r"\\sqrt\s?\{"), "√{"),
    (re.compile(r"√\s?\((\w+)\)"), r"√\1"),
    (re.compile(r"\\(?:text|mathrm|ce|mathbf|rm)\s?\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\^\s?\{?\s?\\circ\s?\}?|\\degree"), "°"),
    (re.compile(r"([_^])\{([^{}]*)\}"), r"\1\2"),
    (re.compile(r"_(?=\w)"), ""),
    (re.compile(r"(?<=[A-Za-z])\^(?=\d?[+-]$)"), ""),
    (re.compile(r"\\(?:left|right|quad|,|;|!)"), ""),
)
_COMMANDS = {
    "pi": "π",
    "geq": "≥",
    "ge": "≥",
    "leq": "≤",
    "le": "≤",
    "neq": "≠",
    "ne": "≠",
    "times": "×",
    "cdot": "·",
    "pm": "±",
}
_COMMANDS |= {
    "infty": "∞",
    "alpha": "α",
    "beta": "β",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "omega": "ω",
    "Delta": "Δ",
    "rightarrow": "→",
}
_COMMAND = re.compile(r"\\([A-Za-z]+)\s?")
_WORDS = {
    "大于": ">",
    "小于": "<",
    "等于": "=",
    "大于等于": "≥",
    "大于或等于": "≥",
    "不小于": "≥",
    "小于等于": "≤",
    "小于或等于": "≤",
    "不大于": "≤",
}
_SCRIPT = re.compile("[⁰¹²³⁴-⁹⁺⁻]+|[₀-₉₊₋]+")
_VALUES = frozenset(["quasi exact", "numeric", "units", "mathematics"])
_LONGEST_VALUE = 200
_FIGURES = re.compile(r"\d+|[零〇一二三四五六七八九十百千万亿]+")
_OPPOSITES = "前后增减大小高低左右上下正负酸碱阴阳升降多少内外东西南北男女快慢强弱长短早晚"
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?")
_LONGEST_NUMBER = 100
_CIRCLED = frozenset(map(chr, [*range(0x2460, 0x2474), *range(0x2474, 0x2488)]))
_SEPARATORS = (r",?\s+and\s+|,|、|[以和]?及|和", ",", "、", r"\s[|/]\s", r"\s+(?:and|和)\s+|[和与及]", r"\s+")
_JOIN = re.compile(r"(?:,?\s+and|[,，]?\s?而?且)$", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“「]([^\"”」]{1,100})[\"”」]")
_OPENING = re.compile(
    r"^(?:(?:先|再|接着|然后|最后)(?=填)|答(?!案)|解(?!析)|(?:答案|[两三四五]个?空)?(?:依次|分别)(?:填入?|为|是)*|(?:空格?(?:处|中)?)?应?填(?:空|入|写)?(?!充))+\s?:?\s*"
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
_FILLED = re.compile(
    r"(?:\b(?:blank|gap|space)\b|空|所以|因此)[^.。\n\"“]{0,30}(?:\b(?:with|is|be|by)\b|[填为是入写])[^\w\"“]{0,3}(?:the word )?[\"“]?(?P<word>[^\"”。.\n:：，]{1,60})[\"”]?[。.]?\s*$"
    r"|^(?:the (?:word|phrase|term|answer) )?[\"“]?(?P<other>[^\"”\n]{1,60}?)[\"”]? (?:fits|fills|goes in(?:to)?|belongs in|completes|is the (?:word|answer|term) (?:for|that fills)) (?:in )?(?:the|this) (?:blank|gap|space|sentence)\b",
    re.IGNORECASE,
)
_LAST_WORDS = re.compile(r"(?:[A-Za-z']+\s?){1,2}$|[\u3400-\u9fff]{1,3}$|[^.!?。:\n]?$")
_FOR_THE = re.compile(
    r"(?:^|,\s(?:and\s)?|\band\s|;\s?)[\"“]?([^\"”,;\n]{1,60}?)[\"”]?\s(?:for|in(?:to)?|goes in(?:to)?|fills|[-=]>|→)\s(?:the\s)?(first|second|third|fourth|blank \d)\b(?:\s(?:blank|one|gap|space))?",
    re.IGNORECASE,
)
_FIRST_THEN = re.compile(
    r"(?:先|前一?个?空)(?:应?填)?([^,;先]{1,40}?)[,;]?\s?(?:然后|再|后一?个?空|后)(?:应?填)?([^,;]{1,40}?)[。.]?"
)
_ASSIGNED = re.compile(r"^[a-z]\d?=")
_GAP = re.compile(r"_{2,}(?:\s?\([a-z /]+\))?|\(\s*\)|\[\s*\]|【\s*】")
_SIGNS = str.maketrans({"−": "-", "–": "-", "“": '"', "”": '"', "‘": "'", "’": "'", "$": None, "　": " ", "º": "°"})
_AROUND = " \t.。,;:!\"'`*"
_PUNCTUATION = re.compile(r"[^\w+\-/=<>√π°%]")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `meta["blanks"]` may hold.

    Attributes:
        any_order: groups of blanks, counted from 0, whose answers may be swapped: `[[0, 1]]`, or true for all.
        separator: what parts alternatives in a text.
        case_sensitive, ignore_punctuation: how texts are compared.
        min_similarity: also right is what is at least so similar, letter by letter (ROUGE-L); 1 means the same. Texts with
            other digits, negations or opposites (前 and 后) are not similar.
    """

    any_order: bool | tuple[tuple[int, ...], ...] = ()
    separator: str = "或"
    case_sensitive: bool = False
    ignore_punctuation: bool = False
    min_similarity: float = 1.0


@scorer(version="2")
def blanks(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each blank.

    >>> sample = Sample.ask("q", "?", target="1/2\\n北京或京")
    >>> blanks(sample, Trajectory.of("答案：0.5；京")).points
    2
    """
    options = converted(sample.meta.get("blanks") or {}, Options, "blanks")
    expected = _expected(sample.target, options)
    if not any(expected):
        return Unscored(why="not_applicable", reason=say("The sample has no target to compare with."))
    made = _completed(trajectory.answer, sample.question, len(expected)) or _made(trajectory.answer, len(expected))
    right = _right(made, expected, options)
    if len(expected) == 1 and not right[0]:
        right = [_said(trajectory.answer, expected[0], sample.question, options)]
    points = sum(right)
    reason = (
        say("All blanks are right.")
        if points == len(expected)
        else say(
            "Wrong: {blanks}.",
            blanks="; ".join(
                f"({place}) {answer or '-'} / {'|'.join(alternatives)}"
                for place, (good, answer, alternatives) in enumerate(zip(right, made, expected, strict=True), 1)
                if not good
            ),
        )
    )
    return Score(points=points, out_of=len(expected), answer="\n".join(made), reason=reason)


def _completed(reply: str, question: str, count: int) -> list[str] | None:
    """What a reply that repeats the question has in its gaps; None for another reply.

    >>> _completed("Air holds nitrogen and oxygen.", "Complete: Air holds ____ and ____.", 2)
    ['nitrogen', 'oxygen']
    """
    pieces = [" ".join(piece.split()) for piece in _GAP.split(_replies.normal(question)[-_MOST_CHARACTERS:])]
    pieces = [next(_LAST_WORDS.finditer(pieces[0]))[0], *(piece.strip(" .。") for piece in pieces[1:])]
    if len(pieces) != count + 1 or not any(pieces) or (len(pieces) > 2 and not all(pieces[1:-1])):
        return None
    pattern = r"\s*([^\n]{1,80}?)\s*".join(re.escape(piece) for piece in pieces)
    found = re.search(
        pattern + (r"" if pieces[-1] else r"[.。;]?\s*$"), _replies.said(reply)[-_LONGEST_VALUE * 10 :], re.I
    )
    if found is None or len(negations(_replies.said(reply))) != len(negations(question + "".join(found.groups()))):
        return None
    return [_BOLD.sub(r"\1\2", answer).strip("_ ") for answer in found.groups()]


def _said(reply: str, alternatives: Sequence[str], question: str, options: Options) -> bool:
    """Whether a sentence gives one of the alternatives as its answer, or as the words that fit the only blank."""
    text = _replies.said(reply)[-_MOST_CHARACTERS:]
    if (found := _FILLED.search(text[-_LONGEST_VALUE * 2 :])) is not None and not negations(
        found[0].replace(found["word"] or found["other"], "")
    ):
        return _fits(found["word"] or found["other"], alternatives, options)
    fits = partial(_fits, alternatives=alternatives, options=options)
    if len(bold := _bold(text)) == 1 and not negations(text) and fits(bold[0]):
        return True
    return any(claimed(text, alternative, question, fits=fits) is not None for alternative in alternatives)


def _expected(target: Any, options: Options) -> list[list[str]]:
    """The alternatives of each blank."""
    if isinstance(target, list | tuple):
        return [[str(one) for one in blank] if isinstance(blank, list | tuple) else [str(blank)] for blank in target]
    lines = [line.strip() for line in str(target if target is not None else "").splitlines() if line.strip()]
    return [_alternatives(line, options.separator) for line in lines]


def _alternatives(line: str, separator: str) -> list[str]:
    """The whole line, and its parts; `或` within a word parts nothing."""
    if not separator:
        return [line]
    pattern = re.escape(separator) + ("(?![者许然则缺])" if separator == "或" else "")
    parts = [part.strip() for part in re.split(pattern, line)]
    return [line, *parts] if len(parts) > 1 and all(parts) else [line]


def _made(reply: str, count: int) -> list[str]:
    """The answers of a reply, one for each blank; '' where there is none."""
    text = _replies.said(reply)
    text = _replies.boxed(text) or _replies.announced(text) or text
    bold = _bold(text)
    text = _of_table(text.replace("**", "").replace("`", "").strip())
    text = _RESPECTIVELY.sub("", _ANSWERS_ARE.sub("", _OPENING.sub("", text)))
    parts = [part.strip() for part in re.split(r"[\n;]", text) if part.strip()]
    if len(parts) > 1 and all(part.startswith(("- ", "* ")) for part in parts):
        parts = [part[2:].strip() for part in parts]
    if count == 2 and (pair := _FIRST_THEN.fullmatch(text)) is not None:
        return [pair[1], pair[2]]
    if count == 1:
        return [_bare(parts[-1], 1) if parts else ""]
    after = {_ORDINALS.get(place.lower()) or int(place[-1]): answer for answer, place in _FOR_THE.findall(text)}
    if sorted(after) == list(range(1, count + 1)):
        return [after[place] for place in sorted(after)]
    if (inline := _inline(text, count)) is not None:
        fresh = [next((one for one in bold if answer.startswith(one)), answer) for answer in inline]
        return [next(iter(_QUOTED.findall(answer)), answer) for answer in fresh]
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
        parts = [numbered[place] for place in range(1, count + 1)]
    answers = [_OPENING.sub("", _bare(part, place)) for place, part in enumerate(parts[:count], 1)]
    return answers + [""] * (count - len(answers))


def _bold(text: str) -> list[str]:
    """What is set in bold or as code, but for the numbers of blanks."""
    marked = [found[1] or found[2] for found in _BOLD.finditer(text[-_MOST_CHARACTERS:])]
    return [one for one in marked if not _A_MARK.fullmatch(one)]


def _of_table(text: str) -> str:
    """The last cells of a table by line, without its head; another text unchanged."""
    rows = [_ROW.fullmatch(line) for line in text.splitlines() if line.strip()]
    cells = [row[1].split("|")[-1].strip() for row in rows if row is not None]
    if len(cells) < 3 or len(cells) < len(rows) or set(cells[1]) - set(":- "):
        return text
    return "\n".join(cells[2:])


def _inline(text: str, count: int) -> list[str] | None:
    """The answers of a reply that numbers each of them, in one line or several; None when it does not."""
    marks = list(_INLINE.finditer(text[-_MOST_CHARACTERS:]))
    places = [_place_of(found) for found in marks]
    if sorted(places) != list(range(1, count + 1)):
        return None
    ends = [found.start() for found in marks[1:]] + [len(text[-_MOST_CHARACTERS:])]
    answers = {
        place: _JOIN.sub("", text[-_MOST_CHARACTERS:][found.end() : end].strip()).rstrip(",;。、.").strip()
        for place, found, end in zip(places, marks, ends, strict=True)
    }
    return [answers[place].split("\n")[0] for place in range(1, count + 1)]


def _place_of(found: re.Match[str]) -> int:
    mark = next(group for group in found.groups() if group).lower()
    if mark[0] in _CIRCLED:
        return int(unicodedata.numeric(mark))
    return _ORDINALS.get(mark) or ("abcdefgh".index(mark) + 1 if mark in "abcdefgh" else int(mark))


def _number_of(part: str) -> int | None:
    numbered = _NUMBERED.match(part)
    return None if numbered is None else _place_of(numbered)


def _bare(part: str, place: int) -> str:
    """An answer without its own number."""
    numbered = _NUMBERED.match(part)
    rest = part[numbered.end() :].strip() if numbered is not None and _place_of(numbered) == place else ""
    return rest or part


def _right(made: Sequence[str], expected: Sequence[Sequence[str]], options: Options) -> list[bool]:
    groups = (
        options.any_order
        if isinstance(options.any_order, tuple)
        else (tuple(range(len(expected))),) * options.any_order
    )
    right = [_fits(answer, alternatives, options) for answer, alternatives in zip(made, expected, strict=True)]
    for group in groups:
        places = [place for place in dict.fromkeys(group) if 0 <= place < len(expected)]
        partner = _matched([[_fits(made[one], expected[other], options) for other in places] for one in places])
        for here, place in enumerate(places):
            right[place] = here in partner
    return right


def _matched(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """The largest one-to-one matching: expected blank -> answer, so that one answer does not fill two blanks."""
    answer_of: dict[int, int] = {}

    def place(answer: int, tried: set[int]) -> bool:
        for blank, good in enumerate(fits[answer]):
            if good and blank not in tried:
                tried.add(blank)
                if blank not in answer_of or place(answer_of[blank], tried):
                    answer_of[blank] = answer
                    return True
        return False

    for answer in range(len(fits)):
        place(answer, set())
    return answer_of


def _fits(answer: str, alternatives: Sequence[str], options: Options) -> bool:
    made = _plain(answer, options)
    if not made:
        return False
    number = _value(made)
    for alternative in alternatives:
        expected = _plain(alternative, options)
        if "=" in made and "=" not in expected:
            made = _ASSIGNED.sub("", made)
        if made == expected or (number is not None and number == _value(expected)):
            return True
        if not options.case_sensitive and len(answer) <= _LONGEST_VALUE and _same_value(answer, alternative):
            return True
        if options.min_similarity < 1 and number is None and _similar(made, expected, options.min_similarity):
            return True
    return False


def _same_value(answer: str, expected: str) -> bool:
    """The same number or expression: 五 is 5, 2√2 is √8."""
    verdict = match(answer, expected)
    return verdict.right and verdict.rule in _VALUES


def _similar(made: str, expected: str, least: float) -> bool:
    """Letters agree, and nothing that turns the meaning differs: digits, negations, opposites."""
    if sorted(_FIGURES.findall(made)) != sorted(_FIGURES.findall(expected)) or len(negations(made)) != len(
        negations(expected)
    ):
        return False
    if any(made.count(char) != expected.count(char) for char in _OPPOSITES):
        return False
    return rouge_l(made, expected).f >= least


def _plain(text: str, options: Options) -> str:
    if len(text) > _MOST_CHARACTERS:
        return text if options.case_sensitive else text.casefold()
    plain = _SCRIPT.sub(_level, simplified(_replies.normal(text)).translate(_SIGNS)).strip(_AROUND)
    for pattern, instead in _LATEX:
        plain = pattern.sub(instead, plain)
    plain = _COMMAND.sub(lambda found: _COMMANDS.get(found[1], found[1]), plain)
    plain = "".join(plain.split())
    plain = _WORDS.get(plain, plain)
    if options.ignore_punctuation and _value(plain) is None:
        plain = _PUNCTUATION.sub("", plain)
    return plain if options.case_sensitive else plain.casefold()


def _level(found: re.Match[str]) -> str:
    """Raised and lowered signs as usual ones: `x²` is `x^2`, `H₂O` is `H2O`."""
    usual = unicodedata.normalize("NFKC", found[0]).replace("−", "-")
    return usual if found[0][0] in "₀₁₂₃₄₅₆₇₈₉₊₋" else "^" + usual


def _value(text: str) -> Fraction | None:
    """A number, fraction or percentage by its value; None for other texts.

    >>> _value("1,000.50") == _value("1000.5"), _value("50%") == _value("1/2"), _value("x")
    (True, True, None)
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    percent = text.endswith("%")
    parts = text.removesuffix("%").split("/")
    if len(parts) > 2 or not all(any(map(str.isdecimal, part)) and _NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = [Fraction(part.replace(",", "").removesuffix(".")) for part in parts]
    if len(numbers) == 2 and not numbers[1]:
        return None
    value = numbers[0] / numbers[1] if len(numbers) == 2 else numbers[0]
    return value / 100 if percent else value


PART = ScorerPart(scorer=blanks, options=Options)
