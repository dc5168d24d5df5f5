"""Read what a reply claims by rules, and weigh it against the other spans of the reply: the claim holds unless another is far more probable."""

import re
from collections.abc import Callable, Sequence

import msgspec

from proctor_judging.matching.amount_wording import TOTAL
from proctor_judging.matching.answering_part import is_lone_answer, without_asides, without_other_things
from proctor_judging.matching.asked import QuestionForm, read_asked
from proctor_judging.matching.claims import (
    ANNOUNCED,
    ARTICLE,
    ASKS_EVENT,
    CAUSE,
    WHY,
    Claim,
    Claims,
    claimed_forms,
    has_predicate,
    is_value,
    read_claims,
)
from proctor_judging.matching.english_replies import read_english_reply
from proctor_judging.matching.english_spans import forms_of_span, read_english_spans
from proctor_judging.matching.extract import final_answer
from proctor_judging.matching.han_answers import labelled
from proctor_judging.matching.han_sameness import TURNS
from proctor_judging.matching.han_span_forms import span_forms
from proctor_judging.matching.han_spans import read_han_spans
from proctor_judging.matching.lists import read_items
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.phrase_answers import SO
from proctor_judging.matching.plain_words import said_plainly
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.question_words import HAN_LETTER, MOST_CHARACTERS, echo
from proctor_judging.matching.sentences import GUESS, OTHERS_SAY, split
from proctor_judging.matching.settled import settled
from proctor_judging.matching.span_model import Language, ReplySpan, weigh
from proctor_judging.matching.stated_words import shorter_names
from proctor_judging.matching.text import FENCED, tidy
from proctor_judging.matching.typed_values import typed_value, with_option, without_code

WeighedSpans = dict[str, tuple[ReplySpan, float]]  # by their text
MEASURED = ("amount", "moment")
TIMES = {"en": 8, "zh": 6}  # as probable must another span be
TIMES_OF_FIRST = 3  # in English, of a span in the first sentence, where the claim is in none
LEAST_UNSTATED = {"en": 2.0, "zh": 0.5}  # with less, a claim that no span says holds
LEAST_OF_AMOUNT = 0.9  # with less, a claim without a number holds where an amount is asked for
LONGEST = 600  # characters of a reply that is weighed: the time grows with its spans
LEAST_SURE = 0.3  # with less, a span is claimed nowhere
LEAST_NEAR = 0.2  # with less, a Chinese span does not say where a claim begins and ends
LEAST_PROBABLE = 0.1  # with less, a span is not what the reply may be read to claim
DECLINES = compile_later(
    r"\b(?:(?:do|does|did|could|can|was|were|is|are|am)(?:n['’]t| not)|cannot|unable to)\b.{0,20}\b(?:have|know|find|say|tell|help|answer|confirm|provide|mention\w*|able|access|predict|forecast|promise|guarantee)\b|"
    r"抱歉|对不起|(?:无|没)法(?:得知|获[知取]|确[定认]|判断|回答|提供|给出|查|找|看|访问|知道|推[断测]|告)|不知道|不清楚|没有(?:找到|查到|提供|提到|相关)|未(?:找到|查到|提供|提及)",
    re.IGNORECASE,
)
CHANGED = compile_later("原计划|原定|推迟|提前到|延期|改到")
NOT_MEANT = "(?:误(?:认为?|以为|传为?|当[作成]?)[^，。]{0,4}|不(?:太|怎么)?(?:喜欢|爱|想|推荐|建议)[^，。]{0,2}|据(?=《)|还[^，,。]{0,4}过)"
BEFORE_BOUND = "(?:不到|不足|不满|超过|至少|至多|最多|最少|[早晚高低多少大小]于|比|除了?|省了)"
AFTER_BOUND = "(?:[之以][前后上下外]|前(?=[就都还，,。]|$)|附近|旁边|起(?=[，,。]|$)|或)"
NUMERAL = compile_later(
    r"[零〇一二两三四五六七八九十百千万亿]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)\b",
    re.IGNORECASE,
)
HAS_AMOUNT = compile_later(rf"\d|\b(?:an?|one|half|both)\b|{NUMERAL.pattern}", re.IGNORECASE)
TURNS_AMOUNT = compile_later(
    rf"{TURNS.pattern}|[\d零一二两三四五六七八九十百千万亿半%前后]|[减下升增降涨跌便贵多少高低大小快慢早晚远近负到至~-]"
)
WHICH = compile_later("哪一?[种个座条项门部本位款支家所](?:的)?([\u3400-\u9fff]{1,4})[？?]")
WORK_ASKED = compile_later(r"哪一?[首部本篇幅](?!分)|什么(?:书|歌|诗|词|电影|小说|作品)")
TITLE = compile_later("《(([^·》]+)[^》]*)》")  # the whole, and of what it is a part: 诗经 of 《诗经·小雅》
MODAL_ASKED = compile_later(r"\b(?:may|could)\b")
MODAL = compile_later(r"\b(?:may|could) (?!be\b|have (?:been|\w+ed)\b)(?=\w)")
GUESSES = compile_later(rf"{GUESS.pattern}|{OTHERS_SAY.pattern}|\bor\b", re.IGNORECASE)
THOUSANDS = compile_later(r"(?<![\w.,])(\d+(?:\.\d+)?)k(?= [a-z])")
A_TIME = compile_later(r"\b([Ff]or|[Ii]n|[Ww]ithin) an? (?=(?:week|day|month|year|hour|minute)\b(?! and\b))")
OWNS = compile_later(r"['’]s\b")
APART = compile_later(r"\b(?:than|and|or)\b")
NEAR = compile_later(
    r"\b(?:near|nearly|almost|outside|beyond|before|after|until|since|over|under|above|below|north|south|east|west|opposite|except|without|former|formerly|ex|half|anti)[- ](?:of )?(?:the )?$|^(?:it|this|that|these|those|they|he|she|there) (?:is|are|was|were)\b"
)
REMARK = compile_later(r"\s*[.!;:(–—\n。！；]")  # after a claim that comes first
LONE = compile_later(r"(?:[\w$€£%.'’&-]|(?<=\d),(?=\d))+(?:(?: |(?<=\d), (?=\d{4}$))[\w%.'’&-]+){0,4}")
SLIP = compile_later(r"(?i)\b(?:wait|sorry|oops|hmm|actually|or)\b|[?!]")
UNTOLD = compile_later(
    r"(?i)(?:(?:unfortunately|sorry),? )?(?:the|that|this|your) (?:\w+ )?(?:text|passage|document|article|note|table|paragraph|source|report|message|e-?mail|log|file|record)s? (?:does|do|did)(?: not|n['’]t) (?:actually |explicitly )?(?:say|mention|state|specify|tell|show|give|indicate)(?: us| me)?(?: anything about)? (?:when|who|whom|whose|what|which|where|why|how|whether|if|any)\b[^,;:.!?]{0,100}(?:[.!](?! (?:but|however|still|that said|though|it was|it is)\b)|$)"
)
RESULT = compile_later(
    r"[-+×*÷/−√^]\s?[\d(√].{0,80}[=≈]\s?([^=≈;:]{1,40})$"
)  # of a calculation, and not of 3 tsp = 1 tbsp
HYPHENED = compile_later(  # a 2-year warranty
    r"(?:(?:an?|the|its|your|our) )?(?:(?!\d)[\w'’]+ ){0,2}?(\d+|two|three|four|five|six|seven|ten)-(minute|hour|day|week|month|year)(?: (?:[\w-]+(?:['’]s)? ){0,2}?([\w-]+))?",
    re.IGNORECASE,
)
RATE = compile_later(r"(.*\d\S*(?: [^\W\d]+)?) (?:per|an?|each|every) (day|week|month|year)", re.IGNORECASE)
LASTS = compile_later(
    r"\b(?:how long|warranty|guarantee|trial|notice|lease|contract|term|period|duration|plan)\b", re.IGNORECASE
)
OFTEN = {"day": "daily", "week": "weekly", "month": "monthly", "year": "annual"}
DOES = compile_later(r"(?:dial|call|press|type|use|enter|run) ([^,;:]{1,40})", re.IGNORECASE)
LIST = compile_later(r", |，|、| and |和|及")


def read_weighed_claims(reply: str, question: str = "", *, guesses: bool = False) -> Claims:
    """Return what a reply claims in answer to a question, as `read_claims` does, where no other span is far more probable; and its `others`.

    >>> reply = "John Major succeeded her in November 1990. He was followed by Tony Blair in 1997."
    >>> [str(claim) for claim in read_weighed_claims(reply, "Who succeeded Margaret Thatcher?").readings]
    ['John Major']
    """
    asked = read_asked(question)
    reply = said_plainly(reply, asked)
    is_english = not HAN_LETTER.search(question + reply)
    if is_english and _is_untold(reply, asked):
        return Claims(reply.strip())
    if value := typed_value(reply, asked):
        title = TITLE.fullmatch(value)
        forms = (value, *(title.groups() if title is not None else ()))
        return settled(Claims(value, (Claim(forms),)), reply, asked)
    reply = without_asides(without_code(reply, asked), asked) if is_english else reply
    reply = without_other_things(_as_asked(reply, asked), asked, question)
    claims = read_claims(reply, question, guesses=guesses)
    claims = _with_results(claims if guesses else settled(claims, reply, asked), asked, question)
    if not claims.readings and (forms := _lone_answer(claims, reply, question, asked)):
        return msgspec.structs.replace(claims, readings=(Claim(forms),))
    is_silent = not claims.readings and DECLINES.search(reply) is not None
    if guesses or len(reply) > LONGEST or is_silent or _is_firm(claims, reply, question, asked):
        return claims
    weighed = (_weigh_han if HAN_LETTER.search(question) else _weigh_english)(claims, reply, question)
    return settled(weighed, reply, asked)


def _with_results(claims: Claims, asked: QuestionForm, question: str) -> Claims:
    """Return the one claim of a reply with what its calculation comes to, what it says to dial, or what its letter means, as another form."""
    if not claims.readings and claims.given is not None and len(both := with_option((claims.given,), question)) > 1:
        return msgspec.structs.replace(claims, readings=(Claim(both),))
    if len(claims.readings) != 1 or "=" in asked.clause:
        return claims
    forms = with_option(claims.readings[0].forms, question)
    length, rate = (form.fullmatch(forms[0] if forms else "") for form in (HYPHENED, RATE))
    if length is not None and (echo(length[3]) <= asked.stems if length[3] else LASTS.search(asked.clause)):
        forms = (*forms, with_digits(f"{length[1]} {length[2]}s"))
    if rate is not None and OFTEN[rate[2].lower()] in asked.clause.lower():
        forms = (*forms, rate[1])
    more = [result[1] for form in forms[:1] if (result := DOES.fullmatch(form) or RESULT.search(form)) is not None]
    return msgspec.structs.replace(claims, readings=(Claim((*forms, *more), claims.readings[0].truth),))


def _as_asked(reply: str, asked: QuestionForm) -> str:
    """Return a reply without the `may` and `could` of its question, which guess nothing there; with `12400` for `12.4k`, and `1 week` for `a week`."""
    if MODAL_ASKED.search(asked.clause) and not GUESSES.search(said := MODAL.sub("can ", reply)):
        reply = said
    if asked.kind != "amount":
        return reply
    return A_TIME.sub(r"\1 1 ", THOUSANDS.sub(lambda number: f"{float(number[1]) * 1000:.0f}", reply))


def _is_untold(reply: str, asked: QuestionForm) -> bool:
    """True if a reply begins with a text that does not say what is asked, and what follows says less of it."""
    untold, said = UNTOLD.match(reply.strip()), echo(asked.clause.partition(",")[0])
    if asked.kind == "truth" or untold is None:
        return False
    return len(said & echo(untold[0])) > len(said & echo(untold.string[untold.end() :]))


def _lone_answer(claims: Claims, reply: str, question: str, asked: QuestionForm) -> tuple[str, ...]:
    """Return the forms of a reply that is a few words of the kind that is asked for; () without them."""
    lone = tidy(claims.given or "").replace("*", "")
    if LONE.fullmatch(lone) is None or SLIP.search(reply) or not is_lone_answer(lone, asked, question):
        return ()
    is_part = claims.given not in (reply.strip(), final_answer(reply))
    if asked.kind in MEASURED:
        said = claimed_forms(ANNOUNCED.format(given=lone), question)
        return (lone, *said) if is_part and is_value(lone) else ()
    names = shorter_names([lone], asked)
    return (lone, *names) if is_part or names else ()


def _weigh_han(claims: Claims, reply: str, question: str) -> Claims:
    spans = _by_text(read_han_spans(reply, question, only_sure=not claims.readings), "zh")
    best = _more_probable(claims, spans, reply, "zh")
    kind = WHICH.search(question)
    text = re.escape(best.text) if best is not None else ""
    if re.search(rf"{NOT_MEANT}{text}", tidy(reply)) or re.match(NOT_MEANT, text):
        best = None
    if best is not None and claims.readings:
        claim = str(claims.readings[0])
        is_of_kind = kind is not None and kind[1] in claim and kind[1] not in best.text  # 维生素C, asked for a 维生素
        is_bounded = re.search(rf"{BEFORE_BOUND}{text}|{text}{AFTER_BOUND}", tidy(reply))
        is_other = is_of_kind or _is_apter(claim, best.text, question) or is_bounded or CHANGED.search(reply)
        best = None if is_other else best
    if best is None and len(claims.readings) == 1 and spans:
        claims = _with_nearest(claims, spans, reply, question)
    return _weighed(claims, spans, best, lambda span: span_forms(span, reply, question))


def _is_apter(claim: str, other: str, question: str) -> bool:
    """True if a claim is a title where a work is asked for, or an amount in a unit that is, and the other text is none or has another unit."""
    if WORK_ASKED.search(question):
        return "《" in claim and "《" not in other
    amounts = [read_quantity(tidy(text)) for text in (claim, other)]
    fits = [amount.unit in read_asked(question).units for amount in amounts if amount is not None]
    return fits == [True, False]


def _with_nearest(claims: Claims, spans: WeighedSpans, reply: str, question: str) -> Claims:
    """Return a claim with the forms of the most probable span, if that is the claim cut shorter or longer.

    Nothing that turns it around may be cut off: `4%` of `下跌了4%`, `1914年` of `1914年之前`.
    """
    near, probability = max(spans.values(), key=lambda pair: pair[1])
    claim, text = claims.readings[0], _plain(near.text)
    longer = [form for form in map(_plain, claim.forms) if text in form]
    is_measured = read_asked(question).kind in MEASURED
    turns = (TURNS_AMOUNT if is_measured else TURNS).search("".join(form.replace(text, "|", 1) for form in longer))
    if probability < LEAST_NEAR or turns or not (longer or _plain(str(claim)) in text):
        return claims
    forms = (near.text,) if is_measured else span_forms(near, reply, question)
    both = tuple(dict.fromkeys([*claim.forms, *forms]))
    return Claims(claims.given, (Claim(both),), claims.asks)


def _weigh_english(claims: Claims, reply: str, question: str) -> Claims:
    english = read_english_reply(reply, question)
    spans = _by_text(list(read_english_spans(english, only_sure=not claims.readings)), "en")
    asked = read_asked(question)
    is_measured = asked.kind in MEASURED

    def forms_of(span: ReplySpan) -> tuple[str, ...]:
        amounts = claimed_forms(ANNOUNCED.format(given=span.text), question) if is_measured else ()
        return tuple(dict.fromkeys([*forms_of_span(span, english), *amounts]))

    best = (
        None
        if _is_total(claims, reply, question)
        else _more_probable(claims, spans, reply, "en", is_amount=asked.kind == "amount")
    )
    asks_who = english.query.asking == "who"
    if best is None and len(claims.readings) == 1 and (extent := _other_extent(claims.readings[0], spans, asks_who)):
        forms = dict.fromkeys([*claims.readings[0].forms, *forms_of(extent)])
        claims = msgspec.structs.replace(claims, readings=(Claim(tuple(forms)),))
    return _weighed(claims, spans, best, forms_of)


def _other_extent(claim: Claim, spans: WeighedSpans, asks_who: bool) -> ReplySpan | None:
    """Return the most probable span if it is the claim with more or fewer words: `France` of `a gift from the people of France`.

    None of one of several things: `the Oder to the Neisse`, `Newton's law` where a person is asked for, `near Paris`, another amount.
    """
    (text, (span, probability)), said = next(iter(spans.items()), ("", (None, 0.0))), _plain(str(claim))
    shorter, longer = sorted((text, said), key=len)
    start = re.search(rf"(?<![\w.,-]){re.escape(shorter)}(?![\w-])", longer)
    if span is None or probability < LEAST_SURE or start is None or start[0] == longer or read_items(longer):
        return None
    before, after = longer[: start.start()], longer[start.end() :]
    is_owner = asks_who and (OWNS.match(after) is not None or before.endswith(" of "))
    is_another = APART.search(before[-9:] + after[:5]) or NEAR.search(before) or any(map(str.isdigit, before + after))
    apart = {form for form in map(_plain, claim.forms) if form not in text and text not in form}
    is_rival = sum(spans[form][1] for form in apart & spans.keys()) * 3 >= probability
    return None if is_owner or is_another or is_rival else span


def _weighed(
    claims: Claims, spans: WeighedSpans, best: ReplySpan | None, forms_of: Callable[[ReplySpan], tuple[str, ...]]
) -> Claims:
    """Return claims with the best span instead of what rules read, if there is one, and the other spans that are not improbable."""
    readings = claims.readings if best is None else (Claim(forms_of(best)),)
    said = {_plain(form) for claim in readings for form in claim.forms}
    others = tuple(
        Claim(forms_of(span))
        for text, (span, probability) in spans.items()
        if probability >= LEAST_PROBABLE and text not in said
    )
    return Claims(claims.given, readings, claims.asks, others)


def _more_probable(
    claims: Claims, spans: WeighedSpans, reply: str, language: Language, *, is_amount: bool = False
) -> ReplySpan | None:
    """Return the most probable span if it is far more probable than the claim; None if that holds.

    What a reply begins with or concludes holds, and in English a claim that no span says, as it cannot be weighed; rules
    know better where a phrase ends.
    """
    if not spans or _is_first_or_last(claims, reply):
        return None
    best, probability = max(spans.values(), key=lambda pair: pair[1])
    if probability < LEAST_SURE or not claims.readings:
        return best if probability >= LEAST_SURE else None
    stated = spans.keys() & {_plain(form) for claim in claims.readings for form in claim.forms}
    text = _plain(best.text)
    is_within = any(_is_part(text, form) or _is_part(form, text) for form in stated)
    lacks_amount = is_amount and HAS_AMOUNT.search(str(claims.readings[0])) is None
    if not stated and lacks_amount:
        return best if probability >= LEAST_OF_AMOUNT else None
    if not stated:
        is_within = probability < LEAST_UNSTATED[language] or any(
            text in _plain(form) for form in claims.readings[0].forms
        )
    is_name = not any(map(str.isdigit, best.text)) and "\n" not in reply.strip()
    is_later = is_name and best.sentence == 0 and all(spans[form][0].sentence for form in stated)
    times = TIMES_OF_FIRST if language == "en" and is_later else TIMES[language]
    holds = is_within or sum(spans[form][1] for form in stated) * times >= probability
    return None if holds else best


def _is_part(text: str, form: str) -> bool:
    """True if a text is within another; of a number, if words or nothing are next to it: 55 of `55 minutes`, but 3 of no `{1, 2, 3}`."""
    return text in form and (
        not text.isdigit() or re.search(rf"(?:^|[ $€£~]){text}(?:$|[ %°\u3400-\u9fff]|-[a-z])", form) is not None
    )


def _is_firm(claims: Claims, reply: str, question: str, asked: QuestionForm) -> bool:
    """True where only rules read a reply: a value, what a reply marks as its answer, yes or no, a list, code."""
    if not echo(question) or claims.asks or asked.kind == "truth" or FENCED.search(reply[:MOST_CHARACTERS]):
        return True
    if HAN_LETTER.search(question) and (HAN_LETTER.search(reply) is None or labelled(reply, question)):
        return True
    marked = final_answer(reply)
    if marked is not None and (marked != reply.strip() or is_value(tidy(marked))):
        return True
    says_event = CAUSE.search(reply) if WHY.search(asked.clause) else ASKS_EVENT.match(asked.clause)
    if says_event and has_predicate(" ".join(map(str, claims.readings))):
        return True
    is_open = len(claims.readings) > 1 and not question.isascii()
    if is_open or any(claim.truth is not None for claim in claims.readings):
        return True
    return asked.several and bool(claims.readings) and LIST.search(str(claims.readings[0])) is not None


def _is_total(claims: Claims, reply: str, question: str) -> bool:
    """True if a total is asked for, and the sentence of the claim says that it is one."""
    forms = [form for claim in claims.readings for form in claim.forms] if TOTAL.search(question) else []
    return any(form in sentence and TOTAL.search(sentence) for form in forms for sentence in split(reply))


def _is_first_or_last(claims: Claims, reply: str) -> bool:
    """True if a reply begins with its claim, or concludes it."""
    if not claims.readings:
        return False
    claim = str(claims.readings[0])
    parts = SO.split(reply)
    concludes = len(parts) > 1 and any(claim in sentence for sentence in split(parts[-1])[:1])
    bare = "" if HAN_LETTER.search(reply) else ARTICLE.sub("", reply.replace("*", "").strip())
    begins = (reply.strip().removeprefix(claim), bare.removeprefix(ARTICLE.sub("", claim)))
    return concludes or any(map(REMARK.match, begins))


def _by_text(spans: Sequence[ReplySpan], language: Language) -> WeighedSpans:
    """Return the spans that differ, most probable first, each with the probability of all that read like it."""
    weighed: WeighedSpans = {}
    for span, probability in sorted(zip(spans, weigh(spans, language), strict=True), key=lambda pair: -pair[1]):
        text = _plain(span.text)
        kept, before = weighed.get(text, (span, 0.0))
        weighed[text] = kept, before + probability
    return weighed


def _plain(text: str) -> str:
    text = with_digits(text) if NUMERAL.search(text) else text
    return ARTICLE.sub("", text).casefold().strip(' .,"“”')
