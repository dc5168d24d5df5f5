"""Read JSON as the nouns of a schema and back, as google-adk does: keys in either spelling, unknown ones kept or refused.

Below the top level every key may be in camelCase, which wins where both are.
"""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from proctor.core.sentence import Sentence, say
from proctor.core.validation import in_words
from proctor_adapters.evalsets.json_edit import templates
from proctor_adapters.json_path import Invalid, Path, format_path

N = TypeVar("N", bound="Noun")
_FAULT = re.compile(r"(?P<problem>.*?)(?: - at `(?P<path>\$[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")


class Noun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A type of the schema; members that have their default are not written, as in ADK.

    It has the methods of ADK's classes, for code that is made for them. A type with a field `extra` keeps unknown keys there.
    """

    ignores_unknown: ClassVar[bool] = False
    optional_keys: ClassVar[tuple[str, ...]] = ()  # that may be null, which is as if they were missing

    @classmethod
    def problems(cls, made: Mapping[str, object]) -> Iterator[tuple[Path, Sentence]]:
        """Yield what ADK would refuse and types cannot express, each with its path."""
        del made
        yield from ()

    @classmethod
    def model_validate(cls, value: object) -> Self:
        """Return data with keys in either spelling as a noun.

        Raises:
            ValueError: it is none; names the JSON path.
        """
        try:
            return read_noun(value, cls)
        except Invalid as error:
            raise ValueError(f"{format_path(error.path)}: {error.problem}") from None

    @classmethod
    def model_validate_json(cls, text: str | bytes) -> Self:
        return cls.model_validate(json.loads(text))

    def model_dump(self, **_: object) -> dict[str, Any]:
        plain: dict[str, object] = as_json(self)
        return plain

    def model_dump_json(self, *, indent: int | None = None, **_: object) -> str:
        return json.dumps(as_json(self), indent=indent, ensure_ascii=False)


class Normalized(msgspec.Struct, frozen=True, kw_only=True):
    """JSON with the keys of the schema; `notes` report what ADK would pass over, `renamed` that a key was changed."""

    value: object
    notes: tuple[Sentence, ...] = ()
    renamed: bool = False


def normalize(value: object, kind: type[Noun], path: Path = ()) -> Normalized:
    """Return the same JSON with every key in snake_case, and unknown keys under `extra` where they are kept.

    Raises:
        Invalid: an unknown key where ADK refuses it.
    """
    walk = _Walk()
    normalized = walk.noun(value, kind, path)
    return Normalized(value=normalized, notes=tuple(walk.notes), renamed=walk.renamed)


def read_noun(value: object, kind: type[N]) -> N:
    """Return JSON with keys in either spelling as a noun.

    Raises:
        Invalid: an unknown key, a value of the wrong type, or one is missing.
    """
    return convert(normalize(value, kind).value, kind)


def convert(value: object, kind: type[N]) -> N:
    """Return JSON with the keys of the schema as a noun.

    Raises:
        Invalid: a value of the wrong type, or one is missing.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        fault = _FAULT.fullmatch(str(error))
        steps = _STEP.findall(fault["path"] or "") if fault else []
        path = tuple(int(index) if index.isdigit() else name or "*" for name, index in steps)
        problem = in_words(msgspec.ValidationError((fault["problem"] if fault else str(error)).replace(" | null", "")))
        raise Invalid(path, problem if isinstance(problem, Sentence) else say("{said}", said=problem)) from None


def as_json(noun: Noun) -> Any:
    """Return plain JSON data as a file has it; keys under `extra` are among the others again."""
    return _merge_extra(msgspec.to_builtins(noun, enc_hook=_dump_foreign), ("noun", type(noun)))


def as_camel_json(noun: Noun) -> object:
    """Return plain JSON data as the server of google-adk answers it: keys of the schema in camelCase, others unchanged."""
    return _in_camel(as_json(noun), ("noun", type(noun)))


def respell(new: object, old: object, kind: type[Noun]) -> Any:
    """Return JSON that says the same as `new`, which is in snake_case, in the words of `old`.

    Keys keep their spelling and their order, times the form of their number. What says nothing (`null`, a default), and
    what this schema ignores, stays where it was.
    """
    return _respell(new, old, ("noun", kind))


def camel(name: str) -> str:
    """Return the other spelling of a key.

    >>> camel("eval_set_id")
    'evalSetId'
    """
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


class _Walk:
    def __init__(self) -> None:
        self.notes: list[Sentence] = []
        self.renamed = False

    def noun(self, value: object, kind: type[Noun], path: Path) -> object:
        if not isinstance(value, dict):
            return value  # the conversion reports what was expected
        spellings, shapes = _spellings(kind), _shapes(kind)
        fields: dict[str, object] = {}
        extra: dict[str, object] = {}
        for key, inner in value.items():
            name = spellings.get(key)
            if name is None:
                self._check_unknown(key, kind, (*path, key))
                if not kind.ignores_unknown:
                    extra[key] = inner
            elif inner is None and name in kind.optional_keys:
                continue
            elif name != key or camel(name) not in value or camel(name) == name:
                self.renamed |= name != key
                fields[name] = self._inner(_number(inner, name), shapes[name], (*path, name))
            else:
                self.notes.append(
                    say(
                        "{path}: '{camel}' counts, '{key}' does not.",
                        path=format_path(path),
                        camel=camel(name),
                        key=key,
                    )
                )
        for below, problem in kind.problems(fields):
            raise Invalid((*path, *below), problem)
        return {**fields, "extra": extra} if extra else fields

    def _check_unknown(self, key: str, kind: type[Noun], path: Path) -> None:
        likely = get_close_matches(key, sorted(set(_spellings(kind).values())), n=1)
        near = say(" Did you mean '{near}'?", near=likely[0]) if likely else ""
        if kind.ignores_unknown:
            self.notes.append(
                say("{path}: the key is ignored, as by ADK 2.13.{near}", path=format_path(path), near=near)
            )
        elif "extra" in kind.__struct_fields__:
            self.notes.append(
                say("{path}: the key is not known to ADK; it is kept.{near}", path=format_path(path), near=near)
            )
        else:
            raise Invalid(path, say("the key '{key}' is not known here.{near}", key=key, near=near))

    def _inner(self, value: object, shape: Any, path: Path) -> object:
        match shape:
            case ("noun", kind):
                return self.noun(value, kind, path)
            case ("list", inner) if isinstance(value, list):
                return [self._inner(item, inner, (*path, index)) for index, item in enumerate(value)]
            case ("pair", inner) if isinstance(value, list) and len(value) == 2:
                return [value[0], self._inner(value[1], inner, (*path, 1))]
            case ("map", inner) if isinstance(value, dict):
                return {key: self._inner(entry, inner, (*path, key)) for key, entry in value.items()}
        return value


def _number(value: object, name: str) -> object:
    """Return the number of a time in quotes; other values unchanged."""
    if name == "creation_timestamp" and isinstance(value, str | bool):
        try:
            return float(value)
        except ValueError:
            return value
    return value


@cache
def _spellings(kind: type[Noun]) -> Mapping[str, str]:
    names = [name for name in kind.__struct_fields__ if name != "extra"]
    return {spelling: name for name in names for spelling in (name, camel(name))}


@cache
def _shapes(kind: type[Noun]) -> Mapping[str, object]:
    return {name: _shape(hint) for name, hint in get_type_hints(kind).items()}


def _shape(hint: Any) -> object:
    """Return which nouns are inside a type: ("noun", type), ("list", shape), ("pair", shape), ("map", shape), or None."""
    if get_origin(hint) in (Union, UnionType):
        return next((shape for member in get_args(hint) if member is not NoneType and (shape := _shape(member))), None)
    if isinstance(hint, type) and issubclass(hint, Noun):
        return ("noun", hint)
    word = {list: "list", tuple: "pair", dict: "map"}.get(get_origin(hint))
    inner = _shape(get_args(hint)[-1]) if word else None
    return (word, inner) if inner else None


def _dump_foreign(value: object) -> object:
    """Return ADK's own objects inside ours as data."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise NotImplementedError(type(value).__name__)
    return dump(mode="json", exclude_none=True)


def _respell(new: object, old: object, shape: Any) -> object:
    match shape, new, old:
        case ("noun", kind), dict(), dict():
            return old if _plain(old, kind) == json.dumps(new) else _respell_members(new, old, kind)
        case ("list", inner), list(), list():
            before = [json.loads(_plain(value, inner[1])) for value in old] if inner[0] == "noun" else old
            places = templates(before, new)
            return [
                value if index is None else _respell(value, old[index], inner)
                for value, index in zip(new, places, strict=True)
            ]
        case ("pair", inner), list(), list() if len(new) == len(old) == 2:
            return [new[0], _respell(new[1], old[1], inner)]
        case ("map", inner), dict(), dict():
            return {key: _respell(value, old.get(key), inner) for key, value in new.items()}
        case None, float(), int() | float() | str() if not isinstance(old, bool):
            return old if _number(str(old), "creation_timestamp") == new else new
    return new


def _respell_members(new: Mapping[str, object], old: Mapping[str, object], kind: type[Noun]) -> dict[str, object]:
    spellings, shapes, defaults = _spellings(kind), _shapes(kind), _defaults(kind)
    fields: dict[str, object] = {}
    for key, value in old.items():
        name = spellings.get(key)
        if name is None:
            if key in new or kind.ignores_unknown:
                fields[key] = new.get(key, value)
        elif camel(name) in old and key != camel(name):
            fields[key] = value  # the other spelling counts
        elif name in new:
            fields[key] = _respell(new[name], value, shapes[name])
        elif value is None or value == defaults.get(name):
            fields[key] = value
    known = {spellings.get(key, key) for key in fields}
    return {**fields, **{name: value for name, value in new.items() if name not in known}}


def _plain(value: object, kind: type[Noun]) -> str:
    """Return what JSON of the schema says, in one spelling."""
    return json.dumps(as_json(read_noun(value, kind)))


@cache
def _defaults(kind: type[Noun]) -> Mapping[str, object]:
    """Return the defaults by name, of the members that have one."""
    fields = ((field, field.default_factory) for field in msgspec.structs.fields(kind))
    return {
        field.encode_name: make() if make is not msgspec.NODEFAULT else field.default
        for field, make in fields
        if make is not msgspec.NODEFAULT or field.default is not msgspec.NODEFAULT
    }


def _merge_extra(value: object, shape: object) -> object:
    """Return JSON with what was under the `extra` of a noun among its other keys."""
    match shape:
        case ("noun", kind) if isinstance(value, dict):
            shapes = _shapes(kind)
            fields = {key: _merge_extra(inner, shapes[key]) for key, inner in value.items() if key != "extra"}
            return {**fields, **value.get("extra", {})} if "extra" in shapes else fields
        case ("list", inner) if isinstance(value, list):
            return [_merge_extra(item, inner) for item in value]
    return value


def _in_camel(value: object, shape: object) -> object:
    match shape:
        case ("noun", kind) if isinstance(value, dict):
            shapes = _shapes(kind)
            return {
                camel(key) if key in shapes else key: _in_camel(entry, shapes.get(key)) for key, entry in value.items()
            }
        case ("list", inner) if isinstance(value, list):
            return [_in_camel(item, inner) for item in value]
        case ("pair", inner) if isinstance(value, list) and len(value) == 2:
            return [value[0], _in_camel(value[1], inner)]
        case ("map", inner) if isinstance(value, dict):
            return {key: _in_camel(entry, inner) for key, entry in value.items()}
    return value
