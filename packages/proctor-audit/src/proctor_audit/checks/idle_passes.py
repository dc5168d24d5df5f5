"""Do nothing in an environment, and see who gives points for it."""

from collections.abc import Iterator

from proctor.core.sentence import clip, say
from proctor_audit.answers import IDLE
from proctor_audit.audit import Audit, attempt, full_marks
from proctor_audit.check import check
from proctor_audit.expected import expected_calls
from proctor_audit.findings import AuditFinding
from proctor_audit.wording import expects_abstention, is_empty_target


@check(
    group="A1",
    cls="proved",
    needs=("scorer", "environment"),
    title=say("An agent that makes no call earns full points, though the sample expects calls that change something."),
)
def idle_passes(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples that an agent passes by a few words; something to look at where no expected call was seen to change the state.

    A sample whose right answer makes no call is no finding: it counts in the floor.
    """
    for sample in audit.drawn:
        verdicts = audit.score(sample, IDLE)
        scorers = full_marks(verdicts)
        if not scorers:
            continue
        calls = expected_calls(audit, sample)
        expects_none = (
            is_empty_target(sample.target) or expects_abstention(sample) if calls is None else not calls.names
        )
        if expects_none or not audit.is_of_main(scorers, (sample.id, IDLE)):
            continue
        names = () if calls is None else calls.names
        yield audit.found(
            say(
                "nothing is done, and it earns full points under {scorer}; expected: {calls}",
                scorer=", ".join(scorers),
                calls=clip(", ".join(dict.fromkeys(names)), 60) or "-",
            ),
            sample,
            cls=None if calls is not None and calls.writes else "look",
            witness={"attempts": [attempt(sample, IDLE, verdicts)], "expected": list(names)},
        )
