"""The request itself was refused: the harness asked wrongly."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.check import check
from proctor_audit.inspector.tool_kinds import shows_texts
from proctor_audit.inspector.view import InspectedTrial, TrialEvent
from proctor_judging.matching.patterns import compile_later

HEAD = 600
LONGEST = 2_000
REFUSED = compile_later(
    r"^\W{0,3}(?:(?:litellm|openai|anthropic|google|requests|httpx|api)[\w.]*[.:]\s*)?(?:error[: ]+|an error occurred:? ?)?(?:[\w.]*(?:BadRequest|InvalidRequest|NotFound|"
    r"UnprocessableEntity|APIStatus|API|UnsupportedParams|Validation|HTTPStatus|HTTP|ClientError|Client|InvalidArgument)\w*(?:Error|Exception)?\b|(?:HTTP|status|error code|code|client error|错误码)[ :/.\d]*4(?:00|04|22)\b|"
    r"4(?:00|04|22)\b|\{\s*\"?'?(?:error|type|code|detail|object)|invalid_request_error|请求(?:被拒绝|失败|无效|错误))",
    re.IGNORECASE,
)
REQUEST = (
    r"invalid (?:json )?schema for (?:function|tool|response_format)|input_schema\b[^\n]{0,80}(?:invalid|must|required|not)|\btools(?:\.\d+|\[\d+\])[^\n]{0,100}|"
    r"roles? (?:must|should) (?:strictly )?alternate|must alternate between|alternat\w+ [^\n]{0,40}\broles?\b|messages? with role [^\n]{0,40}must be|first message must use|"
    r"(?:invalid|unknown|unsupported|unexpected) (?:message )?role\b|tool_(?:use|call)(?:_id)?s?`?[^\n]{0,60}(?:without|must be followed|did not have|do not have|no matching)|"
    r"model:? [`'\"]?[\w./:-]+[`'\"]? (?:does not exist|not found|is not (?:found|available|supported|a valid))|model_not_found|unknown model|(?:no such|unsupported) model|"
    r"invalid value: '\w+'\. supported values are: [^\n]{0,40}'(?:system|assistant|user)'|function (?:call|response) turn comes immediately after|function response parts|not_found_error[^\n]{0,80}model|模型(?:\S{0,20})不存在|(?:工具|函数)(?:\S{0,10})(?:定义|模式|schema)(?:\S{0,10})(?:无效|不合法|非法|错误)|(?:消息|角色)(?:\S{0,10})(?:顺序|交替)"
)
IN_RESULT = compile_later(REQUEST, re.IGNORECASE)
IN_REPLY = compile_later(
    REQUEST
    + r"|(?:function|tool)s?\W{0,3}(?:\[?\d*\]?\.)?(?:function\.|custom\.)?(?:parameters|schema|name)\b[^\n]{0,80}?(?:invalid|not valid|must|missing|required|expected|does not match|unsupported)|"
    r"string does not match pattern|role [^\n]{0,30}(?:is not (?:supported|allowed|valid)|must be)|unsupported (?:parameter|value)|unrecognized (?:request )?(?:argument|parameter)|unknown parameter|"
    r"does not support (?:tools?|function|parallel|system|temperature|image)|tool_choice|extra inputs are not permitted",
    re.IGNORECASE,
)


@check(
    group="I3",
    cls="proved",
    title=say("The request or the schema of a tool was refused, so the agent had no say."),
    invalidates="failure",
)
def harness_error(trial: InspectedTrial) -> Iterator[TrialEvent]:
    """A reply or a result is nothing but the refusal of the request or of the schema of its tools.

    Not: broken arguments of the agent, a log that holds such a line, an agent that repeats what it was shown.
    """
    by_result = {call.answered: call for call in trial.calls if call.answered is not None}
    for step in trial.steps:
        if step.author not in ("agent", "tool") or step.has_calls or not 0 < len(step.text) <= LONGEST:
            continue
        head = step.text.strip()[:HEAD]
        why = (IN_REPLY if step.author == "agent" else IN_RESULT).search(head) if REFUSED.search(head) else None
        if why is None:
            continue
        if step.author == "tool":
            call = by_result.get(step.index)
            if call is None or shows_texts(call.name):
                continue
            if any(value and value in why.group() for _, value in call.values):
                continue
        elif head.strip("\"'`*. ")[:80] in trial.seen_before(step.index):  # it repeats what it was shown
            continue
        yield TrialEvent(
            steps=(step.index,),
            span=head,
            sentence=say(
                "The request was refused, so the agent never had its say: {text}", text=head.split("\n", 1)[0][:120]
            ),
        )
        return
