"""Read which of the options that an English question names a reply affirms, or, where the question asks which is not, denies.

`Which of these is not a fruit: apple, carrot, or pear?` has three options; `The carrot is a vegetable, but apples and pears are fruits.`
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial

from proctor_judging.matching.asked import TRUTH_OR, QuestionForm
from proctor_judging.matching.noun_phrases import has_verb, small_words
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import echo
from proctor_judging.matching.sentences import CONCLUDES, CONTRAST, GUESS, OTHERS_SAY, SO
from proctor_judging.matching.text import negations

OR = compile_later(r",?\s(?:or|versus|vs\.?)\s", re.IGNORECASE)
BOUNDARY = compile_later(r"[:?!.;\"“”]\s|\s[—–-]\s|[:\"“”]")
COMMA = compile_later(r",\s(?:and\s|or\s)?")
LISTED = compile_later(r":\s?([^:?!;\"]{3,160}?)[?.]?\s*$")
INTRODUCES = compile_later(r".*\b(?:as|between|either|among|into|than)\s", re.IGNORECASE)
TAIL = compile_later(r"\s(for|to|in|on|at|when|if|as|with|first|by|from|of|here|today|now)(?=\s|$)")
ARTICLE = compile_later(r"^(?:an?|the|it|it's) ", re.IGNORECASE)
FROM_ARTICLE = compile_later(r".*\b(?=(?:an?|the|your|my|his|her)\s)", re.IGNORECASE)
CLAUSE = compile_later(
    r"[,;:(]\s?|\s[–—-]\s|—|(?<!even)\s(?=(?:but|while|whereas|although|though|even though|because|since|so)\s)",
    re.IGNORECASE,
)
CONCEDES = compile_later(
    r"\W*(?:although|though|even though|while|whereas|even if|despite|unlike|rather than|not|instead of|as opposed to|compared)\b",
    re.IGNORECASE,
)
COMPARED = compile_later(
    r"\b(?:than|over|unlike|not|rather than|instead of|as opposed to|compared (?:to|with)|versus|vs|from|before|after|outweighs|beats)\s(?:an?\s|the\s)?$",
    re.IGNORECASE,
)
THAN = compile_later(r"\b(\w+er|more|less|worse)\b[^,;.]{0,40}?\sthan\b", re.IGNORECASE)
NEITHER = compile_later(r"(neither|both)\b(?! (?!(?:one|of|are|is|the)\b)[A-Z])", re.IGNORECASE)
PAIR = compile_later(
    r"\bbetween ([^,;:?]{1,30}?) and ([^,;:?]{1,30}?)(?: in [^:?]{1,40})?\s?[:;,–—-]\s?which (?:one|of)\b",
    re.IGNORECASE,
)
QUOTED_PAIR = compile_later(r"[\"“]([^\"“”]{1,30})[\"”],? or [\"“]([^\"“”]{1,30})[\"”]")
BRACKETED = compile_later(r"\s\([^()]{1,60}\)")
MOST_WORDS, LONGEST, LEAST_OF_PART = 5, 400, 3


def chosen_option(sentences: Sequence[str], asked: QuestionForm, question: str) -> str:
    """Return the one option that the concluding sentence of a reply, else the first that names one, chooses; '' otherwise.

    >>> from proctor_judging.matching.asked import read_asked
    >>> question = "Which of these is not a fruit: apple, carrot, or pear?"
    >>> chosen_option(["Apples and pears are fruits, but the carrot is not"], read_asked(question), question)
    'carrot'
    >>> question = "Is the meeting online or in person?"
    >>> chosen_option(["It will be held online"], read_asked(question), question)
    'online'
    """
    if asked.kind == "truth" or TRUTH_OR.search(question) or not question.isprintable():
        return ""
    options = offered(question[-LONGEST:])
    if len(options) < 2:
        return ""
    if sentences and (neither := NEITHER.match(sentences[0])) is not None:
        return neither[1].lower()
    bare = [option for option in options if sentences and ARTICLE.sub("", sentences[0]).casefold() == option.casefold()]
    if bare:
        return bare[0]
    parts = _parts(options)
    naming = [sentence for sentence in sentences if any(map(partial(_said, sentence), parts.values()))]
    concluding = [sentence for sentence in naming if CONCLUDES.match(sentence) or _concludes(sentence, parts)][-1:]
    words = asked.stems - {stem for option in options for stem in echo(option)}
    shares = [len(echo(sentence) & words) for sentence in naming]
    nearest = [sentence for sentence, share in zip(naming, shares, strict=True) if share == max(shares)]
    sentence = next(iter(concluding or nearest), "")
    if not sentence or len(sentence) > LONGEST or GUESS.search(sentence):
        return ""
    if any(degree.casefold() not in question.casefold() for degree in THAN.findall(sentence)):
        return ""  # smaller than the other, where the taller is asked for
    says_which = has_verb(sentence)
    return _chosen(sentence, parts, negative=says_which and bool(negations(asked.clause)))


def offered(question: str) -> tuple[str, ...]:
    """Return the options that a question names.

    >>> offered("Which is heavier, gold or lead?"), offered("Is it a fish or a mammal?"), offered("Classify as bug, feature or question: It fails.")
    (('gold', 'lead'), ('fish', 'mammal'), ('bug', 'feature', 'question'))
    >>> offered("Which of these cities is in Germany: Vienna, Zurich, Munich?"), offered("Who wrote it?")
    (('Vienna', 'Zurich', 'Munich'), ())
    """
    question = BRACKETED.sub("", question)
    if (two := PAIR.search(question) or QUOTED_PAIR.search(question)) is not None:
        return _distinct(two.groups())
    ors = list(OR.finditer(question))
    if not ors:
        listed = LISTED.search(question)
        return _distinct(COMMA.split(listed[1])) if listed is not None and "," in listed[1] else ()
    before, after = question[: ors[-1].start()], question[ors[-1].end() :]
    boundaries = list(BOUNDARY.finditer(before))
    listed_from = boundaries[-1].end() if boundaries else 0
    last = re.split(r"[?!:,;.\"“”]\s|[?!:,;.\"“”]$|\s[—–-]\s", after.strip() + " ")[0].strip()
    if not (tail := TAIL.search(last)) or tail[1] not in before:
        last = last[: tail.start()] if tail is not None else last  # a tuple for fixed data
    parts = [part.strip() for part in COMMA.split(OR.sub(", ", before[listed_from:])) if part.strip()]
    if not parts:
        return ()
    if boundaries and boundaries[-1][0].strip() == ":":
        return _distinct([*parts, last])
    introduced = INTRODUCES.match(parts[0])
    if introduced is not None and parts[0][introduced.end() :]:
        return _distinct([parts[0][introduced.end() :], *parts[1:], last])
    if len(parts) > 1:
        return _distinct([*parts[1:], last])
    article = FROM_ARTICLE.match(parts[0])
    if article is not None and ARTICLE.match(last):
        return _distinct([parts[0][article.end() :], last])
    words, size = parts[0].split(" "), len(last.split(" "))
    named = parts[0][:1].isupper() and last[:1].isupper()
    verb = re.match(r"(?:is|are|was|were|does|do|did|can) ", parts[0], re.IGNORECASE)
    if named and verb is not None:
        last = re.split(r"\s(?=[a-z])", last)[0]  # Is Rome or Milan the capital?
        return _distinct([parts[0][verb.end() :], last])
    pair = size == 2 and len(words) > size and last.split(" ")[0].casefold() not in small_words()["preposition"]
    return _distinct([" ".join(words[-2:] if pair else words[-1:]), last]) if size < 3 else ()


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    bare = [ARTICLE.sub("", name.strip(" .?!\"'")) for name in names]
    whole = all(bare) and all(len(name.split(" ")) <= MOST_WORDS for name in bare)
    return tuple(bare) if whole and len({name.casefold() for name in bare}) == len(bare) > 1 else ()


def _chosen(sentence: str, parts: Mapping[str, str], *, negative: bool) -> str:
    if not negative:
        sentence = SO.split(sentence)[-1] if _concludes(sentence, parts) else sentence
        for pattern, instead in CONTRAST:
            sentence = pattern.sub(instead, sentence)
    clauses = [
        clause for clause in CLAUSE.split(sentence) if clause and any(_said(clause, part) for part in parts.values())
    ]
    denied = {
        option for clause in clauses if negations(clause) for option, part in parts.items() if _said(clause, part)
    }
    kept = [clause for clause in clauses if not (negations(clause) or OTHERS_SAY.search(clause))]
    firm = [clause for clause in kept if not CONCEDES.match(clause)]
    affirmed = {option for clause in firm[:1] for option, part in parts.items() if _said(clause, part, compared=True)}
    named = {option for option, part in parts.items() if _said(sentence, part)}
    if negative:
        chosen = denied if denied else named
        return chosen.pop() if len(chosen) == 1 else ""
    if len(affirmed) == 1:
        return affirmed.pop()
    rest = set(parts) - denied
    return rest.pop() if len(parts) == 2 and len(denied) == 1 and not affirmed else ""


def _concludes(sentence: str, parts: Mapping[str, str]) -> bool:
    """True if what a sentence concludes in its last clause names an option: `…, which means ethanol goes first`."""
    tail = SO.split(sentence)[1:]
    return bool(tail) and any(_said(tail[-1], part) for part in parts.values())


def _parts(options: Sequence[str]) -> dict[str, str]:
    """Return a pattern for each option: its words, or the last one if no other option has it."""
    parts = {}
    for option in options:
        last = option.rpartition(" ")[2]
        alone = len(last) > LEAST_OF_PART and not any(last in other for other in options if other != option)
        parts[option] = f"{re.escape(option)}|{re.escape(last)}" if alone else re.escape(option)
    return parts


def _said(clause: str, part: str, *, compared: bool = False) -> bool:
    """True if a clause names an option, in the singular or plural; with `compared`, other than as what it is compared with."""
    matches = list(re.finditer(rf"(?<![\w-])(?:{part})(?:e?s)?(?![\w-])", clause, re.IGNORECASE))
    return any(not compared or COMPARED.search(clause[: match.start()]) is None for match in matches)
