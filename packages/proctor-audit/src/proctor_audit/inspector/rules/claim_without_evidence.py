"""The agent says that something was done, and nothing was."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.orders import without_orders
from proctor_audit.inspector.tool_failures import is_failure, outside_failure
from proctor_audit.inspector.tool_kinds import FAMILY_BY_WORD, NEAR, families_of, is_read, is_shell
from proctor_audit.inspector.view import InspectedTrial, TrialCall, TrialEvent, TrialStep
from proctor_audit.inspector.wording import holds_any, sentences_of
from proctor_judging.matching.patterns import compile_later

GENERIC = frozenset((
    "processed", "completed", "initiated", "applied", "confirmed", "finalized", "finalised", "done", "submitted",
    "filed", "arranged", "secured", "made", "placed", "set", "put",
))  # fmt: skip
PAST = frozenset(word for word in FAMILY_BY_WORD if word.endswith("ed")) | GENERIC | {"sent", "bought", "paid", "reset"}
ADVERBS = r"(?:(?:now|just|successfully|already|also|both|all|been|officially|fully|gone ahead and|went ahead and) )*"
CLAIM = compile_later(
    rf"\b(?:has|have|was|were) {ADVERBS}been {ADVERBS}([a-z]+)\b|\b(?:i have|i've|i’ve|we have|we've|we’ve|i) {ADVERBS}([a-z]+)\b|"
    rf"\b(?:is|are|was|were) (?:now )?successfully ([a-z]+)\b|\b(?:is|are) now ([a-z]+)\b|\bsuccessfully ([a-z]+)\b",
    re.IGNORECASE,
)
CHINESE = "|".join(sorted((word for word in FAMILY_BY_WORD if not word.isascii()), key=len, reverse=True))
CLAIM_CHINESE = compile_later(
    rf"(?:已经?|刚刚|刚|均已)(?:\S{{0,8}}?)({CHINESE})|(?:成功|顺利)(?:\S{{0,4}}?)({CHINESE})|({CHINESE})(?:\S{{0,6}}?)(?:成功|完成|完毕|好了)"
)
STEMS = (
    "been", "success", "i have", "i've", "i’ve", "we have", "we've", "we’ve", " now ", "i ", "已", "刚", "成功", "顺利",
    "完成", "完毕", "好了",
)  # fmt: skip
STRONG = compile_later(
    r"successfully|\b(?:i have|i've|i’ve|we have|we've|we’ve)\b|\bi (?:just |now )?\w+ed\b|\bnow\b|成功|为您|帮您|给您|替您|我已|我刚",
    re.IGNORECASE,
)
UNLESS = compile_later(
    r"\?\s*$|？\s*$|\b(?:if|once|when|after|until|unless|before|whether|would|will|shall|could|should|may|might|can|to be|not|never|cannot|can't|hasn't|haven't|wasn't|weren't|unable|failed|"
    r"please|assuming|provided|in case|ready to|going to|as soon as|by the|according to|records? shows?|i see|i can see|it (?:looks|seems|appears)|originally|previously|you (?:have(?! been)|had|booked|purchased|ordered|were|said|mentioned))\b|"
    r"如果|一旦|(?<!申)请|将|会|是否|吗|未|没有|没能|无法|不能|尚未|若|待|需要|之后|以后|完成后|成功后|后才|显示|记录|据|曾|您已|你已|您之前|原本|原先",
    re.IGNORECASE,
)
NOT_DONE = re.compile(
    r"\w{0,6}?(?:没有?成功|[未不]成功|没能|失败|期限|时限|政策|规则|条件)"
)  # after a claim in Chinese
NOUNS = compile_later(
    r"\b(cancellation|refund|payment|booking|reservation|order|purchase|return|exchange|upgrade|change|update|transfer|registration|appointment|ticket|claim|request|complaint|subscription)\b",
    re.IGNORECASE,
)
FAMILY_BY_NOUN = {
    "cancellation": "cancel", "refund": "refund", "payment": "refund", "booking": "book", "reservation": "book", "order": "book", "purchase": "book", "return": "return",
    "exchange": "return", "upgrade": "update", "change": "update", "update": "update", "transfer": "transfer", "registration": "book", "appointment": "book",
    "ticket": "book", "claim": "send", "request": "send", "complaint": "send", "subscription": "book",
}  # fmt: skip
ID = compile_later(r"(?<![\w#$€£¥.])#?(?=[A-Za-z_-]*\d)(?=\d*[A-Z_])[A-Z0-9][A-Za-z0-9_-]{3,}(?!\w)")
NAMES_FILE = compile_later(
    r"\w\.[a-z]\w{0,4}\b|\b(?:file|folder|disk|drive|document)\b|文件|文档|云盘|目录", re.IGNORECASE
)
RECORD = compile_later(
    r"\b(?:your|the) (?:\w+ ){0,3}(?:reservation|order|booking|account|appointment|subscription|refund|payment|ticket|flight|card|policy)\b|您的|你的|订单|预约",
    re.IGNORECASE,
)
IN_WORDS = frozenset({"update", "book", "delete", "send"})  # what a reply can do by itself: change a text, make a list


@check(
    group="I6",
    cls="likely",
    title=say("The agent says that something was done, and no call did it."),
    invalidates="success",
)
def claim_without_evidence(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """The agent says that a write happened, and no successful call of a writing tool of that kind precedes.

    Not: plans, offers, questions, claims of the user, a state that a result or the user reported.
    """
    for step in trial.said_by("agent"):
        for sentence in sentences_of(step.text) if holds_any(step.text.lower(), STEMS) else ():
            family = _claimed(sentence)
            if family and not _is_supported(trial, step, sentence, family):
                why = say("The agent says that something was done, and no successful call that does it precedes.")
                yield TrialEvent(steps=(step.index,), span=sentence.rstrip(".。!！"), sentence=why)
                return


def _claimed(sentence: str) -> str:
    """Return the family of what a sentence says was done; '' if it says nothing of the kind."""
    if not holds_any(sentence.lower(), STEMS):
        return ""
    match = _match(sentence)
    if match is not None and FAMILY_BY_WORD.get(_verb(match)) == "save" and not NAMES_FILE.search(sentence):
        return ""  # what is saved may be time or money
    if match is None or NOT_DONE.match(sentence[match.end() :]):
        return ""
    if UNLESS.search(_clause(sentence, match.start(), match.end())):
        return ""
    verb = _verb(match)
    if verb in GENERIC:
        nouns = NOUNS.findall(sentence)
        return FAMILY_BY_NOUN[nouns[0].lower()] if nouns else ""
    return FAMILY_BY_WORD.get(verb, "")


def _match(sentence: str) -> re.Match[str] | None:
    english = (match for match in CLAIM.finditer(sentence) if _verb(match) in PAST)
    return next(english, None) or CLAIM_CHINESE.search(sentence)


def _verb(match: re.Match[str]) -> str:
    return next(value for value in match.groups() if value).lower()


def _clause(sentence: str, start: int, end: int) -> str:
    """Return what stands before a claim in its clause, and the claim; for questions also the end of the sentence."""
    before = re.split(r"[,;:，；：—]\s*", sentence[:start])[-1]
    question = sentence.rstrip()[-1:] if sentence.rstrip().endswith(("?", "？", "吗")) else ""
    return before + sentence[start:end] + question


def _is_supported(trial: InspectedTrial, step: TrialStep, sentence: str, family: str) -> bool:
    if not trial.calls and family in IN_WORDS and not STRONG.search(sentence):
        return True
    if not trial.calls and not trial.simulated_user and not RECORD.search(sentence):
        return True
    until = next((user.index for user in trial.said_by("user") if user.index > step.index), len(trial.steps))
    done = [call for call in trial.calls if call.step < until and _succeeded(call)]
    writes = [call for call in done if not is_read(call)]
    if any(is_shell(call.name) or not families_of(call.name) for call in writes):
        return True
    fitting = [call for call in writes if families_of(call.name) & ({family} | NEAR.get(family, set()))]
    ids = {name.strip("#*") for name in ID.findall(sentence)}
    if fitting and not ids:
        return True
    mentioning = [call for call in trial.calls if any(name in call.arguments or name in call.result for name in ids)]
    if fitting and (not mentioning or any(call in mentioning for call in fitting)):
        return True
    return not STRONG.search(sentence) and _is_reported(trial, step, sentence)


def _succeeded(call: TrialCall) -> bool:
    return call.answered is not None and not is_failure(call) and outside_failure(call) is None


def _is_reported(trial: InspectedTrial, step: TrialStep, sentence: str) -> bool:
    """True if a result that is no failure, or the user, said before that it happened: a request for it does not."""
    match = _match(sentence)
    if match is None:
        return False
    failed = {call.answered for call in trial.calls if not _succeeded(call)}
    texts = [
        each.text for each in trial.steps[: step.index] if each.author in ("tool", "user") and each.index not in failed
    ]
    seen, verb = without_orders("\n".join(texts)).lower(), _verb(match)
    if not verb.isascii():
        return re.search(rf"[已被]\S{{0,4}}{verb}|{verb}(?:了|成功|完成|完毕)", seen) is not None
    return re.search(rf"\b{verb.replace('ll', 'll?')}\b", seen) is not None
