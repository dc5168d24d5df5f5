"""Compute the official rates, with intervals, and what answers took.

- `solvable_pass_rate` of StableToolBench, or `toolbench_pass_rate` of ToolBench: over the answers there are, as officially. The floor is
  over all queries, with those that are missing as not passed.
- `final_answer_correctness`; `wins`, `ties`: the official win rate and tie rate against the reference.
- `steps`, `calls`, `failed_calls`, `hallucinated`: means of counts; a call of a tool that does not exist is hallucinated.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from proctor.core.run import Estimate
from proctor.core.sample import Sample
from proctor.core.score import Score
from proctor.core.sentence import Sentence, say
from proctor.core.tally import Case, tally
from proctor.core.task import Judged
from proctor.stats.estimate import estimate
from proctor.stats.mean import estimate_mean
from proctor_benchmarks.tooleval import rates

_COUNTS = ("steps", "calls", "failed_calls", "hallucinated")

Row = tuple[Sample, Score]


def summarise(estimates: Sequence[Estimate], judged: Judged) -> list[Estimate]:
    """Return the rates of the whole and of each set, and the costs of the whole, over the first attempts."""
    rows: dict[str, list[Row]] = {"pass_rate": [], "fac": [], "preference": []}
    for sample, verdict in judged():
        if verdict.attempt == 0 and verdict.scorer in rows and isinstance(verdict.result, Score):
            rows[verdict.scorer].append((sample, verdict.result))
    sets = sorted({sample.tags["set"] for some in rows.values() for sample, _ in some})
    planned = {figure.slice: figure.planned for figure in estimates if figure.name.endswith("accuracy")}
    made: list[Estimate] = []
    for name in ("", *(sets if len(sets) > 1 else ())):
        of = {scorer: [row for row in some if name in ("", row[0].tags["set"])] for scorer, some in rows.items()}
        slice = f"set={name}" if name else ""
        made += [replace(_over_all(figure, planned.get(slice, figure.planned)), slice=slice) for figure in _rates(of)]
    return [*made, *_costs(rows["pass_rate"])]


def _rates(rows: Mapping[str, Sequence[Row]]) -> Iterator[Estimate]:
    if passed := rows["pass_rate"]:
        votes = [score.details["votes"] for _, score in passed]
        is_stable = "not_hallucinate" not in passed[0][1].details
        note: Sentence | str = ""
        if is_stable:
            rate = rates.solvable_pass_rate([[vote["status"] for vote in some] for some in votes], max(map(len, votes)))
            note = say("officially {mean} ± {deviation} between rounds", mean=f"{rate.mean:.1%}", deviation=f"{rate.deviation:.1%}")  # fmt: skip
        yield replace(_share("solvable_pass_rate" if is_stable else "toolbench_pass_rate", passed), note=note)
    if rows["fac"]:
        yield _share("final_answer_correctness", rows["fac"])
    if compared := rows["preference"]:
        for name, label in (("wins", "2"), ("ties", "3")):
            yield _share(name, compared, label)


def _costs(rows: Sequence[Row]) -> Iterator[Estimate]:
    for name in _COUNTS if rows else ():
        counts = [float(score.details["costs"][name]) for _, score in rows]
        yield estimate_mean(name, counts, [sample.id for sample, _ in rows], planned=len(counts), least=0)


def _share(name: str, rows: Sequence[Row], label: str | None = None) -> Estimate:
    """Estimate the mean of the scores, or the share of comparisons with a label."""
    values = [score.value if label is None else float(score.details["label"] == label) for _, score in rows]
    cases = [Case(cluster=sample.id, values=(value,), planned=1) for (sample, _), value in zip(rows, values, strict=True)]  # fmt: skip
    return estimate(name, tally(cases))


def _over_all(one: Estimate, planned: int) -> Estimate:
    """Return an estimate with the bounds that queries without an answer leave it."""
    if one.value is None or planned <= one.scored:
        return one
    known, missing = one.value * one.scored, planned - one.scored
    return replace(one, planned=planned, floor=known / planned, ceiling=(known + missing) / planned)
