"""Correct how frequent a kind of event is, by labels of people for a random draw of trials.

Rules miss events and report what is none. Where people labelled trials that were drawn at random, within those with a finding and
those without (`draw_trials`), their labels tell both errors (PPI, stratified):

    w1 · a + w0 · b        a, b: shares of events among labelled trials with and without a finding;
                           w1, w0: shares of trials with and without a finding

The interval is Wilson's for the number of trials that the standard error corresponds to; the errors of shares of labels are those
of (k + 0.7) / (n + 1.4), as no event among few labels does not mean that there are none. A contested trial may have been either.
The draw has to be labelled whole: an interval of a fixed number of labels does not hold where people stop when they like.

Source: prediction-powered inference, arXiv 2301.09633, stratified after arXiv 2406.04291. Coverage of 95 % in the settings of
`tests/audit/inspector/test_prevalence.py`: 95 to 96 %; where events are rare (shares of 1 and 2 %), it is wider than need be.
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from proctor.core.digest import digest
from proctor.core.run import Estimate
from proctor.stats.rate import wilson

PPI = "PPI, stratified"
LEAST = 2  # labels among trials with and among those without a finding


class LabelCounts(msgspec.Struct, frozen=True):
    """Labelled trials: `hits` of `flagged` with a finding, and `misses` of `others` without one, have the event."""

    hits: int
    flagged: int
    misses: int
    others: int


def correct_prevalence(
    flags: Mapping[str, bool], labels: Mapping[str, bool | None], level: float = 0.95
) -> Estimate | None:
    """Return the corrected share of trials with an event; None where too few trials are labelled.

    Args:
        flags: of each trial, whether a check found something.
        labels: of the drawn ones, whether people say so; None where they disagree.
    """
    agreed = {id: happened for id, happened in labels.items() if happened is not None and id in flags}
    share = sum(flags.values()) / len(flags) if flags else 0.0
    counts = _count(flags, agreed)
    if counts.others < LEAST or (counts.flagged < LEAST and share > 0):
        return None
    estimate = _ppi(counts, share, len(flags), level)
    if len(agreed) == len(labels):
        return estimate
    ends = [estimate]
    for happened in (False, True):
        counts = _count(flags, {**dict.fromkeys(labels, happened), **agreed})
        ends.append(_ppi(counts, share, len(flags), level))
    return msgspec.structs.replace(
        estimate, low=min(end.low or 0.0 for end in ends), high=max(end.high or 0.0 for end in ends)
    )


def draw_trials(flags: Mapping[str, bool], order: Sequence[str], count: int) -> list[str]:
    """Draw trials to label, the first of an order drawn at random: half with a finding, half without; more of one where the other has too few.

    They come in an order that does not show which have one.
    """
    flagged = [id for id in order if flags[id]]
    others = [id for id in order if not flags[id]]
    first = min(len(flagged), max(count // 2, count - len(others)))
    return sorted([*flagged[:first], *others[: count - first]], key=digest)


def _count(flags: Mapping[str, bool], labels: Mapping[str, bool]) -> LabelCounts:
    known = [(flags[id], happened) for id, happened in labels.items() if id in flags]
    return LabelCounts(
        hits=sum(flag and happened for flag, happened in known),
        flagged=sum(flag for flag, _ in known),
        misses=sum(happened and not flag for flag, happened in known),
        others=sum(not flag for flag, _ in known),
    )


def _ppi(counts: LabelCounts, share: float, trials: int, level: float) -> Estimate:
    hit = counts.hits / counts.flagged if counts.flagged else 0.0
    missed = counts.misses / counts.others
    value = share * hit + (1 - share) * missed
    square = (1 - share) ** 2 * _square(counts.misses, counts.others) + share * (1 - share) * (
        hit - missed
    ) ** 2 / trials
    if counts.flagged:
        square += share**2 * _square(counts.hits, counts.flagged)
    labels = counts.flagged + counts.others
    size = max(value * (1 - value), 1 / (trials + 2) / 4) / square if square > 0 else float(trials)
    around = wilson(value, max(size, 1.0), level)
    return Estimate(
        name="corrected",
        value=value,
        low=around.low,
        high=around.high,
        level=level,
        method=PPI,
        scored=labels,
        planned=trials,
        clusters=labels,
        standard_error=math.sqrt(square),
    )


def _square(count: int, of: int) -> float:
    """Return the squared standard error of a share of labels."""
    share = (count + 0.7) / (of + 1.4)
    return share * (1 - share) / of
