"""Read the phrase with which an English reply fills the gap of its question: `mascarpone` of `It is usually made with mascarpone.`

The clause that answers has words of the question, or a pronoun for them, and one new noun phrase where the gap is. A clause that
denies, doubts, compares or has another form claims nothing here.
"""

import itertools
import re
from collections.abc import Iterable, Sequence

from proctor_judging.matching.contradictions import contradicts
from proctor_judging.matching.noun_phrases import (
    CALL,
    NOMINAL,
    QUOTES,
    SAYING,
    Token,
    first_verb,
    has_verb,
    noun_phrases,
    read_tokens,
    says_otherwise,
    small_words,
)
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_forms import MODIFIER, forms_of
from proctor_judging.matching.plain_prose import IS
from proctor_judging.matching.question_gap import TO_BE, Gap, read_gap
from proctor_judging.matching.question_words import EMPTY_WORDS, echo, stem
from proctor_judging.matching.sentences import CONCLUDES, COURTESY, DOUBT, GUESS, QUESTION, corrected, split

LEAD = compile_later(
    r"^(?:(?:so|therefore|thus|hence|then|yes|no|well|sure|actually|in (?:fact|short|conclusion|summary)|overall|"
    r"to answer your question|as far as i (?:know|can tell|remember|recall)|to (?:the best of )?my knowledge|from what i know|"
    r"if i (?:remember|recall)(?: \w+ly)?|i(?:['’]m| am) not (?:completely|entirely|totally|fully|absolutely|100%) (?:certain|sure),? but|as of [^,]{1,40}|"
    r"(?:according to|based on) [^,]{1,60}|i(?:['’]d| would)? (?:think|believe|say)(?: that)?|"
    r"(?:the |my |short |quick )*(?:final |correct |right )?answer(?: is)?(?= ?:))\b\s*[,:!.–—-]*\s*)+",
    re.IGNORECASE,
)
SUBORDINATE = compile_later(
    r"(?:when|although|though|while|since|because|even though|given that|despite|contrary to|instead of|ever since|to [a-z]+|[a-z]+ing)\b"
    r"[^,]{1,140},\s+(?=\w)",
    re.IGNORECASE,
)
MISTAKEN = compile_later(
    r"not [^,;]{1,60}? but |(?:many|most|some|a lot of|lots of|people|everyone|it['’]?s (?:often|commonly|easy)|you (?:might|may)|not\b|"
    r"it (?:isn['’]t|is not)|it['’]s not)\b[^;]{1,140}?(?:[,;]| [—–-])\s*(?:but|it['’]s|rather|yet)\s*"
    r"(?:rather |instead |actually |in fact )?",
    re.IGNORECASE,
)
SO = compile_later(
    r"\b(?:is|was|are|were) (?:therefore|thus|hence) |(?:[,;—–-]|\band)\s*(?:so|(?:is |are )?(?:therefore|hence|thus))\b,?\s*(?!that\b)",
    re.IGNORECASE,
)
THINKING = compile_later(
    r"^you(?:['’]re| are| may be| might be| must be)? (?:probably |likely )?(?:thinking of|looking for|describing|referring to|asking about)\s",
    re.IGNORECASE,
)
SOUGHT = compile_later(
    r" (?:that |which )?you(?:['’]re| are)? (?:looking for|asking (?:about|for)|thinking of|describ\w+|want\w*)\b",
    re.IGNORECASE,
)
CODE_ARGUMENT = compile_later(r" <[\w -]{1,30}>")
LABEL = compile_later(r"([^:]{1,60}):\s+(?=\S)")
BRACKETS = compile_later(r"\s+[(\[][^()\[\]]{0,160}[)\]]")
REMARK = compile_later(
    r"\s+[—–-]\s+|(?<=[\w)`]):\s+(?=\S)|,\s+(?=(?:which|who|whose|where|when|because|since|so|as|with|not|rather|usually|for|"
    r"making|meaning|formerly|also|known|located|if|until|after|followed|e\.g|i\.e|or|especially|mainly|more|particularly|though|although|"
    r"but|while|whereas)\b)|\s+(?:after|before|while)\s+[a-z]+ing\b|\s+(?:along|together) with\s|\s+as well as\s|,?\s+(?:rather than|instead of|because|since|although|though|when|so that|e\.g\.|where|who|which)\s+",
    re.IGNORECASE,
)
PARTS = compile_later(
    r";\s+|,?(?<!thing)\s(?:but|while|whereas)\s|,\sand\s(?=(?:the|it|he|she|they|its|[A-Z]\w* [a-z]+)\b[^,]{3,})",
    re.IGNORECASE,
)
COMMA = compile_later(r",(?!\d{3}\b)(?!\s(?:\d{1,2}(?:st|nd|rd|th)? [A-Z]|\d{4}\b))\s+")
ITALIC = compile_later(r"(?<![\w*])\*(\w[^*\n]{0,60})\*(?![\w*])")
UNSURE = compile_later(
    r"^\W*(?:step|part) \d|\b(?:has more|either|neither|if|whether|doubt\w*|hardly|rumou?r\w*|supposed\w*|said to|(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )used to|formerly|"
    r"previously|once|no longer|until|before|wanted|wants? to|thought|believed|almost|nearly|than|also|nominated|auditioned|close to|near|"
    r"(?:second|third|last|next)[- ]\w+est|second|wait|sorry|meant|failed|against|without|ruled out|far (?:away )?from|attribut\w+|literally|resigned|"
    r"(?:any|every)thing but|mistake|refus\w+|declin\w+|except|unlike|other than|candidates?|(?:many|most|some|people|everyone)(?: people)? (?:think|believe|assume|guess))\b|\.\.\.|…|\?|[|=^√×÷≈<>\\+*]",
    re.IGNORECASE,
)
DETERMINED = compile_later(r"(?:an?|the) ")
NOW = compile_later(r"\b(?:now|finally|eventually|in the end)\b", re.IGNORECASE)
NAMED = compile_later(r"(?:^|\b(?:is|was|are|were|by) )[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)*$")
IT_IS = compile_later(r"\b(it|that)['’]s(?= (?:an? |the )?(?:short|[A-Z]\w+) for\b)", re.IGNORECASE)
FORMULA = compile_later(r"\w\(\w|=")
NEGATIVE = compile_later(r"\b(?:can)?not\b|n['’]t\b|\bnever\b", re.IGNORECASE)
EMPHASIS = compile_later(r"\*\*([^*\n]{1,80}?)\*\*|`([^`\n]{1,80})`")
WINS = frozenset(["beat", "defea", "won", "win", "outla"])
MOST_SENTENCES, MOST_CLAUSES = 3, 2
LONGEST = 300
LONGEST_LABEL, MOST_WORDS_OF_ITEM = 3, 5

RELATED = compile_later(
    "friend|rival|student|pupil|teacher|mentor|son|daughter|wife|widow|husband|(?:grand)?(?:father|mother)|brother|sister|colleague|assistant|contemporary|successor|predecessor|descendant|disciple|cousin|nephew|niece|uncle|aunt"
)
Span = tuple[int, int]


def read_phrase(text: str, question: str) -> tuple[str, ...]:
    """Return the forms of the phrase with which a reply answers; () if no clause answers in one of the forms that are read.

    Args:
        text: the reply.
        question: the clause that asks.

    >>> read_phrase("Tiramisu is traditionally made with mascarpone.", "Which cheese is used in tiramisu?")[0]
    'mascarpone'
    >>> read_phrase("A stack follows the LIFO principle.", "Which data structure follows last in, first out?")[:2]
    ('A stack', 'stack')
    >>> read_phrase("It isn't Rome.", "Where is it?"), read_phrase("It may be Rome.", "Where is it?")
    ((), ())
    """
    gap = read_gap(question)
    if gap is None:
        return ()
    text, fence, _ = text.partition("```")
    marked = [(bold or code).strip("`* ") for bold, code in EMPHASIS.findall(text)]
    marked = [words for words in marked if not words.endswith(":")]
    if fence and len(marked) != 1:
        return ()
    sentences = [sentence for sentence in split(corrected(text)) if not QUESTION.search(sentence)]
    sentences = [sentence for sentence in sentences if not COURTESY.match(sentence)] or sentences
    if any(map(DOUBT.search, sentences)):
        return ()
    for clause in _answering(sentences, gap)[:MOST_CLAUSES]:
        forms = _read_clause(clause, gap, marked or ITALIC.findall(text), set_off=bool(marked))
        if forms is not None:
            return forms
    return ()


def _answering(sentences: Sequence[str], gap: Gap) -> list[str]:
    """Return the clauses that may answer: what is concluded, what is labelled, what defines; else those with most words of the question first."""
    if not sentences:
        return []
    concluded = [sentence for sentence in sentences if CONCLUDES.match(sentence)]
    for sentence in (sentences[0], sentences[-1]):
        if not concluded and (so := list(SO.finditer(sentence))):
            concluded = [sentence[so[-1].end() :]]
    if concluded:
        clauses = _clauses(concluded[-1])
        return clauses[-1:] if NOW.search(gap.clause) else clauses[:1]
    if labelled := [sentence for sentence in sentences if _is_labelled(sentence, gap)]:
        return labelled[:1]
    clauses = [clause for sentence in sentences[:MOST_SENTENCES] for clause in _clauses(sentence)]
    if NOW.search(gap.clause) and len(clauses) > 1 and sentences[0].endswith(clauses[-1]):
        return clauses[::-1]  # Ann lent it to Ben, and Ben gave it to Carl
    defining = [clause for clause in clauses if _defines(clause, gap)]
    if defining:
        return defining[:1]
    first = read_tokens(clauses[0]) if clauses else []
    if not first or not first_verb(first) or first[0].kind == "pronoun":
        return clauses
    return sorted(
        clauses,
        key=lambda clause: (
            -len(echo(clause) & gap.stems),
            not gap.in_subject and says_otherwise(clause, gap.clause),
        ),
    )


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence without what leads to them."""
    sentence = CODE_ARGUMENT.sub("", LEAD.sub("", sentence) or sentence)
    sentence = SOUGHT.sub("", THINKING.sub("", IS.sub("is ", IT_IS.sub(r"\1 is", sentence))))
    if (mistaken := MISTAKEN.match(sentence)) is not None and mistaken.end() < len(sentence) - 1:
        sentence = sentence[mistaken.end() :]
    parts = [SUBORDINATE.sub("", part, count=1) if SUBORDINATE.match(part) else part for part in PARTS.split(sentence)]
    return [part for part in (LEAD.sub("", part) or part for part in parts) if part.strip()]


def _is_labelled(sentence: str, gap: Gap) -> bool:
    """True if a short label before a colon has a word of the question: `Owner: Microsoft`, asked who owns it."""
    label = LABEL.match(sentence)
    words = label[1].lower().split() if label is not None else []
    if not words or len(words) > LONGEST_LABEL or has_verb(" ".join(words)):
        return False
    return any(
        stem(word) in gap.stems or any(len(known) > 2 and word.startswith(known) for known in gap.stems)
        for word in words
    )


def _defines(clause: str, gap: Gap) -> bool:
    """True if the subject of a clause is what is asked for: `The capital is Ankara.`, `Her name is Zelda.`"""
    tokens = read_tokens(clause, gap.stems)
    verb = first_verb(tokens)
    if not verb or not _is_copula(tokens, verb) or tokens[0].kind != "determiner":
        return False
    subject = next(iter(noun_phrases(tokens[:verb])), (0, 0))
    if subject[0] or not subject[1]:
        return False
    head, of_what = tokens[subject[1] - 1], [token for token in tokens[subject[1] : verb] if token.kind in NOMINAL]
    generic = head.word in small_words()["generic"] and subject[1] == verb
    is_asked = head.kind == "noun" and _has(tokens[slice(*subject)], gap.noun)
    return generic or (is_asked and (not of_what or any(token.known for token in of_what)))


def _has(tokens: Iterable[Token], noun: str) -> bool:
    return bool(noun) and any(stem(token.text) == stem(noun) for token in tokens)


def _read_clause(clause: str, gap: Gap, marked: Sequence[str], *, set_off: bool) -> tuple[str, ...] | None:
    """Return the forms of the phrase that answers; () if the clause claims nothing for certain, None if it says nothing new."""
    defines = _defines(clause, gap)
    if (label := LABEL.match(clause)) is not None:
        generic = small_words()["generic"] & set(label[1].lower().split()) and not has_verb(label[1])
        clause = clause[label.end() :] if generic or _is_labelled(clause, gap) else clause
    text = _without_remarks(clause, gap)
    plain = CALL.sub("f", text)
    unsure = (
        FORMULA.search(CALL.sub("f", clause))
        or UNSURE.search(plain)
        or GUESS.search(text)
        or contradicts(text, gap.clause)
    )
    denied = NEGATIVE.search(text) and not NEGATIVE.search(gap.clause)
    tokens = read_tokens(text, gap.stems)
    if not tokens or len(text) > LONGEST or unsure or denied or _begins_aside(tokens):
        return ()
    if _is_of_another(tokens, gap):
        return ()
    tokens = _one_predicate(tokens)
    phrases = [span for span in noun_phrases(tokens) if _is_new(tokens[slice(*span)], text, gap)]
    if not phrases and defines:  # the name is in the question, too
        verb = first_verb(tokens) or 0
        said = [span for span in noun_phrases(tokens) if span[0] > verb]
        phrases = [span for span in said if _is_unlike(tokens[slice(*span)], gap)][:1]
    if not phrases and gap.kind:
        phrases = [span for span in noun_phrases(tokens) if _is_kind_of(tokens[slice(*span)], gap)][:1]
    if not phrases:
        return () if defines else None
    if len(marked) == 1 and marked[0].casefold() not in gap.clause.casefold():
        inside = _marked_phrases(tokens, phrases, text, BRACKETS.sub("", marked[0]))
        if not inside and set_off and marked[0] in clause:
            return tuple(dict.fromkeys([marked[0], BRACKETS.sub("", marked[0])]))
        if inside:
            return (
                marked[0],
                marked[0].removesuffix("()"),
                *(forms_of(tokens, inside[0], text, clause, gap) if len(inside) == 1 else ()),
            )
    span = _fitting(tokens, phrases, gap, defines=defines)
    return () if span is None or _is_one_of_two(tokens, span, gap) else forms_of(tokens, span, text, clause, gap)


def _is_one_of_two(tokens: Sequence[Token], span: Span, gap: Gap) -> bool:
    """True of a phrase with an alternative, `Paris or Lyon`, and of a person who is named to tell who another is: `a friend of Shakespeare`."""
    before = [token.word for token in tokens[max(0, span[0] - 2) : span[0]]]
    has_other = span[1] < len(tokens) - 1 and tokens[span[1]].word == "or"
    return has_other or (gap.is_person and before[1:] == ["of"] and RELATED.fullmatch(before[0]) is not None)


def _begins_aside(tokens: Sequence[Token]) -> bool:
    """True of `Substituting 4 for x`: the clause that answers follows."""
    begins = tokens[0].word.endswith("ing") and tokens[0].kind != "pronoun" and len(tokens) > 1
    return begins and tokens[1].kind in ("preposition", "determiner", "number", "name", "adverb", "conjunction")


def _is_of_another(tokens: Sequence[Token], gap: Gap) -> bool:
    """True if a clause tells what another has, or two things that the same preposition sets apart: `pancakes for lunch and cereal for breakfast`."""
    owners = [before for before, token in itertools.pairwise(tokens) if token.kind == "possessive"]
    if re.search(r"['’]s\b", gap.clause) and any(not owner.known for owner in owners if owner.kind == "noun"):
        return True
    setting = [token.word for token in tokens if token.kind == "preposition"]
    return any(setting.count(word) > 1 and f" {word} " in gap.clause for word in setting if word not in ("of", "in"))


def _without_remarks(clause: str, gap: Gap) -> str:
    """Return a clause without brackets, adjuncts before it and remarks after it."""
    plain = BRACKETS.sub("", clause)
    remark = REMARK.search(plain)
    plain = (plain[: remark.start()] if remark is not None and remark.start() else plain).strip(" .!,:;")
    pieces = COMMA.split(plain)
    if len(pieces) > 2 and _goes_on(pieces[2]) and _is_known(pieces[0], gap):
        pieces = [f"{pieces[0]} {pieces[2]}", *pieces[3:]]  # The ship, built in 1911, sank
    while len(pieces) > 1 and _is_adjunct(read_tokens(pieces[0], gap.stems), any(map(has_verb, pieces[1:]))):
        pieces = pieces[1:]
    if len(pieces) > 1 and " and " in f" {pieces[-1]}" and all(map(_is_item, pieces[1:])) and not _is_title(pieces):
        return ", ".join(pieces)  # a list
    return pieces[0]


def _is_item(piece: str) -> bool:
    """True if a piece may be an item of a list: `lead and zinc`, but not `blended with oil`."""
    tokens = read_tokens(piece)
    begins = tokens[0].kind if tokens else "mark"
    return (
        len(piece.split()) <= MOST_WORDS_OF_ITEM
        and begins not in ("verb", "preposition", "mark")
        and not has_verb(piece)
    )


def _goes_on(piece: str) -> bool:
    """True if a piece continues the subject of another: `formally ended the war`."""
    tokens = [token for token in read_tokens(piece) if token.kind != "adverb"]
    return bool(tokens) and tokens[0].kind in ("verb", "auxiliary") and not tokens[0].word.endswith("ing")


def _is_known(piece: str, gap: Gap) -> bool:
    return all(token.known for token in read_tokens(piece, gap.stems) if token.kind in SAYING)


def _is_title(pieces: Sequence[str]) -> bool:
    """True if two pieces are a name and what it is: `Antonio Vivaldi, a violinist and priest`."""
    names = [NAMED.search(piece) is not None for piece in pieces]
    return len(pieces) == 2 and names == [True, False] and DETERMINED.match(pieces[1]) is not None


def _is_adjunct(tokens: Sequence[Token], verb_follows: bool) -> bool:
    """True of `In Japan` and `By default` before a verb, of words that the question has, and of those without a noun, such as `By far`."""
    if not tokens or first_verb(tokens) is not None:
        return False
    begins = tokens[0].kind in ("preposition", "adverb", "conjunction")
    nouns = [token for token in tokens if token.kind in SAYING]
    return (begins and (verb_follows or not nouns)) or (verb_follows and all(token.known for token in nouns))


def _one_predicate(tokens: list[Token]) -> list[Token]:
    """Return the tokens of the first predicate, or from the last one that the question has: `quit the violin and plays the cello`."""
    verbs = [at for at, token in enumerate(tokens) if at and token.kind == "verb" and tokens[at - 1].word == "and"]
    if not verbs:
        return tokens
    if not tokens[verbs[-1]].known:
        return tokens[: verbs[0] - 1]
    tokens[verbs[-1]].kind = "auxiliary"
    return tokens[verbs[-1] :]


def _is_new(phrase: Sequence[Token], text: str, gap: Gap) -> bool:
    """True if a phrase has a word that the question lacks, or quotes what the question does not hold."""
    if phrase[0].word in small_words()["pointing"]:
        return False  # that title
    if phrase[0].text in QUOTES:
        return text[phrase[0].end : phrase[-1].start].casefold() not in gap.clause.casefold()
    empty = EMPTY_WORDS | small_words()["generic"]
    said = [
        token for token in phrase if token.kind in SAYING and not (token.kind == "number" and token.text in gap.clause)
    ]
    return any(not token.known and token.word not in empty for token in said)


def _is_kind_of(phrase: Sequence[Token], gap: Gap) -> bool:
    """True of the noun that is asked for with a word that the question has in no form: `hydrogen gas`, asked about hydrochloric acid."""
    words = [token.word for token in phrase if token.kind in NOMINAL]
    return _has(phrase[-1:], gap.kind) and any(word not in gap.clause.casefold() for word in words)


def _is_unlike(phrase: Sequence[Token], gap: Gap) -> bool:
    """True of a name, and of a form of a word that the question has: `criteria`, asked about a criterion."""
    return phrase[0].kind == "name" or phrase[-1].word not in gap.clause.casefold()


def _marked_phrases(tokens: Sequence[Token], phrases: Sequence[Span], text: str, marked: str) -> list[Span]:
    """Return the phrases in the only part of a reply that is bold or code, or around it."""
    marked = marked.removesuffix("()")
    words = [text[tokens[start].start : tokens[end - 1].end].strip(' "“”`') for start, end in phrases]
    return [span for span, said in zip(phrases, words, strict=True) if said in marked or marked in said]


def _fitting(tokens: Sequence[Token], phrases: Sequence[Span], gap: Gap, *, defines: bool = False) -> Span | None:
    """Return the phrase that fills the gap; None where the clause does not show it."""
    verb = first_verb(tokens)
    before = [span for span in phrases if verb is not None and span[1] <= verb]
    after = [span for span in phrases if verb is None or span[0] > verb]
    if verb is not None and before and _is_subject(tokens, before[0], after, verb, gap):
        after = before[:1]
    elif gap.is_person or gap.in_subject:
        after = [*(span for span in after if span[0] and tokens[span[0] - 1].word == "by"), *after]
    nouns = [span for span in after if span[1] > span[0] + 1 or not MODIFIER.fullmatch(tokens[span[0]].text)]
    span = next(iter(_of_kind(tokens, nouns or after, gap)), None)
    if span is None or defines:
        return span
    if tokens[span[0]].kind == "number":
        return None
    phrase = tokens[slice(*span)]
    if gap.is_person and len(phrase) == 1 and phrase[0].kind == "noun" and phrase[0].start:
        return None  # Tom is tall
    return None if all(token.kind in ("number", "determiner") for token in phrase) else span


def _is_subject(tokens: Sequence[Token], subject: Span, after: Sequence[Span], verb: int, gap: Gap) -> bool:
    """True if the subject of a clause answers, and not what follows its verb."""
    head, rest = tokens[subject[1] - 1], tokens[verb:]
    asked_head = bool(gap.noun) and stem(head.text) == stem(gap.noun)
    if gap.asking == "where" or head.word in small_words()["person"] | small_words()["generic"]:
        return False
    if head.known and not asked_head:
        return False
    if head.kind == "name" and _has(tokens[slice(*subject)], gap.noun):
        return True  # the Danish architect Jorn Utzon
    asked_after, copula = _has(rest, gap.noun), _is_copula(tokens, verb)
    if not asked_head and any(_is_numbered(tokens[slice(*span)], gap) for span in after):
        return False  # the app listens on port 8080
    if copula and _is_described(tokens, subject, verb):
        return True
    if asked_head and tokens[subject[0]].word == "the" and after and not asked_after:
        return not copula
    named = any(token.kind == "name" for span in after[:1] for token in tokens[slice(*span)])
    if copula and head.kind == "noun" and subject[1] > subject[0] + 1 and named and not asked_after:
        return False  # its author is Bram Stoker
    if not gap.in_subject:
        known = sum(token.known for token in rest)
        if copula:
            return not after or asked_after or known * 2 >= len(gap.stems) > 0
        does_it = tokens[verb].known or (not after and known > 0)
        return gap.is_identity and does_it and not any(token.known for token in tokens[slice(*subject)])
    return stem(tokens[verb].text) in WINS or _acts(tokens, head, after, verb, gap)


def _is_numbered(phrase: Sequence[Token], gap: Gap) -> bool:
    """True of the noun that is asked for with its number or name: `port 8080`, `vitamin D`."""
    return _has(phrase[:-1], gap.noun) and phrase[-1].kind in ("number", "name")


def _is_described(tokens: Sequence[Token], subject: Span, verb: int) -> bool:
    """True if a new name is said to be the one that is described: `PUT is the usual choice`."""
    words, complement = tokens[slice(*subject)], tokens[verb + 1 : verb + 2]
    new = (
        words[0].kind != "determiner" and words[-1].end <= tokens[verb].start and not any(word.known for word in words)
    )
    return new and bool(complement) and complement[0].word == "the"


def _acts(tokens: Sequence[Token], head: Token, after: Sequence[Span], verb: int, gap: Gap) -> bool:
    """True if the subject does what the question asks, and is not what it is done to: `the cup was lifted by Peru`."""
    rest = tokens[verb:]
    passive = tokens[verb].kind == "auxiliary" and any(token.kind == "verb" for token in rest[:3])
    if passive and any(tokens[span[0] - 1].word == "by" for span in after):
        return False
    named = any(token.kind == "name" for span in after for token in tokens[slice(*span)])
    if gap.kind and head.text[:1].isupper() and not named and not passive:
        return True  # Saturn holds the record
    unlike = (
        passive
        and after
        and not _has(rest, gap.noun)
        and not any(token.known for token in rest if token.kind == "verb")
    )
    return any(token.known for token in rest) and not unlike


def _is_copula(tokens: Sequence[Token], verb: int) -> bool:
    if verb + 1 < len(tokens) and tokens[verb + 1].word == "be":
        verb += 1
    following = tokens[verb + 1].kind if verb + 1 < len(tokens) else ""
    return TO_BE.fullmatch(tokens[verb].word) is not None and following not in ("verb", "preposition")


def _of_kind(tokens: Sequence[Token], phrases: Sequence[Span], gap: Gap) -> Sequence[Span]:
    """Return the phrases of the kind that is asked for: names of persons, places, what has the noun of the question."""
    if gap.is_person:
        return [span for span in phrases if any(map(_is_name, tokens[slice(*span)]))] or phrases
    if gap.asking == "where":
        placed = [span for span in phrases if span[0] and tokens[span[0] - 1].kind == "preposition"]
        return [span for span in placed if all(token.kind != "number" for token in tokens[slice(*span)])] or phrases
    return [span for span in phrases if _has(tokens[slice(*span)], gap.kind)] or phrases


def _is_name(token: Token) -> bool:
    capital = token.kind == "name" or (token.kind in NOMINAL and not token.start and token.text[:1].isupper())
    return capital and token.word not in small_words()["month"]
