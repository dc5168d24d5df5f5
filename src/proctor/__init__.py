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
    from proctor.api.record import record as record
    from proctor.continuous.delta import explain_delta as explain_delta
    from proctor.continuous.gate import gate as gate
    from proctor.continuous.plan import plan as plan
    from proctor.continuous.race import race as race
    from proctor.continuous.tiers import run_tier as run_tier
    from proctor.continuous.trends import trends as trends
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
    from proctor.evalsets.recording import save_eval_set as save_eval_set

_HOME = {
    "proctor.api": ("Run", "compare", "evaluate", "evaluate_async", "open_run", "rescore", "score"),
    "proctor.api.record": ("record",),
    "proctor.continuous.delta": ("explain_delta",),
    "proctor.continuous.gate": ("gate",),
    "proctor.continuous.race": ("race",),
    "proctor.continuous.plan": ("plan",),
    "proctor.continuous.tiers": ("run_tier",),
    "proctor.continuous.trends": ("trends",),
    "proctor.core.declared": ("scorer",),
    "proctor.core.errors": ("BadInput",),
    "proctor.core.run": ("Estimate", "Limits"),
    "proctor.core.sample": ("Message", "Sample", "Tool", "ToolCall", "Turn"),
    "proctor.core.score": ("Score", "Unscored"),
    "proctor.core.task": ("Task",),
    "proctor.core.trajectory": ("Trajectory",),
    "proctor.evalsets.recording": ("save_eval_set",),
}
_MODULE_BY_NAME = {name: module for module, names in _HOME.items() for name in names}
__all__ = list(_MODULE_BY_NAME)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    from proctor.runtime.garbage import gc_paused

    with gc_paused():
        value = getattr(importlib.import_module(_MODULE_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
