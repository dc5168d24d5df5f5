"""Find expected responses that are failed runs."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.responses import responses_of

FAILURE = re.compile(
    r"\bTraceback \(most recent call last\)|^\s*(?:[A-Z]\w*(?:Error|Exception))\b\s*[:(]|\bHTTP(?:/1\.1)?\s*(?:status\s*)?(?:code\s*)?5\d\d\b|\b5\d\d (?:internal server error|bad gateway|service unavailable|gateway time-?out)"
    r"|\binternal server error\b|\b(?:encountered|ran into|hit|there was|got|met with|returned) (?:an?|some|this)?\s*(?:unexpected |internal |unknown |fatal |server |technical )*(?:error|exception|failure)\b"
    r"|\b(?:an?|the) (?:unexpected |internal |unknown |fatal |technical )?(?:error|exception) (?:occurred|has occurred|was (?:raised|thrown|encountered)|happened)\b|\b(?:request|connection|call|tool|operation|query) (?:timed out|failed|was refused|aborted)\b|\bsomething went wrong\b"
    r"|(?:发生|出现|遇到)(?:了)?(?:一个|未知|内部|意外|系统)*(?:的)?(?:错误|异常)|服务器(?:内部)?错误|请求(?:超时|失败)|系统(?:错误|异常|繁忙)",
    re.IGNORECASE | re.MULTILINE,
)
ASKED = re.compile(r"error|exception|fail|crash|traceback|5\d\d|status|log|bug|错误|异常|失败|故障|日志", re.IGNORECASE)


@check(group="A4", cls="likely", title=say("The expected response reads as a failed run."))
def gold_is_failure(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose expected response reports an exception, an HTTP 5xx or an error; not where the question is about one."""
    for sample in audit.samples:
        for asked, response in responses_of(sample):
            match = FAILURE.search(response)
            if match is not None and not ASKED.search(asked):
                yield audit.found(
                    say("the expected response reads as a failure: {text}", text=repr(match[0].strip())),
                    sample,
                    witness={"response": response, "span": match[0]},
                )
                break
