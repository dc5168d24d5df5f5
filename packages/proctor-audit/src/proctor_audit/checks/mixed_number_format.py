"""Find decimal commas and decimal points in one set."""

import re
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import targets_of

READS_NUMBERS = ("number", "by_type", "answer", "math")
COMMA = re.compile(r"[-+]?(?:\d{1,3}(?:[. ]\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))")
POINT = re.compile(r"[-+]?(?:\d{1,3}(?:[, ]\d{3})+\.\d+|\d+\.(?:\d{1,2}|\d{4,}))")


@check(group="A8", cls="likely", title=say("Numbers with a decimal comma and with a decimal point are in one set."))
def mixed_number_format(audit: Audit) -> Iterator[AuditFinding]:
    """Yield one finding that names the samples of the rarer form, where a scorer reads numbers."""
    if not any(scorer.name.partition(":")[0] in READS_NUMBERS or not scorer.inline for scorer in audit.scorers):
        return
    texts = [(sample.id, str(target).strip()) for sample in audit.samples for target in targets_of(sample)[:1]]
    commas = {id: text for id, text in texts if COMMA.fullmatch(text)}
    points = {id: text for id, text in texts if POINT.fullmatch(text)}
    if commas and points:
        yield audit.found(
            say(
                "decimal comma as in {comma}, decimal point as in {point}",
                comma=repr(next(iter(commas.values()))),
                point=repr(next(iter(points.values()))),
            ),
            *([*commas] if len(commas) <= len(points) else [*points]),
            scope="set",
            witness={"comma": commas, "point": points},
        )
