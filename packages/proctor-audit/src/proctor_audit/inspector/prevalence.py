"""Correct how frequent a kind of event is, by labels of people for a random draw of trials.

Rules miss events and report what is none. Where people labelled trials that were drawn at random, within those with a finding and
those without (`draw_trials`), their labels tell both errors, and the share is corrected by one of two estimators:

    PPI (stratified)   w1 · a + w0 · b             a, b: shares of events among labelled trials with and without a finding;
                                                  w1, w0: shares of trials with and without a finding
    Rogan-Gladen       (q + sp - 1) / (se + sp - 1)    q = w1; needs a draw that did not look at findings

The one with the narrower interval is used. Each interval is Wilson's for the number of trials that the standard error corresponds
to; the errors of shares of labels are those of (k + 0.7) / (n + 1.4), as no event among few labels does not mean that there are none.

Source: Rogan and Gladen 1978, doi 10.1093/oxfordjournals.aje.a112510; prediction-powered inference, arXiv 2301.09633, stratified
after arXiv 2406.04291. Coverage of 95 % in the settings of `tests/audit/inspector/test_prevalence.py`: 93 to 97 %; where events are
rare (shares of 1 and 2 %), it is wider than need be.
"""

import math
import random
from collections.abc import Mapping

import msgspec

from proctor.core.run import Estimate
from proctor.stats.rate import wilson

PPI = "PPI, stratified"
ROGAN_GLADEN = "Rogan-Gladen"
LEAST = 2  # labels among trials with and among those without a finding
LIKE_RANDOM = 2.5  # standard errors that the share of findings among the labels may lie off


class LabelCounts(msgspec.Struct, frozen=True):
    """Labelled trials: `hits` of `flagged` with a finding, and `misses` of `others` without one, have the event."""

    hits: int
    flagged: int
    misses: int
    others: int


def correct_prevalence(flags: Mapping[str, bool], labels: Mapping[str, bool], level: float = 0.95) -> Estimate | None:
    """Return the corrected share of trials with an event; None where too few trials are labelled.

    Args:
        flags: of each trial, whether a check found something.
        labels: of the labelled ones, whether people say so.
    """
    known = [(flags[id], value) for id, value in labels.items() if id in flags]
    counts = LabelCounts(
        hits=sum(flag and value for flag, value in known),
        flagged=sum(flag for flag, _ in known),
        misses=sum(value and not flag for flag, value in known),
        others=sum(not flag for flag, _ in known),
    )
    share = sum(flags.values()) / len(flags) if flags else 0.0
    if counts.others < LEAST or (counts.flagged < LEAST and share > 0):
        return None
    estimates = [_ppi(counts, share, len(flags), level)]
    if _is_like_random(counts, share) and (other := _rogan_gladen(counts, share, len(flags), level)) is not None:
        estimates.append(other)
    return min(estimates, key=lambda each: (each.high or 0.0) - (each.low or 0.0))


def draw_trials(flags: Mapping[str, bool], count: int, seed: str) -> list[str]:
    """Draw trials to label: half of them with a finding, half without, at random; more of one where the other has too few."""
    draw = random.Random(seed)  # noqa: S311 (no secret)
    flagged = sorted(id for id, flag in flags.items() if flag)
    others = sorted(id for id, flag in flags.items() if not flag)
    first = min(len(flagged), max(count // 2, count - len(others)))
    drawn = draw.sample(flagged, first) + draw.sample(others, min(len(others), count - first))
    draw.shuffle(drawn)
    return drawn


def _ppi(counts: LabelCounts, share: float, trials: int, level: float) -> Estimate:
    hit = counts.hits / counts.flagged if counts.flagged else 0.0
    missed = counts.misses / counts.others
    value = share * hit + (1 - share) * missed
    square = (1 - share) ** 2 * _square(counts.misses, counts.others) + share * (1 - share) * (
        hit - missed
    ) ** 2 / trials
    if counts.flagged:
        square += share**2 * _square(counts.hits, counts.flagged)
    return _estimate(PPI, value, square, counts, trials, level)


def _rogan_gladen(counts: LabelCounts, share: float, trials: int, level: float) -> Estimate | None:
    events = counts.hits + counts.misses
    clear = counts.flagged + counts.others - events
    if not events or not clear:
        return None
    sensitivity = counts.hits / events
    specificity = (counts.others - counts.misses) / clear
    gain = sensitivity + specificity - 1
    if gain < 0.1:
        return None
    value = min(max((share + specificity - 1) / gain, 0.0), 1.0)
    square = (
        share * (1 - share) / trials
        + value**2 * _square(counts.hits, events)
        + (1 - value) ** 2 * _square(counts.others - counts.misses, clear)
    ) / gain**2
    return _estimate(ROGAN_GLADEN, value, square, counts, trials, level)


def _square(count: int, of: int) -> float:
    """Return the squared standard error of a share of labels."""
    share = (count + 0.7) / (of + 1.4)
    return share * (1 - share) / of


def _is_like_random(counts: LabelCounts, share: float) -> bool:
    """True if the labels could be a draw that did not look at findings."""
    labels = counts.flagged + counts.others
    return abs(counts.flagged / labels - share) <= LIKE_RANDOM * math.sqrt(max(share * (1 - share), 1e-9) / labels)


def _estimate(method: str, value: float, square: float, counts: LabelCounts, trials: int, level: float) -> Estimate:
    labels = counts.flagged + counts.others
    size = max(value * (1 - value), 1 / (trials + 2) / 4) / square if square > 0 else float(trials)
    around = wilson(value, max(size, 1.0), level)
    return Estimate(
        name="corrected",
        value=value,
        low=around.low,
        high=around.high,
        level=level,
        method=method,
        scored=labels,
        planned=trials,
        clusters=labels,
        standard_error=math.sqrt(square),
    )
