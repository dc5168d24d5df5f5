"""Play the right answers, and see which of their calls the environment refuses."""

from collections.abc import Iterator

import msgspec

from proctor.core.sentence import clip, say
from proctor_audit.answers import ORACLE
from proctor_audit.audit import Audit, attempt
from proctor_audit.check import check
from proctor_audit.confirming import fails_outside
from proctor_audit.expected import played_golds
from proctor_audit.findings import AuditFinding, FindingPrecision
from proctor_audit.playing import same_call

MEASURED = FindingPrecision(  # some refusals are meant to be met
    value=9 / 18,
    low=0.29,
    high=0.71,
    count=18,
    measured_on="airline and retail of tau2-bench 37199f3",
    meaning="changed",
    base=62 / 164,
)


@check(group="A4", cls="look", needs=("scorer", "environment"), title=say("The environment refuses an expected call."))
def gold_call_fails(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose right answer makes a call that fails and never succeeds, unless a fault of the environment is part of the sample."""
    for sample, played in played_golds(audit):
        done = [call for call in played.calls if not call.is_error]
        for call in played.calls:
            if call.is_error and not fails_outside(call) and not any(same_call(call, other) for other in done):
                yield audit.found(
                    say("{tool} is refused: {result}", tool=call.name, result=clip(call.result, 80)),
                    sample,
                    witness={"call": msgspec.to_builtins(call), "attempts": [attempt(sample, ORACLE, played)]},
                    precision=MEASURED,
                )
                break
