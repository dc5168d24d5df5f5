"""Write the target as the schema demands, and see whether the scorer rejects it."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit
from proctor_audit.calls import gold_calls, tools_of
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import failing, passing_gold
from proctor_audit.variants import calls_answer, plain_calls

MOST_TRIED = 100  # ways to write the enumerations of one sample
LEFT_OUT = object()

WrittenCall = tuple[str, Mapping[str, Any]]


@check(
    group="A4",
    cls="proved",
    needs=("scorer",),
    title=say("The target written as the schema demands is rejected by the scorer."),
)
def schema_answer_fails(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples of which no accepted value is a member of its enumeration, and each member of such a text is rejected."""
    for sample in audit.samples:
        if plain_calls(sample) is None:
            continue
        written = [*_written(sample)]
        gold = passing_gold(audit, sample) if written else None
        rejected = _rejected(audit, sample, written) if gold is not None else []
        if gold is None or not rejected:
            continue
        every = [*_written(sample, every=True)]
        further = _rejected(audit, sample, every) if len(every) < MOST_TRIED else []
        shown = repr(calls_answer(written[0]).shown[:80])
        yield audit.found(
            say("no call that keeps to its enumerations passes: {answer}", answer=shown)
            if further
            else say("written as the schema demands it is rejected: {answer}", answer=shown),
            sample,
            witness={"attempts": [gold, *(further or rejected)], "unreachable": bool(further)},
        )


def _rejected(audit: Audit, sample: Sample, ways: Sequence[Sequence[WrittenCall]]) -> list[dict[str, object]]:
    """Return the attempts if all of these ways to write the calls are rejected, else nothing."""
    attempts = []
    for calls in ways:
        rejected = failing(audit, sample, calls_answer(calls))
        if rejected is None:
            return []
        attempts.append(rejected)
    return attempts


def _written(sample: Sample, *, every: bool = False) -> Iterator[list[WrittenCall]]:
    """Yield the expected calls in each way that keeps their enumerations; nothing where what is accepted keeps them.

    Args:
        every: with each member, and without an argument that is not required, in place of the members of the same text.
    """
    schemas = {tool.name: tool.parameters for tool in tools_of(sample)}
    slots = [
        (number, name, _members(call.arguments[name], name, schemas.get(call.name, {}), every=every))
        for number, call in enumerate(gold_calls(sample))
        for name in call.first
    ]
    changed = [(number, name, values) for number, name, values in slots if values is not None]
    calls = plain_calls(sample) or []
    ways = itertools.product(*(values for _, _, values in changed))
    for chosen in itertools.islice(ways, MOST_TRIED) if changed else ():
        written = [(name, {**given}) for name, given in calls]
        for (number, name, _), value in zip(changed, chosen, strict=True):
            if value is LEFT_OUT:
                del written[number][1][name]
            else:
                written[number][1][name] = value
        yield [*written]


def _members(
    accepted: Sequence[object], name: str, parameters: Mapping[str, Any], *, every: bool
) -> list[object] | None:
    """Return the members of an enumeration to write in place of accepted values that are none; None where one of them is."""
    schema = parameters.get("properties", {}).get(name)
    members = schema.get("enum") if isinstance(schema, Mapping) else None
    if not isinstance(members, list):
        return None
    kept = [value for value in accepted if value in members]
    if kept:
        return None if accepted[0] in members else kept
    if every:
        return [*members, *([] if name in parameters.get("required", ()) else [LEFT_OUT])]
    texts = {str(value).casefold() for value in accepted}
    return [member for member in members if str(member).casefold() in texts]
