"""Read what a reply claims, before anybody looks at a key: `The capital of France is Paris.` claims Paris, whatever the target is.

Nothing in this module knows a target. A reply claims one value; where its form leaves two, both are returned, and a
comparison with a target can only say that the reply is arguable.
"""

import re
from collections.abc import Sequence

import msgspec

from proctor_judging.matching.amount_claims import Amount, read_amounts
from proctor_judging.matching.amounts import YEAR, without_unit
from proctor_judging.matching.answer_layout import bold_list, is_sentence, joined, listed, set_off, without_examples
from proctor_judging.matching.answering_part import answering_part
from proctor_judging.matching.asked import AMOUNT, LISTS, QuestionForm, read_asked
from proctor_judging.matching.comparisons import read_comparison
from proctor_judging.matching.dates import read_moments
from proctor_judging.matching.extract import final_answer
from proctor_judging.matching.han_answers import amount_alone, labelled, read_han_answer
from proctor_judging.matching.han_clauses import answering_clause, ordinal, span_of, weekday
from proctor_judging.matching.han_moments import read_han_moment
from proctor_judging.matching.han_names import name_forms, other_names
from proctor_judging.matching.han_openings import without_opening
from proctor_judging.matching.han_question import read_han_question
from proctor_judging.matching.lists import read_items
from proctor_judging.matching.noun_phrases import first_verb, read_tokens, says_otherwise
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.offered_options import chosen_option
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_answers import read_phrase
from proctor_judging.matching.phrase_forms import named_again
from proctor_judging.matching.plain_prose import plain_prose
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.question_words import HAN_LETTER, MOST_CHARACTERS, echo, stem
from proctor_judging.matching.ranges import read_span
from proctor_judging.matching.reply_text import plain_reply
from proctor_judging.matching.sentences import (
    CONCLUDES,
    COPULA,
    COURTESY,
    GUESS,
    OFFER,
    OTHERS_SAY,
    QUESTION,
    asked_clause,
    chosen,
    conclusion,
    corrected,
    is_certain,
    plain_statement,
    statements,
    without_guessing,
)
from proctor_judging.matching.solutions import equal_values, read_solutions
from proctor_judging.matching.stated_amounts import BRACKETED_UNIT, stated_amounts
from proctor_judging.matching.stated_words import StatedWords, aliases, before_echo, read_words, shorter_names, variants
from proctor_judging.matching.syntax import read_tree
from proctor_judging.matching.text import FENCED, negations, tidy, without_gaps
from proctor_judging.matching.truth import read_truth, truth_of
from proctor_judging.matching.unit_table import read_unit

SENTENCE = compile_later(
    r"[^\W\d_]{2,}\W*\s+\S|\S\s+[^\W\d_]{2,}|[\u3400-\u9fff]{2,}|[\u3400-\u9fff]\d|['’]s\s|[:：\n<]"
)
ANNOUNCED, HAN_ANNOUNCED = "The answer is {given}", "答案是{given}"
FORMULA_START = compile_later(r"^|=|\b(?:is|are|get|gives?|obtain|equals?|to)\b|[是为得即故则]:?|[:：]")
MATHEMATICAL = compile_later(r"[√π\\∪∞^<>≤≥{∈±!]|\d\s?[a-z(]|[a-z]\s?[+*/-]\s?[\da-z]|\([^()]*,")
DIRECTED = compile_later(
    r"\b(?:by (?:how much|what)|fall|fell|drop|decreas\w*|declin\w*|los[ts]|decline|reduc\w*)\b|[降跌减亏]",
    re.IGNORECASE,
)
COUNTING = compile_later(
    r"\b(?:there (?:are|is|were|was)|has|have|had|contains?|years old)\b|[有共含岁]", re.IGNORECASE
)  # 365 days: what is counted
LEADING = compile_later(
    r"(?:\b(?:about|approximately|around|roughly|every|each|only|exactly|just)\s|[约每]|大约)$", re.IGNORECASE
)
COUNTED = compile_later(r"[\u3400-\u9fff]{1,4}|[a-z]{2,20}(?:[ -][a-z]{2,20}){0,2}")
DAY_BEFORE = compile_later(
    r"(?:(?:[下本这]个?)?(?:周|星期)[一二三四五六日天]|[明今后昨]天)(?P<time>[上下]午|晚上|中午|凌晨|早上)?$|(?<!.)(?P<half>[上下]午|晚上|中午|凌晨|早上)$"
)
FELL = compile_later(
    r"(?:\b(?:fell|falls?|fallen|fall of|dropped|drop of|declined|decline of|(?:de)creased|decrease of|shrank|shrunk|lost|loss of|slid|sank|went down|down)(?: by| of)?(?: (?:about|roughly|some|around))?"
    r"|(?:下降|降低|减少|下跌|跌|降|亏损|缩减|下滑)(?:了|约|幅度为)?)\s?$",
    re.IGNORECASE,
)
ABOUT_IT = compile_later(
    r"(?:now|today|instead|rather|it|they|this|that|he|she|so|therefore)\b|现在|如今|而?是|应", re.IGNORECASE
)
WITH_SYMBOL = compile_later(r"[^\W\d_][\w ]{0,40}\s?[(（][A-Za-z\u3400-\u9fff]{1,12}[)）]")
MEASURED = compile_later(r"(.{1,80}?[\d}π)])\s?([^\W\d_]{1,12}(?:\^[23])?)")
VERBS = ("是", "叫", "读", "念", "用", "呈", "选", "在")  # before the value of a reply
LETTER = compile_later("[A-Za-z]")
ROUGHLY = compile_later(r"(?:approximately|around|roughly)\s", re.IGNORECASE)
PROSE = compile_later(r"(?<!\\)\b(?!arc)[a-z]{5,}\b(?!\s?\()")  # a word, no function
FOR_WHOM = compile_later(r"\b(?:for|among|between|in an?|every|within) $", re.IGNORECASE)
ARTICLE = compile_later(r"^(?:the|an?) ", re.IGNORECASE)
ACTS = compile_later(r"[A-Z]\w+ (?!of|and|the|de|in|is)[a-z]+ [a-z]+")  # France came second
ENUMERATES = compile_later(
    r"\b(?:are|were|includes?|consists? of|comprises?|made up of|(?:topped|made|filled|served) with)(?: as follows)?:?\s|(?<!不)(?:分别是|就是|是|有|包括|包含|指的是|指|为)[:：]?",
    re.IGNORECASE,
)
EQUATION = compile_later(r"(?<![=!<>])=(?!=)|≈")
CHAIN = compile_later(r"[^\s=≈,;:]{1,40}(?: ?[=≈] ?[^\s=≈,;:，；。]{1,40})+")
DERIVES = compile_later(
    r"(?:代入|解|求|可|算|即)得[:：]?|\b(?:we (?:get|obtain|find|have)|gives|yields)\b:?", re.IGNORECASE
)
ASKS_ONE = compile_later("谁|哪(?![些几两三四五])")
BECAUSE = compile_later(
    r"(?:(?:it(?:['’]s| is| was) )?(?:because(?: of)?|due to)\s|(?:这?是)?(?:因为|由于))(.{2,200})", re.IGNORECASE
)
CAUSE = compile_later(
    r"\b(?:because|since) (?!(?:of|it|they|he|she)\b)([^;:—–]+?)(?=, (?:which|who|so|and|but)\b|\s*[;:—–(]|\s-\s|$)"
)
ADJUNCT = compile_later(r"\s(?:after|before|when|while|during|in|on|at|by|within|over|for)\s(?!.*(?:,|\b(?:is|are|was|were|ha[ds]|did|could|or|then)\b))")  # fmt: skip
FIRST_CLAUSE = compile_later(r"^([^:—]+)")
ASKS_EVENT = compile_later(r"what (?:has )?happen\w*\b", re.IGNORECASE)
SUBJECT = compile_later(r"^(?:it|he|she|they|the [\w-]+) (?:(?:is|was|were|has been|had been) )?", re.IGNORECASE)
WHY = compile_later(r"\bwhy\b|(?<![称作认誉视叫])为什么|为何", re.IGNORECASE)
TIME_OF_DAY = compile_later(
    r"(?<=\d)(?:,? at|,)? \d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?$|(?<=[日号號])(?:上午|下午|晚上|凌晨|中午)?\d{1,2}[点點时時:].*$",
    re.IGNORECASE,
)
YEAR_OR_AM = compile_later(r",? \d{4}$|^\d{4}年|\s?a\.?m\.?$", re.IGNORECASE)
MONTH = compile_later(r"\b(?:which|what) month\b", re.IGNORECASE)
RATE = compile_later(r"(?:\s(?:per|an?|each|every)\s|/)([a-z]{3,12})$", re.IGNORECASE)
IS_IT = compile_later(r"(?:\b(?:is|equals)|[是为])\s?$", re.IGNORECASE)
SAME_AMOUNT = compile_later(
    r"([\d.,零一二两三四五六七八九十百千万亿半]+[\u3400-\u9fff]{1,3})[，,](?:也就是|即|折合|约合)(?:大?约)?([\d.,零一二两三四五六七八九十百千万亿半]+[\u3400-\u9fff]{1,3})(?=[，,。；;]|$)"
)
SPACED_NUMBER = compile_later(r"(?<=\d)[ \t](?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])[ \t](?=\d)")
SAME_YEAR = compile_later(r"(\d{4}年)(.*?)同年(?=\d{1,2}月)")
PER = compile_later("每(秒|分钟|小时|天|周|月|年)\\s?$")
HEADING = compile_later(r"(?:最终)?(?:结论|答案|解答|分析|回答|结果|解析|总结|解|答)[:：]?")
QUOTED = compile_later(r"([^\"]{0,80}?(?:\b(?:is|was|are|were)\s|[是为]))[:：]?\"([^\"]{1,80})\"\W*", re.IGNORECASE)
DENIED = compile_later(
    r"(?:(?:it|that|this|he|she|they)(?:['’]s|['’]re| is| was| are| were) not|(?:it|that|this|he|she|they) (?:is|was|are|were)n['’]t)\s[^,;]{1,60}",
    re.IGNORECASE,
)
WEEKDAY = compile_later(
    r"\b(?P<day>(?:next |this )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: morning| afternoon| evening)?)(?:,| at|, at)?\s$"
)
TO_ANOTHER = compile_later(r"(?<![\w.,/-])([$€£]?\d[\d.,]*)\s?[-–~]\s?$")  # 3-5 days
REMARK_AFTER = compile_later(r"^([^:;,(]{1,60})(?:: (?=[a-z])| [–—] ).*$")  # Venus: its thick air …
OR_ELSE = compile_later(
    r"([^.!?。！？\n]{1,40})[.!。！]\s*(?:or\s(?:maybe |perhaps )?|或者?(?:可能)?(?:是)?)([^.!?,。！？，\n]{1,40})[.!。！]?\s*",
    re.IGNORECASE,
)
MOST_READINGS = PAIR = 2
FEW_WORDS, FEW_CHARACTERS = 3, 8


class Claim(msgspec.Struct, frozen=True):
    """One value that a reply claims: in words, of which the later forms are parts of the first or other spellings; or a yes or no."""

    forms: tuple[str, ...] = ()
    truth: bool | None = None

    def __str__(self) -> str:
        return self.forms[0] if self.forms else "yes" if self.truth else "no"


class Claims(msgspec.Struct, frozen=True):
    """What a reply claims.

    Attributes:
        given: the answer as a whole: the reply, or what it announces; None of a long reply that concludes nothing.
        readings: one claim; several where the reply may be read in several ways; none if it says nothing for certain.
        asks: True if the reply asks.
        others: what the reply may be read to claim instead, less surely; if that is a target, the reply is arguable.
    """

    given: str | None
    readings: tuple[Claim, ...] = ()
    asks: bool = False
    others: tuple[Claim, ...] = ()


def read_claims(reply: str, question: str = "", *, guesses: bool = False) -> Claims:
    """Return what a reply claims in answer to a question.

    >>> [claim.forms for claim in read_claims("The capital of France is Paris.").readings]
    [('Paris',)]
    >>> read_claims("It is not Paris.").readings, read_claims("It may be Paris.").readings
    ((), ())
    """
    question = question if echo(question) else ""
    reply = SPACED_NUMBER.sub("", without_gaps(reply))
    if (either := OR_ELSE.fullmatch(reply.strip())) is not None:
        return Claims(None, (Claim((either[1],)), Claim((either[2],))))
    given, whole = final_answer(reply), reply.strip()
    reply = without_examples(plain_reply(reply))
    if (given is None or given == whole) and HAN_LETTER.search(reply) is None and question:
        part = answering_part(reply, read_asked(question), question)
        given, whole, reply = (given, whole, reply) if part == reply else (part, part, part)
    is_whole = given == whole
    given = reply if is_whole else given
    text = conclusion(reply) if given is None else given
    if not text:
        return Claims(None, _laid_out(reply, question) or _of_lead(reply, question))
    if given is not None and not given.isascii():
        given = given.rstrip("!！~～ ") or given
    if (
        given is not None
        and is_value(tidy(given))
        and given[:1] not in VERBS
        and (read_asked(question).kind != "truth" or truth_of(given) is not None)
    ):
        return Claims(given, _of_value(given, question), asks=QUESTION.search(given) is not None)
    announced = given is not None and not is_whole
    if given is not None and not is_whole:
        given = REMARK_AFTER.sub(r"\1", given)
        text = reply = (ANNOUNCED if given.isascii() else HAN_ANNOUNCED).format(given=given)
    if event := _event(reply, read_asked(question)):
        return Claims(given, (Claim(event),))
    if phrase := _phrase(reply, read_asked(question), question):
        return Claims(given, phrase)
    if not announced and (laid_out := _laid_out(reply, question)):
        return Claims(given, laid_out)
    text = without_guessing(text) if guesses else text
    said = OFFER.sub("", text) or text
    readings = _with_other_amounts(_with_equals(read_statements(said, question), said), said)
    return Claims(given, readings, QUESTION.search(said) is not None)


def _phrase(reply: str, asked: QuestionForm, question: str) -> tuple[Claim, ...]:
    """Return the claim of an English reply that chooses an option of its question, or has one clause that fills the gap in it."""
    worded = asked.kind in ("words", "") or (asked.kind == "amount" and AMOUNT.search(asked.clause) is None)
    if not worded or HAN_LETTER.search(reply) is not None or (asked.several and listed(reply)):
        return ()
    sentences = [sentence for sentence in statements(reply) if not DENIED.fullmatch(sentence)]
    if option := chosen_option(sentences, asked, question):
        return (Claim((option, *named_again(option, reply))),)
    forms = read_phrase(reply, asked.clause)
    items = read_items(forms[0]) if forms and asked.several and "**" not in reply and "," not in reply else None
    is_pair = items is not None and len(items.elements) == PAIR  # longer lists are read by their commas
    return (Claim(forms),) if forms and (is_pair or not asked.several) else ()


def _event(reply: str, asked: QuestionForm) -> tuple[str, ...]:
    """Return the one clause that says why, or what happened, in an English reply, with and without what it adds at its end."""
    is_why, is_event = WHY.search(asked.clause), ASKS_EVENT.match(asked.clause)
    if not (is_why or is_event) or reply.count("because") > 1 or HAN_LETTER.search(reply):
        return ()
    sentences = [sentence for sentence in statements(reply) if not DENIED.fullmatch(sentence)]
    causes = [cause for sentence in sentences if (cause := (CAUSE if is_why else FIRST_CLAUSE).search(sentence))]
    if not causes or (is_why and len(causes) > 1):
        return ()
    before, clause = causes[0].string[: causes[0].start(1)], causes[0][1].strip(" .,!")
    others_say = any(not echo(match[0]) <= asked.stems for match in OTHERS_SAY.finditer(before))
    denies = len(negations(before)) > len(negations(asked.clause))
    if GUESS.search(before + clause) or others_say or denies or not has_predicate(clause):
        return ()
    forms = [clause, *filter(has_predicate, (clause[: adjunct.start()] for adjunct in ADJUNCT.finditer(clause)))]
    return tuple(dict.fromkeys(forms if is_why else [*forms, *(SUBJECT.sub("", form) for form in forms)]))


def has_predicate(text: str) -> bool:
    """True of a clause, such as `the disk was full`, and not of a part of one."""
    tokens = read_tokens(text)
    return first_verb(tokens) is not None and tokens[-1].kind not in ("auxiliary", "determiner")


def _of_lead(reply: str, question: str) -> tuple[Claim, ...]:
    """Return the claim of the first sentence of a long English reply, if it repeats most of the question: what follows explains it."""
    asked, sentences = read_asked(question), statements(reply, denials=True)
    if HAN_LETTER.search(reply) is not None or not sentences or any("=" in sentence for sentence in sentences):
        return ()
    lead = sentences[0]
    if asked.kind == "truth":
        return read_statements(lead, question)
    repeats = len(echo(lead) & asked.stems) * 3 >= len(asked.stems) * 2 > 0
    return (_phrase(lead, asked, question) or (asked.kind and read_statements(lead, question)) or ()) if repeats else ()


def _of_value(given: str, question: str) -> tuple[Claim, ...]:
    """Return what a reply claims that is a value as a whole: yes or no, or a Chinese amount with and without what it counts."""
    kind = read_asked(question).kind
    if kind == "truth" and (truth := truth_of(given)) is not None:
        return (Claim(truth=truth),)
    if kind in ("amount", "moment") and HAN_LETTER.search(given) is not None:
        return read_statements(HAN_ANNOUNCED.format(given=given), question)
    return ()


def _laid_out(reply: str, question: str) -> tuple[Claim, ...]:
    """Return the claim that a reply sets off by its layout; () without one."""
    asked = read_asked(question)
    if asked.kind == "truth" or FENCED.search(reply[:MOST_CHARACTERS]):
        return ()
    reply = corrected(reply)
    if asked.kind in ("words", "") and (named := labelled(reply, question)):
        return (Claim(named),)
    is_one = not asked.several and ASKS_ONE.search(asked.clause) is not None
    asks_list = asked.several or LISTS.match(asked.clause) is not None
    if asked.kind in ("words", "") and not is_one and (items := bold_list(reply) or listed(reply, is_asked=asks_list)):
        return (Claim((joined(items),)),)
    part = set_off(reply, asked)
    if part is None:
        return ()
    if is_sentence(part):
        return _phrase(part, asked, question) or read_statements(part, question)
    if asked.kind in ("amount", "moment"):
        return read_statements(ANNOUNCED.format(given=part), question)
    if asked.kind in ("words", ""):
        also = other_names(reply.partition(part)[2])
        forms = [*variants(part), *aliases(part), part.removesuffix("()"), *name_forms(part, question), *also]
        return (Claim(tuple(dict.fromkeys([*forms, *shorter_names(forms, asked)]))),)
    if HAN_LETTER.search(reply) is None:
        return ()
    return read_statements(HAN_ANNOUNCED.format(given=part), question) or (Claim((part,)),)


def _with_equals(readings: tuple[Claim, ...], text: str) -> tuple[Claim, ...]:
    """Return a claim that ends a chain of equal values with those before it as forms: `1/6` of `6/36 = 1/6 ≈ 0.1667`."""
    if len(readings) != 1 or readings[0].truth is not None:
        return readings
    forms = readings[0].forms
    chains = map(equal_values, CHAIN.findall(tidy(text[-MOST_CHARACTERS:])))
    equal = [value for values in chains if set(forms) & set(values) for value in values]
    return (Claim(tuple(dict.fromkeys([*forms, *equal]))),)


def _with_other_amounts(readings: tuple[Claim, ...], text: str) -> tuple[Claim, ...]:
    """Return a claim with the amount that the reply says is the same: 一年 of `365.25天，也就是一年`."""
    if len(readings) != 1 or not readings[0].forms or HAN_LETTER.search(text) is None:
        return readings
    forms = readings[0].forms
    pairs = [match.groups() for match in SAME_AMOUNT.finditer(text[-MOST_CHARACTERS:])]
    others = [
        other for one, same in pairs for form, other in ((one, same), (same, one)) if forms[-1] in form or form in forms
    ]
    return (Claim(tuple(dict.fromkeys([*forms, *others]))),)


def is_guess(reply: str) -> bool:
    return GUESS.search(reply[-MOST_CHARACTERS:]) is not None


def read_statements(text: str, question: str = "") -> tuple[Claim, ...]:
    """Return what the sentences of a text claim: one claim, several if they leave it open, or none."""
    if len(blocks := FENCED.findall(text[:MOST_CHARACTERS])) == 1:
        return (Claim((blocks[0].strip(),)),)
    asked, text = read_asked(question), plain_reply(text)
    sentences = statements(text.replace("$$", " "), denials=asked.kind == "truth")
    if items := _enumerated(sentences, asked):
        return (Claim((items,)),)
    if (truth := read_truth(sentences, asked)) is not None:
        return (Claim(truth=truth),)
    if asked.kind == "truth":
        return ()
    sentences = [SAME_YEAR.sub(r"\1\2\1", without_opening(sentence)) for sentence in sentences if sentence]
    if asked.kind == "moment" and not question.isascii() and (moment := read_han_moment(sentences, asked.clause)):
        return (Claim(moment),)
    sentences = [sentence for sentence in sentences if not COURTESY.match(sentence)] or sentences
    if asked.kind in ("amount", "moment") and not question.isascii() and (alone := amount_alone(sentences)):
        if alone.isascii() and LETTER.search(alone) and read_quantity(alone) is None:
            return (Claim((alone,)),)
        sentences, text = [alone], alone
    sentences = [sentence for sentence in sentences if not HEADING.fullmatch(sentence)] or sentences
    if HAN_LETTER.search(text) is None:
        sentences = [sentence for sentence in sentences if not DENIED.fullmatch(sentence)] or sentences
        if (first := read_comparison(sentences, asked)) is not None:
            return (Claim((first, ARTICLE.sub("", first))),)
        if option := chosen_option(sentences, asked, question):
            return (Claim((option,)),)
    if asked.kind in ("words", "") and (named := read_han_answer(sentences, question)):
        return (Claim(named),)
    if asked.kind in ("words", "") and (named := _by_form(sentences, asked)):
        return (Claim(named),)
    if (first := read_comparison(sentences, asked)) is not None:
        return (Claim((first, ARTICLE.sub("", first))),)
    if asked.stems and HAN_LETTER.search(text) is None:
        plain = plain_prose(sentences, asked)
        if plain != list(sentences):
            sentences, text = plain, ". ".join(plain)
    if len(sentences) > 1 and _is_bare(sentences[0]) and not any(map(CONCLUDES.match, sentences)):
        sentences = sentences[:1]  # and what follows explains it
        text = sentences[0]
    sentences = answering_clause(_certain(sentences, asked) or sentences, asked)
    if forms := _of_shape(sentences, asked):
        return (Claim(forms),)
    return _of_content(text, sentences, question)


def _by_form(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return what the one sentence of a reply quotes; () without it."""
    quoted = QUOTED.fullmatch(sentences[0]) if len(sentences) == 1 and not asked.several else None
    if quoted is not None and quoted[2] not in asked.clause and is_certain(quoted[1]):
        return (quoted[2],)
    return ()


def _of_shape(sentences: Sequence[str], asked: QuestionForm) -> tuple[str, ...]:
    """Return the forms of a claim whose kind the question or the sentence shows: a weekday, a cause, a formula, a Chinese name."""
    if day := weekday(sentences, asked):
        return (day,)
    if nth := ordinal(sentences, asked.clause):
        return nth
    if asked.kind in ("amount", "moment") and not asked.clause.isascii() and (span := span_of(sentences)):
        return (span, re.sub("^每(?:分钟|小时|[秒天周月年])", "", span))
    if WHY.search(asked.clause) and (because := [match[1] for match in map(BECAUSE.match, sentences) if match]):
        cause = before_echo(because[-1].strip(" .。"), asked.clause)
        return (cause, cause.partition("，")[0].partition(",")[0]) if not cause.isascii() else (cause,)
    answering = chosen(sentences, asked.clause)
    return _formula(answering[-1], asked) if answering and asked.kind != "words" else ()


def _of_content(text: str, sentences: Sequence[str], question: str) -> tuple[Claim, ...]:
    """Return the amounts or the words that sentences state."""
    asked = read_asked(question)
    amounts = _amounts(text, sentences, question) if asked.kind != "words" else ()
    if amounts and asked.kind == "moment" and MONTH.search(asked.clause):
        amounts = [amount for amount in amounts if read_moments(tidy(amount.text))]  # not the 28 days of a month
    if amounts is None and asked.kind:
        return ()
    if amounts and asked.kind:
        return _of_amounts(amounts, asked)
    answering = chosen(sentences, asked.clause)
    worded = list(dict.fromkeys(words for sentence in answering if (words := read_words(sentence, asked)).forms))
    if amounts is None:
        worded = [words for words in worded if words.direct and not any(map(str.isdigit, words.forms[0]))]
    fresh = [amount for amount in amounts or () if amount.text not in asked.clause]
    amounts = fresh or [amount for amount in amounts or () if len(amounts or ()) == 1 and IS_IT.search(amount.before)]
    if amounts:
        return _of_either(worded[-1] if worded else StatedWords(), amounts, asked)
    distinct = worded[:1] if asked.stems else worded if len(worded) <= MOST_READINGS else []
    return tuple(Claim(words.forms) for words in distinct)


def _enumerated(sentences: Sequence[str], asked: QuestionForm) -> str:
    """Return the list that is the complement of the one sentence of a reply to a question for several things; '' without one."""
    offers = (han := read_han_question(asked.clause)) is not None and han.options
    plain = plain_statement(sentences[0]) if asked.several and not offers and len(sentences) == 1 else None
    if plain is None:
        return ""
    for start in ENUMERATES.finditer(plain):
        complement = plain[start.end() :]
        items = read_items(complement)
        listed = items is not None and items.joined != "or" and len(items.elements) > 2
        if listed and not COPULA.search(complement):
            return complement
    return ""


def is_value(given: str) -> bool:
    """True if a text is a value as a whole, so that no part of it is looked for."""
    if EQUATION.search(given) is not None or WITH_SYMBOL.fullmatch(given) is not None:
        return False
    if SENTENCE.search(given) is None or (("±" in given or "\\pm" in given) and not PROSE.search(given)):
        return True
    if read_number(given.lower()) or read_quantity(given) or read_moments(given) or read_span(given):
        return True
    return read_tree(given) is not None


def _certain(sentences: Sequence[str], asked: QuestionForm) -> list[str]:
    """Return the sentences that say something for certain about the question; none if only others do."""
    certain = [sentence for sentence in sentences if plain_statement(sentence) is not None]
    about = [sentence for sentence in certain if ABOUT_IT.match(sentence) or echo(sentence) & asked.stems]
    return certain if about else []


def _is_bare(sentence: str) -> bool:
    """True for a few words that are no statement: a name, an amount."""
    bare = len(sentence.split(" ")) <= FEW_WORDS if sentence.isascii() else len(sentence) <= FEW_CHARACTERS
    return (
        bare
        and ACTS.fullmatch(sentence) is None
        and COPULA.search(sentence) is None
        and re.search(r"[:：\d]", sentence) is None
        and sentence[:1] == sentence[:1].upper()
    )


def _is_whole(text: str, amounts: int) -> bool:
    """True if a text is a list, a range or a score that holds all of several amounts."""
    items = read_items(text)
    listed = items is not None and items.joined != "or" and len(items.elements) == amounts
    return amounts > 1 and (listed or read_span(text) is not None)


def _formula(sentence: str, asked: QuestionForm) -> tuple[str, ...]:
    """Return the assignments or the formula with which a sentence ends."""
    plain = plain_statement(sentence)
    if plain is None:
        return ()
    derived = DERIVES.split(plain)[-1]
    plain, rounded, decimals = (derived if EQUATION.search(derived) else asked_clause(plain, asked.clause)).partition(
        "≈"
    )
    if solutions := read_solutions(plain):
        return (*solutions, *([decimals.strip()] if rounded else []))
    for start in FORMULA_START.finditer(plain):
        text = BRACKETED_UNIT.sub(r" \1", plain[start.end() :].strip())
        if (measured := MEASURED.fullmatch(text)) is not None and read_unit(measured[2]) and MATHEMATICAL.search(text):
            return (text,) if read_tree(measured[1]) and not read_quantity(text) else ()
        if PROSE.search(text) is not None:
            continue
        if EQUATION.search(text) is None and MATHEMATICAL.search(text) and read_tree(text) and not read_quantity(text):
            return (text, decimals.strip()) if rounded else (text,)
    return ()


def _amounts(text: str, sentences: Sequence[str], question: str) -> Sequence[Amount] | None:
    """Return the amounts that may be the answer; None if the reply is not sure of them."""
    stated = stated_amounts(sentences, read_asked(with_digits(question)), question)
    if not stated and read_asked(question).kind in ("amount", "moment") and HAN_LETTER.search(text) is None:
        lone = read_amounts(with_digits(text), question)
        return lone if len(lone) == 1 else stated
    if stated and len(stated) > 1:
        stated = [one for one in stated if FOR_WHOM.search(one.before) is None] or stated
    if not stated or len(stated) == 1:
        return stated
    if (
        read_asked(question).kind == "moment"
        and len(sentences) == 1
        and says_otherwise(text, read_asked(question).clause)
    ):
        return stated
    narrowed = [
        amount
        for amount in read_amounts(with_digits(text), question)
        if amount.text in [other.text for other in stated]
    ]
    return [one for one in stated if one.text == narrowed[0].text] if len(narrowed) == 1 else stated


def _of_amounts(amounts: Sequence[Amount], asked: QuestionForm) -> tuple[Claim, ...]:
    if len(amounts) > MOST_READINGS:
        return ()
    start = TO_ANOTHER.search(amounts[-1].before) if amounts else None
    if start is not None and all(start[1].endswith(amount.text) for amount in amounts[:-1]):
        return (Claim(tuple(f"{start[1]}-{form}" for form in _of_amount(amounts[-1], asked)[0].forms)),)
    return tuple(claim for amount in amounts for claim in _of_amount(amount, asked))


def _of_amount(amount: Amount, asked: QuestionForm) -> list[Claim]:
    """Return an amount with what it counts, without its unit where things are counted, and the year of a date."""
    counted = COUNTED.match(amount.noun)
    words = counted[0].split(" ") if counted is not None else []
    if counted is not None and not counted[0].isascii():
        longer = [amount.text + counted[0][:size] for size in range(len(counted[0]), 0, -1)]
    else:
        longer = [amount.text + " " + " ".join(words[:size]) for size in range(len(words), 0, -1)]
    forms = [*longer, amount.text]
    quantity = read_quantity(tidy(amount.text))
    if (COUNTING.search(amount.before + amount.noun) and not asked.units) or (
        "%" not in amount.text and quantity is None
    ):
        forms.append(without_unit(amount.text))
    if read_moments(tidy(amount.text)):
        day = TIME_OF_DAY.sub("", amount.text)
        forms = [amount.text, *(YEAR_OR_AM.sub("", text) for text in (amount.text, day)), day]
        if asked.kind == "moment" and (year := YEAR.search(amount.text)) is not None:
            forms.append(year[0])
    if (rate := RATE.search(amount.text)) is not None and stem(rate[1]) in asked.stems:
        forms.append(amount.text[: rate.start()])  # 40 hours per week, asked for hours per week
    if (weekday_before := WEEKDAY.search(amount.before)) is not None:
        forms = [f"{weekday_before['day']}{joint}{amount.text}" for joint in (" at ", ", ", " ")] + forms
    day_before = DAY_BEFORE.search(amount.before)
    if day_before is not None:
        forms = [day_before[0] + amount.text, (day_before["time"] or "") + amount.text, *forms]
    if (each := PER.search(amount.before)) is not None:
        forms = [f"{form}每{each[1]}" for form in forms[:2]] + forms  # 每秒30万千米
    lead = LEADING.search(amount.before)
    if lead is not None and ROUGHLY.fullmatch(lead[0]):
        forms = [f"about {amount.text}", *forms]
    claim = Claim(tuple(dict.fromkeys([*([lead[0] + form for form in forms] if lead is not None else []), *forms])))
    if FELL.search(amount.before) is None or amount.text[:1] == "-" or DIRECTED.search(asked.clause):
        return [claim]
    fallen = Claim(tuple(f"-{form}" for form in claim.forms))
    return [fallen] if asked.kind else [claim, fallen]


def _of_either(words: StatedWords, amounts: Sequence[Amount], asked: QuestionForm) -> tuple[Claim, ...]:
    """Return the claim of a reply whose question does not tell whether an amount or a name is asked for."""
    value = next((form for form in words.forms if _is_whole(form, len(amounts))), None) if words.direct else None
    if value is not None:
        return (Claim(words.forms[: words.forms.index(value) + 1]),)
    shortest = with_digits(words.forms[-1]) if words.forms else ""
    within = any(amount.text in shortest or shortest in amount.text for amount in amounts)
    if within or not words.direct:
        claims = _of_amounts(amounts, asked)
        one = within and len(claims) == 1
        return tuple(Claim((*words.forms, *claim.forms)) for claim in claims) if one else claims
    if not asked.stems and not any(amount.text in with_digits(words.forms[0]) for amount in amounts):
        return (Claim(words.forms), *_of_amounts(amounts, asked))
    return (Claim(words.forms),)


def claimed_forms(text: str, question: str = "") -> tuple[str, ...]:
    """Return the forms of the one claim of a text; none if it claims nothing, or leaves it open."""
    readings = read_statements(text, question if echo(question) else "")
    return readings[0].forms if len(readings) == 1 else ()
