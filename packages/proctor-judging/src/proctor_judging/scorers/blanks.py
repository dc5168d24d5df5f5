"""Fill in the blanks: each right one is a point, with alternatives, groups in any order, and numbers by value.

The target is a text with a line for each blank, or a list; a blank that is a list has alternatives. In a text they are
parted by `或`, unless that is part of a word (`或者`). `meta["blanks"]` may hold options, see `BlanksOptions`.
"""

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import zip_longest

import msgspec

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import arguable
from proctor_judging.matching.cascade import match
from proctor_judging.matching.claims import claimed_forms
from proctor_judging.matching.filled_blanks import (
    LONGEST_VALUE,
    MOST_CHARACTERS,
    QUOTED,
    as_list,
    before_remark,
    bold_words,
    clauses_with_gaps,
    fill_gaps,
    is_phrase,
    read_blanks,
    read_settled,
    said_once,
    sets_off,
    without_context,
    without_contrast,
    without_labels,
)
from proctor_judging.matching.han_sameness import same_name
from proctor_judging.matching.marked_answers import half_width, last_announced, without_thoughts
from proctor_judging.matching.rouge_figures import rouge_l
from proctor_judging.matching.stated_words import aliases
from proctor_judging.matching.text import negations, simplified, without_gaps

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
    (re.compile(r"^<(/?\w+)>$"), r"\1"),  # <a>
    (re.compile("[\U0001f300-\U0001faff\ufe0f]"), ""),
    (re.compile(r"^-(?=[A-Za-z]{2})|(?<=[A-Za-z]{2})-$"), ""),  # un-
    (re.compile(r"(?<=[a-z])n't\b|(?<=\bcan)'t\b"), " not"),
)
_SIGN_OF = (
    "pi π|geq ≥|ge ≥|leq ≤|le ≤|neq ≠|ne ≠|times ×|cdot ·|pm ±|infty ∞|alpha α|beta β|theta θ|lambda λ|mu μ|omega ω|Delta Δ|rightarrow →|"
    "大于 >|小于 <|等于 =|大于等于 ≥|大于或等于 ≥|不小于 ≥|小于等于 ≤|小于或等于 ≤|不大于 ≤"
)
_SIGNS_BY_NAME = dict(map(str.split, _SIGN_OF.split("|")))
_COMMAND = re.compile(r"\\([A-Za-z]+)\s?")
_SCRIPT = re.compile("[⁰¹²³⁴-⁹⁺⁻]+|[₀-₉₊₋]+")
_VALUES = frozenset(["quasi exact", "numeric", "units", "mathematics", "names", "dates and times", "ranges"])
_FIGURES = re.compile(r"\d+|[零〇一二三四五六七八九十百千万亿]+")
_OPPOSITES = "前后增减大小高低左右上下正负酸碱阴阳升降多少内外东西南北男女快慢强弱长短早晚"
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?")
_LONGEST_NUMBER = 100
_ASSIGNED = re.compile(r"^[a-z]\d?=")
_PLURAL = re.compile(r"(?<=[A-Za-z])\((e?s)\)$")  # Himalaya(s)
_EITHER = re.compile(
    r"(?<=[^\W\d])\s?/\s?(?=[^\W\d])|[\s,]*\(?(?:\bor\b(?: also)?|或(?!许|缺|然)者?|也可以?(?:填|是|写[作为]?)?)\s?[\"“]?(?=\S)",
    re.IGNORECASE,
)
_VERB_HINT = re.compile(r"_\s?\([a-z]")
_APOSTROPHE = re.compile(r"(?<=[a-z])['’](?=[a-z])")  # its, it's
_SIGNS = str.maketrans({"−": "-", "–": "-", "“": '"', "”": '"', "‘": "'", "’": "'", "$": None, "　": " ", "º": "°"})
_AROUND = " \t.。,;:!\"'`*《》「」"
_PUNCTUATION = re.compile(r"[^\w+\-/=<>√π°%]")


class BlanksOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options in `meta["blanks"]`.

    Attributes:
        any_order: groups of blanks, counted from 0, whose answers may be swapped: `[[0, 1]]`, or true for all.
        separator: what parts alternatives in a text.
        case_sensitive, ignore_punctuation: how texts are compared.
        min_similarity: accept answers that are at least this similar, letter by letter (ROUGE-L); 1 means the same. Texts with
            other digits, negations or opposites (前 and 后) are not similar.
    """

    any_order: bool | tuple[tuple[int, ...], ...] = ()
    separator: str = "或"
    case_sensitive: bool = False
    ignore_punctuation: bool = False
    min_similarity: float = 1.0


@scorer(version="6")
def blanks(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """A point for each blank.

    >>> sample = Sample.ask("q", "?", target="1/2\\n北京或京")
    >>> blanks(sample, Trajectory.of("答案：0.5；京")).points
    2
    """
    options = converted(sample.meta.get("blanks") or {}, BlanksOptions, "blanks")
    expected = _expected(sample.target, options)
    if not any(expected):
        return Unscored(why="not_applicable", reason=say("The sample has no target to compare with."))
    claims = read_claims(trajectory.answer, sample.question, len(expected))
    answers = claims.answers
    readings = (answers, claims.bare, without_context(claims.bare, sample.question, shortest=True))
    wanted = _with_bare(expected, sample.question)
    right = [any(ways) for ways in zip(*(_right(reading, wanted, options) for reading in readings), strict=True)]
    if len(expected) == 1 and not right[0] and not claims.settled:
        right = [_said(trajectory.answer, wanted[0], sample.question, options)]
    elif not (all(right) or claims.settled) and _states(trajectory.answer, answers, wanted, sample.question, options):
        right = [True] * len(expected)
    for good, answer, ways in zip(right, answers, expected, strict=True):
        choices = _EITHER.split(answer.strip(" .。)"))
        if not good and len(choices) > 1 and any(_fits(choice, ways, options) for choice in choices):
            return arguable(choices)
    points = sum(right)
    reason = (
        say("All blanks are right.")
        if points == len(expected)
        else say(
            "Wrong: {blanks}.",
            blanks="; ".join(
                f"({number}) {answer or '-'} / {'|'.join(alternatives)}"
                for number, (good, answer, alternatives) in enumerate(zip(right, answers, expected, strict=True), 1)
                if not good
            ),
        )
    )
    return Score(points=points, out_of=len(expected), answer="\n".join(answers), reason=reason)


class BlankClaims(msgspec.Struct, frozen=True):
    """What a reply fills into each gap, and the same without the words next to the gap that it repeats.

    `settled` says that one sentence of the reply fills all gaps, so that no other one need be read.
    """

    answers: tuple[str, ...]
    bare: tuple[str, ...]
    settled: bool = False


def read_claims(reply: str, question: str = "", count: int = 1) -> BlankClaims:
    """Read what a reply fills into each of `count` gaps; '' where it fills in nothing.

    >>> read_claims("第一空：5；第二空：6年", "共____人，历时____年。", 2)
    BlankClaims(answers=('5', '6年'), bare=('5', '6'), settled=False)
    """
    reply = said_once(as_list(without_gaps(reply)), question)
    if count == 1:
        reply = without_contrast(reply, question)
    else:  # words that the question quotes are no answers
        reply = QUOTED.sub(lambda quoted: f"‘{quoted[1]}’" if quoted[0] in question else quoted[0], reply)
    said = last_announced(without_thoughts(reply)) or reply
    listed = read_blanks(reply, count)
    settled = fill_gaps(said, question, count) or read_settled(said, question, count)
    if settled is None and count > 1:
        settled = without_labels(listed, question)
    is_marked = settled is not None or (count > 1 and sets_off(said, count))
    read = settled if is_marked else fill_gaps(said, question, count, reworded=True)
    answers = read or listed
    plain = list(map(before_remark, answers)) if count == 1 or read else answers
    filled = settled or ([reply] if _VERB_HINT.search(question) else [""])  # sent is no form of `was sent`
    return BlankClaims(tuple(answers), tuple(without_context(plain, question)), all(map(is_phrase, filled)))


def _said(reply: str, alternatives: Sequence[str], question: str, options: BlanksOptions) -> bool:
    """True if a sentence gives one of the alternatives as its answer, or as the words that fit the only blank."""
    text = without_contrast(said_once(without_thoughts(without_gaps(reply))[-MOST_CHARACTERS:], question), question)
    fits = partial(_fits, alternatives=alternatives, options=options)
    if len(bold := bold_words(text)) == 1 and not negations(text):
        return fits(bold[0])
    forms = claimed_forms(text, question)
    return any(map(fits, (*forms, *(without_context([form], question)[0] for form in forms))))


def _states(
    reply: str, listed: Sequence[str], expected: Sequence[Sequence[str]], question: str, options: BlanksOptions
) -> bool:
    """True if a reply states what fills each gap in words of its own; not if one thing fills two, or it lists them in another order."""
    text = without_thoughts(without_gaps(reply))[-MOST_CHARACTERS:]
    stated = [claimed_forms(text, clause) for clause in clauses_with_gaps(question)]
    if len(stated) != len(expected) or not all(stated) or len({forms[-1] for forms in stated}) < len(stated):
        return False
    if any(answer in forms for index, forms in enumerate(stated) for answer in (*listed[:index], *listed[index + 1 :])):
        return False
    return all(any(_fits(form, ways, options) for form in forms) for forms, ways in zip(stated, expected, strict=True))


def _expected(target: object, options: BlanksOptions) -> list[list[str]]:
    """Return the alternatives of each blank."""
    if isinstance(target, list | tuple):
        return [
            [str(alternative) for alternative in blank] if isinstance(blank, list | tuple) else [str(blank)]
            for blank in target
        ]
    lines = [line.strip() for line in str(target if target is not None else "").splitlines() if line.strip()]
    return [_alternatives(line, options.separator) for line in lines]


def _with_bare(expected: Sequence[Sequence[str]], question: str) -> list[list[str]]:
    """Return the alternatives of each blank, and these without the words after their gaps, as answers are read."""
    plain = [["" if "(" in half_width(way) else way for way in row] for row in zip_longest(*expected, fillvalue="")]
    bare = zip(*(without_context(row, question) for row in plain), strict=True)
    pairs = [[*zip(*both, strict=False)] for both in zip(expected, bare, strict=True)]
    return [
        [*ways, *(text for way, text in row if text and way.startswith(text))]
        for ways, row in zip(expected, pairs, strict=True)
    ]


def _alternatives(line: str, separator: str) -> list[str]:
    """Return the whole line, and its parts; `或` within a word parts nothing."""
    if not separator:
        return [line]
    pattern = re.escape(separator) + ("(?![者许然则缺])" if separator == "或" else "")
    parts = [part.strip() for part in re.split(pattern, line)]
    return [line, *parts] if len(parts) > 1 and all(parts) else [line]


def _right(made: Sequence[str], expected: Sequence[Sequence[str]], options: BlanksOptions) -> list[bool]:
    groups = (
        options.any_order
        if isinstance(options.any_order, tuple)
        else (tuple(range(len(expected))),) * options.any_order
    )
    right = [_fits(answer, alternatives, options) for answer, alternatives in zip(made, expected, strict=True)]
    if len(set(made)) == len(made):
        right = [good and not _is_of_another(index, made, expected, options) for index, good in enumerate(right)]
    for group in groups:
        places = [index for index in dict.fromkeys(group) if 0 <= index < len(expected)]
        partner = _matched([[_fits(made[index], expected[other], options) for other in places] for index in places])
        for here, index in enumerate(places):
            right[index] = here in partner
    return right


def _is_of_another(index: int, made: Sequence[str], expected: Sequence[Sequence[str]], options: BlanksOptions) -> bool:
    """True if an answer is written as another blank asks, and that one's as this blank asks: `75%` and `0.75` exchanged."""
    own = {_plain(text, options) for text in expected[index]}
    text = _plain(made[index], options)
    others = (number for number in range(len(made)) if number != index and _plain(made[number], options) in own)
    return text not in own and any(text in {_plain(way, options) for way in expected[number]} for number in others)


def _matched(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """Return the largest one-to-one matching: expected blank -> answer, so that one answer does not fill two blanks."""
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


def _fits(answer: str, alternatives: Sequence[str], options: BlanksOptions) -> bool:
    """True if an answer, or a name that it has in brackets, is one of the alternatives."""
    return any(_is_same(form, alternatives, options) for form in (answer, *aliases(answer)))


def _is_same(answer: str, alternatives: Sequence[str], options: BlanksOptions) -> bool:
    text = _plain(answer, options)
    if not text:
        return False
    number = _value(text)
    for alternative in alternatives:
        expected = _plain(alternative, options)
        if "=" in text and "=" not in expected:
            text = _ASSIGNED.sub("", text)
        if text == expected or (number is not None and number == _value(expected)):
            return True
        if not options.case_sensitive and len(answer) <= LONGEST_VALUE and _same_value(answer, alternative):
            return True
        if options.min_similarity < 1 and number is None and _similar(text, expected, options.min_similarity):
            return True
    return False


def _same_value(answer: str, expected: str) -> bool:
    """Return the same number or expression: 五 is 5, 2√2 is √8."""
    verdict = match(answer, expected)
    is_other_word = len(_APOSTROPHE.findall(answer)) != len(_APOSTROPHE.findall(expected))
    is_han = not answer.isascii() and not expected.isascii()
    return (verdict.right and verdict.rule in _VALUES and not is_other_word) or (
        is_han and same_name(answer, expected, "")
    )


def _similar(made: str, expected: str, least: float) -> bool:
    """Letters agree, and nothing that turns the meaning differs: digits, negations, opposites."""
    if sorted(_FIGURES.findall(made)) != sorted(_FIGURES.findall(expected)) or len(negations(made)) != len(
        negations(expected)
    ):
        return False
    if any(made.count(char) != expected.count(char) for char in _OPPOSITES):
        return False
    return rouge_l(made, expected).f >= least


def _plain(text: str, options: BlanksOptions) -> str:
    if len(text) > MOST_CHARACTERS:
        return text if options.case_sensitive else text.casefold()
    plain = _SCRIPT.sub(_level, simplified(half_width(text)).translate(_SIGNS)).strip(_AROUND)
    for pattern, instead in _LATEX:
        plain = pattern.sub(instead, plain)
    plain = _COMMAND.sub(lambda found: _SIGNS_BY_NAME.get(found[1], found[1]), plain)
    plain = _PLURAL.sub(r"\1", "".join(plain.split())).removesuffix("()")
    plain = _SIGNS_BY_NAME.get(plain, plain)
    if options.ignore_punctuation and _value(plain) is None:
        plain = _PUNCTUATION.sub("", plain)
    return plain if options.case_sensitive else plain.casefold()


def _level(found: re.Match[str]) -> str:
    """Raised and lowered signs as usual ones: `x²` is `x^2`, `H₂O` is `H2O`."""
    usual = unicodedata.normalize("NFKC", found[0]).replace("−", "-")
    return usual if found[0][0] in "₀₁₂₃₄₅₆₇₈₉₊₋" else "^" + usual


def _value(text: str) -> Fraction | None:
    """Return a number, fraction or percentage by its value; None for other texts.

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


PART = ScorerPart(scorer=blanks, options=BlanksOptions)
