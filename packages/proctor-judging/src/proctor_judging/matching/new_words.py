"""Find what a plain sentence adds to its question: `the cello` of `She plays the cello in a band`, `鄱阳湖` of `最大的淡水湖是鄱阳湖`.

A reply often repeats the question and says the answer where the question has its interrogative. In English the words that
the question does not hold stand before its predicate (`February has 28 days`) or after its verb; in Chinese they
follow the words before the interrogative.
"""

import re
from collections.abc import Iterable, Sequence

from proctor.runtime.patterns import compile_later
from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.question_words import EMPTY_WORDS, stem
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY, plain_statement
from proctor_judging.matching.text import negations, tidy

TOKEN = compile_later(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]")
BRACKET = compile_later(r"\s?\([^()]{0,80}\)")
JOINS = frozenset(["of", "the", "a", "an", "and", "his", "her", "its", "their", "our", "my", "your"])
ARTICLES = frozenset(["a", "an", "the"])
ASKS_SUBJECT = compile_later(
    r"(?:who|which|what)\b(?! (?:is|are|was|were|do|does|did)\b)(?!.*\b(?:do|does|did)\b)", re.IGNORECASE
)
PARTS = frozenset(["half", "part", "most", "some", "both", "several", "each"])
ADVERBS = frozenset(["only", "just", "mostly", "mainly", "usually", "actually", "also", "both"])
LONGEST_SENTENCE = 240
MOST_WORDS = 10
HAN_GAP = compile_later(
    r"什么(?:样的?|[类种])?|哪(?:里|儿|[一两]?[个座条种类位家颗本部首项支国年月天款])?|谁|多少|几|何(?=[时地处])"
)
MEASURED = compile_later(r"[个座条种类位家颗本部首项支国款]$")  # its noun follows
HAN_FILLER = compile_later(r"^(?:了|着|过|的?是|为|指的是|叫做?|由|在|至|到|每年|主要是?)+")
HAN_DENIED = compile_later(r"(?:并|绝|也)?(?:不(?:是|在|为|会|能|属|用|叫|应)|没|未|非|无法)")
HAN_END = compile_later(r"[，。；！,;!]")
SHORTEST_ANCHOR = 4
LONGEST_HAN = 24


def new_words(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return what the one sentence of an English reply adds to its question, with and without its article; () unless it is clear.

    >>> from proctor_judging.matching.asked import read_asked
    >>> new_words(["She plays the cello in the school band"], read_asked("What instrument does she play?"))
    ('the cello', 'cello')
    >>> new_words(["Only the platypus lays eggs"], read_asked("Which animal lays eggs?"))
    ('the platypus', 'platypus')
    """
    plain = plain_statement(sentences[0]) if len(sentences) == 1 and asked.stems else None
    if plain is None or len(plain) > LONGEST_SENTENCE or not plain.isascii() or contradicts(plain, asked.clause):
        return ()
    tokens = list(TOKEN.finditer(BRACKET.sub(lambda match: " " * len(match[0]), plain)))
    known = [stem(token[0]) in asked.stems for token in tokens]
    stretches = [span for span in _stretches(tokens, known) if not any(known[span[0] : span[1]])]
    shared = {stem(token[0]) for token, is_known in zip(tokens, known, strict=True) if is_known}
    if not stretches or len(shared) * 2 < len(asked.stems) or not any(known):
        return ()
    first_known = known.index(True)
    if ASKS_SUBJECT.match(asked.clause) and stretches[0][0] < first_known and _begins(tokens, stretches[0][0]):
        span = stretches[0]
    else:
        after = [_from_article(tokens, span) for span in stretches if span[0] > first_known and known[span[0] - 1]]
        after = [span for span in after if _is_noun(tokens[span[0]][0])]
        if not after:
            return ()
        span = after[0]
    text = plain[tokens[span[0]].start() : tokens[span[1] - 1].end()]
    words = text.split(" ")
    if len(words) > MOST_WORDS or any(char.isdigit() for char in text):
        return ()
    return tuple(dict.fromkeys([text, " ".join(words[1:]) if words[0].lower() in ARTICLES else text]))


def _begins(tokens: Sequence[re.Match[str]], start: int) -> bool:
    return all(token[0].lower() in ARTICLES | ADVERBS for token in tokens[:start])


def _from_article(tokens: Sequence[re.Match[str]], span: tuple[int, int]) -> tuple[int, int]:
    """Return a stretch without the verb before its first article: `the yen` of `uses the yen`."""
    words = [token[0].lower() for token in tokens[span[0] : span[1]]]
    at = next((at for at, word in enumerate(words) if word in ARTICLES), 0)
    return (span[0] + at, span[1]) if at and words[at - 1] not in ("of", "and") else span


def _is_noun(first: str) -> bool:
    return first[:1].isupper() or first.lower() in JOINS | PARTS


def _stretches(tokens: Sequence[re.Match[str]], known: Sequence[bool]) -> Iterable[tuple[int, int]]:
    """Yield where stretches of new words begin and end; articles, `of` and `and` may be part of them."""
    start: int | None = None
    end = 0
    for index, token in enumerate(tokens):
        word = token[0].lower()
        new = word.isalnum() and not known[index] and word not in EMPTY_WORDS | ADVERBS
        if new:
            start, end = (index, index + 1) if start is None else (start, index + 1)
        elif word in JOINS and not known[index]:
            start = index if start is None and word in ARTICLES else start
            continue
        else:
            if start is not None and end > start:
                yield start, end
            start = None
    if start is not None and end > start:
        yield start, end


def new_han_words(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return what a Chinese clause has in the place of the interrogative of its question, also without the words after it; () unless the words before are those of the question.

    >>> from proctor_judging.matching.asked import read_asked
    >>> new_han_words(["绿茶属于不发酵茶"], read_asked("绿茶属于哪一类茶？"))
    ('不发酵茶',)
    >>> new_han_words(["绿茶不属于红茶"], read_asked("绿茶属于哪一类茶？"))
    ()
    """
    question = tidy(asked.clause).strip(" ？?。")
    gap = HAN_GAP.search(question)
    if gap is None or "是否" in question or len(sentences) != 1:
        return ()
    left = re.sub(r"(?:是|为|指的?是|叫|的)+$", "", question[: gap.start()])
    clause = HAN_END.split(sentences[0])[0]
    left = next((left[cut:] for cut in range(SHORTEST_ANCHOR + 1) if left[cut:] and left[cut:] in clause), "")
    at = clause.find(left)
    if (
        len(left) < SHORTEST_ANCHOR
        or at < 0
        or at > SHORTEST_ANCHOR
        or GUESS.search(clause)
        or OTHERS_SAY.search(clause)
        or contradicts(clause, asked.clause)
    ):
        return ()
    rest = HAN_FILLER.sub("", clause[at + len(left) :])
    denied = negations(clause[:at] + clause[at + len(left) : len(clause) - len(rest)]) or HAN_DENIED.match(rest)
    if denied or HAN_GAP.search(rest):
        return ()
    following = question[gap.end() + 2 * (MEASURED.search(gap[0]) is not None) :]
    ends = [
        at
        for at in range(1, len(rest) - 1)
        if rest[at : at + 2] in following and rest[at + 2 : at + 3] not in ("家", "者")
    ]
    forms = (rest, rest[: ends[0]]) if ends else (rest,)
    return forms if 0 < len(rest) <= LONGEST_HAN else ()
