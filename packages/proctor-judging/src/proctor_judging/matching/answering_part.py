"""Find the part of an English reply that answers: what follows a full answer is background, and claims nothing.

`443. FTP listens on 21.` has answered with its first words, `It's on Sunday now. It was planned for Saturday.` with its first sentence.
"""

import re
from collections.abc import Sequence
from functools import partial

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.noun_phrases import first_verb, has_verb, read_tokens
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.offered_options import offered
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN, HAN_LETTER, MOST_CHARACTERS, echo, stem
from proctor_judging.matching.sentences import CONCLUDES, COURTESY, GUESS, QUESTION, corrected, pieces
from proctor_judging.matching.text import negations

MARKS = " \n*_`\"“”'.!"
NO_ANSWER = compile_later(
    rf"[=≈?{HAN}]|:\s*$|^\s*```|^\s*(?:#|[-*•] |\d+[.)]\s)|^\W*(?:step|part|case|note)\b", re.IGNORECASE
)
DERIVES = compile_later(
    r"[=≈×÷→]|\b(?:so|therefore|thus|hence|then|total|altogether|together|makes?|means|leaves)\b", re.IGNORECASE
)
POINTS = compile_later(
    r"\W*(?:(?:it|they|he|she|you|there)\b|that(?:['’]s| is| was| would be)\b|(?:this|that|these|those) [a-z]+ (?:is|was|are|were)\b|(?:use|type|press|run|call|try|choose|enter)\b)",
    re.IGNORECASE,
)
DOES_SO = compile_later(
    r"(?!(?:it|they|he|she|you|there|we|i|that|this|these|those|what|as|if|so|here|who|which|how|every\w*|any\w*|no(?:body| one)?|some|most|many|people|all|either|neither)\b)(?![^,;:]{0,60}\b(?:but|except|says?|think|believes?)\b)(?P<subject>[^,;:]{1,60}?)\s"
    r"(?:(?:do(?:es)?|did|has|have|had|can|will)(?: (?:this|that|it|so|the job))?(?=\W*$|[,:;]| [–—-])|(?:is|are|was|were)(?: (?:this|that|it))?(?=\W*$|,))",
    re.IGNORECASE,
)
BACKGROUND = compile_later(
    r"\W*(?:(?:originally|previously|formerly|initially|by contrast|in contrast|on the other hand|for (?:example|instance|reference|comparison)|"
    r"fun fact|note that|keep in mind|bear in mind|remember|example|tip)\b|[^,;.]{2,40}, (?:on the other hand|by contrast|in contrast|however),|[^,;.]{2,40}\b(?:had been|used to|(?:is|was|were|are) (?:originally|previously|formerly|initially))\b)",
    re.IGNORECASE,
)
DEFINES = compile_later(r"\W*the (\w{3,}) (?:is|was|are|were) ", re.IGNORECASE)
TAKES_BACK = compile_later(r"\b(?:actually|in fact|wrong|oops)\b|^\W*(?:or|no)\b", re.IGNORECASE)
DASH = compile_later(r"\s[–—-]\s(?!\d)")
ROW = compile_later(r"\W*([\w ./#-]{1,40}?)\*{0,2}(?:\s*(?::|→|[-=]>)\*{0,2}\s+|\s*\|\s*)(\S[^|→]*?)\s*\|?")
DESCRIBED = compile_later(  # the capital of the country where it is
    r"(?i)(.*?)\b(?:the|an?) ((?:(?!the\b|of\b)[\w-]+ ){1,3}?)((?:in |on )?(?:that|which|who|where|whose|described|mentioned)\b.*)"
)
RELATIVE = compile_later(r", (?=(?:which|who|whose)\b|\w+(?:ed|en) by\b)|,? and (?=(?:its|his|her|their)\b)")
OWNED, DOES = compile_later(r"^(?:whose|its|his|her|their)\b"), compile_later(r"^(?:which|who)\b|^(?=\w+(ed|en) by\b)")
EFFECT = compile_later(
    r"(?i),([\"”'’]?) so (?:(?:you|they|we|I)(?:['’](?:d|ll)| would| will| may| should| need| must)|remember|make sure|be sure|please|don['’]t|keep|always|try|plan|check|look)\b[^.!?]*"
)
INSERTED_BY = compile_later(r"(?<=[\w*\"”]), (\w+) by [^,.]{1,60},(?= (?:is|has|won|took|became|[a-z]{2,}(?:ed|s))\b)")
CONTRARY = compile_later(r"(?:(?<=^)|(?<=[.!] ))contrary to [^,.]{1,60}, ", re.IGNORECASE)
AFTER_ACT = compile_later(r"(?<=\d),? (?:after|before|having) (?:[a-z]+ing|[a-z]+ed)\b[^.;]*")
BREAKDOWN = compile_later(r"(?P<total>[^.:\n]{1,120}):\s(?P<parts>[^.:=\n]{3,160})")
INTEGER = compile_later(r"(?<![\d.,])\d{1,6}(?![\d.,]*\d)|\b(?:an?|one)\b")
ARITHMETIC = compile_later(r"[\d\s.,×x*+/÷()−–%$€£-]+=\s*([^=≈\n]{1,40}?)\.?")
TOTAL = compile_later(
    r"(?:(?:,|;|:| and| –| —) (?:(?:al)?together|that (?:gives|makes))|\bgives) ((?:about )?[$€£]?\d[\d.,]*(?: ?[%°\w]+)?)\W*$|[:,;] ((?:about )?[$€£]?(?:\d[\d.,]*|[a-z]{3,12}(?:-[a-z]{3,5})?)(?: [a-z]{2,12})?),? (?:in (?:total|all)|altogether)\W*$"
)
CHOOSES = compile_later(
    r"(?:use|go with|choose|pick|take|prefer) ((?:(?!\bor\b)[^:;,.]){1,40})(?=[:;.]| –| —)", re.IGNORECASE
)
IT_IS = compile_later(r"(?:^|[.!?]\s)([A-Z][\w' -]{0,30}) it is(?=[,.!]|$)")
WITH_REMARK = compile_later(
    r"(?P<value>[^,]{0,30}?\d[^,]{0,20}), (?=(?:set|as of|under|per|since|which)\b)|(?P<name>[^,\d]{2,40}), (?:in )?\d{4}\.?$"
)
BRACKETS = compile_later(r"\s+\([^()]{1,160}\)")
BECAUSE = compile_later(r"\W*(?:because|due to)\b(?:(?! so )[^:;—.])+", re.IGNORECASE)
ASIDE = compile_later(  # after the few words that a reply begins with
    r",\s(?:(?=(?:which|who|whose|where|with|from|at|in|on|by|about|around|roughly|exactly|just|under|over|during|near|born|founded|named|located|signed|released|published|directed|written|built|led|home|so (?:called|named)|according|thanks)\b)|(?=(?:an?|the)\b(?![^.]*\b(?:and|or)\b)))",
    re.IGNORECASE,
)
ASIDE_OF_AMOUNT = compile_later(rf":\s(?=[a-z])|{ASIDE.pattern}", re.IGNORECASE)
TIME = compile_later(r"\d:\d\d|\d ?(?i:[ap]\.?m)\b|\b\d{4}\b|\b[A-Z][a-z]{2,8} \d|\d [A-Z][a-z]{2,8}\b|day\b")
AMOUNT = compile_later(r"\d[\d.,]*(?<=\d)")
A_CLAUSE = compile_later(
    r"(?:an?|the) (?:(?!which|who|that)[\w'’-]+ ){1,4}?(?:is|are|was|were|has|had|have|will|can|does|did)\b",
    re.IGNORECASE,
)
LED_UP = compile_later(
    r"\W*(?:unlike|under|among|between|within|across|besides?|with|without|like|despite|according|for|of|from|apart|aside|instead|after|before|when|while|as|if|to|once|since|based|given|today|now|historically)\b",
    re.IGNORECASE,
)
PLACED = compile_later(r"(?:on|in|at|near|by)\b", re.IGNORECASE)
MAY = compile_later(r"^May (?=\d)")  # the month
EQUALS = compile_later(r"([^=≈]{1,60}?)\s*=\s*([^=≈]{1,40})")
MOST_WORDS = 8


def answering_part(reply: str, asked: QuestionForm, question: str) -> str:
    """Return the part of a reply that answers its question; the whole reply where it concludes, corrects itself or does not show one.

    >>> from proctor_judging.matching.asked import read_asked
    >>> answering_part("443. FTP listens on 21.", read_asked("Which port is it?"), "Which port is it?")
    '443'
    """
    if len(reply) > MOST_CHARACTERS or asked.kind == "truth":
        return reply
    if asked.kind == "amount" and (sum_of := ARITHMETIC.fullmatch(reply.strip())) is not None:
        return sum_of[1]
    sentences = [piece.strip() for piece in pieces(reply) if piece.strip(MARKS)]
    if not sentences or corrected(reply) != reply.strip():
        return reply
    first, *rest = sentences
    head, *remark = DASH.split(first, maxsplit=1)
    if remark and _may_answer(head) and _is_lone(head, asked, question):
        first, rest = head, [*remark, *rest]
    if opening := _first_words(first, rest, asked, question):
        return opening
    again = any(map(CONCLUDES.match, rest)) or _is_answered_again(rest, asked)
    if (subject := DOES_SO.match(first)) is not None and _may_answer(first) and not again:
        return subject["subject"].strip(MARKS)
    if rest and (defined := DEFINES.match(rest[-1])) is not None and _may_answer(rest[-1]):
        return rest[-1] if len(rest[-1].split()) <= MOST_WORDS and set() < echo(defined[1]) <= asked.stems else reply
    if again or not _may_answer(first):
        return reply
    if (led := WITH_REMARK.match(first)) is not None:
        head = led[1 if asked.kind in ("amount", "moment") else 2] or ""
        if head and _is_lone(head, asked, question):
            return head
    cause = BECAUSE.match(first) if "why" in asked.clause.lower() else None
    if cause is not None or not rest:
        return reply if cause is None else cause[0].rstrip(" ,")
    if asked.kind in ("amount", "moment") and any(map(str.isdigit, first)) and _is_derived(rest, asked):
        return reply
    for lone in (first, BRACKETS.sub("", first)):
        if _is_lone(lone, asked, question):
            return lone.rstrip(" .!")
    if (
        POINTS.match(first)
        and (asked.kind != "amount" or _counts(first, rest, asked))
        and ("**" in first or "**" not in reply)
    ):
        return first
    if asked.several and all(map(negations, rest)):
        return first  # and what is not among them
    kept = [sentence for sentence in rest if not BACKGROUND.match(sentence)]
    return reply if len(kept) == len(rest) else " ".join([first, *kept])


def without_other_things(reply: str, asked: QuestionForm, question: str) -> str:
    """Return the row or the clause of an English reply that is about what is asked, where the others are about other things; else the whole.

    >>> from proctor_judging.matching.asked import read_asked
    >>> without_other_things("db-01 → up\\ndb-02 → down", read_asked("What is db-02?"), "")
    'down'
    """
    if len(reply) > MOST_CHARACTERS or asked.kind == "truth" or HAN_LETTER.search(reply + question):
        return reply
    sentences = [piece.strip() for piece in pieces(reply) if piece.strip(MARKS)]
    said = _conclusion(reply.strip(), asked, question) or _asked_row(sentences, asked, question)
    return said or _second_step(sentences, asked) or reply


def _conclusion(reply: str, asked: QuestionForm, question: str) -> str:
    """Return the total at the end of a reply, or the option that it takes: `36` of `10 % is 24, 5 % is 12, together 36.`; '' without it."""
    if asked.kind == "amount" and (total := TOTAL.search(reply)) is not None:
        return total[1] or total[2]
    chosen = (CHOOSES.match(reply) or IT_IS.search(reply)) if offered(question) else None
    return "" if chosen is None else chosen[1].strip("`*")


def _asked_row(lines: Sequence[str], asked: QuestionForm, question: str) -> str:
    """Return the value of the one label of which the question has all words, or the initials, where each line has a label; else ''."""
    rows = [match.groups() for line in lines if (match := ROW.fullmatch(line.rstrip(".;"))) is not None]
    if any(ROW.fullmatch(line) is None for line in lines[1:]) or any(has_verb(label) for label, _ in rows):
        return ""
    initials = "".join(word[0] for word in question.upper().split())
    named = [
        value for label, value in rows if set() < echo(label) <= asked.stems or (label.isupper() and label in initials)
    ]
    return named[0].strip("*`") if len(named) == 1 and not DERIVES.search(named[0]) else ""


def _second_step(sentences: Sequence[str], asked: QuestionForm) -> str:
    """Return the one clause with words of what is asked, where others only have words that describe whose it is; '' without it."""
    steps = DESCRIBED.match(asked.clause)
    clauses = [clause for sentence in sentences for clause in RELATIVE.split(sentence) if clause]
    if steps is None:
        return ""
    described = _roots(steps[3])
    asked_for = _roots(steps[1]) - described - _roots(steps[2]) - {"nam"}
    at, *others = [at for at, clause in enumerate(clauses) if asked_for & _roots(clause)] or [0]
    before = _roots(" ".join(clauses[:at])) | asked_for
    is_new = not _roots(clauses[at].split(" ")[0]) <= before  # another, who was not spoken of before
    if not at or others or is_new or described & _roots(clauses[at]) or not described & _roots(clauses[at - 1]):
        return ""
    return OWNED.sub("The", DOES.sub(lambda does: "It was " if does[1] else "It", clauses[at]))


def _roots(text: str) -> set[str]:
    return {word.removesuffix("d").removesuffix("e") for word in echo(text)}


def without_asides(reply: str, asked: QuestionForm) -> str:
    """Return an English reply without what follows from its answer, who made a thing, and of what parts an amount is the sum."""
    if asked.kind == "truth" or "=" in reply or len(reply) > MOST_CHARACTERS:
        return reply
    reply = EFFECT.sub(partial(_unless_asked, asked), CONTRARY.sub("", reply))
    if "who" not in asked.clause.lower():
        reply = INSERTED_BY.sub(lambda match: match[0] if stem(match[1]) in asked.stems else "", reply)
    if asked.kind == "moment" and not re.search(r"\b(?:after|before)\b", asked.clause):
        reply = AFTER_ACT.sub("", reply)
    return BREAKDOWN.sub(partial(_total, asked), reply) if asked.kind == "amount" else reply


def _first_words(first: str, rest: Sequence[str], asked: QuestionForm, question: str) -> str:
    """Return what a reply has answered with its first words, whatever follows: an equation of the question, a name, an amount; else ''."""
    equation = EQUALS.fullmatch(first.rstrip(" ."))
    if equation is not None and equation[1].strip() in question and not any(map(NO_ANSWER.search, rest)):
        return equation[2]
    is_measured = asked.kind in ("amount", "moment")
    opening, *aside = (ASIDE_OF_AMOUNT if is_measured else ASIDE).split(first, maxsplit=1)
    if aside and _opens(opening, aside[0], asked) and _is_lone(opening, asked, question):
        derives = is_measured and any(map(DERIVES.search, [*aside, *rest]))
        if not (derives or any(map(CONCLUDES.match, rest)) or _is_answered_again(rest, asked)):
            return opening
        first, rest = opening, [*aside, *rest]
    return first if _is_restated(first, rest, asked) and _is_lone(first, asked, question) else ""


def _is_derived(rest: Sequence[str], asked: QuestionForm) -> bool:
    """True if a sentence derives something: another amount, or a time where that is asked for."""
    derives = [sentence for sentence in rest if DERIVES.search(sentence)]
    return any(asked.kind == "amount" or TIME.search(sentence) for sentence in derives)


def _goes_on(aside: str) -> bool:
    """True if a verb comes first after a later comma, or in a clause: `directed by Scott, is based on it`, `the bison is heaviest`."""
    if A_CLAUSE.match(aside):
        return True
    starts = [tokens[0].kind for part in aside.split(",")[1:] if (tokens := read_tokens(part.strip()))]
    return "verb" in starts or "auxiliary" in starts


def _opens(opening: str, aside: str, asked: QuestionForm) -> bool:
    """True of the first words of a sentence that has no verb, with a number where an amount or a time is asked for."""
    if "where" in asked.clause.lower() and PLACED.match(aside):
        return False
    if not _may_answer(opening) or LED_UP.match(opening) or _goes_on(aside) or NO_ANSWER.search(aside):
        return False
    return asked.kind not in ("amount", "moment") or any(map(str.isdigit, with_digits(opening)))


def _is_restated(first: str, rest: Sequence[str], asked: QuestionForm) -> bool:
    """True if what follows derives the amount that a reply begins with: `$12.60. (10 % is $8.40, and half of it makes $12.60.)`."""
    amount = AMOUNT.search(first) if asked.kind == "amount" else None
    return amount is not None and any(
        amount[0] == (AMOUNT.findall(sentence) or [""])[-1] and DERIVES.search(sentence) for sentence in rest
    )


def _unless_asked(asked: QuestionForm, aside: re.Match[str]) -> str:
    """Return what is set aside if it has a word of the question, or what comes before it says too little of that; else nothing."""
    before = re.split(r"[.!?]\s", aside.string[: aside.start()])[-1]
    says = len(echo(before) & asked.stems) * 3 >= len(asked.stems) > 0 == len(echo(aside[0]) & asked.stems)
    fresh = set(INTEGER.findall(with_digits(before))) - set(INTEGER.findall(with_digits(asked.clause)))
    return aside[1] if says and (fresh or asked.kind not in ("amount", "moment")) else aside[0]


def _total(asked: QuestionForm, match: re.Match[str]) -> str:
    """Return an amount without the parts of which it is the sum, unless they are asked for: `11` of `11: ten players and a keeper`."""
    total, parts = (
        [int(n) if n.isdigit() else 1 for n in INTEGER.findall(with_digits(text))] for text in match.groups()
    )
    is_part_asked = asked.stems & echo(match["parts"]) - echo(match["total"])
    return match["total"] if len(parts) > 1 and sum(parts) in total and not is_part_asked else match[0]


def _is_answered_again(rest: Sequence[str], asked: QuestionForm) -> bool:
    """True if a sentence that follows takes an answer back, or says most of the question again, or what its noun is."""
    return any(
        TAKES_BACK.search(sentence)
        or len(echo(sentence) & asked.stems) * 3 > max(len(asked.stems), 1) * 2
        or ((defined := DEFINES.match(sentence)) is not None and echo(defined[1]) <= asked.stems)
        for sentence in rest
    )


def _counts(first: str, rest: Sequence[str], asked: QuestionForm) -> bool:
    """True if a sentence has an amount, and those that follow say little about what is asked."""
    shares = [len(echo(sentence) & asked.stems) for sentence in rest]
    return any(map(str.isdigit, with_digits(first))) and max(shares) * 2 < max(len(asked.stems), 1)


def _may_answer(sentence: str) -> bool:
    no_answer = NO_ANSWER.search(sentence) or QUESTION.search(sentence) or GUESS.search(sentence)
    return not (no_answer or negations(sentence) or COURTESY.match(sentence))


def is_lone_answer(text: str, asked: QuestionForm, question: str) -> bool:
    """True for a few words without a verb that neither deny, guess nor ask."""
    return asked.kind != "truth" and _may_answer(text) and _is_lone(text, asked, question)


def _is_lone(sentence: str, asked: QuestionForm, question: str) -> bool:
    """True for a few words without a verb that are more than a heading: a name, an amount, one of the options."""
    words = MAY.sub("June ", sentence.strip(MARKS))
    tokens = read_tokens(words)
    if not tokens or len(words.split()) > MOST_WORDS:
        return False
    if (tokens[0].kind == "verb" and len(tokens) > 1) or first_verb(tokens) is not None:
        return False
    return any(word not in asked.clause.casefold() for word in words.casefold().split()) or any(
        echo(option) <= echo(words) for option in offered(question)
    )
