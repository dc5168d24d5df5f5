"""Weigh which of several amounts a question asks for, by the words that belong to each of them.

A word of the question counts for an amount when the amounts next to it lack the word. What the question counts (`how many eggs`)
says little, as later amounts leave it out (`24 eggs, used 9, has 15 left`); what it asks about it (`use`, `left`, a name, a place) says more.
"""

import re
from collections.abc import Sequence

import msgspec

from proctor_judging.matching.asked import MEASURES
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import EMPTY_WORDS, HAN_LETTER, MOST_CHARACTERS, echo, interrogative, stem

LEAST_LEAD = 1.0  # of the best amount over another one, in weights of words
HEAD, OTHER, HAN_PAIR_WEIGHT, HAN_WEIGHT = 1.0, 2.0, 2.0, 1.0
COUNTED = compile_later(
    r"how (?:many|much) (?:of (?:the|his|her|its|their|these|those) )?((?:[\w'-]+ ){0,3}?[\w'-]+) "
    r"(?:did|do|does|are|were|is|was|have|has|had|can|will|would|could|should|(?<=s )(?:in|of|on|at))\b|how (?:many|much) (?:of (?:the|his|her|its|their|these|those) )?([\w'-]+)",
    re.IGNORECASE,
)
HAN_COUNTED = compile_later(
    r"(?:多少|几)([个名位只颗本张条辆棵座把支趟班次人页岁层架艘块件套份]?)([\u3400-\u9fff]{0,4})"
)
HAN_OF = compile_later(r"(?:^|，|在)([\u3400-\u9fff]{1,4}?)的(?!有?(?:多少|几))")
HAN_MEASURE = compile_later(r"[长宽高深厚重](?=多少|几|是|为)|(?<=多)[长宽高深厚重]")
HAN_PREFIX = compile_later(r"[\d一二三四五六七八九十百]")
FIRST_DIGIT = compile_later(r"\d")
HAN_TIME = compile_later(
    r"[今去明前后]年|[今昨明前后]天|现在|以前|原来|目前|如今|当时|后来|[上下]午|早[上晨]|中午|晚上|[上下本]个?[月周学]期?|第[一二三四五六七八九十\d]{1,3}[\u3400-\u9fff]"
)
PLURAL = compile_later(r"(?:[a-z]+ )?(?:[a-z]{2,}s|people|men|women|children|sheep|fish|geese|mice|feet|teeth)$")
HAN_SUBJECT = compile_later(r"的([\u3400-\u9fff]{1,3}?)(?:一?共?有|是|剩|卖了?)?(?:多少|几)")
TELLING = frozenset(["originally", "founded", "before", "after", "both", "all", "most", "during", "since"])
PARTICLE = compile_later(
    r"\b(?:off|out|up|down|away|back|on(?=[?,.]|\s?$|\s+(?:and|at)\b)|in(?=[?,.]|\s?$|\s+(?:just|only)\b))\b",
    re.IGNORECASE,
)
WORD = compile_later(r"[^\W_\u3400-\u9fff]+")
PAIR = compile_later(r"(?=([\u3400-\u9fff]{2}))")
SPLIT = compile_later(
    r"\b(?:and|but|while)\b|\b(?:with|for|in|of|to|from|at|against|after|before|than|out of)\b|[，、和与的中里]"
)
LEADING = compile_later(
    r"(?:at|in|on|during|for|by) [^,\d]{1,40}?(?=,|\d|\s(?:the|it|they|he|she|there|you|we)\b)", re.IGNORECASE
)
SUBJECT = compile_later(
    r"(?!(?:before|after|until|since|as|if|when|with|of|at|in|on|by|for|from|to)\b)(?:the |an? |each |every |our |his |her |their )?[\w'’-]+(?: (?:has|have|had|is|was|were|are|will|can|did))?(?: (?!\d)[\w'’-]+)?(?=\s)",
    re.IGNORECASE,
)
OTHER_SUBJECT = compile_later(
    r"(?!(?:before|after|until|since|as|if|when|with|of|at|in|on|by|for|from|to)\b)(?:then )?([A-Z][a-z]+)\b(?=\s[a-z])|([小老阿]?[\u3400-\u9fff]{1,3})(?=比|有(?!的))"
)
WHOLE = compile_later(
    r"\b(?:are|were) there\b|\b(?:in total|in all|altogether)\b|[总一]?共有?|全[班部校体]", re.IGNORECASE
)


SAME_MEASURE = {
    "wide": "width",
    "long": "lengt",
    "high": "heigh",
    "tall": "heigh",
    "deep": "depth",
    "heavy": "weigh",
    "old": "age",
    "lent": "lend",
    "used": "use",
}


class AmountEvidence(msgspec.Struct, frozen=True):
    """The words that belong to an amount, those right after it, and those that lead the sentence for all its amounts."""

    cell: str
    noun: str = ""
    lead: str = ""


def cell_of(clause: str, start: int, end: int, since: int, until: int) -> str:
    """Return the words of a clause that belong to the amount from `start` to `end`, between the amounts that end and start there.

    >>> clause = "the hosts scored 88 points to the visitors' 93"
    >>> cell_of(clause, 17, 19, 0, 44), cell_of(clause, 44, 46, 19, len(clause))
    ('the hosts scored  points to', " the visitors'  ")
    """
    before, after = clause[since:start], clause[end:until]
    if since and (cut := _cut(before)) is not None:
        before = before[cut:]
    if until < len(clause):
        cut = _cut(after)
        after = after[: cut if cut is not None else len(after)]
    return before + " " + after.strip()


def _cut(between: str) -> int | None:
    match = SPLIT.search(between)
    return None if match is None else match.start() if match[0] == "的" else match.end()


def weigh(evidence: Sequence[AmountEvidence], question: str) -> list[float]:
    """Return for each amount how much of what tells the amounts apart is asked for.

    >>> cells = [AmountEvidence("Six flights were delayed"), AmountEvidence("four cancelled")]
    >>> weigh(cells, "How many flights were cancelled?")
    [0, 2.0]
    """
    weights = _weights(question, [each.noun for each in evidence])
    texts = [each.cell + " " + each.lead for each in evidence]
    has = [{word for word in weights if _has(text, words, word)} for text in texts for words in [words_of(text)]]
    shared = set.intersection(*has) if has else set()
    asked = set(map(str.casefold, MEASURES.findall(interrogative(question))))
    named = [set(map(str.casefold, MEASURES.findall(each.cell))) for each in evidence]
    rivals = [OTHER if asked and measures and measures.isdisjoint(asked) else 0 for measures in named]
    return [sum(weights[word] for word in words - shared) - rival for words, rival in zip(has, rivals, strict=True)]


def leading(evidence: Sequence[AmountEvidence], question: str) -> list[int]:
    """Return the positions of the amounts that are clearly asked for rather than the others; all where none is."""
    weights = weigh(evidence, question)
    most = max(weights, default=0)
    if most - min(weights, default=0) < LEAST_LEAD:
        return list(range(len(evidence)))
    return [index for index, weight in enumerate(weights) if weight > most - LEAST_LEAD]


def words_of(text: str) -> set[str]:
    """Return the words of a text, in Chinese as characters and pairs of them."""
    text = text[:MOST_CHARACTERS]
    words = {
        SAME_MEASURE.get(one := stem(word), one)
        for word in WORD.findall(text)
        if word.casefold() not in EMPTY_WORDS - TELLING
    }
    return words | set(HAN_LETTER.findall(text)) - EMPTY_WORDS | set(PAIR.findall(text)) | set(PARTICLE.findall(text))


def _has(text: str, words: set[str], word: str) -> bool:
    """Return True if a text has a word, or one that differs only by an ending: `used` for `use`."""
    if not word.isascii():
        return word in text
    if word in words or len(word) < 3:
        return word in words
    return any(min(len(one), len(word)) >= 3 and (one.startswith(word) or word.startswith(one)) for one in words)


def counted(question: str) -> str:
    """Return the last word of what a question counts: `eggs` of `how many brown eggs are left`; '' for another question.

    >>> counted("How many brown eggs are left?"), counted("他有几个兄弟？"), counted("How long is it?")
    ('eggs', '兄弟', '')
    """
    clause = interrogative(question)
    if (english := COUNTED.search(clause)) is not None:
        return (english[1] or english[2]).split()[-1]
    han = HAN_COUNTED.search(clause)
    if han is not None and han[1] != "人" and (noun := han[2].rstrip("呢了吗的")):
        return noun
    subject = HAN_SUBJECT.search(clause)
    return "" if subject is None else subject[1]


def _weights(question: str, nouns: Sequence[str]) -> dict[str, float]:
    clause = interrogative(question)
    head = words_of(counted(question))
    weights = {}
    for word in words_of(clause):
        if not word.isascii():
            weights[word] = HAN_PAIR_WEIGHT if len(word) > 1 else HAN_WEIGHT
        elif len(word) > 1 or word.isdigit() or len(clause) < 20:
            weights[word] = OTHER
    for match in HAN_OF.finditer(clause):
        weights[match[1]] = OTHER + HAN_PAIR_WEIGHT
    weights |= dict.fromkeys(HAN_MEASURE.findall(clause), OTHER + HAN_PAIR_WEIGHT)
    weights |= dict.fromkeys(HAN_TIME.findall(clause), 2 * (OTHER + HAN_PAIR_WEIGHT))
    for word in head & weights.keys():
        weights[word] = HEAD if all(len(noun) > 1 for noun in nouns) else 0
    phrase = COUNTED.search(clause)
    if phrase is not None and len(nouns) > 1 and all(PLURAL.match(noun) for noun in nouns):
        weights |= dict.fromkeys(words_of(phrase[1] or phrase[2]), OTHER + HEAD)  # 12 horses, 5 ponies
    return weights


def subject_in(clause: str) -> str | None:
    """Return the subject with which a clause begins: a name in English, a noun before `比` or `有` in Chinese."""
    match = OTHER_SUBJECT.match(clause.strip())
    return None if match is None else match[1] or match[2]


def lead_of(sentence: str, clause: str, question: str) -> str:
    """Return the words at the start of a sentence that hold for the amounts of a later clause too: `At Leeds` of `At Leeds 14 got off`."""
    if not sentence.isascii():
        asked = interrogative(question)
        same = next((index for index, pair in enumerate(zip(sentence, asked, strict=False)) if len(set(pair)) > 1), 0)
        first, own = (HAN_PREFIX.split(text, maxsplit=1)[0] for text in (sentence, clause))
        return sentence[:same] if len(first) - len(own) >= 2 or sentence.startswith(clause) else ""
    match = LEADING.match(sentence) or SUBJECT.match(sentence)
    digit = FIRST_DIGIT.search(sentence)
    return match[0] if match is not None and (digit is None or match.end() <= digit.start()) else ""


def asks_for_whole(question: str) -> bool:
    """Return True if a question asks how many there are, without a word that narrows them down.

    >>> asks_for_whole("How many cats are there?"), asks_for_whole("How many cats are black?")
    (True, False)
    """
    clause = HAN_COUNTED.sub(r"\2", WHOLE.sub("", interrogative(question)))
    return bool(counted(question)) and echo(clause) <= echo(counted(question)) and WHOLE.search(question) is not None
