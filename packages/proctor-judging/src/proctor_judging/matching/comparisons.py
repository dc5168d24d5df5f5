"""Read which of two things an English sentence puts first: `Bob is younger than Ann` says Ann, where the question asks who is older."""

import re
from collections.abc import Sequence

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import stem
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY
from proctor_judging.matching.text import negations

ASKS_COMPARISON = compile_later(
    r"\b(?:who|which|what)\b.{0,60}?\b(?P<word>(?!(?:after|other|another|over|under|winter|summer|water|number|river|paper|order|power|letter|member|player|computer|server|user|ever|never|together)\b)\w{2,}er|more|less|most|least|\w{2,}est|won|wins?|win|lost|loses?|better|worse|first)\b",
    re.IGNORECASE,
)
THING = r"\b(?!but\b|and\b|while\b|so\b|as\b)(?:[Tt]he |[Aa]n? )?[\w'’.-]+(?: (?!is\b|was\b|are\b|were\b|isn|has\b|does)[\w'’.-]+){0,4}?"
END = r"(?=\s(?:by|in|with|at|on|for|after|and|because|since|to|during|last|this|when)\b|[,;:.!]|\s[(–—-]|$)"
THAN = compile_later(
    rf"(?P<one>{THING}) (?:is|was|are|were|has|have|had|runs?|ran|weighs?|lasts?|costs?|goes|grows?|comes?|came|lives?|scored|got|took|takes|can \w+|\w+s(?! (?:is|are|was|were|has|have)\b)|\w+ed)\b(?P<verb>n't| not)? ?"
    rf"(?:[\w.,%-]+ ){{0,4}}?(?P<word>\w{{2,}}er|more|less|fewer|better|worse)(?: [\w-]+){{0,3}} than (?P<other>{THING}){END}"
)
AS_AS = compile_later(
    rf"(?P<one>{THING}) (?:is|was|are|were|does|do|did)(?:n't| not)(?: \w+)? (?:quite )?(?:as|so) (?P<word>\w+)(?: \w+)? as (?P<other>{THING}){END}"
)
BEATS = compile_later(
    rf"(?P<one>{THING}) (?:easily |narrowly |just |comfortably )?(?:beats?|beat|towers? over|towered over|defeats?|defeated|out(?!s\b|put)\w{{3,}}(?:s|ed)|exceeds?|exceeded|surpass(?:es|ed)|tops|topped|dwarfs|overt[ao]o?k(?:es)?|edge[sd] (?:out )?|"
    rf"(?:is|was|comes|came|finished) (?:out )?ahead of|has the edge over|won (?:\S+ )?(?:against|over)|triumphed over) (?P<other>{THING}){END}"
)
LOSES_TO = compile_later(
    rf"(?P<one>{THING}) (?:(?:was|were|is|are|got) (?:\w+ )?(?:beaten|defeated|outrun|outscored|outplayed|overtaken|surpassed|topped|dwarfed)(?: [\d–:-]+)? by|(?:lost|loses)(?: [\d–:-]+)? (?:to|against)|trails|falls short of|lags after|"
    rf"comes? (?:in )?after|is no match for) (?P<other>{THING}){END}"
)
LESS = compile_later(
    r"less|least|few|fewer|small|short|light|slow|young|low|cheap|lost|lose|wors|narrow|thin|shallow|weak|poor|near|close|cold|soft|easy|easi|late",
    re.IGNORECASE,
)
RESULT = compile_later(r"won|win|lost|los", re.IGNORECASE)
PAIRS = (
    "old-young old-new tall-short long-short fast-slow quick-slow heavy-light large-small big-small more-less more-few most-least high-low "
    "expensive-cheap dear-cheap strong-weak hot-cold warm-cool warm-cold far-near far-close deep-shallow wide-narrow broad-narrow thick-thin hard-soft hard-easy difficult-easy "
    "early-late rich-poor loud-quiet bright-dark bett-worse great-small great-less"
)
OPPOSITES = frozenset(frozenset(pair.split("-")) for pair in PAIRS.split())
ENDING = compile_later(r"(?<=\w{3})(?:ier|iest|er|est)$")
CUT = {
    "heav": "heavy",
    "larg": "large",
    "eas": "easy",
    "wid": "wide",
    "strang": "strange",
    "earl": "early",
    "clos": "close",
    "bigg": "big",
    "hott": "hot",
    "thinn": "thin",
    "few": "few",
    "lat": "late",
}
ORDER = compile_later(
    r"\bfrom (?:the )?(?P<start>\w+est) to (?:the )?(?P<end>\w+est)(?:[:,]| is| are| they are|, they are:?) (?P<things>[^:;]{3,160})",
    re.IGNORECASE,
)
BETWEEN = compile_later(r"\s?[>,<]\s?(?:and\s|then\s)?|\sand\s|\sthen\s")
NONE = compile_later(r"(?:no|none|nothing|nobody)\b", re.IGNORECASE)
MEASURED = {
    "cost": ("expensive", "cheap"),
    "weigh": ("heavy", "light"),
    "last": ("long", "short"),
    "charge": ("expensive", "cheap"),
}
ARTICLES = compile_later(r"^(?:the|an?) ", re.IGNORECASE)
ASKS_WHETHER = compile_later(
    r"(?:is|are|was|were) (?P<one>[^,?]{1,40}?) (?:\w+ )?(?P<word>\w{2,}er|more|less|fewer|better|worse)(?: \w+)? than (?P<other>[^,?]{1,40})\??",
    re.IGNORECASE,
)
LONGEST = 300


def read_comparison(sentences: Sequence[str], asked: QuestionForm) -> str | None:
    """Return the thing that the last comparing sentence puts first in what the question asks; None if none compares.

    >>> from proctor_judging.matching.asked import read_asked
    >>> read_comparison(["Bob is younger than Ann"], read_asked("Who is older, Ann or Bob?"))
    'Ann'
    >>> read_comparison(["Leo isn't as fast as Max"], read_asked("Who is faster?"))
    'Max'
    """
    wanted = ASKS_COMPARISON.search(asked.clause)
    if wanted is None or not asked.stems:
        return None
    if (placed := _in_order(sentences, wanted["word"])) is not None:
        return placed
    for sentence in reversed(sentences):
        if len(sentence) > LONGEST or GUESS.search(sentence) or OTHERS_SAY.search(sentence):
            continue
        if (thing := _first(sentence, wanted["word"], asked)) is not None:
            return thing
    return None


def _in_order(sentences: Sequence[str], wanted: str) -> str | None:
    """Return the first of an order, or its last: `From oldest to youngest: Nora > Piet > Sam`."""
    match = next(
        (order for sentence in sentences if len(sentence) <= LONGEST and (order := ORDER.search(sentence))), None
    )
    if match is None or _root(wanted) not in (_root(match["start"]), _root(match["end"])):
        return None
    things = [thing.strip(" .") for thing in BETWEEN.split(match["things"])]
    return things[0 if _root(wanted) == _root(match["start"]) else -1]


def _first(sentence: str, wanted: str, asked: QuestionForm) -> str | None:
    fewer = LESS.match(wanted) is not None
    for pattern in (AS_AS, THAN):
        match = pattern.search(sentence)
        if match is None:
            continue
        word = _measured(match)
        same = stem(word) in asked.stems or _root(word) == _root(wanted)
        opposite = not same and frozenset((_root(word), _root(wanted))) in OPPOSITES
        if not same and not opposite:
            return None
        denied = pattern is AS_AS or bool(match["verb"]) or NONE.match(match["one"]) is not None
        return match["one"] if same != denied else match["other"]
    for pattern, winner, loser in ((LOSES_TO, "other", "one"), (BEATS, "one", "other")):
        match = pattern.search(sentence)
        if match is not None and not negations(sentence):
            result = RESULT.match(wanted) is not None
            if fewer and not result:
                return None
            return match[loser] if fewer else match[winner]
    return None


def _measured(found: re.Match[str]) -> str:
    """Return the adjective of a comparison: `more` of what costs more is `expensive`."""
    verb = next((degrees for name, degrees in MEASURED.items() if f" {name}" in found[0]), None)
    word: str = found["word"]
    return word if verb is None or word not in ("more", "less") else verb[word == "less"]


def truth_of_comparison(sentence: str, question: str) -> bool | None:
    """Return whether a comparison holds that a question asks about: `Gold is heavier than lead`, asked whether lead is heavier than gold.

    >>> truth_of_comparison("Gold is heavier than lead", "Is lead heavier than gold?")
    False
    """
    asked, said = ASKS_WHETHER.match(question), THAN.search(sentence)
    if asked is None or said is None or said["verb"]:
        return None
    same = _root(said["word"]) == _root(asked["word"])
    if not same and frozenset((_root(said["word"]), _root(asked["word"]))) not in OPPOSITES:
        return None
    subject, other = (ARTICLES.sub("", said[name]).casefold() for name in ("one", "other"))
    first, second = (ARTICLES.sub("", asked[name]).casefold().rstrip("?") for name in ("one", "other"))
    return same if (subject, other) == (first, second) else not same if (subject, other) == (second, first) else None


def _root(word: str) -> str:
    """Return an adjective without its degree: `heav` of `heavier`; the endings of the pairs are cut alike."""
    word = ENDING.sub("", word.casefold())
    return CUT.get(word, word)
