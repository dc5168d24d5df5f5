"""Count in one pass how the trials and verdicts of a run ended, and keep the keys of the first that went wrong."""

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import msgspec
from msgspec.structs import replace

from proctor.core.run import Estimate, RunRecord
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence
from proctor.core.tally import Case, tally
from proctor.core.task import Store
from proctor.core.trial import IN_THE_MEAN, Outcome, Trial, Verdict
from proctor.reports.story import error_of, finding
from proctor.stats.estimate import estimate

MEASURED_DETAILS = ("parameter_accuracy", "precision", "recall", "f1")
OF_CALLS = {"sides", "parameter_accuracy"}  # what only scorers of tool calls give
NO_SHARE = "no interval: values outside 0 to 1"
RULES_KEPT = 100

Rule = tuple[str, str]
Key = tuple[str, int]


class DetailMean(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of a number that a scorer returns with its verdict; `of_calls` if it compared tool calls."""

    scorer: str
    name: str
    estimate: Estimate
    of_calls: bool = False


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """Trials or verdicts without a number: the outcome or why-unscored, the kind or scorer, how many, and one reason."""

    what: str
    kind: str
    count: int
    example: str | Sentence


class TrialCounts:
    """One pass over the trials: how they ended, how long they took and what they used, which agents failed."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.seconds = array("d")
        self.tokens = array("d")
        self.cost = array("d")
        self.stops: Counter[str] = Counter()
        self.errors: Counter[Rule] = Counter()
        self.kept: dict[Rule, list[Key]] = {}
        self.lost: Counter[tuple[Outcome, str]] = Counter()
        self.examples: dict[tuple[Outcome, str], str | Sentence] = {}

    def add(self, trial: Trial) -> None:
        if trial.outcome in IN_THE_MEAN:
            self.seconds.append(trial.seconds)
            if used := trial.usage.input_tokens + trial.usage.output_tokens:
                self.tokens.append(used)
            if trial.usage.cost is not None:
                self.cost.append(trial.usage.cost)
        if trial.outcome == "scored":
            self.stops[trial.trajectory.stop] += 1
        elif trial.outcome == "agent_failed":
            _note(self, error_of(trial.outcome, trial.failure, ()), (trial.sample_id, trial.attempt))
        else:
            kind = (trial.outcome, trial.failure.kind if trial.failure is not None else "")
            self.lost[kind] += 1
            self.examples.setdefault(kind, trial.failure.reason if trial.failure is not None else "")

    def unmeasured(self) -> Iterator[Unmeasured]:
        for (outcome, kind), count in self.lost.most_common():
            yield Unmeasured(what=outcome, kind=kind, count=count, example=self.examples[outcome, kind])


class VerdictCounts:
    """One pass over the verdicts: what went wrong, what was not scored, and the numbers next to the verdict."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.errors: Counter[Rule] = Counter()
        self.kept: dict[Rule, list[Key]] = {}
        self.lost: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], str | Sentence] = {}
        self.values_by_detail: dict[tuple[str, str], dict[str, list[float]]] = {}
        self.compared: set[str] = set()  # scorers that compared tool calls
        self.versions: dict[str, set[str]] = {}
        self.judged: list[Key] = []

    def add(self, verdicts: Sequence[Verdict]) -> None:
        for verdict in verdicts:
            self.versions.setdefault(verdict.scorer, set()).add(verdict.scorer_version)
            match verdict.result:
                case Score(details=details):
                    self._add_details(verdict, details)
                case Unscored(why=why, reason=reason):
                    self.lost[why, verdict.scorer] += 1
                    self.examples.setdefault((why, verdict.scorer), reason)
        if len(self.judged) < self.keep and any(finding(one).marks for one in verdicts):
            self.judged.append((verdicts[0].sample_id, verdicts[0].attempt))
        wrong = next((one for one in verdicts if isinstance(one.result, Score) and not one.result.passed), None)
        if wrong is not None:
            _note(self, error_of("scored", None, [finding(wrong)]), (wrong.sample_id, wrong.attempt))

    def detail_means(self, record: RunRecord, store: Store) -> tuple[DetailMean, ...]:
        clusters: dict[str, dict[str, str]] = {}
        for scorer in {scorer for scorer, _ in self.values_by_detail}:
            clusters[scorer] = {value.sample_id: value.cluster for value in store.values(record.id, scorer)}
        return tuple(
            DetailMean(
                scorer=scorer,
                name=name,
                estimate=_mean(name, values, clusters[scorer], looked_at=record.spec.until is not None),
                of_calls=scorer in self.compared,
            )
            for (scorer, name), values in self.values_by_detail.items()
        )

    def unmeasured(self) -> Iterator[Unmeasured]:
        for (why, scorer), count in self.lost.most_common():
            yield Unmeasured(what=why, kind=scorer, count=count, example=self.examples[why, scorer])

    def _add_details(self, verdict: Verdict, details: Mapping[str, object]) -> None:
        if OF_CALLS & details.keys():
            self.compared.add(verdict.scorer)
        for name in MEASURED_DETAILS:
            value = details.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                by_sample = self.values_by_detail.setdefault((verdict.scorer, name), {})
                by_sample.setdefault(verdict.sample_id, []).append(float(value))


def _mean(
    name: str, values: Mapping[str, Sequence[float]], clusters: Mapping[str, str], *, looked_at: bool
) -> Estimate:
    """Return the mean over samples of a number next to the verdict; a sample without a case is its own cluster."""
    if not all(0 <= value <= 1 for each in values.values() for value in each):
        count = sum(map(len, values.values()))
        mean = fmean(fmean(each) for each in values.values())
        return Estimate(name=name, value=mean, method=NO_SHARE, scored=count, planned=count, unit="number")
    figure = estimate(
        name,
        tally(
            Case(cluster=clusters.get(sample_id, sample_id), values=tuple(each), planned=len(each))
            for sample_id, each in values.items()
        ),
    )
    return replace(figure, low=None, high=None) if looked_at else figure  # it would hold for a fixed number only


def _note(seen: "TrialCounts | VerdictCounts", rule: Rule, key: Key) -> None:
    if rule not in seen.errors and len(seen.errors) >= RULES_KEPT:
        rule = (rule[0], "…") if (rule[0], "…") in seen.errors else ("", "…")
    seen.errors[rule] += 1
    kept = seen.kept.setdefault(rule, [])
    if len(kept) < seen.keep:
        kept.append(key)


def sort_errors(errors: Counter[Rule]) -> list[tuple[Rule, int]]:
    """Sort classes by size, and the types within a class."""
    size_by_class: Counter[str] = Counter()
    for (kind, _), count in errors.items():
        size_by_class[kind] += count
    return sorted(errors.items(), key=lambda item: (-size_by_class[item[0][0]], item[0][0], -item[1], item[0][1]))


def spread_evenly(kept: Sequence[Sequence[Key]], most: int) -> list[Key]:
    """Return `most` keys in all, as evenly over the lists as they allow, in the order of the lists."""
    quota = [0] * len(kept)
    left = most
    while left > 0 and any(quota[at] < len(keys) for at, keys in enumerate(kept)):
        for at, keys in enumerate(kept):
            if left > 0 and quota[at] < len(keys):
                quota[at] += 1
                left -= 1
    return [key for keys, number in zip(kept, quota, strict=True) for key in keys[:number]]
