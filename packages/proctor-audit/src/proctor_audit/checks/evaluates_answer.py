"""Send an expression in place of the answer, a function, and a call of a name that only the worker knows."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.answers import PROBE, AnswerVerdicts, AuditAnswer
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding, FindingClass
from proctor_audit.golds import NOT_FILLED, passing, passing_gold
from proctor_audit.variants import single_text

WHOLE = re.compile(r"-?\d{1,15}")
WrittenValue = tuple[str, str, str]  # with the value of the target, with another one, and without any


@check(
    group="A6",
    cls="proved",
    needs=("scorer", "user_code"),
    title=say("The scorer runs what a model wrote, or takes an expression for its value."),
)
def evaluates_answer(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose scorer runs a call or a function (proved), or that an expression passes while others fail (likely).

    Only of scorers of users.
    """
    for sample in audit.drawn:
        text = single_text(sample)
        if text is None or passing_gold(audit, sample) is None:
            continue
        call = AuditAnswer(text=f"{PROBE}({int(text) if WHOLE.fullmatch(text) else text!r})")
        verdicts = audit.score(sample, call)
        if verdicts.ran:
            yield audit.found(
                say("the scorer runs {expression}", expression=repr(call.text)),
                sample,
                witness={"attempts": [attempt(sample, call, verdicts)]},
            )
            continue
        for cls, written in _written(text):
            answer, *controls = (AuditAnswer(text=expression) for expression in written)
            passed = passing(audit, sample, answer)
            others = [(control, audit.score(sample, control)) for control in controls] if passed is not None else []
            if passed is None or not all(_fails(verdicts) for _, verdicts in others):
                continue
            yield audit.found(
                say(
                    "{expression} passes as its value does, and {neighbour} fails",
                    expression=repr(answer.text),
                    neighbour=repr(controls[0].text),
                ),
                sample,
                cls=cls,
                witness={"attempts": [passed, *(attempt(sample, control, verdicts) for control, verdicts in others)]},
            )
            break


def _fails(verdicts: AnswerVerdicts) -> bool:
    counted = verdicts.without(NOT_FILLED)
    return bool(counted.failed) and not counted.passed


def _written(text: str) -> tuple[tuple[FindingClass, WrittenValue], ...]:
    """Return a target as a function, which no calculator takes, and as an expression; neither holds it as a word."""
    functions: WrittenValue
    expressions: WrittenValue
    if WHOLE.fullmatch(text):
        value = int(text) - 7
        functions = (f"(lambda n:n+9-2)({value})", f"(lambda n:n+9-3)({value})", f"(lambda n:n+9-2)({value}")
        expressions = (f"{value}+9-2", f"{value}+9-3", f"{value}+9-2)")
    else:
        cut = max(1, len(text) // 2)
        first, rest, other = repr(text[:cut]), repr(text[cut:]), repr(f"{text[cut:]}x")
        functions = (f"(lambda s:s+{rest})({first})", f"(lambda s:s+{other})({first})", f"(lambda s:s+{rest})({first}")
        expressions = (f"{first}+{rest}", f"{first}+{other}", f"{first}-{rest}")
    return ("proved", functions), ("likely", expressions)
