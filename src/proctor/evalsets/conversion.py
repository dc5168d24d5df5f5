"""Convert JSON with the keys of the schema to its nouns, and say where it does not fit."""

import re
from typing import Any, TypeVar

import msgspec

from proctor.core.sentence import Sentence, say
from proctor.evalsets._places import Invalid, Path

T = TypeVar("T", bound=msgspec.Struct)
_FAULT = re.compile(r"(?P<said>.*?)(?: - at `(?P<path>\$[^`]*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<found>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<field>\w+)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


def converted(value: Any, kind: type[T], at: Path = ()) -> T:
    """JSON with the keys of the schema as a noun of it.

    Raises:
        Invalid: a value of the wrong type, or one is missing.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        said = _FAULT.fullmatch(str(error))
        steps = _STEP.findall(said["path"] or "") if said else []
        path = tuple(int(place) if place.isdigit() else name or "*" for name, place in steps)
        raise Invalid((*at, *path), _problem(said["said"] if said else str(error))) from None


def _problem(said: str) -> Sentence:
    if found := _EXPECTED.fullmatch(said):
        return say(
            "expected {expected}, got {found}",
            expected=found["expected"].replace("object", "an object").replace(" | null", ""),
            found=found["found"],
        )
    if found := _MISSING.fullmatch(said):
        return say("'{field}' is missing", field=found["field"])
    return say("{said}", said=said)
