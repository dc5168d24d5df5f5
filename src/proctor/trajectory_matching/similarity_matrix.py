"""The similarities of all pairs of many calls at once, with numpy: argument by argument, not pair by pair.

They are those of `closeness`. An argument that no rule of a call speaks of only adds to what is counted; for the others
every value that is expected is compared with every value that was given, each once.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import msgspec

from proctor.core.sample import ToolCall
from proctor.trajectory_matching.arguments import ABSENT, Rules, arguments_of, canonical, counts, is_number, right
from proctor.trajectory_matching.expectation import ExpectedCall

EXACT = 2**53  # whole numbers up to it are the same as floats
COMPARING = {"tolerance", "absolute"}  # the matchers that look at the value that is expected


def similarities(calls: Sequence[ExpectedCall], made: Sequence[ToolCall], rules: Rules) -> Sequence[Sequence[float]]:
    """The table; of calls for which others do as well, the best of them."""
    numpy = import_module("numpy")
    given = _Given(numpy, made, rules)
    table = _table(numpy, calls, given, rules)
    for number in range(max((len(call.either) for call in calls), default=0)):
        others = [call.either[number] if number < len(call.either) else call for call in calls]
        table = numpy.maximum(table, _table(numpy, others, given, rules))
    rows: Sequence[Sequence[float]] = table
    return rows


class _Given:
    """The arguments of the made calls: which calls have one, and its different values."""

    def __init__(self, numpy: Any, made: Sequence[ToolCall], rules: Rules) -> None:
        self.names = numpy.array([one.name for one in made], dtype=object)
        read = [arguments_of(one) for one in made]
        self.unreadable = [place for place, one in enumerate(read) if one is None]
        self.calls = [
            {**rules.defaults.get(one.name, {}), **(found or {})} for one, found in zip(made, read, strict=True)
        ]
        self.sizes = numpy.array([len(one) for one in self.calls])
        self._numpy = numpy
        self._columns: dict[str, list[int]] = {}
        for place, one in enumerate(self.calls):
            for key in one:
                self._columns.setdefault(key, []).append(place)

    def values(self, key: str) -> "_Values | None":
        places = self._columns.get(key)
        return None if places is None else _Values(self._numpy, [self.calls[place][key] for place in places], places)


class _Values:
    """The values that calls have for one argument: `places` of the calls, `codes` of their values, the values."""

    def __init__(self, numpy: Any, given: Sequence[Any], places: Sequence[int]) -> None:
        self._numpy = numpy
        self._code: dict[Hashable, int] = {}
        self.values: list[object] = []
        codes = []
        for value in given:
            codes.append(self._code.setdefault(canonical(value), len(self.values)))
            if codes[-1] == len(self.values):
                self.values.append(value)
        self.places, self.codes = numpy.array(places), numpy.array(codes)

    def fits(self, asked: Sequence["_Asked"], tolerance: float) -> Iterator[Any]:
        """For each call that asks something, for each value whether it is as it should be."""
        known: dict[Hashable, Any] = {}
        for one in asked:
            key = one.key
            if key not in known:
                known[key] = self._right(one, tolerance)
            yield known[key]

    def _right(self, asked: "_Asked", tolerance: float) -> Any:
        fits = self._numpy.zeros(len(self.values), dtype=bool)
        if not asked.seen:
            return fits
        if asked.matcher is None and not tolerance:
            code = self._code.get(canonical(asked.expected)) if asked.expected is not ABSENT else None
            if code is not None:
                fits[code] = True
        elif (allowed := _allowed(asked, tolerance)) is not None and self._numbers is not None:
            with self._numpy.errstate(invalid="ignore", over="ignore"):
                away = abs(self._numbers - asked.expected)
                fits |= (self._numbers == asked.expected) | (away <= allowed)
        else:
            fits[:] = [right(asked.expected, value, asked.matcher, tolerance) for value in self.values]
        return fits

    @cached_property
    def _numbers(self) -> Any:
        """The values as floats, those that are none as NaN; None where floats do not hold them."""
        numbers = [value if is_number(value) else math.nan for value in self.values]
        if any(isinstance(one, int) and abs(one) > EXACT for one in numbers):
            return None
        return self._numpy.array(numbers, dtype=float)


class _Asked(msgspec.Struct, frozen=True):
    """What a call asks of one argument. seen, missed: whether it counts where a made call has it, and where not."""

    place: int
    expected: Any
    matcher: object
    seen: bool
    missed: bool

    @property
    def key(self) -> Hashable:
        """The same for what the same values fit."""
        compares = self.matcher is None or (isinstance(self.matcher, Mapping) and COMPARING & self.matcher.keys())
        value = canonical(self.expected) if compares and self.expected is not ABSENT else None
        return self.seen, self.expected is ABSENT, value, canonical(self.matcher)


def _table(numpy: Any, calls: Sequence[ExpectedCall], given: _Given, rules: Rules) -> Any:
    # where a call says nothing of an argument, it counts or not by the policy alone, and is never right
    extra = numpy.array([counts(ABSENT, None, None, rules.policy_for(call)) for call in calls], dtype=numpy.int32)
    counted = extra[:, None] * given.sizes[None, :]
    fitting = numpy.zeros_like(counted)
    for key, asked in _asked(calls, rules).items():
        rows = numpy.array([one.place for one in asked])
        seen = numpy.array([one.seen for one in asked], dtype=numpy.int32)
        missed = numpy.array([one.missed for one in asked], dtype=numpy.int32)
        counted[rows] += missed[:, None]
        values = given.values(key)
        if values is not None:
            cells = numpy.ix_(rows, values.places)
            counted[cells] += (seen - missed - extra[rows])[:, None]
            fitting[cells] += numpy.array(list(values.fits(asked, rules.tolerance)))[:, values.codes]
    table = numpy.where(counted > 0, fitting / numpy.maximum(counted, 1), 1.0)
    table[numpy.array([call.name for call in calls], dtype=object)[:, None] != given.names[None, :]] = 0.0
    table[:, given.unreadable] = 0.0
    return table


def _asked(calls: Sequence[ExpectedCall], rules: Rules) -> Mapping[str, list[_Asked]]:
    """What is asked of every argument, by the calls that say something of it."""
    found: dict[str, list[_Asked]] = {}
    for place, call in enumerate(calls):
        wanted = {**rules.defaults.get(call.name, {}), **(call.arguments or {})}
        policy = rules.policy_for(call)
        general = [name.removeprefix(f"{call.name}.") for name in (*rules.match, *rules.ignore)]
        for key in dict.fromkeys((*wanted, *call.match, *rules.match, *rules.ignore, *general)):
            expected, matcher = wanted.get(key, ABSENT), rules.matcher_for(call, key)
            missed = (key in wanted or key in call.match) and counts(expected, ABSENT, matcher, policy)
            seen = counts(expected, None, matcher, policy)
            found.setdefault(key, []).append(_Asked(place, expected, matcher, seen, missed))
    return found


def _allowed(asked: _Asked, tolerance: float) -> float | None:
    """How far a number may be from the one that is expected; None where that is not all that is asked."""
    expected, matcher = asked.expected, asked.matcher
    if not is_number(expected) or (isinstance(expected, int) and abs(expected) > EXACT):
        return None
    if matcher is None:
        return float(tolerance * abs(expected))
    if isinstance(matcher, Mapping) and len(matcher) == 1 and COMPARING & matcher.keys():
        ((word, share),) = matcher.items()
        return float(share) * (abs(expected) if word == "tolerance" else 1.0)
    return None
