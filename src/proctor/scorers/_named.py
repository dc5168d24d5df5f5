"""Find a scorer of this room by name, with options."""

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import msgspec

from proctor import registry
from proctor.config import converted
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory

Find = Callable[[str], Scorer]


def named(name: str, options: Mapping[str, Any] | None = None, *, find: Find | None = None) -> Scorer:
    """The scorer `file` or `file:function`, with options where it takes some.

    A judge (`rubric:NAME`) is made by its own room. A file with `make(options)` makes it. Else a file with a type `Options` reads them from `sample.meta["file"]`:
    they are put there, below what the sample itself says. `find` is where `combine` and the like look their parts up.

    Raises:
        BadInput: there is no such scorer, or it has no such option; the nearest match is named.

    >>> named("exact:contains").__name__
    'contains'
    """
    room, _, attribute = name.partition(":")
    if is_judge(room):
        judge: Scorer = registry.find("judges", room).make(attribute, options or {})
        return judge
    module = registry.find("scorers", room)
    if not isinstance(module, ModuleType):
        return _entry_point(module, name, options)
    function = getattr(module, attribute or room, None)
    make = getattr(module, "make", None)
    if make is not None and not attribute and (options or function is None):
        with_find = find is not None and "find" in inspect.signature(make).parameters
        made: Scorer = make(options or {}, find=find) if with_find else make(options or {})
        return made
    if not inspect.isroutine(function) or (attribute or room) not in functions(module):
        raise registry.unknown("scorer", name, [f"{room}:{key}" for key in functions(module)], paths=False)
    return _with_options(room, function, getattr(module, "Options", None), options) if options else function


def is_judge(room: str) -> bool:
    """Whether a name is that of a scorer that asks a model; those have a room of their own."""
    known = not registry.knows("scorers", room) and registry.knows("judges", room)
    return known and hasattr(registry.find("judges", room), "make")


def functions(module: ModuleType) -> list[str]:
    """The names of the scorers in a file: its public functions, without what it imports."""
    return [
        key
        for key, value in vars(module).items()
        if inspect.isfunction(value) and not key.startswith("_") and key != "make" and _is_scorer(value, module)
    ]


def is_inline(scorer: object) -> bool:
    """Whether a scorer is quick enough for the event loop: ours are, unless they say otherwise."""
    said = getattr(scorer, "inline", None)
    if isinstance(said, bool):
        return said
    return str(getattr(scorer, "__module__", "") or "").startswith("proctor.")


def _is_scorer(function: Any, module: ModuleType) -> bool:
    names = list(inspect.signature(function).parameters)
    return len(names) == 2 and names[1] == "trajectory" and str(function.__module__).startswith(module.__name__)


def _entry_point(found: Any, name: str, options: Mapping[str, Any] | None) -> Scorer:
    if options:
        raise BadInput("The scorer '{name}' takes no options.", name=name)
    scorer: Scorer = found
    return scorer


def _with_options(room: str, function: Scorer, kind: Any, options: Mapping[str, Any]) -> Scorer:
    if kind is None:
        raise BadInput("The scorer '{name}' takes no options.", name=room)
    converted(options, kind, room)

    def scorer(sample: Sample, trajectory: Trajectory) -> Any:
        meta = {**sample.meta, room: {**options, **(sample.meta.get(room) or {})}}
        return function(msgspec.structs.replace(sample, meta=meta), trajectory)

    scorer.inline = is_inline(function)  # type: ignore[attr-defined]
    return scorer
