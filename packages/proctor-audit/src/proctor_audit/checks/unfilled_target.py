"""Find targets that were never filled in, or with the report of a failed run."""

import re
from collections.abc import Iterator, Mapping

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import NO_TARGET, Audit
from proctor_audit.check import check
from proctor_audit.expected import has_oracle
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import kinds_of
from proctor_audit.wording import is_empty_target, options_of, question_of, targets_of

PLACEHOLDER = re.compile(
    r"(?:todo|tbd|tba|fixme|xxx+|placeholder|lorem ipsum|fill (?:me )?in|to be (?:done|determined|added)|n/?a|none yet|\?{2,}|\.{3,}|…+|-{2,}|_{2,}"
    r"|<[^<>]{0,40}>|\[(?:answer|target|insert|your|todo)[^\[\]]{0,30}\]|\{[a-z_]{1,30}\}|待(?:定|填|补充|完善)|答案待.{0,4}|占位符?|暂无)[.!。]?",
    re.IGNORECASE,
)
ABOUT_WORDS = re.compile(
    r"\b(?:words?|terms?|abbreviat\w+|acronyms?|comments?|markers?|keywords?|tags?|placeholders?|meanings?|symbol|letters|stands? for)\b|词|缩写|简称|术语|标记|标注|注明|符号",
    re.IGNORECASE,
)
SHARE = 0.2
FAILURE = re.compile(
    r"\bTraceback \(most recent call last\)|^\s*(?:[A-Z]\w*(?:Error|Exception))\b\s*[:(]|\bHTTP(?:/1\.1)?\s*(?:status\s*)?(?:code\s*)?5\d\d\b|\b5\d\d (?:internal server error|bad gateway|service unavailable|gateway time-?out)"
    r"|\binternal server error\b|\b(?:encountered|ran into|hit|there was|got|met with|returned) (?:an?|some|this)?\s*(?:unexpected |internal |unknown |fatal |server |technical )*(?:error|exception|failure)\b"
    r"|\b(?:an?|the) (?:unexpected |internal |unknown |fatal |technical )?(?:error|exception) (?:occurred|has occurred|was (?:raised|thrown|encountered)|happened)\b|\b(?:request|connection|call|tool|operation|query) (?:timed out|failed|was refused|aborted)\b|\bsomething went wrong\b"
    r"|(?:发生|出现|遇到)(?:了)?(?:一个|未知|内部|意外|系统)*(?:的)?(?:错误|异常)|服务器(?:内部)?错误|请求(?:超时|失败)|系统(?:错误|异常|繁忙)",
    re.IGNORECASE | re.MULTILINE,
)
ASKED = re.compile(r"error|exception|fail|crash|traceback|5\d\d|status|log|bug|错误|异常|失败|故障|日志", re.IGNORECASE)


@check(group="A4", cls="proved", title=say("A sample has no target, while others have one."))
def empty_target(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples without a target where most have one; not where the empty text is expected, or the task says what is right."""
    if has_oracle(audit) or kinds_of(audit) <= {*NO_TARGET}:
        return
    missing = [
        sample
        for sample in audit.samples
        if is_empty_target(sample.target) and not any(turn.reference for turn in sample.turns)
    ]
    if 2 * len(missing) > len(audit.samples):
        return
    for sample in missing:
        yield audit.found(say("there is no target"), sample, witness={"target": sample.target})


@check(group="A4", cls="likely", title=say("The target is a placeholder."))
def placeholder_target(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target looks unfilled, where that is true of few; not where the question asks for that very word."""
    pairs = [
        (sample, str(target))
        for sample in audit.samples
        if not options_of(sample)
        for target in targets_of(sample)[:1]
        if isinstance(target, str) and PLACEHOLDER.fullmatch(target.strip())
    ]
    if len(pairs) > SHARE * len(audit.samples):
        return
    for sample, target in pairs:
        question = question_of(sample)
        if not ABOUT_WORDS.search(question) and target.strip().casefold() not in question.casefold():
            yield audit.found(say("the target is {target}", target=repr(target)), sample, witness={"target": target})


@check(group="A4", cls="likely", title=say("The expected response reads as a failed run."))
def gold_is_failure(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose expected response reports an exception, an HTTP 5xx or an error; not where the question is about one."""
    for sample in audit.samples:
        for asked, response in _responses_of(sample):
            match = FAILURE.search(response)
            if match is not None and not ASKED.search(asked):
                yield audit.found(
                    say("the expected response reads as a failure: {text}", text=repr(match[0].strip())),
                    sample,
                    witness={"response": response, "span": match[0]},
                )
                break


def _responses_of(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield what is asked in each turn and the text that is expected for it."""
    is_said = False
    for turn in sample.turns:
        asked = " ".join(message.text for message in turn.messages if message.role == "user")
        response = turn.reference.get("response") if isinstance(turn.reference, Mapping) else turn.reference
        if isinstance(response, str):
            is_said = True
            yield asked, response
    if not is_said:
        for target in targets_of(sample):
            if isinstance(target, str):
                yield " ".join(message.text for turn in sample.turns for message in turn.messages), target
