"""The agent declines at the end of its part."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.tool_failures import is_failure
from proctor_audit.inspector.tool_kinds import is_read
from proctor_audit.inspector.view import InspectedTrial, TrialEvent
from proctor_audit.inspector.wording import span_near
from proctor_judging.matching.patterns import compile_later
from proctor_judging.scorers.refusal_model import RENDERS, read_refusal

LONGEST = 700
SHORT = 200
BY_POLICY = compile_later(
    r"polic(?:y|ies)|eligib|entitle|\b(?:terms|conditions|rules?|regulations?|guidelines of|fare|warranty|deadline|window|hours of|within \d+|more than \d+|only (?:if|when|for)|unless|until|since|because|due to|"
    r"already|expired|non-?refundable|insurance|sold out|out of stock|not available|transfer(?:red|ring)?|human agent|representative|specialist|supervisor|hand (?:you|this) over|escalat\w+|connect you)\b|"
    r"政策|规定|条款|规则|不符合|资格|期限|超过|因为|由于|已经|过期|人工(?!智能)|转接|专员|客服代表|库存|不支持退|política|richtlinie|politique|polít?ica|ポリシー|規定|정책|правил",
    re.IGNORECASE,
)
DECLINES = compile_later(
    r"\b(?:can|could|will|would|do|am|is|are|must|may|should)(?:not|n['’]t|['’]t| not)\b|\bunable\b|\bdeclin|\brefus|\bsorry\b|\bapolog|\bagainst\b|\binappropriate\b|\bi['’]m not\b|\bwon['’]t\b|无法|不能|不可以|不便|拒绝|抱歉|对不起|不会",
    re.IGNORECASE,
)
OUTRIGHT = compile_later(  # also after tools were used, when "I cannot" may only say that nothing was there
    r"\b(?:can(?:not|'t|’t| not)|unable to|not able to|won['’]t(?: be able to)?|will not(?: be able to)?|must not|may not|not going to) (?:\w+ ){0,2}?(?:help|assist|comply|fulfil+|support|continue|proceed|participate|engage|do (?:that|this|so)|"
    r"(?:complete|process|carry out|perform|handle|answer|respond to|accommodate) (?:that|this|your|the|such))\b|\b(?:must|have to|need to|will|going to|respectfully|politely|'ll) (?:\w+ )?(?:decline|refuse)|\bi (?:decline|refuse)|\bnot (?:comfortable|willing)|\bas an? (?:ai|language model|assistant)|"
    r"\bjust an? (?:ai|assistant|language model)|\bagainst my\b|(?:无法|不能|不便|没办法|不会)(?:为您|帮您|给您|向您)?(?:继续)?(?:协助|帮助|提供|满足|完成|处理|执行|配合|帮忙|帮你|帮您|回答)|拒绝|作为(?:一个|一名)?(?:AI|人工智能|语言模型|助手)",
    re.IGNORECASE,
)
NO_PROMISE = re.compile(
    r"(?:can(?:not|'t|’t| not)|could(?:n't|n’t| not)) (?:guarantee|promise|vouch)|(?:不能|无法|不敢)(?:保证|担保|确保)",
    re.IGNORECASE,
)
ASKS_BACK = compile_later(
    r"\b(?:please|could you|can you|would you)\b[^.!]{0,40}\b(?:provide|share|confirm|give|send|tell|clarify|specify|upload|paste)\b|请(?:您)?(?:提供|告知|确认|上传|补充)",
    re.IGNORECASE,
)


@check(group="I3", cls="likely", title=say("The agent declines at the end of its part."), invalidates="neither")
def refusal(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """The last reply declines, read as the scorer `refusal` reads it.

    Not: quoting or translating a refusal, handing over or declining by policy, a reply after work was done.
    """
    reply = next((step for step in reversed(trial.steps) if step.author == "agent" and step.text.strip()), None)
    if reply is None or reply.has_calls or any(call.step > reply.index for call in trial.calls):
        return
    if len(reply.text) > LONGEST or BY_POLICY.search(reply.text) or ASKS_BACK.search(reply.text):
        return
    if not _can_decline(trial, reply.text) or any(not is_read(call) and not is_failure(call) for call in trial.calls):
        return
    asked = next((step.text for step in reversed(trial.steps[: reply.index]) if step.author == "user"), "")
    if ASKS_ABILITY.search(asked):
        return
    declined = read_refusal(reply.text, asked)
    phrase = _outright(reply.text, asked) if declined is None or declined.partly else declined.phrase
    if not phrase or _is_quoted(reply.text, trial.seen_before(reply.index)):
        return
    span = span_near(reply.text, phrase)
    yield TrialEvent(steps=(reply.index,), span=span, sentence=say("The agent declines at the end."))


ASKS_ABILITY = compile_later(
    r"\bwhat (?:can(?:not|'t|’t)?|are|aren't|else can) you\b|\bcan(?:not|'t|’t) you do\b|你(?:不)?(?:能|会|可以)(?:做|帮)?(?:些)?(?:什么|哪些)|(?:什么|哪些)\S{0,6}你(?:不)?(?:能|会)",
    re.IGNORECASE,
)
OF_THE_TASK = compile_later(
    r"\b(?:not|isn't|['’]m not) (?:comfortable|willing|able) (?:with )?(?:writing|creating|helping|providing|producing|doing|sharing|generating|making|assisting|answering)\b",
    re.IGNORECASE,
)


def _can_decline(trial: InspectedTrial, text: str) -> bool:
    if trial.calls:
        return OUTRIGHT.search(text) is not None
    # of other languages only the scorer has words
    is_known = re.search(r"\b(?:the|you|to|is|i|that|with|for|this)\b|[\u4e00-\u9fff]", text, re.IGNORECASE) is not None
    is_known = is_known and not re.search(r"[\u3040-\u30ff\uac00-\ud7af]", text)
    return not is_known or DECLINES.search(NO_PROMISE.sub("", text)) is not None


def _outright(text: str, asked: str) -> str:
    """Return the words with which a short reply in the first person declines outright; '' if it does not."""
    match = (OF_THE_TASK if RENDERS.search(asked) else OUTRIGHT).search(text)
    is_own = match is not None and re.search(r"\bI\b|\bI['’]|我", text[max(0, match.start() - 30) : match.end()])
    return match.group() if match and is_own and len(text) <= SHORT and not re.search(r"[\"“「『]", text) else ""


def _is_quoted(text: str, seen: str) -> bool:
    quoted = re.findall(r"[\"“「『]([^\"”」』]{12,})[\"”」』]", text)
    return any(words in seen for words in quoted)
