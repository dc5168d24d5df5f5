import ast
from typing import Any

import pytest

from proctor_judging.replies.arithmetic import ExpressionRefused, evaluate


def computed(text: str) -> Any:
    return evaluate(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "text",
    [
        "2 + 3 * 4 - 5 // 2 % 7",
        "10 ** 2 / 3",
        "2 ** -2",
        "(-8) ** 0.5",
        "1 << 4 | 3 & 2 ^ 1 >> 1",
        "2 + -3 + ~4 + (not 0) + +1",
        "'a' + 'b' * 3",
        "'%s and %05.2f' % ('a', 2.5)",
        "'%(a)s' % {'a': 1} + 'x'",
        "[1] * 3 + [2, (3,)]",
        "(1, 2) + (3,)",
        "{1, 2} | {3}",
        "{'a': 1} | {'b': 2}",
        "len('abc') + max(1, 2) + sum([1, 2]) + abs(-1) + round(2.5)",
        "round(2.567, 1) + int('5') + float('1.5')",
        "str(5) + 'a'",
        "list(range(3)) + [9]",
        "sorted([2, 1]) + list((3,))",
        "[1, 2][0] + 1",
        "'abc'[1:] + 'd'",
        "(1 if 2 > 1 else 3) + 1",
        "(0 or 5) + (3 and 4)",
        "(1 < 2 < 3) + (1 in [1]) + (None is None)",
        "'a'.upper() + ', '.join(['b', 'c'])",
        "f'{1}a' + 'b'",
        "int | str",
        "True + 1.5j",
    ],
)
def test_it_computes_what_python_computes(text: str) -> None:
    assert computed(text) == eval(text)


@pytest.mark.parametrize(
    "text",
    [
        "open('x') + 1",
        "x + 1",
        "().__class__",
        "'a'.encode() + b'b'",
        "'{0.__class__}'.format(1)",
        "dict(a=1) | {}",
        "[*range(3)] + []",
        "[y for y in [1]] + []",
        "(lambda: 1) + 1",
        "f'{1:1000000000}' + ''",
        "type('a') + 1",
        "getattr(1, 'real') + 1",
    ],
)
def test_it_refuses(text: str) -> None:
    with pytest.raises(ExpressionRefused):
        computed(text)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "2**400001",
        "'a' * 10**9",
        "10**9 * 'a'",
        "[[0] * 1000] * 1000",
        "1 << 10**9",
        "'%999999d' % 1",
        "'%*d' % (9, 1)",
        "list(range(10**9)) + [1]",
        "('a' in range(10**9)) + 1",
        "round(1, -(10**9)) + 1",
        "','.join(['a' * 10000] * 100) + 'b'",
        "'%(a)s%(a)s%(a)s' % {'a': 'b' * 199999}",
        "+".join(["2**399900 * 3"] * 100),
    ],
)
def test_what_grows_large_is_refused_before_it_is_made(text: str) -> None:
    with pytest.raises(ExpressionRefused):
        computed(text)


def test_large_but_bearable_numbers_are_computed() -> None:
    assert computed("10**400 - 1") == 10**400 - 1


@pytest.mark.parametrize("text", ["1 / 0", "'a' + 1", "{[1]: 2}", "[1][2]", "[1] @ [2]", "10**400 * 1.0", "chr(-1)"])
def test_what_python_cannot_compute_raises_as_in_python(text: str) -> None:
    with pytest.raises((ArithmeticError, TypeError, LookupError, ValueError)):
        computed(text)
