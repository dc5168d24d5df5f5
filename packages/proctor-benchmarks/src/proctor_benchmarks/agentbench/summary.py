"""Compute the official numbers of each part, with intervals, and the overall score of the paper where all parts were run.

A number that is a mean over samples is taken as it is; `db` is the mean of three types. An interval of the overall score is
that of a weighted sum of independent parts.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import get_args

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.score import Score
from proctor.core.sentence import say
from proctor.core.tally import Case, tally
from proctor.core.task import Judged
from proctor.stats.estimate import PART_MISSING, combine, estimate
from proctor_benchmarks.agentbench import official
from proctor_benchmarks.agentbench.official import Part

OVERALL = "overall"
Row = tuple[str, object, object]  # sample, result, target


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:  # noqa: ARG001 - results say more
    """Return the official numbers over the first attempts that were scored."""
    rows: dict[Part, list[Row]] = defaultdict(list)
    values: dict[str, float] = {}
    for sample, verdict in judged():
        if verdict.attempt == 0 and isinstance(verdict.result, Score) and "status" in verdict.result.details:
            part = next(name for name in official.PARTS if name == sample.tags["part"])
            rows[part].append((sample.id, verdict.result.details["result"], sample.target))
            values[sample.id] = verdict.result.value
    if not rows:
        return []
    main = {part: _main(part, rows[part], values) for part in official.PARTS if part in rows}
    return [*main.values(), *_overall(main)]


def _main(part: Part, rows: Sequence[Row], values: Mapping[str, float]) -> Estimate:
    custom = official.overall(part, [(result, target) for _, result, target in rows])
    if part == "db":
        pairs = [
            (1 / 3, _mean(f"db_{kind}", [values[id] for id, *_ in rows_of]))
            for kind, rows_of in _by_type(rows).items()
            if rows_of
        ]
        if len(pairs) < len(_by_type(rows)):
            return Estimate(name="db", value=None, method=PART_MISSING, scored=len(rows), planned=len(rows), note=say("officially {value:.1%}: a type that was not run counts as 0", value=official.main_metric(part, custom)))  # fmt: skip
        return combine("db", "", pairs)
    mean = _mean(part, [values[id] for id, *_ in rows])
    value = official.main_metric(part, custom)
    return replace(mean, value=min(1.0, max(0.0, value)))


def _by_type(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {"SELECT": [], "INSERT": [], "UPDATE": []}
    for row in rows:
        kind = row[1]["type"] if isinstance(row[1], dict) else "SELECT"
        found[kind if kind in found else "SELECT"].append(row)
    return found


def _mean(name: str, values: Sequence[float]) -> Estimate:
    cases = [Case(cluster=str(number), values=(value,), planned=1) for number, value in enumerate(values)]
    return estimate(name, tally(cases))


def _overall(main: Mapping[Part, Estimate]) -> list[Estimate]:
    """Return the overall score; without a value where a part is missing, and not at all where only one was run."""
    missing = [part for part in get_args(Part) if part not in main or main[part].value is None]
    if len(main) < 2:
        return []
    if missing:
        count = sum(figure.scored for figure in main.values())
        return [Estimate(name=OVERALL, value=None, method=PART_MISSING, scored=count, planned=count, unit="number", note=say("not run: {categories}", categories=", ".join(missing)))]  # fmt: skip
    weights = {part: 100 / mean / len(main) for part, mean in official.MEAN_PERCENT.items()}
    total = sum(weights.values())
    share = combine(OVERALL, "", [(weights[part] / total, main[part]) for part in main])
    ends = ("value", "low", "high", "floor", "ceiling", "standard_error")
    scaled = {end: at * total for end in ends if (at := getattr(share, end)) is not None}
    return [replace(share, unit="number", **scaled)]
