"""List the forms of the phrase that a clause claims: with and without its article, modifiers, region, abbreviation."""

import re
from collections.abc import Iterable, Sequence

from proctor_judging.matching.noun_phrases import Token, noun_phrases, small_words
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_gap import Gap
from proctor_judging.matching.question_words import echo, stem
from proctor_judging.matching.stated_words import COMPANY, SHIP

ARTICLE = compile_later(r"^(?:the|an?|its|his|her|their|your|some) ", re.IGNORECASE)
PLACEHOLDER = compile_later(r" <[^<>]+>$")
REGION = compile_later(r",\s+(?:in (?:[a-z]+ )?)?(?:[A-Z][\w.'’-]*\s?){1,4}?(?=[,.!]|$|\s+(?:in|on)\b)")
BRACKET = compile_later(
    r"\W{0,3}\s*\((?!(?:not|unlike|formerly|previously|never|near|vs|and|but|over|under|about|around|roughly|nearly|almost|more|less|with|from|since|which|who|where|it|he|she|they|if|when|after|before|born)\b|\d)([^()]{1,40})\)"
)
LABEL = compile_later(
    r"^(?:symbol|abbreviation|abbreviated(?: as)?|formula|chemical formula|code|short for|specifically|also(?: known as| called)?)\b:?\s*",
    re.IGNORECASE,
)
OTHERS = compile_later(r"[,;] | or | also ")
OTHER_NAME = compile_later(
    r",\s+(?:i\.e\.|or|that is|also (?:known as|called)|also [a-z]+ed as|(?:more )?(?:formally|fully|commonly)(?: known as| called)?|(?:better|usually|often|now|mostly|widely|simply|just|generally)(?: simply| just)? (?:known as|called)|aka|a\.k\.a\.),?(?:\s+(?:simply|just))?"
    r"\s+([^,;()]{2,60})",
    re.IGNORECASE,
)
APPOSED = compile_later(r",\s+((?:[A-Z][\w'’.-]*\s?){1,4}?)(?=[,.!]|$|\s+(?:who|which)\b)")
PRECISELY = compile_later(r",\s+([^,;()]{2,40}?),? to be (?:more )?(?:precise|exact|specific)\b", re.IGNORECASE)
MODIFIER = compile_later(r"[a-z-]+(?:ed|ing|al|ic|ous|ive|ful|less|ern|ish|able|ible|ary|ent|ant|ian|ese|est|er|y)")
PERSON = compile_later(r"(?:[A-Z][\w'’.-]* )+[A-Z][\w'’-]+")
LAST_NAME = compile_later(r"(?<=[a-z] )[A-Z][\w'’.-]*(?: (?:[A-Z][\w'’.-]*|van|von|de|da|of|the|der))*$")
CALLED = compile_later(r"(?:named|called|by the name of|known as) ([A-Z].*)$")
MONONYM = compile_later(r"([A-Z]\w+) (?:van|da|di|de|of) ")
ADDED = (PLACEHOLDER, SHIP, COMPANY)
PLACES = ("city", "town", "capital", "village", "port", "state", "province")
PUNCTUATION = " \"“”`'"


def forms_of(tokens: Sequence[Token], span: tuple[int, int], text: str, clause: str, gap: Gap) -> tuple[str, ...]:
    """Return the forms of a phrase, the longest first.

    Args:
        tokens: those of the text.
        span: where the phrase begins and ends in them.
        text: the clause without remarks.
        clause: the clause with its remarks, in which other names may be.
        gap: what the question lacks.
    """
    start, end = tokens[span[0]].start, tokens[span[1] - 1].end
    base = text[start:end].strip(PUNCTUATION)
    last = _end_of_list(tokens, span)
    if last > span[1]:
        whole = text[start : tokens[last - 1].end]
        return tuple(dict.fromkeys([whole, ARTICLE.sub("", whole)]))
    if (called := CALLED.search(text[start:])) is not None:
        kind = text[start : start + called.start()].strip() if not gap.is_person else called[1]
        return tuple(dict.fromkeys([text[start:], called[1], *_shorter(called[1], gap), kind, ARTICLE.sub("", kind)]))
    again = [name for name in named_again(base, clause) if not echo(name) <= gap.stems]
    if gap.asking == "where" or gap.noun in PLACES:
        again = [name for name in again if base in name or name.isupper()]  # Madrid (Spain)
    longer = [*_longer(tokens, span, text, gap), *again]
    forms = [form for words in [*longer, base] for form in (words, ARTICLE.sub("", words))]
    forms += _shorter(ARTICLE.sub("", base), gap)
    return tuple(dict.fromkeys(form.strip(PUNCTUATION) for form in forms if re.search(r"\w", form)))


def _end_of_list(tokens: Sequence[Token], span: tuple[int, int]) -> int:
    """Return where a list that begins with a phrase ends: `Haiti and Cuba`, `tin, lead and zinc`."""
    end = span[1]
    follows_verb = any(token.kind in ("verb", "auxiliary") for token in tokens[: span[0]])
    while end < len(tokens):
        index = end
        while index < len(tokens) and tokens[index].word in (",", "and", "&"):
            index += 1
        following = noun_phrases(tokens[index:]) if index > end else []
        if not following or following[0][0]:
            break
        item_end = index + following[0][1]
        if follows_verb and item_end < len(tokens) and tokens[item_end].kind in ("verb", "auxiliary"):
            break  # held in Peru, and Spain won it
        end = item_end
    return end


def _longer(tokens: Sequence[Token], span: tuple[int, int], text: str, gap: Gap) -> Iterable[str]:
    """Yield the phrase with what follows or precedes it: `the root of the plant`, `drinking more water`."""
    start, end = span
    if end < len(tokens) and tokens[end].kind == "preposition":
        yield text[tokens[start].start :].strip(" .!")
        following = noun_phrases(tokens[end + 1 :])
        if following and not following[0][0]:
            yield text[tokens[start].start : tokens[end + following[0][1]].end]
        for first, last in following if gap.asking == "where" else ():
            if tokens[end + 1 + first].kind == "name":
                yield text[tokens[end + 1 + first].start : tokens[end + last].end]
    if start and tokens[start - 1].word in ("more", "less", "most"):
        yield text[tokens[start - 1].start : tokens[end - 1].end]
    if start > 1 and tokens[start - 1].kind in ("verb", "adverb"):
        at = start - 1 if tokens[start - 1].kind == "verb" else start - 2
        if tokens[at].word.endswith("ing"):
            yield text[tokens[at].start : tokens[end - 1].end]
        if at and tokens[at - 1].word == "to" and tokens[at].kind == "verb":
            yield from (text[tokens[at - 1].start :].strip(" .!"), text[tokens[at].start :].strip(" .!"))


def named_again(base: str, clause: str) -> Iterable[str]:
    """Yield a place with its region, and the other names that a remark gives."""
    at = clause.find(base)
    if at < 0:
        return
    end = at + len(base)
    if (region := REGION.match(clause, end)) is not None:
        yield (base + region[0]).strip(" .!")
    if (bracket := BRACKET.match(clause, end)) is not None:
        yield bracket[1]
        yield from (LABEL.sub("", name) for name in OTHERS.split(bracket[1]))
    if (other := OTHER_NAME.match(clause, end)) is not None:
        name = other[1].strip(' ."”“')
        yield name
    if (name := APPOSED.match(clause, end)) is not None and base.rpartition(" ")[2].islower():
        yield name[1]
    if (precise := PRECISELY.search(clause, end)) is not None:
        yield precise[1]


def _shorter(base: str, gap: Gap) -> Iterable[str]:
    """Yield a phrase without the noun of the question, modifiers, titles and first names, and in the singular."""
    words = base.split()
    yield from (pattern.sub("", base) for pattern in ADDED)
    asked = stem(gap.kind) if gap.kind else None
    if len(words) > 1 and stem(words[-1]) == asked:
        yield " ".join(words[:-1])
    elif len(words) > 1 and stem(words[0]) == asked:
        yield " ".join(words[1:])
    if gap.is_person and PERSON.fullmatch(base):
        yield words[-1]
    if gap.is_person and (mononym := MONONYM.match(base)) is not None:
        yield mononym[1]
    if (name := LAST_NAME.search(base)) is not None:
        yield name[0]
    while len(words) > 1 and _modifies(words[0], gap):
        words = words[1:]
        shorter = " ".join(words)
        yield shorter


def _modifies(word: str, gap: Gap) -> bool:
    """True of words that the question has, and of those that leave a thing what it is; `heavy water` is not `water`."""
    return word in small_words()["modifier"] or stem(word) in gap.stems
