"""Whether the arguments of a call are those expected, argument by argument, and how far they are.

Values are compared as JSON: `1` equals `1.0`, but neither `true` nor `"1"`; the order of keys is irrelevant, that of a
list counts. An argument that is left out counts as the default of the tool's schema, where it has one.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec

from proctor.core.errors import BadInput
from proctor.core.sample import ToolCall
from proctor.runtime.pattern_search import TooSlow, checked, search
from proctor.trajectory_matching.expectation import ExpectedCall, Policy

ABSENT = object()
MATCHERS = ("any", "ignore", "regex", "tolerance", "absolute", "one_of", "schema", "function")


def check_matchers(*references: object, where: object, allow_code: bool = False) -> None:
    """Refuse matchers that run a function, unless the user allowed what a data file names, and those whose package is missing.

    Raises:
        BadInput: names the function.
        MissingExtra: a matcher `schema` needs what is not installed.
    """
    for reference in references:
        for word, name in _matchers(reference):
            if word == "schema":
                _schema_matcher()
            if word != "function" or allow_code:
                continue
            raise BadInput(
                "{where}: a matcher runs code that the file names: {function}. Look at it, then allow it with --set allow_code=true.",
                where=where,
                function=name,
            )


def _matchers(value: object, *, in_match: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the matchers in a reference by their word; arguments are only compared, so nothing in them is one."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _matchers(item, in_match=in_match)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if in_match and key in ("function", "schema"):
                yield key, str(inner)
            elif key == "match" and isinstance(inner, Mapping):  # by argument, one of which may be called `function`
                yield from _matchers([*inner.values()], in_match=True)
            elif key != "arguments":
                yield from _matchers(inner, in_match=in_match)


class ArgumentRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules for comparing arguments.

    policy: `equal`; `subset`, some may be left out; `superset`, others may be added; `ignore`, only names count.
    ignore: arguments that never count, as `argument` or `tool.argument`. tolerance: the relative difference that numbers
    may have. match: matchers by `argument` or `tool.argument`. defaults: by tool, from its schema.
    """

    policy: Policy = "equal"
    policy_of: Mapping[str, Policy] = {}
    ignore: frozenset[str] = frozenset()
    tolerance: float = 0.0
    match: Mapping[str, object] = {}
    defaults: Mapping[str, Mapping[str, object]] = {}

    def plain(self, call: ExpectedCall) -> bool:
        """True if a call is matched by equal arguments alone, so that equal calls can be counted."""
        return self.policy_for(call) == "equal" and not (self.tolerance or self.match or call.match or call.either)

    def policy_for(self, call: ExpectedCall) -> Policy:
        """Return the policy of a call."""
        return call.policy or self.policy_of.get(call.name, self.policy)

    def matcher_for(self, call: ExpectedCall, key: str) -> object:
        """Return the matcher of an argument: "ignore" if it never counts, None if it has to be equal."""
        if self.ignore and (key in self.ignore or f"{call.name}.{key}" in self.ignore):
            return "ignore"
        return call.match.get(key, self.match.get(f"{call.name}.{key}", self.match.get(key)))


class ArgumentFault(msgspec.Struct, frozen=True, kw_only=True):
    """One argument that is not as expected; ABSENT on the side that does not give it, None for `null`."""

    kind: str
    argument: str
    expected: object = ABSENT
    made: object = ABSENT


class Closeness(msgspec.Struct, frozen=True, kw_only=True):
    """How near a call comes to an expected one: 1 exactly when it matches, 0 when nothing of it is right."""

    similarity: float
    faults: tuple[ArgumentFault, ...] = ()


def closeness(call: ExpectedCall, made: ToolCall, rules: ArgumentRules) -> Closeness:
    """Compare a call with an expected one, or with the closest of its accepted alternatives."""
    options = [_closeness(option, made, rules) for option in (call, *call.either)]
    return max(options, key=lambda one: one.similarity)


def key_of(name: str, arguments: Mapping[str, object], rules: ArgumentRules) -> Hashable:
    """Return a key that two calls share exactly if they are equal under plain rules."""
    full = {**rules.defaults.get(name, {}), **arguments} if rules.defaults else arguments
    return name, frozenset((key, canonical(full[key])) for key in full if not _ignored(name, key, rules))


def canonical(value: object) -> Hashable:
    """Return a value that can be looked up, equal for equal JSON.

    >>> canonical({"a": [1]}) == canonical({"a": [1.0]}), canonical(1) == canonical(True)
    (True, False)
    """
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | float):
        return ("number", value) if value == value else object()  # noqa: PLR0124 - NaN equals nothing
    if isinstance(value, Mapping):
        return frozenset((key, canonical(entry)) for key, entry in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(canonical, value))
    return ("other", repr(value))


def arguments_of(made: ToolCall) -> Mapping[str, object] | None:
    """Return the arguments of a made call; None where they are no JSON object. Nothing, and `null`, is an empty one."""
    if made.raw is None:
        return made.arguments
    return {} if made.raw.strip() in ("", "null") else None


def _closeness(call: ExpectedCall, made: ToolCall, rules: ArgumentRules) -> Closeness:
    arguments = arguments_of(made)
    if call.name != made.name:
        return Closeness(similarity=0.0)
    if arguments is None:
        return Closeness(similarity=0.0, faults=(ArgumentFault(kind="format_error", argument="", made=made.raw),))
    defaults = rules.defaults.get(call.name, {})
    wanted, given = {**defaults, **(call.arguments or {})}, {**defaults, **arguments}
    policy = rules.policy_for(call)
    counted, faults = 0, []
    for key in dict.fromkeys((*wanted, *given, *call.match)):
        matcher = rules.matcher_for(call, key)
        expected, got = wanted.get(key, ABSENT), given.get(key, ABSENT)
        if not counts(expected, got, matcher, policy):
            continue
        counted += 1
        if not right(expected, got, matcher, rules.tolerance):
            faults.append(_fault(key, expected, got, matcher))
    return Closeness(similarity=(counted - len(faults)) / counted if counted else 1.0, faults=tuple(faults))


def counts(expected: object, got: object, matcher: object, policy: Policy) -> bool:
    """True if one argument is looked at; `expected` and `got` are ABSENT where a call does not have it."""
    if policy == "ignore" or matcher == "ignore":
        return False
    if got is ABSENT:
        return policy != "subset" and not (expected is ABSENT and matcher is None)
    return not (expected is ABSENT and matcher is None and policy == "superset")


def right(expected: object, got: object, matcher: object, tolerance: float) -> bool:
    """True if one argument is as it should be.

    Raises:
        BadInput: there is no such matcher.
    """
    if got is ABSENT or (expected is ABSENT and matcher is None):
        return False
    if matcher is None:
        return same(expected, got, tolerance)
    if matcher == "any":
        return True
    if callable(matcher):
        return bool(matcher(got))
    if isinstance(matcher, Mapping) and len(matcher) == 1:
        word, value = next(iter(matcher.items()))
        if word in _BY_WORD:
            return _BY_WORD[word](value, expected, got)
    raise BadInput("{matcher} is no matcher. Known: {known}.", matcher=repr(matcher), known=", ".join(MATCHERS))


def same(one: object, other: object, tolerance: float = 0.0) -> bool:
    """True if two values are equal as JSON; numbers may differ by a relative tolerance."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return _near(one, other, tolerance, one) if tolerance else one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key], tolerance) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(*pair, tolerance) for pair in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


def _ignored(name: str, key: str, rules: ArgumentRules) -> bool:
    return bool(rules.ignore) and (key in rules.ignore or f"{name}.{key}" in rules.ignore)


def _fault(key: str, expected: object, got: object, matcher: object) -> ArgumentFault:
    if got is ABSENT:
        return ArgumentFault(kind="missing_param", argument=key, expected=matcher if expected is ABSENT else expected)
    if expected is ABSENT and matcher is None:
        return ArgumentFault(kind="wrong_param_name", argument=key, made=got)
    return ArgumentFault(
        kind="wrong_param_value", argument=key, expected=expected if matcher is None else matcher, made=got
    )


def _regex(pattern: object, expected: object, got: object) -> bool:  # noqa: ARG001 - as the others
    return isinstance(got, str) and _found(str(pattern), got)


@lru_cache(maxsize=1_024)  # a slow one is looked for once
def _found(pattern: str, text: str) -> bool:
    try:
        return search(checked(pattern), text) is not None
    except TooSlow:
        return False


def _relative(value: Any, expected: object, got: object) -> bool:
    return _near(expected, got, float(value), expected)


def _absolute(value: Any, expected: Any, got: Any) -> bool:
    return _near(expected, got, float(value), 1)


def _near(expected: Any, got: Any, share: float, of: Any) -> bool:
    if not (is_number(expected) and is_number(got)):
        return False
    try:
        return bool(got == expected or abs(got - expected) <= share * abs(of))
    except OverflowError:  # a whole number beyond every float
        return False


def is_number(value: object) -> bool:
    """True for a number, which `true` is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _function(name: Any, expected: object, got: Any) -> bool:  # noqa: ARG001 - as the others
    from proctor.registry import load_object

    return bool(load_object(str(name), "match")(got))


def _fits(schema: object, expected: object, got: object) -> bool:  # noqa: ARG001 - as the others
    return _schema_matcher()(schema, got)


@cache  # looking for it takes as long as using it
def _schema_matcher() -> Callable[[object, object], bool]:
    from proctor.registry import offered

    fits: Callable[[object, object], bool] = offered("matchers", "schema", needed_for="match: schema")
    return fits


_BY_WORD: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "regex": _regex,
    "tolerance": _relative,
    "absolute": _absolute,
    "one_of": lambda values, _, got: any(same(value, got) for value in values),
    "schema": _fits,
    "function": _function,
}
