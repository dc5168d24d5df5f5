"""Compare what a reply claims with its targets. The claims are read before, without the targets."""

import re
from collections.abc import Sequence

import msgspec

from proctor.core.sentence import say
from proctor_judging.matching.amounts import CURRENCIES, without_asked_unit, without_unit
from proctor_judging.matching.asked import read_asked
from proctor_judging.matching.cascade import match
from proctor_judging.matching.claims import ARTICLE, Claim, Claims, is_guess, read_claims
from proctor_judging.matching.contradictions import says_opposite
from proctor_judging.matching.han_question import two_asked
from proctor_judging.matching.han_sameness import WHY, said_alike, same_name
from proctor_judging.matching.han_truth import read_han_truth
from proctor_judging.matching.number_words import with_digits
from proctor_judging.matching.numbers import read_number
from proctor_judging.matching.parts import has_words
from proctor_judging.matching.plain_words import said_plainly
from proctor_judging.matching.quantities import read_quantity
from proctor_judging.matching.question_words import HAN_LETTER, MOST_CHARACTERS, echo
from proctor_judging.matching.sentences import OTHERS_SAY, QUESTION, split
from proctor_judging.matching.similarity import blocker
from proctor_judging.matching.text import negations, tidy
from proctor_judging.matching.truth import leaves_open, truth_of
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, refuse, shown
from proctor_judging.matching.weighed_claims import DECLINES, read_weighed_claims
from proctor_judging.matching.wordings import in_asked_degrees, same_wording

DECIMAL_COMMA, DECIMAL_POINT = re.compile(r"(?<![\d,])\d+,\d{1,2}(?![\d,])"), re.compile(r"\d\.\d")
COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?!\d))")
ROUGHLY = re.compile(
    r"(?:about|around|approximately|approx\.|roughly|circa|ca\.|约为?|大约|大概|~|≈)\s?(?=[$€£¥]?\d|[一二两三四五六七八九十百千]|(?:a|one|two|three|four|five|six|seven|eight|nine|ten|\w+(?:teen|ty)) )",
    re.IGNORECASE,
)
PLAIN_WORDS = re.compile(r"[A-Za-z][A-Za-z' -]{3,120}")
LETTERS = re.compile(r"[^\W\d_]{2}")
REASON = re.compile("[,，]")
SAYS_NOT = re.compile(
    r"(?i)\b(?:text|passage|document|article|note|table|it|paragraph|source|report|data|record|file|log|email|message|page|ticket|profile|entry)s? (?:does not|do not|doesn['’]t|don['’]t|never) (?:actually )?(?:say|mention|state|specify|give|tell|provide|include)\b|\b(?:not|isn['’]t|never) (?:stated|mentioned|given|specified|recorded|provided|known)\b|\bcan(?:not| not|['’]t) be (?:determined|known)\b|\b(?:could|can|did)(?:n['’]t| ?not) find\b|\bno [^.,;]{1,30} (?:on (?:file|record)|(?:is|was|are|were) (?:stated|mentioned|given|specified|recorded|provided|listed|found))\b|\bnobody knows\b"
)
GOES_ON = re.compile(r"(?i);|\b(?:but(?! not)|however|though)\b")  # and then it may say something
NEGATIVE_PREFIXES, LEAST_OF_WORD = (
    ("in", "un", "im", "ir", "il", "non", "non-", "not-"),
    3,
)  # invalid, asked if it is valid
NOT_SAID = re.compile(
    r"(?i)(?:(?:it|this|that) (?:is|was) )?(?:not (?:stated|mentioned|given|specified|recorded|provided|known|available|listed|found)\b.{0,40}|unknown|unanswerable|(?:the |it )?(?:text |passage |document )?(?:does not|doesn['’]t) (?:say|mention|state|specify)\b.{0,20}|cannot be determined\b.{0,30})\.?"
)

HAN_SAYS_NOT = re.compile(
    r"(?:没有?|未曾?)(?:直接|明确)?(?:提[到及供]|说明(?!书)|写[明到出]?|给出|列出|记载|注明|交代)|(?:没有|缺少)[^，,。]{1,24}(?:信息|资料|数据|记录)|"
    r"(?:无法|没法|无从|不能)(?:从[^，,。]{1,10})?(?:得知|知道|获知|确[定认]|判断|推断|得出|回答)|(?:信息|资料|数据)不足"
)
HAN_GOES_ON = re.compile("但(?!是?(?:没|未))|不过|然而")
HAN_NOT_SAID = re.compile(
    rf"(?:(?:信息|资料|数据)不足[，,]?)?(?:(?:资料|材料|文中|原文|文章|文档|通知)[里中]?)?(?:{HAN_SAYS_NOT.pattern}|未知|不知道)[^，,。]{{0,12}}。?"
)
PART_END = re.compile(r"[，,；;、]\s?")
HAN_LEAD = re.compile(
    "(?:所以|因此|只能?|一共|总共|[共以也则它他她其该这那是为在于的约]|目前|现在|分别|答案|总计|大[约概])+|(?:出自|来自|由).*"
)
CLAUSE_END = re.compile("[，,。；;！!\n]")


def best_match(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> tuple[Claims, AnswerMatch]:
    """Return what a reply claims, and the verdict on the first target that this matches; else on the first target.

    A verdict with `readings` is arguable: the reply is right in one of them only.
    """
    claims = read_weighed_claims(reply, question, guesses=options.guesses)
    targets = [said_plainly(target, read_asked(question)) for target in targets]  # up to 8, where a limit is asked for
    if options.ordered is None and read_asked(question).several:
        options = msgspec.structs.replace(options, ordered=False)
    verdicts = (
        [match_claim(claims.given, target, question, options) for target in targets] if claims.given is not None else []
    )
    if claims.asks and not any(map(QUESTION.search, targets)):
        return claims, refuse("sentences", say("The reply asks, and answers nothing."))
    if not claims.readings and _leaves_unsaid(reply, targets, question):
        return claims, accept("sentences", say("The reply says {truth}.", truth="no"))
    right = next((verdict for verdict in verdicts if verdict.right), None) or (
        _stated(claims, targets, options, question, reply) if options.sentences else None
    )
    if right is None and options.sentences and not options.guesses and is_guess(reply):
        right = _guessed(reply, targets, options, question)
    right = right or _both_answered(reply, targets, options, question)
    if right is not None:
        return claims, right
    is_open = options.sentences and not any(verdict.undecided or verdict.rule == "judge" for verdict in verdicts)
    if is_open and (
        unclear := _part_of_claim(claims, targets, question)
        or _other_claim(claims, targets, options, question)
        or _unread(claims, targets, reply, question)
    ):
        return claims, unclear
    if not verdicts:
        reason = say("The reply is long and marks no final answer.")
        return claims, refuse("extraction", reason)
    open_verdicts = [verdict for verdict in verdicts if verdict.undecided] or [
        verdict for verdict in verdicts if verdict.ambiguous
    ]
    return claims, (open_verdicts or verdicts)[0]


def _both_answered(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> AnswerMatch | None:
    """Return the acceptance of a target in two parts, if each is right for its own of the two questions that are asked; else None.

    The clause of the second begins with words of the question, or it may be of another: `货币是越南盾`, and not `泰国的货币是泰铢`.
    """
    asked = two_asked(question) if options.sentences else ()
    plain = msgspec.structs.replace(options, semantic=None, judge=None)
    for parts in (PART_END.split(target.strip()) for target in targets if asked):
        if len(parts) == len(asked) and all(parts) and _leads_to(parts[1], reply, question + parts[0]):
            verdicts = [best_match(reply, [part], plain, ask)[1] for part, ask in zip(parts, asked, strict=True)]
            if all(verdict.right for verdict in verdicts):
                return verdicts[0]
    return None


def _leads_to(part: str, reply: str, words: str) -> bool:
    """True if a clause of a reply has a part of a target, and begins with these words or with the part."""
    leads = [lead for clause in CLAUSE_END.split(reply) for lead, at, _ in [_bare(clause).partition(_bare(part))] if at]
    return any(not HAN_LETTER.match(text := HAN_LEAD.sub("", lead)) or text[:2] in words for lead in leads)


def _bare(text: str) -> str:
    return re.sub(r"[\s*`\"“”《》-]", "", with_digits(tidy(text)))


def _leaves_unsaid(reply: str, targets: Sequence[str], question: str) -> bool:
    """True if a target is that the answer is not given, and a reply says so; in Chinese, of more words of the question than of anything else."""
    if any(map(NOT_SAID.fullmatch, targets)):
        return SAYS_NOT.search(reply) is not None and GOES_ON.search(reply) is None
    if not any(map(HAN_NOT_SAID.fullmatch, targets)) or HAN_GOES_ON.search(reply):
        return False
    asked, unsaid, said = echo(read_asked(question).clause), set[str](), set[str]()
    for clause in CLAUSE_END.split(reply):
        says_not = HAN_SAYS_NOT.search(clause)
        if says_not is None:
            said |= echo(clause) & asked
        else:
            unsaid |= echo(clause[says_not.end() :].strip("过了 ") or says_not[0] + clause[: says_not.start()]) & asked
    return len(unsaid) > len(said)


def _part_of_claim(claims: Claims, targets: Sequence[str], question: str) -> AnswerMatch | None:
    """Return the arguable verdict where the words of a target, or most of them, are a part of the claim, or the claim of a target; else None."""
    for read in (str(claim) for claim in claims.readings if claim.truth is None):
        plain = ARTICLE.sub("", read)
        held = [
            target
            for target in targets
            if (LETTERS.search(target) and _one_has_other(plain, ARTICLE.sub("", target)))
            or _has_most_words(read, target, question)
        ]
        if held:
            return _arguable([read, held[0]])
    return None


def _other_claim(claims: Claims, targets: Sequence[str], options: AnswerOptions, question: str) -> AnswerMatch | None:
    """Return the arguable verdict where a target is not the claim, but may be what the reply claims; else None."""
    said = str(claims.readings[0]) if claims.readings else "-"
    plain = msgspec.structs.replace(options, semantic=None, judge=None)
    for claim in claims.others:
        verdicts = (_claim_match(claim, target, plain, question) for target in targets)
        if any(verdict is not None and verdict.right for verdict in verdicts):
            return _arguable([said, str(claim)])
    return None


def _unread(claims: Claims, targets: Sequence[str], reply: str, question: str) -> AnswerMatch | None:
    """Return the arguable verdict where nothing is read from a reply that doubts nothing, and it has the words of a target; else None.

    The same where no yes or no is read, and that is asked for, unless the reply leaves it open.
    """
    if claims.given is None or claims.readings or claims.asks or is_guess(reply) or DECLINES.search(reply):
        return None
    if read_asked(question).kind == "truth":
        if leaves_open(reply):
            return None
        said = [target for target in targets if _truth_of(target, question) is not None]
        if said:
            return _arguable(["-", said[0]])
    plain = [
        sentence
        for sentence in split(reply[-MOST_CHARACTERS:])
        if not negations(sentence) and not OTHERS_SAY.search(sentence)
    ]
    held = next((target for target in targets if any(has_words(sentence, target) for sentence in plain)), None)
    return None if held is None else _arguable(["-", held])


def _one_has_other(read: str, target: str) -> bool:
    return has_words(read, target) or has_words(target, read)


def _has_most_words(read: str, target: str, question: str) -> bool:
    """True if a claim has two thirds of the English words that a target adds to the question, lacks no name, and denies nothing else.

    >>> _has_most_words("the credit limit had been exceeded", "credit limit exceeded", "Why was it put on hold?")
    True
    """
    asked, said = echo(question), echo(read)
    words = [word for word in target.split() if echo(word) - asked] if PLAIN_WORDS.fullmatch(target) else []
    lacking = [word for word in words if not echo(word) & said]
    is_most = len(words) > 1 and len(lacking) * 3 <= len(words) and all(map(str.islower, lacking))
    return is_most and blocker(read, target) is None and not says_opposite(read, target)


def _stated(
    claims: Claims, targets: Sequence[str], options: AnswerOptions, question: str, reply: str = ""
) -> AnswerMatch | None:
    """Return the verdict on the claim that matches a target, arguable if it is one of several readings; None if none does."""
    plain = msgspec.structs.replace(options, semantic=None, judge=None)
    unclear: AnswerMatch | None = None
    for target in targets:
        verdicts = [_claim_match(claim, target, plain, question, reply) for claim in claims.readings]
        right = [verdict for verdict in verdicts if verdict is not None and verdict.right]
        if right and len(right) == len(verdicts):
            return right[0]  # however the reply is read
        arguable = [_arguable([str(claim) for claim in claims.readings])] if right else []
        unclear = unclear or next((verdict for verdict in [*arguable, *verdicts] if verdict is not None), None)
    return unclear


def _claim_match(
    claim: Claim, target: str, options: AnswerOptions, question: str, reply: str = ""
) -> AnswerMatch | None:
    if claim.truth is not None:
        said = _truth_of(target, question)
        if said is None and (said := _truth_before_reason(target, question)) is claim.truth:
            why = echo(REASON.split(target, maxsplit=1)[1])
            if why and any(why <= echo(sentence) for sentence in split(reply)):
                return accept("sentences", say("The reply says {truth}.", truth=str(claim)))
            return _arguable([str(claim), target])
        if said is not claim.truth:
            return None
        return accept("sentences", say("The reply says {truth}.", truth="yes" if claim.truth else "no"))
    unclear: AnswerMatch | None = None
    for form in claim.forms:  # of a shorter one, what it left out may be what differs: 河北唐山, 河南唐山
        is_whole = form == claim.forms[0] or question.isascii() or target in claim.forms[0] or WHY.search(question)
        compare = match_claim if is_whole else match_asked
        verdict = compare(form, target, question, options)
        if verdict.right:
            reason = say("The reply states '{found}'. {reason}", found=shown(form), reason=verdict.reason)
            return msgspec.structs.replace(verdict, reason=reason)
        unclear = unclear or (verdict if verdict.readings else None)
    return unclear


def _truth_of(target: str, question: str) -> bool | None:
    """Return the truth value of a target; of 相等 and 不相等, too, where the question ends in 相等吗."""
    asked = read_asked(question)
    if target.startswith("not ") and target[4:].casefold() in asked.clause.casefold() and not negations(asked.clause):
        return False
    said = truth_of(target)
    if (
        said is None
        and asked.kind == "truth"
        and target.isascii()
        and (word := target.strip(" .").casefold())
        and " " not in word
        and not (negations(asked.clause) or " or " in asked.clause)
    ):
        last = asked.clause.rstrip("?!. ").casefold().rpartition(" ")[2]
        if word in (last, *(f"{prefix}{last}" for prefix in NEGATIVE_PREFIXES)) and len(last) > LEAST_OF_WORD:
            return word == last
    if said is not None or asked.kind != "truth" or target.isascii() or REASON.search(target):
        return said
    return read_han_truth([target], asked.clause)


def _truth_before_reason(target: str, question: str) -> bool | None:
    """Return yes or no of a target that adds a reason, such as `No, it is Ankara`: whether a reply gives the same reason is not read."""
    head, *reason = REASON.split(target, maxsplit=1)
    return _truth_of(head, question) if reason else None


def _arguable(readings: Sequence[str]) -> AnswerMatch:
    reason = say("The reply can be read in several ways: {readings}.", readings=" / ".join(map(shown, readings)))
    return AnswerMatch(right=False, rule="sentences", reason=reason, ambiguous=True, readings=tuple(readings))


def _guessed(reply: str, targets: Sequence[str], options: AnswerOptions, question: str) -> AnswerMatch | None:
    """Return the refusal of a guess that would be right; None for any other reply."""
    surely = read_claims(reply, question, guesses=True)
    if _stated(surely, targets, options, question) is None:
        return None
    reason = say("The reply only guesses; with the option 'guesses' that counts.")
    return refuse("sentences", reason, ambiguous=True)


def match_claim(given: str, target: str, question: str, options: AnswerOptions) -> AnswerMatch:
    """Match an answer with a target as `match_asked` does, or as another name or wording of the same in answer to the question."""
    verdict = match_asked(given, target, question, options)
    if verdict.right:
        return verdict
    if question.isascii():
        if echo(question) and same_wording(given, target, question):
            return accept("similarity", say("The words are the same."))
    elif not verdict.undecided and same_name(given, target, question):
        return accept("names", say("Both name the same."))
    return verdict


def match_asked(given: str, target: str, question: str, options: AnswerOptions) -> AnswerMatch:
    """Match an answer with a target, where an amount needs no unit that the question names."""
    verdict = match(given, target, options=options)
    if verdict.readings and DECIMAL_COMMA.search(question) and not DECIMAL_POINT.search(question):
        given, target = (
            COMMA.sub(".", text) for text in (given, target)
        )  # the question shows how decimals are written
        verdict = match(given, target, options=options)
    if not verdict.right and (ROUGHLY.match(given) or ROUGHLY.match(target)):
        given, target = (ROUGHLY.sub("", text) for text in (given, target))  # about 21% and 21%
        verdict = match(given, target, options=options)
    if not verdict.right and not question.isascii() and (same := said_alike(given, target, question)):
        given, target = same
        verdict = match(given, target, options=options)
    bare = tuple(in_asked_degrees(text, question) for text in (given, target))
    if not verdict.right and bare != (given, target):
        verdict = match(*bare, options=options)
    if verdict.right or verdict.rule != "units" or not verdict.ambiguous or options.unit:
        return verdict
    if read_number(tidy(target)) is not None and _any_unit_fits(given, question):
        given = without_unit(given)
    return match(without_asked_unit(given, question), without_asked_unit(target, question), options=options)


def _any_unit_fits(given: str, question: str) -> bool:
    """True if a question asks for an amount without a unit; shares, times and parts of a currency keep their units."""
    asked, quantity = read_asked(question), read_quantity(tidy(given))
    if asked.kind not in ("amount", "") or asked.units or quantity is None or "%" in given:
        return False
    if not asked.kind:
        return quantity.unit.dimensions in CURRENCIES and quantity.unit.factor == 1
    is_time = quantity.unit.dimensions == (("s", 1),)
    return not is_time and (quantity.unit.dimensions not in CURRENCIES or quantity.unit.factor == 1)
