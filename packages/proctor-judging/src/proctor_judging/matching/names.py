"""Compare names and abbreviations: a small table, the order of the parts of a name, titles, accents."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from proctor.core.sentence import say
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import table_lines
from proctor_judging.matching.text import SHORT_LETTERS, negations
from proctor_judging.matching.verdict import AnswerMatch, accept

RULE = "names"
LONGEST = 200
DIGIT = compile_later(r"\d")
LIGHT = compile_later(r"(?<!\d)[.'\"]")
BLANKS = compile_later(r"\s+|(?<=[^\W\d_])-(?=[^\W_])")
ARTICLE = compile_later(r"the ")
TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "sir", "dame", "lord", "lady", "president", "king", "queen", "emperor", "empress", "prince", "princess", "pope", "captain", "colonel", "senator", "rev", "judge", "justice", "mayor", "chancellor"])  # fmt: skip
HAN_TITLE = compile_later(r"(?<=[\u3400-\u9fff]{2})(?:先生|女士|博士|教授|同志)$")
SHORT_FORMS = {"st": "saint", "mt": "mount", "ft": "fort", "&": "and", "jr": "junior", "sr": "senior", "vs": "versus"}
SHORT_FORMS |= {
    "doctor": "dr",
    "professor": "prof",
    "univ": "university",
    "dept": "department",
    "inc": "incorporated",
    "corp": "corporation",
    "ltd": "limited",
}
SHORT_FORMS |= {"colour": "color", "favourite": "favorite", "grey": "gray", "centre": "center", "theatre": "theater"}
SHORT_FORMS |= {"aluminium": "aluminum", "sulphur": "sulfur", "behaviour": "behavior", "organisation": "organization"}
KIND_OF_PLACE = compile_later(
    r"^(?:mount|mt) (?=\w{4})|(?<=\w{4}) (?:river|ocean|mountains|desert|mountain range|peninsula)$"
)
LAST_FIRST = compile_later(r"([^\W\d]{2,}(?:[ -][^\W\d]+)?), ([^\W\d][\w.' -]*)")
BARRED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i"})
SUFFIX = compile_later(r", (jr|sr|inc|ltd)$")
PERSON = compile_later(r"[A-Z](?:[^\W\d_]|['-])*\.?")
INITIALS = compile_later(r"\b([a-z]) (?=[a-z]\b)")


def names(answer: str, target: str) -> AnswerMatch | None:
    """Compare two names in different forms, without guessing: neither `Smith` nor `J. Smith` equals `John Smith`."""
    if max(len(answer), len(target)) > LONGEST:
        return None
    if len(negations(answer)) != len(negations(target)) and _key(target) not in _aliases():
        return None
    first, second = _key(answer), _key(target)
    table = _aliases()
    if DIGIT.search(target) and SHORT_LETTERS.search(target) and first not in table:  # 3 Mb is not 3 MB
        return None
    if first in table and table[first] == table.get(second):
        return accept(RULE, say("Both name the same."))
    forms, expected = _forms(answer), _forms(target)
    if forms & expected or forms & _untitled(expected) or _untitled(forms) & expected:
        return accept(RULE, say("Both name the same."))
    if _placed(forms) & expected or forms & _placed(expected):
        return accept(RULE, say("Both name the same."))
    if _middle_agrees(answer, target):
        return accept(RULE, say("The same first and last name; a middle name is left out or shortened."))
    return None


def known_name(text: str) -> str:
    """Return the first name in the table of what a text names, so that two names of one thing are the same; else the text unchanged."""
    index = _aliases().get(_key(text))
    return text if index is None else f"\x00{index}"


@cache
def _aliases() -> Mapping[str, int]:
    lines = [line for table in ("aliases.txt", "han_aliases.txt") for line in table_lines(table)]
    return {_key(name): index for index, line in enumerate(lines) for name in line.split("|")}


def _key(text: str) -> str:
    text = SUFFIX.sub(r" \1", BLANKS.sub(" ", LIGHT.sub("", text.casefold())).strip())
    text = ARTICLE.sub("", text, count=1) if text.startswith("the ") else text
    return INITIALS.sub(r"\1", text)  # u s a, j k rowling


def _forms(text: str) -> frozenset[str]:
    """Return the ways a name may be written that are surely the same name."""
    texts = [text]
    if (turned := LAST_FIRST.fullmatch(text)) is not None and text[:1].isupper() and turned[2][:1].isupper():
        texts.append(f"{turned[2]} {turned[1]}")  # Einstein, Albert
    keys = (_key(_without_accents(one)).split(" ") for one in texts)
    return frozenset(" ".join(SHORT_FORMS.get(word, word) for word in words) for words in keys) - {""}


def _untitled(forms: frozenset[str]) -> frozenset[str]:
    """Return the names without Mr or 先生, and without each of several titles; two different titles are two different people."""
    untitled = set()
    for form in forms:
        title, _, rest = form.partition(" ")
        if title in TITLES and " " in rest:
            more = _untitled(frozenset([rest]))
            untitled |= {rest, *more, *(f"{title} {name}" for name in more)}
        if (bare := HAN_TITLE.sub("", form)) != form:
            untitled.add(bare)
    return frozenset(untitled)


def _placed(forms: frozenset[str]) -> frozenset[str]:
    """Return the names without the kind of the place: `rhine` of `rhine river`, `kilimanjaro` of `mount kilimanjaro`."""
    return frozenset(KIND_OF_PLACE.sub("", form) for form in forms)


def _without_accents(text: str) -> str:
    """São Paulo is Sao Paulo, naïve is naive; an ñ in lower case (`año`) is another letter."""
    if text.isascii() or (not text[:1].isupper() and "ñ" in text):
        return text
    text = unicodedata.normalize("NFD", text.translate(BARRED))
    return "".join(char for char in text if unicodedata.category(char) != "Mn")


def _middle_agrees(answer: str, target: str) -> bool:
    """`John F. Kennedy` is `John Kennedy`, `George Walker Bush` is `George W. Bush`; another initial is another person."""
    given, other = (_without_accents(text).replace(".", ". ").split() for text in (answer, target))
    if min(len(given), len(other)) < 2 or not all(PERSON.fullmatch(word) for word in (*given, *other)):
        return False
    if _initials_agree(given, other):
        return True
    if any(len(word.rstrip(".")) < 2 for word in (given[0], given[-1], other[0], other[-1])):
        return False
    if (given[0].casefold(), given[-1].casefold()) != (other[0].casefold(), other[-1].casefold()):
        return False
    first, second = ([word.rstrip(".") for word in words[1:-1]] for words in (given, other))
    if not first or not second:
        return all(len(word) == 1 for word in (*first, *second)) and len(first) + len(second) == 1
    return len(first) == len(second) and all(
        a == b or (1 in (len(a), len(b)) and a[0] == b[0]) for a, b in zip(first, second, strict=True)
    )


def _initials_agree(one: list[str], other: list[str]) -> bool:
    """`A. G. Bell` is `Alexander Graham Bell`: two given names or more, each an initial of the other; one initial is too little."""
    if len(one) != len(other) or len(one) < 3 or one[-1].casefold() != other[-1].casefold() or len(one[-1]) < 2:
        return False
    given = [(a.rstrip("."), b.rstrip(".")) for a, b in zip(one[:-1], other[:-1], strict=True)]
    return all(a == b or (1 in (len(a), len(b)) and a[:1] == b[:1]) for a, b in given)
