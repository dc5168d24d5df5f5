"""Read what a reply fills into the gaps of a sentence that it says again, in part or with other words around them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, permutations
from math import inf
from typing import NamedTuple

import msgspec

from proctor_judging.matching.porter import stem
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY
from proctor_judging.matching.text import negations

TOKEN = re.compile(
    r"[^\W\d_\u3400-\u9fff]+(?:['’-][^\W\d_\u3400-\u9fff]+)*|\d+(?:,\d{3}(?!\d))*(?:[.:/]\d+)*|[\u3400-\u9fff]|\n|[^\w\s]"
)
CLOSES = frozenset(",;，；—–:\n")
ENDS_SENTENCE = frozenset("!?。！？\n")
NEW_SENTENCE = re.compile(r"\s*(?:[A-Z(\u3400-\u9fff\n]|$)")
QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|‘[^’]*’")
QUOTES = frozenset("\"“”'‘’「」《》*`")
BRACKETS = frozenset("()[]")
PUNCTUATION = CLOSES | ENDS_SENTENCE | QUOTES | BRACKETS | {"."}
ABBREVIATED = frozenset(["dr", "mr", "mrs", "ms", "st", "mt", "vs"])
SAME = dict.fromkeys(["are", "was", "were", "be"], "is") | dict.fromkeys("为叫即于", "是") | {"其": "它"}
SAME |= dict.fromkeys(["and", "while", "whereas", "&", "与", "及", "、"], "和")
SAME |= dict.fromkeys(["roughly", "approximately"], "about") | dict.fromkeys(["have", "had"], "ha")
SMALL = frozenset(["that", "this", "with", "from", "they", "it's", *"的了是它和一这那个"])
PRONOUNS = frozenset(["it", "he", "she", "they", "this", "that", *"它他她这该"])
GAP = "____"
JOINS = CLOSES | {"和"}
MOST_MOVED = 3  # gaps that a reply may fill in another order
MOVED = 0.5  # how much better another order must fit
LONE = -0.5  # what a Chinese character gains that is in both, and neither one next to it
ANCHOR = 0.4  # what a gap gains on each side where it is next to the same word
LONGEST_GAP = 80
MOST_TOKENS = 600
MOST_STEPS = 10_000  # tokens of the reply times words of the sentence
STEPS_OF_ORDERS = 6
LEAST_WORDS = 2


class ReplyToken(msgspec.Struct, frozen=True):
    """A word, a Chinese character or a punctuation mark, with its position."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.text not in PUNCTUATION


class Filling(NamedTuple):
    """The tokens of a reply that stand in one gap."""

    start: int
    end: int


class GapPath(NamedTuple):
    """How well a beginning of a reply fits a beginning of the sentence, and what fills its gaps; `opened` is where the open one starts."""

    fit: float
    spans: tuple[Filling, ...] = ()
    opened: int = 0


NONE = GapPath(-inf)


def align(reply: str, pieces: Sequence[str], least_share: float = 0.4) -> list[str] | None:
    """Return what a reply has between the pieces of a sentence with gaps; None where it repeats too few of them, or doubts.

    >>> align("It starts at 10:30 and, as planned, ends at 11:15.", ["The meeting starts at", "and ends at", "."])
    ['10:30', '11:15']
    """
    matches = [match for match in TOKEN.finditer(reply) if match[0] not in QUOTES]
    plain = [[_canonical(word) for word in TOKEN.findall(piece) if word not in QUOTES | BRACKETS] for piece in pieces]
    most_tokens = min(MOST_TOKENS, MOST_STEPS // (1 + sum(map(len, plain))))
    tokens = (
        [ReplyToken(_canonical(match[0]), *match.span()) for match in matches[-most_tokens:]] if most_tokens else []
    )
    clauses = _clauses(plain)
    orders = {tuple(range(len(plain) - 1)): plain}
    if 1 < len(clauses) <= MOST_MOVED and len(tokens) <= most_tokens // STEPS_OF_ORDERS:
        orders |= {order: _in_order(clauses, order) for order in permutations(range(len(clauses)))}
    paths = {order: _best_path(tokens, reply, template) for order, template in orders.items()}
    order = max(paths, key=lambda order: paths[order].fit - _cost_of_order(order, paths[order], tokens, reply, clauses))
    best, plain = paths[order], orders[order]
    texts = [token.text for token in tokens]
    known = SMALL | PRONOUNS | {word for piece in plain for word in piece}
    if best.fit == -inf or not all(_is_filling(texts, *pair, known) for pair in zip(best.spans, plain, strict=False)):
        return None
    if len(pieces) == 2 and not (
        _follows(texts, best.spans[0], plain[0])
        or _sentence_start(tokens, best.spans[0].start, reply) == best.spans[0].start
    ):
        return None
    stretches = _stretches(best.spans, tokens, reply)
    if not _repeats_enough(stretches, plain, least_share) or _is_of_another(stretches, plain):
        return None
    answers = [reply[tokens[filling.start].start : tokens[filling.end - 1].end] for filling in best.spans]
    start = _sentence_start(tokens, best.spans[0].start, reply)
    end = min(_sentence_end(tokens, best.spans[-1].end, reply), len(tokens) - 1)
    said = reply[tokens[start].start : tokens[end].end]
    if _doubts(said) != _doubts(" ".join([*pieces, *answers])):
        return None
    return [answers[order.index(gap)] for gap in range(len(answers))]


class GapClause(NamedTuple):
    """The words of a sentence before and after one of its gaps, and what joins them to the clause before."""

    join: Sequence[str]
    lead: Sequence[str]
    trail: Sequence[str]


def _clauses(plain: Sequence[Sequence[str]]) -> list[GapClause]:
    """Return the clause of each gap; none where no comma or `and` parts two gaps."""
    ends = [next((at for at, word in enumerate(piece) if word in JOINS), None) for piece in plain[1:-1]]
    clauses, lead, join = [], plain[0], plain[0][:0]
    for end, piece in zip([*ends, len(plain[-1])], plain[1:], strict=True):
        if end is None:
            return []
        clauses.append(GapClause(join, lead, piece[:end]))
        join, lead = piece[end : end + 1], piece[end + 1 :]
    return clauses


def _in_order(clauses: Sequence[GapClause], order: Sequence[int]) -> list[list[str]]:
    """Return the pieces of a sentence whose clauses are put in another order; the joins stay where they are."""
    moved = [
        [*clauses[here].trail, *joined.join, *clauses[then].lead]
        for joined, (here, then) in zip(clauses[1:], pairwise(order), strict=True)
    ]
    return [[*clauses[order[0]].lead], *moved, [*clauses[order[-1]].trail]]


def _cost_of_order(
    order: Sequence[int], path: GapPath, tokens: Sequence[ReplyToken], reply: str, clauses: Sequence[GapClause]
) -> float:
    """Return how much better another order must fit: it counts only where each clause has words of its own, and none that the sentence lacks."""
    if [*order] == sorted(order) or not path.spans:
        return 0.0
    stretches = _stretches(path.spans, tokens, reply)
    for at, before, after in zip(order, stretches, stretches[1:], strict=False):
        own = {*clauses[at].lead, *clauses[at].trail}
        others = {word for clause in clauses if clause is not clauses[at] for word in (*clause.lead, *clause.trail)}
        last = max((index + 1 for index, token in enumerate(before) if token.text in JOINS), default=0)
        first = next((index for index, token in enumerate(after) if token.text in JOINS), len(after))
        words, rest = ({token.text for token in part} for part in (before[last:], after[:first]))
        is_named = any(map(str.isalnum, (words | rest) & own - others - SMALL))
        if set(filter(_has_meaning, words)) - own - others or not is_named:
            return inf
    return MOVED


def _doubts(text: str) -> int:
    """Return how many words of a text that are not quoted deny or doubt what it says, or report what others say."""
    text = QUOTED.sub("", text)
    return len(negations(text)) + len(GUESS.findall(text)) + len(OTHERS_SAY.findall(text)) + text.count("?")


def _canonical(word: str) -> str:
    """Return a word in lower case, and words that say the same next to a gap as one."""
    return SAME.get(word.casefold()) or stem(word.casefold())


def _best_path(tokens: Sequence[ReplyToken], reply: str, plain: Sequence[Sequence[str]]) -> GapPath:
    """Return the path through the sentence and the reply on which most words are the same; `NONE` where none fills each gap.

    Words of either that the other lacks cost something, and what fills a gap costs as much as a word too many. A gap
    gains where it is next to the same word as in the sentence.
    """
    template = [word for piece in plain for word in (*piece, GAP)][:-1]
    texts = [token.text for token in tokens]
    ends = [_ends_sentence(tokens, at, reply) for at in range(len(tokens))]
    depths = [0, *accumulate((text == "(") - (text == ")") for text in texts)]
    starts = [at == 0 or ends[at - 1] or texts[at - 1] == ":" for at in range(len(tokens))]
    free = [NONE] * (len(tokens) + 1)  # by tokens of the reply: the best path that is in no gap
    for at, text in enumerate(texts):
        free[at] = max(free[at], GapPath(0.0)) if starts[at] else free[at]
        free[at + 1] = _less(free[at], _further(text))
    joined, after_gap = [NONE] * len(free), [NONE] * len(free)  # … whose last words are the same, whose gap just closed
    for word in template:
        came, met, closed = free, joined, after_gap
        free, joined, after_gap = [NONE] * len(came), [NONE] * len(came), [NONE] * len(came)
        inside = NONE
        for at in range(len(came)):
            text = texts[at - 1] if at else ""
            if word is GAP:
                if at:
                    entered = max(came[at - 1], _less(met[at - 1], -ANCHOR), key=_fit)
                    entered = _less(entered, depths[at] * ANCHOR)._replace(opened=at - 1)
                    if text in CLOSES or (entered.spans and entered.spans[-1].end == at - 1):
                        entered = NONE  # something is between two gaps
                    inside = _less(max(inside, entered, key=_fit), inf if ends[at - 1] else _within(tokens, at - 1))
                    if depths[at] == depths[inside.opened]:  # in the same brackets
                        after_gap[at] = inside._replace(spans=(*inside.spans, Filling(inside.opened, at)))
                free[at] = after_gap[at]
            else:
                free[at] = _less(came[at], _further(word))
                if at:
                    follows = max(met[at - 1], _less(closed[at - 1], -ANCHOR), key=_fit)
                    joined[at] = max(
                        _less(follows, -_gain(word, text, True)),
                        _less(came[at - 1], -_gain(word, text, False)),
                        key=_fit,
                    )
                    free[at] = max(free[at], joined[at], key=_fit)
            if at:
                free[at] = max(free[at], _less(free[at - 1], _further(text)), key=_fit)
    finished = [path for at, path in enumerate(free[1:]) if ends[at] or at == len(tokens) - 1]
    return max(finished, key=_fit, default=NONE)


def _fit(path: GapPath) -> float:
    return path.fit


def _less(path: GapPath, cost: float) -> GapPath:
    return path._replace(fit=path.fit - cost) if path.fit - cost > -inf else NONE


def _gain(word: str, text: str, is_next: bool) -> float:
    """Return what it is worth that a word of the sentence is one of the reply: for a lone Chinese character, less than nothing."""
    if word in JOINS and text in JOINS:
        return 0.5 if word == text else 0.2
    if word != text:
        return -inf
    if len(word) == 1 and not word.isascii():
        return 0.5 if is_next else LONE
    return 0.5 if word in SMALL or word in PUNCTUATION else 1.0


def _further(text: str) -> float:
    """Return the cost of a word that the sentence has and the reply lacks, or the other way round."""
    return 0.05 if text in PUNCTUATION else 0.1 if len(text) == 1 else 0.2


def _within(tokens: Sequence[ReplyToken], at: int) -> float:
    """Return what a word costs within a gap: more than elsewhere for a comma, unless it parts no words (`March 4, 2024`)."""
    text, following = tokens[at].text, tokens[at + 1] if at + 1 < len(tokens) else None
    if text in (":", ";"):
        return inf
    if text not in JOINS:
        return _further(text)
    is_inner = (
        following is not None and text.isascii() and (following.text.isdigit() or following.start == tokens[at].end)
    )
    return 0.0 if is_inner else 0.4


def _is_filling(texts: Sequence[str], span: Filling, before: Sequence[str], known: frozenset[str]) -> bool:
    said = texts[slice(*span)]
    is_small = known.issuperset(said) and not _follows(texts, span, before)
    is_long = sum(map(len, said)) > LONGEST_GAP
    return "→" not in said and not (is_small or is_long or (PUNCTUATION | {"/"}).issuperset(said))


def _follows(texts: Sequence[str], span: Filling, before: Sequence[str]) -> bool:
    """True if a filling has the same word before it as its gap."""
    return [*before[-1:]] == [*texts[max(0, span.start - 1) : span.start]]


def _ends_sentence(tokens: Sequence[ReplyToken], at: int, reply: str) -> bool:
    if tokens[at].text != ".":
        return tokens[at].text in ENDS_SENTENCE
    word = tokens[at - 1].text if at and tokens[at - 1].end == tokens[at].start else ""
    is_initial = (len(word) == 1 and word.isascii() and word.isalpha()) or word in ABBREVIATED
    return NEW_SENTENCE.match(reply, tokens[at].end) is not None and not (is_initial and at + 1 < len(tokens))


def _sentence_start(tokens: Sequence[ReplyToken], at: int, reply: str) -> int:
    while at and tokens[at - 1].text != ":" and not _ends_sentence(tokens, at - 1, reply):
        at -= 1
    return at


def _sentence_end(tokens: Sequence[ReplyToken], at: int, reply: str) -> int:
    while at < len(tokens) and not _ends_sentence(tokens, at, reply):
        at += 1
    return at


def _stretches(fillings: Sequence[Filling], tokens: Sequence[ReplyToken], reply: str) -> list[Sequence[ReplyToken]]:
    """Return the tokens before, between and after fillings, in their sentences."""
    starts = [_sentence_start(tokens, fillings[0].start, reply), *(filling.end for filling in fillings)]
    ends = [*(filling.start for filling in fillings), _sentence_end(tokens, fillings[-1].end, reply)]
    return [tokens[start:end] for start, end in zip(starts, ends, strict=True)]


def _shared(words: Sequence[str], template: Sequence[str]) -> int:
    return sum((Counter(words) & Counter(template)).values())


def _repeats_enough(
    stretches: Sequence[Sequence[ReplyToken]], plain: Sequence[Sequence[str]], least_share: float
) -> bool:
    """True if a reply has enough of the words of the sentence; words at its start and end may be left out as a whole."""
    last = next((at for at, token in enumerate(stretches[-1]) if token.text in CLOSES), None)
    said = [_only_words(token.text for token in stretch) for stretch in (*stretches[:-1], stretches[-1][:last])]
    if said == [[], *map(_only_words, plain[1:-1]), []] and set().union(*said) - SMALL:
        return True  # nothing but what is between the gaps: `9 to 5`
    total = shared = 0
    for index, template in enumerate(plain):
        own = _only_words(template)
        words = said[index]
        ends = ((0, own[len(own) - len(words) :]), (len(plain) - 1, own[: len(words)]))
        own = words if least_share < 0.5 and (index, words) in ends else own
        total += len(own) + len(words)
        shared += _shared(words, own)
    least_words = min(LEAST_WORDS, sum(map(len, map(_only_words, plain))))
    return shared >= least_words and 2 * shared >= total * least_share


def _is_of_another(stretches: Sequence[Sequence[ReplyToken]], plain: Sequence[Sequence[str]]) -> bool:
    """True if a reply says something about another thing than the sentence, or about another gap than the one it fills."""
    asked = [set(filter(_has_meaning, template)) for template in plain]
    clause = _last_clause(stretches[0])
    if len(plain) == 2 and not PRONOUNS.issuperset(clause[:1]):
        lead = next((index for index, word in enumerate(clause) if word in plain[0]), 0)
        within = clause if asked[0].difference(clause) else clause[lead:]
        return not set(filter(_has_meaning, within)) <= asked[0] | asked[1]
    between = [clause, *([token.text for token in stretch] for stretch in stretches[1:-1])]
    return any(
        not set(_only_words(piece) or ["-"]).difference(JOINS | {"about"}).issubset(words)
        and (set().union(*asked) - own).intersection(words)
        for piece, own, words in zip(plain, asked, between, strict=False)
    )


def _has_meaning(word: str) -> bool:
    return word not in PUNCTUATION and word not in SMALL and (len(word) > 3 or not word.isascii())


def _only_words(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text not in PUNCTUATION]


def _last_clause(stretch: Sequence[ReplyToken]) -> list[str]:
    at = max((index + 1 for index, token in enumerate(stretch) if token.text in CLOSES), default=0)
    return [token.text for token in stretch[at:] if token.is_word]
