"""Laws of the answer matcher: it never raises, takes bounded time, and knows numbers however they are written."""

import time
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor_judging.scorers.answer import AnswerOptions, final_answer, match
from proctor_judging.scorers.number import read_claims

PIECES = [
    *"0123456789.,:;/-+*^%$€°'\"()[]{}|<>=!?~±√π∞∪≤ \n半一二两三十百千万亿零点分之第年月日时个负又和或、。的不米斤元é½²Ⅳ٣∅℃\u200b\ud800",
    *(
        r"\frac",
        r"\sqrt",
        r"\text{",
        r"\left",
        r"\pm",
        "sin",
        "log",
        "exp",
        " and ",
        " or ",
        " to ",
        " per ",
        "half",
        "a ",
    ),
    *(
        "point",
        "hundred",
        "million",
        "third",
        "pm",
        "May",
        "noon",
        "km",
        "mg",
        "m/s",
        "not",
        "the ",
        "Dr. ",
        "10^",
        "x",
        "i",
    ),
]
text = st.lists(st.sampled_from(PIECES), max_size=16).map("".join) | st.text(max_size=30)
options = st.builds(
    AnswerOptions,
    ordered=st.none() | st.booleans(),
    tolerance=st.sampled_from([0.0, 0.1]),
    relative_tolerance=st.sampled_from([0.0, 0.01]),
    unit=st.sampled_from(["", "km", "%", "nonsense"]),
    similarity=st.sampled_from([1.0, 0.7]),
)
numbers = st.integers(0, 10**9) | st.integers(0, 2_000)
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
ENGLISH = [*ONES.split(), "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
HAN, FINANCIAL = "零一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"


@settings(max_examples=400)
@given(made=text, expected=text, chosen=options)
def test_it_never_raises_and_is_quick(made: str, expected: str, chosen: AnswerOptions) -> None:
    started = time.process_time()
    verdict = match(made, expected, options=chosen)
    assert time.process_time() - started < 2
    assert verdict.rule
    assert str(verdict.reason)
    assert not (verdict.right and verdict.ambiguous)


@given(text)
def test_a_text_is_always_the_same_as_itself(same: str) -> None:
    assert match(same, same).right


@given(text, text)
def test_being_the_same_has_no_direction(one: str, other: str) -> None:
    assert match(one, other).right == match(other, one).right


@given(text)
def test_extraction_never_raises(reply: str) -> None:
    final_answer(reply)
    read_claims(reply)


@pytest.mark.parametrize("write", ["english", "han", "financial", "marks", "scientific", "full width"])
@given(number=numbers)
def test_a_number_is_known_in_every_writing_and_never_taken_for_its_neighbour(write: str, number: int) -> None:
    written = WRITERS[write](number)
    assert match(written, str(number)).rule in ("numeric", "quasi exact")
    assert match(written, str(number)).right
    assert not match(written, str(number + 1)).right
    assert not match(written, str(number * 10 + 10)).right


@given(above=st.integers(1, 99), below=st.integers(1, 99))
def test_a_fraction_is_its_percentage_and_not_its_inverse(above: int, below: int) -> None:
    share = Fraction(above, below)
    assert match(f"{above}/{below}", f"{_han(below)}分之{_han(above)}").right
    assert match(rf"\frac{{{above}}}{{{below}}}", f"{share.numerator}/{share.denominator}").right
    assert match(f"{below}/{above}", f"{above}/{below}").right == (above == below)


@given(grams=st.integers(1, 10**6))
def test_units_are_converted_exactly(grams: int) -> None:
    assert match(f"{grams} g", f"{grams * 1000} mg").right
    assert match(f"{grams}克", f"{Fraction(grams, 1000)} kg").right
    assert not match(f"{grams} g", f"{grams} kg").right


@given(st.dates())
def test_a_date_is_known_in_every_writing(date: object) -> None:
    iso = str(date)
    year, month, day = (int(part) for part in iso.split("-"))
    if year >= 1000:
        assert match(f"{year}年{month}月{day}日", iso).right
        swapped = match(f"{month}/{day}/{year}", iso)
        assert swapped.right == (day > 12 or day == month)
        assert swapped.right or swapped.ambiguous


@given(roots=st.lists(st.integers(-9, 9), min_size=1, max_size=5), off=st.integers(-2, 2))
def test_a_product_is_what_it_multiplies_out_to(roots: list[int], off: int) -> None:
    coefficients = [1]
    for root in roots:
        shifted = [*coefficients, 0]
        coefficients = [one - root * other for one, other in zip(shifted, [0, *coefficients], strict=True)]
    coefficients[-1] += off
    degree = len(roots)
    expanded = "+".join(f"({factor})x^{degree - place}" for place, factor in enumerate(coefficients))
    assert match("".join(f"(x-({root}))" for root in roots), expanded).right == (off == 0)


def _english(number: int) -> str:
    for scale, word in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= scale:
            rest = f" {'and ' if scale == 100 else ''}{_english(number % scale)}" if number % scale else ""
            return f"{_english(number // scale)} {word}{rest}"
    return ENGLISH[number] if number < 20 else TENS[number // 10] + (f"-{ENGLISH[number % 10]}" if number % 10 else "")


def _han(number: int, digits: str = HAN, units: str = "十百千") -> str:
    if number < 10:
        return digits[number]
    for scale, word in ((10**8, "亿"), (10**4, "万"), (1000, units[2]), (100, units[1]), (10, units[0])):
        if number >= scale:
            rest = number % scale
            gap = digits[0] if rest and rest < scale // 10 else ""
            return _han(number // scale, digits, units) + word + (gap + _han(rest, digits, units) if rest else "")
    raise AssertionError


WRITERS: dict[str, Callable[[int], str]] = {
    "english": _english,
    "han": _han,
    "financial": lambda number: _han(number, FINANCIAL, "拾佰仟"),
    "marks": lambda number: f"{number:,}",
    "scientific": lambda number: f"{number * 10}e-1",
    "full width": lambda number: "".join(chr(ord(digit) + 0xFEE0) for digit in str(number)),
}
