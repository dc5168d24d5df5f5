"""Which results are failures, and which of those are none of the agent's making."""

import json
import re
from functools import lru_cache
from typing import Any

import msgspec

from proctor_audit.inspector.tool_kinds import is_shell, shows_texts
from proctor_audit.inspector.view import TrialCall
from proctor_judging.matching.patterns import compile_later

HEAD = 240
LONGEST_BARE = 300  # of a result without a mark that it is an error
FAILS = compile_later(
    r"^\W*(?:(?:tool|execution|api|server|runtime|validation|fatal|internal|system|unexpected|http)\s+)*(?:error|err|exception|failure|failed|fail|fatal|denied|invalid|"
    r"traceback)\b|^[\w.]*(?:Error|Exception|Timeout|Refused)\b|^\W*(?:错误|出错|失败|异常|报错|无法|调用失败|操作失败|请求失败|エラー|오류)|^(?:ba)?sh: |: command not found|"
    r"^\W*(?:could not|cannot|can't|unable to|no such|not found|permission denied|unknown (?:command|tool|function))\b",
    re.IGNORECASE,
)
NUMBERED = (
    r"(?:\b(?:https?(?:/\d(?:\.\d)?)?|status(?:[ _]?code)?|code|error(?: code)?|returned|response)[ :=#(\x22\[]{1,4}(?:5\d\d|429)\b(?! (?:units?|items?|not)\b)|"
    r"\b(?:5\d\d|429)[ :,-]{1,3}(?:\w+ ){0,2}?(?:server error|internal|bad gateway|service|gateway|too many|backend|upstream|error))"
)
PHRASES = (
    r"\b(?:internal server error|service (?:is )?(?:temporarily |currently )?unavailable|temporarily unavailable|bad gateway|gateway time-?out|too many requests|"
    r"rate[ -]?limit(?:ed|s)?(?: was| is| has been)?(?: reached| exceeded| hit|ed|:|$)|rate limited|(?:api|request|token|usage|current|daily|monthly|project|compute|disk|storage) quota|"
    r"quota (?:has been |was )?(?:exceeded|exhausted)|resource_?exhausted|insufficient_quota|overloaded(?:_error)?|"
    r"connection (?:was |has been |is )?(?:refused|reset|aborted|closed|lost|timed out|broken|error|dropped)|connect(?:ion)? to \S+ (?:\S+ ){0,6}failed|"
    r"could not connect to|failed to connect to|unable to connect to|(?:cannot|can't|could not) reach (?:the )?(?:\w+ )?(?:server|host|database|service|backend)|"
    r"(?:err_(?:connection|timed|network|internet|empty)\w*|econn(?:refused|reset|aborted)|etimedout|enotfound|ehostunreach|epipe|eai_again)|name resolution|name or service not known|getaddrinfo|"
    r"network (?:is )?(?:unreachable|error)|no route to host|broken pipe|socket hang ?up|remote end closed|"
    r"(?:request|connection|operation|read|query|call|gateway|server|upstream|socket|database|tool|execution|statement|backend|rpc|command|api|service|process|handshake)s?\b(?: \S+){0,4}? (?:timed[ -]?out|time[ds]? ?out)|"
    r"(?:^|[:(] ?)timed[ -]?out\b|timed out (?:after|waiting|connecting|while)|(?:read|connect|connection|request|gateway|socket|query|execution|tool|upstream) time(?:-?out|d out)|deadline[ _]exceeded|timeouterror|timeoutexpired|"
    r"database is locked|too many (?:open )?connections|deadlock detected|server (?:has gone away|is down|closed the connection|selection timeout)|upstream (?:connect|request|server|service)|"
    r"no healthy upstream|(?:container|sandbox|pod|vm|browser|kernel|instance|worker)\b(?: \S+){0,3} (?:is )?(?:not running|exited|gone|died|crashed|terminated|evicted|stopped|killed|no longer (?:exists|running|available)|has been (?:removed|terminated))|"
    r"no such container|error response from daemon|no space left on device|oomkilled|out of memory|ssl(?:error)?: |tls handshake|target (?:page, context or browser|closed)|"
    r"maintenance (?:mode|window))|(?:服务|系统|服务器|网关|接口|后端|数据库|网络)(?:\S{0,4})(?:不可用|繁忙|超时|异常|无响应|宕机|维护中|内部错误)|内部服务器错误|(?:连接|请求|响应|调用|查询|网络|执行|读取)(?:被)?(?:超时|拒绝|重置|中断)|"
    r"连接(?:\S{0,6})失败|(?:请求|调用|访问)(?:次数)?(?:过于)?(?:频繁|过多)|限流|(?:配额|额度)(?:已)?(?:用尽|耗尽|不足|超限)|容器(?:\S{0,6})(?:退出|不存在|停止|崩溃)|沙箱(?:\S{0,6})(?:退出|崩溃|不可用)"
)
OUTSIDE = compile_later(rf"{NUMBERED}|{PHRASES}", re.IGNORECASE)
TYPED = compile_later(
    r"\b(?:[A-Za-z_]\w*\.)*\w*(?:Connect\w*|Timeout|ReadTimeout|Operational|Service\w*|Gateway|Network|ServerDisconnected|Remote\w*|MaxRetry|NewConnection|Interface|InternalServer|RateLimit|APIConnection|APITimeout|HTTP|Docker)(?:Error|Exception|Expired)\b"
)
OWN_MACHINE = compile_later(
    r"error response from daemon|no such container|(?:container|sandbox|pod|kernel)\b(?: \S+){0,3} (?:is )?(?:not running|exited|gone|died|crashed|terminated|evicted|no longer)|容器(?:\S{0,6})(?:退出|不存在|崩溃)|沙箱",
    re.IGNORECASE,
)
SERVER_FAULT = re.compile(
    r"^(?:AttributeError|NameError|ImportError|ModuleNotFoundError|UnboundLocalError|NotImplementedError|RecursionError|MemoryError)\b.*",
    re.MULTILINE,
)
ERROR_PAGE = re.compile(r"<(?:title|h1)[^>]*>\s*((?:5\d\d|429)\b[^<]{0,80})", re.IGNORECASE)
RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:: .*)?$", re.MULTILINE)  # what a traceback ends with
TRACEBACK = "Traceback (most recent call last)"
RPC_STATUS = re.compile(r"(?:UNAVAILABLE|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|INTERNAL|ABORTED|UNKNOWN)\b")
MESSAGE_KEYS = (
    "error", "message", "detail", "details", "reason", "msg", "错误", "err", "exception", "errors", "error_message",
    "fault",
)  # fmt: skip
CODE_KEYS = ("status", "code", "status_code", "statuscode", "http_status", "error_code", "httpcode")


def is_failure(call: TrialCall) -> bool:
    """True if the result of a call says by its head, or by its fields, that the call did not succeed."""
    if call.is_error:
        return True
    fields = _fields(call.result)
    if fields is not None:
        return _reports_failure(fields)
    return FAILS.search(call.result[:HEAD].strip().split("\n", 1)[0]) is not None


def outside_failure(call: TrialCall) -> str | None:
    """Return the words of a result that say that the infrastructure failed; None if they do not.

    The output of a command and the text of a file are data, except where the machine itself is gone.
    """
    text = call.result
    if not text.strip():
        return None
    if is_shell(call.name):
        match = OWN_MACHINE.search(_head(text))
        return match.group() if match and len(text) <= LONGEST_BARE * 2 else None
    if fault := _fault_of_server(call):
        return fault
    said = _error_text(call)
    if said is None:
        return None
    match = OUTSIDE.search(said) or TYPED.search(said)
    if match is None or _is_asked_for(match.group(), call):
        return None
    return match.group()


def _fault_of_server(call: TrialCall) -> str:
    """Return what a tool that shows no texts of others says of a fault in its own code, or of the server that it is on."""
    text = call.result.strip()
    if shows_texts(call.name):
        return ""
    if text.startswith(TRACEBACK) and (fault := SERVER_FAULT.search(text)):
        named = re.findall(r"['\"]([^'\"]+)['\"]", fault.group())
        is_of_call = any(word in value for word in named for _, value in call.values)
        return "" if is_of_call else fault.group()
    page = ERROR_PAGE.search(_head(text)) if text.startswith("<") else None
    return page[1].strip() if page else ""


def _error_text(call: TrialCall) -> str | None:
    """Return the part of a result that is an error message; None if it is none."""
    text = call.result.strip()
    fields = _fields(text)
    if fields is not None:
        return _message_of(fields) if _reports_failure(fields) else None
    if text.startswith(TRACEBACK):
        return None if shows_texts(call.name) else "\n".join(RAISED.findall(text))
    first = _head(text).split("\n", 1)[0]
    if call.is_error or FAILS.search(first):
        return _head(text)
    match = None if first.startswith(("[", "{", "<")) or shows_texts(call.name) else OUTSIDE.search(first)
    short = len(text) <= LONGEST_BARE and text.count("\n") < 6
    return first if match is not None and match.start() <= 12 and short and not _is_prose(text) else None


def _is_prose(text: str) -> bool:
    """True if a text has several sentences or lines of which not all speak of a failure."""
    return len([part for part in text.replace("。", ". ").replace("\n", ". ").split(". ") if part.strip()]) > 3


def _is_asked_for(words: str, call: TrialCall) -> bool:
    return any(words.lower() in value.lower() for _, value in call.values)


def _head(text: str) -> str:
    return text.strip()[:HEAD]


@lru_cache(256)  # several rules read the same results
def _fields(text: str) -> dict[str, object] | None:
    stripped = text.strip()
    if not stripped.startswith("{"):
        return None
    try:
        value = msgspec.json.decode(stripped)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return {str(key).lower(): inner for key, inner in value.items()} if isinstance(value, dict) else None


def _reports_failure(fields: dict[str, object]) -> bool:
    if any(fields.get(key) is False for key in ("ok", "success", "succeeded", "成功")):
        return True
    if any(fields.get(key) for key in ("error", "err", "exception", "errors", "错误", "iserror", "is_error", "fault")):
        return len(fields) <= 6
    if any(isinstance(text := fields.get(key), str) and RPC_STATUS.match(text) for key in MESSAGE_KEYS):
        return True
    status = fields.get("status")
    if isinstance(status, str) and status.lower() in ("error", "failed", "failure", "fail", "失败", "timeout"):
        return any(key in fields for key in MESSAGE_KEYS) or len(fields) == 1
    return any(_is_code(fields.get(key)) for key in CODE_KEYS) and any(key in fields for key in MESSAGE_KEYS)


def _is_code(value: object) -> bool:
    return str(value).isdigit() and 400 <= int(str(value)[:4]) <= 599


def _message_of(fields: dict[str, Any]) -> str:
    codes = [f"status {fields[key]}" for key in CODE_KEYS if key in fields]
    texts = [
        fields[key] if isinstance(fields[key], str) else json.dumps(fields[key], ensure_ascii=False)
        for key in MESSAGE_KEYS
        if key in fields
    ]
    return " ".join([*codes, *texts])[: HEAD * 2]
