"""Leave out of what a reply claims what the words next to it leave open, or give to something else: `Ann or Bo`, `Expected status: shipped`, `99元起`."""

import re

import msgspec

from proctor_judging.matching.asked import QuestionForm
from proctor_judging.matching.claims import Claim, Claims
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.other_subjects import is_of_another, speaks_of_another
from proctor_judging.matching.patterns import compile_later
from proctor_judging.matching.question_words import HAN_LETTER, MOST_CHARACTERS, echo
from proctor_judging.matching.sentences import split
from proctor_judging.matching.text import negations, tidy

DENIED_CAUSE = compile_later(r"(?:\bnot\b|n['’]t\b)(?! only)([^,.;:]{0,60}?)\b(?:because|due to)\b", re.IGNORECASE)
BUT_BECAUSE = compile_later(r"\bbut (?:rather )?(?:because|due to)\b", re.IGNORECASE)
DOUBTED = compile_later(  # of the whole reply
    r"\b(?:but|though|although|however),? (?:i(?:['’]m| am) not (?:\w+ )?(?:sure|certain)|i (?:don['’]t|do not) (?:really )?(?:know|remember)|i (?:can['’]t|cannot) (?:be sure|(?:say|tell)(?: you)? (?:definitively|for (?:sure|certain)|with (?:any )?certainty)))(?! (?:why|how|who|when|where|if|whether|what|about (?:the|any|other)))|"
    r"(?:^|[.!?] )i (?:can['’]t|cannot) (?:say|tell)(?: you)? (?:definitively|for (?:sure|certain)|with (?:any )?certainty)(?: which| who)?\b|"
    r"\brumou?r has it\b|(?-i:\brumou?rs?) (?:is|are|says?|suggests?|claims?)\b|\bword is that\b|"
    r"(?:不过|但是?|可是?|只是)我?(?:也|还|并)?(?:不太?|没那?么?|没法|无法)(?:确[定认]|肯定|清楚|记得)(?=$|[。.！!，,])|我?(?:也|有点)?(?:记不[太大]?清|不太?敢?(?:确定|肯定))(?:了|的)?(?=$|[。.！!])|传言|传闻|据传",
    re.IGNORECASE,
)
NOW_ANOTHER = compile_later(
    r"(?:[;.,] |\bbut )(?:now|today|these days|nowadays|currently),? (?:it|he|she|that|they)(?:['’]s| is| are|['’]re) (?:the |an? )?[A-Z\d]"
)
PAST = compile_later(r"\b(?:was|were|did|had|used|first|original\w*|previous\w*|before)\b", re.IGNORECASE)
NOT_GIVEN = compile_later(  # what follows is something else
    r"(?:(?:(?:i['’]?m |i am )?(?:sorry|afraid)|unfortunately),? (?:but )?(?:that )?)?(?:i (?:ca(?:n['’]t|nnot)|could(?:n['’]t| not)|was(?:n['’]t| not) able to|was unable to) (?:give|find|say|tell|share|provide|confirm|pin|determine|look up)\b|i do(?:n['’]t| not) have (?:\w+ ){0,3}(?:data|access|information|figures?|details?|records?)\b|there (?:is(?:n['’]t| not)|are(?:n['’]t| not)) (?:an? |any )?(?:confirmed|official|exact|agreed) |it (?:has(?:n['’]t| not)|is(?:n['’]t| not)) (?:yet )?(?:been )?(?:fixed|decided|set|announced|confirmed|settled)\b)|"
    r".{0,160}\bbut (?:it )?(?:does(?:n['’]t| not)|did(?:n['’]t| not)) (?:actually )?(?:say|state|mention|give|tell|specify)\b",
    re.IGNORECASE,
)
NO_NEWS = compile_later(
    r"\b(?:(?:was|am|['’]m|were)(?:n['’]t| not) able to|unable to|could(?:n['’]t| not)|can(?:['’]t|not)|did(?:n['’]t| not)|do(?:n['’]t| not)) (?:find|see|locate|have|access)\b[^.,;]{0,24}\b(?:information|info|mention|details?|data|reference|documentation)\b",
    re.IGNORECASE,
)
INEXACT = compile_later(  # the first amount of a reply, which may be the answer for a reader
    r"[^\d]{0,80}?\b(?:at (?:least|most)|up to|(?:more|less|fewer) than|over|under|nearly|almost|roughly|about|around|approximately|some) [$€£]?(\d[\d.,]*)",
    re.IGNORECASE,
)
EXACTLY = compile_later(
    r"\b(?:so|therefore|thus|exact(?:ly)?|precise(?:ly)?|specifically|total|altogether|in all|actual(?:ly)?|answer)\b|[=:—–(]",
    re.IGNORECASE,
)
NEITHER = compile_later(r"(?:^|\bso |\banswer(?: is)?:? |\bit['’]s |[.!?] )neither(?=[:.,;])", re.IGNORECASE)
GOES_ON = compile_later(r"\b(?:but(?! (?:it )?d(?:oes|id))|however|though|instead|still)\b", re.IGNORECASE)
AWAY = compile_later(r"\b(?:out of|away from|far from|anywhere near) (?:the |an? )?$", re.IGNORECASE)
OF_ANOTHER_TIME = compile_later(  # than now
    r"\b(expected|previous|old|former|past|prior|target|desired|requested|original|last known|earlier)(?: \w+){1,3}(?::| (?:is|was))\s",
    re.IGNORECASE,
)
PLANNED = compile_later(r"\b(?:was|were) (?:planned|scheduled|expected|proposed|meant|intended)\b", re.IGNORECASE)
CONDITION = compile_later(
    r"\b(?:only (?:if|when|with|after|while|for)|(?:if|provided (?:that|you|it|they)|unless|as long as|so long as)\b)|如果|只要|除非|假如|的话(?=[，,就可能])|只有[^，。]{1,12}才|仅限",
    re.IGNORECASE,
)
CLEAR = compile_later(r"\b(?:yes|no|yep|sure|true|correct|of course|certainly|definitely)\b|是的|答案是|肯定|^\W*(?:可以|能|对)", re.IGNORECASE)  # fmt: skip
OTHERWISE = compile_later(
    r"(?:[^.!?;,\n]{0,40},? or (?:maybe|perhaps|possibly|(?:it (?:could|might|may) be))\b| or (?!so\b|more\b|less\b|not\b|later\b|earlier\b|otherwise\b|about\b|simply\b|just\b|else\b|in other\b)(?:the |an? )?[\w.]|或者?(?:是|可能是)?(?=[^多少不]))"
)
BOUND = compile_later(
    r"\b(?:from|start(?:s|ing)? (?:at|from|with)|begin(?:s|ning)? (?:at|from)|sav(?:e|es|ed|ing)(?: you)?|(?:two|three|four|five|six|ten|\d+)(?: \w+)? for)\s?$|(?:节?省|便宜|优惠|立减|减免|少付|返)了?(?:大?约)?$",
    re.IGNORECASE,
)
RANGE_START, RANGE_END = compile_later(r"\d\s?[-–~]\s?$"), compile_later(r"\s?[-–~]\s?\d")  # 5 and 7 of 5-7 days
OR_BEFORE = compile_later(r"(?:(?<!,) \bor (?:the |an? )?|\bor (?:maybe |perhaps |possibly )|或者?(?:是|可能是)?)$")
SEVERAL = compile_later(r"([两二三四五六七八九十\d]+[个件张只斤本次盒瓶份])[^，。；;]{0,2}?(?:[的要共是]|只要|一共)?$")
LOWEST = compile_later(r"起(?:步|售|拍|订)?(?=$|[，,。；;）)\s])")
MONEY = compile_later(r"[$€£¥元块]|\b(?:dollars?|euros?|pounds?|yuan)\b")
MONEY_OFF = compile_later(
    r"\s?(?:(?:off|less|cheaper)\b|(?:before|originally|previously|last (?:week|month|year))\W*$)"
)


def settled(claims: Claims, reply: str, asked: QuestionForm) -> Claims:
    """Return claims without the readings that a reply leaves open, or says of something else than is asked.

    >>> from proctor_judging.matching.asked import read_asked
    >>> asked = read_asked("Who is the owner?")
    >>> settled(Claims("Ann or Bo", (Claim(("Ann",)),)), "Ann or Bo", asked).readings
    ()
    """
    if len(claims.readings) > 1 or len(reply) > MOST_CHARACTERS:
        return claims
    said = tidy(reply)
    if _is_doubted(said, asked):
        given = None if claims.given is None else reply.strip()  # a part of it would be compared by itself
        return msgspec.structs.replace(claims, readings=(), given=given)
    if not claims.readings:
        return claims
    claim = claims.readings[0]
    is_none_of_them = NEITHER.search(said) and not NEITHER.search(asked.clause) and claim.truth is None
    if is_none_of_them and "neither" not in " ".join(claim.forms).lower():
        return msgspec.structs.replace(claims, readings=())
    if asked.kind == "amount" and _passes_over(claim, said, asked):
        return msgspec.structs.replace(claims, readings=())
    kept = _without_open(claim, said, asked)
    return msgspec.structs.replace(claims, readings=() if kept is None else (kept,))


def _is_doubted(said: str, asked: QuestionForm) -> bool:
    """True of a reply that ends with a doubt, passes a rumour on, denies a cause, or tells of another time than is asked."""
    if NOW_ANOTHER.search(said) and not PAST.search(asked.clause):
        return True
    if DOUBTED.search(said) or (asked.kind != "truth" and NOT_GIVEN.match(said) and not GOES_ON.search(said)):
        return True
    if asked.kind == "truth" and NO_NEWS.search(split(said)[0]) and not CLEAR.search(said):
        return True
    if len(split(said)) > 1:
        return False
    if "why" in asked.clause.lower() and (denied := DENIED_CAUSE.search(said)) and not BUT_BECAUSE.search(said):
        return echo(denied[1]) <= asked.stems and not negations(asked.clause)
    if (other := OF_ANOTHER_TIME.match(said)) is not None:
        return not echo(other[1]) & asked.stems
    planned = PLANNED.search(said) if asked.kind == "moment" else None
    return planned is not None and PLANNED.search(asked.clause) is None


def _passes_over(claim: Claim, said: str, asked: QuestionForm) -> bool:
    """True if a reply begins with an inexact amount and the claim is another one, which nothing calls exact: `At least 35, and 14 years a resident`."""
    first = INEXACT.match(said)
    if first is None or first[1].strip(".,") in asked.clause or _counts_other(said[first.end() :], claim, asked):
        return False
    number, after = first[1].strip(".,"), said[first.end() :]
    is_same = any(number in form or number in with_digits(form) for form in claim.forms)
    return not is_same and EXACTLY.search(after) is None and any(tidy(form) in after for form in claim.forms[:1])


def _counts_other(after: str, claim: Claim, asked: QuestionForm) -> bool:
    """True if the word after a number is not what is asked for, and that of the claim is: `about 170 km`, asked how many days."""
    counted = asked.stems & echo(str(claim))
    return bool(counted) and not counted & echo(" ".join(after.split(" ")[:3]))


def _without_open(claim: Claim, said: str, asked: QuestionForm) -> Claim | None:
    """Return a claim without the forms that are each time next to an alternative or a bound; None without forms, or of a yes on a condition."""
    if claim.truth is not None:
        if speaks_of_another(split(said)[0], said, asked, denies=not claim.truth):
            return None
        first = split(said)[0] if claim.truth and not CLEAR.search(said) else ""
        condition = CONDITION.search(first)
        is_asked = condition is None or echo(re.split("[,，]", first[condition.start() :])[0]) <= asked.stems
        return claim if is_asked else None
    places = {form: list(re.finditer(re.escape(tidy(form)), said)) for form in claim.forms if tidy(form)}
    is_open = {
        form: all(_is_open(said[: place.start()], form, said[place.end() :], asked) for place in matches)
        for form, matches in places.items()
        if matches
    }
    if not any(is_open.values()):
        return claim
    kept = tuple(form for form, opened in is_open.items() if not opened)
    return Claim(kept) if kept else None


def _is_open(before: str, form: str, after: str, asked: QuestionForm) -> bool:
    if form[:1].isdigit() and form[-1:].isdigit() and (RANGE_START.search(before) or RANGE_END.match(after)):
        return True
    if is_of_another(before, form, after, asked):
        return True
    is_word = asked.kind in ("words", "") and not any(map(str.isdigit, form))
    if AWAY.search(before) and not {"from", "out"} & set(asked.clause.lower().split()):
        return True
    if is_word and (OTHERWISE.match(after) or OR_BEFORE.search(before)):
        return " or " not in asked.clause and "还是" not in asked.clause and "或" not in asked.clause
    if not (asked.money or MONEY.search(form)):
        return False
    for near in (BOUND.search(before), SEVERAL.search(before), LOWEST.match(after), MONEY_OFF.match(after)):
        if near is not None and near[near.re.groups].strip("了约大 ") not in asked.clause:
            return HAN_LETTER.search(near[0]) is not None or not echo(near[0]) & asked.stems
    return False
