"""Find questions whose answer changes with the day."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import context_of, question_of

MOVING = re.compile(
    r"\b(?:current(?:ly)?|latest|most recent(?:ly)?|newest|today(?:'s)?|tonight|right now|nowadays|at present|at the moment|so far|to date|as of (?:now|today)"
    r"|this (?:year|month|week|season|quarter)|next (?:year|month|week|election)|last (?:year|month|week)|yesterday|tomorrow|these days)\b"
    r"|目前|当前|现在|如今|今年|今天|今日|本月|本周|最新|最近|现任|去年|明年|昨天|明天|至今|迄今",
    re.IGNORECASE,
)
NOT_TIME = re.compile(
    r"\b(?:electric(?:al)?|ocean|alternating|direct|eddy|induced|magnetic|water|air|strong|sea)[ -]currents?\b|\bcurrents? (?:of|through|in the|flows?|density|source|law|carrying|divider|loop)\b|\bUSA Today\b|\bPsychology Today\b|电流|洋流|气流|水流|现在(?:时|分词|完成)",
    re.IGNORECASE,
)
DATED = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b|\bas of\b|\baccording to\b|\b(?:text|passage|article|document|context|conversation|transcript|paragraph|story|table)\b\s*[:：]|\bin the (?:text|passage|article|document|story|table)\b|\bread\s*[:：]|[“\"'‘][^“”\"']{25,}|截至|根据|文中|材料|上文|短文|下文",
    re.IGNORECASE,
)
WORLD = re.compile(
    r"\b(?:who|which|what|when|where|how (?:many|much|old|tall|high|large|long)|name the)\b|谁|哪|什么|多少|几",
    re.IGNORECASE,
)


@check(group="A8", cls="look", title=say("The answer moves with the day, and no date or source is given."))
def moving_date(audit: Audit) -> Iterator[AuditFinding]:
    """Yield questions about a fact of the world that hold now, today or this year, without a date or a text to read."""
    for sample in audit.samples:
        if any(turn.tools for turn in sample.turns) or sample.meta.get("files"):
            continue
        question, context = question_of(sample), context_of(sample)
        said = NOT_TIME.sub(" ", question)
        match = MOVING.search(said)
        if match is not None and WORLD.search(said) and not DATED.search(question) and not DATED.search(context):
            yield audit.found(
                say("{words} has no date in the question", words=repr(match[0])), sample, witness={"span": match[0]}
            )
