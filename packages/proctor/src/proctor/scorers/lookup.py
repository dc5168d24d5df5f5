"""Find a scorer of this room by name, with options."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from proctor import registry
from proctor.config import converted
from proctor.core.declared import ScorerInfo, declared, scorer
from proctor.core.errors import BadInput
from proctor.core.own_code import is_ours
from proctor.core.parts import Find, ScorerPart
from proctor.core.sample import Sample
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory


class Make(Protocol):
    """Makes a scorer by name; `find` looks up the parts of one that is made of others."""

    def __call__(
        self, name: str, options: Mapping[str, object] | None = None, *, find: Find | None = None
    ) -> Scorer: ...


def find_scorer(name: str, options: Mapping[str, object] | None = None, *, find: Find | None = None) -> Scorer:
    """Return the scorer `file` or `file:function`, with its options.

    Options of a file that does not make scorers are put into `sample.meta["file"]`, below what the sample itself says.
    `find` is where `combine` and the like look their parts up.

    Raises:
        BadInput: there is no such scorer, or it has no such option; the nearest match is named.

    >>> find_scorer("exact:contains").__name__
    'contains'
    """
    room, _, attribute = name.partition(":")
    part = registry.SCORERS.find(room)
    if not attribute and (options or part.scorer is None):
        if part.make is not None:
            return part.make(options or {})
        if part.combine is not None:
            return part.combine(options or {}, find or find_scorer)
    function = functions(room, part).get(name)
    if function is None:
        raise registry.unknown("scorer", name, [*functions(room, part)], paths=False)
    return _with_options(room, function, part.options, options) if options else function


def functions(room: str, part: ScorerPart) -> dict[str, Callable[..., Any]]:
    """Return the functions of a file by the name that each is found by."""
    own = {} if part.scorer is None else {room: part.scorer}
    return own | {f"{room}:{function.__name__}": function for function in part.others}


def is_inline(scorer: object) -> bool:
    """Return True if a scorer is quick enough for the event loop: ours are, unless they say otherwise."""
    inline = declared(ScorerInfo, scorer).inline
    return inline if inline is not None else is_ours(str(scorer.__module__ or ""))


def _with_options(room: str, function: Scorer, kind: Any, options: Mapping[str, Any]) -> Scorer:
    if kind is None:
        raise BadInput("The scorer '{name}' takes no options.", name=room)
    converted(options, kind, room)

    @scorer(inline=is_inline(function))
    def with_options(sample: Sample, trajectory: Trajectory) -> Any:
        meta = {**sample.meta, room: {**options, **(sample.meta.get(room) or {})}}
        return function(msgspec.structs.replace(sample, meta=meta), trajectory)

    return with_options
