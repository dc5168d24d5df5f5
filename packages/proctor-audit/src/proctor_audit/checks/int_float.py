"""Send the same number in the other form."""

from collections.abc import Iterator, Mapping

from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.calls import tools_of
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import failing, passing
from proctor_audit.variants import calls_answer, other_number_forms, plain_calls, structured_target
from proctor_audit.wording import text_of_target


@check(
    group="A3",
    cls="proved",
    needs=("scorer",),
    title=say("The same number in the other form (5 for 5.0) is rejected, while the schema or the type says number."),
)
def int_float(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples whose target passes with 5.0 and fails with 5, or the reverse where a schema says number."""
    for sample in audit.by_text:
        forms = _forms(sample)
        same = passing(audit, sample, forms[0]) if forms is not None else None
        rejected = failing(audit, sample, forms[1]) if forms is not None and same is not None else None
        if forms is not None and rejected is not None:
            yield audit.found(
                say("the same numbers in the other form are rejected: {answer}", answer=repr(forms[1].shown[:80])),
                sample,
                witness={"attempts": [same, rejected]},
            )


def _forms(sample: Sample) -> tuple[AuditAnswer, AuditAnswer] | None:
    """Return the target with its own numbers and with the other form of them, in all else written alike."""
    calls = plain_calls(sample)
    if calls is not None:
        numbers = {tool.name: _number_parameters(tool.parameters) for tool in tools_of(sample)}
        changed = []
        for name, given in calls:
            others = {
                key: other_number_forms(given[key], both_ways=True) for key in numbers.get(name, ()) if key in given
            }
            changed.append((name, {**given, **others}))
        is_changed = repr(changed) != repr([(name, {**given}) for name, given in calls])
        return (calls_answer(calls), calls_answer(changed)) if is_changed else None
    value = sample.target if isinstance(sample.target, float) else structured_target(sample)
    other = other_number_forms(value)
    if value is None or repr(other) == repr(value):
        return None
    return AuditAnswer(text=text_of_target(value)), AuditAnswer(text=text_of_target(other))


def _number_parameters(parameters: Mapping[str, object]) -> frozenset[str]:
    """Return the parameters that are numbers, or lists of numbers."""
    properties = parameters.get("properties")
    found = properties.items() if isinstance(properties, Mapping) else ()
    return frozenset(name for name, schema in found if isinstance(schema, Mapping) and _is_number(schema))


def _is_number(schema: Mapping[str, object]) -> bool:
    items = schema.get("items")
    return schema.get("type") == "number" or (
        schema.get("type") == "array" and isinstance(items, Mapping) and _is_number(items)
    )
