"""Permute a target that is declared unordered."""

import json
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.sentence import say
from proctor.trajectory_matching.expectation import expected_of
from proctor.trajectory_matching.options import options_of
from proctor_audit.answers import AuditAnswer
from proctor_audit.audit import Audit
from proctor_audit.check import check
from proctor_audit.findings import AuditFinding
from proctor_audit.golds import failing, passing
from proctor_audit.variants import calls_answer, plain_calls, structured_target

ALL_UP_TO = 4
DRAWN = 24


@check(
    group="A3",
    cls="proved",
    needs=("scorer",),
    title=say("The target is declared unordered, and a permutation of it fails."),
)
def order_of_calls(audit: Audit) -> Iterator[AuditFinding]:
    """Yield samples declared unordered whose own target fails in another order."""
    is_any_order = any(scorer.name in ("trajectory:any_order", "adk:any_order") for scorer in audit.scorers)
    for sample in audit.by_text:
        calls = plain_calls(sample)
        listed = structured_target(sample)
        value = calls if calls is not None else listed if isinstance(listed, list) else None
        by_scorer = is_any_order and calls is not None
        if value is None or len(value) < 2 or not (_is_unordered(sample) or by_scorer) or _has_order(sample):
            continue
        gold = passing(audit, sample, _written(value, is_calls=calls is not None))
        for order in _orders(audit, sample.id, len(value)) if gold is not None else ():
            moved = _written([value[index] for index in order], is_calls=calls is not None)
            rejected = failing(audit, sample, moved)
            if rejected is not None:
                yield audit.found(
                    say("the target passes, and in another order it fails"),
                    sample,
                    witness={"attempts": [gold, rejected]},
                )
                break


def _written(value: list[Any], *, is_calls: bool) -> AuditAnswer:
    return calls_answer(value) if is_calls else AuditAnswer(text=json.dumps(value, ensure_ascii=False))


def _is_unordered(sample: Sample) -> bool:
    references = [turn.reference for turn in sample.turns if isinstance(turn.reference, dict)]
    orders = [each.get("order") for each in (sample.meta, *references)]
    return sample.meta.get("unordered") is True or "any_order" in orders


def _has_order(sample: Sample) -> bool:
    """True if the sample says that some calls come before others, whatever else it or the scorer declares."""
    references = [turn.reference for turn in sample.turns if turn.reference is not None] or [sample.target]
    try:
        options = options_of(sample)
        expected = [expected_of(reference) for reference in references]
    except BadInput:  # another form, which has no such rules
        return False
    return bool(options.before or options.needs) or any(
        each.before or each.needs or each.order not in (None, "any_order") for each in expected
    )


def _orders(audit: Audit, id: str, count: int) -> list[tuple[int, ...]]:
    if count <= ALL_UP_TO:
        return [*permutations(range(count))][1:]
    draw = audit.draw(f"order {id}")
    return [tuple(draw.sample(range(count), count)) for _ in range(DRAWN)]
