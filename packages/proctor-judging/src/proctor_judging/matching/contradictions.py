"""Say whether a sentence is about something else than the question: another item, the opposite, another word in its place."""

import re
from functools import cache, lru_cache

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import ASKED_KIND, EMPTY_WORDS, MOST_CHARACTERS, echo, stem, table_lines

MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
ITEMS_OF = tuple(
    map(
        re.compile,
        (
            rf"\b(?!(?:{MONTH})\b)(?P<noun>[A-Z][a-z]*)\s?(?P<label>\d{{1,3}})(?![\d.,%:])\b",  # Q3, Apollo 11
            r"\b(?P<noun>[A-Za-z]{3,12})\s(?P<label>[A-HJ-Z])\b(?!['’.])",  # option B
            r"\b(?P<label>[A-Z]\w+)['’]s\s(?P<noun>[a-z]\w+)",  # Lena's birthday
            r"\b(?P<label>\d+(?:st|nd|rd|th))\s(?P<noun>[A-Za-z]\w+)",  # the 16th president
            r"\b(?P<noun>[a-z]\w+) of (?:the )?(?P<label>[A-Z]\w+|[\"'‘“][^\"'’”]{1,30})",  # the capital of Peru
            r"(?P<noun>每)(?P<label>[天日周月年人个小分秒])",
            r"(?P<label>[一两三四五六七八九十])(?P<noun>[斤天年周次])",
        ),
    )
)
HAN_ASKS = compile_later(r"(?:(?:多少|几)[名个位只]|什么时候|哪一?年)([\u3400-\u9fff]{2})的?[？?]")
HAN_NOUN = compile_later(r"\d[名个位只年月日点](?!为止|左右|前后|上下)([\u3400-\u9fff]{2})的?$")
ASCII_WORD = compile_later(r"[A-Za-z0-9][\w-]*")
SUBJECT_OF = compile_later(r"(?:the |an? )?([A-Za-z][\w'-]+) ([a-z]\w+)\b(?=.*\d)", re.IGNORECASE)  # of amounts only
DENIED = compile_later(r"(?:\b(?:not|never)|n['’]t) (?:be |been )?[a-z]+")  # what is not covered is excluded
CONTRACTED = compile_later(r"['’](?:s|d|ll|re|ve)$")
INITIAL = compile_later(r"\b[A-Z](?=\w+)")
ASKS_SUBJECT = compile_later(r"(?:who|which|what (?!is|are|was|were|do|does|did))", re.IGNORECASE)
KINDS = compile_later("(?:ship|film|movie|book|novel|war|battle|building|tower|bridge|company|city|game|album|song)$")
LINKS = frozenset(["and", "or"])
COPULAS = frozenset(["is", "was", "are", "were", "has"])
GENERIC_WORDS = (
    "both each all only about expression equation function answer total result sum difference price cost value number amount "
    "usual standard typical normal official distance speed time height length weight mass size area volume age rate temperature date "
    "probability solution product you we"
)
GENERIC = frozenset(GENERIC_WORDS.split())
RANKED = compile_later(
    r"\bleast\s(?=\w)(?!\d)|"
    r"\b(?:second|third|fourth|fifth|next)[ -](?:\w+est|most|person|man|woman|people|country|one)\b|第[二三四五](?![届章回部季版代期号页条款])|(?<![车班航层档名批])次[高大长多](?!约)",
    re.IGNORECASE,
)
COMPARES = compile_later(
    r"(\w+)[^,.;]{0,60}?\sthan\s(?:the\s)?(\w+)|(\w{2,4})比(\w{2,4}?)(?=[高低矮多少大小长短重轻快慢贵早晚])",
    re.IGNORECASE,
)


def about_another(sentence: str, question: str) -> bool:
    """True if a sentence is about another numbered or lettered item than the question, such as option A instead of option B.

    >>> about_another("Team B scored 20", "How many did team A score?"), about_another("It was 5 in Q3", "What in Q3?")
    (True, False)
    """
    asked, said = _items(question[:MOST_CHARACTERS]), _items(sentence)
    return any(labels.isdisjoint(said.get(noun, labels)) for noun, labels in asked.items())


def _items(text: str) -> dict[str, set[str]]:
    items: dict[str, set[str]] = {}
    for pattern in ITEMS_OF:
        for match in pattern.finditer(text):
            if (noun := stem(match["noun"])) not in EMPTY_WORDS:
                items.setdefault(noun, set()).add(match["label"].casefold().lstrip("\"'‘“"))
    return items


def contradicts(sentence: str, question: str) -> bool:
    """True if a sentence says the opposite of the target, such as "lost" where the question asks who won.

    >>> contradicts("Sales fell by 5%", "By how much did sales rise?"), contradicts("They rose by 5%", "How did sales rise?")
    (True, False)
    """
    question = question[:MOST_CHARACTERS]
    if not question or about_another(sentence, question):
        return bool(question)
    compared, asked = _comparison(sentence), _comparison(question)
    if compared is not None and asked is not None:
        former, latter = compared[2] or compared[4], asked[2] or asked[4]
        is_one_name = f"{latter} {former}" in question  # Monica Seles, of which a reply says Seles
        if former.casefold() != latter.casefold() and former in question and not is_one_name:
            return True  # Amy is taller than Ben, asked how much taller Ben is
    ranked = RANKED.search(sentence)
    if (
        ranked is not None
        and ranked[0].split()[0].casefold() not in question.casefold()
        and not RANKED.search(question)
    ):
        return True  # the second largest, asked for the largest
    if _replaces(sentence, question):
        return True
    return says_opposite(sentence, question)


def _comparison(text: str) -> re.Match[str] | None:
    has_word = "比" in text or "than" in text.casefold()  # COMPARES is slow where there is none
    return COMPARES.search(text) if has_word else None


def says_opposite(sentence: str, question: str) -> bool:
    """True if a sentence has the opposite of a word of the question, and not the word: `closed`, asked whether it is open.

    >>> says_opposite("It is closed", "Is it open?"), says_opposite("It was open, now it is closed", "Is it open?")
    (True, False)
    """
    pairs = _opposites_in(DENIED.sub("", question))
    return any(that.search(sentence) and not this.search(sentence) for this, that in pairs)


@lru_cache(maxsize=512)
def _opposites_in(question: str) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return the pairs of opposites of which a question has the first word and not the second."""
    both_ways = [(this, that) for pair in _opposites() for this, that in (pair, pair[::-1])]
    return [(this, that) for this, that in both_ways if this.search(question) and not that.search(question)]


def _replaces(sentence: str, question: str) -> bool:
    """True if a sentence has another word where the question has one: a blue ball for a red ball, 男生 for 女生, Silver for gold."""
    words, asked = _words(sentence), _words(question)
    known, here = set(asked), set(words)
    slots = {
        (left, right): word
        for left, word, right in zip(asked, asked[1:], asked[2:], strict=False)
        if not {left, word, right} & (EMPTY_WORDS | LINKS)
    }
    for left, word, right in zip(words, words[1:], words[2:], strict=False):
        other = slots.get((left, right), word)
        if word not in known | EMPTY_WORDS and other not in here and not word[0].isdigit():
            return True
    in_place, said = HAN_ASKS.search(question), HAN_NOUN.search(sentence)
    if in_place is not None and said is not None:
        noun, other = in_place[1], said[1]
        return noun not in sentence and other not in question and other not in _verbs_like(noun)
    subject = SUBJECT_OF.match(sentence)
    if (
        subject is None
        or ASKS_SUBJECT.match(question)
        or (name := CONTRACTED.sub("", subject[1])).casefold() in GENERIC | EMPTY_WORDS
        or stem(name) in known
        or (KINDS.match(name) and INITIAL.search(question, 1))
        or (len(name) > 1 and name in "".join(INITIAL.findall(question)))  # the UN, of the United Nations
    ):
        return False
    content = echo(ASKED_KIND.sub("", question))
    return bool(content & here) and not content <= here and stem(subject[2]) in content | COPULAS


@lru_cache(maxsize=512)
def _verbs_like(verb: str) -> frozenset[str]:
    """Return the Chinese verbs that may replace another one: 举行 for 举办."""
    groups = (line.split(" ") for line in table_lines("han_verbs.txt"))
    return frozenset(other for group in groups if verb in group for other in group)


def _words(text: str) -> list[str]:
    return [stem(word) for word in ASCII_WORD.findall(text) if word.casefold() not in ("the", "a", "an")]


@cache
def _opposites() -> list[list[re.Pattern[str]]]:
    pairs = [line.split(" / ") for line in table_lines("opposites.txt")]
    return [
        [re.compile(rf"\b(?:{word})" if word.isascii() else word, re.IGNORECASE) for word in pair] for pair in pairs
    ]
