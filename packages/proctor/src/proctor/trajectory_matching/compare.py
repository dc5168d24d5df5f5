"""Compare the calls of one turn with the expected ones: matched, missing, extra, out of order, forbidden, repeated."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import ToolCall
from proctor.core.sentence import Sentence, say
from proctor.trajectory_matching.arguments import ArgumentRules, arguments_of, closeness, key_of
from proctor.trajectory_matching.expectation import ExpectedCall, ExpectedCalls
from proctor.trajectory_matching.pairing import CallPair, How, Pairing

MOST_PAIRS = 4_000_000


class CallComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of the calls of a turn with the expected ones.

    matched: the sum of the similarities of matched pairs, which is their number unless partial credit is given.
    required, optional: expected calls that have to be made; that were made without having to.
    violations: calls that are right but for their place, and broken rules of order. minimum: how many calls do.
    broken: violated rules, for which the turn gets 0. unmet: tools called before those they need. best: False if the order was too wide to find the best pairs.
    """

    calls: tuple[ExpectedCall, ...]
    made: tuple[ToolCall, ...]
    entries: tuple[CallPair, ...]
    matched: float
    required: int
    optional: int
    passed: bool
    violations: int
    repeated: int
    minimum: int
    broken: tuple[Sentence, ...] = ()
    unmet: tuple[Sentence, ...] = ()
    best: bool = True

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 where nothing was expected and nothing made."""
        everything = len(self.made) + self.required + self.optional
        return 2 * self.matched / everything if everything else 1.0


def compare(expected: ExpectedCalls, made: Sequence[ToolCall], how: How | None = None) -> CallComparison:
    """Compare the calls made in a turn with those expected; of several alternatives the one that fits best.

    Raises:
        BadInput: rules of order that go in a circle or name no expected call, or too many calls.
        MissingExtra: a large table of partial similarities without scipy.
    """
    how = how or How()
    comparisons = [
        _compare(calls, made, how)
        for calls in (*_own(expected), *(_inherit(alternative, expected) for alternative in expected.alternatives))
    ]
    best = max(comparisons, key=lambda one: (one.passed, one.f1))
    return msgspec.structs.replace(best, minimum=min(comparison.minimum for comparison in comparisons))


def _own(expected: ExpectedCalls) -> Sequence[ExpectedCalls]:
    return (expected,) if expected.calls is not None or not expected.alternatives else ()


def _inherit(one: ExpectedCalls, parent: ExpectedCalls) -> ExpectedCalls:
    return msgspec.structs.replace(
        one,
        order=one.order or parent.order,
        forbidden=(*parent.forbidden, *one.forbidden),
        needs={**parent.needs, **one.needs},
        most_calls=parent.most_calls if one.most_calls is None else one.most_calls,
        most_calls_of={**parent.most_calls_of, **one.most_calls_of},
    )


def _compare(expected: ExpectedCalls, made: Sequence[ToolCall], how: How) -> CallComparison:
    calls = expected.calls or ()
    if len(calls) * len(made) > MOST_PAIRS:
        raise BadInput("{made} calls against {expected} are too many to compare.", made=len(made), expected=len(calls))
    pairing = Pairing(expected, tuple(made), how)
    forbidden = _forbidden(expected, made, how)
    broken = [
        *(say("forbidden call {call}", call=name) for name in dict.fromkeys(forbidden.values())),
        *_over(expected, made, how),
    ]
    unmet = _unmet({**how.needs, **expected.needs}, made)
    required = [index for index, call in enumerate(calls) if not call.optional]
    full = {index for index, weight in pairing.similarity.items() if weight >= 1}
    exact = (expected.order or how.order) == "exact"
    repeated = _repeated(made, pairing.pairs, how)
    entries = [
        msgspec.structs.replace(entry, kind="forbidden") if entry.kind == "extra" and entry.made in forbidden else entry
        for entry in pairing.entries(repeated)
    ]
    return CallComparison(
        calls=tuple(calls),
        made=tuple(made),
        entries=tuple(entries),
        matched=float(sum(pairing.similarity.values())),
        required=len(required),
        optional=sum(calls[index].optional for index in pairing.pairs),
        passed=full.issuperset(required) and not (broken or unmet) and not (exact and len(full) < len(made)),
        violations=sum(entry.kind == "out of order" for entry in entries) + len(unmet),
        repeated=len(repeated),
        minimum=len(required) if expected.minimum is None else expected.minimum,
        broken=tuple(broken),
        unmet=tuple(unmet),
        best=pairing.best,
    )


def _over(expected: ExpectedCalls, made: Sequence[ToolCall], how: How) -> list[Sentence]:
    """Budgets that were exceeded."""
    sentences = []
    most = how.most_calls if expected.most_calls is None else expected.most_calls
    if most is not None and len(made) > most:
        sentences.append(say("{made} calls, at most {most} are allowed", made=len(made), most=most))
    count = Counter(call.name for call in made)
    for name, limit in {**how.most_calls_of, **expected.most_calls_of}.items():
        if count[name] > limit:
            sentences.append(
                say("{made} calls of {name}, at most {most} are allowed", made=count[name], name=name, most=limit)
            )
    return sentences


def _forbidden(expected: ExpectedCalls, made: Sequence[ToolCall], how: How) -> dict[int, str]:
    """Return the places of forbidden calls, with their tools; a rule with arguments forbids calls that have these among theirs."""
    rules = (*how.forbidden, *expected.forbidden)
    if not rules:
        return {}
    policies = ArgumentRules(policy="superset", tolerance=how.rules.tolerance)
    return {
        index: call.name
        for index, call in enumerate(made)
        if any(fnmatchcase(call.name, rule.name) and _has(rule, call, policies) for rule in rules)
    }


def _has(rule: ExpectedCall, made: ToolCall, rules: ArgumentRules) -> bool:
    if not rule.arguments and not rule.match:
        return True
    return closeness(msgspec.structs.replace(rule, name=made.name), made, rules).similarity >= 1


def _unmet(needs: Mapping[str, str], made: Sequence[ToolCall]) -> list[Sentence]:
    """Tools that were called before the one they need."""
    names = [call.name for call in made]
    return [
        say("{then} was called before {first}", then=then, first=first)
        for then, first in needs.items()
        if then in names and first not in names[: names.index(then)]
    ]


def _repeated(made: Sequence[ToolCall], pairs: Mapping[int, int], how: How) -> dict[int, int]:
    """Unneeded calls of pure tools that repeat an earlier one, with nothing between that could change the result."""
    if not how.pure:
        return {}
    needed, seen, repeated = set(pairs.values()), dict[Hashable, int](), dict[int, int]()
    for index, call in enumerate(made):
        if not any(fnmatchcase(call.name, name) for name in how.pure):
            seen.clear()
            continue
        key = key_of(call.name, arguments_of(call) or {"": call.raw}, how.rules)
        if key in seen and index not in needed:
            repeated[index] = seen[key]
        seen.setdefault(key, index)
    return repeated
