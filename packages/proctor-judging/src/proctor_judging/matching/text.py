"""Bring texts into one form, and compare them as texts: the first rule, 'quasi exact'.

Like GAIA's rule it forgets case, quotes and light punctuation. Unlike it, it keeps what may carry meaning
(`3/4` is not `34`, `no table` is not `notable`), as rules that know the meaning come after it.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from proctor.core.sentence import say
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.unit_table import read_unit
from proctor_judging.matching.verdict import AnswerMatch, accept, refuse

RULE = "quasi exact"
KEPT = 500  # characters of the texts whose form is remembered; targets come again with every attempt
GAP = compile_later(r"\s{50,}")
MOST_LAYERS = 12
INVISIBLE = compile_later("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
SUPERSCRIPTS = compile_later("[⁺⁻]?[⁰¹²³⁴-⁹ⁿ]+")
PLAIN_SCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
VULGAR_FRACTION = compile_later("[¼-¾⅐-⅞]")
FOREIGN_DIGIT = compile_later(r"(?![0-9])\d")
ONE_SIGN = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("“”„‟", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("∕⁄", "/"),
        **dict.fromkeys("∼〜", "~"),
        "∶": ":",
        **dict.fromkeys("・‧•⋅∙", "·"),
    }
)
LATEX = (
    (compile_later(r"\{,\}|,\\!"), ","),
    (compile_later(r"\\([%$&#])"), r"\1"),
    (compile_later(r"\\(?:text|mathrm|mathbf|operatorname|textrm|textbf|mbox)\s*\{([^{}]*)\}"), r" \1 "),
    (compile_later(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[,;:! ]|\\q?quad(?![a-zA-Z])"), " "),
    (compile_later(r"\s*\^\s*(?:\{\s*\\circ\s*\}|\\circ)\s*|\\degree\s*"), "°"),
    (compile_later(r"\\times(?![a-zA-Z])"), "×"),
    (compile_later(r"\\pi(?![a-zA-Z])"), "π"),
    (compile_later(r"\\approx(?![a-zA-Z])"), "≈"),
    (compile_later(r"(?<=\w)\s+(?=\^)"), ""),
    (compile_later(r"(?<=\w)\\(?=(?:log|ln|sin|cos|tan)(?![a-zA-Z]))"), " "),
    (compile_later(r"\\(?=(?:log|ln|sin|cos|tan)(?![a-zA-Z]))"), ""),
    (compile_later(r" {2,}"), " "),
)
WRAPPERS = (
    *(("**", "**"), ("__", "__"), ("`", "`"), ('"', '"'), ("'", "'"), ("$", "$"), ("*", "*")),
    *(("\\(", "\\)"), ("\\[", "\\]"), ("「", "」"), ("『", "』"), ("《", "》"), ("【", "】"), ("\\boxed{", "}")),
)
CHOICE = compile_later(
    r"[(\[]\s*([^\W\d_][^\W\d_ ]*)\s*[)\]]"
    r"|(?:option|choice|answer|选项|选择|选|答案是?|答)?\s*:?\s*[(\[]?([A-Z])[)\]]?",
    re.IGNORECASE,
)
CHEMICAL = compile_later(r"\$?(?:[A-Z][a-z]?(?:_\{?\d{1,3}\}?)?|[()])*[A-Z][a-z]?(?:_\{?\d{1,3}\}?)?\$?")  # H_2O
END = ".。,;、:?"
FENCED = compile_later(r"```[\w+-]*[ \t]*\n(.*?)\n?```", re.DOTALL)
LABEL = compile_later(
    r"(?:no\.|number|#)\s?(?=\d)|#{1,4} |(?:[-·*•]|\d{1,2}\.|>) (?=[*_\"]{0,3}[^\W\d_])", re.IGNORECASE
)  # `#5`, `- Paris`
LABEL_BEGINS = frozenset("nN#-·*•>0123456789")
MATRIX = compile_later(r"\\begin\{([bpvBV]?matrix)\}(.*?)\\end\{\1\}", re.DOTALL)
MEANING = compile_later(  # signs that text without them may be compared loosely
    r"[\d=^_\\+*/<>|{}()\[\]√π∞±≤≥≠×÷%$€£¥°#~,;、&]|(?<![^\W\d_])-|-(?![^\W\d_])|\b[^\W\d_]['!](?![^\W\d_])"
)
LIGHT = compile_later(r"[.'\"!?…]")
BLANKS = compile_later(r"\s+")
LOOSE_BLANKS = compile_later(r"\s+(?!\w)|(?<![\w,;、])\s+")  # `1, 234` is not `1,234`
HAN_BLANKS = compile_later(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])")
ARTICLE = compile_later(r"(?:[Tt]he|THE|an?|An|A(?=\s[a-z]{3})(?!\s(?:minor|major|flat|sharp)))\s+")
UNIT_LIKE = compile_later(r"\d\s?([A-Za-z/]{1,6})(?![A-Za-z])")
SHORT_LETTERS = compile_later(r"(?<![^\W\d_])[^\W\d_]{1,2}(?![^\W\d_])")
NEGATIONS = compile_later(
    r"\b(?:not|no|non|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|\w+n't|"
    r"(?:do|does|did|is|are|was|were|ca|wo|would|should|could|has|have|had)nt)\b"
    r"|[不没沒无無非未否莫勿]"
)


def without_gaps(text: str) -> str:
    """Return a text with each long run of spaces and line ends as one empty line: patterns read such runs in quadratic time.

    >>> without_gaps("a" + 90 * " " + "b"), without_gaps("a  b")
    ('a\\n\\nb', 'a  b')
    """
    return GAP.sub("\n\n", text)


def tidy(text: str) -> str:
    """Normalize characters: one form of widths, dashes, quotes, superscripts and fractions, without wrappers and the final full stop.

    >>> tidy("**“３½”**."), tidy("x²"), tidy("$\\\\boxed{42}$")
    ('3 1/2', 'x^2', '42')
    """
    return _tidied(text) if len(text) > KEPT else _kept(text)


def quasi_exact(answer: str, target: str) -> AnswerMatch | None:
    """Accept the same text in spite of case, quotes, light punctuation and a leading article.

    Case stays where it can mean something: next to digits and symbols, as in `5 mW`.
    """
    if answer == target:
        return accept(RULE, say("The texts are the same."))
    if not _same(answer, target):
        return None
    if len(target) <= 3 and _case_tells(answer, target):
        reason = say(
            "'{answer}' and '{target}' differ in case, which may tell them apart.", answer=answer, target=target
        )
        return refuse(RULE, reason, ambiguous=True)
    return accept(RULE, say("The texts are the same."))


def negations(text: str) -> list[str]:
    """Return the words of a text that turn its meaning around, in both languages.

    >>> negations("it isn't, and never was"), negations("他不是"), negations("knot")
    (["isn't", 'never'], ['不'], [])
    """
    return NEGATIONS.findall(text.casefold())


def _tidied(text: str) -> str:
    if not text.isascii():
        text = INVISIBLE.sub("", text).translate(_traditional())
        text = VULGAR_FRACTION.sub(lambda found: " " + unicodedata.normalize("NFKC", found[0]), text)
        text = SUPERSCRIPTS.sub(lambda found: "^" + found[0].translate(PLAIN_SCRIPT), text)
        text = unicodedata.normalize("NFKC", text).translate(ONE_SIGN)
        text = FOREIGN_DIGIT.sub(lambda found: str(unicodedata.digit(found[0], 0)), text)
    if "\\begin" in text:
        text = MATRIX.sub(_rows, text)
    if "\\" in text or "{" in text:
        for latex, plain in LATEX:
            text = latex.sub(plain, text)
    if "_" in text and (chemical := CHEMICAL.fullmatch(text)) is not None:
        text = re.sub(r"[_{}$]", "", chemical[0])
    return _bare(text)


@lru_cache(maxsize=4096)
def _kept(text: str) -> str:
    return _tidied(text)


def _bare(text: str) -> str:
    for _ in range(MOST_LAYERS):
        text = text.strip()
        before = text
        for opening, closing in WRAPPERS:
            if len(text) > len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing):
                inner = text[len(opening) : -len(closing)]
                if closing not in inner and opening not in inner:
                    text = inner.strip()
        if text.startswith("```") and (fenced := FENCED.fullmatch(text)) is not None:
            text = fenced[1].strip()
        if text[:1] in LABEL_BEGINS and "\n" not in text and (label := LABEL.match(text)) is not None:
            text = text[label.end() :]
        if (choice := CHOICE.fullmatch(text)) is not None:
            text = choice[1] or choice[2]
        if len(text) > 1 and text[-1] in END:
            text = text[:-1]
        elif len(text) > 2 and text[-1] == "!" and text[-3:-1].isalpha():
            text = text[:-1]  # `5!` and `n!` are mathematics
        if text == before:
            break
    return text


def simplified(text: str) -> str:
    """Return the text in simplified characters.

    >>> simplified("無法回答")
    '无法回答'
    """
    return text.translate(_traditional())


def _rows(found: re.Match[str]) -> str:
    """Return a matrix as a list of its rows."""
    rows = [row for row in found[2].split("\\\\") if row.strip()]
    return "[" + ",".join("[" + ",".join(cell.strip() for cell in row.split("&")) + "]" for row in rows) + "]"


@cache
def _traditional() -> Mapping[int, int | str]:
    """Signs that are the same sign: simplified for traditional characters, and the degree for what looks like it."""
    lines = files("proctor_judging.matching").joinpath("traditional.txt").read_text(encoding="utf-8").splitlines()
    pairs = "".join(line for line in lines if not line.startswith("#"))
    return (
        str.maketrans(pairs[::2], pairs[1::2])
        | {ord(sign): "°" for sign in "º˚"}
        | {ord("㎡"): "m^2", ord("㎥"): "m^3"}
    )


def _same(answer: str, target: str) -> bool:
    if MEANING.search(target) or MEANING.search(answer):
        given, other = _tight(answer), _tight(target)
        if given == other:
            return True
        return given.casefold() == other.casefold() and not SHORT_LETTERS.search(target)
    given, other = _folded(answer), _folded(target)
    if given == other:
        return bool(given) or answer == target
    compact = given.replace(" ", "")
    return len(compact) >= 5 and compact == other.replace(" ", "") and len(negations(answer)) == len(negations(target))


def units_differ_in_case(answer: str, target: str) -> bool:
    """True if letters after a number differ in case in a way that may tell units apart: `MHz` and `mHz`, not `Miles` and `miles`."""
    if answer == target or answer.casefold() != target.casefold():
        return False
    pairs = zip(UNIT_LIKE.findall(answer), UNIT_LIKE.findall(target), strict=False)
    return any(
        unit != other and (len(unit) < 3 or unit[1:] != unit[1:].lower() or other[1:] != other[1:].lower())
        for unit, other in pairs
    )


def _case_tells(answer: str, target: str) -> bool:
    """Symbols of units (`mg`, `Mg`) and of chemistry (`Co`, `CO`) are told apart by case alone."""
    unit, other = read_unit(answer), read_unit(target)
    if unit is not None and other is not None:
        return unit != other
    pair = {answer, target}
    written = {answer.title(), answer.upper()}
    return (
        len(target) == 2 and pair == written and answer.lower() not in ("no", "ok", "us", "uk", "eu", "un", "ai", "tv")
    )


def _tight(text: str) -> str:
    return LOOSE_BLANKS.sub("", BLANKS.sub(" ", text))


def _folded(text: str) -> str:
    if (article := ARTICLE.match(text)) is not None and len(text) > article.end():
        text = text[article.end() :]
    text = LIGHT.sub("", text.casefold()).replace("-", " ")
    return HAN_BLANKS.sub("", BLANKS.sub(" ", text)).strip()
