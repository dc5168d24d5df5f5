"""Compare the calls an agent made with those a sample expects, by the best one-to-one assignment between them.

The reference of a turn (or the target of the sample) is a list of calls, or an object with `calls` and rules; see
`docs/evalsets.md`. Points are F1 unless `measure` says otherwise; a forbidden call or an exceeded budget leaves 0.
The verdicts of ADK are in `adk`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.config import converted
from proctor.core.declared import scorer
from proctor.core.parts import ScorerPart
from proctor.core.sample import Sample
from proctor.core.score import Score, Unscored
from proctor.core.sentence import Sentence, listed, say
from proctor.core.task import Scorer
from proctor.core.trajectory import Trajectory
from proctor.trajectory_matching import expectation
from proctor.trajectory_matching.compare import CallComparison, compare
from proctor.trajectory_matching.explain import ShownEntry, diff, errors, shown, sides, summarize
from proctor.trajectory_matching.options import CallMatchOptions, Measure, how_of, options_of, says_something


def make(options: Mapping[str, Any]) -> Scorer:
    """Make a scorer with `Options`.

    Raises:
        BadInput: there is no such option, or it has a wrong value.
    """
    chosen = converted(options, CallMatchOptions, "trajectory")

    def trajectory(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
        return _score(sample, trajectory, chosen)

    return trajectory


@scorer(version="2")
def trajectory(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """F1 of the calls, with precision, recall, order, repeats and a diff in the details."""
    return _score(sample, trajectory, options_of(sample))


@scorer(version="2")
def exact(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when exactly the expected calls were made, in their order."""
    return _score(sample, trajectory, options_of(sample, measure="passed", order="exact"))


@scorer(version="2")
def in_order(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when all expected calls were made in their order; others may be between."""
    return _score(sample, trajectory, options_of(sample, measure="passed", order="in_order"))


@scorer(version="2")
def any_order(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when all expected calls were made; others may be among them."""
    return _score(sample, trajectory, options_of(sample, measure="passed", order="any_order"))


@scorer(version="2")
def precision(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The share of the calls made that were expected; where none was made, 1 if none had to be, else 0."""
    return _score(sample, trajectory, options_of(sample, measure="precision"))


@scorer(version="2")
def recall(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The share of the expected calls that were made; not applicable where none is expected."""
    return _score(sample, trajectory, options_of(sample, measure="recall"))


@scorer(version="2")
def f1(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The harmonic mean of precision and recall."""
    return _score(sample, trajectory, options_of(sample, measure="f1"))


@scorer(version="2")
def efficiency(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """The least number of calls that would do against the number made, at most 1."""
    return _score(sample, trajectory, options_of(sample, measure="efficiency"))


@scorer(version="2")
def single_tool(sample: Sample, trajectory: Trajectory) -> Score | Unscored:
    """1 when one tool was called: that of the option `tool`, else the only one that is expected."""
    wanted = options_of(sample).tool
    if not wanted:
        names = {call.name for turn in expectation.turns(sample, trajectory) for call in turn.expected.calls or ()}
        if len(names) != 1:
            return Unscored(why="not_applicable", reason=say("The option 'tool' says which tool is looked for."))
        wanted = names.pop()
    tools = [call.name for call in trajectory.calls()]
    reason = say(
        "{tool} was called {count} times among {made} calls.", tool=wanted, count=tools.count(wanted), made=len(tools)
    )
    score = Score(points=wanted in tools, reason=reason)
    return score if trajectory.shows_calls else _no_evidence(score)


def _score(sample: Sample, trajectory: Trajectory, options: CallMatchOptions) -> Score | Unscored:
    turns = [turn for turn in expectation.turns(sample, trajectory) if says_something(turn.expected)]
    if not turns:
        return Unscored(why="not_applicable", reason=say("The sample says nothing of tool calls."))
    score = _compare(turns, options)
    expects_calls = any(turn.expected.calls or turn.expected.alternatives for turn in turns)
    if isinstance(score, Unscored) or options.silent == "no_calls" or trajectory.shows_calls or not expects_calls:
        return score
    return _no_evidence(score)


def _compare(turns: Sequence[expectation.ExpectedTurn], options: CallMatchOptions) -> Score | Unscored:
    comparisons = [compare(turn.expected, turn.made, how_of(options, turn.tools)) for turn in turns]
    rows = [shown(comparison) for comparison in comparisons]
    places = [turn.place for turn in turns]
    total = _Total(comparisons, rows)
    points = total.measure(options.measure)
    if points is None:
        return Unscored(why="not_applicable", reason=total.reason(places), details=total.details())
    details = total.details()
    if len(turns) == 1:
        details["sides"] = sides(rows[0])
    else:
        each = list(zip(places, comparisons, rows, strict=True))
        totals = {str(index + 1): _Total([comparison], [row]) for index, comparison, row in each}
        details["turns"] = {
            turn: {"value": one.measure(options.measure), **one.details()} for turn, one in totals.items()
        }
        details["sides"] = [side for index, _, row in each for side in sides(row, index + 1)]
    return Score(points=points, reason=total.reason(places), details=details)


def _no_evidence(score: Score) -> Unscored:
    return Unscored(
        why="no_evidence",
        reason=say("The agent answers in text and reports no tool calls, so there is nothing to judge them by."),
        without_calls=score,
    )


class _Total:
    """The comparisons of all turns, added up, with their explanation."""

    def __init__(self, found: Sequence[CallComparison], rows: Sequence[Sequence[ShownEntry | int]]) -> None:
        self.found = found
        self.rows = rows
        self.matched = sum(comparison.matched for comparison in found)
        self.made = sum(len(comparison.made) for comparison in found)
        self.required = sum(comparison.required for comparison in found)
        self.expected = self.required + sum(comparison.optional for comparison in found)
        self.minimum = sum(comparison.minimum for comparison in found)
        self.passed = all(comparison.passed for comparison in found)

    def measure(self, name: Measure) -> float | None:
        """Return the points; None where there is nothing to divide by."""
        if name == "passed":
            return float(self.passed)
        value = getattr(self, name)()
        if value is not None and any(comparison.broken for comparison in self.found):
            return 0.0
        return None if value is None else min(float(value), 1.0)

    def precision(self) -> float:
        """Return the share of the calls made that were expected; without any, 1 if none had to be made, else 0."""
        return self.matched / self.made if self.made else float(not self.required)

    def recall(self) -> float | None:
        return self.matched / self.expected if self.required else None

    def f1(self) -> float:
        return 2 * self.matched / (self.made + self.expected) if self.made + self.expected else 1.0

    def efficiency(self) -> float:
        return min(1.0, self.minimum / self.made) if self.made else float(not self.required)

    def details(self) -> dict[str, Any]:
        """Return what a report can show and count."""
        count: dict[str, int] = {}
        for comparison in self.found:
            for name, times in errors(comparison).items():
                count[name] = count.get(name, 0) + times
        fields: dict[str, Any] = {
            "precision": self.precision(),
            "recall": self.recall(),
            "f1": self.f1(),
            "efficiency": self.efficiency(),
            "matched": self.matched,
            "expected": self.expected,
            "made": self.made,
            "minimum": self.minimum,
            "order_violations": sum(comparison.violations for comparison in self.found),
            "repeated": sum(comparison.repeated for comparison in self.found),
            "matches": self.passed,
            "optimal": all(comparison.best for comparison in self.found),
            "errors": count,
            "diff": [line for row in self.rows for line in diff(row)],
        }
        if count:
            fields["error_class"] = max(count, key=lambda name: (count[name], name))
        return fields

    def reason(self, places: Sequence[int]) -> Sentence | str:
        """Return the reason of the score: a summary, for each turn where there are several."""
        if len(self.found) == 1:
            return summarize(self.found[0])
        parts = [
            say("turn {turn}: {reason}", turn=index + 1, reason=summarize(comparison))
            for index, comparison in zip(places, self.found, strict=True)
        ]
        return listed(parts)


PART = ScorerPart(
    scorer=trajectory,
    others=(exact, in_order, any_order, precision, recall, f1, efficiency, single_tool),
    make=make,
    options=CallMatchOptions,
)
