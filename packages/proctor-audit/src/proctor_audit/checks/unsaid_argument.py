"""Read what the user of a sample knows, and see which arguments of the expected writes nothing decides."""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.core.sample import Sample
from proctor.core.sentence import Sentence, clip, say
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.expected import calls_of, played_golds
from proctor_audit.findings import AuditFinding, FindingPrecision
from proctor_audit.playing import PlayedCall, writing_tools
from proctor_audit.unsaid import Categories, categories, script_of, undecided_choice, unsaid_category, unsaid_number

MEASURED = FindingPrecision(
    value=13 / 26,
    low=0.32,
    high=0.68,
    count=26,
    measured_on="airline and retail of tau2-bench 37199f3",
    meaning="changed",
    base=62 / 164,
)


@check(
    group="A4",
    cls="look",
    needs=("scorer", "environment"),
    title=say("An expected write has an argument that neither the user nor an earlier result decides."),
)
def unsaid_argument(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose right answer cannot be known from what is said: another choice would be judged wrong."""
    golds = played_golds(audit)
    writing = writing_tools(calls_of(golds))
    known = categories([played.calls for _, played in golds])
    for sample, played in golds:
        for number, call in enumerate(played.calls):
            sentence = _fault(sample, call, played.calls[:number], known) if call.name in writing else None
            if sentence is not None:
                yield audit.found(sentence, sample, witness={"call": msgspec.to_builtins(call)}, precision=MEASURED)
                break


def _fault(sample: Sample, call: PlayedCall, earlier: Sequence[PlayedCall], known: Categories) -> Sentence | None:
    script = script_of(sample)
    if not script.strip():
        return None
    results = " ".join(each.result for each in earlier)
    for name, value in (*unsaid_number(call, script, results), *unsaid_category(call, script, results, known)):
        return say("nobody says that {argument} of {tool} is {value}", **_shown(call, name, value))
    for name, value in undecided_choice(call, script, earlier):
        return say(
            "nothing decides that {argument} of {tool} is {value} and none of the others", **_shown(call, name, value)
        )
    return None


def _shown(call: PlayedCall, name: str, value: object) -> dict[str, str]:
    return {"argument": name, "tool": call.name, "value": clip(repr(value), 60)}
