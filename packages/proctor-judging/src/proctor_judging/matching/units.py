"""The rule for quantities: converted exactly, and a missing or another unit is never guessed."""

from collections.abc import Callable
from fractions import Fraction

from proctor.core.sentence import say
from proctor_judging.matching.numbers import PER_CENT, close, read_number, readings_of
from proctor_judging.matching.quantities import Quantity, read_quantity, with_unit
from proctor_judging.matching.unit_table import Dimensions, read_unit
from proctor_judging.matching.verdict import AnswerMatch, AnswerOptions, accept, differ, refuse, shown, two_readings

RULE = "units"
ENOUGH_DIGITS = 4
YEN_OR_YUAN = (("¥", 1),)
MONEY: dict[tuple[Dimensions, str], Callable[[Quantity, str], bool]] = {
    ((("CNY", 1),), "CNY"): lambda one, text: one.unit.dimensions == YEN_OR_YUAN,  # noqa: ARG005 - both are asked alike
    ((("GBP", 1),), "GBP"): lambda one, text: one.unit == read_unit("lb") and "pound" in text.lower(),
}


def units(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    """Compare two quantities after conversion. A bare number takes the unit `options.unit`, and is refused without one.

    A rounded conversion is right if it has at least four digits.
    """
    if options.unit in PER_CENT:
        return _percent(answer, target, options)
    if "十分" in (answer, target):
        return two_readings(RULE, "十分")  # ten points, or very
    expected, quantity = read_quantity(target), read_quantity(answer)
    if options.unit and (quantity is None or expected is None):
        expected = expected or _bare(target, options.unit)
        quantity = quantity or _bare(answer, options.unit)
    if quantity is None or expected is None:
        return _lone(quantity, expected, answer, target)
    quantity, expected = _money(quantity, expected, answer), _money(expected, quantity, target)
    if quantity.unit.dimensions != expected.unit.dimensions:
        return _other_kind(quantity, expected, answer, target)
    if not _same(quantity, expected, options):
        return differ(RULE, answer, target)
    if quantity.doubtful or expected.doubtful:
        doubtful = answer if quantity.doubtful else target
        return two_readings(RULE, doubtful, readings_of(doubtful))
    return accept(RULE, say("Both are the same quantity."))


def _bare(text: str, unit: str) -> Quantity | None:
    number = read_number(text)
    return None if number is None or number.ordinal else with_unit(number, unit)


def _lone(made: Quantity | None, expected: Quantity | None, answer: str, target: str) -> AnswerMatch | None:
    if made is None and expected is None:
        return None
    bare = target if expected is None else answer
    if read_number(bare) is None:
        return None
    return refuse(RULE, say("'{text}' has no unit, the other has one.", text=shown(bare)), ambiguous=True)


def _percent(answer: str, target: str, options: AnswerOptions) -> AnswerMatch | None:
    """Bare numbers are per cent: `50` is `50%` and `1/2` of a whole is not."""
    numbers = [(text, read_number(text)) for text in (answer, target)]
    values = [
        None if number is None else number.value if _says_percent(text) else Fraction(number.value, 100)
        for text, number in numbers
    ]
    made, expected = values
    if made is None or expected is None:
        return None
    same = close(made, expected, options, scale=Fraction(1, 100))
    return accept(RULE, say("Both are the same quantity.")) if same else differ(RULE, answer, target)


def _says_percent(text: str) -> bool:
    return "%" in text or "cent" in text.lower() or "分之" in text


def _money(one: Quantity, other: Quantity, text: str) -> Quantity:
    """¥ is yuan beside yuan, alone it may be yen as well; pounds beside £ are no weight."""
    for (dimensions, name), is_money in MONEY.items():
        money = read_unit(name)
        if money is not None and other.unit.dimensions == dimensions and is_money(one, text):
            return Quantity(one.amount / one.unit.factor, money, one.doubtful)
    return one


def _other_kind(made: Quantity, expected: Quantity, answer: str, target: str) -> AnswerMatch:
    unclear = YEN_OR_YUAN in (made.unit.dimensions, expected.unit.dimensions)
    reason = say("The units of '{answer}' and '{target}' do not fit.", answer=shown(answer), target=shown(target))
    return refuse(RULE, reason, ambiguous=unclear)


def _same(made: Quantity, expected: Quantity, options: AnswerOptions) -> bool:
    scale = read_unit(options.unit) if options.unit else None
    fits = scale is not None and scale.dimensions == expected.unit.dimensions
    step = scale.factor if scale is not None and fits else expected.unit.factor
    if close(made.amount, expected.amount, options, scale=step):
        return True
    return made.unit != expected.unit and (_rounds_to(expected, made) or _rounds_to(made, expected))


def _rounds_to(exact: Quantity, rounded: Quantity) -> bool:
    """True if a quantity is the other one converted and rounded, with enough digits to be no coincidence."""
    shown_value = (rounded.amount - rounded.unit.zero) / rounded.unit.factor
    converted = (exact.amount - rounded.unit.zero) / rounded.unit.factor
    digits = str(abs(shown_value.numerator * 10**rounded.written // shown_value.denominator)).lstrip("0")
    if not rounded.written or len(digits) < ENOUGH_DIGITS:
        return False
    return abs(converted - shown_value) * 2 <= Fraction(1, 10**rounded.written)
