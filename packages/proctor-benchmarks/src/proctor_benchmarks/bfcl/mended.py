"""Answers that also accept what their own schema demands, and the official rule on them: `--set mended=true`.

Two faults are beyond doubt, and mended by rule: an array of `float` whose whole numbers are rejected when written as 5 for 5.0, and an
argument whose schema lists texts, of which the official answer accepts none, although one of them is its very value (`False` for
"False"). Nothing is taken away: what the official answer accepts is accepted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from proctor.core.declared import scorer
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.trajectory import Trajectory
from proctor_benchmarks.bfcl.calls import first
from proctor_benchmarks.bfcl.checker import BREAKS, Answer, CheckerRules, Document, call_fault, document_of
from proctor_benchmarks.bfcl.scorer import VERSION, bfcl

ARRAYS = ("array", "tuple")
RULES = CheckerRules("python", underscores=False)


class BfclMend(msgspec.Struct, frozen=True, kw_only=True):
    """An argument for which a mended answer accepts more; `witness` names the check of an audit that shows the fault."""

    argument: str
    accepts: list[object]
    witness: Literal["int-float", "schema-answer-fails"]


@scorer(version=f"{VERSION}, mended 1")
def bfcl_mended(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """Return the official score of a sample by its mended answers, where it has some."""
    return bfcl(replace(sample, target=sample.meta.get("mended", sample.target)), trajectory)


def mend_sample(sample: Sample) -> Sample:
    """Return the sample with its mended answers next to the official ones, where they have a fault."""
    functions, category = sample.meta.get("functions"), sample.meta.get("category", "")
    if functions is None or not sample.target or "java" in category:  # whose values are source code
        return sample
    answers, mends = mend(functions, sample.target)
    return (
        replace(sample, meta={**sample.meta, "mended": answers, "mends": msgspec.to_builtins(mends)})
        if mends
        else sample
    )


def mend(functions: Sequence[Document], answers: Sequence[Answer]) -> tuple[list[Answer], list[BfclMend]]:
    """Return answers that accept each form of a value that its schema demands and the official rule rejects, and what was mended."""
    mended: list[Answer] = []
    mends: list[BfclMend] = []
    for answer in answers:
        function, allowed = first(answer)
        document = document_of(functions, answer)
        if document is None:
            mended.append(answer)
            continue
        for argument, witness, forms in _forms(document, allowed):
            wider = {**allowed, argument: [*allowed[argument], *forms]}
            if all(_is_fault(document, answer, {function: wider}, argument, form) for form in forms):
                allowed = wider
                mends.append(BfclMend(argument=f"{function}.{argument}", accepts=forms, witness=witness))
        mended.append({function: allowed})
    return mended, mends


def _forms(
    document: Document, allowed: Mapping[str, Sequence[object]]
) -> Iterator[tuple[str, Literal["int-float", "schema-answer-fails"], list[Any]]]:
    """Yield the arguments of an answer with the forms of their values that the schema allows and the answer may reject."""
    schemas = document["parameters"]["properties"]
    for argument, values in allowed.items():
        schema = schemas.get(argument, {})
        members = schema.get("enum")
        if schema.get("type") in ARRAYS and schema.get("items", {}).get("type") == "float":
            lists = [value for value in values if isinstance(value, list) and value]
            forms = [[_whole(number) for number in value] for value in lists]
            if repr(forms) != repr(lists):
                yield argument, "int-float", forms
        elif schema.get("type") == "string" and isinstance(members, list) and not any(v in members for v in values):
            texts = {str(value).casefold() for value in values if value != ""}
            named = [member for member in members if isinstance(member, str) and member.casefold() in texts]
            if named:
                yield argument, "schema-answer-fails", named


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_fault(document: Document, answer: Answer, wider: Answer, argument: str, form: object) -> bool:
    """True if the official rule accepts the values of an answer and rejects one of them in another form, which the wider answer mends."""
    function, allowed = first(answer)
    values = {name: next((value for value in options if value != ""), "") for name, options in allowed.items()}
    given = {name: value for name, value in values.items() if "" not in allowed[name] or name == argument}
    call, changed = {function: given}, {function: {**given, argument: form}}
    try:
        faults = [
            call_fault(document, each, by, RULES) for each, by in ((call, answer), (changed, answer), (changed, wider))
        ]
    except BREAKS:
        return False
    return faults[0] is None and faults[1] is not None and faults[2] is None
