"""Check the bars that the numbers of a run have to meet, before the first call: a mistake found afterwards has cost the run."""

import re
from collections.abc import Iterable, Mapping

from proctor import registry
from proctor.core.errors import BadInput
from proctor.core.judge import JudgedFigure
from proctor.core.main_number import main_names, scorer_meant
from proctor.core.near import near
from proctor.core.run import RunRecord
from proctor.core.sample import Sample
from proctor.engine.judge_figures import about, shown_name

PASS = re.compile(r"pass[@^](\d+)")
FAULT = "fault="


def check_bars(
    bars: float | Mapping[str, float], record: RunRecord, samples: Iterable[Sample], *, has_official: bool
) -> None:
    """Refuse bars that no number of the run can be held to.

    Args:
        bars: the least value by the name of a number, with `[key=value]` of a slice; one number is for every scorer.
        samples: those of the run, whose tags say which slices there are; read only if a slice is named.
        has_official: the task has official aggregates, whose names are known only afterwards.

    Raises:
        BadInput: a misspelt name or slice, or a value that the number cannot have.
    """
    for name, bound in bars.items() if isinstance(bars, Mapping) else ((name, bars) for name in record.scorers):
        metric, bracket, slice_ = name.removesuffix("]").partition("[")
        check_bar(metric.strip() if bracket else name, bound, record, has_official=has_official)
        if bracket and not has_official and not slice_.startswith(FAULT):
            known = dict.fromkeys(f"{key}={value}" for sample in samples for key, value in sample.tags.items())
            if slice_ not in known:
                raise registry.unknown("slice", slice_, [*known], paths=False)


def check_bar(metric: str, bound: float, record: RunRecord, *, has_official: bool, is_least: bool = True) -> None:
    """Refuse a bar for a number that the run will not have, or that says nothing about it.

    Raises:
        BadInput: as `check_bars` does.
    """
    figures = _figures(record)
    figure = figures.get(metric)
    if figure is None and scorer_meant(metric, record) is None and not _is_made(metric, record):
        known = [*main_names(record), *figures]
        if has_official and not near(metric, known):
            return
        raise registry.unknown("metric", metric, known, paths=False)
    if figure is None or (figure.low, figure.high) == (0.0, 1.0):
        check_share(metric, bound)
    elif (is_least and 0 <= bound <= 1) or not figure.low <= bound <= figure.high:
        raise BadInput(
            "'{metric}' is a number from {low} to {high}, so a threshold of {bound} says nothing about it.",
            metric=metric,
            low=f"{figure.low:g}",
            high=f"{figure.high:g}",
            bound=f"{bound:g}",
        )


def check_share(metric: str, bound: float) -> None:
    """Refuse a threshold of a share that is none; one above 1 may be meant in percent.

    Raises:
        BadInput: it does not lie between 0 and 1.
    """
    if 1 < bound <= 100:
        raise BadInput(
            "a threshold of '{metric}' is a share from 0 to 1, not {bound}. For {bound} percent write {share}.",
            metric=metric,
            bound=f"{bound:g}",
            share=f"{bound / 100:g}",
        )
    if not 0 <= bound <= 1:
        raise BadInput("a threshold of '{metric}' is a share from 0 to 1, not {bound}.", metric=metric, bound=bound)


def _figures(record: RunRecord) -> dict[str, JudgedFigure]:
    """Return the numbers that judges will give, by name."""
    figures: dict[str, JudgedFigure] = {}
    for scorer in record.scorers:
        judge = about(record, scorer)
        prefix = f"{scorer}." if len(record.scorers) > 1 else ""
        if judge is not None:
            figures |= {f"{prefix}{shown_name(figure.name, judge)}": figure for figure in judge.figures}
    return figures


def _is_made(metric: str, record: RunRecord) -> bool:
    """True if the scores of a run may make a number of this name besides the main ones."""
    scorer, dot, name = metric.rpartition(".")
    if (scorer not in record.scorers) if dot else len(record.scorers) > 1:
        return metric == "recovered" and record.spec.perturb is not None
    passes = PASS.fullmatch(name)
    return name == "points" or (passes is not None and 1 <= int(passes[1]) <= record.spec.attempts > 1)
