"""Proctor evaluates agents and language models and gives numbers that can be defended."""

import importlib
from typing import TYPE_CHECKING, Any

from proctor.core.version import __version__ as __version__

if TYPE_CHECKING:
    from proctor.api import Run as Run
    from proctor.api import compare as compare
    from proctor.api import evaluate as evaluate
    from proctor.api import evaluate_async as evaluate_async
    from proctor.api import open_run as open_run
    from proctor.api import rescore as rescore
    from proctor.api import score as score
    from proctor.core.declared import scorer as scorer
    from proctor.core.errors import BadInput as BadInput
    from proctor.core.run import Estimate as Estimate
    from proctor.core.run import Limits as Limits
    from proctor.core.sample import Message as Message
    from proctor.core.sample import Sample as Sample
    from proctor.core.sample import Tool as Tool
    from proctor.core.sample import ToolCall as ToolCall
    from proctor.core.sample import Turn as Turn
    from proctor.core.score import Score as Score
    from proctor.core.score import Unscored as Unscored
    from proctor.core.task import Task as Task
    from proctor.core.trajectory import Trajectory as Trajectory

_HOME = {
    "proctor.api": ("Run", "compare", "evaluate", "evaluate_async", "open_run", "rescore", "score"),
    "proctor.core.declared": ("scorer",),
    "proctor.core.errors": ("BadInput",),
    "proctor.core.run": ("Estimate", "Limits"),
    "proctor.core.sample": ("Message", "Sample", "Tool", "ToolCall", "Turn"),
    "proctor.core.score": ("Score", "Unscored"),
    "proctor.core.task": ("Task",),
    "proctor.core.trajectory": ("Trajectory",),
}
_MODULE_BY_NAME = {name: module for module, names in _HOME.items() for name in names}
__all__ = list(_MODULE_BY_NAME)


def __getattr__(name: str) -> Any:
    from proctor.runtime.garbage import gc_paused

    with gc_paused():
        if name in _MODULE_BY_NAME:
            value = getattr(importlib.import_module(_MODULE_BY_NAME[name]), name)
        else:
            value = _of_another_package(name)
    globals()[name] = value
    return value


def _of_another_package(name: str) -> object:
    """Return what an installed package adds to this module by an entry point of `proctor.names`, such as `proctor.gate`."""
    from importlib.util import find_spec

    missing = AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:  # asked for before a module is imported
        raise missing
    from proctor.runtime.entry_points import find_entry_point

    point = find_entry_point("proctor.names", name, needed_for=f"proctor.{name}")
    if point is None:
        raise missing
    return point.load()


def __dir__() -> list[str]:
    from proctor.runtime.entry_points import entry_points

    return sorted({*globals(), *__all__, *(point.name for point in entry_points("proctor.names"))})
