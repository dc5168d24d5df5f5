"""Choose between a comparison by itself and the one that stored runs adjust, and say what that gained."""

from msgspec.structs import replace

from proctor.core.sentence import Sentence, say
from proctor.reports.compare import RunComparison
from proctor.stats.paired import Difference


def choose_adjusted(plain: RunComparison, adjusted: RunComparison, runs: int) -> RunComparison:
    """Return the comparison that `runs` stored runs adjust, with a note; the plain one where they do not make it narrower."""
    before, after = plain.rows[0].difference, adjusted.rows[0].difference
    if (old := _width(before)) is None or (new := _width(after)) is None or not 0 < new < old:
        return plain
    return replace(adjusted, notes=[_note(before, (old / new) ** 2, runs), *plain.notes])


def _width(difference: Difference) -> float | None:
    return None if difference.low is None or difference.high is None else difference.high - difference.low


def _note(before: Difference, times: float, runs: int) -> Sentence:
    value, low, high = (
        f"{100 * (figure or 0.0):+.1f}".replace("-", "−") for figure in (before.value, before.low, before.high)
    )
    if runs == 1:
        return say(
            "A stored run knows these samples: the difference is as good as that of {times} times as many; by themselves they differ by {value} [{low}, {high}].",
            times=f"{times:.1f}",
            value=value,
            low=low,
            high=high,
        )
    return say(
        "{count} stored runs know these samples: the difference is as good as that of {times} times as many; by themselves they differ by {value} [{low}, {high}].",
        count=runs,
        times=f"{times:.1f}",
        value=value,
        low=low,
        high=high,
    )
