"""Find the noun phrases of an English clause without a dictionary: small words and common verbs are known, other words are nouns."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import msgspec

from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import stem, table_lines

CALL = compile_later(r"(?<!\w)[A-Za-z_][\w.]{0,30}\([^()]{0,20}\)")  # O(log n), len(x)
TOKEN = compile_later(
    r"(?<!\w)[A-Za-z_][\w.]{0,30}\([^()]{0,20}\)|[\"“”`]|[$£€]?\d[\d,.:/]*(?:st|nd|rd|th)?(?:\s?[%°]\s?[CFK]?\b|%|°)?|[^\W_]+(?:[.'’&_@-][^\W_]+)*\.?(?=\w)?|[^\w\s]"
)
SPLIT_WORD = compile_later(r"(?i)(\w.*?)(n['’]t|['’](?:s|re|ve|d|ll|m))")
WORD = compile_later(r"[^\W\d_]+")
DIGIT = compile_later(r"[$£€]?\d")
ADJECTIVE = compile_later(r"[a-z-]+(?:al|ic|ous|ive|ful|less|able|ible|ary|ent|ant|ian|ese|est)")
QUOTES = frozenset('"“”`')
LONGEST_QUOTATION = 14  # tokens
KINDS = ("number", "negation", "auxiliary", "pronoun", "determiner", "preposition", "conjunction", "adverb")
NOMINAL = ("noun", "name", "number")
SAYING = (*NOMINAL, "verb")


class Token(msgspec.Struct):
    """A word, number or mark of a clause.

    Attributes:
        kind: `verb`, `auxiliary`, `noun`, `name` (with a capital), `number`, `determiner`, `pronoun`, `preposition`,
            `conjunction`, `adverb`, `negation`, `possessive`, `mark`.
        known: True if the question has the word, in any form.
    """

    text: str
    start: int
    end: int
    kind: str = "noun"
    known: bool = False

    @property
    def word(self) -> str:
        return self.text.lower()


@cache
def small_words() -> Mapping[str, frozenset[str]]:
    """Return the small words by kind, and some lists of words that the readers share."""
    text = "\n".join(table_lines("small_words.txt")).replace("\n-", "")
    return {kind: frozenset(words) for kind, *words in map(str.split, text.splitlines())}


@cache
def _kind_of_small() -> Mapping[str, str]:
    return {word: kind for kind in reversed(KINDS) for word in small_words()[kind]}


def read_tokens(clause: str, stems: Collection[str] = ()) -> list[Token]:
    """Return the tokens of a clause with their kinds; `stems` are the words of the question."""
    tokens = _cut(clause)
    for index, token in enumerate(tokens):
        token.kind = _kind(token, tokens[index - 1] if index else None)
    for index, token in enumerate(tokens[:-1]):
        _look_ahead(token, tokens[index - 1] if index else None, tokens[index + 1])
    if tokens and tokens[-1].kind == "determiner" and tokens[-1].word in small_words()["pointing"]:
        tokens[-1].kind = "pronoun"
    for token in tokens:
        token.known = token.kind in (*SAYING, "adverb") and stem(token.text) in stems
    return tokens


def _cut(clause: str) -> list[Token]:
    tokens = []
    for match in TOKEN.finditer(clause):
        ending = SPLIT_WORD.fullmatch(match[0])
        if ending is None:
            tokens.append(Token(match[0], match.start(), match.end()))
        else:
            middle = match.start() + len(ending[1])
            tokens += [Token(ending[1], match.start(), middle), Token(ending[2].replace("’", "'"), middle, match.end())]
    return tokens


def _kind(token: Token, before: Token | None) -> str:
    word, capital = token.word, token.text[:1].isupper()
    if not any(map(str.isalnum, word)):
        return "mark"
    if DIGIT.match(word):
        return "number"
    if word == "'s":
        contracted = before is not None and (
            before.kind in ("pronoun", "determiner") or before.word in ("where", "let")
        )
        return "auxiliary" if contracted else "possessive"
    if (small := _kind_of_small().get(word)) is not None:
        is_name = before is not None and ((word == "i" and before.kind == "name") or token.text in ("May", "Will"))
        return "name" if is_name else small
    if word.endswith("ly") and len(word) > 4 and not capital:
        return "adverb"
    if capital and before is not None:
        return "name"
    follows_article = before is not None and before.kind in ("determiner", "possessive")
    is_verb = word in _verbs() or (word.endswith("ed") and len(word) > 4 and not capital)
    return "verb" if is_verb and not follows_article else "noun"


def _look_ahead(token: Token, before: Token | None, after: Token) -> None:
    """Correct a kind that the next token decides."""
    modifies = token.kind == "verb" and token.word.endswith("ed") and after.kind == "noun"
    if modifies and before is not None and (before.kind == "determiner" or before.word in ("most", "least", "more")):
        token.kind = "noun"  # the most confirmed moons
    if token.kind == "determiner":
        pointing = token.word in small_words()["pointing"]
        if pointing and after.word in _verbs():
            token.kind, after.kind = "pronoun", "verb"
        elif after.kind not in (*SAYING, "adverb", "determiner") and after.text not in QUOTES:
            token.kind = "pronoun"
        elif after.kind == "verb":
            after.kind = "noun"
    if (
        token.kind == "verb"
        and before is not None
        and before.kind == "noun"
        and after.word in ("is", "was", "are", "were")
    ):
        token.kind = "noun"  # the real cause is
    if before is None and token.kind == "verb" and after.kind == "auxiliary":
        token.kind = "name"  # Support has the most staff
    if before is None and after.kind == "name" and (token.kind == "verb" or token.word in small_words()["given_name"]):
        token.kind = "name"
    ends = token.word.endswith("s") and not token.word.endswith(("ss", "us", "is"))
    subject = before is not None and (
        before.kind in ("name", "pronoun") or (before.kind == "noun" and not before.start)
    )
    if token.kind == "noun" and ends and subject and (after.kind == "determiner" or after.word == "to"):
        token.kind = "verb"  # Nick narrates the story


@cache
def _verbs() -> frozenset[str]:
    verbs = " ".join([*table_lines("common_verbs.txt"), *table_lines("verbs.txt")]).split()
    return frozenset(form for verb in verbs for form in _regular_forms(verb))


def _regular_forms(verb: str) -> Sequence[str]:
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    doubled = verb + verb[-1]
    return verb, f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb}ing", f"{doubled}ed", f"{doubled}ing"


def first_verb(tokens: Sequence[Token]) -> int | None:
    """Return the index of the first verb that does not begin the clause; None without one."""
    verbs = (at for at, token in enumerate(tokens) if token.kind == "auxiliary" or (token.kind == "verb" and at))
    return next(verbs, None)


def has_verb(text: str) -> bool:
    return first_verb(read_tokens(text)) is not None


def says_otherwise(sentence: str, question: str) -> bool:
    """True if a question has a verb, and a sentence none of its verbs: `It came down`, asked when it fell."""
    verbs = {stem(token.text) for token in read_tokens(question) if token.kind == "verb"}
    return bool(verbs) and verbs.isdisjoint(map(stem, WORD.findall(sentence)))


def noun_phrases(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Return where noun phrases begin and end: an article, what precedes the noun, the noun; or a quotation."""
    spans, index = [], 0
    while index < len(tokens):
        end = _end_of_phrase(tokens, index)
        if end > index:
            spans.append((index, end))
        index = max(end, index + 1)
    return spans


def _end_of_phrase(tokens: Sequence[Token], start: int) -> int:
    """Return where the phrase that starts at a token ends; `start` if none does."""
    end = index = start
    while index < len(tokens):
        token = tokens[index]
        if token.text in QUOTES:
            closing = _closing_quote(tokens, index)
            if closing is None:
                break
            end = index = closing + 1
            continue
        if token.kind in NOMINAL or (
            token.kind == "verb" and index > start and (start == end or _modifies(tokens, index))
        ):
            end = index + 1
        elif not _may_continue(tokens, start, end, index):
            break
        index += 1
    return end


def _modifies(tokens: Sequence[Token], index: int) -> bool:
    """True of a participle between an adjective and a noun: `the current working directory`."""
    before, after = tokens[index - 1], tokens[index + 1 : index + 2]
    is_adjective = before.kind == "noun" and ADJECTIVE.fullmatch(before.word) is not None
    return is_adjective and tokens[index].word.endswith(("ing", "ed")) and bool(after) and after[0].kind == "noun"


def _closing_quote(tokens: Sequence[Token], opening: int) -> int | None:
    nearby = range(opening + 1, min(len(tokens), opening + LONGEST_QUOTATION))
    return next((at for at in nearby if tokens[at].text in QUOTES), None)


def _may_continue(tokens: Sequence[Token], start: int, end: int, index: int) -> bool:
    """True if a token that is no noun may be inside a phrase: an article, an adverb after it, `'s`, a hyphen."""
    token = tokens[index]
    if token.kind == "determiner":
        return end == start
    if token.kind == "adverb":
        return index == start + 1 and tokens[start].kind == "determiner"
    follows_noun = end > start
    hyphen = token.text in "-–&/'" and index + 1 < len(tokens) and tokens[index + 1].kind in NOMINAL
    return follows_noun and (token.kind == "possessive" or hyphen)
