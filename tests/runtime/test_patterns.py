"""Patterns that are compiled when they are first used."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from proctor_judging import matching as answer_matching
from proctor_judging.matching.patterns import LatePattern, compile_later


def test_it_does_what_a_compiled_pattern_does() -> None:
    late, now = (make(r"(a)(\d)?", re.IGNORECASE) for make in (compile_later, re.compile))
    text = "A1 b a2 a"
    assert [found.span() for found in late.finditer(text)] == [found.span() for found in now.finditer(text)]
    assert late.findall(text) == now.findall(text)
    assert late.split(text) == now.split(text)
    assert late.sub("-", text, count=1) == now.sub("-", text, count=1)
    assert late.subn("-", text) == now.subn("-", text)
    assert (late.match("b"), late.fullmatch("b"), late.search("b", 1)) == (None, None, None)


def test_a_wrong_one_is_found_when_it_is_used() -> None:
    late = compile_later("(")
    with pytest.raises(re.error):
        late.search("a")


def patterns_in(value: object) -> Iterator[LatePattern]:
    if isinstance(value, LatePattern):
        yield value
    elif isinstance(value, tuple | list | set | frozenset | dict):
        for inner in [*value.values(), *value] if isinstance(value, dict) else value:
            yield from patterns_in(inner)


def test_all_of_the_answer_rules_can_be_compiled() -> None:
    names = (module.name for module in pkgutil.walk_packages(answer_matching.__path__, "proctor_judging.matching."))
    values = (value for name in names for value in vars(import_module(name)).values())
    late = [pattern for value in values for pattern in patterns_in(value)]
    assert len({*map(id, late)}) >= 850
    for one in late:
        assert one.compiled.pattern == one.pattern
