"""Find the one name that an English reply offers to a question for a name, whatever the words around it.

Names that the question holds, that are denied, quoted of others, compared with, of earlier times, or a part of a relative clause do not
count. One that acts (a subject, `by Bell`) or is the complement of `is` goes before one that only sets the scene.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from proctor.runtime.patterns import compile_later
from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.question_words import NOT_A_NAME, echo, stem
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY
from proctor_judging.matching.text import negations

ASKS_NAME = compile_later(
    r"\b(?:who|whom|whose|where)\b|\b(?:which|what)(?: (?:is|was|are) the (?:name|capital|largest|smallest|biggest|longest|tallest|highest|deepest)\b)?(?: \w+){0,3}? "
    r"(?:city|town|country|state|continent|capital|planet|river|ocean|sea|lake|mountain|desert|island|team|company|person|player|author|writer|artist|composer|scientist|king|queen|"
    r"president|actor|actress|director|university|browser|framework|library|app|website|newspaper|magazine|band|singer|album|song|painting|painter|doctor|professor|teacher|manager|mayor|province|station|hotel|museum|restaurant|church|bridge|building|club|league|party|religion|team|side|car|phone|winner|colleague|book|novel|film|movie|play|language|nation|brand|moon|department|colleague|student|candidate|street|airport|hospital|god|goddess|battle|war|empire|dynasty)\b",
    re.IGNORECASE,
)
ASKS_PLACE = compile_later(
    r"\bwhere\b|\b(?:in|at|on|from|to) (?:which|what)\b|\bcapital\b|\b(?:which|what) (?:\w+ )?(?:city|town|country|state|continent|province|village)\b|\b(?:in|at|on|from|to)\W*$",
    re.IGNORECASE,
)
ASKS_WHO = compile_later(r"\bwho(?:m|se)?\b", re.IGNORECASE)
CLAUSE_END = compile_later(
    r"[,;:()\n]|\s[—–-]\s|—|\s(?:but|while|whereas|although|though|because|since|if|when|so|yet)\s|\s(?=(?:who|whom|whose|which|where)\s)|\s(?:and)\s(?=(?:\w+ed|was|is|has|had|went|took|came|made|\w+ing)\b|(?:the )?[A-Z][\w.]*(?: [A-Z][\w.]*)* (?:\w+ed|is|was|had|has|did)\b)"
)
RELATIVE = compile_later(r"\s?(?:who|whom|whose|which|where)\b", re.IGNORECASE)
NAME = compile_later(
    r"(?<![\w'’])(?:[^\W\d_a-z][\w'’&-]*\.?)(?:\s(?:(?:of|the|de|da|di|la|le|van|von|der|den|du|del|bin|al|ibn|y)\s){0,2}[^\W\d_a-z][\w'’&-]*\.?)*(?:\s\d+(?=$|[\s.,]))?"
)
JOINED = compile_later(r",? (?:and|&) |, ")
CALENDAR = compile_later(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?",
    re.IGNORECASE,
)
NO_NAME = compile_later(r".*(?:ing|ed|ly|tion|tions|ment|ness|sion|wards?)$|(?:.|\d+)$")
TITLE_OF = compile_later(r"\s(?:[a-z]+ ){1,3}$")
VERB = compile_later(r"\b(?:is|was|are|were|has|had|did)\b")
POSSESSIVE = compile_later(r"['’]s?$")
SCENE_BEFORE = compile_later(
    r"\b(?:than|behind|instead of|unlike|rather than|not|nor|after|before|against|over|from|until|except|besides|near|like|with|beat|beats|beating|defeat\w*|succeed\w*|replac\w*|inspired by|born|née|"
    r"followed by|preceded by|about|on|at|in|of|(?<!go )(?<!went )(?<!opt )(?<!vote )(?<!voted )for|starring|outside|between|under|during|via|through|opposite|and|or|across|edged out|ousted|lost to|overtook|married)\s(?:[a-z]+['’]?s?\s){0,2}$",
    re.IGNORECASE,
)
RIVAL_BEFORE = compile_later(
    r"\b(?:than|behind|instead of|unlike|rather than|not|nor|after|before|against|over|from|until|except|besides|near|like|beat|beats|beating|defeat\w*|succeed\w*|replac\w*|followed by|preceded by|inspired by|ousted|overtook|"
    r"married|about|with|in|at|on|for)\s(?:[a-z]+['’]?s?\s){0,2}$",
    re.IGNORECASE,
)
PLACED_BEFORE = compile_later(r"\b(?:in|at|on|from|to|of|near|into|inside|within)\s(?:[a-z]+\s){0,3}$", re.IGNORECASE)
PLACED_AT = compile_later(
    r"\b(?:in|at|on|to|(?:born|came|come|comes|hails?) from|into|inside|within)\s(?:the\s(?:[a-z]+\s){0,2}(?:of\s)?)?$",
    re.IGNORECASE,
)
PAST = compile_later(
    r"\b(?:previous(?:ly)?|formerly|former|predecessor|stepped down|used to|once|earlier|expected|ahead|sometimes|often|commonly|wrongly|mistakenly|rival|contender|runner-up|second place|"
    r"first reports|many people|on the other hand|by contrast|unlike|contrary|instead of|rather than|compared|auditioned|applied|competed|nominated|almost|nearly|before that|originally|(?:came|comes|finished|in) (?:second|third|last|close)|(?:second|third|next|last) (?:after|to|behind|place|only)|no longer|confus\w*|married)\b",
    re.IGNORECASE,
)
LONGEST, MOST_NAMES = 600, 12


class _Name(msgspec.Struct, frozen=True):
    text: str
    acts: bool
    near: int  # words of its clause that the question holds


def read_lone_name(sentences: Sequence[str], asked: QuestionForm) -> str | None:
    """Return the only name that sentences offer to a question that asks for one; None if there are several, or none.

    >>> from proctor_judging.matching.asked import read_asked
    >>> read_lone_name(["The race went to Ann Lee, who trains daily"], read_asked("Who won the race?"))
    'Ann Lee'
    >>> read_lone_name(["Not Ann Lee, sadly"], read_asked("Who won the race?"))
    """
    if not asks_name(asked) or sum(map(len, sentences)) > LONGEST:
        return None
    names = [name for sentence in sentences for name in _names(sentence, asked)][:MOST_NAMES]
    acting = [one for one in names if one.acts]
    if (lone := _lone(acting or names)) is not None and (acting or ASKS_WHO.search(asked.clause)):
        return lone
    nearest = max((one.near for one in acting), default=0)
    return _lone([one for one in acting if one.near == nearest]) if nearest else None


def asks_name(asked: QuestionForm) -> bool:
    return asked.kind in ("words", "") and ASKS_NAME.search(asked.clause) is not None


def _lone(names: Sequence[_Name]) -> str | None:
    """Return the longest of names that are parts of one another; None if they are not."""
    longest = max((name.text for name in names), key=len, default=None)
    return longest if longest is not None and all(name.text in longest for name in names) else None


def _names(sentence: str, asked: QuestionForm) -> Iterable[_Name]:
    if PAST.search(sentence) and CLAUSE_END.search(sentence) is None:
        return
    start = 0
    ends = [*CLAUSE_END.finditer(sentence), None]
    for end in ends:
        clause = sentence[start : end.start() if end is not None else len(sentence)]
        relative = RELATIVE.match(clause) is not None
        doubted = (
            GUESS.search(clause)
            or OTHERS_SAY.search(clause)
            or PAST.search(clause)
            or negations(clause)
            or contradicts(clause, asked.clause)
        )
        if not relative and not doubted:
            yield from _of_clause(clause, sentence[:start].strip() == "", asked)
        start = end.end() if end is not None else start


def _of_clause(clause: str, first: bool, asked: QuestionForm) -> Iterable[_Name]:
    near = len(asked.stems & echo(clause))
    said = asked.clause.casefold()
    place = ASKS_PLACE.search(asked.clause) is not None
    for match in NAME.finditer(clause):
        words = match[0].split(" ")
        at = match.start()
        while words and (
            words[0].casefold().strip(".,'’") in NOT_A_NAME
            or (first and at == 0 and len(words) == 1 and NO_NAME.fullmatch(words[0]))
        ):
            at += len(words[0]) + 1
            words = words[1:]
        owner = bool(words) and POSSESSIVE.search(words[-1]) is not None
        name = POSSESSIVE.sub("", " ".join(words)).strip(" .,")
        if (
            not name
            or CALENDAR.fullmatch(name)
            or name.casefold() in said
            or all(stem(word) in asked.stems for word in name.split())
        ):
            continue
        before, after = clause[:at], clause[match.end() :]
        if owner and after.strip():
            continue
        if _is_modifier(name, after):
            continue
        if place:
            acts = PLACED_AT.search(before) is not None or not PLACED_BEFORE.search(before)
        else:
            acts = SCENE_BEFORE.search(before) is None
        if acts or RIVAL_BEFORE.search(before) is None:
            yield _Name(name, acts, near)


def _is_modifier(name: str, after: str) -> bool:
    """True for an adjective of a country before a name: `Danish` of `the Danish architect Jorn Utzon`."""
    following = NAME.search(after)
    between = after[: following.start()] if following is not None else ""
    return (
        name.endswith(("ish", "an", "ese", "ch", "k"))
        and TITLE_OF.fullmatch(between) is not None
        and not VERB.search(between)
    )
