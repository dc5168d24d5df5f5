"""Write the target as the schema demands, and see whether the scorer rejects it."""

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.audit import Audit, attempt
from proctor_audit.calls import tools_of
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import passing_gold
from proctor_audit.variants import calls_answer, plain_calls


@check(
    group="A4",
    cls="proved",
    needs=("samples", "scorer"),
    cost="scorer",
    title=say("The target written as the schema demands is rejected by the scorer."),
)
def schema_answer_fails(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose expected value is no member of an enumeration, and whose member of that text is rejected."""
    for sample in audit.samples:
        written = _as_demanded(sample)
        gold = passing_gold(audit, sample) if written is not None else None
        if written is None or gold is None:
            continue
        answer = calls_answer(written)
        verdicts = audit.score(sample, answer)
        if verdicts.failed:
            without = calls_answer(_left_out(sample, written))
            others = audit.score(sample, without)
            is_lost = bool(others.failed)
            shown = repr(answer.shown[:80])
            rejected = say("written as the schema demands it is rejected: {answer}", answer=shown)
            yield audit.found(
                say("no call that fits the schema passes: {answer}", answer=shown) if is_lost else rejected,
                sample,
                witness={
                    "attempts": [gold, attempt(sample, answer, verdicts), attempt(sample, without, others)],
                    "unreachable": is_lost,
                },
            )


def _left_out(sample: Sample, written: list[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls without the arguments that were written otherwise."""
    return [
        (name, {key: value for key, value in arguments.items() if repr(value) == repr(given.get(key))})
        for (name, arguments), (_, given) in zip(written, plain_calls(sample) or [], strict=False)
    ]


def _as_demanded(sample: Sample) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return the expected calls with each value as its enumeration writes it; None where nothing changes."""
    calls = plain_calls(sample)
    if calls is None:
        return None
    schemas = {tool.name: tool.parameters.get("properties", {}) for tool in tools_of(sample)}
    demanded: list[tuple[str, Mapping[str, Any]]] = [
        (name, {key: _member(schemas.get(name, {}).get(key), value) for key, value in arguments.items()})
        for name, arguments in calls
    ]
    return demanded if repr(demanded) != repr([(name, {**arguments}) for name, arguments in calls]) else None


def _member(schema: object, value: Any) -> Any:
    members = schema.get("enum") if isinstance(schema, Mapping) else None
    if not isinstance(members, list) or value in members:
        return value
    return next((member for member in members if str(member).casefold() == str(value).casefold()), value)
