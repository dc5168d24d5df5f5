"""Convert JSON with the keys of the schema to its nouns, and say where it does not fit."""

import re
from typing import TypeVar

import msgspec

from proctor.core.json_path import Invalid, Path
from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words

T = TypeVar("T", bound=msgspec.Struct)
_FAULT = re.compile(r"(?P<said>.*?)(?: - at `(?P<path>\$[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


def converted(value: object, kind: type[T], at: Path = ()) -> T:
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
    found = in_words(msgspec.ValidationError(said.replace(" | null", "")))
    return found if isinstance(found, Sentence) else say("{said}", said=found)
