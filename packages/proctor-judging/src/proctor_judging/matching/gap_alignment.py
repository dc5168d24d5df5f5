"""Read what a reply fills into the gaps of a sentence that it says again, in part or with other words around them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from proctor_judging.matching.sentences import GUESS, OTHERS_SAY
from proctor_judging.matching.text import negations

TOKEN = re.compile(
    r"[^\W\d_\u3400-\u9fff]+(?:['’][a-z]+)?|\d+(?:,\d{3}(?!\d))*(?:[.:/]\d+)*|[\u3400-\u9fff]|\n|[^\w\s]"
)
CLOSES = frozenset(",;，；—–:\n")
ENDS_SENTENCE = frozenset("!?。！？\n")
NEW_SENTENCE = re.compile(r"\s*(?:[A-Z(\u3400-\u9fff\n]|$)")
QUOTES = frozenset("\"“”'‘’「」《》*`")
BRACKETS = frozenset("()[]")
PUNCTUATION = CLOSES | ENDS_SENTENCE | QUOTES | BRACKETS | {"."}
ABBREVIATED = frozenset(["dr", "mr", "mrs", "ms", "st", "mt", "vs"])
SAME = dict.fromkeys(["are", "was", "were", "be"], "is") | dict.fromkeys("为用叫即在于", "是") | {"其": "它"}
SAME |= dict.fromkeys(["and", "&", "与", "及", "、"], "和")
SMALL = frozenset(["that", "this", "with", "from", "they", *"的了是它和一这那个"])
PRONOUNS = frozenset(["it", "he", "she", "they", "this", "that", *"它他她这该"])
MOST_LEFT_OUT = 3  # words next to a gap that a reply need not repeat
COST_OF_A_WORD = 2
MOST_NEIGHBOURS = 6
LONGEST_GAP = 80
MOST_TOKENS = 600
MOST_FILLINGS = 60  # of one gap
LEAST_WORDS = 2
FURTHER_WORD = 0.1  # how much less a sentence fits for each word that the question lacks


class ReplyToken(msgspec.Struct, frozen=True):
    """A word, a Chinese character or a punctuation mark, with its position."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.text not in PUNCTUATION


class Filling(msgspec.Struct, frozen=True):
    """The tokens of a reply that may stand in one gap, and how well what is next to them is what is next to the gap."""

    start: int
    end: int
    closeness: float


class Chain(msgspec.Struct, frozen=True):
    """A filling for each gap up to one, and how well they fit."""

    fillings: tuple[Filling, ...] = ()
    fit: float = 0.0


def align(reply: str, pieces: Sequence[str], least_share: float = 0.4) -> list[str] | None:
    """Return what a reply has between the pieces of a sentence with gaps; None where it repeats too few of them, or doubts.

    >>> align("It starts at 10:30 and, as planned, ends at 11:15.", ["The meeting starts at", "and ends at", "."])
    ['10:30', '11:15']
    """
    matches = [match for match in TOKEN.finditer(reply) if match[0] not in QUOTES]
    tokens = [ReplyToken(_canonical(match[0]), *match.span()) for match in matches[-MOST_TOKENS:]]
    plain = [[_canonical(word) for word in TOKEN.findall(piece) if word not in QUOTES | BRACKETS] for piece in pieces]
    chains = [Chain()]
    for before, after in pairwise(plain):
        fillings = list(_fillings(tokens, reply, before, after, MOST_LEFT_OUT if len(pieces) > 2 else 0))
        if len(fillings) > MOST_FILLINGS:
            return None
        continued = [_continued(chains, filling, tokens, reply, before) for filling in fillings]
        chains = [chain for chain in continued if chain.fillings]
    if not chains:
        return None
    best = max(chains, key=lambda chain: chain.fit + _fit(_stretches(chain.fillings, tokens, reply)[-1], plain[-1]))
    stretches = _stretches(best.fillings, tokens, reply)
    if not _repeats_enough(stretches, plain, least_share) or _is_of_another(stretches, plain):
        return None
    answers = [reply[tokens[filling.start].start : tokens[filling.end - 1].end] for filling in best.fillings]
    start = _sentence_start(tokens, best.fillings[0].start, reply)
    end = min(_sentence_end(tokens, best.fillings[-1].end, reply), len(tokens) - 1)
    said = reply[tokens[start].start : tokens[end].end]
    return answers if _doubts(said) == _doubts(" ".join([*pieces, *answers])) else None


def _doubts(text: str) -> int:
    """Return how many words of a text deny or doubt what it says, or report what others say."""
    return len(negations(text)) + len(GUESS.findall(text)) + len(OTHERS_SAY.findall(text)) + text.count("?")


def _canonical(word: str) -> str:
    """Return a word in lower case, and words that say the same next to a gap as one."""
    return SAME.get(word.casefold(), word.casefold())


def _fillings(
    tokens: Sequence[ReplyToken], reply: str, before: Sequence[str], after: Sequence[str], most_left_out: int
) -> Iterator[Filling]:
    """Yield what may stand in a gap: after a word before the gap or at the start of a sentence, up to the word after the gap or the end of a clause."""
    texts = [token.text for token in tokens]
    for start in range(len(tokens)):
        left = _closeness(before[::-1], texts[max(0, start - MOST_NEIGHBOURS) : start][::-1], most_left_out)
        if left or _sentence_start(tokens, start, reply) == start:
            for end in _ends(tokens, start, reply, after):
                right = _closeness(after, texts[end : end + MOST_NEIGHBOURS], 0)
                length = tokens[end - 1].end - tokens[start].start
                if left + right > 0 and length <= LONGEST_GAP and _is_filling(texts[start:end], {*before, *after}):
                    is_late = left > 0 and texts[start - 1] != before[-1] and before[-1] in texts[start:end]
                    yield Filling(start, end, left + right - is_late * MOST_NEIGHBOURS)


def _is_filling(texts: Sequence[str], asked: set[str]) -> bool:
    is_repeated = all(text in asked and text.isascii() and text.isalpha() for text in texts)
    is_joined = texts[0] in CLOSES or (texts[0] == "和" and len(texts) > 1)
    is_balanced = texts.count("(") == texts.count(")")
    return is_balanced and ":" not in texts and not (is_joined or is_repeated or PUNCTUATION.issuperset(texts))


def _closeness(own: Sequence[str], others: Sequence[str], most_left_out: int) -> float:
    """Return how many neighbours of a gap a reply repeats, from the nearest on, less the ones it leaves out; 0 for none."""
    if own and others and own[0] in CLOSES and others[0] in CLOSES:
        return 0.5 + _closeness(own[1:], others[1:], 0)
    for left_out in range(min(most_left_out + 1, len(own))):
        pairs = list(zip(own[left_out:], others, strict=False))
        same = next((size for size, (word, other) in enumerate(pairs) if word != other), len(pairs))
        if same:
            return max(same - left_out * COST_OF_A_WORD, 0.1)
    return 0.0


def _ends(tokens: Sequence[ReplyToken], start: int, reply: str, after: Sequence[str]) -> Iterator[int]:
    """Yield where a filling may end: before the word that follows the gap, at the end of a clause before it, or of the sentence."""
    for end in range(start + 1, len(tokens)):
        if _ends_sentence(tokens, end, reply):
            yield end
            return
        if after and after[0] not in PUNCTUATION and tokens[end].text == after[0]:
            yield end
            return
        if after and tokens[end].text in CLOSES:
            yield end
            if after[0] in PUNCTUATION:
                return
    yield len(tokens)


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


def _continued(
    chains: Sequence[Chain], filling: Filling, tokens: Sequence[ReplyToken], reply: str, before: Sequence[str]
) -> Chain:
    """Return the chain to which a filling is best added; an empty one where it fits none."""
    added = []
    for chain in chains:
        if not chain.fillings or chain.fillings[-1].end <= filling.start:
            fillings = (*chain.fillings, filling)
            fit = _fit(_stretches(fillings, tokens, reply)[-2], before)
            added.append(Chain(fillings, chain.fit + filling.closeness + fit))
    return max(added, key=lambda chain: chain.fit, default=Chain())


def _stretches(fillings: Sequence[Filling], tokens: Sequence[ReplyToken], reply: str) -> list[Sequence[ReplyToken]]:
    """Return the tokens before, between and after fillings, in their sentences."""
    starts = [_sentence_start(tokens, fillings[0].start, reply), *(filling.end for filling in fillings)]
    ends = [*(filling.start for filling in fillings), _sentence_end(tokens, fillings[-1].end, reply)]
    return [tokens[start:end] for start, end in zip(starts, ends, strict=True)]


def _fit(stretch: Sequence[ReplyToken], template: Sequence[str]) -> float:
    words = [token.text for token in stretch if token.is_word]
    shared = _shared(words, template)
    return shared - (len(words) - shared) * FURTHER_WORD


def _shared(words: Sequence[str], template: Sequence[str]) -> int:
    return sum((Counter(words) & Counter(template)).values())


def _repeats_enough(
    stretches: Sequence[Sequence[ReplyToken]], plain: Sequence[Sequence[str]], least_share: float
) -> bool:
    """True if a reply has enough of the words of the sentence; words at its start and end may be left out as a whole."""
    said = [_only_words(token.text for token in stretch) for stretch in stretches]
    total = shared = 0
    for index, (stretch, template) in enumerate(zip(stretches, plain, strict=True)):
        own = _only_words(template)
        words = said[index]
        if index == 0:
            own, words = _nearest(own, words, _last_clause(stretch))
        elif index == len(plain) - 1:
            own, words = _nearest(own[::-1], words[::-1], [])
        is_left_out = not words and index in (0, len(plain) - 1) and least_share < 0.5
        total += 0 if is_left_out else len(own) + len(words)
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
    return any((set().union(*asked) - own).intersection(words) for own, words in zip(asked, between, strict=False))


def _has_meaning(word: str) -> bool:
    return word not in PUNCTUATION and word not in SMALL and (len(word) > 3 or not word.isascii())


def _only_words(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text not in PUNCTUATION]


def _last_clause(stretch: Sequence[ReplyToken]) -> list[str]:
    at = max((index + 1 for index, token in enumerate(stretch) if token.text in CLOSES), default=0)
    return [token.text for token in stretch[at:] if token.is_word]


def _nearest(own: list[str], words: list[str], clause: list[str]) -> tuple[list[str], list[str]]:
    """Return the words of a piece and of a reply to compare: without those further from the gap where the nearer ones are the same."""
    for said in (clause, words):
        size = min(len(own), len(said))
        if size >= min(LEAST_WORDS, len(own)) and _shared(own[-size:], said[-size:]) == size > 0:
            return own[-size:], said[-size:]
    return own, words
