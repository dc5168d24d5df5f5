"""Units by name: a table of our own (`units.txt`) and the SI prefixes.

A name that means different things in different places equals only itself.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files

import msgspec

from proctor_judging.matching.patterns import compile_later

Dimensions = tuple[tuple[str, int], ...]

PREFIXES = {  # symbol: power of ten, English, Chinese
    "p": (-12, "pico", "皮"),
    "n": (-9, "nano", "纳"),
    "μ": (-6, "micro", "微"),
    "u": (-6, "", ""),
    "m": (-3, "milli", "毫"),
    "c": (-2, "centi", "厘"),
    "d": (-1, "deci", "分"),
    "h": (2, "hecto", "百"),
    "k": (3, "kilo", "千"),
    "M": (6, "mega", "兆"),
    "G": (9, "giga", "吉"),
    "T": (12, "tera", "太"),
    "P": (15, "peta", "拍"),
}
LONGEST = 60
HIGHEST_EXPONENT = 9
FACTOR = compile_later(r"(-?[\d.]+(?:e-?\d+)?)(?:/([\d.]+))?\s+(.+)")
PART = compile_later(
    r"(square|sq\.?|cubic|cu\.?|平方|立方)?\s*([^\W\d_]+'?|[°$€£¥₹₩₽¢'\"%]|US\$)(?:\^?\(?\{?(-?\d)\}?\)?)?"
    r"(?:\s*(squared|cubed))?"
)
PER = compile_later(r"\s*(?:/|每|\s(?:per|an|a|each)\s)\s*")
TIMES = compile_later(r"[\s·*×⋅.-]+")
POWERS = {"s": 2, "c": 3, "平": 2, "立": 3}
TEMPERATURES = {  # zero in kelvin, and the step
    "celsius": (Fraction(27315, 100), Fraction(1)),
    "fahrenheit": (Fraction(45967, 180), Fraction(5, 9)),
}
DEGREES = compile_later(
    r"(?:(?:°|degrees?|deg\.?)?\s*(?:(c|celsius|centigrade)|(f|fahrenheit))|(摄氏度)|(华氏度))", re.IGNORECASE
)


class MeasureUnit(msgspec.Struct, frozen=True):
    """A factor to base units, their powers, and where zero lies (temperatures only)."""

    factor: Fraction
    dimensions: Dimensions
    zero: Fraction = Fraction(0)


@lru_cache(maxsize=4096)
def read_unit(text: str) -> MeasureUnit | None:
    """Return the unit a text names, alone or compound; None when any part of it is unknown.

    >>> read_unit("km/h") == read_unit("kilometres per hour") == read_unit("公里每小时") == read_unit("千米/小时")
    True
    >>> read_unit("mg") == read_unit("Mg"), read_unit("MG"), read_unit("apples")
    (False, None, None)
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        return None
    if (match := DEGREES.fullmatch(text)) is not None:
        zero, step = TEMPERATURES["celsius" if match[1] or match[3] else "fahrenheit"]
        if len(text) > 1:  # C and F alone are coulomb and farad
            return MeasureUnit(step, (("K", 1),), zero)
    return _named(text) or _compound(text)


def _named(name: str) -> MeasureUnit | None:
    table = _table()
    unit = table.get(name)
    if unit is None and len(name) > 1:
        lower = name.lower().replace(" ", "_")
        unit = table.get(lower) if len(lower) > 3 or not name.isascii() else None
        if unit is None and len(lower) > 3 and lower[-1] == "s":
            unit = table.get(lower[:-1]) or (table.get(lower[:-2]) if lower.endswith("es") else None)
        if unit is None and not (len(name) == 2 and name[0] == "M" and name.isupper()):  # MG: milli or mega
            unit = _any_case().get(_caseless(name))
    return unit


def _caseless(name: str) -> str:
    """Lower case, but for what case tells apart: milli and mega, bit and byte."""
    first = name[0] if name[0] in "mM" else name[0].lower()
    rest = name[1:].lower()
    return first + (rest if name[1:2] != "B" or rest[1:] not in ("", "ps", "/s", "it/s") else "B" + rest[1:])


def _compound(text: str) -> MeasureUnit | None:
    above, *below = PER.split(text)
    if len(below) > 2:
        return None
    factor, powers = Fraction(1), dict[str, int]()
    for part, sign in ((above, 1), *((part.strip("() "), -1) for part in below)):
        read = _product(part)
        if read is None:
            return None
        for unit, exponent in read:
            if unit.zero or abs(exponent) > HIGHEST_EXPONENT:
                return None
            factor *= unit.factor ** (sign * exponent)
            for base, power in unit.dimensions:
                powers[base] = powers.get(base, 0) + sign * exponent * power
    return MeasureUnit(factor, tuple(sorted((base, power) for base, power in powers.items() if power)))


def _product(text: str) -> list[tuple[MeasureUnit, int]] | None:
    pairs: list[tuple[MeasureUnit, int]] = []
    at = 0
    while at < len(text):
        part = PART.match(text, at)
        if part is None:
            return None
        power, name, exponent, spelled = part.groups()
        unit = _named(name)
        if unit is None or unit.zero:
            return None
        times = POWERS[power[0].lower()] if power and not power.lower().startswith("cu") else 3 if power else 1
        pairs.append((unit, int(exponent or 1) * times * {"squared": 2, "cubed": 3}.get(spelled, 1)))
        at = part.end()
        if at < len(text):
            between = TIMES.match(text, at)
            if between is None or between.end() == len(text):
                return None
            at = between.end()
    return pairs or None


@cache
def _table() -> Mapping[str, MeasureUnit]:
    table: dict[str, MeasureUnit] = {}
    for value, symbols, words, chinese, prefixes in _lines():
        unit = _value(value, table)
        for symbol in symbols:
            table[symbol] = unit
            for prefix in prefixes:
                table.setdefault(prefix + symbol, _scaled(unit, prefix))
        for word in words:
            table.setdefault(word, unit)
            for prefix in prefixes:
                if spelled := PREFIXES[prefix][1]:
                    table.setdefault(spelled + word, _scaled(unit, prefix))
        for word in chinese:
            table[word] = unit
            for prefix in prefixes:
                if spelled := PREFIXES[prefix][2]:
                    table.setdefault(spelled + word, _scaled(unit, prefix))
    return table


@cache
def _any_case() -> Mapping[str, MeasureUnit]:
    """Symbols of two letters and more that are the same unit in whatever case: `KM`, but not `MG`."""
    units: dict[str, set[MeasureUnit]] = {}
    for name, unit in _table().items():
        if len(name) > 1 and name.isascii():
            units.setdefault(_caseless(name), set()).add(unit)
    return {name: next(iter(measure_units)) for name, measure_units in units.items() if len(measure_units) == 1}


def _lines() -> Iterator[tuple[str, list[str], list[str], list[str], str]]:
    text = files("proctor_judging.matching").joinpath("units.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            value, symbols, words, chinese, prefixes = (field.strip() for field in line.split("|"))
            yield value, symbols.split(), words.split(), chinese.split(), prefixes


def _value(text: str, table: dict[str, MeasureUnit]) -> MeasureUnit:
    match = FACTOR.fullmatch(text)
    if match is None:
        return MeasureUnit(Fraction(1), ((text, 1),))
    factor, powers = Fraction(match[1]) / Fraction(match[2] or 1), dict[str, int]()
    for sign, side in zip((1, -1), match[3].split("/"), strict=False):
        for name, exponent in re.findall(r"([^\s^]+)(?:\^(-?\d))?", side):
            unit, power = table[name], int(exponent or 1) * sign
            factor *= unit.factor**power
            for base, times in unit.dimensions:
                powers[base] = powers.get(base, 0) + times * power
    return MeasureUnit(factor, tuple(sorted((base, power) for base, power in powers.items() if power)))


def _scaled(unit: MeasureUnit, prefix: str) -> MeasureUnit:
    return MeasureUnit(unit.factor * Fraction(10) ** PREFIXES[prefix][0], unit.dimensions)
