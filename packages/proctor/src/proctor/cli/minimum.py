"""`--min`: compare the numbers of a run with the least that is wanted, and leave with a code that says how it went."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli import output
from proctor.cli.words import t
from proctor.core.errors import BadInput

if TYPE_CHECKING:
    from proctor.api import Run
    from proctor.api.check import By
    from proctor.core.sentence import Sentence

F = TypeVar("F", bound=Callable[..., Any])
CODES = {"met": 0, "inconclusive": 3, "missed": 1}
SAID = {"met": "met", "missed": "missed", "inconclusive": "inconclusive"}


def minimum(command: F) -> F:
    """Add --min and --min-by."""
    least = t(
        "The least value of a number, such as accuracy=0.8, exact=80% or accuracy[level=1]=0.5; exit code 1 where it is missed, 3 where that cannot be decided; may be given several times."
    )
    by = t("Decide by the interval of the number (default) or by its value alone.")
    given = click.option("--min", "least", metavar="NAME=VALUE", multiple=True, help=least)(command)
    return click.option("--min-by", type=click.Choice(["interval", "value"]), default="interval", help=by)(given)


def minima(texts: tuple[str, ...]) -> dict[str, float]:
    """Return what --min asks for, by the name of the number.

    >>> minima(("accuracy=0.8", "accuracy[level=1]=50%"))
    {'accuracy': 0.8, 'accuracy[level=1]': 0.5}
    """
    by_name = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        try:
            number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise BadInput("{flag} takes NAME=VALUE, such as accuracy=0.8, not '{text}'.", flag="--min", text=text)
        by_name[name] = number
    return by_name


def print_compared(run: "Run", least: Mapping[str, float], by: "By", *, as_json: bool) -> int:
    """Print the numbers of a run compared with their thresholds; return the exit code."""
    from proctor.api.check import decide, describe_estimate, find_estimate, held_to

    estimates = {name: held_to(name, find_estimate(run, name), bound) for name, bound in least.items()}
    decisions = {name: decide(estimate, least[name], by=by) for name, estimate in estimates.items()}
    gates = [
        {
            "name": name,
            "least": least[name],
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "by": by,
        }
        | {"decision": decisions[name]}
        for name, estimate in estimates.items()
    ]
    output.print_run(run, as_json=as_json, more={"gates": gates} if gates else {})
    for name, estimate in estimates.items():
        said = t(describe_estimate(name, estimate, least[name]))
        output.message(f"{t(SAID[decisions[name]])}: {said}")
    return max((CODES[decision] for decision in decisions.values()), key=[0, 3, 1].index, default=0)


def nothing_measured(run: "Run") -> bool:
    """Print why every trial failed, or a scorer failed in all of them; True if that is so."""
    from proctor.core.score import Score, Unscored
    from proctor.engine.scoring import reason_with_line

    if run.outcomes and set(run.outcomes) == {"agent_failed"}:
        first = next(run.trials(outcome="agent_failed"))
        assert first.failure is not None  # as its outcome says
        count = run.outcomes["agent_failed"]
        reason = reason_with_line(first.failure)
        output.message(_error(t("The agent failed in all {count} trials. {reason}", count=count, reason=reason)))
        return True
    for scorer in run.record.scorers:
        why: Sentence | str | None = None
        for verdict in run.verdicts(scorer=scorer):
            match verdict.result:
                case Score():
                    break
                case Unscored(why="scorer_failed", reason=reason):
                    why = why or reason
        else:
            if why is not None:
                output.message(
                    _error(t("The scorer {scorer} failed in every trial. {reason}", scorer=scorer, reason=why))
                )
                return True
    return False


def _error(text: str) -> str:
    return t("Error: {message}", message=text)
