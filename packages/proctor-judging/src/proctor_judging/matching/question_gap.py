"""Find where an English question lacks its answer: in its subject (`Who wrote it?`) or after its verb (`What is it made of?`)."""

import re

import msgspec

from proctor_judging.matching.asked import MEASURES
from proctor_judging.matching.noun_phrases import Token, noun_phrases, read_tokens
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo

ASKING = compile_later(r"\b(who|whom|whose|which|what|where)\b", re.IGNORECASE)
IMPERATIVE = compile_later(
    r"(?:define |explain (?=[\"“]))|(?:give|state|identify|extract|find|name|tell me|say)(?: me)? (?=the |its |his |her )",
    re.IGNORECASE,
)
CONTRACTED = compile_later(r"\b(who|what|which|where)['’]s\b", re.IGNORECASE)
NO_GAP = compile_later(
    r"\b(?:why|how|or)\b|\bdo\W*$|\b(?:opposite|antonym|synonym) of\b|\b(?:name|list) (?:the|all)\b",
    re.IGNORECASE,
)
TO_BE = compile_later(r"(?:is|are|was|were|be|'s|’s)\b", re.IGNORECASE)
KIND_OF = ("kind of", "type of", "sort of", "part of")


class Gap(msgspec.Struct, frozen=True):
    """Where a question lacks its answer.

    Attributes:
        asking: `who`, `which`, `where` and their like.
        noun: what is asked for: `city` of `Which city`, `capital` of `What is the capital`; '' without one.
        kind: the noun if it follows the interrogative; '' else.
        in_subject: True if the answer is the subject: `Which city hosted the games?`
        clause: the clause that asks.
        stems: its words, as `echo` returns them.
    """

    asking: str
    noun: str
    kind: str
    in_subject: bool
    clause: str
    stems: frozenset[str]

    @property
    def is_person(self) -> bool:
        return self.asking in ("who", "whom", "whose")

    @property
    def is_identity(self) -> bool:
        """True of `Who is the author?`, where no noun follows `who`."""
        return bool(self.noun) and not self.kind and not self.in_subject


def read_gap(clause: str) -> Gap | None:
    """Return where a question lacks its answer; None of one that asks for a reason, a choice, a list or an amount.

    >>> read_gap("Which city hosted the games?").in_subject, read_gap("Which city did they visit?").in_subject
    (True, False)
    >>> read_gap("What is the capital of Peru?").noun, read_gap("Is it red or blue?")
    ('capital', None)
    """
    clause = CONTRACTED.sub(r"\1 is", clause)
    if (order := IMPERATIVE.match(clause)) is not None:
        clause = f"What is {clause[order.end() :]}"
    asking = ASKING.search(clause)
    if asking is None or NO_GAP.search(clause):
        return None
    rest = clause[asking.end() :].strip()
    tokens = read_tokens(rest)
    word = asking[1].lower()
    kind = noun = _kind_asked(rest, tokens) if word in ("which", "what", "whose") else ""
    if not noun and TO_BE.match(rest) and (spans := noun_phrases(tokens)):
        noun = tokens[spans[0][1] - 1].text
    if MEASURES.search(noun):
        return None
    in_subject = word in ("who", "which", "what", "whose") and _asks_subject(tokens, kind)
    return Gap(word, noun, kind, in_subject, clause, frozenset(echo(clause)))


def _kind_asked(rest: str, tokens: list[Token]) -> str:
    """Return the noun after `which` or `what`; '' without one."""
    if not tokens or tokens[0].kind not in ("noun", "name", "adverb", "number"):
        return ""
    start = 2 if rest.lower().startswith(KIND_OF) else 0
    spans = noun_phrases(tokens[start:])
    return tokens[start + spans[0][1] - 1].text if spans and spans[0][0] <= 1 else ""


def _asks_subject(tokens: list[Token], kind: str) -> bool:
    """True if the first verb after the interrogative has no subject of its own."""
    verb = next((index for index, token in enumerate(tokens) if token.kind in ("verb", "auxiliary")), None)
    if verb is None or tokens[verb].kind == "verb":
        return verb is not None
    after = tokens[verb + 1] if verb + 1 < len(tokens) else None
    if after is None:
        return False
    if kind and after.kind in ("noun", "preposition", "number"):
        return True
    superlative = tokens[verb + 2].word if verb + 2 < len(tokens) else ""
    if after.kind == "determiner" and (superlative in ("most", "least") or superlative.endswith("est")):
        return True  # Which employee has the most days left?
    if tokens[verb].word in ("has", "have", "had") and all(token.kind != "verb" for token in tokens[verb:]):
        return True  # Which planet has the most moons?
    does = tokens[verb].word in ("do", "does", "did")
    return not does and after.kind in ("verb", "adverb") and not after.word.endswith("ing")
