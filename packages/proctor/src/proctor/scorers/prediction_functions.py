"""Scorers written as `function(pred, label, args) -> (score, total)`, as for MULTI-Benchmark, or as `function(output, expected)`.

A third value is the improvement over a reference answer; it is kept in the details.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proctor.core.declared import scorer
from proctor.core.errors import BadInput
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.scorers.targets import answer_of, as_text, no_target

FIRST_NAMES = {"pred", "prediction"}
EXPECTED = {"expected", "expected_output", "reference", "reference_output", "reference_outputs", "label", "target"}
INPUTS = {"input", "inputs"}
OUTPUTS = {"output", "outputs", "actual", "actual_output"}


class Arguments(Mapping[str, Any]):
    """Options as such functions read them: `args.name`, `getattr(args, name, default)` or `args.get(name, default)`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {"answer_position": "end", **values}

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"there is no option {name!r}") from None

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def takes_prediction(function: object) -> bool:
    """Return True if a function is of this kind: its first argument is called `pred`, or it needs three, or it is called as in DeepEval.

    >>> takes_prediction(lambda output, expected: output == expected)
    True

    >>> takes_prediction(lambda pred, label, args: (1, 1)), takes_prediction(lambda sample, trajectory: True)
    (True, False)
    """
    if not callable(function):
        return False
    placed = _placed(function)
    needed = [parameter for parameter in placed if parameter.default is parameter.empty]
    if len(placed) < 2:
        return False
    first, second = placed[0].name, placed[1].name
    return first in FIRST_NAMES or (first in OUTPUTS and second in EXPECTED) or len(needed) in (3, 4)


def refuse_other_orders(function: object, name: str) -> None:
    """Refuse a function whose arguments say that it wants its texts in another order.

    Raises:
        BadInput: its first argument is called as an input or a reference answer.
    """
    names = [parameter.name for parameter in _placed(function)] if callable(function) else []
    if len(names) >= 2 and (names[0] in EXPECTED or (names[0] in INPUTS and EXPECTED.intersection(names))):
        raise BadInput(
            "The scorer '{name}' takes ({names}). Write it as (sample, trajectory), or as (output, expected) for the texts of the answer and the reference answer.",
            name=name,
            names=", ".join(names),
        )


def adapted(function: Callable[..., Any], arguments: Mapping[str, object] | None = None) -> Scorer:
    """Return a scorer that calls the function with the answer, the target as text, and its arguments."""
    count = min(len(_placed(function)), 4)
    given = Arguments(arguments or {})

    @scorer(inline=False)  # the user's function may block
    def of_prediction(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        if sample.target is None:
            return no_target()
        label = "\n".join(map(as_text, sample.target)) if isinstance(sample.target, list) else as_text(sample.target)
        answer = answer_of(trajectory)
        return _score(function(*(answer, label, given, given)[:count]), answer)

    of_prediction.__name__ = getattr(function, "__name__", "scorer")
    of_prediction.__module__ = getattr(function, "__module__", "")
    return of_prediction


def _score(result: object, answer: str) -> Score | Unscored:
    values = [float(value) for value in (result if isinstance(result, tuple | list) else (result, 1))]
    if len(values) not in (2, 3) or not all(map(math.isfinite, values)):
        raise TypeError(f"expected (score, total) or (score, total, improvement), got {result!r}")
    points, out_of, *improvement = values
    if out_of == 0:
        return Unscored(why="not_applicable", reason=say("There was nothing to earn: the total is 0."))
    details = {"improvement": improvement[0]} if improvement else {}
    reason = say("{points} of {total} points.", points=f"{points:g}", total=f"{out_of:g}")
    return Score(points=points, out_of=out_of, answer=answer, reason=reason, details=details)


def _placed(function: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built-in functions have no signature
        return []
    return [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
